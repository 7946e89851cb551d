"""Texts, functions, classes and objects of which data decide which one a name stands for, in compiled functions.

The references are the same functions in plain Python, and differences of these.
"""

import enum
import json
import math

import numpy as np
import pytest

import wengert as wg


class Phase(enum.Enum):
    RISE = 1
    FALL = 2
    REST = 3


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def force(self, x):
        return -self.stiffness * x


class Damper:
    def __init__(self, rate, offset):
        self.rate, self.offset = rate, offset

    def force(self, x):
        return self.rate * x + self.offset


def by_text(x):
    state, y, count = "start", x, 0
    while state != "done":
        if state == "start":
            y, state = 0.5 * y, "up" if y > 0.4 else "down"
        elif state == "up":
            y, state = y + 0.1 * x, "down"
        else:
            y = y - 0.3
            state = "done" if y < 0.1 else "start"
        count += 1
        if count > 30:
            break
    return y


def by_member(x):
    phase, y = Phase.RISE, x
    for k in range(12):
        match phase:
            case Phase.RISE:
                y = 1.1 * y
                if y > 1:
                    phase = Phase.FALL
            case Phase.FALL:
                y = 0.7 * y
                phase = Phase.REST if y < 0.5 else phase
            case _:
                return y * phase.value
        if k % 2:
            continue
        y = y + 0.01 * x
    return y


def by_table(x):
    weights = {"a": 0.1, "b": -0.5, "c": 0.3}
    after = {"a": "b", "b": "c", "c": "a"}
    steps = {"a": math.sin, "b": lambda v: v * x, "c": np.tanh}
    state, y = "a", x
    for _ in range(9):
        if y > 0:
            state = after[state]
        y = y + weights[state] * steps[state](y)
        if state in ("a", "c"):
            y = y * 1.01
    return y + {"a1": 2.0, "b1": 3.0, "c1": 4.0}[f"{state}{1}"] * x


def by_pair(x):
    table = {("low", 0): 1.0, ("low", 1): 2.0, ("high", 0): 3.0, ("high", 1): 4.0}
    level, y = "low", x
    for _ in range(6):
        bit = 1 if y > 1 else 0
        y = 0.9 * y + 0.1 * table[level, bit] * x
        level = "high" if y > 1.5 else "low"
    return y


def in_an_attribute(x):
    body = Damper("low", x)
    for _ in range(6):
        if body.offset > 2:
            body.rate = "high"
        elif body.offset < 0.5:
            body.rate = "low"
        body.offset = body.offset * (0.5 if body.rate == "high" else 1.7)
    return body.offset


def of_other_classes(x):
    part = Spring(2 * x) if x > 1 else Damper(x, 3.0)
    y = part.force(x)
    if isinstance(part, Spring):
        y = y + part.stiffness
    return y


def at_a_computed_place(x):
    names, functions = ["line", "square", "cube"], (np.sin, np.cos, np.exp)
    k = int(abs(3.3 * x)) % 3
    power = 1 if names[k] == "line" else 2 if names[k].startswith("sq") else 3
    return functions[k](x) * x**power


def text_or_nothing(x):
    found = None
    for k in range(8):
        if x * k > 2:
            found = "far"
            break
    found = found or "near"
    return x * len(found) if found == "far" else x**2


PROGRAMS = [by_text, by_member, by_table, by_pair, in_an_attribute, of_other_classes, at_a_computed_place,
            text_or_nothing]  # fmt: skip
POINTS = np.array([0.3, 2.5, -1.0])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_the_function(f):
    want = np.array([f(x) for x in POINTS.tolist()])
    slopes = np.array([(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in POINTS.tolist()])
    np.testing.assert_allclose([wg.jit(f)(x) for x in POINTS.tolist()], want, rtol=1e-12)
    np.testing.assert_allclose([wg.jit(wg.grad(f))(x) for x in POINTS.tolist()], slopes, rtol=1e-6)
    np.testing.assert_allclose([wg.jvp(wg.jit(f), (x,), (1.0,))[1] for x in POINTS.tolist()], slopes, rtol=1e-6)
    np.testing.assert_allclose(wg.vmap(wg.jit(f))(POINTS), want, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(wg.jit(f))))(POINTS), slopes, rtol=1e-6)


@pytest.mark.parametrize("x", [0.5, 3.0])
def test_what_is_returned(x):
    def f(x):
        size = "large" if x > 1 else "small"
        kind = Phase.RISE if x > 1 else None
        return {"size": size, "text": f"it is {size}", "kind": kind, "value": (2 * x, math.sin if x > 1 else math.cos)}

    assert wg.jit(f)(x) == f(x)


def test_given_to_and_by_a_compiled_helper():
    @wg.jit
    def helper(mode, x):
        return ("next", x * x) if mode == "first" else ("last", x + 1)

    def f(x):
        mode = "first" if x > 1 else "second"
        mode, y = helper(mode, x)
        mode, y = helper("first" if mode == "next" else mode, y)
        return mode, y

    for x in (0.5, 3.0):
        assert wg.jit(f)(x) == f(x)


def test_what_one_of_them_raises():
    def f(x):
        key = "known" if x > 0 else "other"
        return {"known": 2.0}[key] * x

    g = wg.jit(f)
    assert g(3.0) == 6.0
    with pytest.raises(KeyError, match="other"):
        g(-1.0)


def test_functions_that_are_not_followed():
    def f(x):
        v = np.array([x, 2 * x, 3.0])
        return np.sum(np.pad(v, 2, mode="edge" if x > 1 else "reflect") * np.arange(7.0))

    for x in (0.5, 3.0):
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)


def test_examples_that_return_different_texts():
    f = wg.jit(lambda x: "large" if x > 1 else "small")
    np.testing.assert_array_equal(wg.vmap(f)(np.array([2.0, 0.0])), ["large", "small"])
    np.testing.assert_array_equal(
        wg.vmap(lambda x: len(f(x)) * x if f(x) != "none" else x)(np.array([2.0, 0.0])), [10, 0]
    )


def test_a_function_with_variables_of_a_branch_is_none_of_several():
    def f(x):
        if x > 1:
            scale = x * 3
            g = lambda v, scale=scale: v * scale
        else:
            g = math.sin
        return g(x)

    for x in (0.5, 3.0):
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)


def test_what_one_of_them_raises_is_caught():
    def f(x):
        total, known = 0.0, {"near": 2.0}
        for k in range(8):
            try:
                total += known["near" if x * k < 2 else "far"] * x
            except KeyError:
                total -= x * x
        return total

    for x in (0.55, -1.0):
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(wg.jit(wg.grad(f))(x), slope, rtol=1e-6)


def test_numbers_or_texts():
    def f(x):
        r = "none" if x < 0 else 2 * x
        return x - 100 if r == "none" else r + 1

    np.testing.assert_allclose(wg.jit(wg.vmap(f))(POINTS), [f(x) for x in POINTS.tolist()], rtol=1e-14)
    np.testing.assert_allclose([wg.jit(f)(x) for x in POINTS.tolist()], [f(x) for x in POINTS.tolist()], rtol=1e-14)


def test_code_that_has_to_know_which_one_it_is():
    def hashed(x):
        return {"large" if x > 1 else "small": x, "both": {"large" if x > 1 else "small"}}

    def written(x):
        return json.dumps({"size": ["large" if x > 1 else "small"]})

    for f in (hashed, written):
        for x in (0.5, 3.0):
            assert wg.jit(f)(x) == f(x)


def test_messages():
    def raising(x):
        size = "large" if x > 1 else "small"
        if x > 0:
            raise ValueError(f"it is {size}")
        return x

    def asserting(x):
        size = "large" if x > 1 else "small"
        assert x < 0, f"it is {size}"
        return x

    for f, error in ((raising, ValueError), (asserting, AssertionError)):
        g = wg.jit(f)
        assert g(-1.0) == -1.0
        for x, size in ((0.5, "small"), (3.0, "large")):
            with pytest.raises(error, match=f"it is {size}"):
                g(x)


def test_the_nearest_of_objects_of_several_classes_or_none():
    def nearest(x):
        best, found = np.inf, None
        for part in (Spring(1.5 * x), Spring(2.0), Damper(x, 0.3)):
            distance = abs(part.force(x)) - 0.1
            if distance > 0 and distance < best:
                best, found = distance, part
        if found is None:
            return 0.2 * x
        return found.force(best) + x

    for x in (0.7, 2.5, 0.04, -0.6):
        assert wg.jit(nearest)(x) == pytest.approx(nearest(x), rel=1e-14)
        slope = (nearest(x + 1e-6) - nearest(x - 1e-6)) / 2e-6
        assert wg.jit(wg.grad(nearest))(x) == pytest.approx(slope, rel=1e-8)
