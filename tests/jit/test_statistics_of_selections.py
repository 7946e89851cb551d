"""Statistics of x[mask] in compiled functions: how many elements there are is known only when they run."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert import tree

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


SELECTED = {
    "line through them": lambda x, m: np.polyfit(x[m], np.sin(x[m]), 1),
    "weighted parabola": lambda x, m: np.polyfit(x[m], np.cos(x[m]), 2, w=1 + x[m]),
    "its rest": lambda x, m: np.polyfit(x[m], np.exp(x[m]), 1, full=True)[:2],
    "least squares": lambda x, m: np.linalg.lstsq(np.column_stack([np.ones(m.sum()), x[m]]), np.sin(x[m]), rcond=None),
    "some of some": lambda x, m: np.polyfit(np.append(x[m][:2], x[m] ** 2), np.append(x[m][:2], x[m] ** 3), 1),
    "covariance": lambda x, m: (np.cov(x[m], np.sin(x[m])), np.cov(x[m]), np.cov(np.stack([x[m], x[m] ** 2]), ddof=0)),
    "correlation": lambda x, m: np.corrcoef(x[m], np.exp(-x[m]))[0, 1],
    "average": lambda x, m: np.average(x[m], returned=True),
    "rows": lambda x, m: np.array([x[m], x[m] ** 2]) @ np.sin(x[m]),
}


@pytest.mark.parametrize("name", SELECTED)
def test_fits_and_moments(name):
    x, v, h = np.array([0.5, 1.5, 2.5, 0.9, 0.1, 1.1, 1.9]), np.linspace(-0.5, 1.0, 7), 1e-5
    f = lambda x, bound: tree.leaves(SELECTED[name](x, x > bound))
    total = lambda x, bound: sum(np.sum(np.cos(y)) for y in f(x, bound) if np.asarray(y).dtype.kind == "f")
    for bound in (0.7, 0.3):
        for got, want in zip(wg.jit(f)(x, bound), f(x, bound), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
        slope = (total(x + h * v, bound) - total(x - h * v, bound)) / (2 * h)
        for gradient in (wg.grad(total), wg.jit(wg.grad(total)), wg.grad(wg.jit(total))):
            assert gradient(x, bound) @ v == pytest.approx(slope, rel=1e-6)


def test_fits_of_too_few():
    """No residuals, as in NumPy; of a line through one point the solution of least norm."""
    f = lambda x, bound: np.polyfit(x[x > bound], np.sin(x[x > bound]), 1, full=True)[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for bound in (1.0, 2.0):
            for got, want in zip(wg.jit(f)(X, bound), f(X, bound), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12)
    with pytest.raises(ValueError, match="same shape"):
        wg.jit(lambda x: np.stack([x[x > 0.6], x[x > 1.0]]))(X)


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
