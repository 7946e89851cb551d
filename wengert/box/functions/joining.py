"""Functions that join, split and repeat arrays, put in and take out elements, and make or read diagonals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import FUNCTIONS, if_present, implements
from wengert.box.functions.lengths import agree, diagonal_places, is_of_program, known, larger, refuse_if, smaller
from wengert.box.functions.operands import (
    array,
    arrays_of,
    cast,
    fitted,
    flat,
    flat_if_none,
    join,
    part,
    pick,
    size_of,
    stacked,
)
from wengert.box.functions.products import diagonal_of
from wengert.box.functions.shapes import atleast_1d, atleast_2d, atleast_3d, copied, moveaxis, transpose
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.op import Traced
from wengert.ops.sizes import counting
from wengert.running import running
from wengert.types import broadcast_shapes, dtype_of, ndim_of, shape_of

# ---------------------------------------------------------------------------------------------------------- joining


def _in_dtype(x: Any, dtype: Any, casting: Any) -> Any:
    if dtype is None:
        return x
    if not np.can_cast(dtype_of(x), dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {dtype_of(x)!r} to {np.dtype(dtype)!r} according to the rule {casting!r}"
        )
    return cast(x, dtype)


@implements(np.concatenate)
def concatenate(arrays: Any, /, axis: int | None = 0, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    pieces = arrays_of(arrays)
    if not pieces:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        pieces, axis = [flat(a) for a in pieces], 0
    elif any(ndim_of(a) == 0 for a in pieces):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return _in_dtype(join(pieces, normalize_axis_index(axis, ndim_of(pieces[0]))), dtype, casting)


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return _in_dtype(stacked(arrays_of(arrays), axis), dtype, casting)


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    pieces = [atleast_1d(a) for a in tup]
    axis = 0 if pieces and ndim_of(pieces[0]) == 1 else 1
    return concatenate(pieces, axis, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    return concatenate([atleast_3d(a) for a in tup], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    return concatenate([transpose(atleast_2d(a)) if ndim_of(a) < 2 else a for a in arrays_of(tup)], 1)


@implements(np.block)
def block(arrays: Any) -> Any:
    depth = _depth(arrays)
    ndim = max(depth, *[ndim_of(a) for a in _leaves(arrays)], 0)

    def joined(blocks: Any, level: int) -> Any:
        if isinstance(blocks, list):
            return join([joined(b, level + 1) for b in blocks], ndim - depth + level)
        shape = shape_of(blocks)
        return s.reshape(array(blocks), shape=(1,) * (ndim - len(shape)) + shape)

    return joined(arrays, 0)


def _depth(arrays: Any) -> int:
    """How deep the lists of `np.block` are nested: all equally deep."""
    if isinstance(arrays, tuple):
        raise TypeError("np.block takes lists, not tuples: only lists can be used to arrange blocks")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("List cannot be empty")
    depths = {_depth(a) for a in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> list[Any]:
    return [leaf for a in arrays for leaf in _leaves(a)] if isinstance(arrays, list) else [arrays]


@implements(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    return concatenate((arr, values), axis=axis)


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    axes = list(range(n))
    if indexing == "xy" and n > 1:
        axes[:2] = [1, 0]
    vectors = [flat(array(x)) for x in xi]
    grids = [
        s.reshape(v, shape=(1,) * axis + (size_of(v),) + (1,) * (n - axis - 1))
        for v, axis in zip(vectors, axes, strict=True)
    ]
    if sparse or not grids:
        return tuple(grids) if copy else grids  # a list, as in NumPy
    shape = broadcast_shapes([shape_of(g) for g in grids])
    grids = [s.broadcast_to(g, shape=shape) for g in grids]
    if copy and running.state.capture is None:  # (programs keep nothing twice, and have all arrays in C order)
        grids = [copied(g, "C") for g in grids]
    return tuple(grids)


# -------------------------------------------------------------------------------------------------------- splitting


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list:
    ary = array(ary)
    axis = normalize_axis_index(axis, ndim_of(ary))
    total = shape_of(ary)[axis]
    if np.ndim(indices_or_sections) == 0:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each = total // sections
        extras = total - each * sections
        bounds = [k * each + smaller(k, extras) for k in range(sections)] + [total]
    else:
        bounds = [0, *[int(k) for k in indices_or_sections], total]
    return [part(ary, axis, slice(start, stop)) for start, stop in itertools.pairwise(bounds)]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list:
    ary = array(ary)
    if np.ndim(indices_or_sections) == 0:
        total = shape_of(ary)[normalize_axis_index(axis, ndim_of(ary))]
        uneven = e.not_equal(known(total) % indices_or_sections, 0)
        refuse_if(uneven, ValueError, "array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def _split_along(ary: Any, indices_or_sections: Any, axis: int, needed: int, name: str) -> list:
    ary = array(ary)
    if ndim_of(ary) < needed:
        raise ValueError(f"{name} only works on arrays of {needed} or more dimensions")
    return split(ary, indices_or_sections, axis)


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list:
    return _split_along(ary, indices_or_sections, 0 if ndim_of(array(ary)) == 1 else 1, 1, "hsplit")


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list:
    return _split_along(ary, indices_or_sections, 0, 2, "vsplit")


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list:
    return _split_along(ary, indices_or_sections, 2, 3, "dsplit")


@implements(if_present("unstack"))
def unstack(x: Any, /, *, axis: int = 0) -> tuple:
    x = array(x)
    if ndim_of(x) == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis_index(axis, ndim_of(x))
    return tuple(part(x, axis, k) for k in range(shape_of(x)[axis]))


# --------------------------------------------------------------------------------- repeating, putting in, taking out


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    A = array(A)
    counts = tuple(reps) if np.ndim(reps) else (reps,)
    ndim = max(len(counts), ndim_of(A))
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - ndim_of(A)) + shape_of(A)
    apart = s.reshape(A, shape=tuple(m for n in shape for m in (1, n)))
    repeated = s.broadcast_to(apart, shape=tuple(m for r, n in zip(counts, shape, strict=True) for m in (r, n)))
    return s.reshape(repeated, shape=tuple(r * n for r, n in zip(counts, shape, strict=True)))


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    a, axis = flat_if_none(a, axis)
    shape = shape_of(a)
    if is_of_program(repeats):
        return pick(a, _repeated_places(shape[axis], repeats), axis)
    if np.ndim(repeats) or repeats < 0:
        return pick(a, np.repeat(np.arange(shape[axis]), repeats), axis)
    before, n, after = shape[:axis], shape[axis], shape[axis + 1 :]
    count = np.repeat(0, repeats).size  # checks that it is an integer
    each = s.broadcast_to(s.reshape(a, shape=(*before, n, 1, *after)), shape=(*before, n, count, *after))
    return s.reshape(each, shape=(*before, n * count, *after))


def _repeated_places(n: Any, repeats: Any) -> Any:
    """0, 0, 1, …, as often as numbers say which only a captured program knows."""
    refuse_if(FUNCTIONS[np.any](e.less(repeats, 0)), ValueError, "repeats may not contain negative values.")
    if ndim_of(repeats) == 0:
        return counting(known(n) * repeats) // larger(repeats, 1)
    agree((n,), shape_of(repeats), ValueError, "repeats has another length than the axis it is for")
    places = counting(s.sum(repeats))
    return FUNCTIONS[np.searchsorted](FUNCTIONS[np.cumsum](repeats), places, side="right")


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Arrange the positions in `arr` and, counted on from there, in `values`; then gather from both."""
    arr, axis = flat_if_none(arr, axis)
    shape = shape_of(arr)
    n = shape[axis]
    if n.__class__ is not int or isinstance(obj, Traced):
        return _inserted_at(arr, obj, values, axis)
    count = np.insert(np.arange(n), obj, -1).size - n
    values = cast(array(fitted(values, dtype_of(arr))), dtype_of(arr))
    if count == 1:  # one place, which takes all of `values`
        missing = max(len(shape) - ndim_of(values), 0)
        values = s.reshape(values, shape=(1,) * missing + shape_of(values))
        if not isinstance(obj, slice) and np.ndim(obj) == 0:
            values = moveaxis(values, 0, axis)
        count = shape_of(values)[axis]
    values = s.broadcast_to(values, shape=(*shape[:axis], count, *shape[axis + 1 :]))
    return pick(join([arr, values], axis), np.insert(np.arange(n), obj, n + np.arange(count)), axis)


def _inserted_at(arr: Any, obj: Any, values: Any, axis: int) -> Any:
    """The same at one place, where it or the length of the axis is known only when a captured program runs."""
    shape = shape_of(arr)
    n = known(shape[axis])
    place = _only_place("np.insert", obj, n)
    values = cast(array(fitted(values, dtype_of(arr))), dtype_of(arr))
    values = s.reshape(values, shape=(1,) * max(ndim_of(arr) - ndim_of(values), 0) + shape_of(values))
    values = moveaxis(values, 0, axis)
    count = shape_of(values)[axis]
    values = s.broadcast_to(values, shape=(*shape[:axis], count, *shape[axis + 1 :]))
    to = counting(n + count)
    after = e.where(e.less(to, place + count), n + to - place, to - count)
    return pick(join([arr, values], axis), e.where(e.less(to, place), to, after), axis)


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    arr, axis = flat_if_none(arr, axis)
    n = shape_of(arr)[axis]
    if n.__class__ is int and not isinstance(obj, Traced):
        return pick(arr, np.delete(np.arange(n), obj), axis)
    if isinstance(obj, Traced) and ndim_of(obj) == 1 and dtype_of(obj).kind in "iub":
        return pick(arr, FUNCTIONS[np.nonzero](_not_among(obj, known(n)))[0], axis)
    n, place = known(n), _only_place("np.delete", obj, known(n))
    left = counting(n - 1)
    return pick(arr, left + e.greater_equal(left, place), axis)


def _not_among(obj: Any, n: Any) -> Any:
    """Which places of an axis are not among some, where these are known only when a captured program runs."""
    if dtype_of(obj).kind == "b":
        return e.logical_not(obj)
    places = pick(counting(n), obj)  # which counts from the end, and checks
    times = scatter(s.broadcast_to(np.ones(()), shape=shape_of(places)), places, patterns=((ARRAY,),), shape=(n,))
    return e.equal(times, 0.0)


def _only_place(function: str, obj: Any, n: Any) -> Any:
    """A place in an axis, where it or the length of the axis is known only when a captured program runs."""
    if not (obj.__class__ is int or (isinstance(obj, Traced) and not shape_of(obj) and dtype_of(obj).kind in "iu")):
        raise UnsupportedFunctionError(
            f"{function} at several places, where places or lengths are known only when the compiled program runs",
            remedy="use a mask, x[keep], or np.concatenate([x[:k], [value], x[k:]])",
        )
    place = e.where(e.less(obj, 0), obj + n, obj)
    outside = e.logical_or(e.less(place, 0), e.greater_equal(place, n + (function == "np.insert")))
    refuse_if(outside, IndexError, f"{function}: the index is out of bounds for the axis")
    return place


# -------------------------------------------------------------------------------------------------------- triangles


def _below(m: Any, k: Any) -> Any:
    tri: Any = np.tri
    rows, columns = shape_of(m)[-2:] if ndim_of(m) > 1 else shape_of(m) * 2
    if rows.__class__ is int is columns.__class__ and not isinstance(k, Traced):
        return tri(rows, columns, k=k, dtype=bool)
    return e.greater_equal(s.reshape(counting(rows), shape=(rows, 1)), counting(columns) - k)


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    m = array(m)
    return e.where(_below(m, k), m, dtype_of(m).type(0))


@implements(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    m = array(m)
    return e.where(_below(m, k - 1), dtype_of(m).type(0), m)


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    x = array(x)
    if ndim_of(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    x = cast(x, np.promote_types(dtype_of(x), int))
    count = shape_of(x)[0] if N is None else N
    powers = [x**k for k in range(count)]
    if not powers:
        return np.zeros((shape_of(x)[0], 0), dtype_of(x))
    return stacked(powers if increasing else powers[::-1], 1)


# -------------------------------------------------------------------------------------------------------- diagonals


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return diagonal_of(array(a), offset, axis1, axis2)


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    if writeable:
        raise UnsupportedFunctionError(
            "np.lib.stride_tricks.sliding_window_view with writeable=True on a traced value",
            remedy="write into the array itself",
        )
    x = array(x)
    lengths = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(ndim_of(x)) if axis is None else tuple(axis) if np.iterable(axis) else (axis,)
    if len(axes) != len(lengths):
        raise ValueError(f"Must provide matching length window_shape and axis; got {len(lengths)} and {len(axes)}")
    for length, k in zip(lengths, [normalize_axis_index(k, ndim_of(x)) for k in axes], strict=True):
        if not 0 <= length <= shape_of(x)[k]:
            raise ValueError("window shape cannot be larger than input array shape")
        places = np.arange(shape_of(x)[k] - length + 1)[:, None] + np.arange(length)
        x = moveaxis(index(x, places, pattern=(slice(None),) * k + (ARRAY,)), k + 1, -1)
    return x


@implements(np.linalg.diagonal)
def diagonal_of_matrices(x: Any, /, *, offset: int = 0) -> Any:
    return diagonal(x, offset, -2, -1)


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    v = array(v)
    shape = shape_of(v)
    if len(shape) == 2:
        return diagonal(v, k)
    if len(shape) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = shape[0] + abs(k) if k else shape[0]
    rows, columns = diagonal_places(shape[0], k)
    return scatter(v, rows, columns, patterns=((ARRAY, ARRAY),), shape=(n, n))


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    return diag(flat(array(v)), k)
