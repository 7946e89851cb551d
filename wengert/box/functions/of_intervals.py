"""Functions that first find an order, or a piece, and then read there, of intervals: which leave both open.

What comes out is enclosed all the same. The k-th smallest of n numbers increases with each of them, so its bounds are
those of the bounds: no order has to be known. A function made of straight pieces is largest and least at the ends of
an interval or at the knots in it.

This is for values; their derivatives are those of the elements that are read, so there the order must be certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert.box.writing import settled
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced, enclosing
from wengert.ops.rounding import Bounds
from wengert.running import running
from wengert.types import ndim_of, shape_of


def enclosing_of(x: Any) -> Any:
    """The transformation to which an interval belongs, if what is done to it is done now; None for any other value."""
    x = settled(x) if isinstance(x, Traced) else x
    if not isinstance(x, Traced) or not x._owner.encloses:
        return None
    capture = running.state.capture
    return None if capture is not None and capture.tag > x._owner.tag else x._owner


def by_bounds(function: Callable[[Any], Any], x: Any) -> Any:
    """A function that puts elements in order, of intervals: of their bounds. None for any other value."""
    mode = enclosing_of(x)
    if mode is None:
        return None
    low, high = mode.bounds(x)
    return mode.enclosed(Bounds(function(low), function(high)))


def piecewise(interp: Callable[..., Any], x: Any, xp: Any, fp: Any, jumps: bool) -> Any:
    """The function with the values fp at the knots xp that is straight between them, of an interval. `interp(y, xp, fp,
    x)` is its value at y in the piece in which the number x lies: all others are intervals there, so that nothing is
    rounded.

    None if that is nothing special: x is not an interval, or a knot is not one number.
    """
    mode = enclosing_of(x)
    if mode is None or enclosing(xp) is not None:
        return None
    low, high = mode.bounds(x)
    values, knots = mode.bounds(fp), mode.enclosed(Bounds(xp, xp))
    ends = [mode.bounds(interp(mode.enclosed(Bounds(b, b)), knots, mode.enclosed(values), b)) for b in (low, high)]
    rank = ndim_of(low)
    between = e.logical_and(*[
        op(s.reshape(b, shape=(*shape_of(b), 1)), xp) for op, b in ((e.less_equal, low), (e.greater_equal, high))
    ])  # fmt: skip
    least = r.min(e.where(between, values.lo, math.inf), axis=(rank,))
    most = r.max(e.where(between, values.hi, -math.inf), axis=(rank,))
    if mode.watches:
        twice = e.equal(index(xp, pattern=(slice(1, None),)), index(xp, pattern=(slice(None, -1),)))
        mode.note_break(jumps or r.any(twice, axis=(0,)))
    for end in ends:
        least, most = e.minimum(least, end.lo), e.maximum(most, end.hi)
    return mode.enclosed(Bounds(least, most))
