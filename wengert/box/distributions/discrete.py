"""Discrete distributions: one row each, in k − loc and the shape parameters.

They have derivatives in their continuous parameters. In the data, in the location and in parameters that count
something (`n` of the binomial distribution), which live on the integers, the derivative is zero, as that of rounding;
so is the derivative of quantiles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.box import plain
from wengert.box.distributions.tails import log_betainc, log_gammainc, log_gammaincc
from wengert.box.distributions.univariate import (
    INF,
    OUTSIDE,
    Formula,
    Univariate,
    all_of,
    checked,
    either,
    shaped,
    split,
)
from wengert.box.functions.operands import answer
from wengert.errors import UnsupportedFunctionError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.incomplete import beta_density, gamma_density
from wengert.types import ndim_of


@dataclass
class Discrete(Univariate):
    """A discrete distribution."""

    logpmf: Formula | None = None
    pmf: Formula | None = None
    counts: tuple[str, ...] = ()
    """The shape parameters that are integers."""

    data_name = "k"
    scaled = False

    def evaluation(self, name: str) -> Callable | None:
        if name in ("pmf", "logpmf"):
            formula = getattr(self, name)
            if formula is None:
                return lambda *args: np.exp(self._mass(self.logpmf, -INF, *args))
            return lambda *args: self._mass(formula, 0.0 if name == "pmf" else -INF, *args)
        if name in OUTSIDE:
            formula = self.cumulative(name)
            return formula and (lambda k, *parameters: self._cumulative(formula, name, k, *parameters))
        if name in ("ppf", "isf"):
            return lambda q, shapes, loc, scale: answer(_of_scipy(self.name, name), q, *shapes, loc)
        if name == "median":
            return lambda shapes, loc, scale: answer(_of_scipy(self.name, name), *shapes, loc)
        if name in ("entropy", "mean", "var", "std"):
            formula = self.var if name == "std" else getattr(self, name)
            return formula and (lambda *parameters: self._property(name, formula, *parameters))
        return None

    def _settled(self, shapes: tuple) -> tuple:
        """The shape parameters, of which those that count have no derivative."""
        return tuple(
            [stop_gradient(s) if name in self.counts else s for name, s in zip(self.shapes, shapes, strict=True)]
        )

    def _mass(self, formula: Any, nothing: float, k: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        shapes = self._settled(shapes)
        k = stop_gradient(k) - stop_gradient(loc)
        low, high = self.bounds(shapes)
        outside = either(k < low, k > high, np.isinf(k), np.floor(k) < k)
        spare = self.spare_point(shapes)
        y = split(outside, lambda k: nothing, lambda k: formula(k, *shapes), (k,), (spare,), (spare,))
        return checked(shaped(y, k, *shapes), all_of(self.are_valid(shapes), np.logical_not(np.isnan(k))))

    def _cumulative(self, formula: Formula, name: str, k: Any, shapes: tuple, loc: Any, scale: Any) -> Any:
        shapes = self._settled(shapes)
        k = np.floor(stop_gradient(k) - stop_gradient(loc))
        low, high = self.bounds(shapes)
        y = self.cumulated(formula, name, k, either(k < low, k >= high), shapes)
        return checked(shaped(y, k, *shapes), all_of(self.are_valid(shapes), np.logical_not(np.isnan(k))))

    def _property(self, name: str, formula: Formula, shapes: tuple, loc: Any, scale: Any) -> Any:
        shapes = self._settled(shapes)
        y = formula(*shapes)
        if name == "mean":
            y = stop_gradient(loc) + y
        elif name == "std":
            y = np.sqrt(y)
        return checked(shaped(y, loc, *shapes), self.are_valid(shapes))


def _of_scipy(name: str, method: str) -> Callable:
    """A method of SciPy's own distribution, on plain values. Whoever calls us has imported scipy.stats."""
    return getattr(getattr(sys.modules["scipy.stats"], name), method)


def _sum_of_entropies(log_p: Any) -> Any:
    """−Σ p·log p along the first axis."""
    return np.sum(split(log_p < -600, lambda l: 0.0, lambda l: -np.exp(l) * l, (log_p,), (-1.0,), (-1.0,)), axis=0)


_MOST_TERMS = 1e7


def _counts(name: str, low: Any, high: Any, *shapes: Any) -> Any:
    """The numbers low … high along an axis in front of those of the shape parameters."""
    if not high - low < _MOST_TERMS:
        raise UnsupportedFunctionError(
            f"the entropy of scipy.stats.{name} as a sum of {high - low:.0e} terms", remedy="use the normal limit"
        )
    rank = max([ndim_of(s) for s in shapes])
    return np.arange(float(low), float(high) + 1).reshape((-1,) + (1,) * rank)


def _is_probability(p: Any) -> Any:
    return all_of(p >= 0, p <= 1)


DISCRETE: dict[str, Discrete] = {}

# ------------------------------------------------------------------------------------------------------------- poisson


def _poisson_logpmf(k: Any, mu: Any) -> Any:
    return sc.xlogy(k, mu) - sc.gammaln(k + 1) - mu


def _poisson_entropy(mu: Any) -> Any:
    """The sum over all k that have any probability to speak of."""
    least, most = np.min(plain(mu)), np.max(plain(mu))
    low, high = np.floor(least - 40 * np.sqrt(least) - 60), np.ceil(most + 40 * np.sqrt(most) + 60)
    return _sum_of_entropies(_poisson_logpmf(_counts("poisson", max(low, 0), high, mu), mu))


DISCRETE["poisson"] = Discrete(
    ("mu",),
    support=(0, INF),
    valid=lambda mu: mu >= 0,
    logpmf=_poisson_logpmf,
    pmf=lambda k, mu: gamma_density(k + 1, mu),
    cdf=lambda k, mu: sc.gammaincc(k + 1, mu),
    sf=lambda k, mu: sc.gammainc(k + 1, mu),
    logcdf=lambda k, mu: log_gammaincc(k + 1, mu),
    logsf=lambda k, mu: log_gammainc(k + 1, mu),
    entropy=_poisson_entropy,
    mean=lambda mu: mu,
    var=lambda mu: mu,
)

# ------------------------------------------------------------------------------------------------- binomial, bernoulli


def _binom_logpmf(k: Any, n: Any, p: Any) -> Any:
    return sc.gammaln(n + 1) - sc.gammaln(k + 1) - sc.gammaln(n - k + 1) + sc.xlogy(k, p) + sc.xlog1py(n - k, -p)


def binom_pmf(k: Any, n: Any, p: Any) -> Any:
    """Also at p = 0 and p = 1, where the logarithm has no derivative."""
    return beta_density(k + 1, n - k + 1, p) / (n + 1)


def _binom_entropy(n: Any, p: Any) -> Any:
    k = _counts("binom", 0, np.max(plain(n)), n, p)
    beyond = k > n
    log_p = _binom_logpmf(np.where(beyond, 0, k), n, p)
    return _sum_of_entropies(np.where(beyond, -INF, log_p))


DISCRETE["binom"] = Discrete(
    ("n", "p"),
    counts=("n",),
    support=lambda n, p: (0, n),
    spare=0.0,
    valid=lambda n, p: all_of(n >= 0, np.floor(n) == n, _is_probability(p)),
    logpmf=_binom_logpmf,
    pmf=binom_pmf,
    cdf=lambda k, n, p: sc.betainc(n - k, k + 1, 1 - p),
    sf=lambda k, n, p: sc.betainc(k + 1, n - k, p),
    logcdf=lambda k, n, p: log_betainc(n - k, k + 1, 1 - p, p),
    logsf=lambda k, n, p: log_betainc(k + 1, n - k, p, 1 - p),
    entropy=_binom_entropy,
    mean=lambda n, p: n * p,
    var=lambda n, p: n * p * (1 - p),
)

DISCRETE["bernoulli"] = Discrete(
    ("p",),
    support=(0, 1),
    spare=0.0,
    valid=_is_probability,
    logpmf=lambda k, p: split(
        k == 1, lambda k, p: np.log(p), lambda k, p: np.log1p(-p), (k, p), (1.0, 0.5), (0.0, 0.5)
    ),
    pmf=lambda k, p: np.where(k == 1, p, 1 - p),
    cdf=lambda k, p: 1 - p,
    sf=lambda k, p: p,
    logcdf=lambda k, p: np.log1p(-p),
    logsf=lambda k, p: np.log(p),
    entropy=lambda p: sc.entr(p) + sc.entr(1 - p),
    mean=lambda p: p,
    var=lambda p: p * (1 - p),
)

# ----------------------------------------------------------------------------------------- negative binomial, geometric


def _nbinom_logpmf(k: Any, n: Any, p: Any) -> Any:
    # Γ(n + k)/(Γ(n)·k!) = 1/(k·B(n, k)), whose derivative in n does not cancel for large n.
    choose = split(k > 0, lambda k, n: -np.log(k) - sc.betaln(n, k), lambda k, n: 0.0, (k, n), (1.0, 1.0), (0.0, 1.0))
    return choose + n * np.log(p) + sc.xlog1py(k, -p)


def _nbinom_entropy(n: Any, p: Any) -> Any:
    most, least, high = np.max(plain(n)), np.min(plain(p)), 64.0
    while high < _MOST_TERMS and sc.betainc(high + 1, most, 1 - least) > 1e-20:
        high *= 2
    return _sum_of_entropies(_nbinom_logpmf(_counts("nbinom", 0, high, n, p), n, p))


DISCRETE["nbinom"] = Discrete(
    ("n", "p"),
    support=(0, INF),
    valid=lambda n, p: all_of(n > 0, p > 0, p <= 1),
    logpmf=_nbinom_logpmf,
    pmf=lambda k, n, p: beta_density(n, k + 1, p) * p / (n + k),
    cdf=lambda k, n, p: sc.betainc(n, k + 1, p),
    sf=lambda k, n, p: sc.betainc(k + 1, n, 1 - p),
    logcdf=lambda k, n, p: log_betainc(n, k + 1, p, 1 - p),
    logsf=lambda k, n, p: log_betainc(k + 1, n, 1 - p, p),
    entropy=_nbinom_entropy,
    mean=lambda n, p: n * (1 - p) / p,
    var=lambda n, p: n * (1 - p) / p**2,
)

DISCRETE["geom"] = Discrete(
    ("p",),
    support=(1, INF),
    valid=lambda p: all_of(p > 0, p <= 1),
    logpmf=lambda k, p: sc.xlog1py(k - 1, -p) + np.log(p),
    pmf=lambda k, p: p * (1 - p) ** (k - 1.0),
    logsf=lambda k, p: k * np.log1p(-p),
    entropy=lambda p: -np.log(p) - sc.xlog1py(1 - p, -p) / p,
    mean=lambda p: 1 / p,
    var=lambda p: (1 - p) / p**2,
)

for _name, _row in DISCRETE.items():
    _row.name = _name
