"""`np.arange` with bounds that are traced, however they are given: by place, by name, or without a stop."""

import numpy as np
import pytest

import wengert as wg

WAYS = [
    lambda x: np.arange(1.0, stop=x, step=1.0, dtype=float),
    lambda x: np.arange(1.0, stop=x),
    lambda x: np.arange(1.0, x),
    lambda x: np.arange(start=1.0, stop=x, step=0.5),
    lambda x: np.arange(stop=x),
    lambda x: np.arange(stop=x, step=2.0),
    lambda x: np.arange(x, step=2.0),
    lambda x: np.arange(x, None, 2.0),
    lambda x: np.arange(x, stop=9.0),
    lambda x: np.arange(0.0, step=x, stop=15.0),
    lambda x: np.arange(1.0, 9.0, step=x, dtype=np.float64),
    lambda x: np.arange(1.0, 9.0, x, float),
]


@pytest.mark.parametrize("spaced", WAYS)
def test_items_and_derivatives(spaced):
    def f(x):
        return np.sum(spaced(x)) * x + len(spaced(x))

    at = 4.3
    slope = (f(at + 1e-6) - f(at - 1e-6)) / 2e-6
    for value in (wg.jit(f)(at), wg.value_and_grad(f)(at)[0], wg.jit(wg.value_and_grad(f))(at)[0]):
        np.testing.assert_allclose(value, f(at))
    for g in (wg.grad(f)(at), wg.jit(wg.grad(f))(at), wg.grad(wg.jit(f))(at), wg.jvp(f, (at,), (1.0,))[1]):
        np.testing.assert_allclose(g, slope, rtol=1e-7)


@pytest.mark.parametrize("kind", [int, np.int32])
@pytest.mark.parametrize(
    "spaced", [lambda n: np.arange(n, step=2), lambda n: np.arange(1, stop=n), lambda n: np.arange(stop=n)]
)
def test_integers(spaced, kind):
    np.testing.assert_array_equal(wg.jit(lambda n: spaced(n) + 0)(kind(7)), spaced(kind(7)))


def test_what_numpy_does_not_take():
    def f(x):
        return np.sum(np.arange(x, start=0.0))

    for run in (f, wg.jit(f), wg.grad(f)):
        with pytest.raises(TypeError, match="start"):
            run(3.0)
