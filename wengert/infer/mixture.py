"""Mixtures: a distribution that is one of several, with given probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np


class Mixture:
    """What `mixture` returns: it has the methods of a frozen distribution that estimators and models ask for."""

    name = "mixture"

    def __init__(self, weights: Any, components: Any):
        self.weights, self.components = weights, components

    @property
    def event(self) -> tuple[int, ...]:
        """The shape of one draw."""
        given = (*self.components.args, *self.components.kwds.values())
        return np.broadcast_shapes(np.shape(self.weights), *[np.shape(p) for p in given])[:-1]

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density."""
        logs = np.log(self.weights) + self.components.logpdf(np.asarray(x)[..., None])
        largest = np.max(logs, axis=-1)
        return largest + np.log(np.sum(np.exp(logs - largest[..., None]), axis=-1))

    def pdf(self, x: Any) -> Any:
        """The density."""
        return np.exp(self.logpdf(x))

    def cdf(self, x: Any) -> Any:
        """The probability of being at most x."""
        return np.sum(self.weights * self.components.cdf(np.asarray(x)[..., None]), axis=-1)

    def rvs(self, size: Any = (), random_state: Any = None) -> Any:
        """Draws."""
        rng = np.random.default_rng(random_state)
        size = (size,) if np.ndim(size) == 0 else tuple(size)
        k = np.shape(self.weights)[-1]
        shape = np.broadcast_shapes(size, self.event)
        drawn = self.components.rvs(size=(*shape, k), random_state=rng)
        edges = np.cumsum(np.broadcast_to(self.weights, (*shape, k)), axis=-1)
        chosen = np.sum(rng.random(shape)[..., None] * edges[..., -1:] >= edges, axis=-1)
        return np.take_along_axis(drawn, np.minimum(chosen, k - 1)[..., None], axis=-1)[..., 0]


def mixture(weights: Any, components: Any) -> Mixture:
    """The mixture of the distributions along the last axis of a frozen SciPy distribution of one number.

    Args:
        weights: the probability of each component, along the last axis; they add up to one.
        components: a frozen continuous distribution whose parameters have the components along the last axis.

    Returns an object with `logpdf`, `pdf`, `cdf` and `rvs`, differentiable in weights and parameters.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> two = infer.mixture(np.array([0.25, 0.75]), stats.norm(np.array([-1.0, 3.0]), 1.0))
    >>> two.cdf(1.0).round(12) == (0.25 * stats.norm.cdf(2) + 0.75 * stats.norm.cdf(-2)).round(12)
    np.True_
    """
    return Mixture(weights, components)
