"""Rows for ops that move elements without changing them. All are linear; each states its transpose and batch rule.

Parameters are normalised by the caller: axes are non-negative, shapes are tuples of ints without -1.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.ops import axes, interval_sums
from wengert.ops.derive import linear, variadic_linear, zero
from wengert.ops.enclosures import CASTS, ON_BOUNDS
from wengert.ops.library import filled_like, near
from wengert.ops.op import call
from wengert.ops.traits import CHEAP, FREE, LENGTHS, NEVER, Dtype
from wengert.types import PLAIN, SCALARS, dtype_of, ndim_of, shape_of

_SMALL = 4096
"""Below this many elements filling an array is cheaper than making a broadcast view of one."""


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    return np.reshape(x, shape) if x.__class__ in SCALARS else x.reshape(shape)


def _reshaped(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    lengths = shape_of(x)
    if all(n.__class__ is int for n in (*lengths, *shape)) and math.prod(lengths) != math.prod(shape):
        raise ValueError(f"cannot reshape array of size {math.prod(lengths)} into shape {shape}")
    return shape


reshape = linear(
    "reshape",
    _reshape,
    lambda ct, x, shape: reshape(ct, shape=x.shape),
    batch=lambda args, mapped, params: reshape(args[0], shape=shape_of(args[0])[:1] + params["shape"]),
    shape=_reshaped,
    raises=LENGTHS,
    cost=FREE,
    moves=True,
    view=True,
    dtype=Dtype.FIRST,
    axes=axes.reshaped,
)

transpose = linear(
    "transpose",
    lambda x, axes: x.transpose(axes) if x.__class__ is np.ndarray else np.transpose(x, axes),
    lambda ct, x, axes: transpose(ct, axes=tuple(np.argsort(axes).tolist())),
    batch=lambda args, mapped, params: transpose(args[0], axes=(0, *[a + 1 for a in params["axes"]])),
    raises=NEVER,
    cost=FREE,
    moves=True,
    view=True,
    dtype=Dtype.FIRST,
    axes=axes.transposed,
)


def _broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    if any(n.__class__ is not int and not hasattr(n, "dtype") for n in shape):
        return filled(x, shape)
    if isinstance(x, (float, np.generic)):
        like = near()
        if like is not None:
            return filled_like(like, shape, x, dtype_of(x))
        if math.prod(shape) <= _SMALL:
            whole = np.empty(shape, dtype_of(x))
            whole.fill(x)
            return whole
    return np.broadcast_to(x, shape)


def filled(value: Any, shape: tuple) -> Any:
    """An array of one value. Lengths may be known only when a captured program runs; they know the capture."""
    for n in shape:
        if n.__class__ is not int:
            symbol = getattr(n, "sym", n)
            return symbol._owner.process(broadcast_to, (value,), {"shape": shape})
    return np.full(shape, value)


def _unbroadcast(ct: Any, x: Any, shape: tuple[int, ...]) -> Any:
    extra = len(shape) - len(x.shape)
    axes = list(range(extra))  # and those of length one, unless that is known of the result's too
    for k, n in enumerate(x.shape):
        m = shape[k + extra]
        if n.__class__ is int and n == 1 and (m.__class__ is not int or m != 1):
            axes.append(k + extra)
    return reshape(sum(ct, axis=tuple(axes), keepdims=False), shape=x.shape)


def _batch_broadcast_to(args: Any, mapped: Any, params: dict) -> Any:
    (x,), shape = args, params["shape"]
    size, *rest = shape_of(x)
    padded = reshape(x, shape=(size, *(1,) * (len(shape) - len(rest)), *rest))
    return broadcast_to(padded, shape=(size, *shape))


def _broadcast_shape(x: Any, shape: tuple) -> tuple:
    if len(shape_of(x)) > len(shape):
        raise ValueError(f"an array with shape {shape_of(x)} cannot be broadcast to shape {shape}")
    return shape


broadcast_to = linear(
    "broadcast_to",
    _broadcast_to,
    _unbroadcast,
    batch=_batch_broadcast_to,
    shape=_broadcast_shape,
    raises=LENGTHS,
    cost=FREE,
    moves=True,
    view=True,
    expands=True,
    dtype=Dtype.FIRST,
    axes=axes.broadcast,
)


def _sum(x: Any, axis: tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    if x.__class__ is np.ndarray:
        return np.add.reduce(x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
    return np.sum(x, axis=axis, keepdims=keepdims)


def _sum_transpose(ct: Any, x: Any, axis: tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    if axis is not None and not keepdims and len(axis) < len(x.shape):
        ct = reshape(ct, shape=tuple(1 if k in axis else n for k, n in enumerate(x.shape)))
    return _broadcast_to(ct, x.shape) if ct.__class__ in PLAIN else broadcast_to(ct, shape=x.shape)


def _batch_sum(args: Any, mapped: Any, params: dict) -> Any:
    (x,) = args
    axis = params.get("axis")
    axes = range(ndim_of(x) - 1) if axis is None else axis
    return sum(x, axis=tuple([a + 1 for a in axes]), keepdims=params.get("keepdims", False))


def _sum_shape(x: Any, axis: tuple[int, ...] | None = None, keepdims: bool = False) -> tuple[int, ...]:
    axes = range(len(x.shape)) if axis is None else axis
    if keepdims:
        return tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    return tuple(n for k, n in enumerate(x.shape) if k not in axes)


sum = linear(
    "sum",
    _sum,
    _sum_transpose,
    batch=_batch_sum,
    shape=_sum_shape,
    raises=NEVER,
    cost=CHEAP,
    combine="add",
    adds=True,
    axes=axes.reduced,
    bounds=interval_sums.SUM,
)

flip = linear(
    "flip",
    lambda x, axis: np.flip(x, axis),
    lambda ct, x, axis: flip(ct, axis=axis),
    batch=lambda args, mapped, params: flip(args[0], axis=tuple(a + 1 for a in params["axis"])),
    raises=NEVER,
    cost=FREE,
    moves=True,
    view=True,
    dtype=Dtype.FIRST,
    axes=axes.kept,
)


def _piece_of_concatenation(i: int, ct: Any, xs: Any, axis: int, starts: Any = None) -> Any:
    start, length = None if starts is None else starts[i], shape_of(xs[i])[axis]
    if not (start.__class__ is int is length.__class__):  # with many pieces that are known others are not looked at
        lengths = [shape_of(x)[axis] for x in xs]
        unknown = [k for k, n in enumerate(lengths) if n.__class__ is not int]
        if len(unknown) == 1 and i >= unknown[0]:  # counted from the end, nobody need remember how long that piece was
            start = -builtins.sum(lengths[i:]) if i > unknown[0] else builtins.sum(lengths[:i])
            return ct[(slice(None),) * axis + (slice(start, -builtins.sum(lengths[i + 1 :]) or None),)]
        start = builtins.sum(lengths[:i]) if start is None else start
    return ct[(slice(None),) * axis + (slice(start, start + length),)]


def number_of_examples(args: Sequence[Any], mapped: Sequence[bool]) -> Any:
    """How long the hidden axis is."""
    return next(shape_of(a)[0] for a, m in zip(args, mapped, strict=True) if m)


def for_all_examples(args: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
    """The operands, of which all have a hidden axis: what is the same for all examples is repeated."""
    size = number_of_examples(args, mapped)
    return [a if m else call(broadcast_to, a, shape=(size, *shape_of(a))) for a, m in zip(args, mapped, strict=True)]


def _batch_concatenate(args: Any, mapped: Any, params: dict) -> Any:
    return concatenate(*for_all_examples(args, mapped), axis=params["axis"] + 1, starts=params.get("starts"))


concatenate = variadic_linear(
    "concatenate",
    lambda *xs, axis, starts=None: np.concatenate(xs, axis=axis),
    _piece_of_concatenation,
    batch=_batch_concatenate,
    raises=NEVER,
    cost=FREE,
    moves=True,
    one_pass=True,
    axes=axes.concatenated,
)
"""`starts` says where each piece begins, so that the transpose for n pieces costs O(n) in all."""


def _astype(x: Any, dtype: np.dtype) -> Any:
    if dtype_of(x).kind == "c" and np.dtype(dtype).kind != "c":
        x = x.real
    return x.astype(dtype) if hasattr(x, "astype") else np.dtype(dtype).type(x)


astype = linear(
    "astype",
    _astype,
    lambda ct, x, dtype: astype(ct, dtype=x.dtype),
    raises=NEVER,
    cost=CHEAP,
    elementwise=True,
    bounds=CASTS,
)

as_integer = zero(
    "as_integer",
    _astype,
    raises=NEVER,
    cost=CHEAP,
    elementwise=True,
    bounds=CASTS,
)
"""A cast to an integer or boolean type: rounding."""

copy = linear(
    "copy",
    lambda x: np.copy(x),
    lambda ct, x: ct,
    shape=lambda x: x.shape,
    raises=NEVER,
    cost=FREE,
    elementwise=True,
    moves=True,
)

# ---------------------------------------------------------------- complex numbers as pairs of reals
#
# Real-linear maps. The pairing of a cotangent with a tangent is Re(ct · x_dot), which makes the transpose of a
# multiplication by c the multiplication by c, and gives these three their transposes.

real = linear(
    "real",
    lambda x: np.real(x),
    lambda ct, x: astype(ct, dtype=x.dtype),
    raises=NEVER,
    cost=FREE,
    elementwise=True,
    view=True,
    bounds=ON_BOUNDS,
)
imag = linear(
    "imag",
    lambda x: np.imag(x),
    lambda ct, x: astype(ct * -1j, dtype=x.dtype),
    raises=NEVER,
    cost=FREE,
    elementwise=True,
    view=True,
)
conjugate = linear(
    "conjugate",
    lambda x: np.conjugate(x),
    lambda ct, x: conjugate(ct),
    raises=NEVER,
    cost=CHEAP,
    elementwise=True,
    bounds=ON_BOUNDS,
)
