"""The distributions of one number that are seldom needed: generalised extremes, folded, skewed and wrapped ones.

As in `continuous.py` each is a row of formulas in the standardised variable. Formulas with a removable singularity,
such as those of extreme values at shape 0, go through a power series around it: derivatives keep their digits there.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.distributions.continuous import (
    CONTINUOUS,
    LOG_2,
    LOG_2PI,
    LOG_PI,
    Continuous,
    norm_logpdf,
    on_half_line,
    positive,
)
from wengert.box.distributions.discrete import Discrete
from wengert.box.distributions.univariate import INF, Univariate, all_of, log1mexp, split

_NEAR = 0.03
_TERMS = 11
"""So many terms of a power series: 0.03 to this power is below rounding."""


def _ratio(function: Any, coefficients: list[float]) -> Any:
    """function(c·z)/c, as z times a power series in c·z where that is small."""

    def series(c: Any, z: Any) -> Any:
        total = coefficients[-1]
        for a in coefficients[-2::-1]:
            total = a + c * z * total
        return z * total

    def ratio(c: Any, z: Any) -> Any:
        return split(np.abs(c * z) < _NEAR, series, lambda c, z: function(c * z) / c, (c, z), (0.0, 0.0), (1.0, 1.0))

    return ratio


log1p_ratio = _ratio(np.log1p, [(-1) ** k / (k + 1) for k in range(_TERMS)])
expm1_ratio = _ratio(np.expm1, [1 / math.factorial(k + 1) for k in range(_TERMS)])


def _reciprocal(c: Any, mask: Any, other: float) -> Any:
    """1/c where the mask is true."""
    return split(mask, lambda c: 1 / c, lambda c: other, (c,), (1.0,), (1.0,))


def _extreme(z: Any, c: Any) -> Any:
    """log(−log F) of the generalised extreme value distribution."""
    return -log1p_ratio(-c, z)


def _jones_faddy(z: Any, a: Any, b: Any) -> Any:
    """(a + ½) log(1 + z/r) + (b + ½) log(1 − z/r) with r² = a + b + z², the small one of them without cancellation."""
    r = np.sqrt(a + b + z * z)
    size = np.where(z < 0, -z, z)  # of which one branch is taken below: the slope of |z| at 0 is that of neither
    small = np.log(a + b) - np.log(r) - np.log(r + size)
    large = np.log1p(size / r)
    return np.where(z < 0, (a + 0.5) * small + (b + 0.5) * large, (a + 0.5) * large + (b + 0.5) * small)


def _crystal_constant(beta: Any, m: Any) -> Any:
    return -np.log(m / beta / (m - 1) * np.exp(-0.5 * beta * beta) + math.sqrt(2 * math.pi) * sc.ndtr(beta))


def _crystal(z: Any, beta: Any, m: Any) -> Any:
    shape = split(
        z > -beta,
        lambda z, beta, m: -0.5 * z * z,
        lambda z, beta, m: m * np.log(m / beta) - 0.5 * beta * beta - m * np.log(m / beta - beta - z),
        (z, beta, m),
        (1.0, 1.0, 2.0),
        (-2.0, 1.0, 2.0),
    )
    return shape + _crystal_constant(beta, m)


def _trapezoid(z: Any, c: Any, d: Any) -> Any:
    rising = split(z < c, lambda z, c: np.log(z) - np.log(c), lambda z, c: 0 * z, (z, c), (0.25, 0.5), (0.75, 0.5))
    falling = split(
        z > d, lambda z, d: np.log1p(-z) - np.log1p(-d), lambda z, d: 0 * z, (z, d), (0.75, 0.5), (0.25, 0.5)
    )
    return LOG_2 - np.log(d - c + 1) + rising + falling


def _log_k(order: Any, x: Any) -> Any:
    """log of the modified Bessel function of the second kind."""
    return np.log(sc.kve(order, x)) - x


def _hyperbolic(z: Any, p: Any, a: Any, b: Any) -> Any:
    t, g = np.sqrt(1 + z * z), np.sqrt((a - b) * (a + b))
    constant = p * np.log(g) - 0.5 * LOG_2PI - (p - 0.5) * np.log(a) - _log_k(p, g)
    return constant + b * z + _log_k(p - 0.5, a * t) + (p - 0.5) * np.log(t)


def _normal_inverse_gaussian(z: Any, a: Any, b: Any) -> Any:
    t = np.sqrt(1 + z * z)
    exponent = b * z - a * t + np.sqrt((a - b) * (a + b))
    return np.log(a) - LOG_PI + np.log(sc.k1e(a * t)) + exponent - np.log(t)


def _noncentral_chi2(z: Any, df: Any, nc: Any) -> Any:
    """The central density times exp(−nc/2) Σ uᵏ/(k! (df/2)ₖ), u = nc·z/4: as a series or as Bessel's I."""

    def series(z: Any, df: Any, nc: Any) -> Any:
        u, total = 0.25 * nc * z, 1.0
        for k in range(_TERMS, 0, -1):
            total = 1 + u / (k * (0.5 * df + k - 1)) * total
        central = sc.xlogy(0.5 * df - 1, z) - 0.5 * z - 0.5 * df * LOG_2 - sc.gammaln(0.5 * df)
        return central - 0.5 * nc + np.log(total)

    def bessel(z: Any, df: Any, nc: Any) -> Any:
        order = 0.5 * df - 1
        near = -0.5 * (np.sqrt(z) - np.sqrt(nc)) ** 2
        return 0.5 * order * (np.log(z) - np.log(nc)) + near - LOG_2 + np.log(sc.ive(order, np.sqrt(nc * z)))

    return split(nc * z < 0.2, series, bessel, (z, df, nc), (0.1, 2.0, 1.0), (1.0, 2.0, 1.0))


def _two_sided(left: Any, right: Any) -> Any:
    """One formula of z and a skewness below zero, one above."""
    return lambda z, a: split(z < 0, left, right, (z, a), (-1.0, 0.0), (1.0, 0.0))


RARER: dict[str, Univariate] = {
    # ------------------------------------------------------------------------------------------------- extreme values
    "genpareto": Continuous(
        ("c",),
        support=lambda c: (0, _reciprocal(-c, c < 0, INF)),
        spare=lambda c: 0.5 * _reciprocal(-c, c < 0, 2.0),
        valid=np.isfinite,
        logpdf=lambda z, c: -log1p_ratio(c, z) - np.log1p(c * z),
        logsf=lambda z, c: -log1p_ratio(c, z),
        ppf=lambda q, c: expm1_ratio(c, -np.log1p(-q)),
        isf=lambda q, c: expm1_ratio(c, -np.log(q)),
    ),
    "genextreme": Continuous(
        ("c",),
        support=lambda c: (_reciprocal(c, c < 0, -INF), _reciprocal(c, c > 0, INF)),
        spare=0.0,
        valid=np.isfinite,
        logpdf=lambda z, c: _extreme(z, c) - np.exp(_extreme(z, c)) - np.log1p(-c * z),
        logcdf=lambda z, c: -np.exp(_extreme(z, c)),
        ppf=lambda q, c: expm1_ratio(-c, -np.log(-np.log(q))),
    ),
    "invweibull": on_half_line(
        "c",
        logpdf=lambda z, c: np.log(c) - (c + 1) * np.log(z) - z**-c,
        vanishes_below=True,
        logcdf=lambda z, c: -(z**-c),
        ppf=lambda q, c: (-np.log(q)) ** (-1 / c),
    ),
    "weibull_max": Continuous(
        ("c",),
        support=(-INF, 0),
        spare=-1.0,
        valid=positive,
        logpdf=lambda z, c: np.log(c) + sc.xlogy(c - 1, -z) - (-z) ** c,
        logcdf=lambda z, c: -((-z) ** c),
        ppf=lambda q, c: -((-np.log(q)) ** (1 / c)),
    ),
    "gompertz": on_half_line(
        "c",
        logpdf=lambda z, c: np.log(c) + z - c * np.expm1(z),
        logsf=lambda z, c: -c * np.expm1(z),
        ppf=lambda q, c: np.log1p(-np.log1p(-q) / c),
    ),
    # --------------------------------------------------------------------------------------- positive, for times, sizes
    "erlang": dataclasses.replace(CONTINUOUS["gamma"]),
    "gibrat": on_half_line(
        logpdf=lambda z: norm_logpdf(np.log(z)) - np.log(z),
        vanishes_below=True,
        cdf=lambda z: sc.ndtr(np.log(z)),
        sf=lambda z: sc.ndtr(-np.log(z)),
        ppf=lambda q: np.exp(sc.ndtri(q)),
    ),
    "alpha": on_half_line(
        "a",
        logpdf=lambda z, a: -2 * np.log(z) + norm_logpdf(a - 1 / z) - sc.log_ndtr(a),
        vanishes_below=True,
        cdf=lambda z, a: sc.ndtr(a - 1 / z) / sc.ndtr(a),
        ppf=lambda q, a: 1 / (a - sc.ndtri(q * sc.ndtr(a))),
    ),
    "burr": on_half_line(
        "c d",
        logpdf=lambda z, c, d: (
            np.log(c) + np.log(d) - (c + 1) * np.log(z) - (d + 1) * np.logaddexp(0.0, -c * np.log(z))
        ),
        vanishes_below=True,
        logcdf=lambda z, c, d: -d * np.logaddexp(0.0, -c * np.log(z)),
        ppf=lambda q, c, d: np.exp(-np.log(np.expm1(-np.log(q) / d)) / c),
    ),
    "exponpow": on_half_line(
        "b",
        logpdf=lambda z, b: 1 + np.log(b) + sc.xlogy(b - 1, z) + z**b - np.exp(z**b),
        logsf=lambda z, b: -np.expm1(z**b),
        ppf=lambda q, b: np.log1p(-np.log1p(-q)) ** (1 / b),
    ),
    "exponweib": on_half_line(
        "a c",
        logpdf=lambda z, a, c: np.log(a) + np.log(c) + (a - 1) * log1mexp(z**c) - z**c + (c - 1) * np.log(z),
        vanishes_below=True,
        logcdf=lambda z, a, c: a * log1mexp(z**c),
        ppf=lambda q, a, c: (-np.log1p(-(q ** (1 / a)))) ** (1 / c),
    ),
    "fatiguelife": on_half_line(
        "c",
        logpdf=lambda z, c: (
            np.log1p(z) - (z - 1) ** 2 / (2 * z * c * c) - np.log(2 * c) - 0.5 * LOG_2PI - 1.5 * np.log(z)
        ),
        vanishes_below=True,
        cdf=lambda z, c: sc.ndtr((np.sqrt(z) - 1 / np.sqrt(z)) / c),
        sf=lambda z, c: sc.ndtr((1 / np.sqrt(z) - np.sqrt(z)) / c),
        ppf=lambda q, c: np.exp(2 * np.arcsinh(0.5 * c * sc.ndtri(q))),
    ),
    "genexpon": on_half_line(
        "a b c",
        logpdf=lambda z, a, b, c: np.log(a - b * np.expm1(-c * z)) - (a + b) * z - b * np.expm1(-c * z) / c,
        logsf=lambda z, a, b, c: -(a + b) * z - b * np.expm1(-c * z) / c,
    ),
    "halfgennorm": on_half_line(
        "beta",
        logpdf=lambda z, beta: np.log(beta) - sc.gammaln(1 / beta) - z**beta,
        cdf=lambda z, beta: sc.gammainc(1 / beta, z**beta),
        sf=lambda z, beta: sc.gammaincc(1 / beta, z**beta),
    ),
    "kappa3": on_half_line(
        "a",
        logpdf=lambda z, a: np.log(a) - (1 / a + 1) * np.log(a + z**a),
        cdf=lambda z, a: z * np.exp(-np.log(a + z**a) / a),
        ppf=lambda q, a: (a / np.expm1(-a * np.log(q))) ** (1 / a),
    ),
    "loglaplace": on_half_line(
        "c",
        logpdf=lambda z, c: np.log(c) - LOG_2 - np.log(z) - c * np.abs(np.log(z)),
        vanishes_below=True,
        ppf=lambda q, c: np.exp(
            split(q < 0.5, lambda q: np.log(2 * q), lambda q: -LOG_2 - np.log1p(-q), (q,), (0.25,), (0.75,)) / c
        ),
    ),
    "mielke": on_half_line(
        "k s",
        logpdf=lambda z, k, s: np.log(k) + (k - 1) * np.log(z) - (1 + k / s) * np.logaddexp(0.0, s * np.log(z)),
        vanishes_below=True,
        logcdf=lambda z, k, s: -k / s * np.logaddexp(0.0, -s * np.log(z)),
        ppf=lambda q, k, s: np.exp(-np.log(np.expm1(-s / k * np.log(q))) / s),
    ),
    "powerlognorm": on_half_line(
        "c s",
        logpdf=lambda z, c, s: (
            np.log(c) - np.log(z) - np.log(s) + norm_logpdf(np.log(z) / s) + (c - 1) * sc.log_ndtr(-np.log(z) / s)
        ),
        vanishes_below=True,
        logsf=lambda z, c, s: c * sc.log_ndtr(-np.log(z) / s),
    ),
    "geninvgauss": on_half_line(
        "p b",
        logpdf=lambda z, p, b: (p - 1) * np.log(z) - 0.5 * b * (z + 1 / z) - LOG_2 - _log_k(p, b),
        valid=lambda p, b: b > 0,
        vanishes_below=True,
    ),
    "recipinvgauss": on_half_line(
        "mu",
        logpdf=lambda z, mu: -((1 - mu * z) ** 2) / (2 * z * mu * mu) - 0.5 * (LOG_2PI + np.log(z)),
        vanishes_below=True,
    ),
    "rel_breitwigner": on_half_line(
        "rho",
        logpdf=lambda z, rho: (
            0.5 * (LOG_2 + np.log1p(rho**-2.0) - np.log1p(np.sqrt(1 + rho**-2.0)))
            + (LOG_2 - LOG_PI)
            - np.log1p(((z - rho) * (z + rho) / rho) ** 2)
        ),
    ),
    "rice": on_half_line(
        "b",
        logpdf=lambda z, b: np.log(z) - 0.5 * (z - b) ** 2 + np.log(sc.i0e(z * b)),
        valid=lambda b: b >= 0,
        vanishes_below=True,
    ),
    "ncx2": on_half_line("df nc", logpdf=_noncentral_chi2, valid=lambda df, nc: all_of(df > 0, nc >= 0)),
    # ------------------------------------------------------------------------------------------------- folded, doubled
    "foldcauchy": on_half_line(
        "c",
        logpdf=lambda z, c: np.log(1 / (1 + (z - c) ** 2) + 1 / (1 + (z + c) ** 2)) - LOG_PI,
        valid=lambda c: c >= 0,
        cdf=lambda z, c: (np.arctan(z - c) + np.arctan(z + c)) / math.pi,
        sf=lambda z, c: (np.arctan2(1.0, z - c) + np.arctan2(1.0, z + c)) / math.pi,
    ),
    "foldnorm": on_half_line(
        "c",
        logpdf=lambda z, c: np.logaddexp(norm_logpdf(z + c), norm_logpdf(z - c)),
        valid=lambda c: c >= 0,
        cdf=lambda z, c: 0.5 * (sc.erf((z - c) / math.sqrt(2)) + sc.erf((z + c) / math.sqrt(2))),
        sf=lambda z, c: sc.ndtr(c - z) + sc.ndtr(-z - c),
    ),
    "dgamma": Continuous(
        ("a",), valid=positive, logpdf=lambda z, a: sc.xlogy(a - 1, np.abs(z)) - np.abs(z) - LOG_2 - sc.gammaln(a)
    ),
    "dweibull": Continuous(
        ("c",),
        valid=positive,
        logpdf=lambda z, c: np.log(c) - LOG_2 + sc.xlogy(c - 1, np.abs(z)) - np.abs(z) ** c,
    ),
    # ---------------------------------------------------------------------------------------------------- all numbers
    "skewcauchy": Continuous(
        ("a",),
        valid=lambda a: np.abs(a) < 1,
        logpdf=_two_sided(
            lambda z, a: -LOG_PI - np.log1p((z / (1 - a)) ** 2), lambda z, a: -LOG_PI - np.log1p((z / (1 + a)) ** 2)
        ),
        cdf=_two_sided(
            lambda z, a: (1 - a) / math.pi * np.arctan2(1.0, -z / (1 - a)),
            lambda z, a: (1 - a) / 2 + (1 + a) / math.pi * np.arctan(z / (1 + a)),
        ),
    ),
    "powernorm": Continuous(
        ("c",),
        valid=positive,
        logpdf=lambda z, c: np.log(c) + norm_logpdf(z) + (c - 1) * sc.log_ndtr(-z),
        logsf=lambda z, c: c * sc.log_ndtr(-z),
        ppf=lambda q, c: -sc.ndtri(np.exp(np.log1p(-q) / c)),
    ),
    "jf_skew_t": Continuous(
        ("a", "b"),
        valid=positive,
        logpdf=lambda z, a, b: _jones_faddy(z, a, b) - (a + b - 1) * LOG_2 - sc.betaln(a, b) - 0.5 * np.log(a + b),
    ),
    "crystalball": Continuous(("beta", "m"), valid=lambda beta, m: all_of(m > 1, beta > 0), logpdf=_crystal),
    "genhyperbolic": Continuous(("p", "a", "b"), valid=lambda p, a, b: np.abs(b) < a, spare=0.0, logpdf=_hyperbolic),
    "norminvgauss": Continuous(
        ("a", "b"), valid=lambda a, b: all_of(a > 0, np.abs(b) < a), spare=0.0, logpdf=_normal_inverse_gaussian
    ),
    "levy_l": Continuous(
        support=(-INF, 0), spare=-1.0, logpdf=lambda z: -0.5 * LOG_2PI - 1.5 * np.log(np.abs(z)) - 0.5 / np.abs(z)
    ),
    # ------------------------------------------------------------------------------------------------------ intervals
    "anglit": Continuous(
        support=(-0.25 * math.pi, 0.25 * math.pi),
        spare=0.0,
        logpdf=lambda z: np.log(np.cos(2 * z)),
        cdf=lambda z: np.sin(z + 0.25 * math.pi) ** 2,
        sf=lambda z: np.cos(z + 0.25 * math.pi) ** 2,
        ppf=lambda q: np.arcsin(np.sqrt(q)) - 0.25 * math.pi,
    ),
    "argus": Continuous(
        ("chi",),
        support=(0, 1),
        spare=0.5,
        valid=positive,
        vanishes_below=True,
        logpdf=lambda z, chi: (
            3 * np.log(chi)
            - 0.5 * LOG_2PI
            - np.log(0.5 * sc.gammainc(1.5, 0.5 * chi * chi))
            + np.log(z)
            + 0.5 * np.log1p(-z * z)
            - 0.5 * chi * chi * (1 - z * z)
        ),
        sf=lambda z, chi: sc.gammainc(1.5, 0.5 * chi * chi * (1 - z) * (1 + z)) / sc.gammainc(1.5, 0.5 * chi * chi),
    ),
    "bradford": Continuous(
        ("c",),
        support=(0, 1),
        spare=0.5,
        valid=positive,
        logpdf=lambda z, c: np.log(c) - np.log1p(c * z) - np.log(np.log1p(c)),
        cdf=lambda z, c: np.log1p(c * z) / np.log1p(c),
        ppf=lambda q, c: np.expm1(q * np.log1p(c)) / c,
    ),
    "cosine": Continuous(support=(-math.pi, math.pi), spare=0.0, logpdf=lambda z: 2 * np.log(np.cos(0.5 * z)) - LOG_PI),
    "genhalflogistic": Continuous(
        ("c",),
        support=lambda c: (0, 1 / c),
        spare=lambda c: 0.5 / c,
        valid=positive,
        logpdf=lambda z, c: LOG_2 + (1 / c - 1) * np.log1p(-c * z) - 2 * np.logaddexp(0.0, np.log1p(-c * z) / c),
        cdf=lambda z, c: np.tanh(-0.5 * np.log1p(-c * z) / c),
        ppf=lambda q, c: -np.expm1(-2 * c * np.arctanh(q)) / c,
    ),
    "johnsonsb": Continuous(
        ("a", "b"),
        support=(0, 1),
        spare=0.5,
        valid=lambda a, b: b > 0,
        vanishes_below=True,
        logpdf=lambda z, a, b: np.log(b) - np.log(z) - np.log1p(-z) + norm_logpdf(a + b * sc.logit(z)),
        cdf=lambda z, a, b: sc.ndtr(a + b * sc.logit(z)),
        sf=lambda z, a, b: sc.ndtr(-a - b * sc.logit(z)),
        ppf=lambda q, a, b: sc.expit((sc.ndtri(q) - a) / b),
    ),
    "rdist": Continuous(
        ("c",),
        support=(-1, 1),
        spare=0.0,
        valid=positive,
        logpdf=lambda z, c: (
            sc.xlog1py(0.5 * c - 1, z) + sc.xlog1py(0.5 * c - 1, -z) - (c - 1) * LOG_2 - sc.betaln(0.5 * c, 0.5 * c)
        ),
    ),
    "semicircular": Continuous(
        support=(-1, 1), spare=0.0, logpdf=lambda z: LOG_2 - LOG_PI + 0.5 * (np.log1p(z) + np.log1p(-z))
    ),
    "trapezoid": Continuous(
        ("c", "d"),
        support=(0, 1),
        spare=0.5,
        valid=lambda c, d: all_of(c >= 0, c <= d, d <= 1),
        logpdf=_trapezoid,
    ),
    "truncpareto": Continuous(
        ("b", "c"),
        support=lambda b, c: (1, c),
        spare=lambda b, c: np.sqrt(c),
        valid=lambda b, c: all_of(b != 0, c > 1),
        logpdf=lambda z, b, c: np.log(np.abs(b)) - (b + 1) * np.log(z) - np.log(np.abs(np.expm1(-b * np.log(c)))),
        cdf=lambda z, b, c: np.expm1(-b * np.log(z)) / np.expm1(-b * np.log(c)),
        ppf=lambda q, b, c: np.exp(-np.log1p(q * np.expm1(-b * np.log(c))) / b),
    ),
    "truncweibull_min": Continuous(
        ("c", "a", "b"),
        support=lambda c, a, b: (a, b),
        spare=lambda c, a, b: np.where(np.isinf(b), a + 1, 0.5 * (a + b)),
        valid=lambda c, a, b: all_of(c > 0, a >= 0, b > a),
        logpdf=lambda z, c, a, b: np.log(c) + sc.xlogy(c - 1, z) - z**c + a**c - log1mexp(b**c - a**c),
        cdf=lambda z, c, a, b: np.expm1(a**c - z**c) / np.expm1(a**c - b**c),
        ppf=lambda q, c, a, b: (a**c - np.log1p(q * np.expm1(a**c - b**c))) ** (1 / c),
    ),
    "wrapcauchy": Continuous(
        ("c",),
        support=(0, 2 * math.pi),
        spare=1.0,
        valid=lambda c: all_of(c > 0, c < 1),
        logpdf=lambda z, c: np.log1p(-c) + np.log1p(c) - LOG_2PI - np.log((1 - c) ** 2 + 4 * c * np.sin(0.5 * z) ** 2),
    ),
    # --------------------------------------------------------------------------------------------------------- counts
    "planck": Discrete(
        ("lambda_",), support=(0, INF), spare=0.0, valid=positive, logpmf=lambda k, lam: log1mexp(lam) - lam * k
    ),
    "boltzmann": Discrete(
        ("lambda_", "N"),
        counts=("N",),
        support=lambda lam, N: (0, N - 1),
        spare=0.0,
        valid=lambda lam, N: all_of(lam > 0, N > 0),
        logpmf=lambda k, lam, N: log1mexp(lam) - lam * k - log1mexp(lam * N),
    ),
    "yulesimon": Discrete(
        ("alpha",),
        support=(1, INF),
        spare=1.0,
        valid=positive,
        logpmf=lambda k, alpha: np.log(alpha) + sc.betaln(k, alpha + 1),
    ),
    "zipf": Discrete(
        ("a",),
        support=(1, INF),
        spare=1.0,
        valid=lambda a: a > 1,
        logpmf=lambda k, a: -a * np.log(k) - np.log(sc.zeta(a)),
    ),
    "betanbinom": Discrete(
        ("n", "a", "b"),
        counts=("n",),
        support=(0, INF),
        spare=0.0,
        valid=lambda n, a, b: all_of(n >= 0, a > 0, b > 0),
        logpmf=lambda k, n, a, b: -np.log(n + k) - sc.betaln(n, k + 1) + sc.betaln(a + n, b + k) - sc.betaln(a, b),
    ),
}
for _name, _row in RARER.items():
    _row.name = _name
