"""Lowering: kinds of callables, what hooks are told, the shape of the code, tracebacks."""

# ruff: noqa: B023, F841

import ast
import copy
import functools
import linecache
import math
import pickle
import textwrap
import traceback

import numpy as np
import plain_hooks
import pytest

import wengert as wg
from wengert.capture import instrument as instrumentation
from wengert.capture.hooks import instrument
from wengert.capture.instrument import staged
from wengert.capture.lower import LOWERED_HOOKS, UNDEFINED, lower
from wengert.capture.lowered import SUBJECT


@pytest.fixture(autouse=True)
def hooks():
    plain_hooks.seen.clear()
    with plain_hooks.installed():
        yield


# --------------------------------------------------------------------------------------------------- kinds of callables


class Model:
    def __init__(self, scale):
        self.scale = scale
        self.__hidden = np.zeros(2)
        if scale > 2:
            self.large = True

    def value(self, x):
        for k in range(3):
            if x > k:
                self.__hidden[0] += k
                self.__hidden[1] = x
        return (self.__hidden * self.scale).tolist()

    def __call__(self, x):
        return self.value(x) if x > 1 else None

    @classmethod
    def made(cls, scale):
        if scale > 3:
            return cls(scale)
        return None

    @staticmethod
    def doubled(x):
        return x * 2 if x else 0


class Derived(Model):
    def value(self, x):
        if x > 2:
            result = super().value(x)
            return ["derived", *result]
        return super().value(x)


def test_methods_partials_classes_and_callables():
    for n in range(5):
        for model in (Model(2.0), Derived(3.0)):
            again = type(model)(model.scale)
            assert staged(model.value)(n) == again.value(n)
            assert staged(model)(n) == again(n)
        assert staged(functools.partial(Derived(3.0).value, n))() == Derived(3.0).value(n)
        assert staged(Model.doubled)(n) == Model.doubled(n)
        assert hasattr(staged(Model)(n), "large") == hasattr(Model(n), "large")
        assert (staged(Model.made)(n) is None) == (Model.made(n) is None)
    f = lambda x, y=3: x if x > y else (y and x < y < 5)
    assert [staged(f)(n) for n in range(6)] == [f(n) for n in range(6)]


def test_private_attributes_of_eager_twins():
    class Private:
        def __init__(self):
            self.__a = np.zeros(2)

        def value(self, x):
            self.__a[0] = x
            self.__a[0] += x
            return self.__a[0]

    assert wg.grad(lambda x: Private().value(x))(3.0) == 2.0


def test_free_variables_are_shared():
    total = 0

    def add(x):
        nonlocal total
        for k in range(3):
            if k > x:
                break
            total += k
        return total

    assert staged(add)(1) == 1
    assert total == 1
    total = 10
    assert staged(add)(2) == 13


def test_functions_that_are_not_lowered():
    def generator(n):
        for i in range(n):
            if i % 2:
                n = yield i

    async def coroutine(n):
        return n if n else 1

    def frame(n):
        if n:
            y = 1
        return sorted(dir())

    def evaluates(n):
        y = 3
        if n:
            return eval("y + n")

    for f in (generator, coroutine, frame, evaluates):
        called = set(staged(f).__code__.co_freevars).intersection(LOWERED_HOOKS)
        assert called <= ({SUBJECT} if f is evaluates else set())  # what eval is given is looked at
    assert list(staged(generator)(5)) == [1, 3]
    assert [name for name in staged(frame)(1) if not name.startswith("_wengert_")] == ["n", "y"]
    assert staged(evaluates)(2) == 5


def test_kinds_of_twins_are_apart():
    def f(x):
        if x > 0:
            return math.sin(x) * x
        return x

    eager, lowered = instrument(f), staged(f)
    assert eager is not lowered
    assert instrument(f) is eager
    assert staged(f) is lowered
    assert staged(lowered) is lowered
    assert instrument(eager) is eager
    assert instrument(lowered) is lowered  # it calls the hooks that its caller wants
    assert "_wengert_if" not in eager.__code__.co_freevars
    assert "_wengert_if" in lowered.__code__.co_freevars
    assert not {k for k in lowered.__dict__ if k in (instrumentation.TWIN, instrumentation.STAGED_TWIN)}
    assert lowered.__closure__[lowered.__code__.co_freevars.index("_wengert_call")].cell_contents is plain_hooks.call
    np.testing.assert_allclose(wg.grad(f)(0.5), np.sin(0.5) + 0.5 * np.cos(0.5))


def test_a_function_inside_an_eager_twin_can_be_staged():
    def f(x):
        scale = 3.0

        def inner(y):
            if y > 1:
                return y * scale
            return y

        twin = staged(inner)
        assert twin is not inner
        assert "_wengert_if" in twin.__code__.co_freevars
        return twin(x)

    assert instrument(f)(2.0) == 6.0
    assert instrument(f)(0.5) == 0.5


# ------------------------------------------------------------------------------------------------- what hooks are told


def told(f, *args):
    """What the hooks of a function's own loops and branches are told, without our own variables."""
    plain_hooks.seen.clear()
    assert plain_hooks.outcome(staged(f), *copy.deepcopy(args)) == plain_hooks.outcome(f, *args)
    ours = lambda names: {name for name in names if not name.startswith("_wengert_")}
    return [(what, *[ours(names) for names in rest]) for what, *rest in plain_hooks.seen]


def test_names_stores_and_temporaries_of_a_loop():
    def f(x, out):
        total, carried, previous = 0.0, 1.0, 0.0
        for i in range(3):
            t = x[i] * 2.0
            buffer = np.zeros(2)
            buffer[0] = t
            total += buffer[0]
            out[i] = total
            carried = carried * t + previous
            previous = t
            np.add(x, 1.0, out=x)
        for i in range(2):
            total += i
        return total, carried

    first, second = told(f, np.ones(3), np.zeros(3))
    assert first[1] == {"i", "t", "buffer", "total", "out", "carried", "previous", "x"}
    assert first[2] == {"buffer", "total", "out", "x"}
    assert first[3] == {"i", "t", "buffer"}
    assert second == ("for", {"i", "total"}, {"total"}, {"i"})


def test_names_are_not_temporary_if_in_doubt():
    def f(n):
        functions = []
        for i in range(3):
            if i > 1:
                sometimes = i
            captured = i * 2
            functions.append(lambda: captured)
            lazy = (k for k in range(captured))
            after = i
            try:
                caught = 1 / i
            except ZeroDivisionError:
                pass
            summed = i
            total = sum(k * summed for k in range(2))
            if i > 1:
                n += sometimes
            try:
                n += caught
            except NameError:
                pass
        return functions[0](), after, n

    loop = told(f, 1)[0]
    assert loop[3] == {"i", "lazy", "summed", "total"}


def test_variables_of_while_loops():
    def f(n):
        k = 0
        while n - k > 0 and k < 5:
            rest = n - k
            step = 1 if rest > 2 else 2
            k += step
        return k, rest

    (loop,) = told(f, 4)
    assert loop == ("while", {"rest", "step", "k"}, {"k"}, {"step"})


def test_temporaries_of_a_branch():
    def f(x):
        if x > 1:
            t = x * 2
            y = t + 1
        else:
            t = "another type"
            y = len(t)
        return y

    assert told(f, 3) == [("if", {"t", "y"}, set(), {"t"})]


def test_attributes_are_loaded_by_name():
    loads = []
    plain_hooks.set_staged_hooks({"_wengert_attr": lambda value, name: loads.append(name) or getattr(value, name)})
    model = Model(3.0)
    staged(model.value)(1)
    assert loads == ["_Model__hidden", "_Model__hidden", "scale", "tolist"]


# ---------------------------------------------------------------------------------------------------- shape of the code


def lowered_source(source):
    return ast.unparse(ast.fix_missing_locations(lower(ast.parse(textwrap.dedent(source)).body[0], ())))


def test_flags_are_there_only_if_they_are_needed():
    plain = lowered_source("""
        def f(x):
            if x:
                y = 1
            for i in x:
                y += i
            return y
    """)
    assert "returned" not in plain
    assert "_wengert_value" not in plain.replace("_wengert_values", "")
    assert "None, _wengert_get" in plain  # neither an else nor a test whether to go on
    structured = lowered_source("""
        def f(x):
            if x > 1:
                return 1
            for i in x:
                if i:
                    continue
                g(i)
            return 2
    """)
    assert "returned" not in structured
    assert "continued" not in structured
    assert "_wengert_not" not in structured


def test_simple_functions_stay_simple():
    assert lowered_source("def f(x):\n    y = x\n    return y + 1") == "def f(x):\n    y = x\n    return y + 1"


def test_names_are_told():
    assert "    y = _wengert_named('y', x + 1)\n" in lowered_source("def f(x):\n    y = x + 1\n    return y")
    assert "_wengert_named(('a', 'b'), " in lowered_source("def f(x):\n    a, b = g(x)\n    return a + b")


# ----------------------------------------------------------------------------------------------------------- tracebacks


def test_tracebacks_show_the_users_lines():
    source = textwrap.dedent("""\
        def f(x):
            total = 0
            for i in range(3):
                if i == 2:
                    while True:
                        total = (x and
                                 1 / 0)
            return total

        def g(x):
            if x:
                raise ValueError("no")

        def h(x):
            for i in x:
                pass
    """)
    file = "<lines>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {}
    exec(compile(source, file, "exec"), scope)
    for name, lines in (("f", [3, 4, 5, 6, 7]), ("g", [11, 12]), ("h", [15])):
        with pytest.raises((ZeroDivisionError, ValueError, TypeError)) as caught:
            staged(scope[name])(1)
        frames = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == file]
        assert list(dict.fromkeys(frame.lineno for frame in frames)) == lines
        assert {frame.name for frame in frames} <= {name, "<lambda>"}


def test_long_chains_of_branches():
    lines = [f"    if x == {k}: return {k} * 2" for k in range(30)]
    lines += ["    if x == 30: return 1", *[f"    elif x == {k}: y = {k}" for k in range(31, 60)], "    return y"]
    source = "\n".join(["def f(x):", *lines, ""])
    file = "<chain>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {}
    exec(compile(source, file, "exec"), scope)
    for x in (0, 29, 30, 31, 59, 60):
        assert plain_hooks.outcome(staged(scope["f"]), x) == plain_hooks.outcome(scope["f"], x)


# ----------------------------------------------------------------------------------------------------------- undefined


def test_undefined():
    assert repr(UNDEFINED) == "UNDEFINED"
    assert pickle.loads(pickle.dumps(UNDEFINED)) is UNDEFINED
    for use in (
        lambda x: x + 1, lambda x: 2 * x, lambda x: x(), lambda x: x[0], lambda x: x.a, bool, float, len, list, str,
        lambda x: x == 1, lambda x: x < 1, lambda x: -x, lambda x: [0][x], lambda x: np.sin(x),
        lambda x: np.ones(2) * x,
    ):  # fmt: skip
        with pytest.raises(UnboundLocalError, match="not associated with a value"):
            use(UNDEFINED)
    with pytest.raises(UnboundLocalError):
        UNDEFINED[0] = 1
