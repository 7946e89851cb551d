"""One of several categories, 0, 1, …, with given probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.infer.handlers import ModelError
from wengert.solvers.fitting import is_traced


class CategoricalDistribution:
    """What `categorical` returns: it has the methods of a frozen distribution that models and estimators ask for."""

    name = "categorical"

    def __init__(self, p: Any):
        self.pk = p
        self.xk = np.arange(np.shape(p)[-1])
        self.args = (p[..., 0],)  # their shape is that of a draw
        self.kwds: dict[str, Any] = {}

    @property
    def event(self) -> tuple[int, ...]:
        """The shape of one draw."""
        return np.shape(self.pk)[:-1]

    def pmf(self, k: Any) -> Any:
        """The probability of a category."""
        return np.sum(np.where(np.expand_dims(k, -1) == self.xk, self.pk, 0.0), axis=-1)

    def logpmf(self, k: Any) -> Any:
        """The logarithm of the probability of a category; −∞ of what is none."""
        hits = np.expand_dims(k, -1) == self.xk
        known = np.any(hits, axis=-1)
        one = np.sum(np.where(hits, self.pk, 0.0), axis=-1)
        return np.where(known, np.log(np.where(known, one, 1.0)), -math.inf)

    def support(self) -> tuple[int, int]:
        """The first and the last category."""
        return 0, len(self.xk) - 1

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Draws."""
        rng = np.random.default_rng(random_state)
        shape = self.event if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
        shape = np.broadcast_shapes(shape, self.event)
        edges = np.cumsum(self.pk, axis=-1)
        drawn = np.sum(rng.random(shape)[..., None] * edges[..., -1:] >= edges, axis=-1)
        return np.minimum(drawn, len(self.xk) - 1)


def categorical(p: Any) -> CategoricalDistribution:
    """One of the categories 0 … n − 1, with probabilities p along the last axis: rows are several distributions.

    As a site it is summed out, as all discrete sites are; observed it counts with the logarithm of its probability.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     weights = infer.sample("weights", stats.dirichlet(np.ones(3)))
    ...     mu = infer.sample("mu", stats.norm(0, 5), shape=3, transform=infer.transforms.ordered)
    ...     z = infer.sample("z", infer.categorical(weights), shape=len(y))
    ...     infer.observe(y, stats.norm(mu[z], 1.0))
    >>> infer.posterior(model, np.array([-2.0, 0.1, 3.0])).size
    5
    """
    if not hasattr(p, "shape"):
        p = np.asarray(p, dtype=float)
    if np.ndim(p) == 0 or not np.shape(p)[-1]:
        raise ModelError(
            "infer.categorical without categories",
            remedy="give a probability for each, along the last axis: infer.categorical(np.array([0.2, 0.8]))",
        )
    # On numbers only, as a model is run first: in the density it would be computed at each point, for each site.
    if not is_traced(p) and not (np.all(p >= 0) and np.allclose(np.sum(p, axis=-1), 1.0, atol=1e-6)):
        raise ModelError(
            "the probabilities of infer.categorical are negative, or do not add up to one",
            remedy="divide by their sum, p / np.sum(p, axis=-1, keepdims=True); of logits take scipy.special.softmax",
        )
    return CategoricalDistribution(p)
