"""How plain arrays lie in memory: the order of their axes, and arrays that lie as others do.

What a program can see of it is whether `ravel` and `reshape` give views: whether the elements of neighbouring axes
follow each other in equal steps. `empty_as` keeps that, and leaves gaps of no more than an element.
"""

from __future__ import annotations

import functools
from typing import Any, TypeGuard

import numpy as np

UNKNOWN = "unknown"
"""The order of an array of which it cannot be told."""


class OwnMemory(bytearray):
    """The memory of an array with gaps that belongs to nobody else."""


def in_order(shape: tuple[int, ...], order: tuple[int, ...] | None, dtype: np.dtype) -> np.ndarray:
    """An array in memory of its own, whose axes lie in an order: the first of them takes the longest steps."""
    if order is None:
        return np.empty(shape, dtype)
    return np.empty([shape[k] for k in order], dtype).transpose(np.argsort(order))


def order_of(x: np.ndarray) -> Any:
    """The axes of an array, those that take the longest steps first; `None` if that is C order."""
    return _order(x.shape, x.strides)


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...] | None:
    long = _long_axes(shape, strides)
    ordered = iter(sorted(long, key=lambda k: -abs(strides[k])))
    order = tuple([next(ordered) if k in long else k for k in range(len(shape))])
    return None if order == tuple(range(len(shape))) else order


def _long_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    return [k for k, (n, step) in enumerate(zip(shape, strides, strict=True)) if n > 1 and step]


def array_order(x: Any) -> Any:
    """The order of a plain array that a program is given: UNKNOWN if there are gaps."""
    if x.__class__ is not np.ndarray or x.flags.c_contiguous:
        return None
    return _compact_order(x.shape, x.strides, x.dtype)


@functools.lru_cache(1024)  # asked at every call of some compiled functions
def _compact_order(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> Any:
    order = _order(shape, strides)
    return order if in_order(shape, order, dtype).strides == strides else UNKNOWN


def empty_as(x: np.ndarray) -> np.ndarray:
    """An array of which `ravel` and `reshape` give views where they give views of `x`."""
    if x.flags.c_contiguous or 0 in x.shape:
        return np.empty(x.shape, x.dtype)
    if 0 in x.strides:
        return np.empty_like(in_order(x.shape, order_of(x), x.dtype))
    compact = np.empty_like(x, subok=False)
    if x.dtype.hasobject or compact.strides == x.strides:
        return compact
    strides = list(compact.strides)
    step, length, old = x.itemsize, 1, x.itemsize
    for k in sorted(_long_axes(x.shape, x.strides), key=lambda k: abs(x.strides[k])):
        follows = abs(x.strides[k]) == old * length
        step, old = step * length + (0 if follows else x.itemsize), abs(x.strides[k])
        strides[k] = step if x.strides[k] > 0 else -step
        length = x.shape[k]
    ends = [step * (n - 1) for step, n in zip(strides, x.shape, strict=True)]
    first = -sum([min(end, 0) for end in ends])
    buffer = OwnMemory(first + sum([max(end, 0) for end in ends]) + x.itemsize)
    return np.ndarray(x.shape, x.dtype, buffer, first, tuple(strides))


def strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array with these strides, in memory of its own."""
    if 0 in shape:
        return np.empty(shape, dtype)
    ends = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    first = -sum([end for end in ends if end < 0])
    buffer = np.empty(first + sum([end for end in ends if end > 0]) + dtype.itemsize, np.uint8)
    return np.ndarray(shape, dtype, buffer, first, strides)


def owner_of(x: np.ndarray) -> Any:
    """What owns the memory of an array: the array, or that of which it is a view, in however many steps."""
    owner: Any = x
    while (base := owner.obj if owner.__class__ is memoryview else getattr(owner, "base", None)) is not None:
        owner = base
    return owner


def part_at(x: np.ndarray, pattern: tuple, shape: tuple[int, ...]) -> np.ndarray:
    """An array that lies in memory as the part of `x` at a basic index does, whose shape is known, though not where it
    begins: what is no slice, `None` or `Ellipsis` in the pattern stands for an integer."""
    present = len([item for item in pattern if item is not None and item is not Ellipsis])
    steps = iter(x.strides)
    strides: list[int] = []
    for item in pattern if Ellipsis in pattern else (*pattern, Ellipsis):
        if item is None:
            strides.append(0)
        elif item is Ellipsis:
            strides += [next(steps) for _ in range(x.ndim - present)]
        else:
            step = next(steps)
            if item.__class__ is slice:
                strides.append(step * (1 if item.step is None else int(item.step)))
    return strided(shape, tuple(strides), x.dtype)


def in_several_ways(shape: tuple[int, ...], dtype: np.dtype) -> list[np.ndarray]:
    """Arrays of which no more is known than their shape: in C order, in Fortran's, with gaps, and backwards."""
    gaps = np.empty([2 * n for n in shape], dtype)[(slice(None, None, 2),) * len(shape)]
    compact = np.empty(shape, dtype)
    return [compact, np.empty(shape, dtype, order="F"), gaps, compact[(slice(None, None, -1),) * len(shape)]]


def copy_as(x: np.ndarray) -> np.ndarray:
    """A copy that lies in memory as `x` does."""
    y = empty_as(x)
    y[...] = x
    return y


_SMALL = 4


def is_small_part(x: Any) -> TypeGuard[np.ndarray]:
    """Whether an array is a view of at most a quarter of another one. Kept, it would keep all of that from being
    written to in place, so that a copy is better. (The memory of an array need not be another's: `np.frombuffer`.)

    >>> is_small_part(np.arange(8.0)[:2]), is_small_part(np.arange(8.0)[:4]), is_small_part(np.zeros(2))
    (True, False, False)
    """
    return x.__class__ is np.ndarray and isinstance(x.base, np.ndarray) and x.size * _SMALL <= x.base.size
