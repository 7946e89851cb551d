"""Distributions whose densities are sums and integrals: noncentral t, hypergeometric beta, sums of uniforms, urns.

Rows as in `rarer.py`. An integral over a variable that runs from −∞ to ∞, of something analytic that vanishes at both
ends, is a sum over equally spaced points, to rounding (Trefethen, Weideman 2014). So the parameters of a hypergeometric
function, in which no derivative is known, are those of an elementary integrand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.box import plain
from wengert.box.distributions.continuous import Continuous
from wengert.box.distributions.discrete import Discrete
from wengert.box.distributions.rarer import expm1_ratio, log1p_ratio
from wengert.box.distributions.univariate import INF, Univariate, all_of, are_whole, split
from wengert.box.functions.statistics import logsumexp
from wengert.types import ndim_of

_STEP = 0.08
_S = np.arange(-5.9, 5.9 + _STEP, _STEP)
_NODES, _LOG_WEIGHTS = np.sinh(_S), np.log(_STEP * np.cosh(_S))
"""Points of the sum, dense in the middle: distances from it in units of the width of the integrand."""


def _log_integral(exponent: Callable, middle: Any, width: Any) -> Any:
    """log ∫ exp(exponent(t)) dt over the line; the integrand is largest near `middle`."""
    rank = max(ndim_of(middle), ndim_of(width))
    nodes, log_weights = (v.reshape((-1,) + (1,) * rank) for v in (_NODES, _LOG_WEIGHTS))
    terms = exponent(middle + width * nodes) + log_weights
    return np.log(width) + logsumexp(terms, axis=0)


def _noncentral_t(z: Any, df: Any, nc: Any) -> Any:
    """∫ yᵈᶠ exp(−½(y − c)²) dy over y > 0, with y = eᵗ; c = nc·z/√(z² + df)."""
    r = z * z + df
    c = nc * z / np.sqrt(r)
    root = np.sqrt(c * c + 4 * (df + 1))
    top = split(c > 0, lambda c, root, df: 0.5 * (c + root), lambda c, root, df: 2 * (df + 1) / (root - c),
                (c, root, df), (1.0, 1.0, 1.0), (-1.0, 1.0, 1.0))  # fmt: skip

    def exponent(t: Any) -> Any:
        t = np.minimum(t, 300.0)  # far out, where nothing is left, without an overflow
        return (df + 1) * t - 0.5 * (np.exp(t) - c) ** 2

    integral = _log_integral(exponent, np.log(top), 1 / np.sqrt(top * top + df + 1))
    front = 0.5 * df * np.log(df) - sc.gammaln(0.5 * df) - 0.5 * math.log(math.pi) - 0.5 * (df - 1) * math.log(2.0)
    return front - 0.5 * df * nc * nc / r - 0.5 * (df + 1) * np.log(r) + integral


def _hypergeometric_beta(x: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    """xᵃ⁻¹(1 − x)ᵇ⁻¹(1 + zx)⁻ᶜ over its integral, for which x = 1/(1 + e⁻ᵗ)."""

    def exponent(t: Any) -> Any:
        log_x, log_rest = -np.logaddexp(0.0, -t), -np.logaddexp(0.0, t)
        return a * log_x + b * log_rest - c * np.log1p(z * np.exp(log_x))

    constant = _log_integral(exponent, np.log(a) - np.log(b), np.sqrt(1 / a + 1 / b))
    return sc.xlogy(a - 1, x) + sc.xlog1py(b - 1, -x) - c * np.log1p(z * x) - constant


def _kappa(z: Any, h: Any, k: Any) -> Any:
    """The cumulative distribution is (1 − h·eˢ)^(1/h) with s = log(1 − kz)/k; both have limits where h or k is 0."""
    s = -log1p_ratio(-k, z)
    return s - np.log1p(-k * z) - (1 - h) * log1p_ratio(-h, np.exp(s))


def _kappa_support(h: Any, k: Any) -> tuple[Any, Any]:
    below_one = split(k < 0, lambda k: 1 / k, lambda k: -INF, (k,), (-1.0,), (1.0,))
    low = split(h > 0, lambda h, k, other: expm1_ratio(-k, np.log(h)), lambda h, k, other: other,
                (h, k, below_one), (1.0, 1.0, 0.0), (1.0, 1.0, 0.0))  # fmt: skip
    return low, split(k > 0, lambda k: 1 / k, lambda k: INF, (k,), (1.0,), (1.0,))


def _irwin_hall(z: Any, n: Any) -> Any:
    """The B-spline of order n on 0, 1, …, n, by its recurrence: Bₘ(x) = (x·Bₘ₋₁(x) + (m − x)·Bₘ₋₁(x − 1))/(m − 1)."""
    largest = int(np.max(plain(n)))
    x = z - np.arange(float(largest)).reshape((-1,) + (1,) * max(ndim_of(z), ndim_of(n)))
    spline = np.where(all_of(x >= 0, x < 1), 1.0, 0.0)
    found = spline[0]
    for m in range(2, largest + 1):
        x = x[:-1]
        spline = (x * spline[:-1] + (m - x) * spline[1:]) / (m - 1)
        found = np.where(n == m, spline[0], found)
    return np.log(found)


def _log_choose(n: Any, k: Any) -> Any:
    return sc.gammaln(n + 1) - sc.gammaln(k + 1) - sc.gammaln(n - k + 1)


def _fisher_support(M: Any, n: Any, N: Any) -> tuple[Any, Any]:
    return np.maximum(N - (M - n), 0), np.minimum(n, N)


def _fisher(k: Any, M: Any, n: Any, N: Any, odds: Any) -> Any:
    """The hypergeometric weights times oddsᵏ, over their sum."""

    def weight(k: Any) -> Any:
        return _log_choose(n, k) + _log_choose(M - n, N - k) + k * np.log(odds)

    low, high = _fisher_support(M, n, N)
    rank = max(map(ndim_of, (k, M, n, N, odds)))
    j = np.arange(0.0, np.max(plain(high)) + 1).reshape((-1,) + (1,) * rank)
    inside = all_of(j >= low, j <= high)
    total = logsumexp(np.where(inside, weight(np.where(inside, j, low)), -INF), axis=0)
    return weight(k) - total


SUMMED: dict[str, Univariate] = {
    "nct": Continuous(
        ("df", "nc"), spare=0.0, valid=lambda df, nc: all_of(df > 0, np.isfinite(nc)), logpdf=_noncentral_t
    ),
    "gausshyper": Continuous(
        ("a", "b", "c", "z"),
        support=(0, 1),
        valid=lambda a, b, c, z: all_of(a > 0, b > 0, np.isfinite(c), z > -1),
        spare=0.5,
        logpdf=_hypergeometric_beta,
    ),
    "kappa4": Continuous(
        ("h", "k"),
        support=_kappa_support,
        spare=lambda h, k: 0.0 * h * k,
        valid=lambda h, k: all_of(np.isfinite(h), np.isfinite(k)),
        logpdf=_kappa,
    ),
    "irwinhall": Continuous(
        ("n",),
        support=lambda n: (0, n),
        spare=0.5,
        valid=lambda n: all_of(n >= 1, are_whole(n)),
        logpdf=_irwin_hall,
        mean=lambda n: 0.5 * n,
        var=lambda n: n / 12,
    ),
    "nchypergeom_fisher": Discrete(
        ("M", "n", "N", "odds"),
        counts=("M", "n", "N"),
        support=lambda M, n, N, odds: _fisher_support(M, n, N),
        spare=lambda M, n, N, odds: np.minimum(n, N),
        valid=lambda M, n, N, odds: all_of(M > 0, n >= 0, N >= 0, n <= M, N <= M, odds > 0, are_whole(M, n, N)),
        logpmf=_fisher,
    ),
}
for _name, _row in SUMMED.items():
    _row.name = _name
