"""Functions that choose elements: by position, by condition, among several arrays.

Positions and conditions are plain numbers, so each of these is a gather, or a `where`, of the traced operands.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import FUNCTIONS, implements, lookup
from wengert.box.functions.operands import (
    answer,
    array,
    cast,
    flat,
    flat_if_none,
    holds_traced,
    join,
    operand,
    pick,
    promoting,
    size_of,
)
from wengert.ops import elementwise as e
from wengert.ops import library
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced
from wengert.ops.sizes import require
from wengert.types import broadcast_shapes, dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------------ by position


def _positions(indices: Any, n: int, mode: Any = "raise") -> Any:
    """Indices into an axis of n elements, as integers."""
    indices = array(indices)
    dtype = dtype_of(indices)
    if dtype.kind not in "iub" and size_of(indices):
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('int64') according to the rule 'safe'")
    if isinstance(indices, Traced):
        if mode != "raise":
            indices = cast(indices, np.intp)  # as NumPy does: what is beyond wraps around
        if mode == "wrap":
            return e.remainder(indices, n)
        return e.minimum(e.maximum(indices, 0), n - 1) if mode == "clip" else indices
    if mode != "raise":
        return np.take(np.arange(n), indices.astype(np.intp), mode=mode)
    return int(indices) if indices.ndim == 0 else indices.astype(np.intp, copy=False)


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple:
    """The place along each axis of elements of an array, given their places in memory."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    place = _integers(indices)
    _demand_within(place, math.prod(shape), "index is out of bounds for array")
    found = []
    for n in _from_last(shape, order):
        found.append(e.remainder(place, n))
        place = e.floor_divide(place, n)
    return tuple(_from_last(found, order))


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The place in memory of elements of an array, given their place along each axis."""
    dims = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    places = [_integers(i) for i in multi_index]
    if len(places) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = [mode] * len(dims) if isinstance(mode, str) else list(mode)
    total, step = 0, 1
    for place, n, how in _from_last(list(zip(places, dims, modes, strict=True)), order):
        if how == "raise":
            _demand_within(place, n, "invalid entry in coordinates array")
        else:
            place = _positions(place, n, how)
        total, step = total + step * place, step * n
    return total


def _from_last(axes: Any, order: str) -> Any:
    """Axes from the one along which neighbours in memory lie."""
    return axes[::-1] if order == "C" else axes


def _integers(indices: Any) -> Any:
    indices = array(indices)
    if dtype_of(indices).kind not in "iu":
        raise TypeError("only int indices permitted")
    return cast(indices, np.intp)


def _demand_within(place: Any, n: Any, message: str) -> None:
    """Raise ValueError where a place is not one of n."""
    within = e.logical_and(e.greater_equal(place, 0), e.less(place, n))
    require(FUNCTIONS[np.all](within), error="ValueError", message=message)


@implements(np.take)
def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    a, axis = flat_if_none(a, axis)
    return pick(a, _positions(indices, shape_of(a)[axis], mode), axis)


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    arr, indices = array(arr), array(indices)
    if axis is None:
        if ndim_of(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = flat(arr), 0
    axis = normalize_axis_index(axis, ndim_of(arr))
    if dtype_of(indices).kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if ndim_of(arr) != ndim_of(indices):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return along_axis(arr, indices, axis)


def along_axis(x: Any, positions: Any, axis: int) -> Any:
    """`take_along_axis`, arguments checked."""
    ndim = ndim_of(x)
    if ndim == 1:
        return pick(x, positions)
    places = [
        positions if k == axis else np.arange(n).reshape((-1,) + (1,) * (ndim - k - 1))
        for k, n in enumerate(shape_of(x))
    ]
    return index(x, *places, pattern=(ARRAY,) * ndim)


# ----------------------------------------------------------------------------------------------------- by condition


@implements(np.compress)
def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    a, axis = flat_if_none(a, axis)
    return pick(a, answer(lambda c: np.compress(c, np.arange(len(c))), array(condition)), axis)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    return pick(flat(array(arr)), answer(np.flatnonzero, array(condition)))


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x = array(filt)
    ndim = ndim_of(x)
    axes = range(ndim) if axis is None else normalize_axis_tuple(axis, ndim)
    places = answer(np.argwhere, x)
    if len(places):
        first = places.min(axis=0).tolist() if "f" in sides else [None] * ndim
        stop = (places.max(axis=0) + 1).tolist() if "b" in sides else [None] * ndim
    else:
        first = stop = [0] * ndim
    return x[tuple([slice(first[k], stop[k]) if k in axes else slice(None) for k in range(ndim)])]


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    condition = operand(condition)
    if x is None and y is None:
        return lookup(np.nonzero)(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return e.where(_is_true(condition), operand(x), operand(y))


def _is_true(condition: Any) -> Any:
    return condition if dtype_of(condition).kind == "b" else e.not_equal(condition, 0)


@implements(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    conditions = [array(c) for c in condlist]
    for k, c in enumerate(conditions):
        if dtype_of(c).kind != "b":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [operand(c) for c in choicelist]
    result = operand(default)
    dtype = np.result_type(*[promoting(x) for x in (*choices, result)])
    for c, x in zip(conditions[::-1], choices[::-1], strict=True):
        result = e.where(c, x, result)
    return cast(result, dtype)


@implements(np.choose)
def choose(a: Any, choices: Any, mode: Any = "raise") -> Any:
    options = [array(c) for c in choices]
    which = cast(array(_positions(a, len(options), mode)), np.intp)
    _demand_within(which, len(options), "invalid entry in choice array")
    shape = broadcast_shapes([shape_of(which), *[shape_of(c) for c in options]])
    rows = [s.reshape(s.broadcast_to(c, shape=shape), shape=(1, *shape)) for c in options]
    positions = s.reshape(s.broadcast_to(which, shape=shape), shape=(1, *shape))
    return s.reshape(along_axis(join(rows, 0), positions, 0), shape=shape)


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each function sees the elements of its condition, as in NumPy; the pieces are joined and put in order."""
    x = array(x)
    shape, dtype = shape_of(x), dtype_of(x)
    conditions = _conditions(condlist, len(shape))
    if holds_traced(conditions) or any(library.is_foreign(c) for c in conditions):
        return _chosen(x, conditions, funclist, args, kw)
    masks = [np.broadcast_to(np.asarray(c, bool), shape).ravel() for c in conditions]
    if len(funclist) == len(masks) + 1:
        masks.append(~np.any(masks, axis=0))
    if len(funclist) != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    elements = flat(x)
    source = np.zeros(size_of(x), np.intp)  # where in the joined pieces each element comes from; first a zero
    pieces: list[Any] = [np.zeros(1, dtype)]
    filled = 1
    for mask, function in zip(masks, funclist, strict=True):
        places = np.flatnonzero(mask)
        if len(places):
            values = function(pick(elements, places), *args, **kw) if callable(function) else function
            pieces.append(s.broadcast_to(cast(array(values), dtype), shape=(len(places),)))
            source[places] = filled + np.arange(len(places))
            filled += len(places)
    return pick(join(pieces, 0), source.reshape(shape))


def _chosen(x: Any, masks: list[Any], funclist: Any, args: tuple, kw: dict) -> Any:
    """`np.piecewise` where conditions are known only when a captured program runs: all functions see all elements."""
    if len(funclist) not in (len(masks), len(masks) + 1):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    functions = list(funclist)
    y = functions.pop() if len(functions) > len(masks) else dtype_of(x).type(0)
    y = s.broadcast_to(cast(array(y(x, *args, **kw) if callable(y) else y), dtype_of(x)), shape=shape_of(x))
    for mask, function in zip(masks, functions, strict=True):
        value = function(x, *args, **kw) if callable(function) else function
        y = FUNCTIONS[np.where](mask, cast(array(value), dtype_of(x)), y)
    return y


def _conditions(condlist: Any, ndim: int) -> list[Any]:
    """The conditions of `np.piecewise`, which may be one alone."""
    if np.isscalar(condlist) or (isinstance(condlist, Traced) and not shape_of(condlist)):
        return [condlist]
    if ndim != 0 and not (isinstance(condlist[0], (list, np.ndarray)) or shape_of(condlist[0])):
        return [condlist]
    if ndim == 0 and isinstance(condlist, np.ndarray) and condlist.ndim == 0:
        return [condlist]
    return list(condlist)
