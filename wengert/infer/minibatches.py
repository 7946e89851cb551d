"""Mini-batches of a model's data: some of the rows, whose observations count for all."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.infer.handlers import ModelError, run_under
from wengert.infer.posterior import ModelPosterior, Posterior
from wengert.infer.ways import AtPoint


class PartOfData(AtPoint):
    """Runs a model on some of its data, whose log-likelihood is counted `times` times."""

    def __init__(self, sites: Any, u: Any, times: float):
        super().__init__(sites, u)
        self.times = times

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        before, self.total = self.total, 0.0
        super().observe(value, dist, name)
        self.total = before + self.times * self.total


class MiniBatches:
    """The log-density of a model on a batch: an unbiased estimate of that on all of its data."""

    def __init__(self, posterior: Posterior, size: int):
        if not isinstance(posterior, ModelPosterior):
            raise ModelError(
                "batch_size= with a log-density, of which it is not known what belongs to the data",
                remedy="write it as a model: infer.sample for the parameters, infer.observe for the data",
            )
        self.posterior, self.size = posterior, size
        self.data = tuple([np.asarray(a) for a in posterior.args])
        lengths = {a.shape[0] if a.ndim else 0 for a in self.data}
        if len(lengths) != 1 or 0 in lengths:
            raise ModelError(
                f"batch_size= needs arguments that are arrays of one length, and these have lengths {sorted(lengths)}",
                remedy="give one row for each observation to the model; let it close over everything else",
            )
        self.length = lengths.pop()
        part = ModelPosterior(posterior.model, tuple([a[:size] for a in self.data]))
        if part.sites != posterior.sites or posterior.discrete:
            raise ModelError(
                "a site has one value for each observation, which mini-batches would leave without data",
                remedy="leave batch_size= away, or sum out what belongs to single observations",
            )

    def choose(self, steps: int, rng: np.random.Generator) -> tuple[np.ndarray, tuple]:
        """The rows of each step, and the data they are taken from."""
        return rng.integers(0, self.length, (steps, self.size)), self.data

    def log_density(self, u: Any, data: tuple) -> Any:
        handler = PartOfData(self.posterior.sites, u, self.length / self.size)
        run_under(handler, self.posterior.model, data)
        return handler.total
