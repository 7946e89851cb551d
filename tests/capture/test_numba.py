"""Functions that numba compiles are followed as the Python they were made of. numba need not be installed."""

import numpy as np
import pytest

import wengert as wg


class Dispatcher:
    """As numba's: it holds the Python function, and takes plain values only."""

    def __init__(self, py_func):
        self.py_func = py_func
        self.calls = 0

    def __call__(self, *args):
        assert all(isinstance(a, (int, float, np.ndarray, np.generic)) for a in args), "a traced value reached numba"
        self.calls += 1
        return self.py_func(*args)


class Vectorized:
    def __init__(self, py_func):
        self._dispatcher = Dispatcher(py_func)

    def __call__(self, *args):
        return np.vectorize(self._dispatcher)(*args)


Dispatcher.__module__ = "numba.core.registry"
Vectorized.__module__ = "numba.np.ufunc.dufunc"


@Dispatcher
def horner(coefficients, x):
    y = 0.0
    for c in coefficients:
        y = y * x + c
    return y


@Vectorized
def softened(x):
    if x > 1:
        return 2 * x - 1
    return x * x


@Dispatcher
def uses_others(x):
    y = np.empty(3)
    for i in range(3):
        y[i] = horner(np.array([1.0, 2.0, i]), x)
    return np.sum(softened(y))


def around(x):
    return uses_others(x) + x


PLACES = {"grad": wg.grad, "jit(grad)": lambda f: wg.jit(wg.grad(f)), "grad(jit)": lambda f: wg.grad(wg.jit(f))}


@pytest.mark.parametrize("f", [uses_others, around], ids=["itself", "in a function"])
@pytest.mark.parametrize("place", PLACES)
def test_gradient(f, place):
    x, h = 0.4, 1e-6
    plain = f.py_func if f is uses_others else f
    np.testing.assert_allclose(PLACES[place](f)(x), (plain(x + h) - plain(x - h)) / (2 * h), rtol=1e-8)


def test_plain_values_go_to_numba():
    before = horner.calls

    def f(x):
        coefficients = np.empty(2)
        coefficients[:] = 1.0, 2.0
        return x * horner(coefficients, 3.0)

    assert wg.jvp(f, (2.0,), (1.0,)) == (10.0, 5.0)
    assert wg.grad(f)(2.0) == 5.0
    assert horner.calls == before + 2
