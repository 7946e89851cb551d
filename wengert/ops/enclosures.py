"""The vocabulary in which a row states its enclosure: an interval that contains all results for operands in intervals.

    ON_BOUNDS                    it is increasing in all operands, and exact: applied to lower bounds and to upper
    bounds increasing(…), decreasing    a function of one number on a domain, computed with an error of some steps
    even(…)                      f(x) = f(−x), increasing for x > 0
    valley(…)                    decreasing up to a point, then increasing
    periodic(slope, …)           sin and cos: between their extremes, where the slope changes its sign
    composed(f)                  as other ops compute it, whose enclosures are known
    composed_of_each(f)          the same, where something is computed of each operand alone
    increasing_composed(f)       the same, but it increases in all operands, so that each bound comes from bounds
    DECIDED                      applied to operands that are decided: each is one number
    ordered                      places in an order, if that is certain
    CASTS                        a conversion
    stated(f, breaks)            f(*bounds, **params) gives the bounds; `breaks` where it is not continuous

An enclosure is asked by the mode (`modes/interval.py`): `enclosure(mode, op, args, params)`. The mode takes operands
apart (`mode.bounds`), puts results together (`mode.enclosed`), and is told where an op is not continuous, or not
defined (`mode.note_break`): then nothing follows from derivatives, and no mean value theorem holds.

Sets are those of IEEE 1788's set-based flavour: a function is applied where it is defined, so √[−1, 4] is [0, 2] and
log of [−1, 0] is empty; bounds of what is empty are NaN, which all arithmetic passes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.errors import UndecidedError, UnsupportedFunctionError
from wengert.ops.op import TABLE, Op, Traced
from wengert.ops.rounding import STEPS, Bounds, V, choose, evaluated, in_single, moved, sum_towards, value_towards
from wengert.types import dtype_of

Enclosure = Callable[[Any, Op, tuple, dict], Any]


def stated(rule: Callable, breaks: Callable | None = None) -> Enclosure:
    """Bounds as a function of bounds; where they are operands that are structure, these are handed over as they are."""

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        data = op.data_count(args, params)
        xs = [mode.bounds(a) for a in args[:data]]
        single = any(dtype_of(x.lo) == np.float32 for x in xs)
        if single:
            xs = [in_single(x) for x in xs]
            single = all(dtype_of(x.lo) == np.float32 for x in xs)
        rest = [mode.structure(op, a) for a in args[data:]]
        if breaks is not None and mode.watches:
            mode.note_break(breaks(*xs, *rest, **params))
        y = rule(*xs, *rest, **params)
        return mode.enclosed(_narrowed(y) if single else y)

    return enclosure


def _narrowed(y: Any) -> Any:
    """Bounds in single precision, where a rule has computed in double."""
    if y.__class__ is not Bounds or dtype_of(y.lo) != np.float64:
        return y
    return Bounds(*[moved(V.astype(b, dtype=np.dtype(np.float32)), way) for b, way in zip(y, (-1, 1), strict=True)])


def composed(function: Callable) -> Enclosure:
    """As other ops compute it."""
    return lambda mode, op, args, params: function(*args, **params)


def composed_of_each(function: Callable) -> Enclosure:
    """The same for a function that computes something of each operand alone, which is rounded if that is a number."""
    return lambda mode, op, args, params: function(*[mode.enclosed(mode.bounds(a)) for a in args], **params)


def increasing_composed(function: Callable) -> Enclosure:
    """As other ops compute it; it increases in all operands, so each bound is that of a function of numbers."""

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        xs = [mode.bounds(a) for a in args]
        low = function(*[mode.enclosed(Bounds(x.lo, x.lo)) for x in xs], **params)
        high = function(*[mode.enclosed(Bounds(x.hi, x.hi)) for x in xs], **params)
        low, high = (
            mode.bounds(low).lo,
            mode.bounds(high).hi,
        )  # NaN at an end of the domain: there are no numbers beyond
        y = Bounds(choose(V.isnan(low), -math.inf, low), choose(V.isnan(high), math.inf, high))
        return mode.enclosed(y)

    return enclosure


def _on_bounds(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    data = op.data_count(args, params)
    xs = [mode.bounds(a) for a in args[:data]]
    rest = [mode.structure(op, a) for a in args[data:]]
    return mode.enclosed(Bounds(op(*[x.lo for x in xs], *rest, **params), op(*[x.hi for x in xs], *rest, **params)))


ON_BOUNDS: Enclosure = _on_bounds


def _decided(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    return op(*[mode.structure(op, a) for a in args], **params)


DECIDED: Enclosure = _decided
"""A question that is asked only of what is decided: operands that are one number, or one truth value, each."""


def ordered(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """Places in an order, which is certain where intervals do not overlap."""
    x, axis = mode.bounds(args[0]), params["axis"]
    if isinstance(x.lo, Traced) or isinstance(x.hi, Traced):
        raise UndecidedError(
            f"{op.name} of intervals, whose order compiled code does not know beforehand",
            remedy="sort intervals without jit",
        )
    places = np.argsort(x.lo, axis=axis)
    low, high = np.take_along_axis(x.lo, places, axis), np.take_along_axis(x.hi, places, axis)
    apart = np.diff(low, axis=axis) > 0
    apart &= np.delete(high, -1, axis=axis) < np.delete(low, 0, axis=axis)
    if not np.all(apart):
        raise UndecidedError(
            f"{op.name} of intervals that overlap", remedy="use np.max, np.min and sums, or smaller intervals"
        )
    return op.impl(x.lo, **params)


def _stepwise(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    y = _on_bounds(mode, op, args, params)
    if mode.watches:
        found = mode.bounds(y)
        mode.note_break(V.not_equal(found.lo, found.hi))
    return y


STEPWISE: Enclosure = _stepwise
"""As ON_BOUNDS, for what jumps from one value to the next."""


# --------------------------------------------------------------------------------------------- functions of one number


class Monotone:
    """A function of one number that increases, or decreases, on an interval where it is defined.

    Args:
        way: 1 if it increases, −1 if it decreases.
        domain: where it is defined; `open`: but not at the ends.
        range: between which numbers its values are, exactly.
        exact: points and values at them that are known exactly.
        steps: by how many numbers a computed value is moved.
        flushes: whether results that are too small for full precision may come out as zero.
        slack: an error that does not become smaller with the value: so many times max(1, |value|).
        beyond: where it is defined, but not monotone, are numbers up to this one: there it may be anything.
        closely: computes its values, where NumPy's are not close enough (`closely.py`).
    """

    def __init__(
        self,
        way: int,
        domain: tuple[float, float] | None = None,
        open: bool = False,
        range: tuple[float, float] | None = None,
        exact: Sequence[tuple[float, float]] = (),
        steps: int = STEPS,
        symmetric: bool = False,
        flushes: bool = False,
        slack: float = 0.0,
        beyond: float | None = None,
        closely: Callable | None = None,
    ):
        self.way, self.domain, self.open, self.range, self.exact = way, domain, open, range, exact
        self.steps, self.symmetric, self.flushes = steps, symmetric, flushes
        self.slack, self.beyond, self.closely = slack, beyond, closely

    def __call__(self, mode: Any, op: Op, args: tuple, params: dict) -> Any:
        x = mode.bounds(args[0])
        if self.symmetric:
            x = magnitudes(x)
        if self.domain is not None:
            if mode.watches:
                mode.note_break(self._leaves(x))
            x = self._within(x)
        if self.beyond is None:
            return mode.enclosed(self.of(op, x))
        outside = V.less_equal(x.lo, self.beyond)
        if mode.watches:
            mode.note_break(outside)
        y = self.of(op, Bounds(V.maximum(x.lo, self.beyond), V.maximum(x.hi, self.beyond)))
        y = Bounds(choose(outside, -math.inf, y.lo), choose(outside, math.inf, y.hi))
        return mode.enclosed(unless_empty(y, x))

    def of(self, op: Op, x: Bounds) -> Bounds:
        """The bounds of the values, for an interval in the domain."""
        first, last = (x.lo, x.hi) if self.way > 0 else (x.hi, x.lo)
        low, high = [value_towards(op, (b,), way, self.steps, self.closely) for b, way in ((first, -1), (last, 1))]
        if self.slack:
            low, high = loosened(Bounds(low, high), self.slack)
        if self.flushes:
            low, high = choose(V.less(low, 1e-300), 0.0, low), V.maximum(high, 1e-300)
        for point, value in self.exact:
            low, high = choose(V.equal(first, point), value, low), choose(V.equal(last, point), value, high)
        if self.range is not None:
            low = V.minimum(V.maximum(low, self.range[0]), self.range[1])
            high = V.minimum(V.maximum(high, self.range[0]), self.range[1])
        return Bounds(low, high)

    def _leaves(self, x: Bounds) -> Any:
        assert self.domain is not None
        below, above = (V.less_equal, V.greater_equal) if self.open else (V.less, V.greater)
        return V.logical_or(below(x.lo, self.domain[0]), above(x.hi, self.domain[1]))

    def _within(self, x: Bounds) -> Bounds:
        assert self.domain is not None
        inside = Bounds(V.maximum(x.lo, self.domain[0]), V.minimum(x.hi, self.domain[1]))
        some = V.less_equal(inside.lo, inside.hi)
        if self.open:
            some = V.logical_and(some, V.logical_and(V.greater(x.hi, self.domain[0]), V.less(x.lo, self.domain[1])))
        return Bounds(choose(some, inside.lo, math.nan), choose(some, inside.hi, math.nan))


def known_value(op: Op, x: Any, way: int, at_zero: float) -> Any:
    """A value of a function that is known exactly at zero."""
    return choose(V.equal(x, 0), at_zero, value_towards(op, (x,), way))


def increasing(**stated: Any) -> Monotone:
    """A function that increases on its domain."""
    return Monotone(1, **stated)


def decreasing(**stated: Any) -> Monotone:
    """A function that decreases on its domain."""
    return Monotone(-1, **stated)


def even(**stated: Any) -> Monotone:
    """A function of |x| that increases with it."""
    return Monotone(1, symmetric=True, **stated)


def loosened(y: Bounds, slack: float, size: Any = 1.0) -> Bounds:
    """Bounds moved by so many times their size, or a given one if that is more."""
    room = [V.multiply(V.maximum(V.absolute(b), size), slack) for b in y]
    return Bounds(V.subtract(y.lo, room[0]), V.add(y.hi, room[1]))


class Valley(Monotone):
    """A function that decreases up to `lowest`, where its value is between two numbers, and increases from there."""

    def __init__(self, lowest: float, value: tuple[float, float], **stated: Any):
        super().__init__(1, **stated)
        self.lowest, self.value = lowest, value

    def of(self, op: Op, x: Bounds) -> Bounds:
        rising = super().of(op, x)
        falling = super().of(op, Bounds(x.hi, x.lo))
        # The point itself is known up to a rounding: near it the least value is a lower bound as well.
        around = V.logical_and(
            V.less_equal(x.lo, self.lowest * (1 + 1e-9)), V.greater_equal(x.hi, self.lowest * (1 - 1e-9))
        )
        low = choose(around, self.value[0], V.minimum(rising.lo, falling.lo))
        return unless_empty(Bounds(low, V.maximum(rising.hi, falling.hi)), x)


def valley(lowest: float, value: tuple[float, float], **stated: Any) -> Monotone:
    """A function that decreases, then increases."""
    return Valley(lowest, value, **stated)


def magnitudes(x: Bounds) -> Bounds:
    """The bounds of |x|."""
    least = choose(V.greater(x.lo, 0), x.lo, choose(V.less(x.hi, 0), V.negative(x.hi), V.multiply(x.lo, 0.0)))
    least = choose(V.logical_and(V.less_equal(x.lo, 0), V.greater_equal(x.hi, 0)), 0, least)
    return Bounds(least, V.maximum(V.negative(x.lo), x.hi))


def hull(*all_bounds: Bounds) -> Bounds:
    """The least interval around several; those that are empty do not count."""
    first, *others = all_bounds
    low, high = first
    for x in others:
        low, high = V.fmin(low, x.lo), V.fmax(high, x.hi)
    return Bounds(low, high)


def unless_empty(y: Bounds, *xs: Bounds) -> Bounds:
    """Bounds that are those of nothing if one of the operands is."""
    empty = V.isnan(xs[0].lo)
    for x in xs[1:]:
        empty = V.logical_or(empty, V.isnan(x.lo))
    return Bounds(choose(empty, math.nan, y.lo), choose(empty, math.nan, y.hi))


# --------------------------------------------------------------------------------------------------------- trigonometry

_HALF_PERIOD = math.pi
"""The greatest float below π, and twice it is below 2π: what is not wider is narrower than that."""


def periodic(slope: str, way: int, at_zero: float) -> Enclosure:
    """sin and cos. `slope(x)` has the sign of the derivative, which no float but zero makes zero; the value there is
    exact.

    In an interval narrower than π the slope changes its sign at most once, and between ends with slopes of one sign not
    at all. In one narrower than 2π it does so at most twice: once if the signs at the ends differ.
    """

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        x = mode.bounds(args[0])
        first, last = [V.greater_equal(V.multiply(evaluated(TABLE[slope], b), way), 0) for b in x]
        width = sum_towards(x.hi, V.negative(x.lo), 1)
        narrow, whole = V.less_equal(width, _HALF_PERIOD), V.logical_not(V.less_equal(width, 2 * _HALF_PERIOD))
        turns_twice = V.logical_and(V.equal(first, last), V.logical_not(narrow))
        has_both = V.logical_or(whole, turns_twice)
        has_top = V.logical_or(has_both, V.logical_and(first, V.logical_not(last)))
        has_bottom = V.logical_or(has_both, V.logical_and(V.logical_not(first), last))
        low = V.minimum(known_value(op, x.lo, -1, at_zero), known_value(op, x.hi, -1, at_zero))
        high = V.maximum(known_value(op, x.lo, 1, at_zero), known_value(op, x.hi, 1, at_zero))
        y = Bounds(choose(has_bottom, -1.0, V.maximum(low, -1.0)), choose(has_top, 1.0, V.minimum(high, 1.0)))
        return mode.enclosed(unless_empty(y, x))

    return enclosure


def with_poles(divisor: str) -> Enclosure:
    """tan: it increases between poles, where the op `divisor` changes its sign."""

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        x = mode.bounds(args[0])
        width = sum_towards(x.hi, V.negative(x.lo), 1)
        same = V.equal(*[V.greater(evaluated(TABLE[divisor], b), 0) for b in x])
        clear = V.logical_and(same, V.less_equal(width, _HALF_PERIOD))
        if mode.watches:
            mode.note_break(V.logical_not(clear))
        y = increasing(exact=((0.0, 0.0),)).of(op, x)
        return mode.enclosed(unless_empty(Bounds(choose(clear, y.lo, -math.inf), choose(clear, y.hi, math.inf)), x))

    return enclosure


# ------------------------------------------------------------------------------------------- comparisons and selections
#
# A condition on intervals holds for all numbers in them, for some, or for none: its bounds are two masks.


def compares(certain: Callable, possible: Callable) -> Enclosure:
    """A comparison: when it holds for all numbers of two intervals, and when for some."""
    return stated(
        lambda x, y: Bounds(certain(x, y), possible(x, y)),
        breaks=lambda x, y: V.not_equal(certain(x, y), possible(x, y)),
    )


def _meet(x: Bounds, y: Bounds) -> Any:
    return V.logical_and(V.less_equal(x.lo, y.hi), V.less_equal(y.lo, x.hi))


def _are_one(x: Bounds, y: Bounds) -> Any:
    points = V.logical_and(V.equal(x.lo, x.hi), V.equal(y.lo, y.hi))
    return V.logical_and(points, V.equal(x.lo, y.lo))


LESS = compares(lambda x, y: V.less(x.hi, y.lo), lambda x, y: V.less(x.lo, y.hi))
LESS_EQUAL = compares(lambda x, y: V.less_equal(x.hi, y.lo), lambda x, y: V.less_equal(x.lo, y.hi))
GREATER = compares(lambda x, y: V.greater(x.lo, y.hi), lambda x, y: V.greater(x.hi, y.lo))
GREATER_EQUAL = compares(lambda x, y: V.greater_equal(x.lo, y.hi), lambda x, y: V.greater_equal(x.hi, y.lo))
EQUAL = compares(_are_one, _meet)
NOT_EQUAL = compares(lambda x, y: V.logical_not(_meet(x, y)), lambda x, y: V.logical_not(_are_one(x, y)))

NOT = stated(lambda x: Bounds(V.logical_not(x.hi), V.logical_not(x.lo)))


HAS_SIGN = stated(lambda x: Bounds(V.less(x.hi, 0), V.less_equal(x.lo, 0)), breaks=lambda x: _meet(x, Bounds(0.0, 0.0)))
"""Whether a number has a minus sign, which a zero may have or not."""


def refused(what: str, remedy: str) -> Enclosure:
    """What has no enclosure, and what there is instead."""

    def enclosure(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        raise UnsupportedFunctionError(f"no enclosure is known of {what}", remedy=remedy)

    return enclosure


def of_masks(enclosure: Enclosure) -> Enclosure:
    """An operation on bits, of masks."""

    def checked(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        if any(dtype_of(a).kind != "b" for a in args):
            raise UnsupportedFunctionError(
                f"no enclosure is known of {op.name} of integers in intervals", remedy="use arithmetic"
            )
        return enclosure(mode, op, args, params)

    return checked


IS_NAN = stated(lambda x: Bounds(V.isnan(x.lo), V.isnan(x.lo)))
IS_INFINITE = stated(lambda x: Bounds(V.less(x.lo, -math.inf), V.less(x.lo, -math.inf)))
IS_FINITE = stated(lambda x: Bounds(V.logical_not(V.isnan(x.lo)), V.logical_not(V.isnan(x.lo))))
"""Intervals contain real numbers, or nothing."""


def _where(mask: Bounds, x: Bounds, y: Bounds) -> Bounds:
    certain, possible = mask
    both = hull(x, y)
    low = choose(certain, x.lo, choose(possible, both.lo, y.lo))
    return Bounds(low, choose(certain, x.hi, choose(possible, both.hi, y.hi)))


def where(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """A selection: where the mask is not decided, what contains both."""
    mask, x, y = args
    if not mode.owns(mask):
        x, y = mode.bounds(x), mode.bounds(y)
        return mode.enclosed(Bounds(choose(mask, x.lo, y.lo), choose(mask, x.hi, y.hi)))
    mask = mode.bounds(mask)
    if mode.watches:
        mode.note_break(V.not_equal(mask.lo, mask.hi))
    return mode.enclosed(_where(mask, mode.bounds(x), mode.bounds(y)))


def copysign(x: Bounds, s: Bounds) -> Bounds:
    """|x| with the sign of s; a zero may have either."""
    size = magnitudes(x)
    minus = Bounds(V.negative(size.hi), V.negative(size.lo))
    return _where(Bounds(V.less(s.hi, 0), V.less_equal(s.lo, 0)), minus, size)


def _casts(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """A conversion: outward to a narrower type, towards zero to integers; a truth value is whether it is zero."""
    x, dtype = mode.bounds(args[0]), np.dtype(params["dtype"])
    if dtype.kind == "b" and dtype_of(x.lo).kind != "b":
        return V.not_equal(args[0], 0)
    low, high = op(x.lo, dtype=dtype), op(x.hi, dtype=dtype)
    if dtype.kind == "f" and dtype_of(x.lo).kind == "f" and dtype.itemsize < dtype_of(x.lo).itemsize:
        low = choose(V.greater(V.astype(low, dtype=dtype_of(x.lo)), x.lo), moved(low, -1), low)
        high = choose(V.less(V.astype(high, dtype=dtype_of(x.lo)), x.hi), moved(high, 1), high)
    elif dtype.kind in "iu" and mode.watches:
        mode.note_break(V.not_equal(low, high))
    return mode.enclosed(Bounds(low, high))


CASTS: Enclosure = _casts
