"""Integers of a program: what is known of their range, and the bounds and lengths of slices.

`interval` finds the smallest and largest value an integer can have from those of its operands. It is what makes
`A[i, :i]`, with i from a loop over the rows, an array of exactly i elements, with a bound for its length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ir.analysis.ranges import INT, UNKNOWN, Interval, interval_from
from wengert.ir.symbol import Dim, Sym
from wengert.ops import elementwise as e
from wengert.ops.index import FLAG, arrays_come_first, axes_used, explicit, place
from wengert.ops.op import Traced
from wengert.ops.shape import astype
from wengert.types import broadcast_shapes, dtype_of, shape_of


def interval_of(x: Any) -> Interval:
    """The smallest and the largest value of an integer; `None` where there is none, or it is unknown."""
    if x.__class__ is Dim:
        low, high = interval_of(x.sym)
        high = x.bound if high is None else high if x.bound is None else min(high, x.bound)
        return (max(low or 0, 0), high)
    if x.__class__ is Sym:
        return x._span or UNKNOWN
    is_integer = isinstance(x, (int, np.integer, np.bool_))
    if is_integer or (x.__class__ is np.ndarray and x.dtype.kind in "iub" and not x.ndim):
        return (int(x), int(x))
    return UNKNOWN


def interval(name: str, args: Sequence[Any], params: Mapping[str, Any], dtype: np.dtype) -> Interval | None:
    """The interval of an op's result, for ops on integers; `None` where a number may wrap around in a short type."""
    if name == "size":
        return interval_of(shape_of(args[0])[params["axis"]])
    is_converted = name == "astype" and dtype_of(args[0]).kind in "iu"
    found = interval_of(args[0]) if is_converted else interval_from(name, [interval_of(a) for a in args])
    if found is None:
        return None
    limits = np.iinfo(dtype)
    fits = all(dtype == INT if end is None else limits.min <= end <= limits.max for end in found)
    return found if fits else None


def _at_least(x: Any, bound: int) -> bool:
    low = interval_of(x)[0]
    return low is not None and low >= bound


def _at_most(x: Any, n: Any) -> bool:
    """Whether an integer is certainly not larger than another."""
    if _same(x, n):
        return True
    high, low = interval_of(x)[1], interval_of(n)[0]
    return high is not None and low is not None and high <= low


def _same(a: Any, b: Any) -> bool:
    a, b = (v.sym if v.__class__ is Dim else v for v in (a, b))
    return a._node is b._node if a.__class__ is b.__class__ is Sym else a.__class__ is b.__class__ is int and a == b


def _difference(a: Any, b: Any) -> Any:
    """a − b: a number if they are known to differ by it."""
    (base, offset), (other, other_offset) = _as_offset(a), _as_offset(b)
    return offset - other_offset if base is other else a - b


def _as_offset(x: Any) -> tuple[Any, int]:
    """An integer as another one plus a constant."""
    if x.__class__ is int:
        return None, x
    return x._owner.offsets.get(id(x._node), (x._node, 0)) if x.__class__ is Sym else (object(), 0)  # type: ignore[attr-defined]


def _value(n: Any) -> Any:
    """A length or a bound as a number with which other bounds can be computed: no short integer, which would wrap."""
    if n.__class__ is Dim:
        return n.sym
    if n.__class__ is not Sym or n.dtype == INT or n.dtype.kind not in "iu":
        return n
    return place(n) if n.dtype == np.uint64 else astype(n, dtype=INT)


def _clipped(bound: Any, n: Any) -> Any:
    """A bound of a slice as NumPy understands it: counted from the end if negative, and not outside."""
    bound, n = _value(bound), _value(n)
    if bound.__class__ is int and n.__class__ is int:
        return min(max(bound + n if bound < 0 else bound, 0), n)
    if not _at_least(bound, 0):
        high = interval_of(bound)[1]
        if high is not None and high < 0:
            bound = n + bound
        else:
            bound = e.where(e.less(bound, 0), bound + n, bound)
        bound = e.maximum(bound, 0)
    return bound if _at_most(bound, n) else e.minimum(bound, n)


def sliced(item: slice, n: Any) -> tuple[slice, Any]:
    """A slice with bounds that need no more interpretation, and its length, of an axis of length n."""
    item = slice(*[int(v) if isinstance(v, np.integer) else v for v in (item.start, item.stop, item.step)])
    step = 1 if item.step is None else item.step
    if all(v is None or v.__class__ is int for v in (item.start, item.stop)) and n.__class__ is int:
        return item, len(range(*slice(item.start, item.stop, step).indices(n)))
    if item.start is None and item.stop is None and step == 1:
        return slice(None), n
    if step.__class__ is not int or step <= 0:
        raise UnsupportedFunctionError(
            "a slice with a computed step, or a negative one beside arrays, with bounds that are known only when "
            "the compiled program runs",
            remedy="use a step that is a number, or slice forwards and reverse the result: x[a:b][::-1]",
        )
    start = 0 if item.start is None else _clipped(item.start, n)
    stop = _value(n) if item.stop is None else _clipped(item.stop, n)
    if start.__class__ is int and start == 0:
        span = stop
    else:
        span = _difference(stop, start)
        if span.__class__ is int:
            span, stop = max(span, 0), stop if span >= 0 else start
        elif not _at_least(span, 0):
            stop = e.maximum(stop, start)
            span = stop - start
            if span.__class__ is Sym:
                high = interval_of(stop)[1]
                (base, ahead), (other, behind) = _as_offset(item.stop), _as_offset(item.start)
                if base is other and ahead >= behind:  # x[c : c + 3] has no more, wherever its bounds are cut off
                    high = ahead - behind if high is None else min(ahead - behind, high)
                span._span = (0, high)
    count = span if step == 1 else -(-span // step)
    return slice(start, stop, None if step == 1 else step), count


def demand_axes(x: Any, pattern: tuple) -> None:
    """Raise what NumPy raises if an array has not as many axes as an index asks for."""
    used = axes_used(pattern)
    n = len(shape_of(x))
    if used > n:
        raise IndexError(
            f"too many indices for array: array is {n}-dimensional, but {used} were indexed"
            if n or (isinstance(x, Traced) and x._is_array) else "invalid index to scalar variable."  # type: ignore[attr-defined]
        )  # fmt: skip


class Backwards(NamedTuple):
    """An index with slices that go backwards, as what is taken forwards, reversed, and then of every so many."""

    forwards: tuple
    axes: tuple[int, ...]
    """Which axes of the part are reversed."""
    steps: tuple


def backwards(shape: tuple, arrays: Sequence[Any], pattern: tuple, to_write: bool = False) -> Backwards | None:
    """The index taken apart, if it has slices that go backwards between bounds which are not known yet.

    `x[i:j:-2]` is `x[j + 1 : i + 1][::-1][::2]`, where i and j count from the beginning. What is to be written goes to
    the same places in rising order: steps are then part of `forwards`.
    """
    pattern = explicit(pattern, len(shape))
    forwards, axes, steps = list(pattern), [], []
    axis = 0
    for k, item in enumerate(pattern):
        if item.__class__ is slice:
            step, n = item.step, shape[axis]
            is_known = n.__class__ is int and all(
                v is None or isinstance(v, int | np.integer) for v in (item.start, item.stop)
            )
            if isinstance(step, int | np.integer) and step < 0 and not is_known:
                low = None if item.stop is None else _after(item.stop, n)
                high = None if item.start is None else _after(item.start, n)
                forwards[k] = slice(low, high)
                axes.append(len(steps))
                steps.append(slice(None) if step == -1 or to_write else slice(None, None, -int(step)))
                if step != -1 and to_write:
                    forwards[k] = _every(0 if low is None else low, n if high is None else high, -int(step), n)
            else:
                steps.append(slice(None))
        elif item is None:
            steps.append(slice(None))
        axis += item is not None and item is not Ellipsis and item is not FLAG
    steps += [slice(None)] * (len(shape) - axis)
    if not axes or any(shape_of(a) or dtype_of(a).kind == "b" for a in arrays):
        return None
    return Backwards(tuple(forwards), tuple(axes), tuple(steps))


def _every(low: Any, high: Any, step: int, n: Any) -> slice:
    """The places high − 1, high − 1 − step, …, down to low, in rising order."""
    low, high = _value(low), _clipped(high, n)
    steps = (high - low - 1) // step  # if there is none, the slice begins at its end
    return slice(e.maximum(high - 1 - steps * step, 0), high, step)


def _after(bound: Any, n: Any) -> Any:
    """The place after a bound of a slice that goes backwards: bounds count from the end if negative."""
    bound, n = _value(bound), _value(n)
    if _at_least(bound, 0):
        return bound + 1
    high = interval_of(bound)[1]
    from_start = bound + n if high is not None and high < 0 else e.where(e.less(bound, 0), bound + n, bound)
    return e.maximum(from_start + 1, 0)


def is_whole(item: slice) -> bool:
    """Whether a slice is `:`. (Equality would compare symbols.)"""
    return item.start is None and item.stop is None and item.step is None


def as_length(n: Any, bound: int | None = None) -> Any:
    """An integer as a length of a shape."""
    if n.__class__ is not Sym:
        return n
    high = n._span[1] if n._span else None
    known = [b for b in (high, bound) if b is not None]
    return Dim(n, max(min(known), 0) if known else None)


def placed(shape: tuple, arrays: Sequence[Any], pattern: tuple) -> tuple[tuple, tuple]:
    """A pattern with the bounds of its slices worked out, and the shape of what it reads from such an array."""
    pattern = explicit(pattern, len(shape))
    new: list[Any] = []
    lengths: list[Any] = []
    axis = 0
    at: int | None = None
    waiting = iter(arrays)
    own: list[Any] = []

    def is_flag(a: Any) -> bool:
        return hasattr(a, "dtype") and a.dtype == bool

    for item in pattern:
        if item is None:
            new.append(item)
            lengths.append(1)
        elif item is Ellipsis:
            new.append(item)
        elif item.__class__ is slice:
            n = shape[axis]
            item, count = sliced(item, n)
            new.append(item)
            lengths.append(n if is_whole(item) else as_length(count, n if n.__class__ is int else n.bound))
            axis += 1
        elif item.__class__ is int:
            n = shape[axis]
            if n.__class__ is int and not -n <= item < n:
                raise IndexError(f"index {item} is out of bounds for axis {axis} with size {n}")
            if n.__class__ is not int and item < 0:
                item = item + _value(n)
            new.append(item)
            at = len(lengths) if at is None else at
            axis += 1
        elif item.__class__ is Sym:  # an integer of a pattern that was worked out before
            new.append(item)
            at = len(lengths) if at is None else at
            axis += 1
        else:
            a = next(waiting)
            own.append(a)
            new.append(item)
            at = len(lengths) if at is None else at
            axis += not is_flag(a)
    lengths.extend(shape[axis:])
    if own:
        front = broadcast_shapes([(int(a),) if is_flag(a) else shape_of(a) for a in own])  # True is once, False never
        where = 0 if arrays_come_first(pattern) else at or 0
        lengths[where:where] = front
    return tuple(new), tuple(lengths)
