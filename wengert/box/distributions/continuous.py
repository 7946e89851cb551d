"""Continuous distributions: one row each, in the standardised variable z and the shape parameters.

Formulas are those that keep their digits far out: logarithms of tails are stated where the tail itself underflows,
complements (`sf`) are never 1 − cdf unless that is exact, and densities go through their logarithms, unless they have
a zero at the boundary, where the logarithm has no derivative but the density has. Tails that are the exponential of a
stated logarithm, or 1 less it, are not stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.distributions.tails import TINY, log_beta_fraction, log_betainc, log_gammainc, log_gammaincc
from wengert.box.distributions.univariate import (
    INF,
    OUTSIDE,
    Formula,
    Univariate,
    all_of,
    checked,
    either,
    log1mexp,
    log_of,
    shaped,
    split,
)
from wengert.ops.incomplete import beta_density, gamma_density
from wengert.ops.special import NODES, WEIGHTS
from wengert.ops.student import log1p_square, student_cdf, student_log_density, student_quantile

LOG_2, LOG_PI, LOG_2PI = math.log(2), math.log(math.pi), math.log(2 * math.pi)


@dataclass
class Continuous(Univariate):
    """A continuous distribution."""

    logpdf: Formula | None = None
    pdf: Formula | None = None
    ppf: Formula | None = None
    isf: Formula | None = None
    vanishes_below: bool = False
    """Whether the density tends to zero at the lower end of the support, where the formula gives no number."""

    def evaluation(self, name: str) -> Callable | None:
        if name in ("pdf", "logpdf"):
            return self._log_density if name == "logpdf" else self._density if self.pdf else self._exp_of_log_density
        if name in OUTSIDE:
            formula = self.cumulative(name)
            return formula and (lambda x, *parameters: self._cumulative(formula, name, x, *parameters))
        if name in ("ppf", "isf"):
            formula = getattr(self, name)
            return formula and (lambda q, *parameters: self._quantile(formula, q, *parameters))
        if name == "median":
            return self.ppf and (lambda *parameters: self._quantile(self.ppf, 0.5, *parameters))
        if name in ("entropy", "mean", "var", "std"):
            formula = self.var if name == "std" else getattr(self, name)
            return formula and (lambda *parameters: self._property(name, formula, *parameters))
        return None

    def _is_outside(self, z: Any, shapes: tuple) -> Any:
        low, high = self.bounds(shapes)
        return either(z <= low if self.vanishes_below else z < low, z > high, np.isinf(z))

    def _are_valid(self, shapes: tuple, scale: Any) -> Any:
        return all_of(self.are_valid(shapes), scale > 0)

    def _log_density(self, x: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        outside = self._is_outside(z, shapes)
        spare = self.spare_point(shapes)
        y = split(
            outside,
            lambda *args: -INF,
            lambda z, scale: self.logpdf(z, *shapes) - np.log(scale),  # type: ignore[misc]
            (z, scale),
            (spare, 1.0),
            (spare, 1.0),
        )
        return checked(shaped(y, z, scale, *shapes), self._are_valid(shapes, scale))

    def _exp_of_log_density(self, x: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        return np.exp(self._log_density(x, shapes, loc, scale))

    def _density(self, x: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        z, spare = (x - loc) / scale, self.spare_point(shapes)
        outside = self._is_outside(z, shapes)
        y = split(outside, lambda z: 0.0, lambda z: self.pdf(z, *shapes), (z,), (spare,), (spare,))  # type: ignore[misc]
        return checked(shaped(y / scale, z, scale, *shapes), self._are_valid(shapes, scale))

    def _cumulative(self, formula: Any, name: str, x: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        y = self.cumulated(formula, name, z, self._is_outside(z, shapes), shapes)
        return checked(shaped(y, z, scale, *shapes), self._are_valid(shapes, scale))

    def _quantile(self, formula: Any, q: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        valid = all_of(self._are_valid(shapes, scale), q >= 0, q <= 1)
        y = split(either(q < 0, q > 1), lambda q: np.nan, lambda q: formula(q, *shapes), (q,), (0.5,), (0.5,))
        return checked(shaped(loc + scale * y, q, loc, scale, *shapes), valid)

    def _property(self, name: str, formula: Formula, shapes: tuple, loc: Any, scale: Any) -> Any:
        y = formula(*shapes)
        if name == "entropy":
            y = y + np.log(scale)
        elif name == "mean":
            y = loc + scale * y
        else:
            y = scale * np.sqrt(y) if name == "std" else scale * scale * y
        return checked(shaped(y, loc, scale, *shapes), self._are_valid(shapes, scale))


CONTINUOUS: dict[str, Continuous] = {}


def positive(*shapes: Any) -> Any:
    """All shape parameters are positive."""
    return all_of(*[s > 0 for s in shapes])


def on_half_line(shapes: str = "", **formulas: Any) -> Continuous:
    """A distribution of positive numbers, with positive shape parameters unless `valid` says otherwise."""
    return Continuous(tuple(shapes.split()), support=(0, INF), **{"valid": positive if shapes else None, **formulas})


def _moment(exists: Callable, formula: Callable) -> Formula:
    """A moment that is infinite unless its condition holds."""

    def moment(*shapes: Any) -> Any:
        mask = exists(*shapes)
        spares = tuple(5.0 for _ in shapes)
        return split(mask, formula, lambda *shapes: INF, shapes, spares, spares)

    return moment


# ------------------------------------------------------------------------------------------------ elementary formulas

CONTINUOUS["uniform"] = Continuous(
    support=(0, 1),
    spare=0.5,
    logpdf=lambda z: 0 * z,
    cdf=lambda z: z,
    sf=lambda z: 1 - z,
    ppf=lambda q: q,
    isf=lambda q: 1 - q,
    entropy=lambda: 0.0,
    mean=lambda: 0.5,
    var=lambda: 1 / 12,
)

CONTINUOUS["expon"] = Continuous(
    support=(0, INF),
    logpdf=lambda z: -z,
    logsf=lambda z: -z,
    ppf=lambda q: -np.log1p(-q),
    isf=lambda q: -np.log(q),
    entropy=lambda: 1.0,
    mean=lambda: 1.0,
    var=lambda: 1.0,
)


def _halved(left: Callable, right: Callable) -> Formula:
    """One formula for z < 0 and one for z ≥ 0."""
    return lambda z: split(z < 0, left, right, (z,), (-1.0,), (1.0,))


CONTINUOUS["laplace"] = Continuous(
    logpdf=lambda z: -np.abs(z) - LOG_2,
    cdf=_halved(lambda z: 0.5 * np.exp(z), lambda z: 1 - 0.5 * np.exp(-z)),
    sf=_halved(lambda z: 1 - 0.5 * np.exp(z), lambda z: 0.5 * np.exp(-z)),
    logcdf=_halved(lambda z: z - LOG_2, lambda z: np.log1p(-0.5 * np.exp(-z))),
    logsf=_halved(lambda z: np.log1p(-0.5 * np.exp(z)), lambda z: -z - LOG_2),
    ppf=lambda q: split(q < 0.5, lambda q: np.log(2 * q), lambda q: -LOG_2 - np.log1p(-q), (q,), (0.25,), (0.75,)),
    isf=lambda q: split(q < 0.5, lambda q: -np.log(2 * q), lambda q: LOG_2 + np.log1p(-q), (q,), (0.25,), (0.75,)),
    entropy=lambda: 1 + LOG_2,
    mean=lambda: 0.0,
    var=lambda: 2.0,
)

CONTINUOUS["logistic"] = Continuous(
    logpdf=lambda z: z - 2 * np.logaddexp(0.0, z),
    cdf=lambda z: sc.expit(z),
    sf=lambda z: sc.expit(-z),
    logcdf=lambda z: sc.log_expit(z),
    logsf=lambda z: sc.log_expit(-z),
    ppf=lambda q: sc.logit(q),
    isf=lambda q: -sc.logit(q),
    entropy=lambda: 2.0,
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 3,
)


def _cotangent(q: Any) -> Any:
    """1 / tan(πq)."""
    return split(
        q < 0.5,
        lambda q: np.cos(np.pi * q) / np.sin(np.pi * q),
        lambda q: -np.cos(np.pi * (1 - q)) / np.sin(np.pi * (1 - q)),
        (q,),
        (0.25,),
        (0.75,),
    )


CONTINUOUS["cauchy"] = Continuous(
    logpdf=lambda z: -LOG_PI - 2 * np.log(np.hypot(1.0, z)),
    cdf=lambda z: np.arctan2(1.0, -z) / np.pi,
    sf=lambda z: np.arctan2(1.0, z) / np.pi,
    ppf=lambda q: -_cotangent(q),
    isf=_cotangent,
    entropy=lambda: math.log(4 * math.pi),
    mean=lambda: np.nan,
    var=lambda: np.nan,
)

CONTINUOUS["pareto"] = Continuous(
    ("b",),
    support=(1, INF),
    spare=2.0,
    valid=positive,
    logpdf=lambda z, b: np.log(b) - (b + 1) * np.log(z),
    logsf=lambda z, b: -b * np.log(z),
    ppf=lambda q, b: np.exp(-np.log1p(-q) / b),
    isf=lambda q, b: np.exp(-np.log(q) / b),
    entropy=lambda b: 1 + 1 / b - np.log(b),
    mean=_moment(lambda b: b > 1, lambda b: b / (b - 1)),
    var=_moment(lambda b: b > 2, lambda b: b / (b - 2) / (b - 1) ** 2),
)


def _weibull_logcdf(z: Any, c: Any) -> Any:
    """log(1 − exp(−zᶜ)); zᶜ itself may underflow."""
    return split(
        z**c < 1e-100, lambda z, c: c * np.log(z), lambda z, c: log1mexp(z**c), (z, c), (1e-200, 1.0), (1.0, 1.0)
    )


def _weibull_moment(k: int, c: Any) -> Any:
    return sc.gamma(1 + k / c)


CONTINUOUS["weibull_min"] = on_half_line(
    "c",
    logpdf=lambda z, c: np.log(c) + sc.xlogy(c - 1, z) - z**c,
    pdf=lambda z, c: c * z ** (c - 1) * np.exp(-(z**c)),
    logcdf=_weibull_logcdf,
    logsf=lambda z, c: -(z**c),
    ppf=lambda q, c: (-np.log1p(-q)) ** (1 / c),
    isf=lambda q, c: (-np.log(q)) ** (1 / c),
    entropy=lambda c: np.euler_gamma * (1 - 1 / c) - np.log(c) + 1,
    mean=lambda c: _weibull_moment(1, c),
    var=lambda c: _weibull_moment(2, c) - _weibull_moment(1, c) ** 2,
)

# --------------------------------------------------------------------------------------------------- the normal family


def norm_logpdf(z: Any) -> Any:
    return -0.5 * z * z - 0.5 * LOG_2PI


CONTINUOUS["norm"] = Continuous(
    logpdf=norm_logpdf,
    cdf=lambda z: sc.ndtr(z),
    sf=lambda z: sc.ndtr(-z),
    logcdf=lambda z: sc.log_ndtr(z),
    logsf=lambda z: sc.log_ndtr(-z),
    ppf=lambda q: sc.ndtri(q),
    isf=lambda q: -sc.ndtri(q),
    entropy=lambda: 0.5 * (1 + LOG_2PI),
    mean=lambda: 0.0,
    var=lambda: 1.0,
)

CONTINUOUS["lognorm"] = on_half_line(
    "s",
    vanishes_below=True,
    logpdf=lambda z, s: norm_logpdf(np.log(z) / s) - np.log(s) - np.log(z),
    cdf=lambda z, s: sc.ndtr(np.log(z) / s),
    sf=lambda z, s: sc.ndtr(-np.log(z) / s),
    logcdf=lambda z, s: sc.log_ndtr(np.log(z) / s),
    logsf=lambda z, s: sc.log_ndtr(-np.log(z) / s),
    ppf=lambda q, s: np.exp(s * sc.ndtri(q)),
    isf=lambda q, s: np.exp(-s * sc.ndtri(q)),
    entropy=lambda s: 0.5 * (1 + LOG_2PI) + np.log(s),
    mean=lambda s: np.exp(0.5 * s * s),
    var=lambda s: np.exp(s * s) * np.expm1(s * s),
)


def _to_the_left(a: Any, b: Any) -> tuple[Any, Any]:
    """An interval, or its mirror image if it lies to the right of zero: there log_ndtr has its digits."""
    flip = a > 0
    return np.where(flip, -b, a), np.where(flip, -a, b)


def _log_ndtr(z: Any) -> Any:
    """`log_ndtr`, of infinite bounds a constant."""
    return split(np.isinf(z), lambda z: np.where(z > 0, 0.0, -INF), sc.log_ndtr, (z,), (0.0,), (0.0,))


def _log_mass(a: Any, b: Any) -> Any:
    """log(Φ(b) − Φ(a)) for a < b."""
    a, b = _to_the_left(a, b)
    return split(
        b > 0,
        lambda a, b: np.log1p(-sc.ndtr(a) - sc.ndtr(-b)),
        lambda a, b: _log_ndtr(b) + log1mexp(_log_ndtr(b) - _log_ndtr(a)),
        (a, b),
        (-1.0, 1.0),
        (-2.0, -1.0),
    )


def _mass_over(a: Any, b: Any, log_total: Any) -> Any:
    """(Φ(b) − Φ(a))/total for a ≤ b, smooth also at a = b."""
    a, b = _to_the_left(a, b)
    end = _log_ndtr(b)
    return np.exp(end - log_total) * -np.expm1(_log_ndtr(a) - end)


def _truncnorm_ppf(q: Any, a: Any, b: Any) -> Any:
    """From Φ(z) = Φ(a) + q·(Φ(b) − Φ(a)), or from its mirror image if a > 0, in logarithms."""

    def left(q: Any, a: Any, b: Any) -> Any:
        return sc.ndtri_exp(np.logaddexp(_log_ndtr(a), np.log(q) + _log_mass(a, b)))

    def right(q: Any, a: Any, b: Any) -> Any:
        return -sc.ndtri_exp(np.logaddexp(_log_ndtr(-b), np.log1p(-q) + _log_mass(a, b)))

    return split(a < 0, left, right, (q, a, b), (0.5, -1.0, 1.0), (0.5, 1.0, 2.0))


def _truncnorm_spare(a: Any, b: Any) -> Any:
    """A point inside the interval."""
    inner = np.where(np.isinf(a), np.minimum(0.0, b - 1), np.where(np.isinf(b), a + 1, 0.5 * (a + b)))
    return np.where(all_of(np.isinf(a), np.isinf(b)), 0.0, inner)


def _end_terms(a: Any, b: Any, power: int) -> Any:
    """(aᵖ·φ(a) − bᵖ·φ(b))/(Φ(b) − Φ(a)); infinite ends give nothing."""
    log_total = _log_mass(a, b)

    def term(z: Any) -> Any:
        return split(
            np.isinf(z),
            lambda *args: 0.0,
            lambda z, m: z**power * np.exp(norm_logpdf(z) - m),
            (z, log_total),
            (0.0, 0.0),
            (0.0, 0.0),
        )

    return term(a) - term(b)


def _moments_by_quadrature(a: Any, b: Any) -> tuple[Any, Any]:
    """Mean and variance, relative to the mode, by Gauss–Legendre quadrature.

    Far out the textbook formulas are differences of numbers of the size a² for a variance of the size 1/a². Where the
    density has fallen by exp(−45), the interval is cut off.
    """
    mode = np.minimum(np.maximum(a, 0.0), b)
    reach = 90 / (np.abs(mode) + np.sqrt(mode * mode + 90))
    low, high = np.maximum(a - mode, -reach), np.minimum(b - mode, reach)
    d = np.expand_dims(low, -1) + np.expand_dims(high - low, -1) * NODES
    weights = WEIGHTS * np.exp(-d * (np.expand_dims(mode, -1) + 0.5 * d))
    total = np.sum(weights, axis=-1)
    shift = np.sum(weights * d, axis=-1) / total
    apart = d - np.expand_dims(shift, -1)
    return mode + shift, np.sum(weights * apart * apart, axis=-1) / total


def _truncnorm_moment(by_formula: Callable, which: int) -> Formula:
    """By the textbook formula for a long interval in the middle, where nothing cancels, otherwise by quadrature."""

    def moment(a: Any, b: Any) -> Any:
        middle = all_of(b - a > 2, a < 1, b > -1)
        return split(
            middle, by_formula, lambda a, b: _moments_by_quadrature(a, b)[which], (a, b), (-1.0, 1.0), (3.0, 4.0)
        )

    return moment


CONTINUOUS["truncnorm"] = Continuous(
    ("a", "b"),
    support=lambda a, b: (a, b),
    spare=_truncnorm_spare,
    valid=lambda a, b: a < b,
    logpdf=lambda z, a, b: norm_logpdf(z) - _log_mass(a, b),
    cdf=lambda z, a, b: _mass_over(a, z, _log_mass(a, b)),
    sf=lambda z, a, b: _mass_over(z, b, _log_mass(a, b)),
    logcdf=lambda z, a, b: _log_mass(a, z) - _log_mass(a, b),
    logsf=lambda z, a, b: _log_mass(z, b) - _log_mass(a, b),
    ppf=_truncnorm_ppf,
    isf=lambda q, a, b: -_truncnorm_ppf(q, -b, -a),
    entropy=lambda a, b: 0.5 * (1 + LOG_2PI) + _log_mass(a, b) + 0.5 * _end_terms(a, b, 1),
    mean=_truncnorm_moment(lambda a, b: _end_terms(a, b, 0), 0),
    var=_truncnorm_moment(lambda a, b: 1 + _end_terms(a, b, 1) - _end_terms(a, b, 0) ** 2, 1),
)

# ---------------------------------------------------------------------------------------------------- the gamma family


def _expanded(variable: Any, edge: float, far: Callable, near: Callable) -> Any:
    """A formula, and beyond an edge the asymptotic expansion in its place, where the formula cancels."""
    return split(variable >= edge, far, near, (variable,), (2 * edge,), (1.0,))


def _gamma_entropy(a: Any) -> Any:
    return _expanded(
        a,
        250.0,
        lambda a: 0.5 * (1 + LOG_2PI + np.log(a)) - 1 / (3 * a) - a**-2.0 / 12 - a**-3.0 / 90 + a**-4.0 / 120,
        lambda a: sc.psi(a) * (1 - a) + a + sc.gammaln(a),
    )


def _invgamma_entropy(a: Any) -> Any:
    return _expanded(
        a,
        200.0,
        lambda a: 0.5 * (1 + LOG_2PI - 3 * np.log(a)) + 2 / (3 * a) + a**-2.0 / 12 - a**-3.0 / 90 - a**-4.0 / 120,
        lambda a: a - (a + 1) * sc.psi(a) + sc.gammaln(a),
    )


CONTINUOUS["gamma"] = on_half_line(
    "a",
    logpdf=lambda z, a: sc.xlogy(a - 1, z) - z - sc.gammaln(a),
    pdf=lambda z, a: gamma_density(a, z),
    cdf=lambda z, a: sc.gammainc(a, z),
    sf=lambda z, a: sc.gammaincc(a, z),
    logcdf=lambda z, a: log_gammainc(a, z),
    logsf=lambda z, a: log_gammaincc(a, z),
    ppf=lambda q, a: sc.gammaincinv(a, q),
    isf=lambda q, a: sc.gammainccinv(a, q),
    entropy=_gamma_entropy,
    mean=lambda a: a,
    var=lambda a: a,
)

# χ² with n degrees of freedom is twice a gamma variable of shape n/2.
CONTINUOUS["chi2"] = on_half_line(
    "df",
    logpdf=lambda z, df: sc.xlogy(0.5 * df - 1, 0.5 * z) - 0.5 * z - sc.gammaln(0.5 * df) - LOG_2,
    pdf=lambda z, df: 0.5 * gamma_density(0.5 * df, 0.5 * z),
    cdf=lambda z, df: sc.gammainc(0.5 * df, 0.5 * z),
    sf=lambda z, df: sc.gammaincc(0.5 * df, 0.5 * z),
    logcdf=lambda z, df: log_gammainc(0.5 * df, 0.5 * z),
    logsf=lambda z, df: log_gammaincc(0.5 * df, 0.5 * z),
    ppf=lambda q, df: 2 * sc.gammaincinv(0.5 * df, q),
    isf=lambda q, df: 2 * sc.gammainccinv(0.5 * df, q),
    entropy=lambda df: _gamma_entropy(0.5 * df) + LOG_2,
    mean=lambda df: df,
    var=lambda df: 2 * df,
)

CONTINUOUS["invgamma"] = on_half_line(
    "a",
    vanishes_below=True,
    logpdf=lambda z, a: -(a + 1) * np.log(z) - sc.gammaln(a) - 1 / z,
    cdf=lambda z, a: sc.gammaincc(a, 1 / z),
    sf=lambda z, a: sc.gammainc(a, 1 / z),
    logcdf=lambda z, a: log_gammaincc(a, 1 / z),
    logsf=lambda z, a: log_gammainc(a, 1 / z),
    ppf=lambda q, a: 1 / sc.gammainccinv(a, q),
    isf=lambda q, a: 1 / sc.gammaincinv(a, q),
    entropy=_invgamma_entropy,
    mean=_moment(lambda a: a > 1, lambda a: 1 / (a - 1)),
    var=_moment(lambda a: a > 2, lambda a: 1 / (a - 1) ** 2 / (a - 2)),
)

# ----------------------------------------------------------------------------------------------------- the beta family

CONTINUOUS["beta"] = Continuous(
    ("a", "b"),
    support=(0, 1),
    spare=0.5,
    valid=positive,
    logpdf=lambda z, a, b: sc.xlogy(a - 1, z) + sc.xlog1py(b - 1, -z) - sc.betaln(a, b),
    pdf=lambda z, a, b: beta_density(a, b, z),
    cdf=lambda z, a, b: sc.betainc(a, b, z),
    sf=lambda z, a, b: sc.betainc(b, a, 1 - z),
    logcdf=lambda z, a, b: log_betainc(a, b, z, 1 - z),
    logsf=lambda z, a, b: log_betainc(b, a, 1 - z, z),
    ppf=lambda q, a, b: sc.betaincinv(a, b, q),
    isf=lambda q, a, b: 1 - sc.betaincinv(b, a, q),
    entropy=lambda a, b: sc.betaln(a, b) - (a - 1) * sc.psi(a) - (b - 1) * sc.psi(b) + (a + b - 2) * sc.psi(a + b),
    mean=lambda a, b: a / (a + b),
    var=lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)),
)


def _odds(z: Any, m: Any, n: Any) -> Any:
    return z * (m / n)


def _f_logpdf(z: Any, m: Any, n: Any) -> Any:
    w = _odds(z, m, n)
    return np.log(m / n) + sc.xlogy(0.5 * m - 1, w) - 0.5 * (m + n) * np.log1p(w) - sc.betaln(0.5 * m, 0.5 * n)


def _f_pdf(z: Any, m: Any, n: Any) -> Any:
    w = _odds(z, m, n)
    density = split(
        w < 1,
        lambda w, a, b: beta_density(a, b, w / (1 + w)),
        lambda w, a, b: beta_density(b, a, 1 / (1 + w)),
        (w, 0.5 * m, 0.5 * n),
        (0.5, 1.0, 1.0),
        (2.0, 1.0, 1.0),
    )
    return density * (m / n) / (1 + w) ** 2


def _f_cdf(z: Any, m: Any, n: Any) -> Any:
    w = _odds(z, m, n)
    return sc.betainc(0.5 * m, 0.5 * n, w / (1 + w))


def _f_logcdf(z: Any, m: Any, n: Any) -> Any:
    w = _odds(z, m, n)
    return log_betainc(0.5 * m, 0.5 * n, w / (1 + w), 1 / (1 + w))


def _f_logsf(z: Any, m: Any, n: Any) -> Any:
    w = _odds(z, m, n)
    return log_betainc(0.5 * n, 0.5 * m, 1 / (1 + w), w / (1 + w))


def _f_ppf(q: Any, m: Any, n: Any) -> Any:
    x = sc.betaincinv(0.5 * m, 0.5 * n, q)
    rest = split(
        x < 0.5,
        lambda x, q, m, n: 1 - x,
        lambda x, q, m, n: sc.betaincinv(0.5 * n, 0.5 * m, 1 - q),
        (x, q, m, n),
        (0.25, 0.5, 1.0, 1.0),
        (0.75, 0.5, 1.0, 1.0),
    )
    return x / rest * (n / m)


CONTINUOUS["f"] = on_half_line(
    "dfn dfd",
    logpdf=_f_logpdf,
    pdf=_f_pdf,
    cdf=_f_cdf,
    sf=lambda z, m, n: sc.betainc(0.5 * n, 0.5 * m, 1 / (1 + _odds(z, m, n))),
    logcdf=_f_logcdf,
    logsf=_f_logsf,
    ppf=_f_ppf,
    isf=lambda q, m, n: 1 / _f_ppf(q, n, m),
    entropy=lambda m, n: (
        np.log(n / m)
        + sc.betaln(0.5 * m, 0.5 * n)
        + (1 - 0.5 * m) * sc.psi(0.5 * m)
        - (1 + 0.5 * n) * sc.psi(0.5 * n)
        + 0.5 * (m + n) * sc.psi(0.5 * (m + n))
    ),
    mean=_moment(lambda m, n: n > 2, lambda m, n: n / (n - 2)),
    var=_moment(lambda m, n: n > 4, lambda m, n: 2 * n * n * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))),
)

# ---------------------------------------------------------------------------------------------------------- Student's t


def _t(formula: Formula, normal: Formula) -> Formula:
    """A formula in z and the degrees of freedom, with the normal distribution for infinitely many."""
    return lambda z, df: split(np.isinf(df), lambda z, df: normal(z), formula, (z, df), (0.5, INF), (0.5, 1.0))


def _t_logcdf(z: Any, df: Any) -> Any:
    a, u = 0.5 * df, z / np.sqrt(df)
    return split(
        all_of(z < 0, student_cdf(a, u, n=0) < TINY),
        _t_log_tail,
        lambda a, u: log_of(student_cdf(a, u, n=0), student_cdf(a, -u, n=0)),
        (a, u),
        (0.5, -1e120),
        (0.5, 0.5),
    )


def _t_log_tail(a: Any, u: Any) -> Any:
    """log(½·I_x(a, ½)) with x = 1/(1 + u²), for u < 0; u² may overflow."""
    log_x = -log1p_square(u)
    x = np.exp(log_x)
    return log_beta_fraction(a, 0.5, x, 1 - x, log_x) - LOG_2


def _t_entropy(df: Any) -> Any:
    return _expanded(
        df,
        100.0,
        lambda df: (
            0.5 * (1 + LOG_2PI) + (1 + (1 / 4 + (-1 / 6 + (-1 / 8 + (3 / 10 + 1 / (4 * df)) / df) / df) / df) / df) / df
        ),
        lambda df: (
            0.5 * (df + 1) * (sc.psi(0.5 * (df + 1)) - sc.psi(0.5 * df)) + 0.5 * np.log(df) + sc.betaln(0.5 * df, 0.5)
        ),
    )


CONTINUOUS["t"] = Continuous(
    ("df",),
    valid=positive,
    logpdf=_t(
        lambda z, df: student_log_density(0.5 * df, z / np.sqrt(df)) - 0.5 * np.log(df),
        norm_logpdf,
    ),
    cdf=_t(lambda z, df: student_cdf(0.5 * df, z / np.sqrt(df), n=0), lambda z: sc.ndtr(z)),
    sf=_t(lambda z, df: student_cdf(0.5 * df, -z / np.sqrt(df), n=0), lambda z: sc.ndtr(-z)),
    logcdf=_t(_t_logcdf, lambda z: sc.log_ndtr(z)),
    logsf=_t(lambda z, df: _t_logcdf(-z, df), lambda z: sc.log_ndtr(-z)),
    ppf=_t(lambda q, df: np.sqrt(df) * student_quantile(0.5 * df, q), lambda q: sc.ndtri(q)),
    isf=_t(lambda q, df: -np.sqrt(df) * student_quantile(0.5 * df, q), lambda q: -sc.ndtri(q)),
    entropy=_t_entropy,
    mean=_moment(lambda df: df > 1, lambda df: 0.0 * df),
    var=lambda df: split(
        df > 1,
        _moment(lambda df: df > 2, lambda df: 1 / (1 - 2 / df)),
        lambda df: np.nan,
        (df,),
        (5.0,),
        (0.5,),
    ),
)

for _name, _row in CONTINUOUS.items():
    _row.name = _name
