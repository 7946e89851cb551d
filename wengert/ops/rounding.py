"""Rounding outward: sums, products, quotients and roots of bounds that are on the safe side of the true ones.

Everything is computed in round-to-nearest, whatever computes it. A result that is not exact is moved by one number,
away from the interval (`step`). Whether it is exact tells the error of a sum (Knuth's TwoSum), which is a number
itself; of products, quotients and roots of scalars the error of a product (Dekker 1971; Veltkamp's splitting), where
nothing over- or underflows. Whoever cannot tell moves.

Functions of libm, and those of NumPy that replace them, are assumed to err by less than `STEPS` units in the last
place; `by_numpy` lets compiled code call the same functions as NumPy does, instead of quicker ones that are less
accurate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.derive import elementwise
from wengert.ops.op import TABLE, Op, Traced
from wengert.ops.traits import CHEAP, DEAR
from wengert.types import SCALARS, dtype_of

STEPS = 2
"""By how many numbers a value of an elementary function is moved: its error is assumed to be less."""


class Bounds(NamedTuple):
    """A lower and an upper bound. Those of nothing at all are NaN."""

    lo: Any
    hi: Any


class _Vocabulary:
    """Ops by name: rows state their enclosures before all of them are there."""

    def __getattr__(self, name: str) -> Op:
        if name not in TABLE:
            raise AttributeError(name)
        op = TABLE[name]
        setattr(self, name, op)
        return op


V = _Vocabulary()

ROUNDED: dict[float, None] = {}
"""Numbers in rules that stand for others, which no float is: ln 2, for instance."""


def rounded_number(x: float) -> float:
    """Declare that a number in a rule is only close to what is meant, within one unit in its last place."""
    ROUNDED[x] = None
    return x


def constant(x: Any) -> Bounds:
    """Bounds of a number of the program: itself, unless it stands for what no float is. No number is infinite."""
    if x.__class__ is float or x.__class__ is np.float64:
        if x in ROUNDED or -x in ROUNDED:
            return Bounds(math.nextafter(x, -math.inf), math.nextafter(x, math.inf))
        if math.isinf(x):
            return Bounds(min(x, _MOST), max(x, -_MOST))
    elif x.__class__ is np.ndarray and x.dtype.kind == "f" and np.isinf(x).any():
        most = np.finfo(x.dtype).max
        return Bounds(np.minimum(x, most), np.maximum(x, -most))
    return Bounds(x, x)


_MOST = float(np.finfo(float).max)


def in_single(x: Bounds) -> Bounds:
    """Bounds of a constant that is converted to single precision: outward, if it stands for what no float is."""
    if x.lo.__class__ is not float and x.lo.__class__ is not int:
        return x
    if x.lo is x.hi:
        one = np.float32(x.lo)
        return Bounds(one, one)
    low, high = np.float32(x.lo), np.float32(x.hi)
    return Bounds(np.nextafter(low, np.float32(-math.inf)), np.nextafter(high, np.float32(math.inf)))


def choose(mask: Any, a: Any, b: Any) -> Any:
    """`where`, quick for scalars."""
    if (mask.__class__ is np.bool_ or mask.__class__ is bool) and a.__class__ in _NUMBERS and b.__class__ in _NUMBERS:
        return a if mask else b
    return V.where(mask, a, b)


_NUMBERS = frozenset((float, np.float64, int))

# -------------------------------------------------------------------------------------------------------- next numbers


def _step(x: Any, count: int) -> Any:
    end = math.inf if count > 0 else -math.inf
    for _ in range(abs(count)):
        x = np.nextafter(x, end)
    return x


step = elementwise("step", _step, (1,), cost=CHEAP)
"""So many representable numbers further up, or down if `count` is negative. Its derivative is that of x."""


def is_scalar(*xs: Any) -> bool:
    """Whether operands are plain scalars, for which Python's arithmetic is the quickest."""
    kinds = [x.__class__ for x in xs]
    return all(k in _NUMBERS for k in kinds) and not all(k is int for k in kinds)


def _next(x: float, way: int) -> Any:
    return np.float64(math.nextafter(x, math.inf * way))


def moved(x: Any, count: int) -> Any:
    """A value moved by so many numbers; integers and masks are exact."""
    if dtype_of(x).kind != "f":
        return x
    if is_scalar(x):
        x = float(x)
        for _ in range(abs(count)):
            x = math.nextafter(x, math.inf * count)
        return np.float64(x)
    return step(x, count=count)


# ---------------------------------------------------------------------------------------------------------- arithmetic


def sum_towards(a: Any, b: Any, way: int) -> Any:
    """a + b, rounded down (way −1) or up (way 1)."""
    if is_scalar(a, b):
        a, b = float(a), float(b)
        s = a + b
        t = s - a
        error = (a - (s - t)) + (b - t)
        return np.float64(s) if error * way <= 0 else _next(s, way)  # not if the error is NaN
    s = V.add(a, b)
    if dtype_of(s).kind != "f":
        return s
    t = V.subtract(s, a)
    error = V.add(V.subtract(a, V.subtract(s, t)), V.subtract(b, t))
    return choose((V.less_equal if way > 0 else V.greater_equal)(error, 0), s, step(s, count=way))


def _product_error(a: float, b: float, p: float) -> float:
    """a · b − p for the rounded product p; NaN if that cannot be told."""
    if not 1e-280 < abs(p) < 1e280:
        return 0.0 if a == 0 or b == 0 else math.nan
    c = 134217729.0 * a
    high_a = c - (c - a)
    c = 134217729.0 * b
    high_b = c - (c - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - p) + high_a * low_b + low_a * high_b) + low_a * low_b


def is_plain(*xs: Any) -> bool:
    """Whether operands are plain arrays of doubles, or numbers beside them, that are not too long."""
    return all(
        (x.__class__ is np.ndarray and x.dtype == np.float64 and x.size <= _SHORT) or x.__class__ in _NUMBERS
        for x in xs
    )


_SHORT = 4096
"""Of longer arrays it is not found out which products are exact."""


def _split(x: Any) -> tuple[Any, Any]:
    """A number as the sum of two with half the digits."""
    c = 134217729.0 * x
    high = c - (c - x)
    return high, x - high


def _product_errors(a: Any, b: Any, p: Any) -> Any:
    """The same of arrays."""
    (high_a, low_a), (high_b, low_b) = _split(a), _split(b)
    error = ((high_a * high_b - p) + high_a * low_b + low_a * high_b) + low_a * low_b
    size = np.abs(p)
    return np.where((size > 1e-280) & (size < 1e280), error, np.nan)


def product_towards(a: Any, b: Any, way: int) -> Any:
    """a · b, rounded down or up; zero times anything is zero."""
    if is_scalar(a, b):
        a, b = float(a), float(b)
        if a == 0 or b == 0:
            return np.float64(0)
        p = a * b
        error = _product_error(a, b, p)
        return np.float64(p) if error * way <= 0 else _next(p, way)
    p = V.multiply(a, b)
    if dtype_of(p).kind != "f":
        return p
    nothing = V.logical_or(V.equal(a, 0), V.equal(b, 0))
    if is_plain(a, b):
        return np.where(nothing, 0.0, np.where(_product_errors(a, b, p) * way <= 0, p, np.nextafter(p, way * np.inf)))
    if _is_power_of_two(a) or _is_power_of_two(b):
        exact = V.greater(V.absolute(p), _SMALLEST_NORMAL[dtype_of(p)])
        return choose(nothing, 0, choose(exact, p, step(p, count=way)))
    return choose(nothing, 0, step(p, count=way))


_SMALLEST_NORMAL = {np.dtype(t): float(np.finfo(t).tiny) for t in (np.float16, np.float32, np.float64)}


def _is_power_of_two(x: Any) -> bool:
    """Whether products with a plain number are exact, as long as nothing underflows."""
    if x.__class__ not in SCALARS and not isinstance(x, np.generic):
        return False
    return math.isfinite(x) and abs(math.frexp(x)[0]) == 0.5


def quotient_towards(a: Any, b: Any, way: int) -> Any:
    """a / b, rounded down or up."""
    if is_scalar(a, b) and b != 0:
        a, b = float(a), float(b)
        if a == 0 or math.isinf(b):
            return np.float64(a / b)
        q = a / b
        p = q * b
        known = 1e-280 < abs(q) < 1e280 and 1e-250 < abs(a) < 1e280
        rest = (a - p) - _product_error(q, b, p) if known else math.nan
        return np.float64(q) if rest * math.copysign(1, b) * way <= 0 else _next(q, way)
    q = V.divide(a, b)
    if is_plain(a, b):
        p = q * b
        known = (np.abs(q) > 1e-280) & (np.abs(q) < 1e280) & (np.abs(a) > 1e-250) & (np.abs(a) < 1e280)
        rest = np.where(known, (a - p) - _product_errors(q, b, p), np.nan)
        sure = (rest * np.copysign(1.0, b) * way <= 0) | np.equal(a, 0) | np.equal(b, 0) | np.isinf(b)
        return np.where(sure, q, np.nextafter(q, way * np.inf))
    exact = V.logical_or(V.equal(a, 0), V.logical_or(V.equal(b, 0), V.equal(V.absolute(b), math.inf)))
    if _is_power_of_two(b):
        exact = V.logical_or(exact, V.greater(V.absolute(q), _SMALLEST_NORMAL[dtype_of(q)]))
    return choose(exact, q, step(q, count=way))


def root_towards(x: Any, way: int) -> Any:
    """√x, rounded down or up."""
    if is_scalar(x) and 0 <= x < math.inf:
        x = float(x)
        s = math.sqrt(x)
        p = s * s
        rest = (x - p) - _product_error(s, s, p) if 1e-270 < x < 1e270 or x == 0 else math.nan
        return np.float64(s) if rest * way <= 0 else _next(s, way)
    s = V.sqrt(x)
    if is_plain(x):
        p = s * s
        rest = np.where((x > 1e-270) & (x < 1e270), (x - p) - _product_errors(s, s, p), np.nan)
        return np.where((rest * way <= 0) | (s == 0) | np.isinf(s), s, np.nextafter(s, way * np.inf))
    exact = V.logical_or(V.equal(s, 0), V.equal(s, math.inf))
    return choose(exact, s, step(s, count=way))


# ------------------------------------------------------------------------------------------------ elementary functions


def _by_numpy(*xs: Any, name: str) -> Any:
    return TABLE[name].impl(*xs)


by_numpy = elementwise(
    "by_numpy",
    _by_numpy,
    (lambda y, x, name: TABLE[name].coefficient(0, y, (x,), {}),),  # type: ignore[attr-defined]
    cost=DEAR,
)
"""An elementary function as NumPy computes it, in compiled code too."""

by_numpy_of_two = elementwise(
    "by_numpy_of_two",
    _by_numpy,
    (
        lambda z, x, y, name: TABLE[name].coefficient(0, z, (x, y), {}),  # type: ignore[attr-defined]
        lambda z, x, y, name: TABLE[name].coefficient(1, z, (x, y), {}),  # type: ignore[attr-defined]
    ),
    cost=DEAR,
)
"""The same of a function of two numbers."""


def evaluated(op: Op, *xs: Any) -> Any:
    """A value of an elementary function, as NumPy computes it."""
    if not any(isinstance(x, Traced) for x in xs):
        return op.impl(*xs)
    return (by_numpy if len(xs) == 1 else by_numpy_of_two)(*xs, name=op.name)


def value_towards(op: Op, xs: tuple, way: int, steps: int = STEPS, value: Callable | None = None) -> Any:
    """A value of an elementary function, moved by what its error can be. Single precision is computed in double.
    `value` computes it, where NumPy's is not close enough; what NumPy computes is on the right side, too."""
    narrow = all(x.__class__ in SCALARS or dtype_of(x) == np.float32 for x in xs) and any(
        dtype_of(x) == np.float32 for x in xs
    )
    if narrow:
        xs = tuple([V.astype(x, dtype=np.dtype(np.float64)) if dtype_of(x) == np.float32 else x for x in xs])
    if value is None:
        y = moved(evaluated(op, *xs), way * steps)
    else:
        y = (V.minimum if way < 0 else V.maximum)(moved(value(*xs), way * steps), evaluated(op, *xs))
    return moved(V.astype(y, dtype=np.dtype(np.float32)), way) if narrow else y
