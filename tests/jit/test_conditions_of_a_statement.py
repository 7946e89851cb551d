"""Conditions of a statement of a `try` that fail in the same state are one branch."""

import math

import numpy as np
import pytest

import wengert as wg


def which(x):
    try:
        y = 1.0 / x + math.log(x) + math.sqrt(x - 1.0) / (x - 2.0) + math.exp(x)
    except ZeroDivisionError:
        y = 10.0 * x + 1.0
    except ValueError:
        y = 20.0 * x + 2.0
    except OverflowError:
        y = 3.0
    return y * y


def uncaught(x):
    try:
        y = 1.0 / x + x**200.0 / (x - 1e3) + 1.0 / (x - 2.0)
    except ZeroDivisionError:
        y = 10.0 * x + 1.0
    return y


def bound_before(x):
    a = b = 0.0
    try:
        a = 1.0 / x
        b = a / (x - 1.0) + math.sqrt(x)
        a = a * b / (x - 2.0)
    except ZeroDivisionError:
        b = b + 5.0 * x
    except ValueError:
        a = a - 7.0 * x
    return a + 3.0 * b


def in_a_loop(x):
    total, count = 0.0, 0
    try:
        for k in range(30):
            step = 1.0 / (x - k) + math.sqrt(x + 3.0 - k)
            total = total + step / (x - 0.5 * k)
            count = count + 1
    except ZeroDivisionError:
        total = total * 2.0
    except ValueError:
        total = total * 3.0
    return total + 0.1 * count


POINTS = (0.0, 1.0, 2.0, 2.5, 0.5, -1.0, -2.0, 3.0, 4.0, 7.3, 800.0, 1e3, 1e4)


def outcome(f, x):
    try:
        return f(x)
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        return type(error).__name__


@pytest.mark.parametrize("f", [which, uncaught, bound_before, in_a_loop], ids=lambda f: f.__name__)
def test_the_first_condition_that_does_not_hold_decides(f):
    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    for x in POINTS:
        expected = outcome(f, x)
        if isinstance(expected, str):
            assert outcome(compiled, x) == outcome(gradient, x) == expected
            continue
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-12)
        slope = wg.grad(f)(x)
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-9)
        np.testing.assert_allclose(wg.grad(compiled)(x), slope, rtol=1e-9)
