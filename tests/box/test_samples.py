"""scipy.stats: numbers that describe samples, and tests of hypotheses, against SciPy's own values and differences."""

import numpy as np
import pytest
import scipy.stats as st
from everywhere import check_everywhere

import wengert as wg

X = np.array([0.5, 1.2, 0.93, 2.0, 0.3, 1.47])
Y = np.array([1.0, 2.2, 1.5, 3.1, 0.2, 1.9])
TABLE = np.array([[0.5, 1.2], [0.93, 2.0], [0.31, 1.47], [2.2, 0.72]])
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])

OF_ONE = {
    "moment": lambda x: st.moment(x, 3) + st.moment(x, 2, center=0.3) + st.moment(x),
    "skew": lambda x: st.skew(x) + st.skew(x, bias=False),
    "kurtosis": lambda x: st.kurtosis(x) + st.kurtosis(x, 0, False) + st.kurtosis(x, bias=False),
    "sem": lambda x: st.sem(x) + st.sem(x, 0, 0),
    "variation": lambda x: st.variation(x, ddof=1),
    "zscore": lambda x: st.zscore(x, ddof=1),
    "zmap": lambda x: st.zmap(x, Y) + st.zmap(Y, x),
    "gzscore": st.gzscore,
    "gmean": lambda x: st.gmean(x) + st.gmean(x, weights=WEIGHTS),
    "hmean": lambda x: st.hmean(x) + st.hmean(x, weights=WEIGHTS),
    "pmean": lambda x: st.pmean(x, 3) + st.pmean(x, 0),
    "gstd": st.gstd,
    "iqr": lambda x: st.iqr(x) + st.iqr(x, rng=(10, 60)) + st.iqr(x, scale="normal"),
    "median_abs_deviation": lambda x: st.median_abs_deviation(x, scale="normal"),
    "trim_mean": lambda x: st.trim_mean(x, 0.2),
    "entropy": lambda x: st.entropy(x) + st.entropy(x, Y, base=2) + st.entropy(Y, x),
    "tmean": lambda x: st.tmean(x) + st.tvar(x) + st.tstd(x, ddof=0) + st.tsem(x),
    "circmean": lambda x: st.circmean(x) + st.circmean(x * 9, 5.0, -1.0),
    "circvar": lambda x: st.circvar(x) + st.circstd(x) + st.circstd(x, normalize=True),
    "boxcox": lambda x: st.boxcox(x, 0.3),
    "pearsonr": lambda x: np.array(tuple(st.pearsonr(x, Y))) + st.pearsonr(Y, x, alternative="less").pvalue,
    "linregress": lambda x: np.array(tuple(st.linregress(x, Y))) + st.linregress(Y, x).intercept_stderr,
    "ttest_1samp": lambda x: np.array(tuple(st.ttest_1samp(x, 0.8))) + st.ttest_1samp(x, 1.5, alternative="less")[1],
    "ttest_rel": lambda x: np.array(tuple(st.ttest_rel(x, Y))),
    "ttest_ind": lambda x: np.array([*st.ttest_ind(x, Y[:4]), *st.ttest_ind(x, Y, equal_var=False)]),
    "chisquare": lambda x: np.array([*st.chisquare(x), *st.chisquare(Y, x * Y.sum() / x.sum())]),
    "jarque_bera": lambda x: np.array(tuple(st.jarque_bera(x))),
    "f_oneway": lambda x: np.array(tuple(st.f_oneway(x, Y, X[:4] + 1))),
    "wasserstein_distance": lambda x: st.wasserstein_distance(x, Y[:4]) + st.wasserstein_distance(x, Y, WEIGHTS),
    "energy_distance": lambda x: st.energy_distance(x, Y[:4]),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_everywhere(name):
    check_everywhere(OF_ONE[name], X)


ALONG_AXES = ["skew", "kurtosis", "sem", "variation", "gmean", "hmean", "gstd", "iqr", "median_abs_deviation", "moment",
              "entropy", "circmean", "circvar", "circstd", "tmean", "tvar", "trim_mean"]  # fmt: skip


@pytest.mark.parametrize("name", ALONG_AXES)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_along_axes(name, axis, keepdims):
    if axis is None and name in ("trim_mean", "entropy") and keepdims:
        pytest.skip("SciPy's own shape")
    more = {"moment": (2,), "trim_mean": (0.25,)}.get(name, ())
    f = lambda x: getattr(st, name)(x, *more, axis=axis, keepdims=keepdims)
    if axis is None and keepdims:
        with_axes = lambda x: np.reshape(getattr(st, name)(x, *more, axis=None), (1, 1))
        np.testing.assert_allclose(f(TABLE), with_axes(TABLE))
        return
    check_everywhere(f, TABLE, vmap=False)


def test_equal_numbers_have_no_third_moment():
    assert np.isnan(wg.jit(st.skew)(np.ones(4)))
    assert np.isnan(wg.jvp(st.kurtosis, (np.ones(4),), (np.ones(4),))[0])


def test_what_results_are_called():
    def f(x):
        found = st.linregress(x, Y)
        r = st.pearsonr(x, Y)
        t = st.ttest_1samp(x, 0.2)
        return found.slope * found.rvalue**2 + r.statistic * r.correlation + t.statistic / t.df

    check_everywhere(f, X)


@pytest.mark.parametrize("call", [
    lambda x: st.skew(x, nan_policy="omit"), lambda x: st.zscore(x, 0, 0, "omit"), lambda x: st.tmean(x, (0, 1)),
    lambda x: st.boxcox(x)[0], lambda x: st.moment(x, [1, 2]), st.rankdata,
    lambda x: st.spearmanr(x, Y)[0],
])  # fmt: skip
def test_what_is_refused(call):
    with pytest.raises(wg.errors.UnsupportedFunctionError):
        wg.grad(lambda x: np.sum(call(x)))(X)
