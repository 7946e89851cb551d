"""Random programs do the same when they are lowered."""

import itertools
import linecache

import plain_hooks
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wengert.capture.instrument import staged

numbers = itertools.count()
VARIABLES = ("a", "b", "c", "d", "n")


def compiled(source: str):
    """The function `f` of a source text."""
    file = f"<program-{next(numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict = {}
    exec(compile(source, file, "exec"), scope)
    return scope["f"]


@st.composite
def expressions(draw, depth=2):
    """Of small integers; every name may be unbound, and some divisors zero."""
    kind = draw(st.integers(0, 8 if depth else 2))
    if kind == 0:
        return str(draw(st.integers(-3, 3)))
    if kind < 3:
        return draw(st.sampled_from(VARIABLES))
    x, y = draw(expressions(depth - 1)), draw(expressions(0))
    z = draw(expressions(0)) if 5 <= kind <= 7 else ""
    return {
        3: f"({x} + {y})",
        4: f"({x} % ({y}))",
        5: f"({x} if {y} > {z} else {z})",
        6: f"({x} < {y} <= {z})",
        7: f"({x} and {y} or not {z})",
        8: f"sum([{x} + k for k in range(3) if {y} > k])",
    }[kind]


@st.composite
def suites(draw, depth=3, in_loop=False):
    """The lines of a suite."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, in_loop))
    return lines


@st.composite
def statements(draw, depth, in_loop):
    def indented(suite):
        return ["    " + line for line in suite]

    def suite(inside=in_loop):
        return indented(draw(suites(depth - 1, inside)))

    kinds = ["assign", "assign", "augment", "log", "log"]
    kinds += ["jump", "return"] if in_loop else ["return"]
    if depth:
        kinds += ["if", "if", "for", "while", "try", "with", "match"]
    kind = draw(st.sampled_from(kinds))
    name, x = draw(st.sampled_from(VARIABLES)), draw(expressions())
    if kind == "assign":
        other = draw(st.sampled_from(VARIABLES))
        return [draw(st.sampled_from([f"{name} = {x}", f"{name}, {other} = {x}, {other}", f"del {name}"]))]
    if kind == "augment":
        return [f"{name} += {x}"]
    if kind == "log":
        return [f"log = log + ({x},)"]
    if kind == "jump":
        return [draw(st.sampled_from(["break", "continue"]))]
    if kind == "return":
        return [f"return {x}, log"]
    if kind == "if":
        lines = [f"if {x}:", *suite()]
        if draw(st.booleans()):
            lines += [f"elif {draw(expressions())}:", *suite()] if draw(st.booleans()) else []
            lines += ["else:", *suite()]
        return lines
    orelse = ["else:", *suite()] if kind in ("for", "while") and draw(st.booleans()) else []
    if kind == "for":
        return [f"for {name} in range(({x}) % 4):", *suite(True), *orelse]
    if kind == "while":
        tick = ["    fuel -= 1"]
        return [f"while fuel > 0 and {x}:", *tick, *suite(True), *orelse]
    if kind == "with":
        return ["with context():", *suite()]
    if kind == "match":
        return [f"match {x}:", "    case 1 | True:", *indented(suite()), f"    case {name}:", *indented(suite())]
    lines = ["try:", *suite(), "except ZeroDivisionError as e:", *suite()]
    if draw(st.booleans()):
        lines += ["else:", *suite()]
    if draw(st.booleans()):
        calm = [line for line in draw(suites(0, False)) if "return" not in line] or ["pass"]
        lines += ["finally:", *indented(calm)]
    return lines


@st.composite
def programs(draw):
    head = ["import contextlib", "context = contextlib.nullcontext", "def f(a, b, c):", "    log, fuel = (), 12"]
    return "\n".join([*head, *["    " + line for line in draw(suites())], "    return a, log", ""])


def outcome(f, *args):
    try:
        return f(*args)
    except NameError:  # Python says UnboundLocalError in a function and NameError in a comprehension
        return NameError
    except Exception as error:
        return type(error), str(error)


@pytest.fixture(autouse=True)
def hooks():
    with plain_hooks.installed():
        yield


some = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@some
@given(programs(), st.tuples(*[st.integers(-2, 3)] * 3))
def test_a_lowered_program_does_the_same(source, args):
    f = compiled(source)
    assert outcome(staged(f), *args) == outcome(f, *args), source


@pytest.mark.slow
@some
@given(programs(), st.tuples(*[st.integers(-2, 3)] * 3))
def test_the_other_branch_can_be_tried_first(source, args):
    f = compiled(source)
    plain_hooks.trying_both = True
    try:
        assert outcome(staged(f), *args) == outcome(f, *args), source
    finally:
        plain_hooks.trying_both = False
