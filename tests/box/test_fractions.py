"""Python's fractions beside traced numbers: a float takes them for floats."""

from fractions import Fraction

import numpy as np
import pytest

import wengert as wg

THIRD = Fraction(1, 3)
FUNCTIONS = {
    "product": (lambda x: x * THIRD, lambda x: 1 / 3),
    "sum": (lambda x: THIRD + x, lambda x: 1.0),
    "difference": (lambda x: THIRD - x, lambda x: -1.0),
    "quotient": (lambda x: THIRD / x, lambda x: -1 / (3 * x**2)),
    "root": (lambda x: x**THIRD, lambda x: x ** (-2 / 3) / 3),
    "power": (lambda x: THIRD**x, lambda x: np.log(1 / 3) * 3**-x),
    "comparison": (lambda x: x * x if x > THIRD else -x, lambda x: 2 * x),
    "array": (lambda x: np.sum(np.array([x, 2 * x]) * THIRD), lambda x: 1.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    f, slope = FUNCTIONS[name]
    for way in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        np.testing.assert_allclose(way(1.5), slope(1.5), rtol=1e-14)
    for way in (wg.vmap(f), wg.vmap(wg.jit(f))):
        y = way(np.array([1.5, 2.0]))
        assert y.dtype == np.float64
        np.testing.assert_allclose(y, [f(1.5), f(2.0)], rtol=1e-14)


def test_the_class_of_numbers():
    """What fractions make of Python's floats are Python's floats."""
    assert type(wg.jvp(lambda x: x**THIRD, (1.5,), (1.0,))[0]) is float
    with pytest.raises(ValueError, match="negative number to a fractional power"):
        wg.grad(lambda x: x**THIRD)(-1.5)
