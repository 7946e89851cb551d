"""Draws from a model itself, parameters and data; and the posterior of such data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.infer import distributions
from wengert.infer.handlers import Enough, ModelError, run_until_enough
from wengert.infer.posterior import ModelPosterior
from wengert.infer.transforms import Transform, ordered, positive_ordered
from wengert.infer.ways import AtPoint, Handler, full_shape, observed_name


class DrawFromModel(Handler):
    """Runs a model and draws everything in it, what is observed in the shape of the data.

    Where only some sites are `wanted` it has enough when these are there.
    """

    def __init__(self, rng: np.random.Generator, wanted: list[str] | None = None):
        super().__init__()
        self.rng, self.wanted = rng, wanted
        self.sites: dict[str, Any] = {}
        self.records: dict[str, Any] = {}
        self.observed: dict[str, Any] = {}

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        whole = full_shape(name, dist, shape, self.plates, transform)
        value = self._drawn(f"site {name!r}", dist, whole)
        if transform is not None and transform != distributions.transform_of(dist):
            if transform not in (ordered, positive_ordered) or distributions.parameter_shape(dist):
                raise ModelError(
                    f"site {name!r} has a transform that restricts its distribution, so that it cannot be drawn from",
                    remedy="give it a distribution whose support is what the transform gives",
                )
            value = np.sort(value)  # independent draws of one distribution, put in order
        self.sites[name] = value
        if self.wanted is not None and self.sites.keys() >= set(self.wanted):
            raise Enough
        return value

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        if self.wanted is None:
            found = observed_name(name, list(self.observed))
            self.observed[found] = self._drawn(f"observation {found!r}", dist, np.shape(value))

    def _drawn(self, what: str, dist: Any, shape: tuple[int, ...]) -> Any:
        try:
            return distributions.draw(dist, shape, self.rng)
        except ModelError:
            raise
        except ValueError as error:
            raise ModelError(
                f"{what} cannot be drawn: {error}",
                remedy="see to it that parameters are valid wherever the sites before may lie; infer.check helps",
            ) from error

    def factor(self, logp: Any) -> None:
        if self.wanted is not None:
            return
        raise ModelError(
            "a model with infer.factor cannot be drawn from: a factor is no distribution",
            remedy="write what it stands for with infer.sample and infer.observe",
        )

    def record(self, name: str, value: Any) -> None:
        self.records[name] = value


def simulated(model: Callable, args: tuple, rng: np.random.Generator, wanted: list[str] | None = None) -> DrawFromModel:
    """One draw of everything in a model, or of the sites that are `wanted`; of data in `args` only the shapes count."""
    handler = DrawFromModel(rng, wanted)
    run_until_enough(handler, model, args)
    return handler


class WithOtherData(AtPoint):
    """Runs a model at a point, with other data than it has."""

    def __init__(self, sites: Any, u: Any, data: dict[str, Any], discrete: dict, places: list[dict]):
        super().__init__(sites, u, discrete, places)
        self.data = data
        self.met: list[str] = []

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        self.met.append(observed_name(name, self.met))
        super().observe(self.data[self.met[-1]], dist, name)


class OtherDataPosterior(ModelPosterior):
    """The posterior of a model whose data can be changed: compiled code reads it anew."""

    def __init__(self, model: Callable, args: tuple, data: dict[str, Any]):
        super().__init__(model, args)
        # Integers that a program reads outside are part of what it is compiled for; real numbers may change.
        self.data = {name: np.array(value, dtype=float) for name, value in data.items()}

    def change(self, data: dict[str, Any]) -> None:
        for name, value in data.items():
            self.data[name][...] = value

    def _at(self, u: Any) -> AtPoint:
        return self._run(WithOtherData(self.sites, u, self.data, self.discrete, self.places))
