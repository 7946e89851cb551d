"""Distributions of particular fields: floods, angles on a line, incomes, differences of counts, urns.

Rows as in `rarer.py`. Pearson's third kind is written around its normal limit, where its skewness is zero, instead of
as the gamma distribution it is: there the shape of the gamma distribution would be infinite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.box import plain
from wengert.box.distributions.continuous import Continuous
from wengert.box.distributions.discrete import Discrete
from wengert.box.distributions.univariate import INF, Univariate, all_of, are_whole, split
from wengert.types import ndim_of

LOG_2PI = math.log(2 * math.pi)
_NEAR, _TERMS = 0.1, 17
"""Where a power series is used, and with so many terms: 0.1 to this power is below rounding."""
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def _polynomial(x: Any, coefficients: Any) -> Any:
    total = 0.0 * x
    for a in reversed(coefficients):
        total = a + x * total
    return total


# ------------------------------------------------------------------------------------------------- Pearson's third kind


def _log1p_remainder(t: Any) -> Any:
    """(log(1 + t) − t)/t²."""
    coefficients = [(-1) ** (k + 1) / (k + 2) for k in range(_TERMS)]
    return split(
        np.abs(t) < _NEAR,
        lambda t: _polynomial(t, coefficients),
        lambda t: (np.log1p(t) - t) / t**2,
        (t,),
        (0.0,),
        (1.0,),
    )


def _stirling_error(r: Any) -> Any:
    """log Γ(a) − (a − ½) log a + a − ½ log 2π, given r = 1/a."""

    def exactly(r: Any) -> Any:
        a = 1 / r
        return sc.gammaln(a) - (a - 0.5) * np.log(a) + a - 0.5 * LOG_2PI

    return split(r < _NEAR, lambda r: r * _polynomial(r * r, _STIRLING), exactly, (r,), (0.0,), (1.0,))


def _pearson3(z: Any, skew: Any) -> Any:
    """With y = 1 + z·skew/2 the gamma density of shape a = 4/skew² at a·y, its large terms cancelled by hand."""

    def inside(z: Any, skew: Any) -> Any:
        t = 0.5 * skew * z
        return z * z * _log1p_remainder(t) - np.log1p(t) - 0.5 * LOG_2PI - _stirling_error(0.25 * skew * skew)

    return split(skew * z > -2, inside, lambda z, skew: -INF, (z, skew), (0.0, 0.0), (0.0, 0.0))


# --------------------------------------------------------------------------------------------- double Pareto lognormal


def _log_mills(t: Any) -> Any:
    """log of (1 − Φ(t))/φ(t)."""
    return split(
        t > 0,
        lambda t: np.log(sc.erfcx(t / math.sqrt(2))) + 0.5 * math.log(math.pi / 2),
        lambda t: sc.log_ndtr(-t) + 0.5 * t * t + 0.5 * LOG_2PI,
        (t,),
        (1.0,),
        (-1.0,),
    )


def _double_pareto(z: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    t = (np.log(z) - u) / s
    tails = np.logaddexp(_log_mills(a * s - t), _log_mills(b * s + t))
    return np.log(a) + np.log(b) - np.log(a + b) - np.log(z) - 0.5 * t * t - 0.5 * LOG_2PI + tails


# ------------------------------------------------------------------------------------------------------------- counts


def _log_choose(n: Any, k: Any) -> Any:
    return -np.log(n + 1) - sc.betaln(n - k + 1, k + 1)


def _log_harmonic(a: Any, n: Any) -> Any:
    """log Σ j⁻ᵃ over j = 1 … n: summed, since Riemann's function has no derivative in its exponent."""
    rank = max(ndim_of(a), ndim_of(n))
    j = np.arange(1.0, np.max(plain(n)) + 1).reshape((-1,) + (1,) * rank)
    return np.log(np.sum(np.where(j <= n, np.exp(-a * np.log(j)), 0.0), axis=0))


def _negative_hypergeometric(k: Any, M: Any, n: Any, r: Any) -> Any:
    """How many of n come before the r-th of the others; before none of them there is nothing."""

    def usual(k: Any, M: Any, n: Any, r: Any) -> Any:
        return _log_choose(k + r - 1, k) + _log_choose(M - r - k, n - k) - _log_choose(M, n)

    nothing = all_of(r == 0, k == 0)
    return split(nothing, lambda *args: 0.0, usual, (k, M, n, r), (0.0, 2.0, 1.0, 1.0), (0.0, 2.0, 1.0, 1.0))


RAREST: dict[str, Univariate] = {
    "pearson3": Continuous(("skew",), spare=0.0, valid=np.isfinite, logpdf=_pearson3),
    "vonmises_line": Continuous(
        ("kappa",),
        support=(-math.pi, math.pi),
        spare=0.0,
        valid=lambda kappa: kappa > 0,
        logpdf=lambda z, kappa: -2 * kappa * np.sin(0.5 * z) ** 2 - LOG_2PI - np.log(sc.i0e(kappa)),
    ),
    "dpareto_lognorm": Continuous(
        ("u", "s", "a", "b"),
        support=(0, INF),
        valid=lambda u, s, a, b: all_of(np.isfinite(u), s > 0, a > 0, b > 0),
        vanishes_below=True,
        logpdf=_double_pareto,
    ),
    "skellam": Discrete(
        ("mu1", "mu2"),
        spare=0.0,
        valid=lambda mu1, mu2: all_of(mu1 > 0, mu2 > 0),
        logpmf=lambda k, mu1, mu2: (
            0.5 * k * (np.log(mu1) - np.log(mu2))
            - (np.sqrt(mu1) - np.sqrt(mu2)) ** 2
            + np.log(sc.ive(np.abs(k), 2 * np.sqrt(mu1 * mu2)))
        ),
        mean=lambda mu1, mu2: mu1 - mu2,
        var=lambda mu1, mu2: mu1 + mu2,
    ),
    "zipfian": Discrete(
        ("a", "n"),
        counts=("n",),
        support=lambda a, n: (1, n),
        spare=1.0,
        valid=lambda a, n: all_of(a >= 0, n >= 1, are_whole(n)),
        logpmf=lambda k, a, n: -a * np.log(k) - _log_harmonic(a, n),
    ),
    "hypergeom": Discrete(
        ("M", "n", "N"),
        counts=("M", "n", "N"),
        support=lambda M, n, N: (np.maximum(N - (M - n), 0), np.minimum(n, N)),
        spare=lambda M, n, N: np.minimum(n, N),
        valid=lambda M, n, N: all_of(M > 0, n >= 0, N >= 0, n <= M, N <= M, are_whole(M, n, N)),
        logpmf=lambda k, M, n, N: _log_choose(n, k) + _log_choose(M - n, N - k) - _log_choose(M, N),
    ),
    "nhypergeom": Discrete(
        ("M", "n", "r"),
        counts=("M", "n", "r"),
        support=lambda M, n, r: (0, n),
        spare=0.0,
        valid=lambda M, n, r: all_of(n >= 0, n <= M, r >= 0, r <= M - n, are_whole(M, n, r)),
        logpmf=_negative_hypergeometric,
    ),
}
for _name, _row in RAREST.items():
    _row.name = _name
