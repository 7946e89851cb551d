"""Draws of a model itself: from the prior, of new data at draws of the posterior, and how likely the data are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.vmap import vmap
from wengert.errors import told
from wengert.infer import distributions
from wengert.infer.handlers import ModelError, run_under
from wengert.infer.result import Samples
from wengert.infer.simulate import DrawFromModel
from wengert.infer.transforms import Transform
from wengert.infer.ways import Handler, observed_name


class DrawTheRest(DrawFromModel):
    """Runs a model with given values of some sites; draws the others, and data in the shape that the model gives.

    A factor weighs the sites. Where all of them are given that has been done; a site that is drawn would miss it.
    """

    def __init__(self, rng: np.random.Generator, given: dict[str, Any]):
        super().__init__(rng)
        self.given = given
        self.has_factors = False

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name in self.given:
            return self.given[name]
        if self.given and not distributions.is_discrete(dist):
            raise ModelError(
                f"there are no draws of site {name!r}",
                remedy="give the draws of a sampler for this model; a value from the prior would not fit to the others",
            )
        if self.has_factors:
            super().factor(0.0)
        return super().sample(name, dist, shape, transform)

    def factor(self, logp: Any) -> None:
        self.has_factors = True
        if self.sites or not self.given:
            super().factor(logp)

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        shape = np.shape(value)
        if not distributions.event_ndim(dist):
            shape = np.broadcast_shapes(shape, distributions.parameter_shape(dist))
        super().observe(np.broadcast_to(value, shape), dist, name)


class LogLikelihoods(Handler):
    """Runs a model with given values of its sites; keeps how likely each observation is."""

    def __init__(self, given: dict[str, Any]):
        super().__init__()
        self.given = given
        self.found: dict[str, Any] = {}

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name not in self.given:
            raise ModelError(
                f"there are no draws of site {name!r}, on which the likelihood of single observations depends",
                remedy="sum it out by hand in the model (np.logaddexp) if it is discrete",
            )
        return self.given[name]

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        self.found[observed_name(name, list(self.found))] = distributions.log_density(dist, value)


@told
def prior_predictive(model: Callable, *args: Any, draws: int = 1000, seed: Any = 0) -> dict[str, np.ndarray]:
    """Draws from the prior: sites, records, and data that the model would give ("observed").

    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 2)), 1.0))
    >>> found = infer.prior_predictive(model, [0.0, 0.0, 0.0], draws=100)
    >>> found["mu"].shape, found["observed"].shape
    ((100,), (100, 3))
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        handler = DrawTheRest(rng, {})
        run_under(handler, model, args)
        found.append({**handler.sites, **handler.records, **handler.observed})
    return {name: np.stack([x[name] for x in found]) for name in found[0]}


def _site_draws(draws: Any) -> dict[str, np.ndarray]:
    found = draws.draws if isinstance(draws, Samples) else draws
    if not isinstance(found, dict):
        raise ModelError("draws= is what a sampler returned for a model", remedy="write draws=infer.nuts(model, y)")
    arrays = {name: np.asarray(x) for name, x in found.items()}
    if not arrays or len({x.shape[:2] for x in arrays.values()}) != 1 or any(x.ndim < 2 for x in arrays.values()):
        raise ModelError(
            f"draws= with arrays of shapes {', '.join(str(x.shape) for x in arrays.values()) or 'no site at all'}",
            remedy="give each the axes chain and draw in front, as samplers do: x[None] if there is one chain",
        )
    return arrays


@told
def posterior_predictive(model: Callable, *args: Any, draws: Any, seed: Any = 0) -> dict[str, np.ndarray]:
    """New data ("observed") for each draw of the posterior; discrete sites are drawn anew, and factors give no data.

    Args:
        model, args: as given to the sampler; other arguments give predictions for other data.
        draws: what the sampler returned, or its `.draws`.

    Returns:
        Arrays with the axes chain, draw in front.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 2)), 1.0))
    >>> new = infer.posterior_predictive(model, np.zeros(3), draws={"mu": np.ones((2, 50))})
    >>> new["observed"].shape
    (2, 50, 3)
    """
    given = _site_draws(draws)
    rng = np.random.default_rng(seed)
    first = next(iter(given.values()))
    rows = []
    for chain in range(first.shape[0]):
        row = []
        for k in range(first.shape[1]):
            handler = DrawTheRest(rng, {name: x[chain, k] for name, x in given.items()})
            run_under(handler, model, args)
            row.append(handler.observed)
        rows.append(row)
    if not rows[0][0]:
        raise ModelError(
            "the model observes nothing, so that there are no new data to draw",
            remedy="write infer.observe(y, …) for the data; a factor is no distribution",
        )
    return {name: np.stack([np.stack([x[name] for x in row]) for row in rows]) for name in rows[0][0]}


@told
def log_likelihood(model: Callable, *args: Any, draws: Any) -> dict[str, np.ndarray]:
    """How likely each observation is at each draw of the posterior, as its logarithm (for cross-validation).

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 2)), 1.0))
    >>> infer.log_likelihood(model, np.zeros(3), draws={"mu": np.ones((2, 50))})["observed"].shape
    (2, 50, 3)
    """

    def at(given: dict[str, Any]) -> dict[str, Any]:
        handler = LogLikelihoods(given)
        run_under(handler, model, args)
        return handler.found

    return {name: np.asarray(x) for name, x in vmap(vmap(at))(_site_draws(draws)).items()}
