"""Order statistics: median, quantile, percentile, and the versions that leave NaN out.

A quantile is a mean of one or two order statistics with weights that depend on q and the number of elements only.
So there are two steps: from `method` and q to ranks and weights (`_places`), and the order statistics themselves
(`order_statistics`), which work on lanes: an array (n, m) of m sets of n numbers.

Conventions. Elements that tie share the derivative equally. In q the derivative is that of the interpolating methods;
where two pieces meet it is the one to the right (at q = 1 to the left). The other methods are piecewise constant in q:
their derivative in q is exactly zero. NumPy's result is NaN where the data have NaN; so is the derivative.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert.box.dispatch import implements
from wengert.box.functions.nan_reductions import nan_where
from wengert.box.functions.of_intervals import by_bounds
from wengert.box.functions.operands import array, cast, join
from wengert.box.functions.reductions import NOTHING, count_of, given_axes, kept_shape, mean
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.types import SCALARS, dtype_of, is_inexact, ndim_of, shape_of

_FEW = 12
"""Up to this many ranks, partitioning is cheaper than sorting."""

_SHORT = 1024
"""Up to this many elements, sorting takes no longer; and compiled it is native."""

# --------------------------------------------------------------------------------------------------- order statistics


def _lanes(a: Any, axes: tuple[int, ...]) -> Any:
    """The data as an array (n, m): reduced axes first."""
    shape = shape_of(a)
    rest = [k for k in range(len(shape)) if k not in axes]
    n = count_of(shape, axes)
    order = (*sorted(axes), *rest)
    if order != tuple(range(len(shape))):
        a = s.transpose(a, axes=order)
    return s.reshape(a, shape=(n, math.prod([shape[k] for k in rest])))


def order_statistics(lanes: Any, ranks: np.ndarray) -> Any:
    """The elements of rank `ranks[i, j]` of each lane j; `ranks` may have one column for all lanes."""
    n, m = shape_of(lanes)
    count = len(ranks)
    bounds = by_bounds(lambda x: order_statistics(x, ranks), lanes)
    if bounds is not None:
        return bounds
    order = _order(lanes, ranks, n)
    ranks = np.broadcast_to(ranks, (count, m))
    columns = np.arange(m)

    def at(x: Any, k: Any) -> Any:
        return index(x, k, columns, pattern=(ARRAY, ARRAY))

    chosen = at(lanes, at(order, ranks))
    if not is_inexact(dtype_of(lanes)):
        return chosen
    # Ties are rare, and a plain read is all it takes without them. With ties the maximum of the elements that are
    # equal to the one of this rank shares the derivative among them.
    fixed = e.stop_gradient(chosen)
    tied = None
    if isinstance(order, np.ndarray) and isinstance(fixed, np.ndarray):
        values = e.stop_gradient(lanes)
        below = (fixed == at(values, at(order, np.maximum(ranks - 1, 0)))) & (ranks > 0)
        above = (fixed == at(values, at(order, np.minimum(ranks + 1, n - 1)))) & (ranks < n - 1)
        tied = np.any(below | above, axis=1)
        if not np.any(tied):
            return chosen
    rows = []
    for i in range(count):
        row = index(chosen, pattern=(i,))
        if tied is None or tied[i]:
            same = e.equal(lanes, index(fixed, pattern=(i,)))
            row = r.nanmax(e.where(same, lanes, np.nan), axis=(0,))
        rows.append(s.reshape(row, shape=(1, m)))
    return join(rows, 0)


def _order(lanes: Any, ranks: np.ndarray, n: int) -> Any:
    """Indices that sort each lane, at least at these ranks and next to them."""
    if isinstance(ranks, Traced):
        return r.argsort(lanes, axis=0)
    wanted = np.unique(np.concatenate([ranks - 1, ranks, ranks + 1]))
    wanted = wanted[(wanted >= 0) & (wanted < n)]
    if len(wanted) <= _FEW and n > _SHORT:
        return r.argpartition(lanes, axis=0, kth=tuple(wanted.tolist()))
    return r.argsort(lanes, axis=0)


def _numbers_per_lane(lanes: Any, skip_nan: bool) -> tuple[Any, Any]:
    """How many elements each lane counts (one number, or one per lane), and a factor: NaN where the result is."""
    n = shape_of(lanes)[0]
    if not is_inexact(dtype_of(lanes)):
        return n, None
    missing = s.sum(e.isnan(lanes), axis=(0,))
    if isinstance(missing, Traced):
        if skip_nan:
            return e.maximum(n - missing, 1), nan_where(e.equal(missing, n), dtype_of(lanes))
        return n, nan_where(e.greater(missing, 0), dtype_of(lanes))
    if not np.any(missing):
        return n, None
    if not skip_nan:
        return n, nan_where(missing > 0, dtype_of(lanes))
    empty = missing == n
    if not np.any(empty):
        return n - missing, None
    warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=4)
    return np.maximum(n - missing, 1), nan_where(empty, dtype_of(lanes))


# ------------------------------------------------------------------------------------------------------------- median


@implements(np.median)
def median(a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    return _median(a, axis, keepdims, skip_nan=False)


@implements(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = NOTHING) -> Any:
    return _median(a, axis, keepdims, skip_nan=True)


def _median(a: Any, axis: Any, keepdims: Any, skip_nan: bool) -> Any:
    a = array(a)
    shape = shape_of(a)
    axes = given_axes(axis, len(shape))
    lanes = _lanes(a, axes)
    if 0 in shape_of(lanes):
        return mean(a, axis, keepdims=keepdims)
    n, factor = _numbers_per_lane(lanes, skip_nan)
    low, high = np.atleast_1d((n - 1) // 2), np.atleast_1d(n // 2)
    both = isinstance(low, Traced) or np.any(low != high)
    middle = order_statistics(lanes, np.stack([low, high]) if both else low[None])
    y = s.sum(middle, axis=(0,))
    if shape_of(middle)[0] == 2:
        y = y / 2
    elif not is_inexact(dtype_of(y)):
        y = cast(y, np.float64)
    if factor is not None:
        y = y * factor
    return _shaped(y, _result_shape(shape, axes, keepdims))


def _shaped(y: Any, shape: tuple[int, ...]) -> Any:
    """A result in its shape; one number is a scalar, as in NumPy, not a 0-d array."""
    return s.reshape(y, shape=shape) if shape else index(y, pattern=(0,) * ndim_of(y))


def _result_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any) -> tuple[int, ...]:
    if keepdims is not NOTHING and keepdims:
        return kept_shape(shape, axes)
    return tuple([n for k, n in enumerate(shape) if k not in axes])


# ---------------------------------------------------------------------------------------------------------- quantiles


def _quantile_of(name: str, keep: Any, **how: Any) -> None:
    """Declare what one of the four functions means, whose default for `keepdims` is `keep`."""

    @implements(getattr(np, name))
    def implementation(
        a: Any,
        q: Any,
        axis: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = keep,
        *,
        weights: Any = None,
    ) -> Any:
        return _quantile(f"np.{name}", a, q, axis, method, keepdims, weights, **how)


_quantile_of("quantile", False)
_quantile_of("percentile", False, whole=100)
_quantile_of("nanquantile", NOTHING, skip_nan=True)
_quantile_of("nanpercentile", NOTHING, whole=100, skip_nan=True)


def _quantile(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: Any,
    weights: Any,
    whole: int = 1,
    skip_nan: bool = False,
) -> Any:
    a = array(a)
    if dtype_of(a).kind == "c":
        raise TypeError("a must be an array of real numbers")
    if weights is not None:
        raise UnsupportedFunctionError(
            f"{name} with weights= on a traced value",
            remedy="sort with np.argsort, add the weights up with np.cumsum, and pick the element by index",
        )
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_METHODS.keys()}")
    weak = q.__class__ in SCALARS
    q = array(q)
    if whole != 1:
        q = q / whole
    constant: Any = e.stop_gradient(q)
    inside = np.all((constant >= 0) & (constant <= 1))
    message = f"{'Quantiles' if whole == 1 else 'Percentiles'} must be in the range [0, {whole}]"
    if isinstance(inside, Traced):
        call(require, inside, error="ValueError", message=message)
    elif not inside:
        raise ValueError(message)
    if ndim_of(q) > 2:
        raise ValueError("q must be a scalar or 1d")

    shape = shape_of(a)
    axes = given_axes(axis, len(shape))
    lanes = _lanes(a, axes)
    q_shape = shape_of(q)
    shape_of_result = q_shape + _result_shape(shape, axes, keepdims)
    if 0 in shape_of(lanes):
        if skip_nan:
            return s.broadcast_to(mean(a, axis, keepdims=keepdims), shape=shape_of_result)
        raise IndexError("a quantile of no elements")
    n, factor = _numbers_per_lane(lanes, skip_nan)
    column = s.reshape(q, shape=(math.prod(q_shape), 1))
    low, high, gamma = _places(method, n, column)
    if gamma is None:
        y = order_statistics(lanes, low)
    else:
        both = order_statistics(lanes, np.concatenate([low, high]))
        a, b = index(both, pattern=(slice(None, len(low)),)), index(both, pattern=(slice(len(low), None),))
        y = _between(a, b, cast(gamma, dtype_of(lanes)) if weak and is_inexact(dtype_of(lanes)) else gamma)
    if factor is not None:
        y = y * factor
    return _shaped(y, shape_of_result)


def _between(a: Any, b: Any, t: Any) -> Any:
    """a + t·(b − a), computed from the nearer end."""
    step = b - a
    return e.where(e.greater_equal(t, 0.5), b - step * (1 - t), a + step * t)


# ----------------------------------------------------------------------- from quantiles to ranks
#
# Hyndman & Fan 1996, "Sample quantiles in statistical packages". The arithmetic is NumPy's, to the last rounding,
# because at a jump rounding decides which element it is.

_CONTINUOUS: dict[str, tuple[float, float]] = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _next_unless(place: Any, stay: Any) -> Any:
    return np.where(stay, np.floor(place), np.floor(place) + 1)


def _closest_observation(n: Any, q: Any) -> Any:
    place = n * q - 1 - 0.5
    return _next_unless(place, (place == np.floor(place)) & (np.floor(place) % 2 == 1))


def _inverted_cdf(n: Any, q: Any) -> Any:
    place = n * q - 1
    return _next_unless(place, place == np.floor(place))


_ONE_ELEMENT: dict[str, Any] = {
    "inverted_cdf": _inverted_cdf,
    "closest_observation": _closest_observation,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.round((n - 1) * q),
}

_METHODS = dict.fromkeys(["averaged_inverted_cdf", "midpoint", *_ONE_ELEMENT, *_CONTINUOUS])


def _places(method: str, n: Any, q: Any) -> tuple[Any, Any, Any]:
    """Two ranks and the weight of the second, of shape (quantiles, 1 or lanes); the weight is `None` for one rank."""
    fixed = e.stop_gradient(q)
    if method in _ONE_ELEMENT:
        rank = np.clip(_ONE_ELEMENT[method](n, fixed), 0, n - 1).astype(np.intp)
        return rank, rank, None
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
        where = e.stop_gradient(place)
        low = np.floor(where)
        if isinstance(q, Traced):
            low = np.where(where == n - 1, np.maximum(n - 2, 0), low)
        outside = (where < 0) | (where > n - 1)
        gamma = e.where(outside, 0, place - low)
    else:
        place = n * fixed - 1 if method == "averaged_inverted_cdf" else (n - 1) * fixed
        low = np.floor(place)
        on = place == low
        gamma = np.where(on, 0.5, 1.0) if method == "averaged_inverted_cdf" else np.where(on, 0.0, 0.5)
        gamma = gamma.astype(dtype_of(place))
    low = np.clip(low, 0, n - 1).astype(np.intp)
    high = np.clip(np.floor(place if not isinstance(place, Traced) else e.stop_gradient(place)) + 1, 0, n - 1)
    return low, np.maximum(high.astype(np.intp), low), gamma
