"""Medians, quantiles, differences, slopes, integrals, covariance, counts, log-sum-exp."""

import numpy as np
import pytest
import scipy.special
from harness import check

import wengert as wg
from wengert.box.functions.statistics import logsumexp
from wengert.errors import UnsupportedFunctionError

X = np.array([[0.3, -1.2, 2.5, 0.9], [1.7, 0.4, -0.6, 3.1], [-0.2, 1.1, 0.8, -2.3]])
Y = np.array([1.5, -0.7, 0.2, 2.2, 0.9])
CONTINUOUS = ["interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased"]
METHODS = [
    *CONTINUOUS,
    *["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher", "midpoint", "nearest"],
]

# ----------------------------------------------------------------------------------------------------------- quantiles


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (1, 0)}], ids=str)
def test_median(options):
    check(lambda x: np.median(x, **options), X)
    check(lambda x: np.median(x, **options), X[:2, :3])
    check(lambda x: np.nanmedian(x, **options), X)
    check(lambda x: np.quantile(x, 0.3, **options), X)


def test_median_of_few():
    check(np.median, 1.5)
    check(np.median, [1.5])
    check(lambda x: np.median(x, axis=1), np.zeros((0, 3)))
    with pytest.warns(RuntimeWarning, match="Mean of empty"):
        assert np.isnan(wg.jvp(np.median, (np.zeros(0),), (np.zeros(0),))[0])
    with pytest.raises(IndexError):
        wg.jvp(lambda x: np.quantile(x, 0.5), (np.zeros(0),), (np.zeros(0),))


def test_ties_of_order_statistics_share_equally():
    x = np.array([2.0, 1.0, 2.0, 5.0, 2.0])
    third = np.array([1, 0, 1, 0, 1]) / 3
    np.testing.assert_allclose(wg.grad(np.median)(x), third)
    np.testing.assert_allclose(wg.grad(np.median)(x[:4]), [0.5, 0, 0.5, 0])
    np.testing.assert_allclose(wg.grad(lambda x: np.quantile(x, 0.3))(x), 0.8 * third + 0.2 * third)
    y, y_dot = wg.jvp(lambda x: np.quantile(x, [0.0, 0.5, 1.0], axis=0), (x,), (np.arange(5.0),))
    np.testing.assert_array_equal(y, [1, 2, 5])
    np.testing.assert_allclose(y_dot, [1, 2, 3])
    lanes = np.stack([x, Y], axis=1)  # ties in one lane only
    np.testing.assert_allclose(
        wg.grad(lambda x: np.sum(np.median(x, axis=0)))(lanes), np.stack([third, [0, 0, 0, 0, 1]], axis=1)
    )
    np.testing.assert_array_equal(wg.grad(np.median)(np.zeros(4)), np.full(4, 0.25))


@pytest.mark.parametrize("inf", [np.inf, -np.inf])
def test_ties_at_infinity_share_equally(inf):
    x = np.array([inf, 1.0, inf, inf, -inf])
    third = np.array([1, 0, 1, 1, 0]) / 3
    np.testing.assert_allclose(wg.grad(np.median)(x), third)
    np.testing.assert_allclose(wg.grad(lambda x: np.quantile(x, 0.5, method="lower"))(x), third)
    np.testing.assert_allclose(
        wg.grad(lambda x: np.nanquantile(x, 0.5, method="nearest"))(np.append(x, np.nan)), np.append(third, 0)
    )


@pytest.mark.parametrize("method", METHODS)
def test_quantile_methods(method):
    for q in (0.0, 0.13, 0.5, 0.77, 1.0):
        check(lambda x, q=q: np.quantile(x, q, method=method), Y, second=False)
    check(lambda x: np.quantile(x, [[0.1, 0.6], [0.35, 0.9]], axis=0, method=method, keepdims=True), X)
    check(lambda x: np.percentile(x, [10, 55.5], axis=1, method=method), X)
    check(lambda x: np.nanquantile(x, 0.4, method=method, axis=0), X)
    for n in range(1, 7):  # the ranks agree with NumPy's wherever rounding might decide
        x = np.sin(np.arange(n) * 7.0)
        q = np.linspace(0, 1, 2 * n * (n + 1) + 1)
        np.testing.assert_array_equal(wg.jvp(lambda x: np.quantile(x, q, method=method), (x,), (x,))[0],  # noqa: B023
                                      np.quantile(x, q, method=method))  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_derivative_in_q(method):
    check(lambda x, q: np.quantile(x, q, method=method), Y, [0.23, 0.61, 0.87])
    check(lambda q: np.percentile(Y, q, method=method), 37.0)
    check(lambda x, q: np.nanpercentile(x, q, axis=0, method=method), X, [23.0, 61.0])
    if method not in CONTINUOUS:
        assert wg.grad(lambda q: np.quantile(Y, q, method=method) + 0 * q)(0.43) == 0


def test_derivative_in_q_at_the_ends():
    """One-sided: at q = 1 the slope of the last piece, not zero."""
    ordered = np.sort(Y)
    slope = wg.grad(lambda q: np.quantile(Y, q))
    np.testing.assert_allclose(slope(1.0), 4 * (ordered[-1] - ordered[-2]))
    np.testing.assert_allclose(slope(0.0), 4 * (ordered[1] - ordered[0]))
    np.testing.assert_allclose(slope(0.25), 4 * (ordered[2] - ordered[1]))
    assert wg.grad(lambda q: np.quantile(Y, q, method="weibull"))(0.99) == 0  # beyond the largest element: constant


@pytest.mark.parametrize("f", [np.median, np.nanmedian, lambda x, **o: np.quantile(x, 0.4, **o),
                               lambda x, **o: np.nanquantile(x, [0.2, 0.7], **o)])  # fmt: skip
def test_nan_in_order_statistics(f):
    x = X.copy()
    x[1, 0] = x[0, 2] = x[2, 2] = np.nan
    for axis in (None, 0, 1):
        y, y_dot = wg.jvp(lambda x, axis=axis: f(x, axis=axis), (x,), (np.nan_to_num(x),))
        np.testing.assert_allclose(y, f(x, axis=axis), rtol=1e-14)
        # Order statistics are homogeneous: the derivative along x is the value. Where the value is NaN, so is it.
        np.testing.assert_allclose(y_dot, y, rtol=1e-13)


def test_many_quantiles_sort_once():
    x = np.random.default_rng(0).normal(size=200)
    q = np.linspace(0, 1, 60)
    _, y_dot = wg.jvp(lambda x: np.quantile(x, q), (x,), (x,))
    np.testing.assert_allclose(y_dot, np.quantile(x, q), rtol=1e-12)


def test_quantile_errors():
    for call, error in [
        (lambda x: np.quantile(x, 1.5), ValueError),
        (lambda x: np.percentile(x, -1), ValueError),
        (lambda x: np.quantile(x, 0.5, method="no"), ValueError),
        (lambda x: np.quantile(x, 0.5, axis=3), np.exceptions.AxisError),
        (lambda x: np.quantile(x, 0.5, weights=np.ones(5), method="inverted_cdf"), UnsupportedFunctionError),
        (lambda x: np.quantile(x + 0j, 0.5), TypeError),
    ]:
        with pytest.raises(error):
            wg.jvp(call, (Y,), (Y,))


# --------------------------------------------------------------------------------------------------------- differences


def test_diff():
    for axis in (0, 1, -1):
        check(lambda x, axis=axis: np.diff(x, axis=axis), X)
    check(lambda x: np.diff(x, n=2), X)
    check(lambda x: np.diff(x, n=3), X)
    check(lambda x: np.diff(x, n=0), X)
    check(lambda x, p, a: np.diff(x, prepend=p, append=a), X, 0.5, np.array([[1.0, 2.0], [3.0, 1.0], [0.5, 2.5]]))
    check(lambda p: np.diff([1, 4, 9], prepend=p), 0.5)
    check(lambda x: np.diff(x, n=4), Y[:3])
    for call in (lambda x: np.diff(x, n=-1), lambda x: np.diff(x[0]), lambda x: np.diff(x, axis=1)):
        with pytest.raises(ValueError):
            wg.jvp(call, (Y,), (Y,))


def test_ediff1d():
    check(lambda x: np.ediff1d(x), X)
    check(lambda x, b, a: np.ediff1d(x, to_end=a, to_begin=b), Y, 1.0, X)
    check(lambda a: np.ediff1d(np.arange(3.0), to_end=a), Y)
    with pytest.raises(TypeError, match="same_kind"):
        wg.jvp(lambda x: np.ediff1d(np.arange(3), to_end=x), (Y,), (Y,))


def test_unwrap():
    turns = np.array([0.2, 3.0, -2.9, -1.0, 2.9, 3.1, -3.0])
    check(np.unwrap, turns, second=False)
    check(lambda x: np.unwrap(x, period=1.5, discont=1.0), turns, second=False)
    check(lambda x: np.unwrap(x, axis=0), np.stack([turns, turns[::-1]], axis=1), second=False)
    check(lambda x, p: np.unwrap(x, period=p), turns, 5.7, second=False)


def test_trapezoid():
    x = np.array([0.0, 0.7, 1.1, 2.3])
    check(lambda y: np.trapezoid(y), X)
    check(lambda y, h: np.trapezoid(y, dx=h, axis=0), X, 0.3)
    check(lambda y, x: np.trapezoid(y, x), X, x)
    check(lambda y, x: np.trapezoid(y, x, axis=0), X, x[:3])
    check(lambda y, x: np.trapezoid(y, x, axis=0), X, np.cumsum(np.abs(X), axis=0))
    check(lambda x: np.trapezoid([1, 2, 0, 1], x), x)
    check(lambda x: np.trapezoid(X, x), X + 1)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(edge_order):
    x = np.array([0.0, 0.7, 1.1, 2.3])
    check(lambda f: np.gradient(f, edge_order=edge_order), Y)
    check(lambda f: np.gradient(f, edge_order=edge_order), X)
    check(lambda f: np.gradient(f, axis=-1, edge_order=edge_order), X)
    check(lambda f, h: np.gradient(f, h, edge_order=edge_order), X, 0.4)
    check(lambda f, h, x: np.gradient(f, h, x, edge_order=edge_order), X, 0.4, x)
    check(lambda f, x: np.gradient(f, x, axis=1, edge_order=edge_order), X, x)
    check(lambda f, x, h: np.gradient(f, x, h, axis=(1, 0), edge_order=edge_order), X, x, 0.4)
    check(lambda x: np.gradient(np.array([1, 4, 9, 16]), x, edge_order=edge_order), np.arange(4.0))
    check(lambda f: np.gradient(f, np.arange(5), edge_order=edge_order), Y)


def test_gradient_errors():
    for call, error in [
        (lambda f: np.gradient(f[:1]), ValueError),
        (lambda f: np.gradient(f[:2], edge_order=2), ValueError),
        (lambda f: np.gradient(f, edge_order=3), ValueError),
        (lambda f: np.gradient(f, np.ones(3)), ValueError),
        (lambda f: np.gradient(f, np.ones((5, 1))), ValueError),
        (lambda f: np.gradient(f, 1.0, 2.0), TypeError),
        (lambda f: np.gradient(f, axis=1), np.exceptions.AxisError),
    ]:
        with pytest.raises(error):
            wg.jvp(call, (Y,), (Y,))


# ---------------------------------------------------------------------------------------- covariance, counts, logsumexp


def test_cov():
    check(lambda x: np.cov(x), X)
    check(lambda x: np.cov(x, rowvar=False, bias=True), X)
    check(lambda x: np.cov(x), Y)
    check(lambda x, y: np.cov(x, y), Y, Y[::-1] ** 2)
    check(lambda x, y: np.cov(x, y, rowvar=False, ddof=0), X, X[:, :1] ** 2)
    check(lambda x, w: np.cov(x, aweights=w), X, [0.3, 1.2, 0.8, 0.5])
    check(lambda x, w: np.cov(x, aweights=w, fweights=[1, 2, 1, 3]), X, [0.3, 1.2, 0.8, 0.5])
    check(lambda x: np.cov(x, fweights=[1, 2, 1, 3], ddof=0), X)
    np.testing.assert_allclose(wg.grad(lambda x: np.cov(x) + 0)(Y), 2 * (Y - Y.mean()) / 4)


def test_cov_errors():
    for options, error in [
        (dict(ddof=0.5), ValueError),
        (dict(fweights=[0.5, 1, 1, 1]), TypeError),
        (dict(aweights=[-1, 1, 1, 1]), ValueError),
        (dict(aweights=[1, 1]), RuntimeError),
    ]:
        with pytest.raises(error):
            wg.jvp(lambda x, options=options: np.cov(x, **options), (X,), (X,))
    with pytest.raises(ValueError, match="more than 2"):
        wg.jvp(lambda x: np.cov(x[None, None]), (Y,), (Y,))


def test_corrcoef():
    check(lambda x: np.corrcoef(x), X)
    check(lambda x, y: np.corrcoef(x, y), Y, np.sin(Y))
    check(lambda x: np.corrcoef(x, rowvar=False), X[:, :2])
    check(lambda x: np.corrcoef(x), Y)
    # Perfect correlation is a maximum: the derivative is zero there, the second derivative is not.
    curvature = wg.hvp(lambda y: np.corrcoef(Y, y)[0, 1])(Y.copy(), np.arange(5.0) ** 2)
    assert np.max(np.abs(curvature)) > 1e-3
    check(lambda y: np.corrcoef(Y, y)[0, 1], Y * 3 + 1)


def test_bincount():
    where = np.array([0, 3, 1, 3, 0])
    check(lambda w: np.bincount(where, weights=w), Y)
    check(lambda w: np.bincount(where, w, minlength=7), Y)
    np.testing.assert_array_equal(wg.grad(lambda w: np.bincount(where, w)[3])(Y), where == 3)
    for call, error in [
        (lambda w: np.bincount(where[:2], w), ValueError),
        (lambda w: np.bincount(-where, w), ValueError),
        (lambda w: np.bincount(w), TypeError),
    ]:
        with pytest.raises(error):
            wg.jvp(call, (Y,), (Y,))


def test_histograms_without_weights_count():
    data = np.array([0.1, 0.45, 0.72, 0.2, 0.9, 0.35])
    functions = [
        lambda x: np.histogram(x, 4, range=(0.0, 0.8)),
        lambda x: np.histogram(x, [0.0, 0.3, 0.6]),
        lambda x: np.histogram((10 * x).astype(int), 3),
        lambda x: np.histogram2d(x, x[::-1], [3, 2]),
    ]
    for f in functions:
        for result, expected in zip(wg.jit(f)(data), f(data), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-14)
            assert result.dtype == expected.dtype
        value, dot = wg.jvp(lambda x, f=f: 2.0 * f(x)[0], (data,), (data,))
        np.testing.assert_array_equal(value, 2.0 * f(data)[0])
        assert not np.any(dot)
    check(lambda x: np.histogram(x, 4, density=True)[0], data)  # the widths of bins depend on the data


@pytest.mark.parametrize("density", [False, True])
def test_histograms_with_weights(density):
    data = np.array([0.1, 0.4, 0.4, 2.5, 1.0])
    edges = [0.0, 0.4, 1.0, 2.5]
    check(lambda w: np.histogram(data, 4, weights=w, density=density)[0], Y)
    check(lambda w: np.histogram(data, edges, weights=w, density=density)[0], Y)
    check(lambda w: np.histogram(data, 3, range=(0.2, 2.0), weights=w, density=density)[0], Y)
    check(lambda x, w: np.histogram(x, 3, weights=w, density=density)[0], data, Y)
    check(lambda x: np.histogram_bin_edges(x, 5), data)
    check(lambda w: np.histogram2d(data, data[::-1], [3, edges], weights=w, density=density)[0], Y)
    check(lambda w: np.histogramdd(np.stack([data, data**2], 1), 3, weights=w, density=density)[0], Y)
    check(lambda w: np.histogramdd(data, 3, weights=w, density=density)[0], Y)
    check(lambda x: np.histogramdd([x[0], 0.3, 2.0, x[1]], 3)[1][0], np.array([3.1, -0.4]))


def test_logsumexp():
    for options in ({}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}, {"axis": -1, "keepdims": True}):
        check(lambda x, options=options: logsumexp(x, **options), X)
        check(lambda x, b, options=options: logsumexp(x, b=b, **options), X, np.abs(X) + 0.5)
        np.testing.assert_allclose(logsumexp(X, **options), scipy.special.logsumexp(X, **options))
    check(lambda x, b: logsumexp(x, axis=1, b=b), X, [0.5, 2.0, -0.1, 1.0])
    check(lambda b: logsumexp(X, b=b), [0.0, 2.0, 1.0, 0.0])
    big = np.array([1000.0, 1001.0, -np.inf])
    np.testing.assert_allclose(wg.grad(logsumexp)(big), scipy.special.softmax(big))
    b = np.array([2.0, 1.0, 1.0])
    np.testing.assert_allclose(wg.grad(lambda x: logsumexp(x, b=b))(big), scipy.special.softmax(big + np.log(b)))
    assert logsumexp(np.array([1000.0, 0.0]), b=np.array([0.0, 1.0])) == 0
    assert logsumexp(np.zeros(0)) == -np.inf
    with np.errstate(invalid="ignore"):
        assert np.isnan(logsumexp(Y, b=-1))


def test_logsumexp_at_infinity():
    lanes = np.array([[np.inf, np.inf, 1.0], [-np.inf, -np.inf, -np.inf], [-np.inf, 800.0, 800.0]])
    with np.errstate(all="raise"):
        np.testing.assert_allclose(logsumexp(lanes, axis=1), [np.inf, -np.inf, 800 + np.log(2)])
        np.testing.assert_array_equal(wg.grad(logsumexp)(lanes[0]), [0.5, 0.5, 0])
        np.testing.assert_allclose(wg.grad(np.logaddexp.reduce)(lanes[1]), np.full(3, 1 / 3))
        np.testing.assert_array_equal(wg.jvp(lambda x: logsumexp(x, axis=1), (lanes,), (np.ones((3, 3)),))[1], 1)


SHIFTED = [np.full(7, c) for c in (1e8, -1e15, 1e30)] + [1e9 * X, 1e6 + X, np.float32(1e4) + X.astype(np.float32)]
INFINITE = [np.array(row) for row in ([np.inf, 0.0], [-np.inf, -np.inf], [-np.inf, 1.0], [np.nan, 1.0])]


@pytest.mark.parametrize("f", [scipy.special.softmax, scipy.special.log_softmax])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_shares_of_large_numbers_are_as_exact_as_of_small_ones(f, axis):
    """Beside 10¹⁵ nothing is left of the logarithm of a sum; the differences of such numbers are exact."""
    with np.errstate(invalid="ignore"):
        for x in [*SHIFTED, *INFINITE]:
            wanted = f(x, axis=axis)
            rtol = 1e-6 if x.dtype == np.float32 else 1e-13
            for found in (wg.jit(f)(x, axis=axis), wg.jvp(lambda x: f(x, axis=axis), (x,), (np.ones_like(x),))[0]):
                np.testing.assert_allclose(found, wanted, rtol=rtol)
                assert found.dtype == x.dtype
