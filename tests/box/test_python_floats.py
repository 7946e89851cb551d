"""What Python's operators and its math module make of a Python float takes over the dtype of arrays that it meets."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg

A = np.array([1.0, 2.0], np.float32)
FUNCTIONS = {
    "abs": abs,
    "power": lambda x: x**2,
    "power of": lambda x: 2.0**x,
    "power by itself": lambda x: x**x,
    "floor": lambda x: x // 1.0 + x,
    "remainder": lambda x: x % 1.0,
    "divmod": lambda x: divmod(x, 1.0)[1],
    "quotient": lambda x: 1.0 / x + x / 2.0,
    "pow": lambda x: pow(x, 3),
    "float": float,
    "sqrt": lambda x: math.sqrt(x),
    "hypot": lambda x: math.hypot(x, 1.0),
    "fabs": lambda x: math.fabs(x),
    "NumPy's": lambda x: np.sqrt(x),
    "NumPy's float": lambda x: np.float64(x) ** 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtype(name: str) -> None:
    function = FUNCTIONS[name]

    def f(x):
        return function(x) * A

    expected = f(1.5)
    nested = wg.jvp(lambda x: wg.jvp(f, (x,), (1.0,))[0], (1.5,), (1.0,))[0]
    for found in (wg.jvp(f, (1.5,), (1.0,))[0], wg.vjp(f, 1.5)[0], nested, wg.jit(f)(1.5)):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    slope = (function(1.5 + 1e-6) - function(1.5 - 1e-6)) / 2e-6
    assert wg.grad(lambda x: function(x) * 1.0)(1.5) == pytest.approx(slope, rel=1e-6)


def written_to_an_element(a):
    y = np.zeros(3)
    y[0] = 1j * a
    return np.sum(y)


def written_to_a_row(a):
    y = np.zeros((2, 2))
    y[0][1:] = 1j * a
    return np.sum(y)


def filled(a):
    y = np.zeros(2)
    y.fill(1j * a)
    return np.sum(y)


@pytest.mark.parametrize("f", [written_to_an_element, written_to_a_row, filled, lambda a: float(a * 1j)])
@pytest.mark.parametrize("way", [lambda f: f, wg.grad, wg.jit, lambda f: wg.jit(wg.grad(f))])
def test_complex_numbers_where_real_ones_are_wanted(f, way):
    """Python's are refused, as by NumPy, compiled too; nothing is left of them otherwise."""
    with pytest.raises(TypeError, match="complex"):
        way(f)(1.5)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_numpys_complex_numbers_lose_their_imaginary_parts():
    def f(a):
        y = np.zeros(2)
        y[0] = np.exp(1j * a)
        return np.sum(y)

    for way in (f, wg.jit(f)):
        np.testing.assert_allclose([way(1.5), wg.grad(way)(1.5)], [np.cos(1.5), -np.sin(1.5)])
