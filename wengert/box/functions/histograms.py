"""Histograms. The bin in which a number lies is locally constant, as a comparison is, and so are counts: integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements
from wengert.box.functions.lengths import agree
from wengert.box.functions.operands import answer, array, cast, demand, flat
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced, call
from wengert.ops.store import add_at
from wengert.types import SCALARS, dtype_of, ndim_of, shape_of


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    return _edges(flat(array(a)), bins, range)


def _edges(x: Any, bins: Any, limits: Any) -> Any:
    """The edges of bins, which may depend on the data."""
    bins = bins if isinstance(bins, (str, int)) or (hasattr(bins, "__index__") and np.ndim(bins) == 0) else array(bins)
    if not isinstance(x, Traced) and not isinstance(bins, Traced):
        return np.histogram_bin_edges(x, bins, limits)
    if isinstance(bins, str):
        raise UnsupportedFunctionError(
            'np.histogram with bins="auto" and its like, of a traced value', remedy="give the number of bins"
        )
    if shape_of(bins):
        return bins
    low, high = (FUNCTIONS[np.min](x), FUNCTIONS[np.max](x)) if limits is None else limits
    if limits is None and dtype_of(x).kind == "f":
        demand(e.logical_and(e.isfinite(low), e.isfinite(high)), "the autodetected range is not finite")
    dtype = np.result_type(*[v if v.__class__ in SCALARS else dtype_of(v) for v in (low, high, x)])
    same = answer(lambda a, b: np.equal(a, b), low, high)
    low, high = e.where(same, low - 0.5, low), e.where(same, high + 0.5, high)
    return FUNCTIONS[np.linspace](low, high, int(bins) + 1, dtype=dtype if dtype.kind in "fc" else None)


def _places(x: Any, edges: Any) -> tuple[Any, Any]:
    """In which bin each number lies, and whether it lies in any. The last bin has its upper edge too."""
    n = shape_of(edges)[0] - 1
    place = FUNCTIONS[np.searchsorted](edges, x, side="right") - 1
    last = index(edges, pattern=(n,))
    place = FUNCTIONS[np.where](e.equal(x, last), n - 1, place)
    inside = e.logical_and(e.greater_equal(x, index(edges, pattern=(0,))), e.less_equal(x, last))
    return FUNCTIONS[np.where](inside, place, 0), inside


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    x = flat(array(a))
    w = None if weights is None else flat(array(weights))
    if w is not None:
        agree(shape_of(x), shape_of(w), ValueError, "weights should have the same shape as a.")
    edges = _edges(x, bins, range)
    total = _added(w, [_places(x, edges)], (shape_of(edges)[0] - 1,))
    if w is not None and dtype_of(w).kind in "iu":
        total = cast(total, dtype_of(w))
    if density:
        widths = FUNCTIONS[np.diff](edges)
        return total / widths / FUNCTIONS[np.sum](total), edges
    return total, edges


def _added(w: Any, places: list[tuple[Any, Any]], shape: tuple[int, ...]) -> Any:
    """Weights, or ones, added up at their places, those of numbers that lie in all of the ranges."""
    if w is None:
        dtype: np.dtype = np.dtype(np.intp)
        w = 1
    else:
        dtype = dtype_of(w) if dtype_of(w).kind in "fc" else np.dtype(float)
        w = cast(w, dtype)
    for _, inside in places:
        w = FUNCTIONS[np.where](inside, w, dtype.type(0))
    if dtype.kind == "i":
        w = cast(w, dtype)
    return call(add_at, np.zeros(shape, dtype), w, *[place for place, _ in places], pattern=(ARRAY,) * len(shape))


@implements(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple:
    both = bins if isinstance(bins, (list, tuple)) and len(bins) == 2 else (bins, bins)
    counts, edges = histogramdd((x, y), list(both), range, density, weights)
    return counts, edges[0], edges[1]


@implements(np.histogramdd)
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple:
    given = [array(column) for column in sample] if isinstance(sample, (list, tuple)) else []
    points = None if any(map(ndim_of, given)) else array(sample)
    if points is None:
        columns = [flat(column) for column in given]
    elif ndim_of(points) < 2:
        columns = [flat(points)]
    else:
        columns = [index(points, pattern=(slice(None), k)) for k in np.arange(shape_of(points)[1]).tolist()]
    n = len(columns)
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * n
    limits = [None] * n if range is None else list(range)
    edges = [_edges(c, b, r) for c, b, r in zip(columns, each, limits, strict=True)]
    shape = tuple(shape_of(edge)[0] - 1 for edge in edges)
    w = 1.0 if weights is None else flat(array(weights))
    total = _added(w, [_places(c, edge) for c, edge in zip(columns, edges, strict=True)], shape)
    if density:
        total = total / FUNCTIONS[np.sum](total)
        for k, edge in enumerate(edges):
            widths = FUNCTIONS[np.diff](edge)
            total = total / FUNCTIONS[np.reshape](widths, (1,) * k + (-1,) + (1,) * (n - k - 1))
    return total, edges
