"""The rows for writing elements: `store(x, v, *arrays, pattern=…)` is x with v at the place that the index names,
`add_at(x, v, *arrays, pattern=…)` is x with v added there, where elements that are named twice get both.

It is functional, as every op: the result is new. Arrays that are written to in place (`box/writing.py`) are built on
it; the modes then reuse buffers that nobody else holds, so that filling n elements one by one costs O(n), not O(n²).

Linear in x and v together: the tangent of the result is the tangent of x with that of v in its place. Transposed: v
gets what lies at the place, x gets the rest. Where integer arrays name an element twice, the last write counts.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import interval_arithmetic, interval_sums, library
from wengert.ops.derive import elementwise, unfit, variadic_linear
from wengert.ops.elementwise import equal, where
from wengert.ops.enclosures import composed, stated
from wengert.ops.index import (
    add_in_place,
    arrays_come_first,
    axes_used,
    batched_place,
    counted,
    explicit,
    fill_pattern,
    index,
    rotated,
    write_axes,
    written_links,
)
from wengert.ops.links import added_at, joined, starts_of
from wengert.ops.op import Traced
from wengert.ops.places import store_repeated
from wengert.ops.shape import broadcast_to, filled, for_all_examples, number_of_examples, reshape
from wengert.ops.sizes import counting
from wengert.ops.traits import CHEAP, FREE, NEVER, PLACE
from wengert.ops.within import check
from wengert.strides import copy_as
from wengert.types import dtype_of, ndim_of, shape_of


def _store(x: Any, v: Any, *arrays: Any, pattern: tuple) -> Any:
    if library.is_foreign(v) and not library.is_foreign(x):
        y = np.array(x, like=v)
    elif x.__class__ is np.ndarray:
        y = copy_as(x)
    else:
        y = np.array(x) if not hasattr(x, "shape") or isinstance(x, np.generic) else x.copy()
    place, v = fill_pattern(pattern, arrays), library.moved(v, y) if v.__class__ is np.ndarray else v
    if arrays and library.is_foreign(y):
        check(y, place)
        store_repeated(y, place, v)
    else:
        y[place] = v
    return y


def written(ct: Any, v: Any, arrays: Any, pattern: tuple, shape: tuple[int, ...]) -> Any:
    """The cotangent of v: what lies at its place, of each element that was written twice only the last."""
    part = index(ct, *arrays, pattern=pattern)
    if arrays:
        known = all(n.__class__ is int for n in shape)
        if not known or any(isinstance(a, Traced) or library.is_foreign(a) for a in arrays):
            return _fitted(_where_last(part, arrays, pattern, shape), v)
        places = counted(shape)[fill_pattern(pattern, arrays)]
        distinct, last = np.unique(places.ravel()[::-1], return_index=True)
        if len(distinct) < places.size:
            counts = np.zeros(places.size, bool)
            counts[places.size - 1 - last] = True
            part = where(library.moved(counts.reshape(places.shape), part), part, 0)
    return _fitted(part, v)


def _fitted(part: Any, v: Any) -> Any:
    if len(v.shape) > ndim_of(part):  # NumPy lets a value have more axes than its place, of length one
        part = reshape(part, shape=(1,) * (len(v.shape) - ndim_of(part)) + shape_of(part))
    return unfit(part, v.shape, v.dtype)


def numbered(shape: tuple) -> Any:
    """0, 1, 2, … in a shape, of which lengths may be known only when a captured program runs; not to be written to."""
    if all(n.__class__ is int for n in shape):
        return counted(shape)
    total: Any = 0
    for axis, n in enumerate(shape):
        along = reshape(counting(n), shape=(n, *(1,) * (len(shape) - axis - 1)))
        total = total * getattr(n, "sym", n) + along
    return total


def _where_last(part: Any, arrays: Any, pattern: tuple, shape: tuple[int, ...]) -> Any:
    """`part`, and zero for elements that were written again later: each write leaves its number, the last one remains.

    For places that are not known yet. One number per axis names one place, which nothing else can name.
    """
    if not any(ndim_of(a) for a in arrays):
        return part
    if all(n.__class__ is int for n in shape_of(part)):
        numbers = library.arange(0, math.prod(shape_of(part)), part).reshape(shape_of(part))
    else:
        numbers = numbered(shape_of(part))
    known = all(n.__class__ is int for n in shape)
    start = library.zeros(shape, np.int64, numbers) if known else filled(np.int64(0), shape)
    left = index(store(start, numbers, *arrays, pattern=pattern), *arrays, pattern=pattern)
    return where(equal(left, numbers), part, 0)


def _transpose(i: int, ct: Any, args: tuple, pattern: tuple) -> Any:
    x, v, *arrays = args
    if i == 0:
        return store(ct, 0, *arrays, pattern=pattern)
    return written(ct, v, arrays, pattern, x.shape)


def _batch_of(op_getter: Callable[[], Any]) -> Callable:
    """The batch rule of `store` and of `add_at`."""

    def batch(args: Any, mapped: Any, params: dict) -> Any:
        op, (x, v, *arrays), (x_mapped, v_mapped, *arrays_mapped) = op_getter(), args, mapped
        size = number_of_examples(args, mapped)
        if not x_mapped:
            x = broadcast_to(x, shape=(size, *shape_of(x)))
        if any(arrays_mapped):
            return _at_different_places(op, x, v, v_mapped, arrays, arrays_mapped, params["pattern"], size)
        found = place_in_batch(shape_of(x), v, v_mapped, arrays, params["pattern"])
        if found is NotImplemented:
            return found
        v, pattern = found
        return op(x, v, *arrays, pattern=pattern)

    return batch


def _at_different_places(
    op: Any, x: Any, v: Any, v_mapped: bool, arrays: Any, mapped: Any, pattern: tuple, size: int
) -> Any:
    """Write to places that differ between examples: the hidden axis gets an index of its own."""
    pattern = explicit(pattern, ndim_of(x) - 1)
    if any(n.__class__ is not int for a in (x, v, *arrays) for n in shape_of(a)):
        return NotImplemented
    examples = [np.zeros(shape_of(a)[1:] if m else shape_of(a), np.intp) for a, m in zip(arrays, mapped, strict=True)]
    place = np.broadcast_to(np.zeros(()), shape_of(x)[1:])[fill_pattern(pattern, examples)]
    missing = place.ndim - (ndim_of(v) - v_mapped)
    if v_mapped and missing > 0:
        v = reshape(v, shape=(size, *(1,) * missing, *shape_of(v)[1:]))
    v = broadcast_to(v, shape=(size, *place.shape))
    pattern, arrays, rank, before = batched_place(arrays, mapped, pattern, size)
    return op(x, rotated(v, 1 + before, rank, 1), *arrays, pattern=pattern)


def _rank_of_place(shape: tuple, arrays: Any, pattern: tuple) -> int:
    """How many axes has what a pattern names."""
    used = axes_used(pattern)
    kept = sum(1 for item in pattern if item is None or item.__class__ is slice)
    return kept + len(shape) - used + max([1 if dtype_of(a).kind == "b" else ndim_of(a) for a in arrays], default=0)


def place_in_batch(shape: tuple[int, ...], v: Any, v_mapped: bool, arrays: Any, pattern: tuple) -> Any:
    """The value and the pattern for writing to an array with a hidden leading axis, if there is such a pattern."""
    pattern = explicit(pattern, len(shape) - 1)
    if arrays_come_first(pattern):
        return NotImplemented
    pattern = (slice(None), *pattern)
    if v_mapped:
        size = shape[0]
        missing = _rank_of_place(shape, arrays, pattern) - ndim_of(v)
        if missing > 0:
            v = reshape(v, shape=(size, *(1,) * missing, *shape_of(v)[1:]))
        elif missing < 0:
            v = reshape(v, shape=(size, *shape_of(v)[1 - missing :]))
    return v, pattern


def _add_at_links(active: Any, args: tuple, shape: tuple, params: dict) -> Any:
    starts = starts_of(active, args)
    found = [
        added_at(starts[k], args[k], counted(shape))
        if k == 0
        else written_links(starts[k], args[k], shape, params["pattern"], args[2:])
        for k in active
    ]
    return None if any(pairs is None for pairs in found) else joined(found)


def _store_links(active: Any, args: tuple, shape: tuple, params: dict) -> Any:
    """At known places elements are moved; at others they may be written, and what was there may stay."""
    return _add_at_links(active, args, shape, params) if any(isinstance(a, Traced) for a in args[2:]) else None


store = variadic_linear(
    "store",
    _store,
    _transpose,
    batch=_batch_of(lambda: store),
    raises=PLACE,
    cost=FREE,
    moves=True,
    writes=True,
    data=2,
    axes=write_axes,
    links=_store_links,
)


def _add_at(x: Any, v: Any, *arrays: Any, pattern: tuple) -> Any:
    if library.is_foreign(v) and not library.is_foreign(x):
        y = np.array(x, like=v)
    else:
        y = x.copy() if hasattr(x, "copy") and shape_of(x) else np.array(x)
    place = fill_pattern(pattern, arrays)
    if arrays and library.is_foreign(y):
        check(y, place)
    add_in_place(y, place, bool(arrays), v)
    return y


def _add_at_transpose(i: int, ct: Any, args: tuple, pattern: tuple) -> Any:
    _, v, *arrays = args
    return ct if i == 0 else _fitted(index(ct, *arrays, pattern=pattern), v)


add_at = variadic_linear(
    "add_at",
    _add_at,
    _add_at_transpose,
    batch=_batch_of(lambda: add_at),
    raises=PLACE,
    cost=CHEAP,
    writes=True,
    data=2,
    axes=write_axes,
    adds=True,
    links=_add_at_links,
    bounds=interval_sums.ADD_AT,
)


accumulate = elementwise(
    "accumulate",
    operator.add,
    (1, 1),
    linear_in=(0, 1),
    jointly=True,
    cost=CHEAP,
    identity=0,
    bounds=stated(interval_arithmetic.add),
)
"""A sum to which more is added, in whatever order: programs have it where loops add up what `add_at` would."""


def _add_parts(x: Any, *values: Any, patterns: tuple, cleared: tuple | None) -> Any:
    y = x.copy()
    if cleared is not None:
        y[cleared] = 0
    for v, pattern in zip(values, patterns, strict=True):
        y[pattern] += v
    return y


def _add_parts_transpose(i: int, ct: Any, args: tuple, patterns: tuple, cleared: tuple | None) -> Any:
    if i == 0:
        return ct if cleared is None else store(ct, 0.0, pattern=cleared)
    return index(ct, pattern=patterns[i - 1])


def _add_parts_links(active: Any, args: tuple, shape: tuple, params: dict) -> Any:
    pairs = []
    for k, start in starts_of(active, args).items():
        places = counted(shape)
        if k == 0 and params["cleared"] is not None:
            places = np.delete(places.ravel(), places[params["cleared"]].ravel())
            pairs.append((places, start + places))
        else:
            pairs.append(added_at(start, args[k], places if k == 0 else places[params["patterns"][k - 1]]))
    return joined(pairs)


add_parts = variadic_linear(
    "add_parts",
    _add_parts,
    _add_parts_transpose,
    batch=lambda args, mapped, params: add_parts_of_batch(args, mapped, **params),
    raises=NEVER,
    cost=CHEAP,
    writes=True,
    one_pass=True,
    adds=True,
    links=_add_parts_links,
    bounds=composed(interval_sums.add_parts),
)
"""x, in which the part `cleared` is zero (if it is not None), with values added to parts of it.

Parts are given by slices with both ends, one for each axis; a value has the shape of its part. Programs have it where
several sums into one array were put together.
"""


def add_parts_of_batch(args: Any, mapped: Any, patterns: tuple, cleared: tuple | None) -> Any:
    every = slice(0, number_of_examples(args, mapped))
    parts = tuple([(every, *pattern) for pattern in patterns])
    return add_parts(
        *for_all_examples(args, mapped), patterns=parts, cleared=None if cleared is None else (every, *cleared)
    )
