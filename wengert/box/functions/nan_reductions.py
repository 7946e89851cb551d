"""Reductions and scans that leave NaN out.

Each is the ordinary one with the NaN replaced by its neutral element, or masked; only maximum and minimum are
reductions of their own, because their neutral element may tie with the data. What is left out has derivative zero.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from wengert.box.dispatch import implements
from wengert.box.functions import reductions as red
from wengert.box.functions.operands import array, cast
from wengert.box.functions.reductions import NOTHING, as_mask, is_given
from wengert.box.functions.scans import cumprod, cumsum
from wengert.ops import elementwise as e
from wengert.ops.op import Traced
from wengert.types import dtype_of, is_inexact, shape_of


def _filled(a: Any, value: float) -> Any:
    a = array(a)
    return e.where(e.isnan(a), value, a) if is_inexact(dtype_of(a)) else a


@implements(np.nansum)
def nansum(a: Any, *options: Any, **named: Any) -> Any:
    return red.sum(_filled(a, 0), *options, **named)


@implements(np.nanprod)
def nanprod(a: Any, *options: Any, **named: Any) -> Any:
    return red.prod(_filled(a, 1), *options, **named)


@implements(np.nancumsum)
def nancumsum(a: Any, *options: Any, **named: Any) -> Any:
    return cumsum(_filled(a, 0), *options, **named)


@implements(np.nancumprod)
def nancumprod(a: Any, *options: Any, **named: Any) -> Any:
    return cumprod(_filled(a, 1), *options, **named)


def nan_extreme(
    ufunc: Any,
    a: Any,
    axis: Any = None,
    keepdims: Any = NOTHING,
    initial: Any = NOTHING,
    where: Any = NOTHING,
    warn: bool = False,
) -> Any:
    """The reduction with `np.fmax` or `np.fmin`. Of nothing but NaN it is NaN."""
    a = array(a)
    if not is_inexact(dtype_of(a)):
        return red.extreme(np.maximum if ufunc is np.fmax else np.minimum, a, axis, keepdims, initial, where)
    y = red.extreme(ufunc, a, axis, keepdims, initial, where)
    if is_given(initial):
        return y
    empty = e.isnan(y)
    if not isinstance(empty, Traced):
        if not np.any(empty):
            return y
        if warn:
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=4)
    return y * nan_where(empty, dtype_of(y))


nanmax = implements(np.nanmax)(functools.partial(nan_extreme, np.fmax, warn=True))
nanmin = implements(np.nanmin)(functools.partial(nan_extreme, np.fmin, warn=True))


def nan_where(mask: Any, dtype: Any) -> Any:
    """A factor that makes value and derivative NaN where the mask is true."""
    return cast(e.where(mask, np.nan, 1.0), dtype)


def _numbers(a: Any, where: Any) -> tuple[Any, Any]:
    """The data without NaN, and a mask of what is left; `None` if that is everything."""
    a = array(a)
    mask = e.logical_not(e.isnan(a)) if is_inexact(dtype_of(a)) else NOTHING
    if is_given(where):
        given = as_mask(where, shape_of(a))
        mask = given if mask is NOTHING else e.logical_and(mask, given)
    return _filled(a, 0), mask


@implements(np.nanmean)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NOTHING, *, where: Any = NOTHING) -> Any:
    numbers, mask = _numbers(a, where)
    return red.mean(numbers, axis, dtype, keepdims, where=mask)


def _nan_without_freedom(y: Any, freedom: Any) -> Any:
    """`np.nanvar` is NaN where `np.var` divides by zero."""
    lacking = freedom <= 0
    if not isinstance(lacking, Traced) and not np.any(lacking):
        return y
    return y * nan_where(lacking, dtype_of(y))


nanvar = implements(np.nanvar)(
    functools.partial(red.variance, lambda y, freedom, are_equal, alone: _nan_without_freedom(y, freedom), _numbers)
)
nanstd = implements(np.nanstd)(
    functools.partial(
        red.variance,
        lambda y, freedom, are_equal, alone: red.deviation(_nan_without_freedom(y, freedom), are_equal()),
        _numbers,
    )
)
