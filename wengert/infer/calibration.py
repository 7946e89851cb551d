"""Simulation-based calibration (Talts et al. 2018): are posteriors what they say they are?

Parameters are drawn from the prior, data from the parameters, and then parameters from the posterior of that data. If
all is right, the first and the last cannot be told apart: the rank of the first among the last is uniform, for every
number that is computed from parameters and data, the log-density among them (Modrák et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from wengert.algorithms.nuts import nuts_transition
from wengert.errors import told
from wengert.infer.adaptation import METRICS
from wengert.infer.chains import Settings, run_chains
from wengert.infer.engine import Engine, first_order
from wengert.infer.pictures import DrawsPicture, plot_ranks
from wengert.infer.result import Samples
from wengert.infer.simulate import OtherDataPosterior, simulated


class Calibration:
    """Ranks of what was drawn among `draws` draws of the posterior, by the name of a number; each simulation has one.

    `p_values` test each of them for being uniform, `ok` all of them together (at one percent), `picture()` shows them.
    """

    def __init__(self, ranks: dict[str, np.ndarray], draws: int, seed: Any):
        self.ranks, self.draws = ranks, draws
        rng = np.random.default_rng(seed)
        self.p_values = {
            # A rank with a random part of the step to the next is uniform on the interval, if the rank is uniform.
            name: float(stats.kstest((rank + rng.random(len(rank))) / (draws + 1), "uniform").pvalue)
            for name, rank in ranks.items()
        }

    @property
    def ok(self) -> bool:
        """Whether the ranks are uniform, as far as these simulations can tell."""
        return min(self.p_values.values()) > 0.01 / len(self.p_values)

    def picture(self) -> DrawsPicture:
        """Histograms of the ranks."""
        return plot_ranks(self.ranks, self.draws)

    def __repr__(self) -> str:
        count = len(next(iter(self.ranks.values())))
        worst = min(self.p_values, key=lambda name: self.p_values[name])
        verdict = "uniform" if self.ok else "not uniform"
        return f"<ranks of {count} simulations are {verdict}: smallest p-value {self.p_values[worst]:.2g} ({worst})>"


@told
def sbc(
    model: Callable,
    *args: Any,
    sampler: Callable | None = None,
    simulations: int = 200,
    draws: int = 100,
    seed: Any = 0,
) -> Calibration:
    """Whether posterior draws are calibrated: ranks of parameters from the prior among draws of the posterior.

    Args:
        model: a model that can be drawn from, with its arguments; of what it observes only the shapes count.
        sampler: a function of (target, draws, seed) that returns draws of the posterior `target`: what a sampler
            returns, or a container with the draws along a leading axis. By default one chain of `infer.nuts`, with five
            times as many draws, of which every fifth is taken.
        simulations: how many data sets.
        draws: how many draws of each posterior the rank is among.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 1)), 1.0))
    >>> infer.sbc(model, np.zeros(3), simulations=20, draws=19).ok
    True
    """
    rng = np.random.default_rng(seed)
    ranks: dict[str, list[int]] = {}
    target = OtherDataPosterior(model, args, simulated(model, args, rng).observed)
    sampler = _one_chain(target) if sampler is None else sampler
    for _ in range(simulations):
        drawn = simulated(model, args, rng)
        target.change(drawn.observed)
        found = sampler(target, draws, int(rng.integers(2**31)))
        container = getattr(found, "draws", found)
        for name, value in drawn.sites.items():
            among = _thinned(np.asarray(container[name]), np.ndim(value), draws)
            for at in np.ndindex(*np.shape(value)):
                label = f"{name}[{', '.join(map(str, at))}]" if at else name
                below = np.sum(among[(slice(None), *at)] < np.asarray(value)[at])
                ranks.setdefault(label, []).append(int(below))
        if isinstance(found, Samples):
            true = target.log_density(target.unconstrain(drawn.sites))
            ranks.setdefault("log-density", []).append(int(np.sum(_thinned(found.stats["lp"], 0, draws) < true)))
    return Calibration({name: np.array(found) for name, found in ranks.items()}, draws, seed)


def _one_chain(target: OtherDataPosterior) -> Callable:
    """NUTS, compiled once for all data."""
    metric = METRICS["diag"]
    engine = Engine(target, nuts_transition, metric.velocity, metric.kick, first_order)

    def sampler(target: OtherDataPosterior, draws: int, seed: int) -> Samples:
        settings = Settings(5 * draws, 500, 0.8, 10, 1.0)
        return run_chains(target, engine, metric, settings, 1, seed, None, False)

    return sampler


def _thinned(x: np.ndarray, event: int, draws: int) -> np.ndarray:
    """So many draws, evenly spaced, of an array with chains and draws, or draws, in front."""
    flat = np.reshape(x, (-1, *x.shape[x.ndim - event :])) if event else np.ravel(x)
    if len(flat) < draws:
        raise ValueError(f"the sampler gave {len(flat)} draws, and {draws} are needed")
    return flat[np.linspace(0, len(flat) - 1, draws).round().astype(int)]
