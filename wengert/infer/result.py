"""What a sampler returns: draws in the user's container, statistics of the transitions, and a summary."""

from __future__ import annotations

import importlib
import re
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.infer import diagnostics

_KEY, _AS_ATTRIBUTE = re.compile(r"\['([^']*)'\]"), r".\1"
"""Keys of containers in containers are named `outer.inner`."""


class SummaryRow(NamedTuple):
    """What a summary says of one number."""

    mean: float
    sd: float
    q5: float
    q50: float
    q95: float
    mcse_mean: float
    mcse_sd: float
    ess_bulk: float
    ess_tail: float
    r_hat: float


class SummaryTable(dict):
    """Rows by the name of a number (`theta[3]`); shown as a table."""

    def __repr__(self) -> str:
        width = max([len(name) for name in self], default=4)
        lines = [" " * width + "".join(f"{field:>11}" for field in SummaryRow._fields)]
        for name, row in self.items():
            cells = [
                f"{v:>11.0f}" if f.startswith("ess") else f"{v:>11.4g}" for f, v in zip(row._fields, row, strict=True)
            ]
            lines.append(f"{name:<{width}}" + "".join(cells))
        return "\n".join(lines)


def names_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """A name for each number of an array."""
    if not shape:
        return [name]
    return [f"{name}[{', '.join(map(str, index))}]" for index in np.ndindex(*shape)]


class Samples:
    """Draws of a sampler.

    Attributes:
        draws: the user's container (for a model a dict of sites and records), each array with the axes chain, draw in
            front.
        stats: a dict of arrays (chain, draw): acceptance rate, step size, tree depth, number of steps (gradients),
            whether it diverged, whether the density was no number, energy, log-density `lp` on the unconstrained scale.
        unconstrained: the points u, (chain, draw, size).
        info: what else there is to know: times, numbers of gradients, the metric and step size of each chain, notes.
    """

    def __init__(self, draws: Any, stats: dict[str, np.ndarray], unconstrained: np.ndarray, info: dict[str, Any]):
        self.draws, self.stats, self.unconstrained, self.info = draws, stats, unconstrained, info

    def _named(self) -> list[tuple[str, np.ndarray]]:
        if isinstance(self.draws, dict):
            found = []
            for name, x in self.draws.items():
                for path, leaf in zip(tree.paths(x), tree.leaves(x), strict=True):
                    if np.ndim(leaf) >= 2:
                        found.append((f"{name}{re.sub(_KEY, _AS_ATTRIBUTE, path)}", np.asarray(leaf)))
            return found
        paths = tree.paths(self.draws)
        leaves = [np.asarray(x) for x in tree.leaves(self.draws)]
        return [(path or "x", x) for path, x in zip(paths, leaves, strict=True)]

    def summary(self) -> SummaryTable:
        """Mean, standard deviation, quantiles, Monte Carlo errors, effective sample sizes and R-hat of each number."""
        rows = SummaryTable()
        for name, x in self._named():
            if x.dtype.kind not in "biuf":
                continue
            flat = x.reshape(*x.shape[:2], -1).astype(float)
            for k, label in enumerate(names_of(name, x.shape[2:])):
                y = flat[:, :, k]
                q5, q50, q95 = np.quantile(y, [0.05, 0.5, 0.95])
                rows[label] = SummaryRow(
                    float(np.mean(y)),
                    float(np.std(y, ddof=1)),
                    float(q5),
                    float(q50),
                    float(q95),
                    diagnostics.mcse_mean(y),
                    diagnostics.mcse_sd(y),
                    diagnostics.ess_bulk(y),
                    diagnostics.ess_tail(y),
                    diagnostics.rhat(y),
                )
        return rows

    def to_arviz(self, **groups: dict[str, np.ndarray]) -> Any:
        """The draws and statistics as ArviZ has them, if it is installed (`pip install wengert[arviz]`).

        Args:
            groups: more of them, of arrays (chain, draw, …): `log_likelihood=infer.log_likelihood(…)`, from which
                `arviz.loo` compares models, `posterior_predictive=infer.posterior_predictive(…)`.

        Without ArviZ a dictionary of the same groups, of dictionaries of arrays (chain, draw, …); groups are attributes
        as well, so that `result.to_arviz().posterior["mu"]` is there in any case.
        """
        posterior = {name: x for name, x in self._named() if x.dtype.kind in "biuf"}
        groups = {"posterior": posterior, "sample_stats": dict(self.stats), **groups}
        try:
            arviz = importlib.import_module("arviz")
        except ImportError:
            return Groups(groups)
        return arviz.from_dict(groups) if _takes_groups(arviz) else arviz.from_dict(**groups)

    def __repr__(self) -> str:
        chains, draws = self.unconstrained.shape[:2]
        diverging = int(np.sum(self.stats.get("diverging", 0)))
        return f"<{chains} chains of {draws} draws, {diverging} divergences>"


def _takes_groups(arviz: Any) -> bool:
    """Whether ArviZ wants one dict of groups, as it does since its version 1."""
    return int(str(getattr(arviz, "__version__", "0")).split(".")[0]) >= 1


class Groups(dict):
    """Dictionaries of arrays under the names that ArviZ has for them, which are attributes, too."""

    def __getattr__(self, name: str) -> dict[str, np.ndarray]:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no group {name!r}: there are {', '.join(self)}") from None

    def __repr__(self) -> str:
        lines = [f"{group}: {', '.join(f'{k} {v.shape}' for k, v in arrays.items())}" for group, arrays in self.items()]
        return "\n".join(lines)
