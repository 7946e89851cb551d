"""The generator, the comparison and the shrinker themselves: they see what is wrong, and make it small."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from fuzz.compositions import COMPOSITIONS, Check, checked
from fuzz.outcome import normal
from fuzz.outside import GLOBALS
from fuzz.program import generated, points_for, text_of
from fuzz.scope import FEATURES
from fuzz.shrink import runnable, shrunk

WRONG_RULE = "    return soft(u), u_dot / (1.0 + np.exp(-u))"


def with_body(*lines: str):
    """A program with this body, at the points of some seed."""
    program = generated(3)
    text = text_of(program)
    head, last = text.split("\n")[0], text.split("\n")[-1]
    start = ["    s = 0.25", "    t = 0.5 * a", "    w = np.zeros(len(x))", "    c = 1"]
    body = "\n".join([head, *start, *["    " + line for line in lines], last])
    return program.smaller(program.source.replace(text, body))


def test_a_seed_gives_the_same_program():
    for seed in range(5):
        assert generated(seed).source == generated(seed).source
        for a, b in zip(points_for(seed), points_for(seed), strict=True):
            np.testing.assert_array_equal(a.data[0], b.data[0])


def test_most_programs_are_of_use():
    assert sum(Check(generated(seed)).useful() for seed in range(40)) >= 30


def test_every_feature_turns_up():
    words = {
        "loops": "for ", "whiles": "while ", "branches": "if ", "jumps": "break", "returns": "        return ",
        "views": "[::-1]", "masks": "> ", "scatters": ".at(", "joins": "np.stack", "products": "@", "dicts": '{"u"',
        "lists": ".append(", "objects": "State(", "closures": "lambda", "helpers": "h_", "recursion": "h_power(",
        "rules": "cube(", "exceptions": "except", "complex": "1j", "dtypes": "float32", "linalg": "np.linalg.",
        "math": "math.", "constructors": "np.zeros(", "gathers": "np.take(", "ties": "np.maximum", "nests": "N",
        "aliases": ".copy()", "integers": "% 2", "reductions": "axis=", "writes": "] = ", "elementwise": "np.sin(",
        "scalars": "a", "flags": "is None", "iterators": "itertools.", "unpacking": ":=", "floors": "np.floor",
        "choices": "np.select(", "small": "[:0]", "slices": ":][", "places": "bool)", "classes": "class O",
        "buffers": "np.empty_like(", "state": "h_relax(", "algorithms": " @ ", "mixes": "np.complex64",
        "axes": "np.einsum(",
        "indices": "np.argsort(", "layouts": ".ravel()", "exits": "suppress(", "dispatch": "lambda u: 0.5 * f(u)",
        "operators": "wg.", "powers": "% 3)", "inheritance": "self.u = u", "own": "dataclasses.",
        "managers": "contextlib.contextmanager",
        "patterns": "case [", "structures": ".left", "standard": "heapq.", "truth": "best",
        "transforms": "np.linalg.", "outside": "global COUNT", "cubes": "np.stack([", "scipy": "scipy.",
        "methods": "for ", "grids": "part = ", "references": "setdefault(",
    }  # fmt: skip
    assert set(words) == set(FEATURES)
    found: collections.Counter = collections.Counter()
    for seed in range(800):
        text = text_of(generated(seed))
        found.update([feature for feature, word in words.items() if word in text])
    assert not set(words) - set(found), sorted(set(words) - set(found))


def test_features_can_be_asked_for():
    none = {name: 0.0 for name in FEATURES if name not in ("scalars", "elementwise")}
    for seed in range(20):
        text = text_of(generated(seed, none))
        assert "for " not in text
        assert "if " not in text


def test_a_right_program_is_the_same_everywhere():
    outcomes = checked(with_body("w[:] = np.sin(x)", "s = np.sum(w ** 2)"), ["wg.jit(f)", "slope", "wg.hessian(total)"])
    assert {o.kind for o in outcomes.values()} == {"same"}


def test_a_wrong_derivative_is_seen_and_shrunk():
    program = with_body("t = t + 1", "if a > -9:", "    s = np.sin(soft(x[0]) * 2.0)", "w = np.cos(x)")
    program = program.smaller(program.source.replace(WRONG_RULE, WRONG_RULE.replace("u_dot /", "1.1 * u_dot /")))
    name = "wg.grad(total, (0, 1, 2))"
    outcome = Check(program).run(name)
    assert outcome.group == ("wrong", "gradient")
    small = shrunk(program, name, outcome, seconds=60)
    text = text_of(small.smaller(small.source.replace("\n\ndef number", "\n\n\ndef number")))
    assert "soft" in text
    assert "if" not in text
    assert "cos" not in text
    assert "State" not in small.source
    assert name in runnable(small, name, outcome)


def test_what_is_not_smooth_says_nothing():
    assert not Check(with_body("s = 1 / 0")).useful()
    assert not Check(with_body("s = np.exp(1e3 + a)")).useful()
    assert not Check(with_body(f"s = np.abs(a - {points_for(3)[0].data[2]!r})")).useful()


def test_messages_without_names_and_numbers():
    assert normal("v12 has 3 elements, 'q' has (2, 3)") == "NAME has # elements, … has SHAPE"


@pytest.mark.parametrize("name", list(COMPOSITIONS))
def test_every_composition_has_an_answer(name):
    assert Check(with_body("s = np.sin(a) * x[0]", "w = x * A[0, 0]")).run(name).kind == "same"


def test_programs_that_keep_something_outside_are_compared_by_sequences_of_calls():
    program = generated(0, {"outside": 1.0})
    assert program.has_state
    program = program.smaller(program.source.replace(text_of(program), "\n    ".join([
        "def f(x, A, a, n):", GLOBALS, "LOG.append(x[0])", "COUNT += n", "GRID[1:] *= a",
        "return sum(LOG), GRID.sum(), GRID * 2, COUNT",
    ])))  # fmt: skip
    check = Check(program)
    assert check.run("sequence(f, wg.jit)").kind == "same"
    calls, (log, *_) = check.expected("sequence")[0]
    assert len(calls) == 6
    assert len(log) == 7
