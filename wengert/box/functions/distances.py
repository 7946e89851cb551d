"""`scipy.spatial.distance`: distances between vectors, and between all pairs of rows, written in ops.

At a distance of zero the Euclidean norm and its relatives have no derivative; the subgradient of least norm is taken,
as in `np.linalg.norm`. Distances between sets and between vectors of booleans count, so they are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.operands import array, in_double, pick, stacked, unsupported_option
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.types import dtype_of, ndim_of, shape_of


def _sum(x: Any, w: Any = None) -> Any:
    return FUNCTIONS[np.sum](x if w is None else x * array(w), axis=-1)


def _length(x: Any, w: Any = None) -> Any:
    """The norm of vectors, with derivative zero at zero."""
    return FUNCTIONS[np.linalg.norm](x if w is None else x * np.sqrt(array(w)), axis=-1)


def _absolute(x: Any) -> Any:
    return FUNCTIONS[np.absolute](x)


def _ratio(x: Any, y: Any) -> Any:
    """x / y, and zero where both are zero."""
    none = e.equal(y, 0)
    return e.where(none, 0.0, x / e.where(none, 1.0, y))


def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    return _length(u - v, w)


def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    return _sum((u - v) ** 2, w)


def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return _sum(_absolute(u - v), w)


def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    d = _absolute(u - v)
    return FUNCTIONS[np.max](d if w is None else e.where(np.asarray(w) > 0, d, 0.0), axis=-1)


def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    if p <= 0:
        raise ValueError("p must be greater than 0")
    if p == np.inf:
        return chebyshev(u, v, w)
    if p == 1:
        return cityblock(u, v, w)
    if p == 2:
        return euclidean(u, v, w)
    total = _sum(_absolute(u - v) ** p, w)
    none = e.equal(total, 0)
    return e.where(none, 0.0, e.where(none, 1.0, total) ** (1 / p))


def cosine(u: Any, v: Any, w: Any = None) -> Any:
    if "c" in (dtype_of(u).kind, dtype_of(v).kind):
        raise TypeError("an angle between complex vectors: use that of [z.real, z.imag]")
    w = None if w is None else array(w) / FUNCTIONS[np.sum](array(w))
    return 1 - _sum(u * v, w) / (_length(u, w) * _length(v, w))


def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    if centered:
        w = None if w is None else array(w) / FUNCTIONS[np.sum](array(w))
        n = shape_of(u)[-1]
        u, v = (x - (_sum(x) / n if w is None else _sum(x, w))[..., None] for x in (u, v))
    return cosine(u, v, w)


def canberra(u: Any, v: Any, w: Any = None) -> Any:
    return _sum(_ratio(_absolute(u - v), _absolute(u) + _absolute(v)), w)


def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    return _sum(_absolute(u - v), w) / _sum(_absolute(u + v), w)


def seuclidean(u: Any, v: Any, V: Any) -> Any:
    return _length((u - v) / np.sqrt(array(V)))


def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    d = u - v
    total = _sum((d @ array(VI)) * d)
    none = e.equal(total, 0)
    return e.where(none, 0.0, np.sqrt(e.where(none, 1.0, total)))


def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: int = 0, keepdims: bool = False) -> Any:
    p, q = array(p), array(q)
    p, q = (x / FUNCTIONS[np.sum](x, axis=axis, keepdims=True) for x in (p, q))
    m = (p + q) / 2
    total = sum(FUNCTIONS[np.sum](_relative_entropy(x, m), axis=axis, keepdims=keepdims) for x in (p, q))
    if base is not None:
        total = total / np.log(base)
    none = e.equal(total, 0)
    return e.where(none, 0.0, np.sqrt(e.where(none, 1.0, total) / 2))


def _relative_entropy(x: Any, y: Any) -> Any:
    none = e.equal(x, 0)
    return e.where(none, 0.0, x * np.log(e.where(none, 1.0, x) / e.where(none, 1.0, y)))


_METRICS: dict[str, Callable] = {
    f.__name__: f
    for f in (
        euclidean, sqeuclidean, cityblock, chebyshev, minkowski, cosine, correlation, canberra, braycurtis, seuclidean,
        mahalanobis,
    )
}  # fmt: skip
_METRICS["jensenshannon"] = lambda u, v, base=None: jensenshannon(u, v, base, axis=-1)
_OTHER_NAMES = {
    "euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqe": "sqeuclidean", "sqeuclid": "sqeuclidean",
    "cblock": "cityblock", "cb": "cityblock", "c": "cityblock", "cheby": "chebyshev",
    "cheb": "chebyshev", "ch": "chebyshev", "chebychev": "chebyshev", "mi": "minkowski", "m": "minkowski",
    "pnorm": "minkowski", "cos": "cosine", "co": "correlation", "js": "jensenshannon", "mahal": "mahalanobis",
    "h": "hamming", "matching": "hamming", "ha": "hamming", "hamm": "hamming", "jacc": "jaccard", "j": "jaccard",
    "ja": "jaccard", "mah": "mahalanobis", "se": "seuclidean", "s": "seuclidean",
}  # fmt: skip
_REFUSED = (
    "dice", "hamming", "jaccard", "kulczynski1", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule",
)  # fmt: skip


def _refused(metric: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"scipy.spatial.distance: the distance {metric!r} of traced values has no derivative rule",
        remedy=f"use one of {', '.join(_METRICS)}, or apply it to wg.stop_gradient(x)",
    )


def _metric(metric: Any, rows: Callable[[], Any], options: dict) -> Callable:
    """A metric with what it takes from all rows, if that is not given."""
    if callable(metric):
        name = getattr(metric, "__name__", "")
        found = _METRICS.get(name) if getattr(metric, "__module__", "") == "scipy.spatial.distance" else None
        if found is None:
            return lambda u, v: _one_by_one(metric, u, v, options)
        metric = name
    metric = str(metric).lower()
    metric = _OTHER_NAMES.get(metric, metric)
    if metric not in _METRICS:
        raise _refused(metric) if metric in _REFUSED else ValueError(f"Unknown Distance Metric: {metric}")
    options = dict(options)
    if metric == "seuclidean" and options.get("V") is None:
        options["V"] = FUNCTIONS[np.var](rows(), axis=0, ddof=1)
    if metric == "mahalanobis" and options.get("VI") is None:
        options["VI"] = FUNCTIONS[np.linalg.inv](FUNCTIONS[np.cov](rows().T)).T
    return lambda u, v: _METRICS[metric](u, v, **options)


def _one_by_one(metric: Callable, u: Any, v: Any, options: dict) -> Any:
    shape = np.broadcast_shapes(shape_of(u)[:-1], shape_of(v)[:-1])
    m = shape_of(u)[-1]
    u, v = (s.broadcast_to(x, shape=(*shape, m)) for x in (u, v))
    found = [array(metric(u[place], v[place], **options)) for place in np.ndindex(*shape)]
    return s.reshape(stacked(found, 0), shape=shape) if found else np.zeros(shape)


def _matrix(x: Any, name: str) -> Any:
    x = array(x)
    if ndim_of(x) != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return in_double(x)  # in which SciPy computes distances of single precision, too


def _reject_out(out: Any, function: str) -> None:
    if out is not None:
        raise unsupported_option(f"scipy.spatial.distance.{function}", "out=", "use the returned result")


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    _reject_out(out, "cdist")
    a, b = _matrix(XA, "XA"), _matrix(XB, "XB")
    if shape_of(a)[1] != shape_of(b)[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    distance = _metric(metric, lambda: FUNCTIONS[np.vstack]([a, b]), kwargs)
    (n, m), k = shape_of(a), shape_of(b)[0]
    return distance(s.reshape(a, shape=(n, 1, m)), s.reshape(b, shape=(1, k, m)))


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    _reject_out(out, "pdist")
    x = _matrix(X, "X")
    distance = _metric(metric, lambda: x, kwargs)
    first, second = np.triu_indices(shape_of(x)[0], 1)
    return distance(pick(x, first), pick(x, second))


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    x = array(X)
    rank = ndim_of(x)
    if (force.lower() == "tomatrix" and rank == 2) or (force.lower() == "tovector" and rank == 1):
        raise ValueError(f"Forcing {force!r} but input X is not a {'vector' if rank == 2 else 'matrix'}.")
    if rank == 1:
        n = int(np.ceil(np.sqrt(shape_of(x)[0] * 2)))
        if n * (n - 1) != shape_of(x)[0] * 2:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n >= 2."
            )
        places = np.zeros((n, n), np.intp)
        places[np.triu_indices(n, 1)] = 1 + np.arange(shape_of(x)[0])
        longer = FUNCTIONS[np.concatenate]([np.zeros(1, dtype_of(x)), x])
        return pick(longer, places + places.T)
    if rank != 2 or shape_of(x)[0] != shape_of(x)[1]:
        raise ValueError("The matrix argument must be square.")
    return index(x, *np.triu_indices(shape_of(x)[0], 1), pattern=(ARRAY, ARRAY))


def distance_matrix(x: Any, y: Any, p: Any = 2.0, threshold: int = 1000000) -> Any:
    return cdist(x, y, "minkowski", p=p)


def _of_vectors(metric: Callable) -> Callable:
    def implementation(u: Any, v: Any, *args: Any, **kwargs: Any) -> Any:
        return metric(array(u), array(v), *args, **kwargs)

    implementation.__name__ = metric.__name__
    return implementation


def _refusing(name: str) -> Callable:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        raise _refused(name)

    return implementation


@when_imported("scipy.spatial.distance")
def _distance(module: Any) -> None:
    for f in (cdist, pdist, squareform, jensenshannon):
        implements_blind(getattr(module, f.__name__))(f)
    for name, f in _METRICS.items():
        if name != "jensenshannon":
            implements_blind(getattr(module, name))(_of_vectors(f))
    for name in _REFUSED:
        if hasattr(module, name):
            implements_blind(getattr(module, name))(_refusing(name))


@when_imported("scipy.spatial")
def _spatial(module: Any) -> None:
    implements_blind(module.distance_matrix)(distance_matrix)
