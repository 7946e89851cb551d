"""`scipy.stats` of samples: SciPy's own numbers, and derivatives that agree with differences of them."""

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert.errors import UnsupportedFunctionError

X = np.array([[1.0, 2.5, 0.3, 4.0, 2.2], [0.8, 3.1, 1.9, 0.2, 5.0], [2.4, 0.9, 3.3, 1.2, 0.6]])
Y = np.array([0.4, 2.2, 0.9, 3.0, 2.9])
W = np.array([1.0, 2.0, 0.5, 1.5, 1.0])

OF_ONE = {
    "gmean": lambda x: stats.gmean(x, axis=1),
    "gmean with weights": lambda x: stats.gmean(x, axis=1, weights=W),
    "hmean": lambda x: stats.hmean(x),
    "pmean": lambda x: stats.pmean(x, 1.7, axis=1),
    "pmean of zero": lambda x: stats.pmean(x, 0, axis=None),
    "trim_mean": lambda x: stats.trim_mean(x, 0.2, axis=1),
    "moment": lambda x: stats.moment(x, 3),
    "moment around": lambda x: stats.moment(x, 2, axis=1, center=0.7),
    "skew": lambda x: stats.skew(x, axis=1),
    "skew without bias": lambda x: stats.skew(x, axis=1, bias=False),
    "kurtosis": lambda x: stats.kurtosis(x, axis=1),
    "kurtosis without bias": lambda x: stats.kurtosis(x, axis=1, bias=False, fisher=False),
    "kurtosis of all": lambda x: stats.kurtosis(x, axis=None),
    "skew kept": lambda x: stats.skew(x, axis=1, keepdims=True),
    "sem": lambda x: stats.sem(x),
    "variation": lambda x: stats.variation(x, axis=1, ddof=1),
    "gstd": lambda x: stats.gstd(x, axis=1),
    "iqr": lambda x: stats.iqr(x, axis=1),
    "iqr scaled": lambda x: stats.iqr(x, rng=(20, 90), scale="normal"),
    "median_abs_deviation": lambda x: stats.median_abs_deviation(x, axis=1),
    "mad scaled": lambda x: stats.median_abs_deviation(x, axis=1, center=np.mean, scale="normal"),
    "kstat": lambda x: np.stack([stats.kstat(x, n) for n in (1, 2, 3, 4)]),
    "entropy": lambda x: stats.entropy(x, axis=1),
    "relative entropy to one number": lambda x: stats.entropy(1.0, x, axis=-1),
    "several samples in one array": lambda x: stats.f_oneway(x, axis=1)[0],
    "gmean with weights of columns": lambda x: stats.gmean(x[:, : len(x)], axis=0, weights=np.arange(1.0, len(x) + 1)),
    "hmean with weights": lambda x: stats.hmean(x, axis=1, weights=np.arange(1.0, x.shape[1] + 1)),
    "pmean with weights": lambda x: stats.pmean(x[:, : len(x)], 2, axis=0, weights=np.arange(1.0, len(x) + 1)),
    "gmean of all with weights": lambda x: stats.gmean(x, axis=None, weights=X + 1),
    "relative entropy": lambda x: stats.entropy(x[0], x[1], base=2),
    "zscore": lambda x: stats.zscore(x, axis=1, ddof=1),
    "zmap": lambda x: stats.zmap(x[0], x[1]),
    "gzscore": lambda x: stats.gzscore(x, axis=1),
    "circmean": lambda x: stats.circmean(x, axis=1),
    "circmean of hours": lambda x: stats.circmean(x[0], high=24, low=-3),
    "circvar": lambda x: stats.circvar(x, axis=1),
    "circstd": lambda x: stats.circstd(x, high=24.0, axis=1),
    "wasserstein_distance": lambda x: stats.wasserstein_distance(x[0], x[1]),
    "wasserstein with weights": lambda x: stats.wasserstein_distance(x[0], x[1], W, x[2]),
    "energy_distance": lambda x: stats.energy_distance(x[0], x[1][:4]),
    "pearsonr": lambda x: stats.pearsonr(x[0], x[1])[0],
    "pearsonr of many": lambda x: stats.pearsonr(x, np.vstack([Y, W, Y * W]), axis=1).statistic,
    "p of pearsonr": lambda x: np.stack(
        [stats.pearsonr(x[0], Y, alternative=a).pvalue for a in ("two-sided", "less", "greater")]
    ),
    "linregress": lambda x: np.stack(list(stats.linregress(x[0], Y))),
    "intercept_stderr": lambda x: stats.linregress(Y, x[1]).intercept_stderr,
    "ttest_1samp": lambda x: np.stack(stats.ttest_1samp(x, 0.5, axis=1)),
    "ttest_ind": lambda x: np.stack(stats.ttest_ind(x[0], x[1][:4])),
    "Welch": lambda x: stats.ttest_ind(x[0], x[1][:4], equal_var=False, alternative="less").pvalue,
    "ttest_rel": lambda x: stats.ttest_rel(x[0], x[1]).pvalue,
    "describe": lambda x: np.stack([stats.describe(x[0])[k] for k in (2, 3, 4, 5)]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
def test_values_and_derivatives(name):
    f = OF_ONE[name]
    direction = np.sin(np.arange(15.0)).reshape(X.shape)
    h = 1e-5
    slope = (np.asarray(f(X + h * direction)) - np.asarray(f(X - h * direction))) / (2 * h)
    for way in (lambda f: f, wg.jit):
        y, y_dot = wg.jvp(way(f), (X,), (direction,))
        np.testing.assert_allclose(y, f(X), rtol=1e-12)
        np.testing.assert_allclose(y_dot, slope, rtol=1e-6, atol=1e-8)
        total = wg.grad(lambda x, way=way: np.sum(way(f)(x)))(X)
        np.testing.assert_allclose(np.sum(total * direction), np.sum(slope), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-12)


def test_integers_and_lists():
    assert wg.jit(lambda n: stats.gmean([n, 2, 8]))(4) == pytest.approx(4.0)
    np.testing.assert_allclose(wg.grad(lambda x: stats.hmean([x, 3.0]))(1.0), 2 * 3.0**2 / 4.0**2)
    np.testing.assert_allclose(wg.grad(lambda x: stats.zscore([1, x, 4])[0])(2.0), wg.jvp(
        lambda x: stats.zscore([1, x, 4])[0], (2.0,), (1.0,))[1])  # fmt: skip


def test_what_is_refused_is_named():
    with pytest.raises(UnsupportedFunctionError, match="nan_policy='omit'"):
        wg.grad(lambda x: stats.skew(x, nan_policy="omit"))(Y)
    with pytest.raises(UnsupportedFunctionError, match="scipy.stats.kendalltau"):
        wg.grad(lambda x: stats.kendalltau(x, Y).statistic)(W)
