"""`scipy.stats` of samples: averages, moments, scores, correlations, lines, tests, written in NumPy.

SciPy's own code asks what kind of arrays it has and calls another library for each, so traced values cannot go through
it. What ranks or counts (`spearmanr`, `kendalltau`, `mode`) has no derivative and is refused by its name. NaNs are
carried on, as SciPy does if nothing else is said; `nan_policy="omit"` and `"raise"` look at values, and are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from wengert.box.dispatch import implements_blind
from wengert.box.functions.operands import array, in_double
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.types import dtype_of, shape_of

_TABLE: dict[str, Callable] = {}


def _means(*names: str) -> Callable[[Callable], Callable]:
    """Declare what functions of scipy.stats mean; of their options `nan_policy` and `keepdims` are seen to here."""

    def declare(f: Callable) -> Callable:
        def called(*args: Any, nan_policy: str = "propagate", keepdims: bool = False, **kwargs: Any) -> Any:
            if nan_policy != "propagate":
                raise UnsupportedFunctionError(
                    f"scipy.stats.{names[0]} with nan_policy={nan_policy!r} of traced values",
                    remedy="leave NaNs out before: x[~np.isnan(x)]",
                )
            return f(*args, keepdims=keepdims, **kwargs) if keepdims else f(*args, **kwargs)

        for name in names:
            _TABLE[name] = called
        return f

    return declare


@when_imported("scipy.stats")
def _fill(stats: Any) -> None:
    for name, f in _TABLE.items():
        if hasattr(stats, name):
            implements_blind(getattr(stats, name))(f)


def _floats(a: Any) -> Any:
    a = array(a)
    return in_double(a) if dtype_of(a).kind in "biu" else a


def _along(a: Any, axis: Any) -> tuple[Any, Any]:
    """An array, and the axis along which samples lie: without one all of it is a sample."""
    a = _floats(a)
    return (np.ravel(a), 0) if axis is None else (a, axis)


def _count(a: Any, axis: Any) -> int:
    shape = shape_of(a)
    return math.prod([shape[k] for k in (axis if isinstance(axis, tuple) else (axis,))])


# ------------------------------------------------------------------------------------------------------------ averages


def _averaged(a: Any, axis: Any, weights: Any, keepdims: bool) -> Any:
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    weights = np.broadcast_to(weights, shape_of(a)) if shape_of(weights) == shape_of(a) else weights
    return np.average(a, axis=axis, weights=weights, keepdims=keepdims)


def _sampled(a: Any, axis: Any, dtype: Any, weights: Any) -> tuple[Any, Any, Any]:
    weights = None if weights is None else _along(weights, axis)[0]
    a, axis = _along(a if dtype is None else np.asarray(a).astype(dtype), axis)
    return a, axis, weights


def _of_none_negative(a: Any) -> Any:
    """Averages of what may not be negative are NaN where something is."""
    return e.where(e.less(a, 0), np.nan, a)


@_means("gmean")
def gmean(a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    a, axis, weights = _sampled(a, axis, dtype, weights)
    return np.exp(_averaged(np.log(a), axis, weights, keepdims))


@_means("hmean")
def hmean(a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, keepdims: bool = False) -> Any:
    a, axis, weights = _sampled(a, axis, dtype, weights)
    return 1.0 / _averaged(1.0 / _of_none_negative(a), axis, weights, keepdims)


@_means("pmean")
def pmean(a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    if p == 0:
        return gmean(a, axis, dtype, weights, keepdims)
    a, axis, weights = _sampled(a, axis, dtype, weights)
    return _averaged(_of_none_negative(a) ** float(p), axis, weights, keepdims) ** (1.0 / p)


@_means("trim_mean")
def trim_mean(a: Any, proportiontocut: float, axis: Any = 0, keepdims: bool = False) -> Any:
    a, axis = _along(a, axis)
    n = shape_of(a)[axis]
    cut = int(proportiontocut * n)
    if 2 * cut > n:
        raise ValueError("Proportion too big.")
    kept = np.moveaxis(np.sort(a, axis), axis, 0)[cut : n - cut]
    return np.mean(np.moveaxis(kept, 0, axis), axis=axis, keepdims=keepdims)


# -------------------------------------------------------------------------------------------------- moments and spreads


def _central(a: Any, order: int, axis: Any) -> Any:
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis, keepdims=True)


def _shaped(x: Any, axis: Any, keepdims: bool) -> Any:
    return x if keepdims else np.squeeze(x, axis=axis)


@_means("moment")
def moment(a: Any, order: Any = 1, axis: Any = 0, *, center: Any = None, keepdims: bool = False) -> Any:
    if np.ndim(order):
        raise UnsupportedFunctionError("scipy.stats.moment of several orders", remedy="call it for each order")
    a, axis = _along(a, axis)
    around = np.mean(a, axis=axis, keepdims=True) if center is None else center
    return np.mean((a - around) ** order, axis=axis, keepdims=keepdims)


def _where_it_varies(a: Any, variance: Any, axis: Any, x: Any) -> Any:
    """NaN where a sample is constant but for rounding, as SciPy has it."""
    least = (np.finfo(dtype_of(variance)).resolution * np.mean(a, axis=axis, keepdims=True)) ** 2
    return e.where(e.less_equal(variance, least), np.nan, x)


@_means("skew")
def skew(a: Any, axis: Any = 0, bias: bool = True, keepdims: bool = False) -> Any:
    a, axis = _along(a, axis)
    n, variance = _count(a, axis), _central(a, 2, axis)
    found = _where_it_varies(a, variance, axis, _central(a, 3, axis) / variance**1.5)
    if not bias and n > 2:
        found = found * (math.sqrt((n - 1.0) * n) / (n - 2.0))
    return _shaped(found, axis, keepdims)


@_means("kurtosis")
def kurtosis(a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, keepdims: bool = False) -> Any:
    a, axis = _along(a, axis)
    n, variance = _count(a, axis), _central(a, 2, axis)
    found = _where_it_varies(a, variance, axis, _central(a, 4, axis) / variance**2)
    if not bias and n > 3:
        found = 1.0 / (n - 2) / (n - 3) * ((n**2 - 1.0) * found - 3 * (n - 1) ** 2.0) + 3.0
    return _shaped(found - 3 if fisher else found, axis, keepdims)


@_means("sem")
def sem(a: Any, axis: Any = 0, ddof: int = 1, keepdims: bool = False) -> Any:
    a, axis = _along(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / math.sqrt(_count(a, axis))


@_means("variation")
def variation(a: Any, axis: Any = 0, *, ddof: int = 0, keepdims: bool = False) -> Any:
    a, axis = _along(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


@_means("gstd")
def gstd(a: Any, axis: Any = 0, ddof: int = 1, *, keepdims: bool = False) -> Any:
    a, axis = _along(a, axis)
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


_SCALES = {"normal": {"iqr": float(scipy.special.erfinv(0.5) * 2 * math.sqrt(2)), "mad": 0.6744897501960817}}


@_means("iqr")
def iqr(x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, interpolation: str = "linear",
        keepdims: bool = False) -> Any:  # fmt: skip
    low, high = np.percentile(_floats(x), sorted(rng), axis=axis, method=interpolation, keepdims=keepdims)
    return (high - low) / (_SCALES[scale]["iqr"] if isinstance(scale, str) else scale)


@_means("median_abs_deviation")
def median_abs_deviation(x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0, keepdims: bool = False) -> Any:
    x, axis = _along(x, axis)
    around = np.expand_dims((np.median if center is None else center)(x, axis=axis), axis)
    found = np.median(np.abs(x - around), axis=axis, keepdims=keepdims)
    return found / (_SCALES[scale]["mad"] if isinstance(scale, str) else scale)


@_means("kstat")
def kstat(data: Any, n: int = 2, *, axis: Any = None, keepdims: bool = False) -> Any:
    if n > 4 or n < 1:
        raise ValueError("k-statistics only supported for 1<=n<=4")
    a, axis = _along(data, axis)
    m = _count(a, axis)
    s = [None] + [np.sum(a**k, axis=axis, keepdims=keepdims) for k in range(1, int(n) + 1)]
    if n == 1:
        return s[1] * 1.0 / m
    if n == 2:
        return (m * s[2] - s[1] ** 2.0) / (m * (m - 1.0))
    if n == 3:
        return (2 * s[1] ** 3 - 3 * m * s[1] * s[2] + m * m * s[3]) / (m * (m - 1.0) * (m - 2.0))
    found = -6 * s[1] ** 4 + 12 * m * s[1] ** 2 * s[2] - 3 * m * (m - 1.0) * s[2] ** 2
    return (found - 4 * m * (m + 1) * s[1] * s[3] + m * m * (m + 1) * s[4]) / (m * (m - 1.0) * (m - 2.0) * (m - 3.0))


@_means("entropy")
def entropy(pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, keepdims: bool = False) -> Any:
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    pk, axis = _along(pk, axis) if qk is None else _along(np.broadcast_arrays(array(pk), array(qk))[0], axis)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        found = scipy.special.entr(pk)
    else:
        qk = _floats(qk)
        found = scipy.special.rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True))
    found = np.sum(found, axis=axis, keepdims=keepdims)
    return found if base is None else found / np.log(base)


# -------------------------------------------------------------------------------------------------------------- scores


@_means("zmap")
def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: int = 0) -> Any:
    compare = _floats(compare)
    mean = np.mean(compare, axis=axis, keepdims=True)
    return (_floats(scores) - mean) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


@_means("zscore")
def zscore(a: Any, axis: Any = 0, ddof: int = 0) -> Any:
    return zmap(a, a, axis, ddof)


@_means("gzscore")
def gzscore(a: Any, *, axis: Any = 0, ddof: int = 0) -> Any:
    return zscore(np.log(_floats(a)), axis, ddof)


# ----------------------------------------------------------------------------------------------------------- on circles


def _on_a_circle(samples: Any, period: Any, axis: Any, keepdims: bool) -> tuple[Any, Any, Any]:
    """The mean of points on the unit circle, and its distance from the centre."""
    turned = _floats(samples) * (2.0 * np.pi / period)
    sine = np.mean(np.sin(turned), axis=axis, keepdims=keepdims)
    cosine = np.mean(np.cos(turned), axis=axis, keepdims=keepdims)
    return sine, cosine, np.minimum((sine**2.0 + cosine**2.0) ** 0.5, 1.0)


@_means("circmean")
def circmean(samples: Any, high: Any = 2 * np.pi, low: Any = 0, axis: Any = None, keepdims: bool = False) -> Any:
    period = high - low
    sine, cosine, _ = _on_a_circle(samples, period, axis, keepdims)
    return (np.arctan2(sine, cosine) * (period / (2.0 * np.pi)) - low) % period + low


@_means("circvar")
def circvar(samples: Any, high: Any = 2 * np.pi, low: Any = 0, axis: Any = None, keepdims: bool = False) -> Any:
    return 1.0 - _on_a_circle(samples, high - low, axis, keepdims)[2]


@_means("circstd")
def circstd(samples: Any, high: Any = 2 * np.pi, low: Any = 0, axis: Any = None, *, normalize: bool = False,
            keepdims: bool = False) -> Any:  # fmt: skip
    found = (-2 * np.log(_on_a_circle(samples, high - low, axis, keepdims)[2])) ** 0.5
    return found if normalize else found * ((high - low) / (2.0 * np.pi))


# ------------------------------------------------------------------------------------------------- distances of samples


def _empirical(u: Any, v: Any, u_weights: Any, v_weights: Any) -> tuple[Any, Any]:
    """The distances between neighbours among all values, and how far apart the shares below them are."""
    u, v = _floats(u), _floats(v)
    every = np.sort(np.concatenate((u, v)))
    shares = []
    for values, weights in ((u, u_weights), (v, v_weights)):
        below = np.searchsorted(np.sort(values), every[:-1], "right")
        if weights is None:
            shares.append(below / shape_of(values)[0])
        else:
            sums = np.concatenate(([0], np.cumsum(_floats(weights)[np.argsort(values)])))
            shares.append(sums[below] / sums[-1])
    return np.diff(every), shares[0] - shares[1]


@_means("wasserstein_distance")
def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    between, differ = _empirical(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(differ) * between)


@_means("energy_distance")
def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    between, differ = _empirical(u_values, v_values, u_weights, v_weights)
    return np.sqrt(2) * np.sqrt(np.sum(differ**2 * between))


# ------------------------------------------------------------------------------------- correlations, lines and tests


def _tail(below: Callable, x: Any, alternative: str) -> Any:
    """The probability of what is further out, for a symmetric distribution with this distribution function."""
    if alternative == "two-sided":
        return 2 * below(-np.abs(x))
    if alternative not in ("less", "greater"):
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return below(x if alternative == "less" else -x)


def _of_correlation(n: int) -> Callable:
    """The distribution function of the correlation of n pairs of independent normal numbers."""
    return lambda r: scipy.special.betainc(n / 2 - 1, n / 2 - 1, (1 + r) / 2)


def _of_t(df: Any) -> Callable:
    return lambda t: scipy.special.stdtr(df, t)


_DIRECTIONS = {"less": -1, "two-sided": 0, "greater": 1}


def _results() -> Any:
    return scipy.stats._stats_py  # type: ignore[attr-defined]


@_means("pearsonr")
def pearsonr(x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: Any = 0) -> Any:
    if method is not None:
        raise UnsupportedFunctionError("scipy.stats.pearsonr with a method that resamples", remedy="leave it out")
    (x, along), (y, _) = _along(x, axis), _along(y, axis)
    n = shape_of(x)[along]
    x_off, y_off = x - np.mean(x, axis=along, keepdims=True), y - np.mean(y, axis=along, keepdims=True)
    of_x = x_off / np.linalg.norm(x_off, axis=along, keepdims=True)
    of_y = y_off / np.linalg.norm(y_off, axis=along, keepdims=True)
    r = np.clip(np.sum(of_x * of_y, axis=along), -1.0, 1.0)
    p = np.ones_like(r) if n == 2 else _tail(_of_correlation(n), r, alternative)
    return _results().PearsonRResult(statistic=r, pvalue=p, alternative=alternative, n=n, x=x, y=y, axis=along)


@_means("linregress")
def linregress(x: Any, y: Any, alternative: str = "two-sided") -> Any:
    x, y = _floats(x), _floats(y)
    n = shape_of(x)[0]
    mean_x, mean_y = np.mean(x), np.mean(y)
    of_x, together, of_y = np.mean((x - mean_x) ** 2), np.mean((x - mean_x) * (y - mean_y)), np.mean((y - mean_y) ** 2)
    none = e.logical_or(e.equal(of_x, 0.0), e.equal(of_y, 0.0))
    r = e.where(none, 0.0, np.clip(together / np.sqrt(e.where(none, 1.0, of_x * of_y)), -1.0, 1.0))
    slope = together / of_x
    intercept = mean_y - slope * mean_x
    if n == 2:
        p, stderr, intercept_stderr = e.where(e.equal(y[0], y[1]), 1.0, 0.0), 0.0 * slope, 0.0 * slope
    else:
        t = r * np.sqrt((n - 2) / ((1.0 - r + 1.0e-20) * (1.0 + r + 1.0e-20)))
        p = _tail(_of_t(n - 2), t, alternative)
        stderr = np.sqrt((1 - r**2) * of_y / of_x / (n - 2))
        intercept_stderr = stderr * np.sqrt(of_x + mean_x**2)
    return _results().LinregressResult(
        slope=slope, intercept=intercept, rvalue=r, pvalue=p, stderr=stderr, intercept_stderr=intercept_stderr
    )


def _t_result(difference: Any, error: Any, df: Any, alternative: str, estimate: Any) -> Any:
    t = difference / error
    return _results().TtestResult(
        statistic=t, pvalue=_tail(_of_t(df), t, alternative), df=df, alternative=_DIRECTIONS[alternative],
        standard_error=error, estimate=estimate, statistic_np=t, xp=np,
    )  # fmt: skip


@_means("ttest_1samp")
def ttest_1samp(a: Any, popmean: Any, axis: Any = 0, alternative: str = "two-sided") -> Any:
    a, axis = _along(a, axis)
    n, mean = shape_of(a)[axis], np.mean(a, axis=axis)
    return _t_result(mean - popmean, np.std(a, axis=axis, ddof=1) / math.sqrt(n), n - 1, alternative, mean)


@_means("ttest_rel")
def ttest_rel(a: Any, b: Any, axis: Any = 0, alternative: str = "two-sided") -> Any:
    return ttest_1samp(_floats(a) - _floats(b), 0.0, axis, alternative)


@_means("ttest_ind")
def ttest_ind(a: Any, b: Any, *, axis: Any = 0, equal_var: bool = True, alternative: str = "two-sided",
              trim: Any = 0, method: Any = None) -> Any:  # fmt: skip
    if trim or method is not None:
        raise UnsupportedFunctionError(
            "scipy.stats.ttest_ind with trim or method of traced values", remedy="leave it out"
        )
    (a, along), (b, _) = _along(a, axis), _along(b, axis)
    n, m = shape_of(a)[along], shape_of(b)[along]
    of_a, of_b = np.var(a, axis=along, ddof=1), np.var(b, axis=along, ddof=1)
    df: Any
    if equal_var:
        df = n + m - 2
        error = np.sqrt(((n - 1) * of_a + (m - 1) * of_b) / df * (1.0 / n + 1.0 / m))
    else:
        per_a, per_b = of_a / n, of_b / m
        df = (per_a + per_b) ** 2 / (per_a**2 / (n - 1) + per_b**2 / (m - 1))
        error = np.sqrt(per_a + per_b)
    difference = np.mean(a, axis=along) - np.mean(b, axis=along)
    return _t_result(difference, error, df, alternative, difference)


@_means("describe")
def describe(a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True) -> Any:
    a, axis = _along(a, axis)
    span = np.min(a, axis=axis), np.max(a, axis=axis)
    spread = np.var(a, axis=axis, ddof=ddof)
    return _results().DescribeResult(
        shape_of(a)[axis], span, np.mean(a, axis=axis), spread, skew(a, axis, bias), kurtosis(a, axis, bias=bias)
    )
