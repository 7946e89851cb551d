"""Numbers of classes derived from Python's own (`enum.IntEnum`), booleans as indices, and `is_integer` of numbers."""

import enum

import numpy as np
import pytest

import wengert as wg


class Axis(enum.IntEnum):
    X = 1
    Y = 2


class Length(float):
    pass


OPERATIONS = [
    lambda x: x * Axis.Y + Axis.X,
    lambda x: Axis.Y - x / Axis.Y,
    lambda x: x**Axis.Y,
    lambda x: Axis.Y**x,
    lambda x: np.add(x, Axis.Y) * Length(2.5),
    lambda x: np.where(x > Axis.X, x, Axis.Y) * 1,
    lambda x: np.maximum(x, Axis.Y),
    lambda x: x // Axis.Y,
]


@pytest.mark.parametrize("value", [np.array([1.5, -2.0]), np.array([1.5], np.float32), 2.5, np.float32(2.5)], ids=str)
@pytest.mark.parametrize("f", OPERATIONS)
def test_they_are_the_numbers_that_python_and_numpy_take_them_for(f, value):
    plain, compiled = f(value), wg.jit(f)(value)
    assert np.asarray(compiled).dtype == np.asarray(plain).dtype
    np.testing.assert_allclose(compiled, plain, rtol=1e-6)


@pytest.mark.parametrize("f", OPERATIONS[:-1])
def test_derivatives(f):
    x, h = np.array([1.5, 2.3]), 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    for derivative in (wg.grad(lambda x: np.sum(f(x))), wg.jit(wg.grad(lambda x: np.sum(f(x)))),
                       lambda x: wg.jvp(wg.jit(f), (x,), (np.ones(2),))[1]):  # fmt: skip
        np.testing.assert_allclose(derivative(x), slope, rtol=1e-8, atol=1e-8)


PLACES = [True, False, (True, 0), (0, True), (..., True), (None, True, slice(None), 1), (True, [0, 1]), np.True_]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_booleans_as_indices(place):
    x = np.arange(6.0).reshape(2, 3)

    def read(x):
        return x[place] * 2

    def written(x):
        y = x.copy()
        y[place] = x[0, 0] + 7
        y[place] *= 3
        return y

    for f in (read, written):
        compiled = wg.jit(f)(x)
        assert compiled.shape == f(x).shape
        np.testing.assert_array_equal(compiled, f(x))
        gradient = wg.grad(lambda x, f=f: np.sum(f(x) ** 2))(x)
        np.testing.assert_array_equal(wg.jit(wg.grad(lambda x, f=f: np.sum(f(x) ** 2)))(x), gradient)


def test_numbers_that_are_integers():
    def f(x):
        return x * 2 if x.is_integer() else x * 3

    compiled = wg.jit(f)
    for x in (2.0, 2.5, float("inf"), float("nan"), np.float64(-3.0)):
        np.testing.assert_array_equal(compiled(x), f(x))
        assert wg.grad(compiled)(x) == wg.grad(f)(x) == (2 if x.is_integer() else 3)
    with pytest.raises(AttributeError, match="is_integer"):
        wg.jit(lambda x: x.is_integer())(np.ones(2))


class Impedance:
    def __init__(self, r):
        self.r = r

    def __complex__(self):
        return complex(self.r, 2.0)

    def __float__(self):
        return float(self.r) * 2


def test_objects_that_say_which_number_they_are():
    f = lambda r: abs(complex(Impedance(r)) * 1j) + float(Impedance(r))
    for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(derivative(1.5), 1.5 / 2.5 + 2, rtol=1e-15)
