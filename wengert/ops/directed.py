"""Enclosures of special functions that go up or down with each of their operands, or whose slope is known.

    directed(-1, 1, …)       decreasing in the first operand, increasing in the second: each bound is a value at bounds
    one_way(…)               up or down in the last operand, whichever it is: bounds are values at its ends
    bounded_slope(…)         a value in the middle, and how far it can be from the others

Unlike those of `enclosures.py`, these pass on parameters, such as the order of a derivative, and functions of several
operands. What SciPy's functions err by is stated: `slack` times the value, or times `floor` if that is more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.ops.enclosures import Enclosure, loosened, unless_empty
from wengert.ops.op import Op, Traced
from wengert.ops.rounding import Bounds, V, choose, moved, sum_towards
from wengert.types import dtype_of

Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)
_TINY = 1e-300
"""What is smaller may come out as zero."""


def _values(op: Op, args: Sequence[Any], params: dict) -> Any:
    """Values in double precision, as the op computes them."""
    wide = [V.astype(x, dtype=np.dtype(float)) if dtype_of(x) == np.float32 else x for x in args]
    return op(*wide, **params) if any(isinstance(x, Traced) for x in wide) else op.impl(*wide, **params)


def _finished(y: Bounds, xs: Sequence[Bounds], range: Range, unknown: Any) -> Bounds:
    """Bounds within the range, anything where nothing is known, in the precision of the operands."""
    low = choose(V.isnan(y.lo), range[0], V.minimum(V.maximum(y.lo, range[0]), range[1]))
    high = choose(V.isnan(y.hi), range[1], V.minimum(V.maximum(y.hi, range[0]), range[1]))
    low, high = choose(unknown, -math.inf, low), choose(unknown, math.inf, high)
    if any(dtype_of(x.lo) == np.float32 for x in xs) and all(dtype_of(x.lo).itemsize <= 4 for x in xs):
        low, high = [moved(V.astype(b, dtype=np.dtype(np.float32)), way) for b, way in ((low, -1), (high, 1))]
    return unless_empty(Bounds(low, high), *xs)


class _Domain:
    """Where a function is as its enclosure says: beyond these numbers it may be anything (`above`, the limit itself not
    included), or it is not defined (`within`)."""

    def __init__(self, above: dict[int, float] | None = None, within: dict[int, Range] | None = None):
        self.above, self.within = above or {}, within or {}

    def __call__(self, mode: Any, op: Op, xs: list[Bounds]) -> tuple[list[Bounds], Any]:
        """The operands within the domain, and where nothing is known."""
        unknown: Any = False
        left: Any = False
        for k, limit in self.above.items():
            unknown = V.logical_or(unknown, V.less_equal(xs[k].lo, limit))
        for k, (least, most) in self.within.items():
            x = xs[k]
            left = V.logical_or(left, V.logical_or(V.less(x.lo, least), V.greater(x.hi, most)))
            low, high = V.maximum(x.lo, least), V.minimum(x.hi, most)
            some = V.less_equal(low, high)
            xs[k] = Bounds(choose(some, low, math.nan), choose(some, high, math.nan))
        if mode.watches:
            mode.note_break(op, V.logical_or(unknown, left))
        return xs, unknown


def directed(
    *ways: int,
    above: dict[int, float] | None = None,
    within: dict[int, Range] | None = None,
    range: Range = ANYTHING,
    slack: float = 1e-12,
    floor: float = 0.0,
    alternates: bool = False,
) -> Enclosure:
    """It increases (1) or decreases (−1) in each operand. If it `alternates`, its n-th derivative does so with (−1)ⁿ
    times the values."""
    domain = _Domain(above, within)

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        xs, unknown = domain(mode, op, [mode.bounds(a) for a in args])
        flip = alternates and params["n"] % 2
        own = [-w for w in ways] if flip else ways
        ends = [[x.lo if w * way > 0 else x.hi for x, w in zip(xs, own, strict=True)] for way in (1, -1)]
        y = loosened(Bounds(*[_values(op, end, params) for end in ends]), slack, floor)
        y = Bounds(moved(V.subtract(y.lo, _TINY), -2), moved(V.add(y.hi, _TINY), 2))
        return mode.enclosed(_finished(y, xs, (-range[1], -range[0]) if flip else range, unknown))

    return enclosure


def one_way(above: float, slack: float = 1e-12, floor: float = 0.0) -> Enclosure:
    """Beyond a limit it goes one way in the last operand; the others are numbers."""
    domain = _Domain({0: above})

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        fixed = [mode.structure(op, a) for a in args[:-1]]
        xs, unknown = domain(mode, op, [mode.bounds(args[-1])])
        first, last = [_values(op, [*fixed, b], params) for b in xs[0]]
        y = loosened(Bounds(V.minimum(first, last), V.maximum(first, last)), slack, floor)
        return mode.enclosed(_finished(Bounds(moved(y.lo, -2), moved(y.hi, 2)), xs, ANYTHING, unknown))

    return enclosure


def bounded_slope(most: Callable[[int], float], size: Callable[[int], float], slack: float) -> Enclosure:
    """The n-th derivative of a function of one number: values are not larger than `size(n)`, slopes not than
    `most(n)`."""

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        x, n = mode.bounds(args[0]), params["n"]
        bound = size(n)
        middle = V.add(V.multiply(x.lo, 0.5), V.multiply(x.hi, 0.5))
        clear = V.logical_and(V.less(-1e15, middle), V.less(middle, 1e15))
        at = choose(clear, middle, 0.0)
        far = V.maximum(sum_towards(x.hi, V.negative(at), 1), sum_towards(at, V.negative(x.lo), 1))
        room = V.multiply(V.add(V.multiply(far, most(n)), slack * max(bound, 1.0)), 1 + 1e-12)
        value = _values(op, [at], params)
        y = Bounds(V.subtract(value, room), V.add(value, room))
        y = Bounds(choose(clear, y.lo, -bound), choose(clear, y.hi, bound))
        return mode.enclosed(_finished(y, [x], (-bound, bound), False))

    return enclosure
