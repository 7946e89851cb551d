"""More distributions of one number: priors of scales, extreme values, survival times, counts.

As in `continuous.py` each is a row of formulas in the standardised variable. What a row does not state is derived where
that is possible, and otherwise refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.distributions.continuous import LOG_2, LOG_2PI, LOG_PI, Continuous, norm_logpdf, on_half_line, positive
from wengert.box.distributions.discrete import Discrete
from wengert.box.distributions.univariate import INF, Univariate, all_of, log1mexp, split


def _either_tail(lower: Any, a: Any, x: Any) -> Any:
    """The regularised incomplete gamma function from below, or its complement."""
    return split(lower, lambda a, x: sc.gammainc(a, x), lambda a, x: sc.gammaincc(a, x), (a, x), (1.0, 1.0), (1.0, 1.0))


def _log_passed(z: Any, mu: Any) -> Any:
    """log of the probability that Brownian motion with drift 1/μ has passed 1 at time z."""
    first = sc.log_ndtr((z / mu - 1) / np.sqrt(z))
    return np.logaddexp(first, 2 / mu + sc.log_ndtr(-(z / mu + 1) / np.sqrt(z)))


def _log_not_passed(z: Any, mu: Any) -> Any:
    first = sc.log_ndtr((1 - z / mu) / np.sqrt(z))
    return first + log1mexp(first - 2 / mu - sc.log_ndtr(-(z / mu + 1) / np.sqrt(z)))


def _power_tail(z: Any, beta: Any) -> Any:
    """The probability of more than z where the density is that of exp(−|z|^β)."""
    return split(
        z > 0,
        lambda z, beta: 0.5 * sc.gammaincc(1 / beta, z**beta),
        lambda z, beta: 1 - 0.5 * sc.gammaincc(1 / beta, (-z) ** beta),
        (z, beta),
        (1.0, 1.0),
        (-1.0, 1.0),
    )


def _one_side(z: Any, kappa: Any) -> Any:
    """The probability of more than z where the density falls as exp(−κz) above zero and as exp(z/κ) below."""
    above = 1 / (1 + kappa * kappa)
    return split(
        z > 0,
        lambda z, k, above: above * np.exp(-z * k),
        lambda z, k, above: 1 - (1 - above) * np.exp(z / k),
        (z, kappa, above),
        (1.0, 1.0, 0.5),
        (-1.0, 1.0, 0.5),
    )


def _triangle(z: Any, c: Any, rising: bool) -> Any:
    """The probability of less than z, or (not `rising`) of more."""
    below, above = (lambda y: y, lambda y: 1 - y) if rising else (lambda y: 1 - y, lambda y: y)
    return split(
        z < c,
        lambda z, c: below(z * z / c),
        lambda z, c: above((1 - z) ** 2 / (1 - c)),
        (z, c),
        (0.25, 0.5),
        (0.75, 0.5),
    )


FURTHER: dict[str, Univariate] = {
    # ----------------------------------------------------------------------------------- positive, for scales and times
    "halfnorm": on_half_line(
        logpdf=lambda z: LOG_2 + norm_logpdf(z),
        cdf=lambda z: 1 - 2 * sc.ndtr(-z),
        sf=lambda z: 2 * sc.ndtr(-z),
        logsf=lambda z: LOG_2 + sc.log_ndtr(-z),
        ppf=lambda q: -sc.ndtri(0.5 * (1 - q)),
        isf=lambda q: -sc.ndtri(0.5 * q),
        mean=lambda: math.sqrt(2 / math.pi),
        var=lambda: 1 - 2 / math.pi,
    ),
    "halfcauchy": on_half_line(
        logpdf=lambda z: LOG_2 - LOG_PI - np.log1p(z * z),
        cdf=lambda z: (2 / math.pi) * np.arctan(z),
        sf=lambda z: (2 / math.pi) * np.arctan2(1.0, z),
        ppf=lambda q: np.tan(0.5 * math.pi * q),
    ),
    "halflogistic": on_half_line(
        logpdf=lambda z: LOG_2 - z - 2 * np.log1p(np.exp(-z)),
        cdf=lambda z: np.tanh(0.5 * z),
        sf=lambda z: 2 * sc.expit(-z),
        ppf=lambda q: 2 * np.arctanh(q),
    ),
    "rayleigh": on_half_line(
        logpdf=lambda z: np.log(z) - 0.5 * z * z,
        vanishes_below=True,
        logsf=lambda z: -0.5 * z * z,
        ppf=lambda q: np.sqrt(-2 * np.log1p(-q)),
    ),
    "maxwell": on_half_line(
        logpdf=lambda z: 0.5 * (LOG_2 - LOG_PI) + 2 * np.log(z) - 0.5 * z * z,
        vanishes_below=True,
        cdf=lambda z: sc.gammainc(1.5, 0.5 * z * z),
        sf=lambda z: sc.gammaincc(1.5, 0.5 * z * z),
    ),
    "chi": on_half_line(
        "df",
        logpdf=lambda z, df: (1 - 0.5 * df) * LOG_2 - sc.gammaln(0.5 * df) + sc.xlogy(df - 1, z) - 0.5 * z * z,
        cdf=lambda z, df: sc.gammainc(0.5 * df, 0.5 * z * z),
        sf=lambda z, df: sc.gammaincc(0.5 * df, 0.5 * z * z),
        ppf=lambda q, df: np.sqrt(2 * sc.gammaincinv(0.5 * df, q)),
        isf=lambda q, df: np.sqrt(2 * sc.gammainccinv(0.5 * df, q)),
    ),
    "lomax": on_half_line(
        "c",
        logpdf=lambda z, c: np.log(c) - (c + 1) * np.log1p(z),
        logsf=lambda z, c: -c * np.log1p(z),
        ppf=lambda q, c: np.expm1(-np.log1p(-q) / c),
    ),
    "fisk": on_half_line(
        "c",
        vanishes_below=True,
        logpdf=lambda z, c: np.log(c) - np.log(z) + c * np.log(z) - 2 * np.logaddexp(0.0, c * np.log(z)),
        cdf=lambda z, c: sc.expit(c * np.log(z)),
        sf=lambda z, c: sc.expit(-c * np.log(z)),
        logsf=lambda z, c: sc.log_expit(-c * np.log(z)),
        ppf=lambda q, c: np.exp(sc.logit(q) / c),
    ),
    "burr12": on_half_line(
        "c d",
        vanishes_below=True,
        logpdf=lambda z, c, d: np.log(c) + np.log(d) + (c - 1) * np.log(z) - (d + 1) * np.logaddexp(0.0, c * np.log(z)),
        logsf=lambda z, c, d: -d * np.logaddexp(0.0, c * np.log(z)),
        ppf=lambda q, c, d: np.expm1(-np.log1p(-q) / d) ** (1 / c),
    ),
    "gengamma": Continuous(
        ("a", "c"),
        support=(0, INF),
        valid=lambda a, c: all_of(a > 0, c != 0),
        vanishes_below=True,
        logpdf=lambda z, a, c: np.log(np.abs(c)) + (c * a - 1) * np.log(z) - z**c - sc.gammaln(a),
        cdf=lambda z, a, c: _either_tail(c > 0, a, z**c),
        sf=lambda z, a, c: _either_tail(c < 0, a, z**c),
    ),
    "nakagami": on_half_line(
        "nu",
        vanishes_below=True,
        logpdf=lambda z, nu: LOG_2 + nu * np.log(nu) - sc.gammaln(nu) + (2 * nu - 1) * np.log(z) - nu * z * z,
        cdf=lambda z, nu: sc.gammainc(nu, nu * z * z),
        sf=lambda z, nu: sc.gammaincc(nu, nu * z * z),
        ppf=lambda q, nu: np.sqrt(sc.gammaincinv(nu, q) / nu),
        isf=lambda q, nu: np.sqrt(sc.gammainccinv(nu, q) / nu),
    ),
    "invgauss": on_half_line(
        "mu",
        vanishes_below=True,
        logpdf=lambda z, mu: -0.5 * LOG_2PI - 1.5 * np.log(z) - (z - mu) ** 2 / (2 * z * mu**2),
        cdf=lambda z, mu: np.exp(_log_passed(z, mu)),
        sf=lambda z, mu: np.exp(_log_not_passed(z, mu)),
        logcdf=lambda z, mu: _log_passed(z, mu),
        logsf=lambda z, mu: _log_not_passed(z, mu),
    ),
    "wald": on_half_line(
        logpdf=lambda z: -0.5 * LOG_2PI - 1.5 * np.log(z) - (z - 1) ** 2 / (2 * z),
        vanishes_below=True,
        cdf=lambda z: np.exp(_log_passed(z, 1.0)),
        sf=lambda z: np.exp(_log_not_passed(z, 1.0)),
        logcdf=lambda z: _log_passed(z, 1.0),
        logsf=lambda z: _log_not_passed(z, 1.0),
    ),
    "levy": on_half_line(
        logpdf=lambda z: -0.5 * LOG_2PI - 1.5 * np.log(z) - 0.5 / z,
        vanishes_below=True,
        cdf=lambda z: sc.erfc(np.sqrt(0.5 / z)),
        sf=lambda z: sc.erf(np.sqrt(0.5 / z)),
        ppf=lambda q: 1 / sc.ndtri(0.5 * q) ** 2,
        isf=lambda q: 0.5 / sc.erfinv(q) ** 2,
    ),
    "betaprime": on_half_line(
        "a b",
        logpdf=lambda z, a, b: sc.xlogy(a - 1, z) - (a + b) * np.log1p(z) - sc.betaln(a, b),
        cdf=lambda z, a, b: sc.betainc(a, b, z / (1 + z)),
        sf=lambda z, a, b: sc.betainc(b, a, 1 / (1 + z)),
    ),
    # ------------------------------------------------------------------------------------------------------ all numbers
    "gumbel_r": Continuous(
        logpdf=lambda z: -z - np.exp(-z),
        logcdf=lambda z: -np.exp(-z),
        ppf=lambda q: -np.log(-np.log(q)),
        mean=lambda: np.euler_gamma,
        var=lambda: math.pi**2 / 6,
    ),
    "gumbel_l": Continuous(
        logpdf=lambda z: z - np.exp(z),
        logsf=lambda z: -np.exp(z),
        ppf=lambda q: np.log(-np.log1p(-q)),
        mean=lambda: -np.euler_gamma,
        var=lambda: math.pi**2 / 6,
    ),
    "skewnorm": Continuous(("a",), logpdf=lambda z, a: LOG_2 + norm_logpdf(z) + sc.log_ndtr(a * z)),
    "gennorm": Continuous(
        ("beta",),
        valid=positive,
        logpdf=lambda z, beta: np.log(beta) - LOG_2 - sc.gammaln(1 / beta) - np.abs(z) ** beta,
        cdf=lambda z, beta: _power_tail(-z, beta),
        sf=lambda z, beta: _power_tail(z, beta),
    ),
    "exponnorm": Continuous(
        ("K",),
        valid=positive,
        logpdf=lambda z, K: 0.5 / K**2 - z / K - np.log(K) + sc.log_ndtr(z - 1 / K),
        cdf=lambda z, K: sc.ndtr(z) - np.exp(0.5 / K**2 - z / K + sc.log_ndtr(z - 1 / K)),
        sf=lambda z, K: sc.ndtr(-z) + np.exp(0.5 / K**2 - z / K + sc.log_ndtr(z - 1 / K)),
    ),
    "hypsecant": Continuous(
        logpdf=lambda z: LOG_2 - LOG_PI - np.logaddexp(z, -z),
        cdf=lambda z: (2 / math.pi) * np.arctan(np.exp(z)),
        sf=lambda z: (2 / math.pi) * np.arctan(np.exp(-z)),
    ),
    "genlogistic": Continuous(
        ("c",),
        valid=positive,
        logpdf=lambda z, c: np.log(c) - z - (c + 1) * np.logaddexp(0.0, -z),
        logcdf=lambda z, c: -c * np.logaddexp(0.0, -z),
        ppf=lambda q, c: -np.log(np.expm1(-np.log(q) / c)),
    ),
    "johnsonsu": Continuous(
        ("a", "b"),
        valid=lambda a, b: b > 0,
        logpdf=lambda z, a, b: np.log(b) - 0.5 * np.log1p(z * z) + norm_logpdf(a + b * np.arcsinh(z)),
        cdf=lambda z, a, b: sc.ndtr(a + b * np.arcsinh(z)),
        sf=lambda z, a, b: sc.ndtr(-a - b * np.arcsinh(z)),
        logcdf=lambda z, a, b: sc.log_ndtr(a + b * np.arcsinh(z)),
        logsf=lambda z, a, b: sc.log_ndtr(-a - b * np.arcsinh(z)),
        ppf=lambda q, a, b: np.sinh((sc.ndtri(q) - a) / b),
        isf=lambda q, a, b: np.sinh((-sc.ndtri(q) - a) / b),
    ),
    "moyal": Continuous(
        logpdf=lambda z: -0.5 * (z + np.exp(-z)) - 0.5 * LOG_2PI,
        cdf=lambda z: sc.erfc(np.exp(-0.5 * z) / math.sqrt(2)),
        sf=lambda z: sc.erf(np.exp(-0.5 * z) / math.sqrt(2)),
        ppf=lambda q: -np.log(2 * sc.erfcinv(q) ** 2),
    ),
    "loggamma": Continuous(
        ("c",),
        valid=positive,
        logpdf=lambda z, c: c * z - np.exp(z) - sc.gammaln(c),
        cdf=lambda z, c: sc.gammainc(c, np.exp(z)),
        sf=lambda z, c: sc.gammaincc(c, np.exp(z)),
    ),
    "laplace_asymmetric": Continuous(
        ("kappa",),
        valid=positive,
        logpdf=lambda z, kappa: (
            split(z < 0, lambda z, k: z / k, lambda z, k: -z * k, (z, kappa), (-1.0, 1.0), (1.0, 1.0))
            - np.log(kappa + 1 / kappa)
        ),
        cdf=lambda z, kappa: _one_side(-z, 1 / kappa),
        sf=lambda z, kappa: _one_side(z, kappa),
        logcdf=lambda z, kappa: np.log(_one_side(-z, 1 / kappa)),
        logsf=lambda z, kappa: np.log(_one_side(z, kappa)),
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
        valid=positive,
        logpdf=lambda z, a: np.log(a) + sc.xlogy(a - 1, z),
        cdf=lambda z, a: z**a,
        sf=lambda z, a: -np.expm1(sc.xlogy(a, z)),
        ppf=lambda q, a: q ** (1 / a),
    ),
    "arcsine": Continuous(
        support=(0, 1),
        spare=0.5,
        logpdf=lambda z: -LOG_PI - 0.5 * np.log(z) - 0.5 * np.log1p(-z),
        cdf=lambda z: (2 / math.pi) * np.arcsin(np.sqrt(z)),
        sf=lambda z: (2 / math.pi) * np.arcsin(np.sqrt(1 - z)),
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
        cdf=lambda z, c: _triangle(z, c, True),
        sf=lambda z, c: _triangle(z, c, False),
        ppf=lambda q, c: split(
            q < c,
            lambda q, c: np.sqrt(c * q),
            lambda q, c: 1 - np.sqrt((1 - c) * (1 - q)),
            (q, c),
            (0.25, 0.5),
            (0.75, 0.5),
        ),
    ),
    "reciprocal": Continuous(
        ("a", "b"),
        support=lambda a, b: (a, b),
        spare=lambda a, b: np.sqrt(a * b),
        valid=lambda a, b: all_of(a > 0, b > a),
        logpdf=lambda z, a, b: -np.log(z) - np.log(np.log(b) - np.log(a)),
        cdf=lambda z, a, b: (np.log(z) - np.log(a)) / (np.log(b) - np.log(a)),
        sf=lambda z, a, b: (np.log(b) - np.log(z)) / (np.log(b) - np.log(a)),
        ppf=lambda q, a, b: a * np.exp(q * (np.log(b) - np.log(a))),
    ),
    "truncexpon": Continuous(
        ("b",),
        support=lambda b: (0, b),
        spare=lambda b: 0.5 * b,
        valid=positive,
        logpdf=lambda z, b: -z - log1mexp(b),
        cdf=lambda z, b: np.expm1(-z) / np.expm1(-b),
        sf=lambda z, b: np.exp(-z) * np.expm1(z - b) / np.expm1(-b),
        ppf=lambda q, b: -np.log1p(q * np.expm1(-b)),
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
        valid=positive,
        logpmf=lambda k, a: np.log(np.tanh(0.5 * a)) - a * np.abs(k),
    ),
}
for _name, _row in FURTHER.items():
    _row.name = _name
