"""Intervals: two bounds travel together, and what is between them contains the true result.

An `Enclosure` carries a lower and an upper bound, of one shape and dtype; which interval an op makes of others is
stated on its row (`ops/enclosures.py`), written in ops again. So bounds may be plain arrays, symbols of a program that
is captured, or values that are differentiated. All rounding is outward (`ops/rounding.py`).

A condition on intervals holds for all their numbers, for some, or for none: it has two bounds, too, which are masks.
Where they agree it is a plain mask. Where they do not, `np.where` gives what contains both of its operands, and a
branch cannot be decided: `Trace.branch` says what is done then (see `OpenDecisions`).

`Interval` is the class that users make and get (`wg.interval`); inside `wg.enclose` a run has boxes of its own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.writing import overwrite, settled
from wengert.errors import ConcretizationError, UndecidedError, UnsupportedFunctionError
from wengert.modes.mode import Mode
from wengert.ops import rectangles
from wengert.ops.derive import Control
from wengert.ops.enclosures import ON_BOUNDS
from wengert.ops.observe import observe
from wengert.ops.op import Op, Traced, call, fresh_tag
from wengert.ops.rounding import Bounds, V, choose, constant, sum_towards
from wengert.ops.sizes import require
from wengert.raised import name_of
from wengert.running import running
from wengert.types import SCALARS, Aval, dtype_of, shape_of

UNDECIDED = "a decision by an interval in which the condition holds for some numbers and not for others"
REMEDY = (
    "use np.where(condition, a, b), which encloses both; enclose(f, branch='both'), which goes both ways; or smaller "
    "intervals, for which it is decided"
)


class Enclosure(Box):
    """A lower and an upper bound, which look like one value."""

    __slots__ = ()
    _state = ("_owner", "_value", "_tangent")
    _owner: IntervalTrace

    def __init__(self, trace: IntervalTrace, low: Any, high: Any):
        self._owner = trace
        self._value = low
        self._tangent = high

    @property
    def lo(self) -> Any:
        """The lower bound; NaN if there is nothing in the interval."""
        return settled(self)._value

    @property
    def hi(self) -> Any:
        """The upper bound; NaN if there is nothing in the interval."""
        return settled(self)._tangent

    @property
    def mid(self) -> Any:
        """A number close to the middle; a bounded one if a bound is infinite."""
        if self.dtype.kind == "c":
            return self.real.mid + self.imag.mid * 1j
        low, high = self.lo, self.hi
        most = float(np.finfo(dtype_of(low)).max)
        size = V.maximum(V.absolute(low), V.absolute(high))
        with np.errstate(all="ignore"):
            halves = V.add(V.multiply(low, 0.5), V.multiply(high, 0.5))
            middle = V.where(V.less(size, 1.0), V.multiply(V.add(low, high), 0.5), halves)
        unbounded = V.where(V.equal(low, -math.inf), V.where(V.equal(high, math.inf), 0.0, -most), most)
        infinite = V.equal(size, math.inf)
        return _number(V.where(infinite, unbounded, V.minimum(V.maximum(middle, low), high)))

    @property
    def rad(self) -> Any:
        """A number r such that all numbers of the interval are within r of `mid`."""
        if self.dtype.kind == "c":
            x, y = [make(part.rad, part.rad) for part in (self.real, self.imag)]
            return _number(V.hypot(x, y).hi)
        middle = self.mid
        low, high = self.lo, self.hi
        above, below = _difference_up(high, middle), _difference_up(middle, low)
        return _number(V.maximum(above, below))

    @property
    def width(self) -> Any:
        """The upper bound less the lower one, rounded up; of a rectangle the longer side."""
        if self.dtype.kind == "c":
            return np.maximum(self.real.width, self.imag.width)
        return _number(_difference_up(self.hi, self.lo))

    @property
    def empty(self) -> Any:
        """Whether there is nothing in the interval."""
        return _number(V.isnan(self.lo))

    def __bool__(self) -> bool:
        held = settled(self)
        if not isinstance(held, Enclosure):
            return bool(held)
        low, high = held._value, held._tangent
        if dtype_of(low).kind != "b":
            return bool(held != 0)
        if shape_of(low):
            return bool(np.zeros(shape_of(low), bool))  # NumPy's error for arrays
        return held._owner.decide(low, high)

    def __contains__(self, item: Any) -> bool:
        return bool(self._has(item))

    def _has(self, item: Any) -> Any:
        """`x in X`: whether a number is in the interval, or all numbers, or intervals, are in theirs."""
        if "c" in (self.dtype.kind, dtype_of(item).kind):
            own, other = [rectangles.parts(self._owner, x) for x in (self, item)]
            inside = [x._has(y) if isinstance(x, Enclosure) else np.all(x == y)
                      for x, y in ((own.re, other.re), (own.imag, other.imag))]  # fmt: skip
            return V.logical_and(*inside)
        if isinstance(item, Enclosure):
            inside = V.logical_or(
                V.logical_and(V.less_equal(self.lo, item.lo), V.less_equal(item.hi, self.hi)), item.empty
            )
        else:
            item = item if isinstance(item, Traced) else np.asarray(item)
            inside = V.logical_and(V.less_equal(self.lo, item), V.less_equal(item, self.hi))
            inside = V.logical_and(inside, V.isfinite(item))
        return np.all(inside)

    def _not_an_array(self) -> ConcretizationError:
        return ConcretizationError(
            "an interval cannot become an ordinary NumPy array",
            remedy="take X.lo and X.hi; wg.enclose(f) follows functions of other libraries",
        )

    def __and__(self, other: Any) -> Any:
        """What is in both: the intersection. Of masks, whether both hold."""
        if self.dtype.kind == "b":
            return V.logical_and(self, other)
        if "c" in (self.dtype.kind, dtype_of(other).kind):
            return self._by_parts(other, operator.and_)
        x, y = self._owner.bounds(self), self._owner.bounds(other)
        low, high = V.maximum(x.lo, y.lo), V.minimum(x.hi, y.hi)
        some = V.less_equal(low, high)
        return self._owner.enclosed(Bounds(V.where(some, low, math.nan), V.where(some, high, math.nan)))

    def __or__(self, other: Any) -> Any:
        """The least interval that contains both: the hull. Of masks, whether one holds."""
        if self.dtype.kind == "b":
            return V.logical_or(self, other)
        if "c" in (self.dtype.kind, dtype_of(other).kind):
            return self._by_parts(other, operator.or_)
        x, y = self._owner.bounds(self), self._owner.bounds(other)
        return self._owner.enclosed(Bounds(V.fmin(x.lo, y.lo), V.fmax(x.hi, y.hi)))

    __rand__, __ror__ = __and__, __or__

    def _by_parts(self, other: Any, function: Callable) -> Any:
        """The intersection, or the hull, of rectangles."""
        trace = self._owner
        ours, theirs = [rectangles.parts(trace, x) for x in (self, other)]
        pairs = [[trace.enclosed(trace.bounds(x)) for x in pair] for pair in ((ours.re, theirs.re),
                                                                             (ours.imag, theirs.imag))]  # fmt: skip
        return rectangles.joined(trace, rectangles.ComplexParts(*[function(*pair) for pair in pairs]))

    def __invert__(self) -> Any:
        return V.logical_not(self) if self.dtype.kind == "b" else super().__invert__()

    def __float__(self) -> float:
        return float(self._one("float(x)"))

    def __int__(self) -> int:
        held = settled(self)
        return int(held._owner.same(V.trunc(held._value), V.trunc(held._tangent), "int(x)"))

    def __index__(self) -> int:
        return self._one("an index, or a number of repetitions,").__index__()

    def _one(self, what: str) -> Any:
        held = settled(self)
        return held._owner.same(held._value, held._tangent, what)

    def __repr__(self) -> str:
        held = settled(self)
        if not isinstance(held, Enclosure):
            return repr(held)
        low, high = held._value, held._tangent
        if isinstance(low, Traced) or isinstance(high, Traced):
            return f"interval({low!r}, {high!r})"
        if shape_of(low):
            return f"interval({np.asarray(low).tolist()}, {np.asarray(high).tolist()})"
        return "interval(empty)" if low != low else f"interval({np.asarray(low).item()!r}, {np.asarray(high).item()!r})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        held = settled(self)
        return f"[{format(held._value, spec)}, {format(held._tangent, spec)}]" if spec else repr(self)

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> Any:
        return make, (self.lo, self.hi)


class Interval(Enclosure):
    """An interval, or an array of intervals, of real numbers: see `wengert.interval`."""

    __slots__ = ()


Enclosure.__name__ = "traced array"


def _number(x: Any) -> Any:
    return x[()] if x.__class__ is np.ndarray and not x.shape else x


def _difference_up(a: Any, b: Any) -> Any:
    """a − b, rounded up."""
    with np.errstate(all="ignore"):
        return sum_towards(a, V.negative(b), 1)


class OpenDecisions:
    """Which way to go at decisions that intervals leave open: all ways, one after the other.

    A function is run again and again; each run follows the decisions of the last one up to the last that has not gone
    both ways, and takes the other way there.
    """

    def __init__(self, most: int = 4096):
        self.taken: list[bool] = []
        self.place = 0
        self.runs = 0
        self.most = most

    def next_run(self) -> bool:
        """Prepare the next run; false if all ways have been gone."""
        if self.runs:
            while self.taken and not self.taken[-1]:
                self.taken.pop()
            if not self.taken:
                return False
            self.taken[-1] = False
        self.place = 0
        self.runs += 1
        if self.runs > self.most:
            raise UndecidedError(
                f"more than {self.most} different ways through the function are left open by the intervals",
                remedy="use np.where instead of if, or smaller intervals",
            )
        return True

    def decide(self) -> bool:
        if self.place == len(self.taken):
            if len(self.taken) > 50_000:
                raise UndecidedError(
                    "a loop does not come to an end, since its condition is never decided",
                    remedy="use smaller intervals",
                )
            self.taken.append(True)
        self.place += 1
        return self.taken[self.place - 1]


class IntervalTrace(Mode):
    """One run with intervals."""

    __slots__ = ("alive", "branch", "branches", "broken", "kind", "tag", "watches")
    name = "interval"
    companions = 1
    encloses = True

    def __init__(self, branch: str = "raise", kind: type[Enclosure] = Enclosure, tag: int | None = None):
        self.tag = fresh_tag() if tag is None else tag
        self.alive = True
        self.kind = kind
        self.branch = branch
        self.branches: OpenDecisions | None = None
        self.watches = False
        """Whether anybody wants to know where a function is not continuous."""
        self.broken: Any = False
        """Whether an op was not continuous, or not defined; in a program that is captured, a symbol."""

    # ------------------------------------------------------------------------------------------- the protocol of modes

    @property
    def key(self) -> Any:
        return ("interval", self.branch)

    def fresh(self) -> IntervalTrace:
        return IntervalTrace(self.branch)

    def owns(self, x: Any) -> bool:
        return isinstance(x, Enclosure)

    def split(self, box: Any) -> list[Any]:
        return [box._value, box._tangent]

    def join(self, parts: Sequence[Any]) -> Any:
        return self.kind(self, *parts)

    def constant(self, x: Any) -> list[Any]:
        return list(constant(x))

    def avals(self, aval: Aval) -> list[Aval]:
        return [aval, aval]

    def apart(self, what: str) -> BaseException:
        return UndecidedError(f"{what} that an interval leaves open", remedy="use smaller intervals, or numbers")

    def decided(self, box: Any) -> Any:
        low, high = box._value, box._tangent
        if self.branch == "both":
            return box
        return self._demanded(low, high)

    def decided_always(self, box: Any) -> Any:
        return self._demanded(box._value, box._tangent)

    def _demanded(self, low: Any, high: Any, problem: str = UNDECIDED, remedy: str = REMEDY) -> Any:
        """What must be the same for all numbers, such as a condition: checked now, or when the program runs."""
        same = V.equal(low, high)
        if isinstance(same, Traced):
            message = str(UndecidedError(problem, remedy=remedy))
            call(require, same, error=name_of(UndecidedError), message=message)
        elif not np.all(same):
            raise UndecidedError(problem, remedy=remedy)
        return low

    # ------------------------------------------------------------------------------------------------------------- ops

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        capture = running.state.capture
        if capture is not None and capture.tag > self.tag:
            return capture.process(op, args, params)
        with np.errstate(all="ignore"):
            if self.watches and op.marks:
                self.note_break(True)  # its derivative need not be that of its value
            if op.__class__ is Control:
                if self.watches and capture is None:
                    return op.impl(*args, **params)
                self.note_break(self.watches)
                return op.lift(self, args, params)
            if rectangles.concerns(op, args, params):
                return rectangles.enclosed(self, op, args, params)
            enclosure = op.bounds or (ON_BOUNDS if op.moves else None)
            if enclosure is None:
                raise UnsupportedFunctionError(
                    f"no enclosure is known of {op.name}: which interval contains its results for intervals",
                    remedy="use functions that have one (docs/guaranteed-bounds.md lists them), or pass numbers",
                )
            y = enclosure(self, op, args, params)
            if op.elementwise and isinstance(y, Enclosure) and all(dtype_of(a).kind in "biu" for a in args):
                return self._of_integers(y, dtype_of(op.impl(*[np.ones((), dtype_of(a)) for a in args], **params)))
            return y

    def _of_integers(self, y: Any, dtype: np.dtype) -> Any:
        """An op of integers, in the type that it gives for numbers: enclosures compute with floats, and an index is an
        integer. What an integer cannot be, the bounds need not contain."""
        if dtype.kind not in "iu" or dtype_of(y).kind != "f":
            return y
        low, high = V.ceil(y._value), V.floor(y._tangent)
        least, most = max(float(np.iinfo(dtype).min), -(2.0**62)), min(float(np.iinfo(dtype).max), 2.0**62)
        low = choose(V.greater(low, least), low, least)  # (also where it is not a number)
        high = choose(V.less(high, most), high, most)
        return self.enclosed(Bounds(V.astype(low, dtype=dtype), V.astype(high, dtype=dtype)))

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        capture = running.state.capture
        if (capture is not None and capture.tag > self.tag) or not shape_of(box._value):
            return NotImplemented
        low, high = self.bounds(v)
        overwrite(box, "_value", low, pattern, arrays)
        overwrite(box, "_tangent", high, pattern, arrays)
        return None

    # What enclosures ask.

    def bounds(self, x: Any) -> Bounds:
        """The bounds of an operand."""
        x = settled(x) if isinstance(x, Traced) else x
        if isinstance(x, Enclosure):
            return Bounds(x._value, x._tangent)
        if x.__class__ is not float and dtype_of(x).kind not in "fiubc":
            raise UnsupportedFunctionError(
                f"intervals contain numbers, and cannot be combined with {dtype_of(x)}",
                remedy="use arrays of numbers",
            )
        return constant(x)

    def structure(self, op: Op, x: Any) -> Any:
        """An operand that is no data, or of which an enclosure wants one number: an index, a mask, an order."""
        if not isinstance(x, Enclosure):
            return x
        what = f"{'a parameter' if op.elementwise else 'an index or a mask'} of {op.name}"
        return self.same(x._value, x._tangent, "a question about the values" if op is observe else what)

    def enclosed(self, y: Any) -> Any:
        """Bounds as a value; a mask that is decided everywhere is plain."""
        if y.__class__ is tuple:
            return tuple([self.enclosed(part) for part in y])
        low, high = y
        if (low.__class__ is np.ndarray and not low.shape) or low.__class__ in SCALARS:
            low = np.asarray(low)[()]
        if (high.__class__ is np.ndarray and not high.shape) or high.__class__ in SCALARS:
            high = np.asarray(high)[()]
        if shape_of(low) != shape_of(high):
            shape = np.broadcast_shapes(shape_of(low), shape_of(high))
            low, high = [b if shape_of(b) == shape else V.broadcast_to(b, shape=shape) for b in (low, high)]
        if dtype_of(low) != dtype_of(high):
            dtype = np.result_type(dtype_of(low), dtype_of(high))
            low, high = [b if dtype_of(b) == dtype else V.astype(b, dtype=dtype) for b in (low, high)]
        if dtype_of(low).kind == "b" and not isinstance(low, Traced) and not isinstance(high, Traced):
            if np.all(low == high):
                return low
        if high is low and low.__class__ is np.ndarray:
            high = low.copy()  # they are written to one by one
        return self.kind(self, low, high)

    def point(self, x: Any) -> Any:
        """A number as an interval."""
        x = np.asarray(x)
        x = (x.astype(float) if x.dtype.kind in "iu" else x)[()]
        return self.kind(self, x, x) if x.dtype.kind in "fc" else x

    def note_break(self, mask: Any) -> None:
        """Remember that an op is not continuous, or not defined, somewhere, where the mask says so."""
        if mask is False or self.broken is True:
            return
        if shape_of(mask):
            mask = V.any(mask, axis=tuple(range(len(shape_of(mask)))))
        if isinstance(mask, Traced) or isinstance(self.broken, Traced):
            self.broken = V.logical_or(self.broken, mask)
        else:
            self.broken = bool(self.broken or mask)

    def is_one(self, box: Any) -> bool:
        """Whether intervals are known to be one number each."""
        low, high = box._value, box._tangent
        return not isinstance(low, Traced) and not isinstance(high, Traced) and bool(np.all(np.equal(low, high)))

    def decide(self, low: Any, high: Any) -> bool:
        """The truth of a condition."""
        same = V.equal(low, high)
        if isinstance(same, Traced):
            return bool(low)  # an error: symbols are not decided in Python
        if same:
            return bool(low)
        if self.branches is not None:
            return self.branches.decide()
        raise UndecidedError(UNDECIDED, remedy=REMEDY)

    def same(self, low: Any, high: Any, what: str) -> Any:
        """The number that both bounds are."""
        return self._demanded(
            low, high, f"{what} of an interval that is not one number", "use smaller intervals, or numbers"
        )


OUTSIDE = IntervalTrace(kind=Interval, tag=0)
"""The intervals that users have in their hands: outside every other transformation."""


def make(low: Any, high: Any) -> Interval:
    """An interval with these bounds, which are not checked."""
    plain = not isinstance(low, Traced) and not isinstance(high, Traced) and running.state.capture is None
    trace = OUTSIDE if plain else IntervalTrace(kind=Interval)
    return Interval(trace, low, high)


def _put_together(_: Any, parts: Sequence[Any]) -> Interval:
    return make(*parts)


tree.register(Interval, lambda x: ((x.lo, x.hi), None, ("lo", "hi")), _put_together, is_value=True)
