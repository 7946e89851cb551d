"""`scipy.stats`: numbers that describe samples, and tests of hypotheses, written in NumPy's functions.

Ranks, modes and what is made of them jump from one number to the other; they have no rule. Probabilities (p-values) are
incomplete beta and gamma functions of the statistics, and have the derivatives of these.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.box.dispatch import FUNCTIONS, implements_blind, name_of
from wengert.box.functions.operands import array, cast, in_double, join, unsupported_option
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import incomplete
from wengert.ops import shape as s
from wengert.ops import special as sp
from wengert.ops.index import index
from wengert.types import dtype_of, is_inexact, ndim_of, shape_of


class _Tested(NamedTuple):
    """A statistic, and how probable it is that it is as extreme."""

    statistic: Any
    pvalue: Any


class PearsonRResult(_Tested):
    @property
    def correlation(self) -> Any:
        return self.statistic


class TtestResult:
    """The result of a t-test: a pair of the statistic and its probability, which also has the degrees of freedom."""

    def __init__(self, statistic: Any, pvalue: Any, df: Any):
        self.statistic, self.pvalue, self.df = statistic, pvalue, df

    def __iter__(self) -> Iterator[Any]:
        return iter((self.statistic, self.pvalue))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: Any) -> Any:
        return (self.statistic, self.pvalue)[k]

    def __repr__(self) -> str:
        return f"TtestResult(statistic={self.statistic}, pvalue={self.pvalue}, df={self.df})"


tree.register(
    TtestResult,
    lambda x: ((x.statistic, x.pvalue, x.df), None, ("statistic", "pvalue", "df")),
    lambda _, parts: TtestResult(*parts),
)


# ------------------------------------------------------------------------------------------------------- preparation


def _sample(x: Any, axis: Any) -> tuple[Any, int]:
    """Numbers, and the axis along which they are a sample; all of them are one if there is none."""
    x = array(x)
    x = x if is_inexact(dtype_of(x)) else in_double(x)
    if axis is None or not ndim_of(x):
        return s.reshape(x, shape=(math.prod(shape_of(x)),)), 0
    return x, axis


def _mean(x: Any, axis: Any, **options: Any) -> Any:
    return FUNCTIONS[np.mean](x, axis=axis, **options)


def _sum(x: Any, axis: Any = None, **options: Any) -> Any:
    return FUNCTIONS[np.sum](x, axis=axis, **options)


def _variance(x: Any, axis: Any, ddof: Any, **options: Any) -> Any:
    return FUNCTIONS[np.var](x, axis=axis, ddof=ddof, **options)


def _deviation(x: Any, axis: Any, ddof: Any, **options: Any) -> Any:
    return FUNCTIONS[np.std](x, axis=axis, ddof=ddof, **options)


def _central(x: Any, axis: int, order: Any, keepdims: bool = False, centre: Any = None) -> Any:
    """The mean of powers of what is above the mean."""
    if centre is None:
        centre = _mean(x, axis, keepdims=True)
    return _mean((x - centre) ** order, axis, keepdims=keepdims)


def _length(x: Any, axis: int) -> Any:
    return shape_of(x)[axis]


# -------------------------------------------------------------------------------------------------------- one sample


def moment(a: Any, order: Any = 1, axis: Any = 0, *, center: Any = None, keepdims: bool = False) -> Any:
    if np.ndim(order):
        raise unsupported_option("scipy.stats.moment", "several orders", "ask for each of them")
    x, axis = _sample(a, axis)
    if order == 1 and center is None:
        return _mean(x, axis, keepdims=keepdims) * 0.0
    return _central(x, axis, order, keepdims, center)


def _has_no_spread(x: Any, axis: int, m2: Any) -> Any:
    eps = np.finfo(dtype_of(x)).resolution
    return e.less_equal(m2, (eps * _mean(x, axis, keepdims=True)) ** 2)


def skew(a: Any, axis: Any = 0, bias: bool = True, *, keepdims: bool = False) -> Any:
    x, axis = _sample(a, axis)
    n, m2 = _length(x, axis), _central(x, axis, 2, True)
    is_flat = _has_no_spread(x, axis, m2)
    ratio = _central(x, axis, 3, True) / e.where(is_flat, 1.0, m2) ** 1.5
    if not bias and n > 2:
        ratio = ratio * (math.sqrt((n - 1) * n) / (n - 2))
    return _without_axis(e.where(is_flat, math.nan, ratio), axis, keepdims)


def kurtosis(a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, *, keepdims: bool = False) -> Any:
    x, axis = _sample(a, axis)
    n, m2 = _length(x, axis), _central(x, axis, 2, True)
    is_flat = _has_no_spread(x, axis, m2)
    ratio = _central(x, axis, 4, True) / e.where(is_flat, 1.0, m2) ** 2
    if not bias and n > 3:
        ratio = ((n**2 - 1) * ratio - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    ratio = e.where(is_flat, math.nan, ratio)
    return _without_axis(ratio - 3 if fisher else ratio, axis, keepdims)


def _without_axis(y: Any, axis: int, keepdims: bool) -> Any:
    return y if keepdims else FUNCTIONS[np.squeeze](y, axis=axis)[()]  # (a number, and not an array without axes)


def kstat(data: Any, n: int = 2, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Unbiased estimates of cumulants, by sums of powers."""
    if n > 4 or n < 1:
        raise ValueError("k-statistics only supported for 1<=n<=4")
    x, axis = _sample(data, axis)
    m = _length(x, axis)
    sums: list[Any] = [_sum(x**k, axis, keepdims=keepdims) if k <= n else None for k in (1, 2, 3, 4)]
    s1, s2, s3, s4 = sums
    if n == 1:
        return s1 / m
    if n == 2:
        return (m * s2 - s1**2) / (m * (m - 1.0))
    if n == 3:
        return (2 * s1**3 - 3 * m * s1 * s2 + m * m * s3) / (m * (m - 1.0) * (m - 2.0))
    found = -6 * s1**4 + 12 * m * s1**2 * s2 - 3 * m * (m - 1.0) * s2**2 - 4 * m * (m + 1) * s1 * s3
    return (found + m * m * (m + 1) * s4) / (m * (m - 1.0) * (m - 2.0) * (m - 3.0))


def _describe(kind: Any) -> Callable:
    """`describe`, with results of SciPy's class."""

    def describe(a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True) -> Any:
        x, axis = _sample(a, axis)
        span = FUNCTIONS[np.min](x, axis=axis), FUNCTIONS[np.max](x, axis=axis)
        spread = _variance(x, axis, ddof)
        return kind(_length(x, axis), span, _mean(x, axis), spread, skew(x, axis, bias), kurtosis(x, axis, True, bias))

    return describe


def sem(a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: bool = False) -> Any:
    x, axis = _sample(a, axis)
    return _deviation(x, axis, ddof, keepdims=keepdims) / math.sqrt(_length(x, axis))


def variation(a: Any, axis: Any = 0, ddof: Any = 0, *, keepdims: bool = False) -> Any:
    x, axis = _sample(a, axis)
    return _deviation(x, axis, ddof, keepdims=keepdims) / _mean(x, axis, keepdims=keepdims)


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0) -> Any:
    x, _ = _sample(scores, 0)
    y = array(compare)
    return (x - _mean(y, axis, keepdims=True)) / _deviation(y, axis, ddof, keepdims=True)


def zscore(a: Any, axis: Any = 0, ddof: Any = 0) -> Any:
    return zmap(a, a, axis, ddof)


def gzscore(a: Any, *, axis: Any = 0, ddof: Any = 0) -> Any:
    return zscore(e.log(_sample(a, 0)[0]), axis, ddof)


def _weighted(a: Any, axis: Any, dtype: Any, weights: Any) -> tuple[Any, int, Any]:
    """Numbers, their axis, and their weights, with which they broadcast."""
    a = _typed(a, dtype)
    if weights is not None:
        a, weights = FUNCTIONS[np.broadcast_arrays](array(a), array(weights))
        weights, _ = _sample(weights, axis)
    return (*_sample(a, axis), weights)


def _average(x: Any, axis: int, weights: Any, keepdims: bool) -> Any:
    if weights is None:
        return _mean(x, axis, keepdims=keepdims)
    return _sum(x * weights, axis, keepdims=keepdims) / _sum(weights, axis, keepdims=keepdims)


def gmean(a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    x, axis, weights = _weighted(a, axis, dtype, weights)
    return e.exp(_average(e.log(x), axis, weights, keepdims))


def hmean(a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, keepdims: bool = False) -> Any:
    x, axis, weights = _weighted(a, axis, dtype, weights)
    return 1.0 / _average(1.0 / x, axis, weights, keepdims)


def pmean(a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    if p == 0:
        return gmean(a, axis, dtype, weights, keepdims=keepdims)
    x, axis, weights = _weighted(a, axis, dtype, weights)
    return _average(x**p, axis, weights, keepdims) ** (1.0 / p)


def _typed(a: Any, dtype: Any) -> Any:
    return a if dtype is None else cast(array(a), dtype)


def gstd(a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: bool = False) -> Any:
    x, axis = _sample(a, axis)
    return e.exp(_deviation(e.log(x), axis, ddof, keepdims=keepdims))


def iqr(x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, interpolation: str = "linear",
        keepdims: bool = False) -> Any:  # fmt: skip
    x, axis = _sample(x, axis)
    low, high = [
        FUNCTIONS[np.percentile](x, q, axis=axis, method=interpolation, keepdims=keepdims) for q in sorted(rng)
    ]
    return (high - low) / _scale(scale, _OF_QUARTILES)


def median_abs_deviation(x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0, *, keepdims: bool = False) -> Any:
    x, axis = _sample(x, axis)
    middle = (np.median if center is None else center)(x, axis=axis)
    away = FUNCTIONS[np.absolute](x - FUNCTIONS[np.expand_dims](middle, axis))
    return FUNCTIONS[np.median](away, axis=axis, keepdims=keepdims) / _scale(scale, _OF_QUARTILES / 2)


_OF_QUARTILES = 1.3489795003921634
"""How far the quartiles of a normal distribution are apart."""


def _scale(scale: Any, normal: float) -> Any:
    return normal if isinstance(scale, str) and scale.lower() == "normal" else scale


def trim_mean(a: Any, proportiontocut: float, axis: Any = 0, *, keepdims: bool = False) -> Any:
    x, axis = _sample(a, axis)
    n = _length(x, axis)
    cut = int(proportiontocut * n)
    if cut >= n - cut:
        raise ValueError("Proportion too big.")
    ordered = FUNCTIONS[np.moveaxis](FUNCTIONS[np.sort](x, axis=axis), axis, -1)
    found = _mean(index(ordered, pattern=(*[slice(None)] * (ndim_of(ordered) - 1), slice(cut, n - cut))), -1)
    return FUNCTIONS[np.expand_dims](found, axis) if keepdims else found


def entropy(pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, keepdims: bool = False) -> Any:
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    if qk is not None:
        pk, qk = FUNCTIONS[np.broadcast_arrays](array(pk), array(qk))
        q, _ = _sample(qk, axis)
    p, axis = _sample(pk, axis)
    if qk is not None:
        q = q / _sum(q, axis, keepdims=True)
    p = p / _sum(p, axis, keepdims=True)
    total = _sum(sp.entr(p) if qk is None else sp.rel_entr(p, q), axis, keepdims=keepdims)
    return total if base is None else total / math.log(base)


def _trimmed(name: str, f: Callable) -> Callable:
    def of_all(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1, *,
               keepdims: bool = False) -> Any:  # fmt: skip
        if limits is not None:
            raise unsupported_option(f"scipy.stats.{name}", "limits", "choose the numbers with a mask first")
        return f(*_sample(a, axis), ddof, keepdims=keepdims)

    return of_all


def tmean(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = None, *, keepdims: bool = False
) -> Any:
    return _trimmed("tmean", lambda x, axis, ddof, **options: _mean(x, axis, **options))(
        a, limits, inclusive, axis, keepdims=keepdims
    )


tvar, tstd, tsem = _trimmed("tvar", _variance), _trimmed("tstd", _deviation), _trimmed("tsem", sem)


# ------------------------------------------------------------------------------------------------------------ angles


def _resultant(samples: Any, high: Any, low: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    x, axis = _sample(samples, axis)
    angle = (x - low) * (2 * math.pi / (high - low))
    return _mean(e.sin(angle), axis, keepdims=keepdims), _mean(e.cos(angle), axis, keepdims=keepdims)


def circmean(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None, *, keepdims: bool = False) -> Any:
    sine, cosine = _resultant(samples, high, low, axis, keepdims)
    return e.remainder(e.arctan2(sine, cosine) * ((high - low) / (2 * math.pi)), high - low) + low


def circvar(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None, *, keepdims: bool = False) -> Any:
    return 1.0 - e.hypot(*_resultant(samples, high, low, axis, keepdims))


def circstd(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None, *, normalize: bool = False,
            keepdims: bool = False) -> Any:  # fmt: skip
    spread = e.sqrt(-2 * e.log(e.hypot(*_resultant(samples, high, low, axis, keepdims))))
    return spread if normalize else spread * ((high - low) / (2 * math.pi))


def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    if lmbda is None:
        raise unsupported_option("scipy.stats.boxcox", "lmbda=None, which is searched for", "give it")
    return sp.boxcox(_sample(x, 0)[0], lmbda)


# ------------------------------------------------------------------------------------------------------- two samples


def _two_sided(alternative: str, below: Any, above: Any) -> Any:
    """The probability, of those of being below and above."""
    if alternative not in ("two-sided", "less", "greater"):
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return {"less": below, "greater": above, "two-sided": 2 * e.minimum(below, above)}[alternative]


def _probability_of_t(t: Any, df: Any, alternative: str) -> Any:
    """That a number with Student's distribution is beyond t."""
    beyond = 0.5 * incomplete.betainc(df / 2, 0.5, df / (df + t * t))
    is_low = e.less(t, 0)
    return _two_sided(alternative, e.where(is_low, beyond, 1 - beyond), e.where(is_low, 1 - beyond, beyond))


def pearsonr(x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: Any = 0) -> Any:
    if method is not None:
        raise unsupported_option("scipy.stats.pearsonr", "method=", "leave it out")
    x, axis = _sample(x, axis)
    y, _ = _sample(y, axis)
    n = _length(x, axis)
    if n != _length(y, axis):
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    dx, dy = x - _mean(x, axis, keepdims=True), y - _mean(y, axis, keepdims=True)
    r = _sum(dx * dy, axis) / e.sqrt(_sum(dx * dx, axis) * _sum(dy * dy, axis))
    half = n / 2 - 1
    if not half:
        return PearsonRResult(r, 1.0 + 0 * r)
    return PearsonRResult(r, _two_sided(alternative, incomplete.betainc(half, half, (1 + r) / 2),
                                        incomplete.betainc(half, half, (1 - r) / 2)))  # fmt: skip


def _linregress(kind: Any) -> Callable:
    def linregress(x: Any, y: Any, alternative: str = "two-sided", *, axis: Any = 0, keepdims: bool = False) -> Any:
        (x, _), (y, _) = _sample(x, 0), _sample(y, 0)
        if axis not in (0, -1) or keepdims or ndim_of(x) != 1 or ndim_of(y) != 1:
            raise unsupported_option("scipy.stats.linregress", "several axes", "call it for each sample")
        n = _length(x, 0)
        dx, dy = x - _mean(x, 0), y - _mean(y, 0)
        xx, xy, yy = _mean(dx * dx, 0), _mean(dx * dy, 0), _mean(dy * dy, 0)
        slope, r, df = xy / xx, xy / e.sqrt(xx * yy), n - 2
        intercept = _mean(y, 0) - slope * _mean(x, 0)
        if df:
            t = r * e.sqrt(df / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
            p, error = _probability_of_t(t, df, alternative), e.sqrt((1 - r**2) * yy / xx / df)
        else:  # a line through two points
            p, error = 0.0 * slope, 0.0 * slope
        of_intercept = error * e.sqrt(xx + _mean(x, 0) ** 2)
        return kind(slope=slope, intercept=intercept, rvalue=r, pvalue=p, stderr=error, intercept_stderr=of_intercept)

    return linregress


def ttest_1samp(a: Any, popmean: Any, axis: Any = 0, alternative: str = "two-sided") -> Any:
    x, axis = _sample(a, axis)
    n = _length(x, axis)
    t = (_mean(x, axis) - popmean) / e.sqrt(_variance(x, axis, 1) / n)
    return TtestResult(t, _probability_of_t(t, n - 1, alternative), n - 1)


def ttest_rel(a: Any, b: Any, axis: Any = 0, alternative: str = "two-sided") -> Any:
    return ttest_1samp(_sample(a, 0)[0] - _sample(b, 0)[0], 0.0, axis, alternative=alternative)


def ttest_ind(a: Any, b: Any, *, axis: Any = 0, equal_var: bool = True, alternative: str = "two-sided", trim: Any = 0,
              method: Any = None) -> Any:  # fmt: skip
    if trim or method is not None:
        raise unsupported_option("scipy.stats.ttest_ind", "trim= or method=", "leave them out")
    x, of_x = _sample(a, axis)
    y, of_y = _sample(b, axis)
    n, m = _length(x, of_x), _length(y, of_y)
    u, v = _variance(x, of_x, 1), _variance(y, of_y, 1)
    if equal_var:
        df: Any = n + m - 2
        error = e.sqrt(((n - 1) * u + (m - 1) * v) / df * (1 / n + 1 / m))
    else:
        df = (u / n + v / m) ** 2 / ((u / n) ** 2 / (n - 1) + (v / m) ** 2 / (m - 1))
        error = e.sqrt(u / n + v / m)
    t = (_mean(x, of_x) - _mean(y, of_y)) / error
    return TtestResult(t, _probability_of_t(t, df, alternative), df)


def chisquare(f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, *, sum_check: bool = True) -> Any:
    x, axis = _sample(f_obs, axis)
    expected = _mean(x, axis, keepdims=True) if f_exp is None else array(f_exp)
    total = _sum((x - expected) ** 2 / expected, axis)
    return _Tested(total, incomplete.gammaincc((_length(x, axis) - 1 - ddof) / 2, total / 2))


def jarque_bera(x: Any, *, axis: Any = None) -> Any:
    x, axis = _sample(x, axis)
    total = _length(x, axis) / 6 * (skew(x, axis) ** 2 + kurtosis(x, axis) ** 2 / 4)
    return _Tested(total, e.exp(-total / 2))


def f_oneway(*samples: Any, axis: Any = 0, equal_var: bool = True) -> Any:
    if not equal_var:
        raise unsupported_option("scipy.stats.f_oneway", "equal_var=False", "leave it out")
    if len(samples) == 1 and ndim_of(array(samples[0])) == 2 and axis in (0, 1, -1, -2):  # several, in one array
        rows = FUNCTIONS[np.moveaxis](array(samples[0]), axis, -1)
        samples, axis = tuple([index(rows, pattern=(k,)) for k in range(shape_of(rows)[0])]), 0
    if len(samples) < 2:
        raise ValueError(f"At least two samples are required; got {len(samples)}.")
    groups = [_sample(x, axis)[0] for x in samples]
    axis = 0 if axis is None else axis
    sizes, means = [_length(x, axis) for x in groups], [_mean(x, axis, keepdims=True) for x in groups]
    n, k = sum(sizes), len(groups)
    mean: Any = sum(m * y for m, y in zip(sizes, means, strict=True)) / n
    between: Any = sum(m * _sum((y - mean) ** 2, axis) for m, y in zip(sizes, means, strict=True)) / (k - 1)
    within: Any = sum(_sum((x - y) ** 2, axis) for x, y in zip(groups, means, strict=True)) / (n - k)
    f = between / within
    p = incomplete.betainc((n - k) / 2, (k - 1) / 2, (n - k) / (n - k + (k - 1) * f))
    return _Tested(f, p)


def _between_distributions(power: int) -> Callable:
    """A distance of two cumulative distributions."""

    def distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
        u, v = [FUNCTIONS[np.sort](_sample(x, None)[0]) for x in (u_values, v_values)]
        steps = FUNCTIONS[np.sort](join([u, v], 0))
        n = _length(steps, 0)
        before = index(steps, pattern=(slice(None, n - 1),))
        widths = index(steps, pattern=(slice(1, n),)) - before
        shares = []
        for x, values, weights in ((u, u_values, u_weights), (v, v_values, v_weights)):
            found = FUNCTIONS[np.searchsorted](x, before, side="right")
            if weights is None:
                shares.append(found / _length(x, 0))
            else:
                ordered = FUNCTIONS[np.take](array(weights), FUNCTIONS[np.argsort](_sample(values, None)[0]))
                so_far = join([np.zeros(1), FUNCTIONS[np.cumsum](ordered)], 0)
                shares.append(FUNCTIONS[np.take](so_far, found) / _sum(ordered))
        apart = FUNCTIONS[np.absolute](shares[0] - shares[1])
        if power == 1:
            return _sum(apart * widths)
        return math.sqrt(2) * e.sqrt(_sum(apart**2 * widths))

    return distance


wasserstein_distance, energy_distance = _between_distributions(1), _between_distributions(2)


# ------------------------------------------------------------------------------------------------------ registration


def _propagating(original: Any, f: Callable) -> Callable:
    """A function, with the option of what becomes of NaNs, in its place among SciPy's arguments."""
    names = list(inspect.signature(original).parameters)
    place = names.index("nan_policy") if "nan_policy" in names else len(names)

    def called(*args: Any, nan_policy: str = "propagate", **options: Any) -> Any:
        if len(args) > place:
            nan_policy, args = args[place], (*args[:place], *args[place + 1 :])
        if nan_policy != "propagate":
            raise unsupported_option(name_of(original), f"nan_policy={nan_policy!r}", "leave NaNs out before")
        return f(*args, **options)

    return called


_FUNCTIONS: dict[str, Callable] = {
    f.__name__: f for f in (
        moment, skew, kurtosis, sem, variation, zmap, zscore, gzscore, gmean, hmean, pmean, gstd, iqr,
        median_abs_deviation, trim_mean, entropy, tmean, circmean, circvar, circstd, pearsonr, ttest_1samp, ttest_rel,
        ttest_ind, chisquare, jarque_bera, f_oneway, kstat,
    )
}  # fmt: skip
_FUNCTIONS |= {"tvar": tvar, "tstd": tstd, "tsem": tsem}


@when_imported("scipy.stats")
def _stats(module: Any) -> None:
    for name, f in _FUNCTIONS.items():
        implements_blind(getattr(module, name))(_propagating(getattr(module, name), f))
    made = module.linregress([0.0, 1.0, 2.0], [0.0, 1.0, 3.0])
    implements_blind(module.linregress)(_propagating(module.linregress, _linregress(type(made))))
    described = module.describe([0.0, 1.0])
    implements_blind(module.describe)(_propagating(module.describe, _describe(type(described))))
    implements_blind(module.boxcox)(boxcox)
    implements_blind(module.wasserstein_distance)(wasserstein_distance)
    implements_blind(module.energy_distance)(energy_distance)
