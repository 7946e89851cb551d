"""Questions about arrays, whose answers are constants, and arrays of constants made after the likeness of another.

Shapes and types are known without looking at the values. What depends on the values (are these arrays equal? where
would this element go?) is asked of them through `observe`, which has derivative zero and an untraced answer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import polyutils

from wengert.box.dispatch import if_present, implements, implements_blind
from wengert.box.functions.operands import array, cast, operand, pick, places_in, shape_tuple, size_of
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.library import filled_like, is_mutable
from wengert.ops.observe import observe
from wengert.ops.op import Traced
from wengert.ops.sizes import true_positions
from wengert.types import dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------- shapes and types


@implements(np.shape)
def shape(a: Any) -> tuple[int, ...]:
    return shape_of(array(a))


@implements(np.ndim)
def ndim(a: Any) -> int:
    return ndim_of(array(a))


@implements(np.size)
def size(a: Any, axis: Any = None) -> int:
    a = array(a)
    return size_of(a) if axis is None else np.size(_stand_in(a), axis)


def _stand_in(x: Any) -> Any:
    """Something of the same shape and dtype, at no cost."""
    return np.broadcast_to(np.zeros((), dtype_of(x)), shape_of(x))


def _of_few(x: Any) -> Any:
    """Something of the same dtype and as many axes; for a number of Python's own, one of these."""
    if x._is_python_number:
        return np.zeros((), dtype_of(x)).item()
    return np.broadcast_to(np.zeros((), dtype_of(x)), (1,) * ndim_of(x))


def _of_type_alone(function: Callable, stand_in: Callable) -> None:
    """Questions of which dtype, and shape, are all they need to know."""

    @functools.wraps(function)
    def implementation(*args: Any, **kwargs: Any) -> Any:
        seen = [stand_in(a) if isinstance(a, Traced) else a for a in args]
        return function(*seen, **{k: stand_in(a) if isinstance(a, Traced) else a for k, a in kwargs.items()})

    implements(function)(implementation)


_DTYPE_QUESTIONS: tuple[Any, ...] = (np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.common_type)
_SHAPE_QUESTIONS: tuple[Any, ...] = (np.diag_indices_from, np.tril_indices_from, np.triu_indices_from)
for _function in _DTYPE_QUESTIONS:
    _of_type_alone(_function, _of_few)
for _function in _SHAPE_QUESTIONS:
    _of_type_alone(_function, _stand_in)

# ----------------------------------------------------------------------------------------------------------- values


def _of_values(function: Callable, register: Callable = implements) -> None:
    """Questions about the values themselves."""

    @functools.wraps(function)
    def implementation(*args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        options = {k: a for k, a in given.items() if a is None or isinstance(a, (str, bool, type, np.dtype))}
        names = [k for k in given if k not in options]

        def ask(*values: Any) -> Any:
            filled = {**options, **dict(zip(names, values, strict=True))}
            return function(*[filled[k] for k in range(len(args))], **{k: filled[k] for k in kwargs})

        return observe(*[operand(given[k]) for k in names], function=ask)

    register(function)(implementation)


_VALUE_QUESTIONS: tuple[Any, ...] = (
    np.array_equal, np.array_equiv, np.isin, np.min_scalar_type,
    np.array_repr, np.array_str, np.array2string,
    np.argwhere,
    np.nanargmax, np.nanargmin, if_present("in1d"),
)  # fmt: skip
for _function in _VALUE_QUESTIONS:
    if _function is not None:
        _of_values(_function)
for _function in (np.format_float_positional, np.format_float_scientific, polyutils.format_float):
    _of_values(_function, implements_blind)


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    a, v = array(a), operand(v)
    if ndim_of(a) != 1:
        raise ValueError(
            "object of too small depth for desired array" if not ndim_of(a) else "object too deep for desired array"
        )
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    return places_in(a if sorter is None else pick(a, sorter), array(v), side)


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    x, bins = array(x), array(bins)
    if dtype_of(x).kind == "c":
        raise TypeError("x may not be complex")
    if ndim_of(bins) != 1:
        raise ValueError(
            "object of too small depth for desired array" if not ndim_of(bins) else "object too deep for desired array"
        )
    if isinstance(bins, Traced):
        return observe(x, bins, function=functools.partial(np.digitize, right=right))
    rises = np.all(bins[1:] >= bins[:-1])
    if not rises and not np.all(bins[1:] <= bins[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    return places_in(bins, x, side) if rises else len(bins) - places_in(bins[::-1], x, side)


@implements(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    return true_positions(e.not_equal(array(a), 0))


@implements(np.nonzero)
def nonzero(a: Any) -> Any:
    a = array(a)
    if ndim_of(a) == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    positions, places = flatnonzero(a), []
    for n in reversed(shape_of(a)[1:]):
        places.append(positions % n)
        positions = positions // n
    return (positions, *reversed(places))


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    return observe(*[array(key) for key in keys], function=lambda *values: np.lexsort(values, axis))


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    a = array(a)
    axes = tuple(range(ndim_of(a))) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, ndim_of(a))
    counts = r.count_nonzero(a, axis=axes)
    if keepdims:
        return s.reshape(counts, shape=tuple(1 if k in axes else n for k, n in enumerate(shape_of(a))))
    return counts


# ------------------------------------------------------------------------------------------------- arrays like others


def _library(x: Any) -> Any:
    """The array behind a traced value, for the library it belongs to; None if it is NumPy."""
    while isinstance(x, Traced):
        if "_value" not in x._state:  # type: ignore[attr-defined]
            return None  # a symbol
        x = x._value  # type: ignore[attr-defined]
    return None if isinstance(x, (np.ndarray, np.generic)) or not hasattr(x, "shape") else x


def _filled(like: Callable, make: Callable, a: Any, dtype: Any, shape: Any) -> Any:
    a = array(a)
    shape = shape_of(a) if shape is None else shape_tuple(shape)
    dtype = dtype_of(a) if dtype is None else np.dtype(dtype)
    foreign = _library(a)
    if any(n.__class__ is not int for n in shape):
        return s.filled(dtype.type(make is np.ones), shape)
    if not is_mutable(foreign):
        return make(shape, dtype) if foreign is None else like(foreign, dtype=dtype, shape=shape)
    # (CuPy's `zeros_like` and so on take the shape of the other array for no axes)
    return filled_like(foreign, shape, 1, dtype) if make is np.ones else make(shape, dtype, like=foreign)


@implements(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _filled(np.zeros_like, np.zeros, a, dtype, shape)


@implements(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _filled(np.ones_like, np.ones, a, dtype, shape)


@implements(np.empty_like)
def empty_like(
    prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _filled(np.empty_like, np.empty, prototype, dtype, shape)


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    a, value = array(a), array(fill_value)
    shape = shape_of(a) if shape is None else shape_tuple(shape)
    value = cast(value, dtype_of(a) if dtype is None else dtype)
    if isinstance(value, Traced):
        return s.broadcast_to(value, shape=shape)
    foreign = _library(a)
    if foreign is not None and not value.shape:
        return filled_like(foreign, shape, value[()], value.dtype)
    return np.array(np.broadcast_to(value, shape))
