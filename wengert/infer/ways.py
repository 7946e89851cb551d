"""Ways to run a model: to find its sites, to compute its log-density at a point, to find the point of given values."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from wengert.infer import distributions
from wengert.infer.alike import computed
from wengert.infer.aside import PutAside, put_aside
from wengert.infer.discrete import DiscreteSite, TermOfSites, enumerated, summed_out, term_of, values_of
from wengert.infer.handlers import Enough, ModelError
from wengert.infer.transforms import Transform


class PlaceOfSite(NamedTuple):
    """Where the unconstrained numbers of a site lie in u, and the shapes of u's part and of the value."""

    start: int
    stop: int
    inner: tuple[int, ...]
    shape: tuple[int, ...]
    ends: tuple = (False, False)
    """Whether the support of its distribution ends below and above (`distributions.ends_of`)."""


def site_shape(name: str, dist: Any, shape: Any, plates: list[int]) -> tuple[int, ...]:
    """The shape of a site, without the axes of one value."""
    given = distributions.parameter_shape(dist)
    if shape is None:
        try:
            return np.broadcast_shapes(given, tuple(plates))
        except ValueError:
            raise ModelError(
                f"the parameters of the distribution of site {name!r} have shape {given}, its plates {tuple(plates)}",
                remedy="give parameters that broadcast to the plates: the axis of an inner plate is in front",
            ) from None
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

    def __init__(self, rng: np.random.Generator, spread: float):
        super().__init__()
        self.rng, self.spread = rng, spread
        self.sites: dict[str, PlaceOfSite] = {}
        self.discrete: dict[str, tuple[np.ndarray, tuple[int, ...]]] = {}
        self.records: dict[str, Any] = {}
        self.observed: list[str] = []

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name in self.sites or name in self.records or name in self.discrete:
            raise ModelError(f"two sites are called {name!r}", remedy="give each its own name")
        if distributions.is_discrete(dist):
            values, found = values_of(name, dist), site_shape(name, dist, shape, self.plates)
            self.discrete[name] = values, found
            return values[self.rng.integers(0, len(values), found)]
        chosen = transform if transform is not None else distributions.transform_of(dist)
        whole = full_shape(name, dist, shape, self.plates, chosen)
        inner = chosen.unconstrained_shape(whole)
        start = max([site.stop for site in self.sites.values()], default=0)
        ends = distributions.ends_of(dist) if transform is None else (False, False)
        self.sites[name] = PlaceOfSite(start, start + math.prod(inner), inner, whole, ends)
        return chosen.forward(self.spread * self.rng.uniform(-2, 2, inner))[()]

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise ModelError(
                f"observed values of type {array.dtype}",
                remedy='observe numbers: infer.observe(y, stats.norm(mu, sigma)), with a name after them, name="y"',
            )
        if array.dtype.kind == "f" and np.any(np.isnan(array)):
            raise ModelError(
                "observed values contain NaN",
                remedy="leave them out of the data, or make them a site: infer.sample(…) for the missing ones",
            )
        if not array.size:
            raise ModelError("nothing is observed: the array is empty", remedy="leave the observation out")
        if not distributions.event_ndim(dist):
            _demand_that_fits(array.shape, distributions.parameter_shape(dist))
        self.observed.append(observed_name(name, self.observed))

    def record(self, name: str, value: Any) -> None:
        if name in self.sites or name in self.records:
            raise ModelError(f"two sites are called {name!r}", remedy="give each its own name")
        self.records[name] = value


def _demand_that_fits(shape: tuple[int, ...], parameters: tuple[int, ...]) -> None:
    """Raise where the parameters of a distribution do not broadcast to the observed values, if these are several.

    One value may be observed of many distributions; but (n,) values of (n, 1) ones would count n times each.
    """
    try:
        fits = math.prod(shape) == 1 or np.broadcast_shapes(shape, parameters) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ModelError(
            f"values of shape {shape} are observed, but the parameters of their distribution have shape {parameters}",
            remedy="give parameters that broadcast to the values, one for each of them or one for all",
        )


def observed_name(name: str | None, before: list[str]) -> str:
    """What an observation is called."""
    if name is not None:
        return name
    count = sum(known.startswith("observed") for known in before)
    return f"observed_{count}" if count else "observed"


class AtPoint(Handler):
    """Runs a model at a point u; adds up its log-density, keeps the values of the sites and what is recorded.

    Discrete sites stand for all their values. What depends on them is kept as terms (`discrete.py`), in their order;
    `places` says how each of them depends on the elements of arrays. Who looks for that has everything kept (`marks`).
    """

    keeps_marks = False

    def __init__(
        self, sites: dict[str, PlaceOfSite], u: Any, discrete: dict | None = None, places: list[dict] | None = None
    ):
        super().__init__()
        self.sites, self.u, self.discrete, self.places = sites, u, discrete or {}, places or []
        self.total: Any = 0.0
        self.values: dict[str, Any] = {}
        self.summed: list[DiscreteSite] = []
        self.terms: list[TermOfSites] = []
        self.marks: list[Any] = []
        self.memo: dict = {}
        self.axes: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.aside: list[PutAside] = []
        """What is computed at the end, all that looks alike at once, if no discrete site is an array."""
        self.puts_aside = bool(self.discrete) and not any(shape for _, shape in self.discrete.values())

    def add_density(self, dist: Any, value: Any) -> None:
        """The log-density of a value counts."""
        if self.puts_aside and self.summed:
            mark = put_aside(dist, value, self.numbers, self.axes)
            if mark is not None:
                self.aside.append(mark)
                return
        self.add(distributions.log_density(dist, value))

    def add(self, logp: Any) -> None:
        """Something that counts."""
        if self.keeps_marks:
            self.marks.append(logp)
        if self.summed:
            term = term_of(logp, self.summed, len(self.terms))
            if term.axes:
                self.terms.append(term)
                return
        self.total = self.total + np.sum(logp)

    def log_density(self) -> Any:
        """The sum of everything, with discrete sites summed out."""
        if not self.summed:
            return self.total
        rest = term_of(self.total, self.summed, -1)  # of loops, where nobody can tell what depends on what
        if rest.axes and any(site.shape and site.axis in rest.axes for site in self.summed):
            raise ModelError(
                "a loop over the elements of a discrete site",
                remedy="observe all at once, infer.observe(y, stats.norm(mu[z], s)); or give each element a site, "
                'infer.sample(f"z{t}", …)',
            )
        if len(self.terms) != len(self.places) and any(site.shape for site in self.summed):
            raise ModelError(
                "a loop in which something depends on a discrete site that is an array",
                remedy="observe all at once, infer.observe(y, stats.norm(mu[z], s))",
            )
        places = {(k, name): place for k, found in enumerate(self.places) for name, place in found.items()}
        return summed_out([*self.terms, rest], self.summed, places, computed(self.aside))

    def value(self, name: str) -> Any:
        """What a site or record is."""
        if self.summed and term_of(self.values[name], self.summed, -1).axes:
            raise ModelError(
                f"what is recorded as {name!r} depends on a discrete site, which is summed out",
                remedy="record what does not depend on it, such as the probabilities of its values",
            )
        return self.values[name]

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name in self.discrete:
            values, found = self.discrete[name]
            value, summed = enumerated(name, values, found, self.memo)
            self.numbers[id(summed.axis)] = len(self.summed)
            self.axes.append(summed.axis)
            self.summed.append(summed)
            self.add_density(dist, value)
            return value
        if name not in self.sites:
            raise ModelError(
                f"site {name!r} is there at some points and not at others",
                remedy="sample it always, and use np.where where it counts",
            )
        site = self.sites[name]
        chosen = transform if transform is not None else distributions.transform_of(dist, site.ends)
        inner = np.reshape(self.u[site.start : site.stop], site.inner)
        value = chosen.forward(inner)[()]
        self.add_density(dist, value)
        self.add(chosen.log_jacobian(inner))
        self.values[name] = value
        return value

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        self.add_density(dist, value)

    def factor(self, logp: Any) -> None:
        self.add(logp)

    def record(self, name: str, value: Any) -> None:
        self.values[name] = value


class ValuesAtPoint(AtPoint):
    """Runs a model at a point for the values of its sites only: it stops where it has all of them."""

    def __init__(self, wanted: list[str], *args: Any):
        super().__init__(*args)
        self.missing = set(wanted)

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        value = super().sample(name, dist, shape, transform)
        self.missing.discard(name)
        if not self.missing:
            raise Enough
        return value


class WithMarks(AtPoint):
    """The same, which keeps what each mark adds."""

    keeps_marks = True


class WithGivenValues(WithMarks):
    """Runs a model at a point with given values of its discrete sites (`probing.py`)."""

    def __init__(self, sites: dict[str, PlaceOfSite], u: Any, given: dict[str, Any]):
        super().__init__(sites, u)
        self.given = given

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if name not in self.given:
            return super().sample(name, dist, shape, transform)
        value = self.given[name][()]
        self.add(distributions.log_density(dist, value))
        return value


class Unconstrain(Handler):
    """Runs a model with given values of its sites, to find the point u."""

    def __init__(self, sites: dict[str, PlaceOfSite], values: dict[str, Any]):
        super().__init__()
        self.sites, self.values = sites, values
        self.parts: dict[str, Any] = {}

    def sample(self, name: str, dist: Any, shape: Any, transform: Transform | None) -> Any:
        if distributions.is_discrete(dist):
            values, found = values_of(name, dist), site_shape(name, dist, shape, self.plates)
            return values[np.zeros(found, dtype=int)]
        if name not in self.values:
            raise ModelError(f"there is no value for site {name!r}", remedy="give one for each site")
        chosen = transform if transform is not None else distributions.transform_of(dist)
        site = self.sites[name]
        given = np.asarray(self.values[name], dtype=float)
        if given.shape != site.shape and given.size != 1:
            raise ModelError(
                f"a value of shape {given.shape} for site {name!r}, whose shape is {site.shape}",
                remedy="give a value of that shape, or one number for all",
            )
        value = np.broadcast_to(given if given.shape == site.shape else np.reshape(given, ()), site.shape)
        with np.errstate(all="ignore"):
            part = chosen.inverse(value)
        if not np.all(np.isfinite(part)):
            raise ModelError(
                f"the value {self.values[name]!r} of site {name!r} is not in its support",
                remedy="give a value strictly inside of it",
            )
        self.parts[name] = np.reshape(part, -1)
        if len(self.parts) == len(self.sites):
            raise Enough
        return value if value.shape else value[()]

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        pass
