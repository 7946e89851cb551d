"""Statistics of x[mask] in compiled functions: how many elements there are is known only when they run."""

import warnings

import numpy as np
import pytest

import wengert as wg

STATISTICS = {
    "mean": np.mean,
    "std": np.std,
    "std of a sample": lambda y: y.std(ddof=1),
    "var": lambda y: np.var(y, ddof=1),
    "median": np.median,
    "percentile": lambda y: np.percentile(y, 30),
    "quantiles": lambda y: np.sum(np.quantile(y, [0.2, 0.9]) ** 2),
    "last of cumsum": lambda y: np.cumsum(y)[-1] * y[-1],
}
X = np.array([0.5, 1.5, 2.5, 0.9, 0.1])


@pytest.mark.parametrize("name", STATISTICS)
def test_values_and_gradients(name):
    statistic = STATISTICS[name]

    def f(x, bound):
        return statistic(x[x > bound])

    value, gradient, of_value = wg.jit(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))
    for bound in (0.0, 0.6, 0.2, 1.0):
        want = [(f(X + h, bound) - f(X - h, bound)) / 2e-6 for h in 1e-6 * np.eye(5)]
        np.testing.assert_allclose(value(X, bound), f(X, bound), rtol=1e-14)
        for found in (gradient(X, bound), of_value(X, bound)):
            np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-8)


def test_of_equal_values_and_of_none():
    f = wg.jit(lambda x, b: np.std(x[x > b]))
    g = wg.jit(wg.grad(lambda x, b: np.std(x[x > b])))
    x = np.array([0.1, 0.1, 0.1, -1.0])
    assert f(x, 0.0) == np.std(x[:3])
    np.testing.assert_array_equal(g(x, 0.0), np.zeros(4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(f(x, 5.0))


def reciprocals(x):
    return np.sum(np.divide(1, x, out=np.zeros_like(x), where=x > 1) ** 2)


def sums(x):
    y = np.ones(5)
    np.add(x, [1.0, 2.0, 3.0, 4.0, 5.0], out=y, where=x > 0.6)
    return np.sum(y * x)


@pytest.mark.parametrize("f", [reciprocals, sums], ids=lambda f: f.__name__)
def test_where_and_out(f):
    want = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-14)
    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(g(X), want, rtol=1e-6)
