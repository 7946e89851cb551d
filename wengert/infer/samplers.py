"""The samplers: NUTS, Hamiltonian Monte Carlo, Langevin's, slices and random walks, with one way to call them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert.algorithms.nuts import DEEPEST, nuts_transition
from wengert.algorithms.softabs import riemannian_transition
from wengert.algorithms.trajectories import hmc_transition, random_walk_transition, slice_transition
from wengert.errors import told
from wengert.infer.adaptation import METRICS, Metric
from wengert.infer.chains import Settings, run_chains
from wengert.infer.engine import Engine, first_order, third_order, value_only
from wengert.infer.posterior import posterior
from wengert.infer.result import Samples

_APPROACH, _NOT_DEEP = 100, 8
"""How NUTS finds a start for samplers whose steps are short far away: transitions, and the depth of trees."""
_NO_TARGET = -1.0
"""Of samplers that have no step size to adapt."""


def _metric(name: str) -> Metric:
    if name not in METRICS:
        raise ValueError(f"metric is one of {', '.join(METRICS)}, not {name!r}")
    return METRICS[name]


def _sampled(target: Callable, args: tuple, transition: Callable, metric: str, settings: Settings, chains: int,
             seed: Any, init: Any, support: Any, progress: bool, workers: Any,
             density: Callable = first_order, approach: int = 0) -> Samples:  # fmt: skip
    """`approach`: so many transitions of the warm-up are done by NUTS, which finds the way from afar."""
    kind = _metric(metric)
    if settings.target != _NO_TARGET and not 0 < settings.target < 1:
        raise ValueError(f"target_accept is a rate between 0 and 1, not {settings.target}")
    found = posterior(target, *args, init=init, support=support)
    engine = Engine(found, transition, kind.velocity, kind.kick, density)
    if not approach:
        return run_chains(found, engine, kind, settings, chains, seed, init, progress, workers)
    leading = Engine(found, nuts_transition, kind.velocity, kind.kick, first_order)
    begun = run_chains(
        found, leading, kind, Settings(1, approach, 0.8, _NOT_DEEP, 1.0), chains, seed, init, False, workers
    )
    if begun.info["interrupted"]:
        raise KeyboardInterrupt("before there was a draw")
    left = settings._replace(warmup=settings.warmup - approach)
    result = run_chains(found, engine, kind, left, chains, seed, init, progress, workers, begun.unconstrained[:, -1])
    result.info["warmup_gradients"] += begun.info["warmup_gradients"]
    for name in ("compile_seconds", "sampling_seconds", "seconds_to_first_draw"):
        result.info[name] += begun.info[name]
    return result


@told
def nuts(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
         seed: Any = 0, metric: str = "diag", target_accept: float = 0.8, support: Any = None, progress: bool = True,
         max_depth: int = 10, workers: Any = None) -> Samples:  # fmt: skip
    """Draws from a posterior by the no-U-turn sampler, with Stan's adaptation, in native code.

    Args:
        target: a model with its arguments; or a log-density of one container, the form of which `init` gives.
        init: where to start: a container (for a model a dict of all its sites). Chains start around it.
        draws, warmup, chains: numbers; the warm-up is not kept.
        seed: the same seed gives the same draws, whatever the number of workers. A number, or a generator of NumPy's.
        metric: "diag", "dense" (of correlated posteriors), or "low-rank" (of many correlated unknowns).
        target_accept: the acceptance rate the step size is adapted to; larger is slower and has fewer divergences.
            Where transitions still diverge late in the warm-up, it ends with a rate halfway to one, or nearer.
        support: a container of `infer.transforms` in the form of init, for a log-density on that support.
        progress: whether a terminal shows how far it is.
        max_depth: a trajectory has at most 2 to this power steps.
        workers: how many chains run at a time, in threads; the number of cores by default. "processes" runs each in a
            process of its own, which helps a density that cannot be compiled; a client of dask.distributed on its
            workers.

    Returns:
        `.draws`, `.stats`, `.summary()`, `.to_arviz()`.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     mu = infer.sample("mu", stats.norm(0, 10))
    ...     infer.observe(y, stats.norm(mu, 1.0))
    >>> result = infer.nuts(model, np.array([1.0, 2.0, 3.0]), draws=500, warmup=500, chains=2)
    >>> bool(abs(result.draws["mu"].mean() - 2.0) < 0.1), result.draws["mu"].shape
    (True, (2, 500))
    """
    if not 1 <= max_depth <= DEEPEST:
        raise ValueError(f"max_depth is between 1 and {DEEPEST}, not {max_depth}")
    settings = Settings(draws, warmup, target_accept, max_depth, 1.0)
    return _sampled(target, args, nuts_transition, metric, settings, chains, seed, init, support, progress, workers)


@told
def hmc(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
        seed: Any = 0, metric: str = "diag", target_accept: float = 0.8, support: Any = None, progress: bool = True,
        steps: int = 20, workers: Any = None) -> Samples:  # fmt: skip
    """Draws by Hamiltonian Monte Carlo, in 1 to `steps` leapfrog steps. Other arguments as `infer.nuts`."""
    settings = Settings(draws, warmup, target_accept, int(steps), 1.0)
    return _sampled(target, args, hmc_transition, metric, settings, chains, seed, init, support, progress, workers)


@told
def mala(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
         seed: Any = 0, metric: str = "diag", target_accept: float = 0.574, support: Any = None, progress: bool = True,
         workers: Any = None) -> Samples:  # fmt: skip
    """Draws by the Metropolis-adjusted Langevin algorithm: one leapfrog step. Other arguments as `infer.nuts`."""
    settings = Settings(draws, warmup, target_accept, 1, 1.0)
    return _sampled(target, args, hmc_transition, metric, settings, chains, seed, init, support, progress, workers)


@told
def random_walk(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
                seed: Any = 0, metric: str = "diag", target_accept: float = 0.234, support: Any = None,
                progress: bool = True, workers: Any = None) -> Samples:  # fmt: skip
    """Draws by Metropolis's random walk, for comparison; it needs no gradient. Other arguments as `infer.nuts`."""
    settings = Settings(draws, warmup, target_accept, 1, 1.0)
    return _sampled(target, args, random_walk_transition, metric, settings, chains, seed, init, support, progress,
                    workers, density=value_only)  # fmt: skip


@told
def slice(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000, chains: int = 4,
          seed: Any = 0, metric: str = "diag", support: Any = None, progress: bool = True,
          workers: Any = None) -> Samples:  # fmt: skip
    """Draws by slice sampling along random directions, for comparison; it needs no gradient and no tuning."""
    settings = Settings(draws, warmup, _NO_TARGET, 20, 2.0)
    return _sampled(target, args, slice_transition, metric, settings, chains, seed, init, support, progress, workers,
                    density=value_only)  # fmt: skip


@told
def riemannian_hmc(target: Callable, *args: Any, init: Any = None, draws: int = 1000, warmup: int = 1000,
                   chains: int = 4, seed: Any = 0, target_accept: float = 0.95, support: Any = None,
                   progress: bool = True, steps: int = 25, alpha: float = 2.0,
                   workers: Any = None) -> Samples:  # fmt: skip
    """Draws by Riemannian Hamiltonian Monte Carlo: at each point the Hessian, made positive (soft-abs), is the metric.

    For few unknowns whose scales vary a lot over the posterior. It needs derivatives of third order, which are exact.
    The first hundred transitions of the warm-up are those of NUTS, since far from where the posterior is a metric that
    changes so quickly allows of tiny steps only.

    Trajectories have 1 to `steps` steps. Curvatures below 1/`alpha` are taken for 1/`alpha`: with a larger one wide
    parts of a density are crossed in fewer steps (a funnel in ten dimensions: 1000), but steps fail where the curvature
    changes its sign, and chains may be held up there. Other arguments as `infer.nuts`.
    """
    if not alpha > 0:
        raise ValueError(f"alpha is a positive number, not {alpha}")
    settings = Settings(draws, warmup, target_accept, int(steps), 0.5, adapts_metric=False)
    transition = functools.partial(riemannian_transition, float(alpha))
    return _sampled(target, args, transition, "diag", settings, chains, seed, init, support, progress,
                    workers, density=third_order, approach=min(_APPROACH, warmup // 4))  # fmt: skip
