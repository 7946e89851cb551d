"""What a model has to know of SciPy's frozen distributions: family, support, log-density, shape of a value.

`stats.norm(mu, sigma)` is SciPy's own object where the parameters are numbers, and ours of the same methods where they
are traced; what is asked here has one answer for both. A distribution of another library will do if it has `logpdf` (or
`logpmf`), `rvs` and `support`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from wengert.infer import transforms
from wengert.infer.handlers import ModelError
from wengert.infer.lkj import LkjDistribution


class FlatPrior:
    """The improper distribution whose density is one everywhere on its support."""

    def __init__(self, support: transforms.Transform):
        self.transform = support

    def logpdf(self, x: Any) -> Any:
        return np.zeros(np.shape(x))

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        raise ModelError(
            "a value cannot be drawn from infer.flat, which is no probability distribution",
            remedy="give the site a proper prior, such as stats.norm(0, 10)",
        )


_TRANSFORMS = {
    "multivariate_normal": transforms.real,
    "multivariate_t": transforms.real,
    "matrix_normal": transforms.real,
    "dirichlet": transforms.simplex,
    "wishart": transforms.covariance,
    "invwishart": transforms.covariance,
    "lkj": transforms.correlation,
    "lkj_cholesky": transforms.correlation_cholesky,
    "vonmises_fisher": transforms.unit_vector,
    "uniform_direction": transforms.unit_vector,
    "vonmises": transforms.interval(-math.pi, math.pi),
}
_ENDS_THAT_VANISH = frozenset(("genpareto", "genextreme"))
"""Distributions whose support has an end for some shapes and none for others."""
_EVENT_NDIM = {
    **dict.fromkeys(("multivariate_normal", "multivariate_t", "dirichlet", "vonmises_fisher", "uniform_direction"), 1),
    **dict.fromkeys(("multinomial", "multivariate_hypergeom", "dirichlet_multinomial"), 1),
    **dict.fromkeys(("wishart", "invwishart", "matrix_normal", "lkj", "lkj_cholesky"), 2),
}
_DISCRETE_VECTORS = frozenset(("multinomial", "multivariate_hypergeom", "dirichlet_multinomial"))


def family(dist: Any) -> str:
    """The name of the distribution, as scipy.stats has it; the name of the class for others."""
    scipy = getattr(dist, "dist", None)
    if scipy is not None:
        return getattr(scipy, "name", None) or type(scipy).__name__
    name = getattr(dist, "name", None)
    return name if isinstance(name, str) else type(dist).__name__.removesuffix("_frozen")


_OF_NEWER_KIND = {
    "Normal": lambda d: stats.norm(d.mu, d.sigma),
    "StandardNormal": lambda d: stats.norm(),
    "Uniform": lambda d: stats.uniform(d.a, d.b - d.a),
    "Logistic": lambda d: stats.logistic(),
    "Binomial": lambda d: stats.binom(d.n, d.p),
}
"""Distributions of SciPy's newer kind, `stats.Normal(mu=0, sigma=1)`, as those of the older."""


def demand_distribution(dist: Any, mark: str) -> Any:
    """A distribution whose parameters are fixed; raise where something is none."""
    if hasattr(dist, "iccdf"):
        kind = getattr(dist, "kind", type(dist).__name__)
        if kind not in _OF_NEWER_KIND:
            raise ModelError(
                f"{mark} was given a distribution of SciPy's newer kind, {kind}, of which it does not know the family",
                remedy="write the frozen distribution of the older kind, such as stats.gamma(a)",
            )
        return _OF_NEWER_KIND[kind](dist)
    if not (hasattr(dist, "logpdf") or hasattr(dist, "logpmf")):
        raise ModelError(
            f"{mark} takes a distribution, but was given a {type(dist).__name__}",
            remedy="write a frozen distribution of scipy.stats, such as stats.norm(mu, sigma)",
        )
    return dist


def event_ndim(dist: Any) -> int:
    """The number of axes of one value of a distribution: 0 for numbers, 1 for vectors, 2 for matrices."""
    if isinstance(dist, FlatPrior):
        return dist.transform.event_ndim
    return _EVENT_NDIM.get(family(dist), 0)


def is_discrete(dist: Any) -> bool:
    """Whether the values are integers (or, of `rv_discrete`, some list of numbers)."""
    if isinstance(dist, FlatPrior):
        return False
    if family(dist) in _DISCRETE_VECTORS:
        return True
    scipy = getattr(dist, "dist", None)
    if scipy is not None:
        return hasattr(scipy, "pmf")
    return hasattr(dist, "logpmf") and not hasattr(dist, "logpdf")


def log_density(dist: Any, x: Any) -> Any:
    """log p(x), one number for each value: densities of vectors have one axis less."""
    if is_discrete(dist):
        return dist.logpmf(x)
    if family(dist) == "dirichlet":  # SciPy has the components along the first axis, before one of values
        return _of_rows(dist, x, 1)
    if family(dist) in ("wishart", "invwishart") and np.ndim(x) > 2:  # and matrices along the first two
        return _of_rows(dist, x, 2)
    return dist.logpdf(x)


def _of_rows(dist: Any, x: Any, axes: int) -> Any:
    """log p of values that lie along the last axes, by a distribution that wants these in front of one other."""
    shape = np.shape(x)
    values, event = shape[: len(shape) - axes], shape[len(shape) - axes :]
    if not values:
        return dist.logpdf(x)
    rows = np.moveaxis(np.reshape(x, (-1, *event)), 0, -1)
    return np.reshape(dist.logpdf(rows), values)


def parameter_shape(dist: Any) -> tuple[int, ...]:
    """The shape to which the parameters of a distribution of numbers broadcast; () for vectors and matrices."""
    if event_ndim(dist) or isinstance(dist, FlatPrior):
        return ()
    event = getattr(dist, "event", None)  # of a mixture, whose parameters have an axis more
    if event is not None:
        return event
    given = (*getattr(dist, "args", ()), *getattr(dist, "kwds", {}).values())
    return np.broadcast_shapes(*[np.shape(a) for a in given])


def event_shape(dist: Any) -> tuple[int, ...]:
    """The shape of one value of a distribution of vectors or matrices, whose parameters are numbers."""
    if not event_ndim(dist) or isinstance(dist, FlatPrior):
        return ()
    if family(dist) == "dirichlet":
        return np.shape(dist.alpha)
    if family(dist) == "multinomial":
        return np.shape(dist.p)
    if isinstance(dist, LkjDistribution):
        return dist.dim, dist.dim
    shape, ndim = np.shape(dist.rvs(random_state=0)), event_ndim(dist)
    return shape[-ndim:] if len(shape) >= ndim else (1,) * ndim  # of some, one value is an array of one value


def transform_of(dist: Any, ends: tuple | None = None) -> transforms.Transform:
    """The transform onto the support of a continuous distribution; `ends` says what `ends_of` found, on numbers."""
    if isinstance(dist, FlatPrior):
        return dist.transform
    name = family(dist)
    if name in _TRANSFORMS:
        found = _TRANSFORMS[name]
        if name == "vonmises" and hasattr(dist, "kwds"):
            loc = dist.kwds.get("loc", dist.args[1] if len(dist.args) > 1 else 0.0)
            return transforms.interval(loc - math.pi, loc + math.pi)
        return found
    low, high = dist.support()
    below, above = (ends or ends_of(dist))[:2]
    if below and above:
        return transforms.interval(low, high)
    if below:
        return transforms.lower(low)
    return transforms.upper(high) if above else transforms.real


def ends_of(dist: Any) -> tuple:
    """Whether the support of a distribution, whose parameters are numbers, ends below and above.

    That holds for other parameters as well, but for families where the sign of the shape decides: there the shape is
    part of the answer.
    """
    name = family(dist)
    if isinstance(dist, FlatPrior) or name in _TRANSFORMS:
        return False, False
    low, high = dist.support()
    decides = np.ravel(dist.args[0] if dist.args else dist.kwds["c"]) if name in _ENDS_THAT_VANISH else ()
    return _is_finite(low, name), _is_finite(high, name), *map(float, decides)


def _is_finite(bound: Any, name: str) -> bool:
    """Whether a bound of a support is a number."""
    finite = np.isfinite(bound)
    if np.all(finite) != np.any(finite):
        raise ModelError(
            f"a {name} distribution of which some components are bounded and others are not",
            remedy="write two sites, or give the site transform=…",
        )
    return bool(np.all(finite))


def draw(dist: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """A value of this shape, by SciPy's own method."""
    events = event_ndim(dist)
    size = shape[: len(shape) - events]
    if not hasattr(dist, "rvs"):  # SciPy has none for this one
        p = [rng.dirichlet(dist.alpha) for _ in range(math.prod(size))]
        return np.reshape([rng.multinomial(dist.n, row) for row in p], shape)
    if events and not size:
        return np.reshape(dist.rvs(random_state=rng), shape)
    if events:
        return np.reshape(dist.rvs(size=math.prod(size), random_state=rng), shape)
    return dist.rvs(size=shape or None, random_state=rng)
