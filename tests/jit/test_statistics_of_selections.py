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


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_without_nan(axis):
    """Medians and quantiles of data whose NaN only the compiled program knows."""
    x = np.array([[3.0, 1.0, np.nan, 2.0], [np.nan, 5.0, 4.0, 7.0], [1.0, 0.5, np.nan, np.nan]])

    def f(x):
        quantiles = np.nanquantile(x, [0.3, 0.8], axis=axis, method="hazen")
        return np.sum(np.nanmedian(x, axis=axis) ** 2) + np.sum(quantiles) + np.sum(np.nanpercentile(x, 45, axis=axis))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a column without numbers
        want = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(12).reshape(12, 3, 4)]
        for y in (np.where(np.isnan(x), 0.1 * np.arange(12.0).reshape(3, 4), x), x):
            np.testing.assert_allclose(wg.jit(f)(y), f(y), rtol=1e-14)
            np.testing.assert_allclose(wg.jit(wg.grad(f))(y), wg.grad(f)(y), rtol=1e-12)
    finite = np.isfinite(want)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x).ravel()[finite], np.array(want)[finite], rtol=1e-6, atol=1e-8)
