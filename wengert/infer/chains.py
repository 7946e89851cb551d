"""Chains of a sampler: where they start, warm-up, draws, and what there is after Ctrl-C (`workers.py` runs them).

Each chain has a generator of its own, spawned from the seed, so its draws do not depend on how many run at a time.
"""

from __future__ import annotations

import copy
import time
from typing import Any, NamedTuple

import numpy as np

from wengert.algorithms.chains import STATISTICS
from wengert.api.jit import jit
from wengert.api.vmap import vmap
from wengert.infer.adaptation import METRICS, Metric, windows
from wengert.infer.blas_threads import shared_among
from wengert.infer.culprits import blamed
from wengert.infer.engine import BLOCK, Engine, made_of
from wengert.infer.handlers import ModelError
from wengert.infer.posterior import Posterior
from wengert.infer.result import Samples
from wengert.infer.workers import run_all

_TRIALS = 100
_STARTS = 10
_TINY_STEP = np.log(1e-5)
_BOLD = 50
"""So many transitions of adaptation, or more, begin with steps that are too long."""
_MANY = 0.005
"""If more of the transitions of the last long window diverged, after its first half, they were many."""
_SECONDS = 0.3
"""About so long a block may take, so that Ctrl-C is heard."""


class Settings(NamedTuple):
    """How a sampler is run."""

    draws: int
    warmup: int
    target: float  # acceptance rate; not positive where there is no step size to adapt
    limit: int  # depth, or number of steps
    step: float  # to begin with
    adapts_metric: bool = True


class Chain:
    """One chain."""

    def __init__(self, engine: Engine, metric: Metric, settings: Settings, rng: np.random.Generator, init: Any,
                 exactly: bool = False):  # fmt: skip
        self.engine, self.kind, self.settings = engine, metric, settings
        self.generator, self.watcher = rng, None
        self.rng, self.seeds = copy.deepcopy(rng).spawn(2)
        self.metric = metric.first(engine.posterior.size)
        self.init, self.exactly = init, exactly
        """Where to start, and whether there or around it."""
        self.averaging = np.zeros(5)
        self.state: Any = None
        self.done = 0
        self.steps = 0
        self.warmup_steps = 0
        self.first_draw = 0.0
        self.draws: list[np.ndarray] = []
        self.stats: list[np.ndarray] = []
        self.latest = np.zeros(len(STATISTICS))
        self.divergences = 0
        self._diverged = 0
        """In the second half of this window of the warm-up."""
        self._count = 5

    def results(self) -> dict[str, Any]:
        """What is sent back from another process."""
        found = {name: getattr(self, name) for name in _RESULTS}
        return {**found, "failures": self.engine.failures, "compiled": self.engine.is_compiled}

    def take(self, results: dict[str, Any]) -> None:
        """Let this chain be one that was run elsewhere."""
        for name in _RESULTS:
            setattr(self, name, results[name])
        self.engine.failures += results["failures"]
        self.engine.is_compiled = self.engine.is_compiled and results["compiled"]

    def sent(self) -> SentChain:
        """What is sent to another machine, which makes the chain of it."""
        names = [name for name, kind in METRICS.items() if kind is self.kind]
        return SentChain(self.engine.recipe, names[0], self.settings, self.generator, self.init, self.exactly)

    def run(self, stop: Any) -> None:
        """Everything, until there are enough draws, or somebody says stop.

        Where transitions diverged late in the last long window, the metric is not what was missing: the density has
        places that need shorter steps than most of it. The last window aims at a rate halfway to one then, and once
        more halfway if they were many.
        """
        self._start()
        s = self.settings
        adapts = s.target > 0
        schedule = windows(s.warmup)
        for k, window in enumerate(schedule):
            target = s.target
            if k == len(schedule) - 1 and self._diverged:
                target = (1 + target) / 2
                if self._diverged > _MANY * schedule[k - 1].length:
                    target = (1 + target) / 2
            self._diverged = 0
            positions, gradients = self._transitions(window.length, target if adapts else -1.0, stop, None)
            if stop.is_set():
                return
            if window.learns and s.adapts_metric and len(positions) > 1:
                estimate = self.kind.of_few if window.early else self.kind.estimate
                self.metric = estimate(positions, gradients)
                if adapts:
                    self._restart_step(schedule[k + 1].length)
        if adapts and s.warmup:
            self.averaging[0] = self.averaging[1]
        self.warmup_steps, self.steps = self.steps, 0
        self._transitions(s.draws, -1.0, stop, self)

    def _random(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Random numbers for some transitions, as many as a block has rows.

        They come from two streams one after another, so they do not depend on how transitions are put into blocks.
        """
        normals, seeds = np.zeros((BLOCK, self.engine.posterior.size)), np.zeros(BLOCK, np.uint64)
        normals[:count] = self.rng.standard_normal((count, self.engine.posterior.size))
        seeds[:count] = self.seeds.integers(0, 2**64, size=count, dtype=np.uint64)
        return normals, seeds

    def _start(self) -> None:
        """A point where the log-density and its gradient are finite, and from which steps can be taken.

        Where the density is steep beyond measure (a recurrence that explodes, say) the steps that can be followed are
        so small that a chain would never leave. Of a few such points that with the largest steps is taken; where all
        are alike the posterior is narrow, and none is better than the first.
        """
        self._find_point(0)
        if self.settings.target <= 0:
            return
        self._restart_step()
        best = self.averaging, self.state
        for k in range(_STARTS):
            if best[0][0] > _TINY_STEP:
                break
            self.averaging = np.zeros(5)
            self._find_point(10 * k)
            self._restart_step()
            if self.averaging[0] > best[0][0] + 1.0:
                best = self.averaging, self.state
        self.averaging, self.state = best

    def _find_point(self, first: int) -> None:
        posterior, size = self.engine.posterior, self.engine.posterior.size
        for k in range(first, first + _TRIALS):
            spread = 2.0 ** -(k // 10)
            if self.init is None:
                x = spread * posterior.start(self.rng)
            else:
                away = k < first + _TRIALS - 1 and not (self.exactly and k == 0)
                x = self.init + spread * self.rng.uniform(-1, 1, size) * away
            normals, seeds = self._random(1)
            # A step of length zero evaluates the density where we are.
            still = np.array([-np.inf, 0, 0, 0, 0])
            state = (x, np.float64(0.0), np.zeros(size))
            *_, lp, g = self.engine.run(self.metric, state, still, -1.0, normals, seeds, 1, 1)
            if np.isfinite(lp) and np.all(np.isfinite(g)):
                self.state = (x, np.float64(lp), np.asarray(g))
                return
        raise ModelError(
            f"no point was found at which the log-density is a number, in {_TRIALS} trials{blamed(posterior, x)}",
            remedy="check whether data lie in the support of their distribution (counts are whole numbers), and scales "
            "are positive; or give a point with init=",
        )

    def _restart_step(self, length: int = _BOLD) -> None:
        """A step size that is accepted with a probability near 0.8 (Hoffman and Gelman, algorithm 4).

        Adaptation starts at ten times as much, since long steps are found out quickly; not so if it has to end soon.
        """
        log_step = np.log(self.settings.step) if not self.averaging[3] else self.averaging[0]
        direction = 0
        for _ in range(100):
            normals, seeds = self._random(1)
            still = np.array([log_step, 0, 0, 0, 0])
            statistics = self.engine.run(self.metric, self.state, still, -1.0, normals, seeds, 1, 1)[6]
            sign = 1 if statistics[0, 0] > 0.8 else -1
            if direction and sign != direction:
                break
            direction = sign
            log_step += sign * np.log(2)
        self.averaging = np.array([log_step, 0.0, 0.0, 0.0, log_step + np.log(10) * min(1.0, length / _BOLD)])

    def _transitions(self, length: int, target: float, stop: Any, keep: Any) -> tuple:
        positions, gradients = [], []
        left = length
        while left and not stop.is_set():
            count = min(left, self._count, BLOCK)
            normals, seeds = self._random(count)
            began = time.perf_counter()
            x, lp, g, averaging, draws, slopes, statistics, _, _ = self.engine.run(
                self.metric, self.state, self.averaging, target, normals, seeds, count, self.settings.limit
            )
            took = time.perf_counter() - began
            self.state, self.averaging = (x, lp, g), averaging
            left -= count
            self.done += count
            self.latest = statistics[count - 1]
            self.steps += int(np.sum(statistics[:count, 3]))
            self._count = BLOCK if took * BLOCK < count * _SECONDS else max(1, int(count * _SECONDS / took))
            if keep is None:
                settled = max(length // 2 - (length - left - count), 0)  # steps begin too long, and diverge then
                self._diverged += int(np.sum(statistics[settled:count, 4]))
                positions.append(draws[:count])
                gradients.append(slopes[:count])
            else:
                self.first_draw = self.first_draw or time.perf_counter()
                self.draws.append(draws[:count])
                self.stats.append(statistics[:count])
                self.divergences += int(np.sum(statistics[:count, 4]))
            if self.watcher is not None:
                self.watcher()
        if not positions:
            return np.zeros((0, 0)), np.zeros((0, 0))
        return np.concatenate(positions), np.concatenate(gradients)


class SentChain(NamedTuple):
    """A chain as it travels: what its engine is made of, and how it is run."""

    recipe: tuple
    metric: str
    settings: Settings
    rng: np.random.Generator
    init: Any
    exactly: bool

    def chain(self) -> Chain:
        """The chain, with compiled code of its own."""
        metric = METRICS[self.metric]
        engine = made_of(self.recipe)
        size = engine.posterior.size
        engine.prepare(metric.first(size), np.zeros(size) if self.init is None else self.init)
        return Chain(engine, metric, self.settings, self.rng, self.init, self.exactly)


_RESULTS = (
    "draws",
    "stats",
    "metric",
    "averaging",
    "done",
    "latest",
    "divergences",
    "steps",
    "warmup_steps",
    "first_draw",
)


def sources_of(seed: Any, spawn_key: tuple[int, ...] = ()) -> np.random.SeedSequence:
    """Where the random numbers of all chains come from; a generator is asked for one number."""
    entropy = int(seed.integers(2**63)) if isinstance(seed, np.random.Generator) else seed
    return np.random.SeedSequence(entropy, spawn_key=spawn_key)


def run_chains(
    posterior: Posterior,
    engine: Engine,
    metric: Metric,
    settings: Settings,
    chains: int,
    seed: Any,
    init: Any,
    progress: bool,
    workers: Any = None,
    starts: np.ndarray | None = None,
) -> Samples:
    """All chains of a sampler; `starts` says where each begins, in unconstrained numbers."""
    if chains < 1 or settings.draws < 1 or settings.warmup < 0:
        raise ValueError("chains and draws are at least 1, warmup at least 0")
    began = time.perf_counter()
    generators = [np.random.default_rng(s) for s in sources_of(seed).spawn(chains)]
    start = None if init is None else np.asarray(posterior.unconstrain(init))
    if starts is None:
        all_chains = [Chain(engine, metric, settings, rng, start) for rng in generators]
    else:
        all_chains = [Chain(engine, metric, settings, rng, x, True) for rng, x in zip(generators, starts, strict=True)]
    engine.prepare(metric.first(posterior.size), np.zeros(posterior.size) if start is None else start)
    compiled = time.perf_counter()
    with shared_among(chains):
        interrupted = run_all(all_chains, workers, settings.warmup + settings.draws, progress)
    finished = time.perf_counter()
    if not any(chain.draws for chain in all_chains):
        raise KeyboardInterrupt("before there was a draw")
    # After Ctrl-C chains differ in length; those that had hardly begun would cost the others nearly all of their draws.
    lengths = [sum(map(len, chain.draws)) for chain in all_chains]
    all_chains = [chain for chain, n in zip(all_chains, lengths, strict=True) if 2 * n >= max(lengths)]
    length = min(n for n in lengths if 2 * n >= max(lengths))
    unconstrained = np.stack([np.concatenate(chain.draws)[:length] for chain in all_chains])
    statistics = np.stack([np.concatenate(chain.stats)[:length] for chain in all_chains])
    info = {
        "compile_seconds": compiled - began,
        "sampling_seconds": finished - compiled,
        "seconds_to_first_draw": min(c.first_draw for c in all_chains) - began,
        "gradients": sum(c.steps for c in all_chains),
        "warmup_gradients": sum(c.warmup_steps for c in all_chains),
        "compiled": engine.is_compiled,
        "interrupted": interrupted,
        "metric": [c.metric for c in all_chains],
        "notes": _notes(statistics, engine, interrupted),
    }
    return Samples(constrained(posterior, unconstrained), named_statistics(statistics), unconstrained, info)


def _notes(statistics: np.ndarray, engine: Engine, interrupted: bool) -> list[str]:
    notes = []
    diverging, failed = int(np.sum(statistics[:, :, 4])), int(np.sum(statistics[:, :, 5]))
    if diverging:
        notes.append(f"{diverging} transitions diverged: the posterior has places that this step size cannot follow")
    if failed or engine.failures:
        notes.append(f"{failed} transitions met points where the density was no number, or raised; they were rejected")
    if interrupted:
        notes.append("sampling was interrupted: there are fewer draws than were asked for")
    return notes


_KINDS = {"diverging": bool, "failed": bool, "tree_depth": int, "n_steps": int}


def named_statistics(statistics: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays (chain, draw) by name."""
    return {name: statistics[:, :, k].astype(_KINDS.get(name, float)) for k, name in enumerate(STATISTICS)}


def constrained(posterior: Posterior, unconstrained: np.ndarray) -> Any:
    """All points in the user's container.

    What a model records may need all of its work (a differential equation, say), which is compiled therefore.
    """
    if getattr(posterior, "records", None):
        chains, draws, size = unconstrained.shape
        points = np.reshape(unconstrained, (chains * draws, size))
        try:
            one = jit(posterior.constrain).lower(points[0]).fixed()
            found = [one(u) for u in points]
        except Exception:  # it cannot be compiled, or raises at some point: who asks below is told
            return vmap(vmap(posterior.constrain))(unconstrained)
        return {name: np.stack([x[name] for x in found]).reshape(chains, draws, *np.shape(found[0][name]))
                for name in found[0]}  # fmt: skip
    return vmap(vmap(posterior.values_at))(unconstrained)
