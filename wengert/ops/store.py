"""The row for writing elements: `store(x, v, *arrays, pattern=…)` is x with v at the place that the index names.

It is functional, as every op: the result is new. Arrays that are written to in place (`box/writing.py`) are built on
it; the modes then reuse buffers that nobody else holds, so that filling n elements one by one costs O(n), not O(n²).

Linear in x and v together: the tangent of the result is the tangent of x with that of v in its place. Transposed: v
gets what lies at the place, x gets the rest. Where integer arrays name an element twice, the last write counts.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.ops.derive import unfit, variadic_linear
from wengert.ops.elementwise import where
from wengert.ops.index import arrays_come_first, explicit, fill_pattern, index
from wengert.ops.shape import broadcast_to, reshape
from wengert.types import ndim_of, shape_of


def _store(x: Any, v: Any, *arrays: Any, pattern: tuple) -> Any:
    if x.__class__ is np.ndarray:
        y = x.copy(order="K")
    else:
        y = np.array(x) if not hasattr(x, "shape") or isinstance(x, np.generic) else x.copy()
    y[fill_pattern(pattern, arrays)] = v
    return y


@functools.lru_cache(maxsize=8)
def counted(shape: tuple[int, ...]) -> np.ndarray:
    """0, 1, 2, … in a shape, not to be written to. Kept, so that n indices of one array are looked up in O(n)."""
    return np.arange(math.prod(shape)).reshape(shape)


def written(ct: Any, v: Any, arrays: Any, pattern: tuple, shape: tuple[int, ...]) -> Any:
    """The cotangent of v: what lies at its place, of each element that was written twice only the last."""
    part = index(ct, *arrays, pattern=pattern)
    if arrays:
        places = counted(shape)[fill_pattern(pattern, arrays)]
        distinct, last = np.unique(places.ravel()[::-1], return_index=True)
        if len(distinct) < places.size:
            counts = np.zeros(places.size, bool)
            counts[places.size - 1 - last] = True
            part = where(counts.reshape(places.shape), part, 0)
    if len(v.shape) > ndim_of(part):  # NumPy lets a value have more axes than its place, of length one
        part = reshape(part, shape=(1,) * (len(v.shape) - ndim_of(part)) + shape_of(part))
    return unfit(part, v.shape, v.dtype)


def _transpose(i: int, ct: Any, args: tuple, pattern: tuple) -> Any:
    x, v, *arrays = args
    if i == 0:
        return store(ct, 0, *arrays, pattern=pattern)
    return written(ct, v, arrays, pattern, x.shape)


def _batch(args: Any, mapped: Any, params: dict) -> Any:
    x, v, *arrays = args
    x_mapped, v_mapped, *arrays_mapped = mapped
    if any(arrays_mapped):
        return NotImplemented
    size = shape_of(x if x_mapped else v)[0]
    if not x_mapped:
        x = broadcast_to(x, shape=(size, *shape_of(x)))
    found = place_in_batch(shape_of(x), v, v_mapped, arrays, params["pattern"])
    if found is NotImplemented:
        return found
    v, pattern = found
    return store(x, v, *arrays, pattern=pattern)


def place_in_batch(shape: tuple[int, ...], v: Any, v_mapped: bool, arrays: Any, pattern: tuple) -> Any:
    """The value and the pattern for writing to an array with a hidden leading axis, if there is such a pattern."""
    pattern = explicit(pattern, len(shape) - 1)
    if arrays_come_first(pattern):
        return NotImplemented
    pattern = (slice(None), *pattern)
    if v_mapped:
        size = shape[0]
        place = np.broadcast_to(np.zeros(()), shape)[fill_pattern(pattern, arrays)]
        missing = place.ndim - ndim_of(v)
        if missing > 0:
            v = reshape(v, shape=(size, *(1,) * missing, *shape_of(v)[1:]))
        elif missing < 0:
            v = reshape(v, shape=(size, *shape_of(v)[1 - missing :]))
    return v, pattern


store = variadic_linear("store", _store, _transpose, batch=_batch, shape=lambda x, *rest, pattern: x.shape)
