"""Quotients, powers and functions of `math` of Python's floats, which have quick ways: slopes, classes, errors."""

import math

import numpy as np
import pytest

import wengert as wg

CASES = {
    "quotient": (lambda x: x / 3.0, lambda x: 1 / 3.0),
    "quotient by an int": (lambda x: x / 4, lambda x: 0.25),
    "of a float": (lambda x: 2.0 / x, lambda x: -2.0 / x**2),
    "of an int": (lambda x: 2 / x, lambda x: -2 / x**2),
    "of itself": (lambda x: (x + 1.0) / x, lambda x: -1 / x**2),
    "square": (lambda x: x**2, lambda x: 2 * x),
    "to the one": (lambda x: x**1, lambda x: 1.0),
    "to the zero": (lambda x: x**0 * x, lambda x: 1.0),
    "cube": (lambda x: x**3, lambda x: 3 * x**2),
    "to a negative integer": (lambda x: x**-2, lambda x: -2 / x**3),
    "absolute": (lambda x: abs(x), lambda x: math.copysign(1, x)),
    "sine": (lambda x: math.sin(x), lambda x: math.cos(x)),
    "parts": (lambda x: math.modf(x)[0], lambda x: 1.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("x", [0.7, -1.3])
def test_slopes_and_classes(name, x):
    f, slope = CASES[name]
    seen = []

    def watched(x):
        y = f(x)
        seen.append((y * np.float32(1)).dtype)
        return y

    assert wg.grad(watched)(x) == pytest.approx(slope(x), rel=1e-14)
    assert wg.jvp(f, (x,), (2.0,))[1] == pytest.approx(2 * slope(x), rel=1e-14)
    assert wg.grad(wg.grad(f))(x) == pytest.approx(wg.jit(wg.grad(wg.grad(f)))(x), rel=1e-12, abs=1e-14)
    assert seen == [(f(x) * np.float32(1)).dtype]


def test_errors_are_those_of_python():
    for f, x in [
        (lambda x: 1.0 / x, 0.0),
        (lambda x: x / 0.0, 1.0),
        (lambda x: x / 0, 1.0),
        (lambda x: x / (x - 1.0), 1.0),
        (lambda x: x**-1, 0.0),
        (lambda x: x**2, -1e200),
        (lambda x: math.sqrt(x), -1.0),
        (lambda x: math.exp(x), 1e4),
    ]:
        with pytest.raises((ZeroDivisionError, OverflowError, ValueError)) as want:
            f(x)
        with pytest.raises(want.type):
            wg.grad(f)(x)
    with pytest.raises(ValueError, match="complex"):
        wg.grad(lambda x: x**0.5)(-1.0)


def test_numbers_of_numpy_stay_numpys():
    """They take no part in this: a quotient by zero is infinite."""
    with np.errstate(all="ignore"):
        assert wg.grad(lambda x: x / 2.0)(np.float64(3)) == 0.5
        assert np.isinf(wg.value_and_grad(lambda x: 1.0 / x)(np.float64(0))[0])
        assert wg.grad(lambda x: np.float64(2) / x)(2.0) == -0.5
    assert isinstance(wg.value_and_grad(lambda x: x**2)(np.float64(-3))[0], np.float64)


def test_an_array_keeps_its_precision_beside_such_numbers():
    x = np.ones(2, np.float32)
    y, g = wg.value_and_grad(lambda t: np.sum(x * (1 / t) * t**2 * abs(t)))(2.0)
    assert np.asarray(y).dtype == np.float32
    assert g == pytest.approx(8.0)
