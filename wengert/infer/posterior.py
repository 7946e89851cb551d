"""A model and its data, as a log-density on unconstrained numbers.

The model is run once, on plain numbers, to find its sites: names, shapes, supports. From then on a point is one vector
u that holds the unconstrained numbers of all sites one after another, and

    log_density(u) = log p(x(u), data) + log |∂x/∂u|

is a plain function, which is differentiated and compiled as any other.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.alternatives import followed
from wengert.api.grad import value_and_grad
from wengert.errors import told
from wengert.infer.compiling import compiled, is_of_the_point, logs_of_rows
from wengert.infer.discrete import term_of
from wengert.infer.handlers import ModelError, run_under, run_until_enough
from wengert.infer.probing import places_of
from wengert.infer.transforms import Transform, real
from wengert.infer.ways import AtPoint, FindSites, PlaceOfSite, Unconstrain, ValuesAtPoint, WithGivenValues, WithMarks

_LOOKS = 3
"""So many times a model is run to see whether it always has the same sites."""
_TRIALS = 20
"""So many times at most, where it raises at some of the points."""


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

    @functools.cached_property
    def value_and_gradient(self) -> Callable:
        """The log-density and its gradient, compiled."""
        return compiled(value_and_grad(self.log_density))

    @functools.cached_property
    def log_densities(self) -> Callable:
        """The log-densities of the rows of a matrix, compiled; −∞ where one is NaN or raises."""
        return logs_of_rows(self.log_density)

    def __getstate__(self) -> dict[str, Any]:
        """What is compiled does not travel."""
        return {k: v for k, v in vars(self).items() if k not in ("value_and_gradient", "log_densities")}

    def constrain(self, u: Any) -> Any:
        raise NotImplementedError

    def sites_at(self, u: Any) -> Any:
        """The same without records."""
        return self.constrain(u)

    def values_at(self, u: Any) -> Any:
        """The same, where as little of a model is run as there has to be; not for code that is compiled."""
        return self.constrain(u) if getattr(self, "records", None) else self.sites_at(u)

    def unconstrain(self, point: Any) -> np.ndarray:
        raise NotImplementedError

    def start(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-2, 2, self.size)


class ModelPosterior(Posterior):
    """The posterior of a model."""

    def __init__(self, model: Callable, args: tuple, seed: int = 0):
        self.model, self.args = model, args
        _demand_arguments(model, args)
        rng = np.random.default_rng(seed)
        looks = _found(_LOOKS, lambda spread: self._run(FindSites(rng, spread)))
        self.sites, self.records, self.observed = looks[0].sites, list(looks[0].records), looks[0].observed
        self.discrete = looks[0].discrete
        self.places: list[dict[str, np.ndarray]] = []
        forms = [{**look.sites, **{name: shape for name, (_, shape) in look.discrete.items()}} for look in looks]
        if any(form != forms[0] for form in forms):
            differing = set().union(*[set(form.items()) ^ set(forms[0].items()) for form in forms])
            name = min(name for name, _ in differing)
            places = [form[name] for form in forms if isinstance(form.get(name), PlaceOfSite)]
            if len(places) == len(forms) and len({place[:4] for place in places}) == 1:
                raise ModelError(
                    f"where the support of site {name!r} ends may differ from point to point",
                    remedy="give it a transform=, such as infer.transforms.lower(loc), on which all of its values lie",
                )
            raise ModelError(
                f"site {name!r} is there at some points and not at others, or has another shape there",
                remedy="sample it always, in one shape, and use np.where where it counts",
            )
        if not self.sites:
            raise ModelError(
                "the model has no site" + (" but discrete ones" if self.discrete else ""),
                remedy='mark what is random: infer.sample("mu", stats.norm(0, 1)); for a log-density, which is no '
                "model, give a point in its form with init=",
            )
        self.names = list(self.sites)
        self.size = max(site.stop for site in self.sites.values())
        if any(shape for _, shape in self.discrete.values()):
            self._look_at_discrete_sites(rng)

    def _look_at_discrete_sites(self, rng: np.random.Generator) -> None:
        """Find out how what the model adds to the log-density depends on discrete sites, at two points."""

        def look(spread: float) -> list[dict[str, np.ndarray]]:
            u = spread * self.start(rng)
            handler = followed(self._run)(WithMarks(self.sites, u, self.discrete))
            marks = [term_of(logp, handler.summed, number) for number, logp in enumerate(handler.marks)]
            terms = [term for term in marks if term.axes]
            run = lambda values: self._run(WithGivenValues(self.sites, u, values)).marks
            places = places_of(terms, handler.summed, run, rng)
            names = [site.name for site in handler.summed]
            return [{n: places[t.number, n] for n in names if (t.number, n) in places} for t in terms]

        found = _found(2, look)
        first, last = found[0], found[-1]
        if len(first) != len(last) or any(not _are_equal(a, b) for a, b in zip(first, last, strict=True)):
            raise ModelError(
                "what depends on the elements of a discrete site differs from point to point",
                remedy="let each observation depend on one element, whatever the values of other sites",
            )
        self.places = first

    def _run(self, handler: Any) -> Any:
        run_under(handler, self.model, self.args)
        return handler

    def _at(self, u: Any) -> AtPoint:
        return self._run(AtPoint(self.sites, u, self.discrete, self.places))

    def _log_density(self, u: Any) -> Any:
        return self._at(u).log_density()

    def _constrain(self, u: Any) -> dict[str, Any]:
        handler = self._at(u)
        return {name: handler.value(name) for name in [*self.names, *self.records]}

    def _sites_at(self, u: Any) -> dict[str, Any]:
        handler = ValuesAtPoint(self.names, self.sites, u, self.discrete, self.places)
        run_until_enough(handler, self.model, self.args)
        return {name: handler.value(name) for name in self.names}

    def log_density(self, u: Any) -> Any:
        return followed(self._log_density)(u) if self.discrete else self._log_density(u)

    def constrain(self, u: Any) -> dict[str, Any]:
        return followed(self._constrain)(u) if self.discrete else self._constrain(u)

    def sites_at(self, u: Any) -> dict[str, Any]:
        """The values of sites without records: the model is run until all of them are there."""
        return followed(self._sites_at)(u) if self.discrete else self._sites_at(u)

    def unconstrain(self, point: dict[str, Any]) -> np.ndarray:
        handler = Unconstrain(self.sites, point)
        run_until_enough(handler, self.model, self.args)
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
        values = [t.forward(p)[()] for t, p in zip(self.transforms, parts, strict=True)]  # numbers are no arrays
        return tree.unflatten(self.structure, values)

    def log_density(self, u: Any) -> Any:
        total = self.density(self.constrain(u), *self.args)
        if total is None:
            raise ModelError("the log-density returned nothing", remedy="end it with return and the log-density")
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


def _found(count: int, look: Callable) -> list[Any]:
    """What a look at a random point gives, `count` times; points where the model raises are not counted.

    `look(spread)` draws a point, which lies nearer to zero the smaller the spread.
    """
    found: list[Any] = []
    raised: Exception | None = None
    for k in range(_TRIALS):
        try:
            with np.errstate(all="ignore"):
                found.append(look(2.0 ** -(k // 4)))
        except Exception as error:
            if not is_of_the_point(error):
                raise
            raised = error
        if len(found) == count:
            break
    if raised is not None and not found:
        raise raised
    return found


def _demand_arguments(model: Callable, args: tuple) -> None:
    """Raise where a model is not given the arguments that it takes."""
    try:
        signature = inspect.signature(model)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args)
    except TypeError as error:
        raise ModelError(
            f"the model takes other arguments than it was given ({len(args)}): {error}",
            remedy="give a model its data, infer.nuts(model, y); a log-density, which is no model, takes a point, "
            "whose form init= says: infer.nuts(log_density, init=np.zeros(3))",
        ) from None


def _are_equal(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


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


@told
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
    if not callable(target):
        raise ModelError(
            f"a model, or a log-density, is a function, not {type(target).__name__}",
            remedy="give the function first, without calling it, then its data: infer.nuts(model, y)",
        )
    if init is not None and not _is_model_point(target, args, init, support):
        return DensityPosterior(target, args, init, support)
    return ModelPosterior(target, args)


def _is_model_point(target: Callable, args: tuple, init: Any, support: Any) -> bool:
    """Whether `init` is where to start with a model; a log-density takes it as its first argument."""
    if support is not None or not isinstance(init, dict):
        return False
    try:
        found = ModelPosterior(target, args)
    except Exception:  # no model: it is run without an argument, which a log-density needs
        return False
    if set(found.names) != set(init):
        raise ModelError(
            f"init= has {_listed(init)}, and the sites of the model are {_listed(found.names)}",
            remedy="give each site a value, or none and leave init= out",
        )
    return True


def _listed(names: Any) -> str:
    return ", ".join(map(repr, sorted(map(str, names)))) or "nothing"
