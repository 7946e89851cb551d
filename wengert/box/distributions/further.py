"""More distributions of one number: priors of scales, extreme values, survival times, counts; mostly densities only.

As in `continuous.py` each is a row of formulas in the standardised variable. What a row does not state is derived where
that is possible, and otherwise refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.distributions.continuous import Continuous
from wengert.box.distributions.discrete import Discrete
from wengert.box.distributions.univariate import INF, Univariate, all_of, log1mexp, split

LOG_2, LOG_PI, LOG_2PI = math.log(2), math.log(math.pi), math.log(2 * math.pi)


def _positive(*shapes: Any) -> Any:
    return all_of(*[s > 0 for s in shapes])


def _norm_logpdf(z: Any) -> Any:
    return -0.5 * z * z - 0.5 * LOG_2PI


def _half(formula: Any, **others: Any) -> Continuous:
    return Continuous(support=(0, INF), logpdf=formula, **others)


FURTHER: dict[str, Univariate] = {
    # ----------------------------------------------------------------------------------- positive, for scales and times
    "halfnorm": _half(
        lambda z: LOG_2 + _norm_logpdf(z),
        cdf=lambda z: 1 - 2 * sc.ndtr(-z),
        sf=lambda z: 2 * sc.ndtr(-z),
        logsf=lambda z: LOG_2 + sc.log_ndtr(-z),
        ppf=lambda q: -sc.ndtri(0.5 * (1 - q)),
        isf=lambda q: -sc.ndtri(0.5 * q),
        mean=lambda: math.sqrt(2 / math.pi),
        var=lambda: 1 - 2 / math.pi,
    ),
    "halfcauchy": _half(
        lambda z: LOG_2 - LOG_PI - np.log1p(z * z),
        cdf=lambda z: (2 / math.pi) * np.arctan(z),
        sf=lambda z: (2 / math.pi) * np.arctan2(1.0, z),
        ppf=lambda q: np.tan(0.5 * math.pi * q),
    ),
    "halflogistic": _half(
        lambda z: LOG_2 - z - 2 * np.log1p(np.exp(-z)),
        cdf=lambda z: np.tanh(0.5 * z),
        sf=lambda z: 2 * sc.expit(-z),
        ppf=lambda q: 2 * np.arctanh(q),
    ),
    "rayleigh": _half(
        lambda z: np.log(z) - 0.5 * z * z,
        vanishes_below=True,
        cdf=lambda z: -np.expm1(-0.5 * z * z),
        sf=lambda z: np.exp(-0.5 * z * z),
        logcdf=lambda z: log1mexp(0.5 * z * z),
        logsf=lambda z: -0.5 * z * z,
        ppf=lambda q: np.sqrt(-2 * np.log1p(-q)),
    ),
    "maxwell": _half(
        lambda z: 0.5 * (LOG_2 - LOG_PI) + 2 * np.log(z) - 0.5 * z * z,
        vanishes_below=True,
        cdf=lambda z: sc.gammainc(1.5, 0.5 * z * z),
        sf=lambda z: sc.gammaincc(1.5, 0.5 * z * z),
    ),
    "chi": Continuous(
        ("df",),
        support=(0, INF),
        valid=_positive,
        logpdf=lambda z, df: (1 - 0.5 * df) * LOG_2 - sc.gammaln(0.5 * df) + sc.xlogy(df - 1, z) - 0.5 * z * z,
    ),
    "lomax": Continuous(
        ("c",),
        support=(0, INF),
        valid=_positive,
        logpdf=lambda z, c: np.log(c) - (c + 1) * np.log1p(z),
        cdf=lambda z, c: -np.expm1(-c * np.log1p(z)),
        sf=lambda z, c: np.exp(-c * np.log1p(z)),
        logsf=lambda z, c: -c * np.log1p(z),
        ppf=lambda q, c: np.expm1(-np.log1p(-q) / c),
    ),
    "fisk": Continuous(
        ("c",),
        support=(0, INF),
        valid=_positive,
        vanishes_below=True,
        logpdf=lambda z, c: np.log(c) - np.log(z) + c * np.log(z) - 2 * np.logaddexp(0.0, c * np.log(z)),
        cdf=lambda z, c: sc.expit(c * np.log(z)),
        sf=lambda z, c: sc.expit(-c * np.log(z)),
        logsf=lambda z, c: sc.log_expit(-c * np.log(z)),
        ppf=lambda q, c: np.exp(sc.logit(q) / c),
    ),
    "burr12": Continuous(
        ("c", "d"),
        support=(0, INF),
        valid=_positive,
        vanishes_below=True,
        logpdf=lambda z, c, d: np.log(c) + np.log(d) + (c - 1) * np.log(z) - (d + 1) * np.logaddexp(0.0, c * np.log(z)),
        sf=lambda z, c, d: np.exp(-d * np.logaddexp(0.0, c * np.log(z))),
    ),
    "gengamma": Continuous(
        ("a", "c"),
        support=(0, INF),
        valid=lambda a, c: all_of(a > 0, c != 0),
        vanishes_below=True,
        logpdf=lambda z, a, c: np.log(np.abs(c)) + (c * a - 1) * np.log(z) - z**c - sc.gammaln(a),
    ),
    "nakagami": Continuous(
        ("nu",),
        support=(0, INF),
        valid=_positive,
        vanishes_below=True,
        logpdf=lambda z, nu: LOG_2 + nu * np.log(nu) - sc.gammaln(nu) + (2 * nu - 1) * np.log(z) - nu * z * z,
    ),
    "invgauss": Continuous(
        ("mu",),
        support=(0, INF),
        valid=_positive,
        vanishes_below=True,
        logpdf=lambda z, mu: -0.5 * LOG_2PI - 1.5 * np.log(z) - (z - mu) ** 2 / (2 * z * mu**2),
    ),
    "wald": _half(lambda z: -0.5 * LOG_2PI - 1.5 * np.log(z) - (z - 1) ** 2 / (2 * z), vanishes_below=True),
    "levy": _half(lambda z: -0.5 * LOG_2PI - 1.5 * np.log(z) - 0.5 / z, vanishes_below=True),
    "betaprime": Continuous(
        ("a", "b"),
        support=(0, INF),
        valid=_positive,
        logpdf=lambda z, a, b: sc.xlogy(a - 1, z) - (a + b) * np.log1p(z) - sc.betaln(a, b),
    ),
    # ------------------------------------------------------------------------------------------------------ all numbers
    "gumbel_r": Continuous(
        logpdf=lambda z: -z - np.exp(-z),
        cdf=lambda z: np.exp(-np.exp(-z)),
        sf=lambda z: -np.expm1(-np.exp(-z)),
        logcdf=lambda z: -np.exp(-z),
        ppf=lambda q: -np.log(-np.log(q)),
        mean=lambda: np.euler_gamma,
        var=lambda: math.pi**2 / 6,
    ),
    "gumbel_l": Continuous(
        logpdf=lambda z: z - np.exp(z),
        cdf=lambda z: -np.expm1(-np.exp(z)),
        sf=lambda z: np.exp(-np.exp(z)),
        logsf=lambda z: -np.exp(z),
        ppf=lambda q: np.log(-np.log1p(-q)),
        mean=lambda: -np.euler_gamma,
        var=lambda: math.pi**2 / 6,
    ),
    "skewnorm": Continuous(("a",), logpdf=lambda z, a: LOG_2 + _norm_logpdf(z) + sc.log_ndtr(a * z)),
    "gennorm": Continuous(
        ("beta",),
        valid=_positive,
        logpdf=lambda z, beta: np.log(beta) - LOG_2 - sc.gammaln(1 / beta) - np.abs(z) ** beta,
    ),
    "exponnorm": Continuous(
        ("K",),
        valid=_positive,
        logpdf=lambda z, K: 0.5 / K**2 - z / K - np.log(K) + sc.log_ndtr(z - 1 / K),
    ),
    "hypsecant": Continuous(
        logpdf=lambda z: LOG_2 - LOG_PI - np.logaddexp(z, -z),
        cdf=lambda z: (2 / math.pi) * np.arctan(np.exp(z)),
        sf=lambda z: (2 / math.pi) * np.arctan(np.exp(-z)),
    ),
    "genlogistic": Continuous(
        ("c",), valid=_positive, logpdf=lambda z, c: np.log(c) - z - (c + 1) * np.logaddexp(0.0, -z)
    ),
    "johnsonsu": Continuous(
        ("a", "b"),
        valid=lambda a, b: b > 0,
        logpdf=lambda z, a, b: np.log(b) - 0.5 * np.log1p(z * z) + _norm_logpdf(a + b * np.arcsinh(z)),
    ),
    "moyal": Continuous(logpdf=lambda z: -0.5 * (z + np.exp(-z)) - 0.5 * LOG_2PI),
    "loggamma": Continuous(("c",), valid=_positive, logpdf=lambda z, c: c * z - np.exp(z) - sc.gammaln(c)),
    "laplace_asymmetric": Continuous(
        ("kappa",),
        valid=_positive,
        logpdf=lambda z, kappa: (
            split(z < 0, lambda z, k: z / k, lambda z, k: -z * k, (z, kappa), (-1.0, 1.0), (1.0, 1.0))
            - np.log(kappa + 1 / kappa)
        ),
    ),
    "vonmises": Continuous(
        ("kappa",),
        valid=lambda kappa: kappa >= 0,
        logpdf=lambda z, kappa: kappa * (np.cos(z) - 1) - LOG_2PI - np.log(sc.i0e(kappa)),
    ),
    # -------------------------------------------------------------------------------------------------------- intervals
    "powerlaw": Continuous(
        ("a",),
        support=(0, 1),
        spare=0.5,
        valid=_positive,
        logpdf=lambda z, a: np.log(a) + sc.xlogy(a - 1, z),
        cdf=lambda z, a: z**a,
        ppf=lambda q, a: q ** (1 / a),
    ),
    "arcsine": Continuous(
        support=(0, 1),
        spare=0.5,
        logpdf=lambda z: -LOG_PI - 0.5 * np.log(z) - 0.5 * np.log1p(-z),
        cdf=lambda z: (2 / math.pi) * np.arcsin(np.sqrt(z)),
        ppf=lambda q: np.sin(0.5 * math.pi * q) ** 2,
    ),
    "triang": Continuous(
        ("c",),
        support=(0, 1),
        spare=0.5,
        valid=lambda c: all_of(c >= 0, c <= 1),
        logpdf=lambda z, c: (
            LOG_2
            + split(
                z < c,
                lambda z, c: np.log(z) - np.log(c),
                lambda z, c: np.log1p(-z) - np.log1p(-c),
                (z, c),
                (0.25, 0.5),
                (0.75, 0.5),
            )
        ),
    ),
    "reciprocal": Continuous(
        ("a", "b"),
        support=lambda a, b: (a, b),
        spare=lambda a, b: np.sqrt(a * b),
        valid=lambda a, b: all_of(a > 0, b > a),
        logpdf=lambda z, a, b: -np.log(z) - np.log(np.log(b) - np.log(a)),
        cdf=lambda z, a, b: (np.log(z) - np.log(a)) / (np.log(b) - np.log(a)),
        ppf=lambda q, a, b: a * np.exp(q * (np.log(b) - np.log(a))),
    ),
    "truncexpon": Continuous(
        ("b",),
        support=lambda b: (0, b),
        spare=lambda b: 0.5 * b,
        valid=_positive,
        logpdf=lambda z, b: -z - log1mexp(b),
    ),
    # ----------------------------------------------------------------------------------------------------------- counts
    "randint": Discrete(
        ("low", "high"),
        counts=("low", "high"),
        support=lambda low, high: (low, high - 1),
        spare=lambda low, high: low,
        valid=lambda low, high: high > low,
        logpmf=lambda k, low, high: -np.log(high - low) + 0.0 * k,
    ),
    "betabinom": Discrete(
        ("n", "a", "b"),
        counts=("n",),
        support=lambda n, a, b: (0, n),
        spare=0.0,
        valid=lambda n, a, b: all_of(n >= 0, a > 0, b > 0),
        logpmf=lambda k, n, a, b: (
            -np.log(n + 1) - sc.betaln(n - k + 1, k + 1) + sc.betaln(k + a, n - k + b) - sc.betaln(a, b)
        ),
    ),
    "logser": Discrete(
        ("p",),
        support=(1, INF),
        spare=1.0,
        valid=lambda p: all_of(p > 0, p < 1),
        logpmf=lambda k, p: k * np.log(p) - np.log(k) - np.log(-np.log1p(-p)),
    ),
    "dlaplace": Discrete(
        ("a",),
        support=(-INF, INF),
        spare=0.0,
        valid=_positive,
        logpmf=lambda k, a: np.log(np.tanh(0.5 * a)) - a * np.abs(k),
    ),
}
for _name, _row in FURTHER.items():
    _row.name = _name
