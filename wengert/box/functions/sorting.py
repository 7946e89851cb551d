"""Functions that order elements, and those that look them up in an order.

An order is locally constant: it is found once, by the ops that have derivative zero, and the elements are gathered in
it. Among equal elements the derivative goes to the one that the order (or `unique`: the first occurrence) picks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import implements
from wengert.box.functions.indexing import along_axis
from wengert.box.functions.lengths import agree
from wengert.box.functions.of_intervals import by_bounds, piecewise
from wengert.box.functions.operands import (
    answer,
    array,
    cast,
    flat,
    flat_if_none,
    in_double,
    interval_in,
    join,
    operand,
    part,
    pick,
)
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.types import dtype_of, ndim_of, shape_of

# ---------------------------------------------------------------------------------------------------------- sorting


def _check_order(order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _kind(kind: Any, stable: Any) -> Any:
    if stable is not None and kind is not None:
        raise ValueError("`kind` and `stable` parameters can't be provided at the same time. Use only one of them.")
    return "stable" if stable else kind


@implements(np.sort)
def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
    _check_order(order)
    a = array(a)
    if axis is None:
        a, axis = flat(a), 0
    axis = normalize_axis_index(axis, ndim_of(a))
    kind = _kind(kind, stable)
    bounds = by_bounds(lambda x: along_axis(x, r.argsort(x, axis=axis, kind=kind), axis), a)
    return along_axis(a, r.argsort(a, axis=axis, kind=kind), axis) if bounds is None else bounds


@implements(np.argsort)
def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
    _check_order(order)
    a, axis = flat_if_none(a, axis)
    return r.argsort(a, axis=axis, kind=_kind(kind, stable))


@implements(np.partition)
def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    _check_order(order)
    a = array(a)
    if axis is None:
        a, axis = flat(a), 0
    axis = normalize_axis_index(axis, ndim_of(a))
    return along_axis(a, r.argpartition(a, axis=axis, kth=kth), axis)


@implements(np.argpartition)
def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    _check_order(order)
    a, axis = flat_if_none(a, axis)
    return r.argpartition(a, axis=axis, kth=kth)


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    b = sort(a)
    return cast(b, np.sort_complex(np.ones(1, dtype_of(b))).dtype)


def _extreme(op: Any, a: Any, axis: int | None, keepdims: Any) -> Any:
    shape = shape_of(array(a))
    a, along = flat_if_none(a, axis)
    found = op(a, axis=along)
    if keepdims is True:
        return s.reshape(found, shape=tuple(1 if axis is None or k == along else n for k, n in enumerate(shape)))
    return found


@implements(np.argmax)
def argmax(a: Any, axis: int | None = None, *, keepdims: Any = False) -> Any:
    return _extreme(r.argmax, a, axis, keepdims)


@implements(np.argmin)
def argmin(a: Any, axis: int | None = None, *, keepdims: Any = False) -> Any:
    return _extreme(r.argmin, a, axis, keepdims)


# --------------------------------------------------------------------------------------------------- distinct values


@implements(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    whole = array(ar)
    ar, along = flat_if_none(ar, axis)
    _, first, *others = answer(
        np.unique,
        whole,
        return_index=True,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        equal_nan=equal_nan,
    )
    asked = ([first] if return_index else []) + others
    values = pick(ar, first, along)
    return (values, *asked) if asked else values


def _distinct(function: Any) -> None:
    """The array API's forms of `unique`: named results, and every NaN is a value of its own."""

    def implementation(x: Any) -> Any:
        x = array(x)
        values = unique(x, equal_nan=False)
        kind = type(function(np.ones(1, dtype_of(x))))
        if kind is np.ndarray:
            return values
        found = answer(lambda x: tuple(function(x)), x)
        return kind(values, *found[1:])

    implements(function)(implementation)


for _function in (np.unique_values, np.unique_counts, np.unique_inverse, np.unique_all):
    _distinct(_function)


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(join([flat(array(ar1)), flat(array(ar2))], 0))


@implements(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    x = flat(array(ar1)) if assume_unique else unique(ar1)
    left = answer(lambda a, b: np.flatnonzero(np.isin(a, b, assume_unique=assume_unique, invert=True)), x, array(ar2))
    return pick(x, left)


@implements(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    both = [flat(array(a)) if assume_unique else unique(a) for a in (ar1, ar2)]
    x = sort(join(both, 0))

    def alone(values: Any) -> Any:
        differs = np.concatenate(([True], values[1:] != values[:-1], [True]))
        return np.flatnonzero(differs[1:] & differs[:-1])

    return pick(x, answer(alone, x))


# ---------------------------------------------------------------------------------------------------- interpolation


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Find the piece that each x lies in; there the value is fp + slope·(x − xp), which has all the derivatives.

    At a knot the derivative in x is the slope to its right; at the last knot, to its left.
    """
    x, xp, fp = in_double(array(x)), in_double(array(xp)), array(fp)
    fp = cast(fp, np.complex128 if dtype_of(fp).kind == "c" else np.float64)
    if ndim_of(xp) != 1 or ndim_of(fp) != 1:
        raise ValueError("Data points must be 1-D sequences")
    n = shape_of(xp)[0]
    if n == 0:
        raise ValueError("array of sample points is empty")
    agree(shape_of(fp), (n,), ValueError, "fp and xp are not of the same length.")
    if period is not None:
        x, xp, fp = _unrolled(x, xp, fp, operand(period))
        left = right = None
    jumps = left is not None or right is not None

    def at(y: Any, knots: Any, values: Any, number: Any) -> Any:
        return _interp(y, knots, values, number, xp, left, right)

    found = piecewise(at, x, xp, fp, jumps)
    return _interp(x, xp, fp, x, xp, left, right) if found is None else found


def _interp(x: Any, knots: Any, fp: Any, number: Any, xp: Any, left: Any, right: Any) -> Any:
    """`interp` of x, with values fp at the knots; which piece it lies in tells where the number is among xp."""
    n = shape_of(xp)[0]
    first, last = part(xp, 0, 0), part(xp, 0, n - 1)
    inside = e.logical_and(e.greater_equal(number, first), e.less_equal(number, last))
    if n == 1:
        y = part(fp, 0, 0)
    else:
        piece = interval_in(xp, number, 0, n - 2)
        base = e.where(e.equal(number, last), n - 1, piece)
        width = pick(knots, piece + 1) - pick(knots, piece)
        rise = pick(fp, piece + 1) - pick(fp, piece)
        jump = e.equal(width, 0)
        slope = e.where(jump, 0, rise / e.where(jump, 1, width))
        y = slope * e.where(inside, x - pick(knots, base), 0) + pick(fp, base)
    y = e.where(e.less(number, first), part(fp, 0, 0) if left is None else left, y)
    y = e.where(e.greater(number, last), part(fp, 0, n - 1) if right is None else right, y)
    return e.where(e.isnan(number), x, y)


def _unrolled(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """One period of a periodic function, with a neighbour on either side."""
    if answer(lambda p: p == 0, period):
        raise ValueError("period must be a non-zero value")
    period = e.absolute(period)
    x, xp = e.remainder(x, period), e.remainder(xp, period)
    order = r.argsort(xp, axis=0, kind=None)
    xp, fp = pick(xp, order), pick(fp, order)
    ends = slice(-1, None), slice(0, 1)
    xp = join([part(xp, 0, ends[0]) - period, xp, part(xp, 0, ends[1]) + period], 0)
    fp = join([part(fp, 0, ends[0]), fp, part(fp, 0, ends[1])], 0)
    return x, xp, fp
