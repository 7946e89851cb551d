"""Rows for the incomplete gamma and beta functions and their inverses, with derivatives in every argument.

Both functions are integrals of a density, P(a, x) = ∫₀ˣ p(t) dt. In x the derivative is the density. In a parameter it
is the integral of the density's derivative,

    ∂P/∂a = ∫₀ˣ p(t)·(log t − E[log t]) dt = −∫ₓ^∞ p(t)·(log t − E[log t]) dt,

since the whole integral is constant. The factor changes its sign once, at log t = E[log t]; so one of the two forms has
an integrand of one sign, and that one is computed. Nothing cancels, also far in either tail.

Note [The quadrature]. In u = log t (gamma) or u = logit t (beta) the density is exp(g(u)) with a concave g, analytic in
the strip |Im u| < π. The tail from u₀ is integrated up to where g has fallen by 45. g has at most one bend, near log a
or log a/b, of width one or less; towards both sides of it the integrand is close to an exponential, of any width. So
the interval is cut at the bend, and each part into panels whose lengths double away from it, with 16 Gauss–Legendre
nodes each. Against high-precision arithmetic the result is accurate to 1e-11 or better for parameters from 1e-6 to 1e4.

Higher derivatives in the parameters have further factors: the derivatives of exp(L) are exp(L) times polynomials in the
derivatives of L (Faà di Bruno), computed by their recurrence, `_factor`. The same code gives them as numbers, for the
quadrature, and in ops, for the derivative in x. Inverses follow by the implicit function theorem.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.ops.derive import Elementwise, Guarded, elementwise
from wengert.ops.directed import composed_above, directed
from wengert.ops.elementwise import (
    equal,
    exp,
    greater,
    less,
    log,
    log1p,
    logical_and,
    logical_or,
    not_equal,
    power,
    where,
    whole_part,
    whole_power,
)
from wengert.ops.gamma import betaln, digamma, gammaln, polygamma, polygamma_step
from wengert.ops.library import special
from wengert.ops.special import double, precision, quotient, rounded, xlog1py, xlogy
from wengert.types import scalar_like

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_DROP = 45.0
_CHUNK = 2048
"""How many elements are integrated at once: enough for speed, few enough for the cache."""

# ------------------------------------------------------------------------------------------------------- densities

_UNIT_NODES, _UNIT_WEIGHTS = (
    0.5 * (np.polynomial.legendre.leggauss(12)[0] + 1),
    np.polynomial.legendre.leggauss(12)[1],
)


def _log_defect(m: Any, ratio: Any) -> Any:
    """m − log(1 + m), without cancellation, given m and ratio = 1 + m: for small m it is m²·∫₀¹ s/(1 + sm) ds."""
    small = np.abs(m) < 0.5
    v, total = np.where(small, m, 0), 0.0
    for s, w in zip(_UNIT_NODES, 0.5 * _UNIT_WEIGHTS, strict=True):
        total = total + w * s / (1 + s * v)
    return np.where(small, v * v * total, m - np.log(ratio))


def _stirling_rest(a: Any) -> Any:
    """log Γ(a) − (a − ½)·log a + a − ½·log 2π, for a ≥ 10 (DLMF 5.11.1)."""
    s = 1 / (a * a)
    series = 1 / 1188 - s * 691 / 360360
    for c in (-1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = c + s * series
    return series / a


def _gamma_density(a: Any, x: Any) -> Any:
    """x^(a−1)·e^(−x)/Γ(a). For large a the three factors nearly cancel: then around the mode."""
    dtype = precision(a, x)
    a, x = double(a), double(x)
    with np.errstate(all="ignore"):
        low = np.minimum(a, 10)
        r = special.rgamma(low)
        plain = np.where(r == 0, 0, np.exp(special.xlogy(low - 1, x) - x) * r)
        high, positive = np.maximum(a, 10), np.where(x > 0, x, 1)
        exponent = -high * _log_defect((positive - high) / high, positive / high) - _stirling_rest(high)
        bell = np.where(x > 0, np.sqrt(high / (2 * np.pi)) * np.exp(exponent) / positive, np.where(x == 0, 0, np.nan))
    return rounded(np.where(a < 10, np.where(x < 0, np.nan, plain), bell), dtype)


def _gamma_density_in_x(y: Any, a: Any, x: Any) -> Any:
    at_zero = equal(x, 0)
    edge = gamma_density(where(at_zero, a, 2) - 1, where(at_zero, x, 1)) - y
    return where(at_zero, edge, y * (quotient(a - 1, where(at_zero, 1, x)) - 1))


_NEAR, _LARGEST = 4.0, 15
"""Up to where, and for which powers, whole ones are products: larger ones might overflow where a density does not."""


def _split_power(x: Any, p: Any) -> tuple[Any, Any]:
    """x^p as a power with a whole exponent, and the logarithm of the rest.

    By the rule y′ = y·p/x each Taylor coefficient loses as many digits as x is below one; those of products lose none.
    """
    n = where(less(x, _NEAR), whole_part(p, _LARGEST), scalar_like(0, p))
    return whole_power(x, n, _LARGEST), (p - n) * log(where(greater(x, 0), x, scalar_like(1, x)))


def _edge_of_power(x: Any, p: Any) -> tuple[Any, Callable]:
    """Where x^p has no Taylor series, and what stands for its coefficients there: at zero the first ones vanish."""
    at_zero = equal(x, 0)
    mask = logical_or(less(x, 0), logical_and(at_zero, not_equal(whole_part(p, _LARGEST), p)))
    return mask, lambda k: where(logical_and(at_zero, greater(p, k)), 0, math.nan)


def _gamma_expansion(a: Any, x: Any) -> Any:
    whole, rest = _split_power(x, a - 1)
    return Guarded(whole * exp(rest - x - gammaln(a)), *_edge_of_power(x, a - 1))


def _enclosed_gamma_density(a: Any, x: Any) -> Any:
    inside = exp(xlogy(a - 1, x) - x - gammaln(a))
    return where(equal(x, 0.0), power(x, a - 1) * exp(-gammaln(a)), inside)


gamma_density = elementwise(
    "gamma_density",
    _gamma_density,
    (lambda y, a, x: xlogy(y, x) - y * digamma(a), _gamma_density_in_x),
    expansion=_gamma_expansion,
    expands_in=1,
    bounds=composed_above(_enclosed_gamma_density, {0: 0.0}),
)
"""The density of the gamma distribution with shape a."""


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    dtype = precision(a, b, x)
    a, b, x = double(a), double(b), double(x)
    with np.errstate(all="ignore"):
        plain = np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))
        plain = np.where((a <= 0) | (b <= 0), 0, plain)
        inside = (x > 0) & (x < 1) & (a >= 10) & (b >= 10)
        a1, b1, x1 = np.where(inside, a, 10), np.where(inside, b, 10), np.where(inside, x, 0.5)
        n, apart = a1 + b1, x1 * b1 - (1 - x1) * a1
        exponent = -a1 * _log_defect(apart / a1, x1 * n / a1) - b1 * _log_defect(-apart / b1, (1 - x1) * n / b1)
        exponent = exponent + _stirling_rest(n) - _stirling_rest(a1) - _stirling_rest(b1)
        bell = np.sqrt(a1 * b1 / (2 * np.pi * n)) * np.exp(exponent) / (x1 * (1 - x1))
    return rounded(np.where((x < 0) | (x > 1), np.nan, np.where(inside, bell, plain)), dtype)


def _beta_density_in_x(y: Any, a: Any, b: Any, x: Any) -> Any:
    at_edge = logical_or(equal(x, 0), equal(x, 1))
    a1, b1, x1 = where(at_edge, a, 2), where(at_edge, b, 2), where(at_edge, x, 0.5)
    edge = (a1 + b1 - 1) * (beta_density(a1 - 1, b1, x1) - beta_density(a1, b1 - 1, x1))
    x2 = where(at_edge, 0.5, x)
    return where(at_edge, edge, y * ((a - 1) / x2 - (b - 1) / (1 - x2)))


def _enclosed_beta_density(a: Any, b: Any, x: Any) -> Any:
    inside = exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))
    at_edge = logical_or(equal(x, 0.0), equal(x, 1.0))
    return where(at_edge, power(x, a - 1) * power(1 - x, b - 1) * exp(-betaln(a, b)), inside)


def _beta_expansion(a: Any, b: Any, x: Any) -> Any:
    (low, low_rest), (high, high_rest) = _split_power(x, a - 1), _split_power(1 - x, b - 1)
    (at_low, of_low), (at_high, of_high) = _edge_of_power(x, a - 1), _edge_of_power(1 - x, b - 1)
    fill = lambda k: where(at_low, of_low(k), of_high(k))
    return Guarded(low * high * exp(low_rest + high_rest - betaln(a, b)), logical_or(at_low, at_high), fill)


beta_density = elementwise(
    "beta_density",
    _beta_density,
    (
        lambda y, a, b, x: xlogy(y, x) + y * polygamma_step(a, b, n=0),
        lambda y, a, b, x: xlog1py(y, -x) + y * polygamma_step(b, a, n=0),
        _beta_density_in_x,
    ),
    expansion=_beta_expansion,
    expands_in=2,
    bounds=composed_above(_enclosed_beta_density, {0: 0.0, 1: 0.0}),
)
"""The density of the beta distribution."""

# ------------------------------------------------------------------------------------------------ factors, quadrature


def _factor(slopes: Callable, i: int, j: int = 0) -> Any:
    """∂ⁱ/∂aⁱ ∂ʲ/∂bʲ exp(L) / exp(L), given `slopes(k, l)` = ∂ᵏ/∂aᵏ ∂ˡ/∂bˡ L."""
    if i == j == 0:
        return 1.0
    total: Any = 0.0
    di, dj = (1, 0) if i else (0, 1)
    for k in range(i - di + 1):
        for l in range(j - dj + 1):
            count = math.comb(i - di, k) * math.comb(j - dj, l)
            total = total + count * slopes(k + di, l + dj) * _factor(slopes, i - di - k, j - dj - l)
    return total


def _gamma_slopes(a: Any, log_t: Any) -> Callable:
    return lambda k, l: log_t - digamma(a) if k == 1 else -polygamma(k - 1, a)


def _beta_slopes(a: Any, b: Any, log_t: Any, log_rest: Any) -> Callable:
    def slopes(k: int, l: int) -> Any:
        if k and l:
            return polygamma(k + l - 1, a + b)
        step = polygamma_step(a, b, n=k - 1) if k else polygamma_step(b, a, n=l - 1)
        return step + (log_t if k else log_rest) if k + l == 1 else step

    return slopes


@functools.cache
def _panels(count: int) -> tuple[Any, Any]:
    """Nodes and weights on [0, 1], in panels whose lengths double away from zero."""
    edges = np.concatenate([[0.0], 0.5 ** np.arange(count - 1, -1, -1)])
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1 + _NODES)).ravel(), (half * _WEIGHTS).ravel()


def _tail(log_ratio: Callable, integrand: Callable, direction: Any, bend: Any, scale: Any) -> Any:
    """The integral for w from 0 to ±∞, in `direction`, of what falls as exp(log_ratio(w)); see Note [The quadrature].

    Arguments are columns: one row per element. `bend` says where, in w, the exponent bends; `scale` is a length below
    that of the interval.
    """
    start, end = np.zeros_like(bend), scale
    for _ in range(60):
        short = log_ratio(direction * end) > -_DROP
        if not np.any(short):
            break
        start, end = np.where(short, end, start), np.where(short, 4 * end, end)
    for _ in range(4):
        middle = 0.5 * (start + end)
        enough = log_ratio(direction * middle) < -_DROP
        start, end = np.where(enough, start, middle), np.where(enough, middle, end)
    cut = np.clip(direction * bend, 0, end)
    longest = np.max(np.maximum(cut, end - cut), initial=1.0)
    nodes, weights = _panels(max(4, math.ceil(math.log2(longest)) + 3))
    total = 0.0
    for length, sign in ((cut, -1), (end - cut, 1)):
        if np.any(length):
            w = direction * (cut + sign * length * nodes)
            total = total + np.sum(length * weights * integrand(w), axis=-1)
    return total


def _integrate(tail: Callable, *args: Any) -> Any:
    """`tail` of columns, for operands of any shape."""
    arrays = np.broadcast_arrays(*args)
    flat = [np.reshape(a, (-1, 1)) for a in arrays]
    y = np.empty(flat[0].shape[0])
    for k in range(0, len(y), _CHUNK):
        y[k : k + _CHUNK] = tail(*[a[k : k + _CHUNK] for a in flat])
    return y.reshape(arrays[0].shape)


# -------------------------------------------------------------------------------------------------- incomplete gamma


def _gammainc_by_a(a: Any, x: Any, n: int) -> Any:
    dtype = precision(a, x)
    a, x = np.broadcast_arrays(double(a), double(x))
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    a1, x1 = np.where(inside, a, 1), np.where(inside, x, 1)

    def tail(a: Any, x: Any) -> Any:
        log_x = np.log(x)
        left = log_x <= sc.psi(a)
        total = _tail(
            lambda w: a * w - x * np.expm1(w),
            lambda w: np.exp(a * w - x * np.expm1(w)) * _factor(_gamma_slopes(a, log_x + w), n),
            np.where(left, -1.0, 1.0),
            np.log(np.maximum(a, 1)) - log_x,
            1 / np.sqrt(1 + a + x),
        )
        return np.where(left[..., 0], total, -total)

    with np.errstate(all="ignore"):
        y = x1 * _gamma_density(a1, x1) * _integrate(tail, a1, x1)
    outside = np.where((a > 0) & ((x == 0) | (x == math.inf)), 0.0, math.nan)
    return rounded(np.where(inside, y, outside), dtype)


def _gammainc_by_a_in_x(y: Any, a: Any, x: Any, n: int) -> Any:
    at_zero = equal(x, 0)
    x1 = where(at_zero, 1, x)
    return where(at_zero, 0, gamma_density(a, x1) * _factor(_gamma_slopes(a, log(x1)), n))


gammainc_by_a = elementwise(
    "gammainc_by_a", _gammainc_by_a, (lambda y, a, x, n: gammainc_by_a(a, x, n=n + 1), _gammainc_by_a_in_x)
)
"""The n-th derivative of the incomplete gamma function in its parameter, n > 0."""

_POSITIVE: Any = {0: 0.0}
_BOTH_POSITIVE: Any = {0: 0.0, 1: 0.0}
_UNIT, _HALF_LINE = (0.0, 1.0), (0.0, math.inf)
_GAMMA = {"signs": (1,), "above": _POSITIVE, "within": {1: _HALF_LINE}, "range": _UNIT, "floor": 1.0}
_BETA = {"signs": (1, -1), "above": _BOTH_POSITIVE, "within": {2: _UNIT}, "range": _UNIT, "floor": 1.0}
"""Where distribution functions are those of their parameters, and between which numbers; and in which direction
quantiles go with the parameters."""
_QUANTILES = {"signs": (1,), "above": _POSITIVE, "within": {1: _UNIT}, "range": _HALF_LINE, "slack": 1e-10}
_BETA_QUANTILES = {"signs": (1, -1), "above": _BOTH_POSITIVE, "within": {2: _UNIT}, "range": _UNIT, "slack": 1e-9}


def _cumulative(name: str, slopes: Sequence[Callable], sign: int, signs: tuple, **bounds: Any) -> Elementwise:
    """A row for a distribution function, or (sign −1) one less that; `slopes` are its derivatives."""
    partials = [lambda y, *args, slope=slope: slope(*args) if sign > 0 else -slope(*args) for slope in slopes]
    directions = (*[-sign * s for s in signs], sign)
    return elementwise(name, getattr(sc, name), partials, bounds=directed(*directions, **bounds))


def _quantile(name: str, slopes: Sequence[Callable], sign: int, signs: tuple, **bounds: Any) -> Elementwise:
    """A row for x(…, p), where a distribution function is p, or (sign −1) 1 − p."""
    *of_parameters, density = slopes

    def in_parameter(slope: Callable) -> Callable:
        return lambda x, *args: -slope(*args[:-1], x) / density(*args[:-1], x)

    partials = (*map(in_parameter, of_parameters), lambda x, *args: sign / density(*args[:-1], x))
    directions = (*signs, sign)
    return elementwise(name, getattr(sc, name), partials, bounds=directed(*directions, **bounds))


_GAMMA_SLOPES = (lambda a, x: gammainc_by_a(a, x, n=1), lambda a, x: gamma_density(a, x))

gammainc = _cumulative("gammainc", _GAMMA_SLOPES, 1, **_GAMMA)
gammaincc = _cumulative("gammaincc", _GAMMA_SLOPES, -1, **_GAMMA)
gammaincinv = _quantile("gammaincinv", _GAMMA_SLOPES, 1, **_QUANTILES)
gammainccinv = _quantile("gammainccinv", _GAMMA_SLOPES, -1, **_QUANTILES)

# --------------------------------------------------------------------------------------------------- incomplete beta


def _betainc_by_ab(a: Any, b: Any, x: Any, i: int, j: int) -> Any:
    dtype = precision(a, b, x)
    a, b, x = np.broadcast_arrays(double(a), double(b), double(x))
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    a1, b1, x1 = np.where(inside, a, 1), np.where(inside, b, 1), np.where(inside, x, 0.5)

    def tail(a: Any, b: Any, x: Any) -> Any:
        rest = 1 - x
        log_x, log_rest = np.log(x), np.log1p(-x)

        def moved(w: Any) -> tuple[Any, Any]:
            """log(t/x) and log((1 − t)/(1 − x)), where logit t = logit x + w."""
            common = -np.log1p(np.where(w > 0, rest, x) * np.expm1(-np.abs(w)))
            return common + np.minimum(w, 0), common - np.maximum(w, 0)

        def log_ratio(w: Any) -> Any:
            q, r = moved(w)
            return a * q + b * r

        def integrand(w: Any) -> Any:
            q, r = moved(w)
            return np.exp(a * q + b * r) * _factor(_beta_slopes(a, b, log_x + q, log_rest + r), i, j)

        if (i, j) == (1, 0):
            left = log_x <= -polygamma_step(a, b, n=0)
        elif (i, j) == (0, 1):
            left = log_rest >= -polygamma_step(b, a, n=0)
        else:
            left = x * (a + b) <= a
        bend = np.log(np.maximum(a, 1)) - np.log(np.maximum(b, 1)) - (log_x - log_rest)
        total = _tail(log_ratio, integrand, np.where(left, -1.0, 1.0), bend, 1 / np.sqrt(1 + a + b))
        return np.where(left[..., 0], total, -total)

    with np.errstate(all="ignore"):
        y = x1 * (1 - x1) * _beta_density(a1, b1, x1) * _integrate(tail, a1, b1, x1)
    outside = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), 0.0, math.nan)
    return rounded(np.where(inside, y, outside), dtype)


def _betainc_by_ab_in_x(y: Any, a: Any, b: Any, x: Any, i: int, j: int) -> Any:
    at_edge = logical_or(equal(x, 0), equal(x, 1))
    x1 = where(at_edge, 0.5, x)
    slope = beta_density(a, b, x1) * _factor(_beta_slopes(a, b, log(x1), log1p(-x1)), i, j)
    return where(at_edge, 0, slope)


betainc_by_ab = elementwise(
    "betainc_by_ab",
    _betainc_by_ab,
    (
        lambda y, a, b, x, i, j: betainc_by_ab(a, b, x, i=i + 1, j=j),
        lambda y, a, b, x, i, j: betainc_by_ab(a, b, x, i=i, j=j + 1),
        _betainc_by_ab_in_x,
    ),
)
"""The derivative of the incomplete beta function, i times in a and j times in b, i + j > 0."""


_BETA_SLOPES = (
    lambda a, b, x: betainc_by_ab(a, b, x, i=1, j=0),
    lambda a, b, x: betainc_by_ab(a, b, x, i=0, j=1),
    lambda a, b, x: beta_density(a, b, x),
)

betainc = _cumulative("betainc", _BETA_SLOPES, 1, **_BETA)
betaincc = _cumulative("betaincc", _BETA_SLOPES, -1, **_BETA)
betaincinv = _quantile("betaincinv", _BETA_SLOPES, 1, **_BETA_QUANTILES)
betainccinv = _quantile("betainccinv", _BETA_SLOPES, -1, **_BETA_QUANTILES)
