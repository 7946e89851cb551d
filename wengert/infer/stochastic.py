"""Samplers that see some of the data at a time: stochastic gradients, step sizes small enough to need no correction.

Warm-up is that of `infer.mala`, on all data: it finds where to start, scales of the unknowns, and a step size at
which nearly everything would be accepted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms.langevin import sghmc_block, sgld_block
from wengert.algorithms.trajectories import hmc_transition
from wengert.api.grad import grad
from wengert.api.jit import jit
from wengert.errors import told
from wengert.infer.adaptation import METRICS
from wengert.infer.chains import Settings, constrained, run_chains, sources_of
from wengert.infer.engine import Engine, first_order
from wengert.infer.minibatches import MiniBatches
from wengert.infer.posterior import Posterior, posterior
from wengert.infer.result import Samples

_BLOCK = 50


class _Estimate:
    """The gradient of a log-density from some rows of the data; all of them where there is no batch size."""

    def __init__(self, target: Posterior, batch_size: int | None):
        self.batches = None if batch_size is None else MiniBatches(target, batch_size)
        self.target = target

    def gradient(self, x: Any, rows: Any) -> Any:
        if self.batches is None:
            return grad(self.target.log_density)(x)
        batches, data = self.batches, tuple([a[rows] for a in self.batches.data])
        return grad(lambda u: batches.log_density(u, data))(x)

    def rows(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        if self.batches is None:
            return np.zeros((*shape, 1), dtype=np.int64)
        return rng.integers(0, self.batches.length, (*shape, self.batches.size))


def _sampled(name: str, target: Callable, args: tuple, init: Any, draws: int, warmup: int, chains: int, seed: Any,
             support: Any, progress: bool, step_size: float | None, batch_size: int | None, steps: int,
             friction: float) -> Samples:  # fmt: skip
    found = posterior(target, *args, init=init, support=support)
    metric = METRICS["diag"]
    engine = Engine(found, hmc_transition, metric.velocity, metric.kick, first_order)
    settings = Settings(1, warmup, 0.95, 1, 1.0)
    begin = run_chains(found, engine, metric, settings, chains, seed, init, progress)
    estimate = _Estimate(found, batch_size)
    one: Callable = jit(lambda x, scales, step, z, rows: sgld_block(estimate.gradient, x, scales, step, z, rows))
    two: Callable = jit(
        lambda x, v, scales, step, z, rows: sghmc_block(estimate.gradient, x, v, scales, step, friction, z, rows)
    )
    began = time.perf_counter()
    points = np.zeros((chains, draws, found.size))
    sizes = np.zeros((chains, draws))
    for c, source in enumerate(sources_of(seed, (1,)).spawn(chains)):
        rng, row_rng = np.random.default_rng(source).spawn(2)
        x, v = begin.unconstrained[c, -1], np.zeros(found.size)
        scales = np.sqrt(begin.info["metric"][c][0])
        step = float(begin.stats["step_size"][c, -1]) if step_size is None else float(step_size)
        for k in range(0, draws, _BLOCK):
            if name == "sgld":
                z, rows = rng.standard_normal((_BLOCK, found.size)), estimate.rows((_BLOCK,), row_rng)
                x, block = one(x, scales, step, z, rows)
            else:
                shape = (_BLOCK, steps)
                z, rows = rng.standard_normal((*shape, found.size)), estimate.rows(shape, row_rng)
                x, v, block = two(x, v, scales, step, z, rows)
            points[c, k : k + _BLOCK] = block[: draws - k]
        sizes[c] = step
    if not np.all(np.isfinite(points)):
        raise FloatingPointError(f"infer.{name} has run away: give a smaller step_size=, or larger batches")
    info = {**begin.info, "sampling_seconds": time.perf_counter() - began, "notes": ["draws are not corrected"]}
    return Samples(constrained(found, points), {"step_size": sizes}, points, info)


@told
def sgld(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
         seed: Any = 0, support: Any = None, progress: bool = True, step_size: float | None = None,
         batch_size: int | None = None) -> Samples:  # fmt: skip
    """Draws by stochastic gradient Langevin dynamics. They are not corrected: the smaller the step, the less is wrong.

    Args:
        batch_size: how many rows of the model's arguments are used for a gradient; all by default.
        step_size: in units of the posterior's standard deviations; found in the warm-up by default.

    Other arguments as `infer.nuts`.
    """
    return _sampled("sgld", target, args, init, draws, warmup, chains, seed, support, progress, step_size, batch_size,
                    1, 0.0)  # fmt: skip


@told
def sghmc(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
          seed: Any = 0, support: Any = None, progress: bool = True, step_size: float | None = None,
          batch_size: int | None = None, steps: int = 10, friction: float = 0.1) -> Samples:  # fmt: skip
    """Draws by stochastic gradient Hamiltonian dynamics with friction, one after every few steps; see `infer.sgld`."""
    return _sampled("sghmc", target, args, init, draws, warmup, chains, seed, support, progress, step_size, batch_size,
                    steps, friction)  # fmt: skip
