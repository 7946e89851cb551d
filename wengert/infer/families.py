"""What the estimators know of a frozen SciPy distribution: its name, its parameters, its draws, its log-density.

`dist(params)` gives SciPy's own object where the parameters are numbers, and its counterpart with traced parameters
where they are being differentiated. The first says what family it is; the second gives parameters and formulas.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.errors import EstimatorError

_OF_MANY_NUMBERS = {
    "multivariate_normal": ("mean", "cov"),
    "multivariate_t": ("loc", "shape", "df"),
    "dirichlet": ("alpha",),
    "multinomial": ("n", "p"),
}
"""Distributions of vectors, with the names of their parameters."""


class FrozenFamily(NamedTuple):
    """A distribution whose parameters are numbers."""

    frozen: Any
    name: str
    discrete: bool
    names: tuple[str, ...]
    """The names of the parameters, in SciPy's order."""
    event: tuple[int, ...]
    """The shape of one draw."""

    @property
    def joint(self) -> bool:
        """Whether the numbers of a draw depend on each other; otherwise they are independent, each with parameters."""
        return self.name in _OF_MANY_NUMBERS

    @property
    def relaxes(self) -> str:
        """What a draw is, if it can be relaxed to real numbers: "bernoulli", "categorical" or nothing."""
        if self.name == "bernoulli":
            return "bernoulli"
        once = self.name == "multinomial" and np.ndim(self.frozen.n) == 0 and int(self.frozen.n) == 1
        return "categorical" if once else ""

    def parameters(self, frozen: Any) -> dict[str, Any]:
        """The parameters of a distribution of this family, those of each number of a draw in the shape of the draw."""
        if self.name not in _OF_MANY_NUMBERS:
            given = {"loc": 0.0, "scale": 1.0, **dict(zip(self.names, frozen.args, strict=False)), **frozen.kwds}
            return {name: np.broadcast_to(given[name], self.event) for name in self.names if name in given}
        given = frozen.kwds if hasattr(frozen, "kwds") else frozen.__dict__
        return {name: given[name] if name in given else getattr(self.frozen, name) for name in self.names}

    def draw(self, samples: int, rng: np.random.Generator) -> np.ndarray:
        """Independent draws, along a leading axis."""
        size = samples if self.joint else (samples, *self.event)
        return np.reshape(self.frozen.rvs(size=size, random_state=rng), (samples, *self.event))

    def log_density(self, frozen: Any, x: Any) -> Any:
        """The logarithm of density or probability of each draw, along a leading axis."""
        at = np.moveaxis(x, 0, -1) if self.name == "dirichlet" else x
        logs = frozen.logpmf(at) if self.discrete else frozen.logpdf(at)
        return logs if self.joint else np.sum(np.reshape(logs, (x.shape[0], -1)), axis=1)


def family_of(frozen: Any) -> FrozenFamily:
    """The family of a distribution with numbers for parameters."""
    if not hasattr(type(frozen), "rvs"):
        if hasattr(frozen, "name") and hasattr(frozen, "kwds"):
            raise EstimatorError(
                "expectation_grad was given traced parameters: a random estimate of a derivative has none itself",
                remedy="call it outside of grad and jit; for second derivatives differentiate a mean over fixed draws",
            )
        raise EstimatorError(
            f"dist must return a frozen distribution of scipy.stats, and returned {_described(frozen)}",
            remedy='write for instance dist=lambda p: stats.norm(p["loc"], p["scale"])',
        )
    inner = getattr(frozen, "dist", None) or getattr(frozen, "_dist", None)
    name = getattr(frozen, "name", None) or type(inner).__name__.removesuffix("_gen")
    discrete = hasattr(frozen, "pmf")
    if name in _OF_MANY_NUMBERS:
        return FrozenFamily(frozen, name, discrete, _OF_MANY_NUMBERS[name], _event_of(name, frozen))
    if inner is None or not hasattr(frozen, "args"):
        event = getattr(frozen, "event", None)
        if event is None:
            raise EstimatorError(
                f"expectation_grad knows no way to differentiate draws of {_described(frozen)}",
                remedy="use a frozen distribution of one number, multivariate_normal, multivariate_t, dirichlet, "
                "multinomial or infer.mixture",
            )
        return FrozenFamily(frozen, name, discrete, (), event)
    shapes = tuple(inner.shapes.replace(",", " ").split()) if inner.shapes else ()
    names = (*shapes, "loc") if discrete else (*shapes, "loc", "scale")
    event = np.broadcast_shapes(*[np.shape(p) for p in (*frozen.args, *frozen.kwds.values())])
    return FrozenFamily(frozen, name, discrete, names, event)


def _event_of(name: str, frozen: Any) -> tuple[int, ...]:
    if name in ("multivariate_normal", "multivariate_t"):
        return (frozen.dim,) if frozen.dim > 1 else ()
    return np.shape(frozen.alpha if name == "dirichlet" else frozen.p)


def _described(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"
