"""Reductions: sum, prod, max, min, mean, average, var, std, any, all.

Each is a short composition of the reductions in `ops`. What NumPy's options mean is the same for all of them: `dtype`
is a cast of the data before, `where` fills what is left out with the neutral element, `initial` is combined with the
result, `keepdims` keeps the reduced axes with length one. Ties in max and min share the derivative equally.

The standard deviation of equal values is a kink like |x| at zero, in every direction at once: its derivative there is
zero, as that of `np.linalg.norm` at zero.

The first section says what options mean; it serves other modules as well.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from wengert.box.dispatch import implements
from wengert.box.functions.lengths import agree
from wengert.box.functions.operands import array, cast
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Op, Traced, call
from wengert.types import broadcast_shapes, dtype_of, ndim_of, scalar_like, shape_of

NOTHING: Any = np._NoValue
"""NumPy's mark for an argument that was not given."""

# ------------------------------------------------------------------------------------------------ what options mean


def cast_if(x: Any, dtype: Any) -> Any:
    """`x` in the dtype that an option asks for; `None`: as it is."""
    return x if dtype is None else cast(x, dtype)


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes a ufunc's `reduce` means: all for `None`; and it lets 0-d data pass with axis 0 or -1."""
    if axis is None:
        return tuple(range(ndim))
    if axis.__class__ is int:
        if 0 <= axis < ndim:
            return (axis,)
        if ndim == 0 and axis in (0, -1):
            return ()
    return normalize_axis_tuple(axis, ndim)


def given_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `np.mean` and its like mean: as above, but strict with 0-d data."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)


def count_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """How many elements are reduced to one."""
    return math.prod([shape[k] for k in axes])


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a reduction with keepdims=True."""
    return tuple([1 if k in axes else n for k, n in enumerate(shape)])


def is_given(option: Any) -> bool:
    """Whether `where=` or `initial=` says anything."""
    return not (option is NOTHING or option is None or option is True)


def as_mask(where: Any, shape: tuple[int, ...]) -> Any:
    """The argument `where=` as a mask that fits data of this shape."""
    mask = array(where)
    if dtype_of(mask).kind != "b":
        mask = e.not_equal(mask, 0)
    if broadcast_shapes([shape_of(mask), shape]) != shape:
        raise ValueError(
            f"non-broadcastable operand with shape {shape} doesn't match the broadcast shape of where, {shape_of(mask)}"
        )
    return mask


def _with_initial(op: Op, y: Any, initial: Any) -> Any:
    """A result combined with `initial=`, in the dtype of the result."""
    if ndim_of(initial):
        raise ValueError("initial must be a scalar")
    return cast(op(y, _first(initial, y)), dtype_of(y))


def _first(initial: Any, like: Any) -> Any:
    return cast(initial, dtype_of(like)) if isinstance(initial, Traced) else scalar_like(initial, like)


# ------------------------------------------------------------------------------------------------------ sum and prod


@implements(np.sum)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NOTHING, initial: Any = NOTHING, where: Any = NOTHING
) -> Any:
    if axis is None and keepdims is NOTHING and dtype is None and initial is where is NOTHING:
        return call(s.sum, a)
    a = cast_if(array(a), dtype)
    if is_given(where):
        a = e.where(as_mask(where, shape_of(a)), a, 0)
    axes = reduced_axes(axis, ndim_of(a))
    y = as_asked(call(s.sum, a, axis=axes, keepdims=keepdims is not NOTHING and bool(keepdims)), dtype)
    return _with_initial(e.add, y, initial) if is_given(initial) else y


def as_asked(y: Any, dtype: Any) -> Any:
    """A sum or product in the type that was asked for: of short integers NumPy's default is a longer one."""
    return y if dtype is None or dtype_of(y) == np.dtype(dtype) else s.astype(y, dtype=np.dtype(dtype))


@implements(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NOTHING, initial: Any = NOTHING, where: Any = NOTHING
) -> Any:
    a = cast_if(array(a), dtype)
    if is_given(where):
        a = e.where(as_mask(where, shape_of(a)), a, 1)
    y = as_asked(_reduce(r.prod, a, reduced_axes(axis, ndim_of(a)), keepdims), dtype)
    return _with_initial(e.multiply, y, initial) if is_given(initial) else y


def _reduce(op: Op, a: Any, axes: tuple[int, ...], keepdims: Any) -> Any:
    y = call(op, a, axis=axes)
    if keepdims is NOTHING or not keepdims:
        return y
    return s.reshape(y, shape=kept_shape(shape_of(a), axes))


# ----------------------------------------------------------------------------------------------------------- max, min


_EXTREMES = {
    np.maximum: (r.max, e.maximum),
    np.minimum: (r.min, e.minimum),
    np.fmax: (r.nanmax, e.fmax),
    np.fmin: (r.nanmin, e.fmin),
}


def extreme(
    ufunc: Any, a: Any, axis: Any = None, keepdims: Any = NOTHING, initial: Any = NOTHING, where: Any = NOTHING
) -> Any:
    """The reduction with `np.maximum` or `np.minimum`, or, of inexact data, with `np.fmax` or `np.fmin`."""
    reduction, pairwise = _EXTREMES[ufunc]
    a = array(a)
    shape = shape_of(a)
    axes = reduced_axes(axis, len(shape))
    if not is_given(initial):
        if is_given(where):
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' does not have an identity, "
                "so to use a where mask one has to specify 'initial'"
            )
        return _reduce(reduction, a, axes, keepdims)
    if is_given(where):
        a = e.where(as_mask(where, shape), a, np.nan if ufunc in (np.fmax, np.fmin) else _first(initial, a))
    if count_of(shape, axes) == 0:
        left = shape_of(call(s.sum, np.zeros(shape), axis=axes, keepdims=keepdims is not NOTHING and bool(keepdims)))
        return s.broadcast_to(_first(initial, a), shape=left)
    return _with_initial(pairwise, _reduce(reduction, a, axes, keepdims), initial)


max = implements(np.max, np.amax)(functools.partial(extreme, np.maximum))
min = implements(np.min, np.amin)(functools.partial(extreme, np.minimum))


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, keepdims: Any = NOTHING) -> Any:
    return extreme(np.maximum, a, axis, keepdims) - extreme(np.minimum, a, axis, keepdims)


# -------------------------------------------------------------------------------------------------- mean and moments


def _widened(a: Any, dtype: Any) -> tuple[Any, Any]:
    """Data in the dtype that a mean is computed in, and the dtype of the result.

    As NumPy: half precision is summed in single precision, integers in double.
    """
    if dtype is not None:
        return cast(a, dtype), None
    kind = dtype_of(a)
    if kind == np.float16:
        return cast(a, np.float32), kind
    return (a if kind.kind in "fc" else cast(a, np.float64)), None


def _over(total: Any, count: Any) -> Any:
    """total / count, in the dtype of the total, without Python's ZeroDivisionError."""
    if count.__class__ is int or count.__class__ is float:
        return e.divide(total, count or scalar_like(0, total))
    return e.divide(total, cast(count, dtype_of(total).type(0).real.dtype))


def _counts(mask: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Any:
    """How many elements of each lane a mask leaves."""
    return s.sum(s.broadcast_to(mask, shape=shape), axis=axes, keepdims=keepdims)


def _warn_if(condition: Any, message: str) -> None:
    if condition is not False and not isinstance(condition, Traced) and np.any(condition):
        warnings.warn(message, RuntimeWarning, stacklevel=4)


@implements(np.mean)
def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NOTHING, *, where: Any = NOTHING) -> Any:
    if axis is None and keepdims is NOTHING and dtype is None and where is NOTHING:
        lengths = shape_of(a)
        size = math.prod(lengths) if set(map(type, lengths)) <= {int} else 0
        if size and dtype_of(a).char in "fdFD":
            return call(e.divide, call(s.sum, a), size)
    a, narrow = _widened(array(a), dtype)
    shape = shape_of(a)
    axes = given_axes(axis, len(shape))
    keep = keepdims is not NOTHING and bool(keepdims)
    if is_given(where):
        mask = as_mask(where, shape)
        a = e.where(mask, a, 0)
        count = _counts(mask, shape, axes, keep)
    else:
        count = count_of(shape, axes)
    _warn_if(count == 0, "Mean of empty slice.")
    return cast_if(_over(call(s.sum, a, axis=axes, keepdims=keep), count), narrow)


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NOTHING) -> Any:
    a = array(a)
    shape = shape_of(a)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        count = count_of(shape, given_axes(axis, len(shape)))
        scale: Any = cast(count, dtype_of(result)) if isinstance(count, Traced) else scalar_like(count, result)
    else:
        weights = _weights_along(array(weights), shape, axis)
        dtype = np.result_type(dtype_of(a), dtype_of(weights))
        if dtype_of(a).kind in "iub":  # even if the weights have fewer digits
            dtype = np.result_type(dtype, np.float64)
        axes = given_axes(axis, len(shape))
        keep = keepdims is not NOTHING and bool(keepdims)
        weights = cast(weights, dtype)
        # Weights along some axes only were given length 1 on the others: their sum counts each once, as in NumPy.
        scale = s.sum(weights, axis=axes, keepdims=keep)
        vanishes = scale == 0
        if not isinstance(vanishes, Traced) and np.any(vanishes):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = s.sum(e.multiply(cast(a, dtype), weights), axis=axes, keepdims=keep) / scale
    if returned:
        if shape_of(scale) != shape_of(result):
            scale = s.broadcast_to(scale, shape=shape_of(result))
            scale = scale if isinstance(scale, Traced) else np.copy(scale)
        return result, scale
    return result


def _weights_along(weights: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Weights of an average, reshaped to broadcast against the data."""
    if shape_of(weights) == shape:
        return weights
    if axis is None:
        agree(shape, shape_of(weights), TypeError, "Axis must be specified when shapes of a and weights differ.")
        return weights
    axes = normalize_axis_tuple(axis, len(shape))
    along = [shape[k] for k in axes]
    message = "Shape of weights must be consistent with shape of a along specified axis."
    agree(along, shape_of(weights), ValueError, message)
    weights = s.transpose(weights, axes=tuple(np.argsort(axes).tolist()))
    return s.reshape(weights, shape=tuple(n if k in axes else 1 for k, n in enumerate(shape)))


def variance(
    finish: Callable[[Any, Any, Callable, bool], Any],
    numbers: Callable[[Any, Any], tuple[Any, Any]],
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: Any = NOTHING,
    *,
    where: Any = NOTHING,
    mean: Any = NOTHING,
    correction: Any = NOTHING,
) -> Any:
    """What functions such as `np.var` are, of the data and the mask that `numbers(a, where)` makes.

    `finish(variance, degrees of freedom, are_equal, alone)` is applied before the result is cast back.

    `are_equal()` says where all values are equal. The variance need not be zero there: means are rounded. `alone` says
    that there is one value only, around its own mean.
    """
    if correction is not NOTHING:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    a, where = numbers(a, where)
    a, narrow = _widened(array(a), dtype)
    shape = shape_of(a)
    axes = given_axes(axis, len(shape))
    keep = keepdims is not NOTHING and bool(keepdims)
    mask = as_mask(where, shape) if is_given(where) else None
    count = count_of(shape, axes) if mask is None else _counts(mask, shape, axes, True)
    freedom = count - ddof
    is_known = not isinstance(freedom, Traced)  # (it is not for x[mask] in a compiled function)
    if is_known:
        _warn_if(freedom <= 0, "Degrees of freedom <= 0 for slice.")
    around_mean = mean is NOTHING
    alone = around_mean and not ddof and freedom.__class__ is int and freedom == 1
    if around_mean:
        filled = a if mask is None else e.where(mask, a, 0)
        mean = _over(call(s.sum, filled, axis=axes, keepdims=True), count)
    away = e.subtract(a, mean)
    squares = s.real(away * s.conjugate(away)) if dtype_of(away).kind == "c" else e.square(away)
    if mask is not None:
        squares = e.where(mask, squares, 0)
        freedom = e.maximum(freedom, 0)
        if not keep:
            freedom = s.reshape(freedom, shape=tuple(n for k, n in enumerate(shape) if k not in axes))
    elif not is_known:
        freedom = e.maximum(freedom, 0)
    elif freedom < 0:
        freedom = 0
    y = _over(call(s.sum, squares, axis=axes, keepdims=keep), freedom)

    def are_equal() -> Any:
        if not around_mean or (is_known and not count_of(shape, axes)):
            return e.equal(y, 0)
        fixed = e.stop_gradient(away)
        if dtype_of(fixed).kind != "c":
            found = _are_equal(fixed, axes, mask, is_known)
        else:
            parts = (s.real(fixed), s.imag(fixed))
            found = e.logical_and(*[_are_equal(part, axes, mask, is_known) for part in parts])
        return s.reshape(found, shape=shape_of(y)) if keep else found

    return cast_if(finish(y, freedom, are_equal, alone), narrow)


def _are_equal(x: Any, axes: Any, mask: Any, are_some: bool) -> Any:
    if not are_some and mask is None and len(shape_of(x)) == 1:  # there may be none, which have no extremes
        differ = e.not_equal(call(index, x, pattern=(slice(1, None),)), call(index, x, pattern=(slice(None, -1),)))
        return e.equal(call(s.sum, differ, axis=(0,)), 0)
    above, below = (x, x) if mask is None else (e.where(mask, x, c) for c in (-np.inf, np.inf))
    return e.equal(call(r.max, above, axis=axes), call(r.min, below, axis=axes))


def deviation(variance: Any, are_equal: Any) -> Any:
    """The square root of a variance; of equal values it has the derivative zero, the subgradient of least norm."""
    root = e.sqrt(e.where(are_equal, scalar_like(1, variance), variance))
    return e.where(are_equal, e.sqrt(e.stop_gradient(variance)), root)


def _deviation_unless_alone(y: Any, freedom: Any, are_equal: Callable, alone: bool) -> Any:
    """One element alone has standard deviation zero, whatever it is: no kink, and the variance is zero as well."""
    return y if alone else deviation(y, are_equal())


_as_given = lambda a, where: (a, where)
var = implements(np.var)(functools.partial(variance, lambda y, freedom, are_equal, alone: y, _as_given))
std = implements(np.std)(functools.partial(variance, _deviation_unless_alone, _as_given))

# ------------------------------------------------------------------------------------------------------------ any, all


@implements(np.any)
def any(a: Any, axis: Any = None, keepdims: Any = NOTHING, *, where: Any = NOTHING) -> Any:
    a = array(a)
    if is_given(where):
        a = e.logical_and(a, as_mask(where, shape_of(a)))
    return _reduce(r.any, a, reduced_axes(axis, ndim_of(a)), keepdims)


@implements(np.all)
def all(a: Any, axis: Any = None, keepdims: Any = NOTHING, *, where: Any = NOTHING) -> Any:
    a = array(a)
    if is_given(where):
        a = e.logical_or(a, e.logical_not(as_mask(where, shape_of(a))))
    return _reduce(r.all, a, reduced_axes(axis, ndim_of(a)), keepdims)
