"""Enclosures of special functions that go up or down with each of their operands, or whose slope is known.

    directed(-1, 1, …)       decreasing in the first operand, increasing in the second: each bound is a value at bounds
    composed_above(f, …)     as other ops compute it, beyond a limit
    one_way(…)               up or down in the last operand, whichever it is: bounds are values at its ends
    rising_beyond(…)         up in the first operand, beyond a limit that the second one sets
    cornered(…)              up or down in each operand, whichever it is, while the others stay: values at all corners
    polynomial(…)            all derivatives in the middle
    curved(…)                a value in the middle, and how far others can be: the second derivative is bounded

Unlike those of `enclosures.py`, these pass on parameters, such as the order of a derivative, and functions of several
operands. What SciPy's functions err by is stated: `slack` times the value, or times `floor` if that is more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ops.enclosures import Enclosure, loosened, unless_empty
from wengert.ops.op import Op, Traced
from wengert.ops.rounding import Bounds, V, choose, moved, sum_towards
from wengert.types import dtype_of, shape_of

Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)


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
            mode.note_break(V.logical_or(unknown, left))
        return xs, unknown


def directed(
    *ways: int,
    above: dict[int, float] | None = None,
    within: dict[int, Range] | None = None,
    range: Range = ANYTHING,
    slack: float = 1e-12,
    floor: float = 0.0,
    alternates: bool = False,
    tiny: float = 1e-300,
) -> Enclosure:
    """It increases (1) or decreases (−1) in each operand. If it `alternates`, its n-th derivative does so with (−1)ⁿ
    times the values. What is smaller than `tiny` may come out as zero."""
    domain = _Domain(above, within)

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        xs, unknown = domain(mode, op, [mode.bounds(a) for a in args])
        flip = alternates and params["n"] % 2
        own = [-w for w in ways] if flip else ways
        ends = [[x.lo if w * way > 0 else x.hi for x, w in zip(xs, own, strict=True)] for way in (1, -1)]
        y = loosened(Bounds(*[_values(op, end, params) for end in ends]), slack, floor)
        y = Bounds(moved(V.subtract(y.lo, tiny), -2), moved(V.add(y.hi, tiny), 2))
        return mode.enclosed(_finished(y, xs, (-range[1], -range[0]) if flip else range, unknown))

    return enclosure


def composed_above(function: Callable, above: dict[int, float]) -> Enclosure:
    """As other ops compute it beyond these limits; below it may be anything."""
    domain = _Domain(above)

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        bounds = [mode.bounds(a) for a in args]
        xs, unknown = domain(mode, op, bounds)
        # What is computed of numbers alone is rounded, too.
        y = mode.bounds(function(*[mode.enclosed(b) for b in bounds], **params))
        return mode.enclosed(_finished(y, xs, ANYTHING, unknown))

    return enclosure


def one_way(
    above: float, within: Range = ANYTHING, slack: float = 1e-12, floor: float = 0.0, tiny: float = 0.0
) -> Enclosure:
    """Beyond a limit it goes one way in the last operand; the others are numbers."""
    domain = _Domain({0: above}, {} if within == ANYTHING else {0: within})

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        fixed = [mode.structure(op, a) for a in args[:-1]]
        xs, unknown = domain(mode, op, [mode.bounds(args[-1])])
        first, last = [_values(op, [*fixed, b], params) for b in xs[0]]
        y = loosened(Bounds(V.minimum(first, last), V.maximum(first, last)), slack, floor)
        y = Bounds(moved(V.subtract(y.lo, tiny), -2), moved(V.add(y.hi, tiny), 2))
        return mode.enclosed(_finished(y, xs, ANYTHING, unknown))

    return enclosure


def rising_beyond(limit: Callable[[Any], Any], slack: float = 1e-12) -> Enclosure:
    """Where the second operand is a number k ≥ 0, it is positive, and increases in the first one, beyond limit(k);
    anywhere else it may be anything."""

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        k = mode.structure(op, args[1])
        x = mode.bounds(args[0])
        unknown = V.logical_or(V.less_equal(x.lo, limit(k)), V.less(k, 0))
        if mode.watches:
            mode.note_break(unknown)
        y = loosened(Bounds(*[_values(op, [b, k], params) for b in x]), slack, 0.0)
        return mode.enclosed(_finished(Bounds(moved(y.lo, -2), moved(y.hi, 2)), [x], (0.0, math.inf), unknown))

    return enclosure


def cornered(
    above: dict[int, float] | None = None,
    within: dict[int, Range] | None = None,
    range: Range = ANYTHING,
    slack: float = 1e-12,
    floor: float = 0.0,
) -> Enclosure:
    """In each operand it goes one way, which may depend on the others."""
    domain = _Domain(above, within)

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        xs, unknown = domain(mode, op, [mode.bounds(a) for a in args])
        low: Any = math.inf
        high: Any = -math.inf
        for corner in itertools.product(*xs):
            y = _values(op, corner, params)
            low, high = V.minimum(low, y), V.maximum(high, y)
        y = loosened(Bounds(low, high), slack, floor)
        return mode.enclosed(_finished(Bounds(moved(y.lo, -2), moved(y.hi, 2)), xs, range, unknown))

    return enclosure


def curved(
    curvature: Callable[..., Any],
    above: float = -math.inf,
    range: Callable[..., Range] = lambda **_: ANYTHING,
    slack: float = 1e-14,
) -> Enclosure:
    """A function of the last operand, beyond a limit; the others are numbers. `curvature(*others, x, **params)` is a
    number that the second derivative does not exceed between the bounds x.

    Where the slope in the middle cannot vanish on the way to the ends, the values there are the bounds; elsewhere it is
    f(m) ± (|f′(m)|·r + c·r²/2). Intervals are divided into some pieces first. Values and slopes are taken to err by
    `slack` times their size, or 1 + |x| if that is more.
    """
    domain = _Domain({0: above})

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        fixed = [mode.structure(op, a) for a in args[:-1]]
        (given,), unknown = domain(mode, op, [mode.bounds(args[-1])])
        x, unknown, pieces, middle, far = _divided(given, unknown)
        limits = range(**params)
        size = max(1.0, *[abs(limit) for limit in limits if math.isfinite(limit)], 1.0)
        room = V.multiply(V.add(V.maximum(V.absolute(pieces.lo), V.absolute(pieces.hi)), 1.0), slack * size)

        def loose(y: Any) -> Bounds:
            away = V.add(V.multiply(V.absolute(y), slack), room)
            return Bounds(V.subtract(y, away), V.add(y, away))

        value = _values(op, [*fixed, middle], params)
        slope = op.coefficient(len(fixed), value, (*fixed, middle), params)  # type: ignore[attr-defined]
        at, steep = loose(value), V.add(V.multiply(V.absolute(slope), 1 + slack), room)
        bend = V.multiply(V.multiply(curvature(*fixed, pieces, **params), far), 1 + 1e-12)
        change = V.multiply(V.multiply(V.add(steep, bend), far), 1 + 1e-12)
        first, last = [loose(_values(op, [*fixed, b], params)) for b in pieces]
        one_way = V.greater(V.subtract(V.absolute(slope), V.multiply(room, 2.0)), V.multiply(bend, 1 + 1e-12))
        y = _united(one_way, first, last, Bounds(V.subtract(at.lo, change), V.add(at.hi, change)))
        beyond = Bounds(choose(unknown, limits[0], y.lo), choose(unknown, limits[1], y.hi))
        anything = V.less_equal(x.lo, above) if above > -math.inf else False
        return mode.enclosed(_finished(beyond, [given], limits, anything))

    return enclosure


def polynomial(derivative: Callable[..., Any], largest: Callable[..., Any], slack: float = 1e-14) -> Enclosure:
    """A polynomial in the last operand, of the degree that the first one is; all but the last are numbers.

    `derivative(k, *others, x)` is the k-th derivative, divided by k!; `largest(k, *others, r)` is not smaller than any
    number that a computation of it for |x| ≤ r meets on the way. Values are taken to err by `slack` times that. An
    interval is divided into some pieces, in each of which it is a polynomial in the distance from the middle; where
    that goes up or down, the values at the ends are the bounds.
    """

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        fixed = [mode.structure(op, a) for a in args[:-1]]
        n = fixed[0]
        if np.ndim(n) or n != int(n) or not 0 <= n <= _HIGHEST:
            raise UnsupportedFunctionError(
                f"no enclosure is known of {op.name} but for one degree, an integer up to {_HIGHEST}",
                remedy="write one call for each degree",
            )
        fixed, n = [int(n), *fixed[1:]], int(n)
        given = mode.bounds(args[-1])
        _, unknown, pieces, middle, far = _divided(given, False)
        reach = V.maximum(V.absolute(pieces.lo), V.absolute(pieces.hi))

        def value(k: int, at: Any) -> Bounds:
            y = derivative(k, *fixed, at)
            room = V.multiply(largest(k, *fixed, reach), slack * (n + 1))
            return Bounds(V.subtract(y, room), V.add(y, room))

        sizes, power = [], far
        for k in range(1, n + 1):
            steep = value(k, middle)
            sizes.append(V.multiply(V.maximum(V.absolute(steep.lo), V.absolute(steep.hi)), power))
            power = V.multiply(power, far)
        change: Any = V.multiply(far, 0.0)
        rest: Any = change  # what of the slope, times the distance, may be of the other sign
        for k, size in enumerate(sizes, 1):
            change = V.add(change, V.multiply(size, 1 + 1e-12))
            rest = V.add(rest, V.multiply(size, k * (1 + 1e-12))) if k > 1 else rest
        at, first, last = [value(0, b) for b in (middle, *pieces)]
        slope = value(1, middle) if n else Bounds(change, change)
        least = V.maximum(V.maximum(slope.lo, V.negative(slope.hi)), 0.0)
        one_way = V.greater(V.multiply(V.multiply(least, far), 1 - 1e-12), rest)
        y = _united(one_way, first, last, Bounds(V.subtract(at.lo, change), V.add(at.hi, change)))
        return mode.enclosed(_finished(y, [given], ANYTHING, unknown))

    return enclosure


_HIGHEST = 100
"""The highest degree of polynomials: they are expanded to that order."""

_FAR = 1e15
"""Beyond, a float says nothing of where in a period it is."""

_PIECES = np.arange(9) / 8


def _divided(given: Bounds, unknown: Any) -> tuple[Bounds, Any, Bounds, Any, Any]:
    """An interval in double precision; whether it reaches too far, or is not known; its pieces, with their middles, and
    how far their ends are away."""
    x = Bounds(*[b if dtype_of(b) == np.float64 else V.astype(b, dtype=np.dtype(float)) for b in given])
    unknown = V.logical_or(unknown, V.greater(V.maximum(V.absolute(x.lo), V.absolute(x.hi)), _FAR))
    pieces = _pieces(Bounds(choose(unknown, 1.0, x.lo), choose(unknown, 1.0, x.hi)))
    middle = V.add(V.multiply(pieces.lo, 0.5), V.multiply(pieces.hi, 0.5))
    far = V.maximum(sum_towards(pieces.hi, V.negative(middle), 1), sum_towards(middle, V.negative(pieces.lo), 1))
    return x, unknown, pieces, middle, far


def _united(one_way: Any, first: Bounds, last: Bounds, near: Bounds) -> Bounds:
    """Bounds over all pieces: of a piece those of its ends, if it goes one way there, within those of its middle."""
    low = choose(one_way, V.maximum(V.minimum(first.lo, last.lo), near.lo), near.lo)
    high = choose(one_way, V.minimum(V.maximum(first.hi, last.hi), near.hi), near.hi)
    return Bounds(moved(V.min(low, axis=(0,)), -2), moved(V.max(high, axis=(0,)), 2))


def _pieces(x: Bounds) -> Bounds:
    """An interval divided into eight of the same width, along a new first axis."""
    parts = _PIECES.reshape((9,) + (1,) * len(shape_of(x.lo))).astype(dtype_of(x.lo))
    edges = V.add(V.multiply(V.subtract(x.hi, x.lo), parts), x.lo)
    edges = V.where(parts == 1, x.hi, V.minimum(edges, x.hi))
    return Bounds(V.index(edges, pattern=(slice(0, 8),)), V.index(edges, pattern=(slice(1, 9),)))
