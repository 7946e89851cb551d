"""Functions that rearrange an array: reshape, transpose and relatives, broadcasting, flips and rolls, casts."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import implements
from wengert.box.functions.lengths import known, larger
from wengert.box.functions.operands import array, cast, flat, join, part, pick, shape_tuple, size_of, unsupported_option
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.ops.sizes import counting
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------ order of elements


def _reversed_axes(x: Any) -> Any:
    return s.transpose(x, axes=tuple(range(ndim_of(x)))[::-1])


def _is_fortran(order: str) -> bool:
    """Whether `order` means that the first axis runs fastest. ("A" and "K" are known by then.)"""
    if order not in ("C", "F"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order == "F"


@implements(np.reshape)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    a = array(a)
    new = known_shape(size_of(a), shape_tuple(shape))
    if _is_fortran(order):
        return _reversed_axes(s.reshape(_reversed_axes(a), shape=new[::-1]))
    return s.reshape(a, shape=new)


def known_shape(size: Any, shape: tuple) -> tuple:
    """A shape with -1 (any negative number, to NumPy) replaced by what is left.

    Lengths may be known only when a captured program runs; it then checks that the sizes agree.
    """
    left = [k for k, n in enumerate(shape) if n.__class__ is int and n < 0]
    if len(left) > 1:
        raise ValueError("can only specify one unknown dimension")
    known = math.prod([n for k, n in enumerate(shape) if k not in left])
    if size.__class__ is int and known.__class__ is int:
        if (not known or size % known) if left else size != known:
            raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return tuple([size // known if k in left else n for k, n in enumerate(shape)])


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    a = array(a)
    if _is_fortran(order):
        a = _reversed_axes(a)
    return flat(a)


# ------------------------------------------------------------------------------------------------------------- axes


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Any:
    a = array(a)
    ndim = ndim_of(a)
    if axes is None:
        return _reversed_axes(a) if ndim > 1 else a
    axes = shape_tuple(axes)
    if len(axes) != ndim:
        raise ValueError("axes don't match array")
    return s.transpose(a, axes=normalize_axis_tuple(axes, ndim))


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    x = array(x)
    if ndim_of(x) < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {ndim_of(x)}")
    return swapaxes(x, -1, -2)


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    a = array(a)
    ndim = ndim_of(a)
    source = normalize_axis_tuple(source, ndim, "source")
    destination = normalize_axis_tuple(destination, ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    axes = [k for k in range(ndim) if k not in source]
    for target, k in sorted(zip(destination, source, strict=True)):
        axes.insert(target, k)
    return s.transpose(a, axes=tuple(axes))


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    a = array(a)
    ndim = ndim_of(a)
    axis = normalize_axis_index(axis, ndim)
    target = start + ndim if start < 0 else start
    if not 0 <= target <= ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-ndim} <= start < {ndim + 1}, but {start} was passed in")
    return moveaxis(a, axis, target - 1 if axis < target else target)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    a = array(a)
    ndim = ndim_of(a)
    axis1, axis2 = normalize_axis_index(axis1, ndim), normalize_axis_index(axis2, ndim)
    axes = list(range(ndim))
    axes[axis1], axes[axis2] = axis2, axis1
    return s.transpose(a, axes=tuple(axes))


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    a = array(a)
    shape = shape_of(a)
    if axis is None:
        return s.reshape(a, shape=tuple(n for n in shape if n != 1))
    axes = normalize_axis_tuple(axis, max(len(shape), 1))  # NumPy lets a 0-d array have an axis 0 here
    if any(shape[k : k + 1] not in ((), (1,)) for k in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return s.reshape(a, shape=tuple(n for k, n in enumerate(shape) if k not in axes))


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    a = array(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = len(axes) + ndim_of(a)
    axes = normalize_axis_tuple(axes, ndim)
    old = iter(shape_of(a))
    return s.reshape(a, shape=tuple(1 if k in axes else next(old) for k in range(ndim)))


def _at_least(longer: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable:
    """Implementation of `np.atleast_…`: one array gives one, several give a tuple."""

    def implementation(*arys: Any) -> Any:
        found = tuple(s.reshape(a, shape=longer(shape_of(a))) for a in map(array, arys))
        return found[0] if len(found) == 1 else found

    return implementation


atleast_1d = implements(np.atleast_1d)(_at_least(lambda shape: shape or (1,)))
atleast_2d = implements(np.atleast_2d)(_at_least(lambda shape: (1,) * (2 - len(shape)) + shape))


def _three_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) == 1:
        shape = (1, *shape)
    return shape + (1,) * (3 - len(shape))


atleast_3d = implements(np.atleast_3d)(_at_least(_three_axes))

# ----------------------------------------------------------------------------------------------------- broadcasting


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return s.broadcast_to(_array(array), shape=shape_tuple(shape))


_array = array  # the name that NumPy gives to a parameter of broadcast_to


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple:
    arrays = [array(a) for a in args]
    shape = np.broadcast_shapes(*[shape_of(a) for a in arrays])
    found = [a if shape_of(a) == shape else s.broadcast_to(a, shape=shape) for a in arrays]
    return tuple([s.copy(a) if isinstance(a, Traced) and a._is_python_number else a for a in found])  # type: ignore[attr-defined]


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    a = flat(array(a))
    new_shape = shape_tuple(new_shape)
    if any(n.__class__ is int and n < 0 for n in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    size = size_of(a)
    if size.__class__ is not int or any(n.__class__ is not int for n in new_shape):
        return pick(a, s.reshape(counting(math.prod(new_shape)) % larger(size, 1), shape=new_shape))
    if not size:
        return np.zeros(new_shape, dtype_of(a))
    return pick(a, np.resize(np.arange(size), new_shape))


# -------------------------------------------------------------------------------------------------- flips and rolls


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    m = array(m)
    axes = tuple(range(ndim_of(m))) if axis is None else normalize_axis_tuple(axis, ndim_of(m))
    return s.flip(m, axis=axes) if axes else s.copy(m)  # (a number, also of an array of no axes)


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    if ndim_of(array(m)) < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@implements(np.flipud)
def flipud(m: Any) -> Any:
    if ndim_of(array(m)) < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    m = array(m)
    ndim = ndim_of(m)
    if any(not -ndim <= a < ndim for a in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={ndim}.")
    first, second = normalize_axis_tuple(axes, ndim, allow_duplicate=True)
    if first == second:
        raise ValueError("Axes must be different.")
    turns = k % 4
    if turns == 0:
        return m
    if turns == 2:
        return s.flip(m, axis=(first, second))
    if turns == 1:
        return swapaxes(s.flip(m, axis=(second,)), first, second)
    return s.flip(swapaxes(m, first, second), axis=(second,))


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    a = array(a)
    if axis is None:
        return s.reshape(roll(flat(a), shift, 0), shape=shape_of(a))
    axes = normalize_axis_tuple(axis, ndim_of(a), allow_duplicate=True)
    shifts = list(shift) if isinstance(shift, (list, tuple)) or np.ndim(shift) else [shift]
    pairs = np.broadcast(np.arange(len(shifts)), axes)
    if any(np.ndim(step) for step in shifts if not isinstance(step, Traced)):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    rolled = a
    for place, k in pairs:
        step, n = shifts[place], shape_of(a)[k]
        if n.__class__ is not int or isinstance(step, Traced):
            if dtype_of(step) == np.uint64:
                step = cast(e.remainder(step, np.uint64(n) if n.__class__ is int else cast(n.sym, np.uint64)), np.int64)
            rolled = pick(rolled, (counting(n) - known(step)) % larger(n, 1), k)
            continue
        start = (n - operator.index(step)) % n if n else 0
        if start:
            rolled = join([part(rolled, k, slice(start, None)), part(rolled, k, slice(None, start))], k)
    return s.copy(a) if rolled is a else rolled  # never a view


# ------------------------------------------------------------------------------------------------- copies and casts


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return copied(array(a), order)


def copied(a: Any, order: str = "K") -> Any:
    """A copy whose axes lie in memory in an order."""
    if order in ("K", "A") or ndim_of(a) < 2:
        return s.copy(a)
    if order == "F":
        return _reversed_axes(copied(_reversed_axes(a), "C"))
    return s.reshape(s.copy(flat(a)), shape=shape_of(a))


def relaid(a: Any, axes: tuple[int, ...] | None) -> Any:
    """A copy whose axes lie in memory in an order: those that take the longest steps first, or as in C (`None`)."""
    if axes is None:
        return copied(a, "C")
    back = tuple(np.argsort(axes).tolist())
    return s.transpose(copied(s.transpose(a, axes=axes), "C"), axes=back)


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    dtype = np.dtype(dtype)
    if dtype_of(x).kind == "c" and dtype.kind in "fiu":
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
            stacklevel=2,
        )
        x = s.real(x)
    return cast(x, dtype)


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    if dtype_of(a).kind != "c":
        return a
    if running.state.capture is not None:  # the type of the result would depend on values
        raise unsupported_option("np.real_if_close", "complex values", "write np.real(x) where x is known to be real")
    if tol > 1:
        tol *= float(np.finfo(dtype_of(a)).eps)
    return s.real(a) if np.all(np.absolute(s.imag(a)) < tol) else a
