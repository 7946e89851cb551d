"""Basic indices of basic indices: `a[i, 2:][:, j]` is `a[i, 2:, j]`.

A pattern is a tuple of integers, slices, `None` and `Ellipsis`, as users write it; integers may be symbols.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.index import explicit
from wengert.ops.op import Traced
from wengert.types import shape_of


def compose(outer: tuple, inner: tuple, shape: tuple) -> tuple | None:
    """The pattern that reads from an array of this shape what `inner` reads from what `outer` reads; `None` if there
    is none, or it cannot be told.

    >>> compose((3, slice(2, None)), (slice(1, 4),), (5, 9))
    (3, slice(3, 6, 1))
    """
    outer = _whole(outer, len(shape))
    inner = _whole(inner, sum(1 for item in outer if not _is_integer(item)))
    if any(item is None for item in (*outer, *inner)):
        return None
    if not all(item.__class__ is slice or _is_integer(item) for item in (*outer, *inner)):
        return None
    waiting = iter(inner)
    composed: list[Any] = []
    for item, n in zip(outer, shape, strict=True):
        if _is_integer(item):
            composed.append(item)
            continue
        then = next(waiting)
        if item == slice(None) if not _has_symbols(item) else False:
            composed.append(then)
            continue
        new = _within(item, then, n)
        if new is None:
            return None
        composed.append(new)
    return tuple(composed)


def _whole(pattern: tuple, ndim: int) -> tuple:
    pattern = explicit(pattern, ndim)
    used = sum(1 for item in pattern if item is not None)
    return pattern + (slice(None),) * (ndim - used)


def _is_integer(item: Any) -> bool:
    return item.__class__ is int or (isinstance(item, Traced) and shape_of(item) == () and item.dtype.kind in "iu")  # type: ignore[attr-defined]


def _has_symbols(item: slice) -> bool:
    return any(isinstance(end, Traced) for end in (item.start, item.stop, item.step))


def _is_natural(x: Any) -> bool:
    """Whether an integer is known not to be negative."""
    if x.__class__ is int:
        return x >= 0
    span = getattr(x, "_span", None) if isinstance(x, Traced) else None
    return isinstance(span, tuple) and span[0] is not None and span[0] >= 0


def _within(item: slice, then: Any, n: Any) -> Any:
    """The index, along an axis of length n, of what `then` reads of what the slice `item` reads."""
    start, step = 0 if item.start is None else item.start, 1 if item.step is None else item.step
    if n.__class__ is int and not _has_symbols(item):
        start, stop, step = item.indices(n)
        length: Any = len(range(start, stop, step))
        if _is_integer(then):
            if then.__class__ is int:
                return start + step * range(length)[then]
            return start + step * then if _is_natural(then) else None
        if not _has_symbols(then):
            inside = range(start, stop, step)[then]
            if not inside:
                return slice(0, 0)  # the ends of an empty range that goes backwards would mean all
            end: Any = inside.stop if inside.stop >= 0 else None
            return slice(inside.start, end, inside.step)
    if step.__class__ is not int or step != 1 or not _is_natural(start):
        return None
    if _is_integer(then):
        return start + then if _is_natural(then) else None
    first = 0 if then.start is None else then.start
    if (
        then.stop is None
        or (then.step is not None and then.step != 1)
        or not (_is_natural(first) and _is_natural(then.stop))
    ):
        return None if then != slice(None) else item
    return None
