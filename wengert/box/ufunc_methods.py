"""The methods of ufuncs: `np.add.reduce`, `np.multiply.accumulate`, `np.maximum.outer`, `np.add.reduceat`.

The common ones are functions of their own (`np.add.reduce` is `np.sum`); the rest fold the ufunc's op along the axis,
one element after the other, as NumPy defines them: in a compiled program by a loop. NumPy itself says what is allowed
and what dtype comes out: each method is first tried on an array of ones of the same rank and dtype.

`np.add.at(a, indices, b)` writes into `a`: it stands with the other writers, in `writers.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import FUNCTIONS, name_of
from wengert.box.functions import reductions as red
from wengert.box.functions.nan_reductions import nan_extreme
from wengert.box.functions.norms import hypotenuse
from wengert.box.functions.operands import array, cast, join, with_dtype
from wengert.box.functions.reductions import NOTHING, as_mask, cast_if, is_given, kept_shape, reduced_axes
from wengert.box.functions.statistics import logsumexp
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of

FEW = 8
"""So many elements are folded without a loop, whatever the program."""


class Folds:
    """Folds that are captured as loops: the functions of `capture/followed/folds.py`."""

    reduced: Callable
    accumulated: Callable


def _is_loop(count: int) -> bool:
    return running.state.capture is not None and count > FEW


def _ones(x: Any) -> np.ndarray:
    return np.ones((1,) * ndim_of(x), dtype_of(x))


def _lanes(x: Any, axes: tuple[int, ...]) -> Any:
    """The data with the given axes merged into one, in front."""
    shape = shape_of(x)
    rest = [k for k in range(len(shape)) if k not in axes]
    order = (*sorted(axes), *rest)
    if order != tuple(range(len(shape))):
        x = s.transpose(x, axes=order)
    return s.reshape(x, shape=(math.prod([shape[k] for k in axes]), *[shape[k] for k in rest]))


# ------------------------------------------------------------------------------------------------------------- reduce


def _all(x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    y = red.all(x, axis, keepdims, where=where)
    return e.logical_and(initial, y) if initial is not NOTHING and initial is not None else y


def _any(x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    y = red.any(x, axis, keepdims, where=where)
    return e.logical_or(initial, y) if initial is not NOTHING and initial is not None else y


def _logaddexp(x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    if is_given(where):
        x = e.where(as_mask(where, shape_of(x)), x, -np.inf)
    y = logsumexp(x, axis, keepdims=keepdims)
    return cast(e.logaddexp(initial, y), dtype_of(y)) if is_given(initial) else y


def _hypot(x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    if is_given(where):
        x = e.where(as_mask(where, shape_of(x)), x, 0)
    axes = reduced_axes(axis, ndim_of(x))
    y = hypotenuse(x, axes) if axes else e.absolute(x)
    y = s.reshape(y, shape=kept_shape(shape_of(x), axes)) if keepdims else y
    return e.hypot(initial, y) if is_given(initial) else y


_REDUCTIONS: dict[Any, Callable] = {
    np.add: red.sum,
    np.multiply: red.prod,
    np.maximum: red.max,
    np.minimum: red.min,
    np.fmax: functools.partial(nan_extreme, np.fmax),
    np.fmin: functools.partial(nan_extreme, np.fmin),
    np.logical_and: _all,
    np.logical_or: _any,
    np.logaddexp: _logaddexp,
    np.hypot: _hypot,
}


def reduce(
    ufunc: Any,
    op: Callable,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = NOTHING,
    where: Any = True,
) -> Any:
    """`ufunc.reduce`."""
    x = array(x)
    named = _REDUCTIONS.get(ufunc)
    if named is not None and axis.__class__ is int and dtype is None and initial is NOTHING and where is True:
        return named(x, axis, keepdims=keepdims, initial=initial, where=where)
    # What NumPy thinks of these arguments: its errors, and the dtype of the result.
    tried = {"initial": 1} if is_given(initial) else {} if initial is NOTHING else {"initial": None}
    if is_given(where):
        tried["where"] = np.ones((), bool)  # type: ignore[assignment]
    result = ufunc.reduce(_ones(x), axis=axis, dtype=dtype, **tried).dtype
    if result.kind != "b":
        x = cast_if(x, dtype)
    if named is not None:
        y = named(x, axis, keepdims=keepdims, initial=initial, where=where)
        return y if dtype_of(y) == result or result.kind == "b" else cast(y, result)

    shape = shape_of(x)
    axes = reduced_axes(axis, len(shape))
    elements = _lanes(x, axes)
    count, *rest = shape_of(elements)
    start = ufunc.identity if initial is NOTHING else initial
    if start is None and count == 0:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    mask = None
    if is_given(where):
        mask = _lanes(s.broadcast_to(as_mask(where, shape), shape=shape), axes)
    first = 1 if start is None else 0
    if start is None:
        total = cast(index(elements, pattern=(0,)), result)
    else:
        start = start if isinstance(start, Traced) else result.type(start)
        total = s.broadcast_to(cast(start, result), shape=tuple(rest)) if rest else cast(start, result)
    if _is_loop(count):
        rest_of = lambda lanes: index(lanes, pattern=(slice(first, None),))
        step = lambda total, element: cast(op(total, element), result)
        total = Folds.reduced(step, total, rest_of(elements), None if mask is None else rest_of(mask))
        return s.reshape(total, shape=kept_shape(shape, axes)) if keepdims else total
    for k in range(first, count):
        stepped = cast(op(total, index(elements, pattern=(k,))), result)
        total = stepped if mask is None else e.where(index(mask, pattern=(k,)), stepped, total)
    return s.reshape(total, shape=kept_shape(shape, axes)) if keepdims else total


# --------------------------------------------------------------------------------------------------------- accumulate


def accumulate(ufunc: Any, op: Callable, x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`ufunc.accumulate`."""
    x = array(x)
    result = ufunc.accumulate(_ones(x), axis=axis, dtype=dtype).dtype
    k = normalize_axis_index(0 if axis is None else axis, ndim_of(x))
    if ufunc is np.add:
        return FUNCTIONS[np.cumsum](x, k, dtype)
    if ufunc is np.multiply:
        return FUNCTIONS[np.cumprod](x, k, dtype)
    if result.kind != "b":
        x = cast_if(x, dtype)
    shape = shape_of(x)
    if _is_loop(shape[k]):
        return np.moveaxis(Folds.accumulated(op, np.moveaxis(x, k, 0), result), 0, k)
    before = (slice(None),) * k
    totals: list[Any] = []
    for i in range(shape[k]):
        element = index(x, pattern=(*before, slice(i, i + 1)))
        totals.append(cast(op(totals[-1], element) if totals else element, result))
    return join(totals, k) if totals else np.zeros(shape, result)


# -------------------------------------------------------------------------------------------------------------- outer


def outer(ufunc: Any, op: Callable, a: Any, b: Any, dtype: Any = None, **options: Any) -> Any:
    """`ufunc.outer`."""
    if options.pop("where", True) is not True:
        raise UnsupportedFunctionError(
            f"{name_of(ufunc)}.outer with where= on a traced value", remedy="apply np.where to the result"
        )
    a, b = with_dtype(a), with_dtype(b)
    result = ufunc.outer(_ones(a), _ones(b), dtype=dtype, **options).dtype
    if dtype is not None and result.kind != "b":
        a, b = cast(a, result), cast(b, result)
    return op(s.reshape(a, shape=shape_of(a) + (1,) * ndim_of(b)), b)


# ----------------------------------------------------------------------------------------------------------- reduceat


def reduceat(ufunc: Any, op: Callable, x: Any, indices: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`ufunc.reduceat`: each stretch from one index up to the next; one element where the next is not larger."""
    x = array(x)
    if isinstance(indices, Traced):
        raise TypeError("the indices of reduceat are integers; traced values are not: use wg.stop_gradient(x)")
    result = ufunc.reduceat(_ones(x), [0], axis=axis, dtype=dtype).dtype
    x = cast(x, result)
    k = normalize_axis_index(axis, ndim_of(x))
    shape = shape_of(x)
    starts = np.asarray(indices, dtype=None if np.size(indices) else np.intp)
    # Lengths of the stretches, with NumPy's own checks of the indices on the way.
    count = np.add.reduceat(np.ones(shape[k], np.intp), starts)
    before = (slice(None),) * k
    if len(starts) == 0:
        return np.zeros((*shape[:k], 0, *shape[k + 1 :]), result)
    if ufunc is np.add:
        segment = np.repeat(np.arange(len(starts)), count)
        inside = np.arange(len(segment)) - np.repeat(np.cumsum(count) - count, count)
        elements = index(x, starts[segment] + inside, pattern=(*before, ARRAY))
        whole = (*shape[:k], len(starts), *shape[k + 1 :])
        return scatter(elements, segment, patterns=((*before, ARRAY),), shape=whole)
    pieces = [
        reduce(ufunc, op, index(x, pattern=(*before, slice(i, i + n))), axis=k, keepdims=True)
        for i, n in zip(starts.tolist(), count.tolist(), strict=True)
    ]
    return cast(join(pieces, k), result)


METHODS: dict[str, Callable] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "outer": outer,
    "reduceat": reduceat,
}
