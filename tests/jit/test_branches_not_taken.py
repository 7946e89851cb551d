"""Branches that no program can hold stand in the way only of calls that take them."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConcretizationError


def message_that_looks_at_a_text(x):
    if x > 10:
        text = f"{x:.3f}"
        raise ValueError(text if text.rstrip("0").endswith(".") else "too large")
    return math.sin(x) * x


def first_of_two(x):
    if x > 10:
        return len(str(x)) * x
    return x**3


def second_of_two(x):
    return math.exp(-x) if x < 10 else len(str(x)) * x


def in_a_loop(x):
    y = x
    for i in range(30):
        if y > 1e3:
            y = float(str(y).replace("1", "2"))
        y = y + 0.01 * i * x
    return y


def in_a_function_inside(x):
    def reported(y):
        if not math.isfinite(y) and "nan" in repr(y).lower():
            raise ArithmeticError(repr(y)[:3])
        return y * y

    return reported(x) + reported(2 * x)


def in_a_try(x):
    try:
        if x > 10 and str(x)[0] == "1":
            x = x + 1
        y = math.sqrt(x - 1) / x
    except ValueError:
        y = 2 * x
    return y


FUNCTIONS = (message_that_looks_at_a_text, first_of_two, second_of_two, in_a_loop, in_a_function_inside, in_a_try)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.5, 2.0])
def test_calls_that_do_not_take_it(f, x):
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-12)
    np.testing.assert_allclose(wg.grad(wg.jit(f))(x), wg.grad(f)(x), rtol=1e-12)
    points = np.array([x, 1.5 * x])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(points), [wg.grad(f)(p) for p in points], rtol=1e-12)
    np.testing.assert_allclose(wg.vmap(wg.jit(f))(points), [f(p) for p in points], rtol=1e-14)


@pytest.mark.parametrize("f", [first_of_two, second_of_two, message_that_looks_at_a_text], ids=lambda f: f.__name__)
def test_calls_that_take_it_are_refused(f):
    compiled = wg.jit(f)
    assert compiled(2.0) == pytest.approx(f(2.0))
    with pytest.raises(ConcretizationError, match="text"):
        compiled(12.0)
    assert compiled(3.0) == pytest.approx(f(3.0))


def test_one_example_of_a_batch_takes_it():
    with pytest.raises(ConcretizationError, match="text"):
        wg.jit(wg.vmap(first_of_two))(np.array([2.0, 12.0]))


def test_the_first_call_takes_it():
    compiled = wg.jit(first_of_two)
    with pytest.raises(ConcretizationError, match="text"):
        compiled(12.0)
    assert compiled(2.0) == 8.0


def test_what_is_told_is_what_stands_in_the_way():
    def f(x):
        if x > 10:
            x = len(str(x)) * x
        return x * int(f"{x:.0f}".split(".")[0][:1])

    with pytest.raises(ConcretizationError) as refusal:
        wg.jit(f)(2.0)
    assert "split" in str(refusal.value)


def lengths_that_data_decide(x):
    steps = []
    for i in range(3):
        if x * 2.0**-i > 1e-3:
            steps.append(x * 2.0**-i)
    return steps[-1] * len(steps) + np.sum(np.sin(np.array(steps)))


@pytest.mark.parametrize("points", [[1.2, 0.7], [1.2, 3e-3]], ids=["the same way", "different ways"])
def test_examples_of_a_batch(points):
    f, points = lengths_that_data_decide, np.array(points)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(points), [f(p) for p in points], rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(points), [wg.grad(f)(p) for p in points], rtol=1e-12)
