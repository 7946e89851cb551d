"""Mixtures: a distribution that is one of several, with given probabilities."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy.special import logsumexp

from wengert.infer import distributions
from wengert.infer.handlers import ModelError


class Mixture:
    """What `mixture` returns: it has the methods of a frozen distribution that estimators and models ask for."""

    name = "mixture"

    def __init__(self, weights: Any, components: Any):
        self.weights, self.components = weights, components

    @property
    def event(self) -> tuple[int, ...]:
        """The shape of one draw."""
        if isinstance(self.components, list):
            shapes = [distributions.parameter_shape(part) for part in self.components]
            return np.broadcast_shapes(np.shape(self.weights)[:-1], *shapes)
        return np.broadcast_shapes(np.shape(self.weights), distributions.parameter_shape(self.components))[:-1]

    def _of_each(self, method: str, x: Any) -> Any:
        """What a method of the components gives, along a last axis."""
        if isinstance(self.components, list):
            return np.stack(np.broadcast_arrays(*[getattr(part, method)(x) for part in self.components]), axis=-1)
        return getattr(self.components, method)(np.expand_dims(x, -1))

    def _log_of_sum(self, method: str, x: Any) -> Any:
        logs = np.log(self.weights) + self._of_each(method, x)
        # What is impossible counts nothing, and has no slope.
        return logsumexp(np.where(logs == -np.inf, -np.inf, logs), axis=-1)

    def cdf(self, x: Any) -> Any:
        """The probability of being at most x."""
        return np.sum(self.weights * self._of_each("cdf", x), axis=-1)

    def support(self) -> tuple[Any, Any]:
        """The ends of the smallest interval that holds the supports of all components."""
        if isinstance(self.components, list):
            lows, highs = zip(*[part.support() for part in self.components], strict=True)
            return functools.reduce(np.minimum, lows), functools.reduce(np.maximum, highs)
        low, high = self.components.support()
        return np.min(low, axis=-1) if np.ndim(low) else low, np.max(high, axis=-1) if np.ndim(high) else high

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Draws."""
        rng = np.random.default_rng(random_state)
        size = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
        k = np.shape(self.weights)[-1]
        shape = np.broadcast_shapes(size, self.event)
        if isinstance(self.components, list):
            drawn = np.stack([part.rvs(size=shape or None, random_state=rng) for part in self.components], axis=-1)
        else:
            drawn = self.components.rvs(size=(*shape, k), random_state=rng)
        edges = np.cumsum(np.broadcast_to(self.weights, (*shape, k)), axis=-1)
        chosen = np.sum(rng.random(shape)[..., None] * edges[..., -1:] >= edges, axis=-1)
        return np.take_along_axis(drawn, np.minimum(chosen, k - 1)[..., None], axis=-1)[..., 0]


class ContinuousMixture(Mixture):
    """A mixture that has a density."""

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density."""
        return self._log_of_sum("logpdf", x)

    def pdf(self, x: Any) -> Any:
        """The density."""
        return np.exp(self.logpdf(x))


class DiscreteMixture(Mixture):
    """A mixture of distributions of whole numbers."""

    def logpmf(self, k: Any) -> Any:
        """The logarithm of the probability."""
        return self._log_of_sum("logpmf", k)

    def pmf(self, k: Any) -> Any:
        """The probability."""
        return np.exp(self.logpmf(k))


def mixture(weights: Any, components: Any) -> Mixture:
    """The mixture of the distributions along the last axis of a frozen SciPy distribution, or of a list of them.

    Args:
        weights: the probability of each component, along the last axis; they add up to one.
        components: a frozen distribution of one number whose parameters have the components along the last axis; or a
            list of frozen distributions, which may be of several families, but all have densities, or none has.

    Returns an object with `logpdf` and `pdf` (of discrete components `logpmf` and `pmf`), `cdf`, `support` and `rvs`,
    differentiable in weights and parameters.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> two = infer.mixture(np.array([0.25, 0.75]), stats.norm(np.array([-1.0, 3.0]), 1.0))
    >>> two.cdf(1.0).round(12) == (0.25 * stats.norm.cdf(2) + 0.75 * stats.norm.cdf(-2)).round(12)
    np.True_
    >>> inflated = infer.mixture([0.4, 0.6], [stats.randint(0, 1), stats.poisson(2.0)])
    >>> bool(np.isclose(inflated.pmf(0), 0.4 + 0.6 * np.exp(-2)))
    True
    """
    if not hasattr(weights, "shape"):
        weights = np.stack(weights) if isinstance(weights, (list, tuple)) else np.asarray(weights)
    parts = list(components) if isinstance(components, (list, tuple)) else [components]
    parts = [distributions.demand_distribution(part, "infer.mixture") for part in parts]
    if len(parts) > 1 and np.shape(weights)[-1:] != (len(parts),):
        raise ModelError(
            f"infer.mixture of {len(parts)} distributions was given weights of shape {np.shape(weights)}",
            remedy="give a probability for each of them, along the last axis",
        )
    kinds = {distributions.is_discrete(part) for part in parts}
    if len(kinds) > 1 or any(distributions.event_ndim(part) for part in parts):
        raise ModelError(
            "infer.mixture of distributions with a density and without, or of vectors",
            remedy="mix distributions of one number that are alike in this; else add up the terms by hand, "
            "infer.factor(np.logaddexp(…))",
        )
    kind = DiscreteMixture if kinds == {True} else ContinuousMixture
    return kind(weights, parts if isinstance(components, (list, tuple)) else components)
