"""The marks of a model: what is random (`sample`), what was seen (`observe`), what else counts (`factor`).

A model is a plain function of its data. It is run in several ways, by handlers (`handlers.py`): to find its sites, to
compute the log-density at a point, to draw from the prior. The marks leave everything else to them.

>>> import numpy as np
>>> from scipy import stats
>>> from wengert import infer
>>> def model(y):
...     mu = infer.sample("mu", stats.norm(0, 10))
...     sigma = infer.sample("sigma", stats.expon())
...     infer.observe(y, stats.norm(mu, sigma))
>>> posterior = infer.posterior(model, np.array([1.0, 2.0]))
>>> u = posterior.unconstrain({"mu": 1.0, "sigma": 1.0})
>>> y_term = stats.norm(1, 1).logpdf([1.0, 2.0]).sum()
>>> bool(np.isclose(posterior.log_density(u), y_term + stats.norm(0, 10).logpdf(1) + stats.expon().logpdf(1)))
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import tree
from wengert.infer import distributions, transforms
from wengert.infer.handlers import ModelError, handler_for


def sample(name: str, dist: Any, shape: Any = None, transform: transforms.Transform | None = None) -> Any:
    """A random value of a model.

    Args:
        name: each site has its own.
        dist: a frozen distribution of scipy.stats, or `infer.flat()`. A discrete one is summed out.
        shape: of the value; that of the distribution's parameters (in a plate: with its length in front) by default.
            A distribution of vectors or matrices gives as many of them.
        transform: how the support is reached from all numbers; found from the distribution by default.
            `transform=infer.transforms.ordered` restricts the density to increasing values.

    Returns:
        The value, which the model goes on with; an array is the model's own, to write to.
    """
    handler = handler_for("infer.sample")
    if not isinstance(name, str):
        raise ModelError(
            f"the name of a site is text, not {name!r}", remedy='write infer.sample("mu", stats.norm(0, 1))'
        )
    dist = distributions.demand_distribution(dist, "infer.sample")
    value = handler.sample(name, dist, shape, transform)
    return value if distributions.is_discrete(dist) else _own(value)


def _own(value: Any) -> Any:
    """A value that may be written to, where the one that is kept stays as it is; of shape () it is a number."""
    return np.copy(value) if np.ndim(value) else value


def observe(value: Any, dist: Any, name: str | None = None) -> None:
    """Say that a value was seen, which has this distribution: its log-density counts.

    Args:
        value: the data.
        dist: a frozen distribution; its parameters may depend on sites.
        name: of the data in predictive draws; "observed" (and "observed_1", …) by default.
    """
    handler = handler_for("infer.observe")
    dist = distributions.demand_distribution(dist, "infer.observe")
    handler.observe(value, dist, name)


def factor(logp: Any) -> None:
    """Add something to the log-density; all of it, if it is an array."""
    handler_for("infer.factor").factor(logp)


def record(name: str, value: Any) -> Any:
    """Keep a value that was computed, under a name among the draws. Returns the value."""
    handler_for("infer.record").record(name, tree.map(_own, value))
    return value


class plate:
    """Repetition: `with infer.plate("schools", 8):` gives each site in it an axis of this length.

    A plate in a plate adds its axis in front of that of the outer one, so that values of the outer one broadcast.
    """

    def __init__(self, name: str, n: int):
        self.name, self.n = name, n

    def __enter__(self) -> np.ndarray:
        handler_for("infer.plate").plates.insert(0, self.n)
        return np.arange(self.n)

    def __exit__(self, *exception: object) -> None:
        handler_for("infer.plate").plates.pop(0)


def flat(support: transforms.Transform | None = None) -> distributions.FlatPrior:
    """The improper uniform distribution on a support (`infer.transforms`), all numbers by default."""
    if support is not None and not isinstance(support, transforms.Transform):
        raise ModelError(
            f"the support of infer.flat is one of infer.transforms, not {support!r}",
            remedy="write infer.flat(infer.transforms.positive)",
        )
    return distributions.FlatPrior(transforms.real if support is None else support)
