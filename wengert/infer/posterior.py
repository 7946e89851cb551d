"""A model and its data, as a log-density on unconstrained numbers.

The model is run once, on plain numbers, to find its sites: names, shapes, supports. From then on a point is one vector
u that holds the unconstrained numbers of all sites one after another, and

    log_density(u) = log p(x(u), data) + log |∂x/∂u|

is a plain function, which is differentiated and compiled as any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.infer import distributions
from wengert.infer.handlers import ModelError, run_under
from wengert.infer.transforms import Transform, real

_LOOKS = 3
"""So many times a model is run to see whether it always has the same sites."""


class PlaceOfSite(NamedTuple):
    """Where the unconstrained numbers of a site lie in u, and the shapes of u's part and of the value."""

    start: int
    stop: int
    inner: tuple[int, ...]
    shape: tuple[int, ...]


def site_shape(name: str, dist: Any, shape: Any, plates: list[int]) -> tuple[int, ...]:
    """The shape of a site, without the axes of one value."""
    given = distributions.parameter_shape(dist)
    if shape is None:
        return np.broadcast_shapes(given, tuple(plates))
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
    if wanted[: len(plates)] != tuple(plates):
        wanted = (*plates, *wanted)
    try:
        fits = np.broadcast_shapes(given, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ModelError(
            f"site {name!r} is to have shape {wanted}, but the parameters of its distribution have shape {given}",
            remedy="leave shape away, or give parameters that broadcast to it",
        )
    return wanted


def full_shape(name: str, dist: Any, shape: Any, plates: list[int], transform: Transform | None) -> tuple[int, ...]:
    """The shape of a site's value, with the axes of one value; a transform of vectors has them in `shape`."""
    found = (*site_shape(name, dist, shape, plates), *distributions.event_shape(dist))
    events = max(distributions.event_ndim(dist), transform.event_ndim if transform is not None else 0)
    if len(found) < events:
        raise ModelError(
            f"site {name!r} is a {'vector' if events == 1 else 'matrix'}, whose size is not given",
            remedy=f"write shape={'n' if events == 1 else '(n, n)'}",
        )
    return found


class Handler:
    """What all ways to run a model have in common."""

    def __init__(self) -> None:
        self.plates: list[int] = []

    def factor(self, logp: Any) -> None:
        pass

    def record(self, name: str, value: Any) -> None:
        pass


class FindSites(Handler):
    """Runs a model on plain numbers, drawn uniformly on the unconstrained scale, to see which sites it has."""

    def __init__(self, rng: np.random.Generator):
        super().__init__()
        self.rng = rng
        self.sites: dict[str, PlaceOfSite] = {}
        self.records: dict[str, Any] = {}
        self.observed: list[str] = []

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name in self.sites or name in self.records:
            raise ModelError(f"two sites are called {name!r}", remedy="give each its own name")
        if distributions.is_discrete(dist):
            raise ModelError(f"site {name!r} is discrete", remedy="sum it out by hand")
        chosen = transform if transform is not None else distributions.transform_of(dist)
        whole = full_shape(name, dist, shape, self.plates, chosen)
        inner = chosen.unconstrained_shape(whole)
        start = max([site.stop for site in self.sites.values()], default=0)
        self.sites[name] = PlaceOfSite(start, start + math.prod(inner), inner, whole)
        return chosen.forward(self.rng.uniform(-2, 2, inner))

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise ModelError(f"observed values of type {array.dtype}", remedy="observe numbers")
        if array.dtype.kind == "f" and np.any(np.isnan(array)):
            raise ModelError(
                "observed values contain NaN",
                remedy="leave them out of the data, or make them a site: infer.sample(…) for the missing ones",
            )
        if not array.size:
            raise ModelError("nothing is observed: the array is empty", remedy="leave the observation out")
        self.observed.append(observed_name(name, self.observed))

    def record(self, name: str, value: Any) -> None:
        if name in self.sites or name in self.records:
            raise ModelError(f"two sites are called {name!r}", remedy="give each its own name")
        self.records[name] = value


def observed_name(name: str | None, before: list[str]) -> str:
    """What an observation is called."""
    if name is not None:
        return name
    count = sum(known.startswith("observed") for known in before)
    return f"observed_{count}" if count else "observed"


class AtPoint(Handler):
    """Runs a model at a point u; adds up its log-density, keeps the values of the sites and what is recorded."""

    def __init__(self, sites: dict[str, PlaceOfSite], u: Any):
        super().__init__()
        self.sites, self.u = sites, u
        self.total: Any = 0.0
        self.values: dict[str, Any] = {}

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name not in self.sites:
            raise ModelError(
                f"site {name!r} is there at some points and not at others",
                remedy="sample it always, and use np.where where it counts",
            )
        site = self.sites[name]
        chosen = transform if transform is not None else distributions.transform_of(dist)
        inner = np.reshape(self.u[site.start : site.stop], site.inner)
        value = chosen.forward(inner)
        self.total = self.total + np.sum(distributions.log_density(dist, value)) + chosen.log_jacobian(inner)
        self.values[name] = value
        return value

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        self.total = self.total + np.sum(distributions.log_density(dist, value))

    def factor(self, logp: Any) -> None:
        self.total = self.total + np.sum(logp)

    def record(self, name: str, value: Any) -> None:
        self.values[name] = value


class Unconstrain(Handler):
    """Runs a model with given values of its sites, to find the point u."""

    def __init__(self, sites: dict[str, PlaceOfSite], values: dict[str, Any]):
        super().__init__()
        self.sites, self.values = sites, values
        self.parts: dict[str, Any] = {}

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name not in self.values:
            raise ModelError(f"there is no value for site {name!r}", remedy="give one for each site")
        chosen = transform if transform is not None else distributions.transform_of(dist)
        site = self.sites[name]
        value = np.broadcast_to(np.asarray(self.values[name], dtype=float), site.shape)
        with np.errstate(all="ignore"):
            part = chosen.inverse(value)
        if not np.all(np.isfinite(part)):
            raise ModelError(
                f"the value {self.values[name]!r} of site {name!r} is not in its support",
                remedy="give a value strictly inside of it",
            )
        self.parts[name] = np.reshape(part, -1)
        return value if value.shape else value[()]

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        pass


class Posterior:
    """A log-density of a vector u of `size` unconstrained numbers, and how points of the user's look there.

    `log_density(u)` can be differentiated and compiled; `constrain(u)` gives the user's container (for a model a dict
    of sites and records), `unconstrain(container)` the vector, `start(rng)` a random point to start from.
    """

    size: int
    names: list[str]
    """A name for each site (or each leaf of a container)."""

    def log_density(self, u: Any) -> Any:
        raise NotImplementedError

    def constrain(self, u: Any) -> Any:
        raise NotImplementedError

    def unconstrain(self, point: Any) -> np.ndarray:
        raise NotImplementedError

    def start(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-2, 2, self.size)


class ModelPosterior(Posterior):
    """The posterior of a model."""

    def __init__(self, model: Callable, args: tuple, seed: int = 0):
        self.model, self.args = model, args
        rng = np.random.default_rng(seed)
        looks = []
        for _ in range(_LOOKS):
            finding = FindSites(rng)
            with np.errstate(all="ignore"):
                run_under(finding, model, args)
            looks.append(finding)
        self.sites, self.records, self.observed = looks[0].sites, list(looks[0].records), looks[0].observed
        if any(look.sites != self.sites for look in looks):
            differing = set().union(*[set(look.sites.items()) ^ set(self.sites.items()) for look in looks])
            name = min(name for name, _ in differing)
            raise ModelError(
                f"site {name!r} is there at some points and not at others, or has another shape there",
                remedy="sample it always, in one shape, and use np.where where it counts",
            )
        if not self.sites:
            raise ModelError(
                "the model has no site", remedy='mark what is random: infer.sample("mu", stats.norm(0, 1))'
            )
        self.names = list(self.sites)
        self.size = max(site.stop for site in self.sites.values())

    def _at(self, u: Any) -> AtPoint:
        handler = AtPoint(self.sites, u)
        run_under(handler, self.model, self.args)
        return handler

    def log_density(self, u: Any) -> Any:
        return self._at(u).total

    def constrain(self, u: Any) -> dict[str, Any]:
        values = self._at(u).values
        return {name: values[name] for name in [*self.names, *self.records]}

    def unconstrain(self, point: dict[str, Any]) -> np.ndarray:
        handler = Unconstrain(self.sites, point)
        run_under(handler, self.model, self.args)
        return np.concatenate([handler.parts[name] for name in self.names])


class DensityPosterior(Posterior):
    """A log-density of one container, on the support that a container of transforms says."""

    def __init__(self, density: Callable, args: tuple, init: Any, support: Any = None):
        self.density, self.args = density, args
        leaves, self.structure = tree.flatten(init)
        self.values = [np.asarray(leaf, dtype=float) for leaf in leaves]
        self.names = tree.paths(init)
        self.transforms = _per_leaf(support, init, len(leaves))
        self.sites: list[PlaceOfSite] = []
        start = 0
        for value, transform in zip(self.values, self.transforms, strict=True):
            inner = transform.unconstrained_shape(value.shape)
            self.sites.append(PlaceOfSite(start, start + math.prod(inner), inner, value.shape))
            start = self.sites[-1].stop
        self.size = start

    def _parts(self, u: Any) -> list[Any]:
        return [np.reshape(u[site.start : site.stop], site.inner) for site in self.sites]

    def constrain(self, u: Any) -> Any:
        parts = self._parts(u)
        return tree.unflatten(self.structure, [t.forward(p) for t, p in zip(self.transforms, parts, strict=True)])

    def log_density(self, u: Any) -> Any:
        total = self.density(self.constrain(u), *self.args)
        for transform, part in zip(self.transforms, self._parts(u), strict=True):
            total = total + transform.log_jacobian(part)
        return total

    def unconstrain(self, point: Any) -> np.ndarray:
        leaves, structure = tree.flatten(point)
        if structure != self.structure:
            raise ModelError("a point in another container than that of init=", remedy="give it in the same container")
        with np.errstate(all="ignore"):
            parts = [np.reshape(t.inverse(x), -1) for t, x in zip(self.transforms, leaves, strict=True)]
        u = np.concatenate(parts) if parts else np.zeros(0)
        if not np.all(np.isfinite(u)):
            raise ModelError("a point that is not in the support", remedy="give one strictly inside of it")
        return u


def _per_leaf(support: Any, init: Any, count: int) -> list[Transform]:
    """The transform of each leaf: `support` is one for all, or a container of them; `None` is all numbers."""
    if support is None:
        return [real] * count
    if isinstance(support, Transform):
        return [support] * count
    is_leaf = lambda x: x is None or isinstance(x, Transform)
    found, structure = tree.flatten_until(support, is_leaf)
    _, expected = tree.flatten(init)
    if len(found) != count or not all(map(is_leaf, found)):
        raise ModelError(
            "support= has another form than init=",
            remedy="give a container like init=, with a transform (infer.transforms) or None for each array",
        )
    del structure, expected
    return [real if transform is None else transform for transform in found]


def posterior(target: Callable, *args: Any, init: Any = None, support: Any = None) -> Posterior:
    """A log-density on unconstrained numbers, of a model and its data, or of a log-density and where it starts.

    Args:
        target: a model with its arguments; or, where `init` (or `support`) is given, a function of one container and
            these arguments that returns a log-density.
        init: a container in the form of a point, if target is a log-density.
        support: a container of `infer.transforms` in the form of init.

    >>> import numpy as np
    >>> from wengert import infer
    >>> p = infer.posterior(lambda x: -x["s"], init={"s": 1.0}, support={"s": infer.transforms.positive})
    >>> p.size, p.constrain(np.array([0.0])), p.log_density(np.array([0.0]))
    (1, {'s': np.float64(1.0)}, np.float64(-1.0))
    """
    if isinstance(target, Posterior):
        return target
    if init is not None and not _is_model_point(target, args, init, support):
        return DensityPosterior(target, args, init, support)
    return ModelPosterior(target, args)


def _is_model_point(target: Callable, args: tuple, init: Any, support: Any) -> bool:
    """Whether `init` is where to start with a model; a log-density takes it as its first argument."""
    if support is not None or not isinstance(init, dict):
        return False
    try:
        found = ModelPosterior(target, args)
    except Exception:
        return False
    return set(found.names) == set(init)
