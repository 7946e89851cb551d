"""Counts and categories whose probabilities are given by logits, log p/(1 − p), or logarithms of rates.

`stats.bernoulli(expit(eta))` is the same distribution, but where eta is large the probability is rounded to 0 or 1, and
the density of what did happen then is zero: a sampler cannot cross such places, and its first points often lie there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, gammaln, log_expit

from wengert.infer.handlers import ModelError


class LogitDistribution:
    """What the functions below return: it has the methods of a frozen distribution that models ask for."""

    def __init__(self, name: str, *args: Any):
        self.name, self.args = name, args
        self.kwds: dict[str, Any] = {}

    def pmf(self, k: Any) -> Any:
        """The probability of a value."""
        return np.exp(self.logpmf(k))

    def logpmf(self, k: Any) -> Any:
        """Its logarithm; −∞ of what is no value."""
        low, high = self.support()
        possible = (np.asarray(k) >= low) & (np.asarray(k) <= high) & (np.asarray(k) == np.floor(k))
        return np.where(possible, self._log_of(np.where(possible, k, low)), -math.inf)

    def support(self) -> tuple[Any, Any]:
        """The smallest and the largest value."""
        raise NotImplementedError

    def _log_of(self, k: Any) -> Any:
        """The logarithm of the probability of a value in the support."""
        raise NotImplementedError

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Draws."""
        shape = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
        own = np.broadcast_shapes(*[np.shape(a) for a in self.args])
        drawn = self._drawn(np.random.default_rng(random_state), np.broadcast_shapes(shape, own))
        return drawn if np.ndim(drawn) else np.asarray(drawn)[()]


class BinomialLogit(LogitDistribution):
    """Successes in n trials."""

    def support(self) -> tuple[Any, Any]:
        return 0, self.args[0]

    def _log_of(self, k: Any) -> Any:
        n, eta = self.args
        ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return ways + k * log_expit(eta) + (n - k) * log_expit(-eta)

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        n, eta = self.args
        return rng.binomial(n, expit(eta), shape)


class PoissonLog(LogitDistribution):
    """Counts at the rate exp(eta)."""

    def support(self) -> tuple[Any, Any]:
        return 0, math.inf

    def _log_of(self, k: Any) -> Any:
        (eta,) = self.args
        return k * eta - np.exp(eta) - gammaln(k + 1.0)

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.poisson(np.exp(self.args[0]), shape)


class OrderedLogistic(LogitDistribution):
    """In which of the intervals between cuts eta lies, when logistic noise has been added."""

    def __init__(self, eta: Any, cuts: Any):
        super().__init__("ordered_logistic", eta)
        self.cuts = cuts

    def support(self) -> tuple[Any, Any]:
        return 0, np.shape(self.cuts)[-1]

    def _log_of(self, k: Any) -> Any:
        """σ(a) − σ(b) = σ(a)·σ(−b)·(1 − exp(b − a)), which does not cancel; of the ends one factor is left."""
        (eta,), cuts, k = self.args, self.cuts, np.asarray(k, int)
        last = np.shape(cuts)[-1]
        above, below = cuts[np.minimum(k, last - 1)], cuts[np.maximum(k - 1, 0)]
        inner = (k > 0) & (k < last)
        between = np.log(-np.expm1(np.where(inner, below - above, -1.0)))
        return (
            np.where(k < last, log_expit(above - eta), 0.0)
            + np.where(k > 0, log_expit(eta - below), 0.0)
            + np.where(inner, between, 0.0)
        )

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return np.sum(np.expand_dims(self.args[0] + rng.logistic(size=shape), -1) > self.cuts, axis=-1)


def bernoulli_logit(eta: Any) -> BinomialLogit:
    """0 or 1, where the probability of 1 is 1/(1 + exp(−eta)).

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(X, y):
    ...     b = infer.sample("b", stats.norm(0, 5), shape=2)
    ...     infer.observe(y, infer.bernoulli_logit(X @ b))
    >>> infer.posterior(model, np.eye(2), np.array([0, 1])).size
    2
    """
    return BinomialLogit("bernoulli_logit", 1, eta)


def binomial_logit(n: Any, eta: Any) -> BinomialLogit:
    """Successes in n trials, each with the probability 1/(1 + exp(−eta))."""
    return BinomialLogit("binomial_logit", n, eta)


def poisson_log(eta: Any) -> PoissonLog:
    """Counts at the rate exp(eta)."""
    return PoissonLog("poisson_log", eta)


def ordered_logistic(eta: Any, cuts: Any) -> OrderedLogistic:
    """One of the categories 0 … n, between n increasing cuts: P(k) = σ(cuts[k] − eta) − σ(cuts[k − 1] − eta).

    Stan counts from 1. The cuts are a site with `transform=infer.transforms.ordered`.
    """
    if np.ndim(cuts) != 1:
        raise ModelError(
            f"the cuts of infer.ordered_logistic have the shape {np.shape(cuts)}",
            remedy='give a vector: infer.sample("cuts", stats.norm(0, 5), shape=3, transform=infer.transforms.ordered)',
        )
    return OrderedLogistic(eta, cuts)
