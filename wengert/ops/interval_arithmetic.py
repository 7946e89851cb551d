"""Enclosures of arithmetic: sums, products, quotients, powers, and functions of two numbers.

Extremes of a product, a quotient, a power or an angle over a rectangle lie at its corners, as long as no pole or cut
runs through it; an infinite corner times zero is zero, since no number is infinite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops.enclosures import hull, magnitudes, unless_empty
from wengert.ops.op import TABLE, Op, Traced
from wengert.ops.rounding import (
    Bounds,
    V,
    choose,
    constant,
    is_plain,
    is_scalar,
    moved,
    product_towards,
    quotient_towards,
    root_towards,
    sum_towards,
    value_towards,
)
from wengert.types import SCALARS, dtype_of


def _number(x: Bounds) -> Any:
    """The number that an operand is, if it is a plain constant, else `None`."""
    return x.lo if x.lo is x.hi and (x.lo.__class__ in SCALARS or isinstance(x.lo, np.generic)) else None


def add(x: Bounds, y: Bounds) -> Bounds:
    return Bounds(sum_towards(x.lo, y.lo, -1), sum_towards(x.hi, y.hi, 1))


def subtract(x: Bounds, y: Bounds) -> Bounds:
    return add(x, negative(y))


def negative(x: Bounds) -> Bounds:
    return Bounds(V.negative(x.hi), V.negative(x.lo))


# ------------------------------------------------------------------------------------------------------------ products


def multiply(x: Bounds, y: Bounds) -> Bounds:
    if _number(x) is not None and _number(y) is None:
        x, y = y, x
    if y.lo is y.hi:
        return _scaled(x, y.lo)
    if is_scalar(*x, *y):
        return _multiply_scalars(x, y)
    if is_plain(*x, *y):
        return _multiply_arrays(x, y)
    corners = [V.multiply(a, b) for a in x for b in y]
    if dtype_of(corners[0]).kind != "f":
        return _extremes(corners)
    low, high = _extremes([choose(V.isnan(p), 0.0, p) for p in corners])
    low, high = moved(low, -1), moved(high, 1)
    # A product that underflows keeps its sign.
    same = V.logical_or(
        V.logical_and(V.greater_equal(x.lo, 0), V.greater_equal(y.lo, 0)),
        V.logical_and(V.less_equal(x.hi, 0), V.less_equal(y.hi, 0)),
    )
    other = V.logical_or(
        V.logical_and(V.greater_equal(x.lo, 0), V.less_equal(y.hi, 0)),
        V.logical_and(V.less_equal(x.hi, 0), V.greater_equal(y.lo, 0)),
    )
    low, high = choose(same, V.maximum(low, 0.0), low), choose(other, V.minimum(high, 0.0), high)
    return unless_empty(Bounds(low, high), x, y)


def _scaled(x: Bounds, c: Any) -> Bounds:
    """An interval times a number, which may be an array or traced."""
    positive = V.greater_equal(c, 0)
    if positive.__class__ is bool or positive.__class__ is np.bool_:
        first, last = x if positive else (x.hi, x.lo)
    else:
        first, last = V.where(positive, x.lo, x.hi), V.where(positive, x.hi, x.lo)
    y = Bounds(product_towards(first, c, -1), product_towards(last, c, 1))
    return unless_empty(y, x, Bounds(c, c))


def _multiply_scalars(x: Bounds, y: Bounds) -> Bounds:
    if any(b != b for b in (*x, *y)):
        return Bounds(np.float64(math.nan), np.float64(math.nan))
    corners = [(a, b) for a in x for b in y]
    return Bounds(
        min([product_towards(a, b, -1) for a, b in corners]), max([product_towards(a, b, 1) for a, b in corners])
    )


def _multiply_arrays(x: Bounds, y: Bounds) -> Bounds:
    """Of the corners those that signs say, unless both intervals are around zero."""
    (a, b), (c, d) = x, y
    plus, minus = np.greater_equal(a, 0), np.less_equal(b, 0)
    right, left = np.greater_equal(c, 0), np.less_equal(d, 0)
    low_y = np.where(plus, c, np.where(minus | right, d, c))
    low_x = np.where(plus, np.where(right, a, b), np.where(minus, np.where(left, b, a), np.where(right, a, b)))
    high_y = np.where(plus, d, np.where(minus | left, c, d))
    high_x = np.where(plus, np.where(left, a, b), np.where(minus, np.where(right, b, a), np.where(left, a, b)))
    low, high = product_towards(low_x, low_y, -1), product_towards(high_x, high_y, 1)
    mixed = ~(plus | minus | right | left)
    if np.any(mixed):
        low = np.where(mixed, np.minimum(product_towards(a, d, -1), product_towards(b, c, -1)), low)
        high = np.where(mixed, np.maximum(product_towards(a, c, 1), product_towards(b, d, 1)), high)
    return unless_empty(Bounds(low, high), x, y)


def _extremes(corners: list[Any]) -> Bounds:
    low = high = corners[0]
    for p in corners[1:]:
        low, high = V.minimum(low, p), V.maximum(high, p)
    return Bounds(low, high)


def square(x: Bounds) -> Bounds:
    least, most = magnitudes(x)
    y = Bounds(product_towards(least, least, -1), product_towards(most, most, 1))
    return unless_empty(Bounds(V.maximum(y.lo, 0), y.hi), x)


def one_minus_square(x: Bounds) -> Bounds:
    """(1 − |x|)·(1 + |x|), which decreases where it is positive, and where it is negative."""
    one = dtype_of(x.lo).type(1) if dtype_of(x.lo).kind == "f" else 1.0
    one = Bounds(one, one)
    high, low = [multiply(subtract(one, Bounds(b, b)), add(one, Bounds(b, b))) for b in magnitudes(x)]
    return unless_empty(Bounds(low.lo, high.hi), x)


# ----------------------------------------------------------------------------------------------------------- quotients


def contains_zero(y: Bounds) -> Any:
    return V.logical_and(V.less_equal(y.lo, 0), V.greater_equal(y.hi, 0))


def divide(x: Bounds, y: Bounds) -> Bounds:
    if dtype_of(x.lo).kind != "f" and dtype_of(y.lo).kind != "f":
        x = Bounds(*[V.astype(b, dtype=np.dtype(float)) for b in x])
    if y.lo is y.hi and _number(y):
        first, last = x if y.lo > 0 else (x.hi, x.lo)
        return Bounds(quotient_towards(first, y.lo, -1), quotient_towards(last, y.lo, 1))
    # A zero at an end of the divisor is approached from inside. Signs say which corners count.
    low, high = choose(V.equal(y.lo, 0), 0.0, y.lo), choose(V.equal(y.hi, 0), -0.0, y.hi)
    positive = V.greater_equal(y.lo, 0)
    rising, above = V.greater_equal(x.lo, 0), V.greater(x.hi, 0)
    first = choose(positive, choose(rising, y.hi, low), choose(above, high, y.lo))
    last = choose(positive, choose(above, low, y.hi), choose(rising, y.lo, high))
    least = quotient_towards(choose(positive, x.lo, x.hi), first, -1)
    most = quotient_towards(choose(positive, x.hi, x.lo), last, 1)
    nothing = V.logical_and(V.equal(x.lo, 0), V.equal(x.hi, 0))
    around = V.logical_and(V.less(y.lo, 0), V.greater(y.hi, 0))
    least = choose(nothing, 0.0, choose(around, -math.inf, least))
    most = choose(nothing, 0.0, choose(around, math.inf, most))
    none = V.logical_and(V.equal(y.lo, 0), V.equal(y.hi, 0))
    return unless_empty(Bounds(choose(none, math.nan, least), choose(none, math.nan, most)), x, y)


def reciprocal(x: Bounds) -> Bounds:
    one = dtype_of(x.lo).type(1) if dtype_of(x.lo).kind == "f" else 1.0
    return divide(Bounds(one, one), x)


def sqrt(x: Bounds) -> Bounds:
    some = V.greater_equal(x.hi, 0)
    low, high = root_towards(V.maximum(x.lo, 0), -1), root_towards(V.maximum(x.hi, 0), 1)
    return unless_empty(Bounds(choose(some, V.maximum(low, 0), math.nan), choose(some, high, math.nan)), x)


# -------------------------------------------------------------------------------------------------------------- powers


def power(x: Bounds, p: Bounds) -> Bounds:
    n = _number(p)
    if p.lo is p.hi and not isinstance(p.lo, Traced):
        p = _perhaps_rounded(p)
        n = _number(p)
    if n is None or isinstance(n, Traced):
        whole = p.lo is p.hi and p.lo.__class__ is np.ndarray
        if whole and np.all(p.lo == np.floor(p.lo)):
            return _elementwise_powers(x, p.lo)
        return _with_whole_powers(x, p, _general_power(x, p))
    if not math.isfinite(n):
        return _general_power(x, p)
    if n == math.floor(n):
        return unless_empty(_whole_power(x, int(n), p.lo), x)
    if abs(n) == 0.5:
        return sqrt(x) if n > 0 else reciprocal(sqrt(x))
    inside = Bounds(V.maximum(x.lo, 0), x.hi)
    some = V.greater_equal(x.hi, 0) if n > 0 else V.greater(x.hi, 0)
    y = _monotone_power(inside, p.lo, n > 0)
    return unless_empty(Bounds(choose(some, y.lo, math.nan), choose(some, y.hi, math.nan)), x)


def _perhaps_rounded(p: Bounds) -> Bounds:
    """Exponents that a rule may have made of others by taking away one: below −1/2 that is rounded, unless short."""
    e = np.asarray(p.lo)
    if e.dtype.kind != "f":
        return p
    long = (e < -0.5) & (e * 2.0**20 != np.floor(e * 2.0**20))
    if not np.any(long):
        return p
    low, high = np.nextafter(e, -np.inf), np.nextafter(e, np.inf)
    return Bounds(np.where(long, low, e)[()], np.where(long, high, e)[()])


def power_breaks(x: Bounds, p: Bounds) -> Any:
    """Where a power is not defined, or not continuous: at zero for negative exponents, below zero for fractions."""
    n = _number(p)
    if n is not None and math.isfinite(n) and n == math.floor(n):
        return contains_zero(x) if n < 0 else False
    if n is not None and n > 0:
        return V.less(x.lo, 0)
    return V.less_equal(x.lo, 0)


def _value(x: Any, p: Any, way: int) -> Any:
    y = value_towards(TABLE["power"], (x, p), way)
    return choose(V.logical_or(V.equal(x, 0), V.equal(x, 1)), V.power(x, p), y)


def _monotone_power(x: Bounds, p: Any, rises: bool) -> Bounds:
    """A power of what is not negative."""
    first, last = x if rises else (x.hi, x.lo)
    return Bounds(V.maximum(_value(first, p, -1), 0), _value(last, p, 1))


def _whole_power(x: Bounds, n: int, p: Any) -> Bounds:
    if is_exact_type(x) and n >= 0:
        return _extremes([V.power(b, p) for b in x]) if n % 2 else _extremes([V.power(b, p) for b in magnitudes(x)])
    p = float(p)  # of integers a negative power raises
    if n == 0:
        return Bounds(*[V.add(V.multiply(choose(V.isnan(b), b, 0.0), 0.0), 1.0) for b in x])
    if n == 1:
        return x
    if n == 2:
        return square(x)
    if n == -2:  # where squares are exact, and where they leave the range of numbers
        y, z = reciprocal(square(x)), _monotone_power(magnitudes(x), p, False)
        return Bounds(V.maximum(y.lo, z.lo), V.minimum(y.hi, z.hi))
    if n == -1:
        return reciprocal(x)
    if n % 2 == 0:
        y = _monotone_power(magnitudes(x), p, n > 0)
    elif n > 0:
        if n == 3:
            return _cube(x)
        return Bounds(_value(x.lo, p, -1), _value(x.hi, p, 1))
    else:
        low = choose(V.equal(x.hi, 0), -math.inf, _value(x.hi, p, -1))
        high = choose(V.equal(x.lo, 0), math.inf, _value(x.lo, p, 1))
        around = V.logical_and(V.less(x.lo, 0), V.greater(x.hi, 0))
        y = Bounds(choose(around, -math.inf, low), choose(around, math.inf, high))
    if n < 0:
        none = V.logical_and(V.equal(x.lo, 0), V.equal(x.hi, 0))
        y = Bounds(choose(none, math.nan, y.lo), choose(none, math.nan, y.hi))
    return y


def _cube(x: Bounds) -> Bounds:
    """x³, which keeps signs: of what is positive the square rounded down is multiplied, of what is negative up."""

    def cube(b: Any, way: int) -> Any:
        up = product_towards(product_towards(b, b, 1), b, way)
        down = product_towards(product_towards(b, b, -1), b, way)
        return (V.minimum if way < 0 else V.maximum)(up, down)

    return Bounds(cube(x.lo, -1), cube(x.hi, 1))


def is_exact_type(x: Bounds) -> bool:
    return dtype_of(x.lo).kind in "biu"


def _elementwise_powers(x: Bounds, p: np.ndarray) -> Bounds:
    """Whole exponents that differ from element to element."""
    found: Bounds | None = None
    for n in np.unique(p):
        y = _whole_power(x, int(n), n)
        if found is None:
            found = Bounds(*[V.add(b, V.multiply(0.0, p)) if b is not None else b for b in y])
        else:
            found = Bounds(V.where(p == n, y.lo, found.lo), V.where(p == n, y.hi, found.hi))
    return unless_empty(found or x, x)


def _with_whole_powers(x: Bounds, p: Bounds, y: Bounds) -> Bounds:
    """Bounds of powers, and of those that negative numbers have: with the whole exponents among them."""
    first, last = whole = Bounds(V.ceil(p.lo), V.floor(p.hi))
    sizes = _general_power(Bounds(V.maximum(V.subtract(0, x.hi), 0), V.negative(x.lo)), whole)  # (no −0)
    some = V.logical_and(V.less(x.lo, 0), V.less_equal(first, last))
    even = V.logical_and(some, V.greater_equal(V.multiply(V.floor(V.divide(last, 2)), 2), first))
    odd = V.logical_and(some, V.greater_equal(V.multiply(V.floor(V.divide(V.add(last, 1), 2)), 2), V.add(first, 1)))
    for mask, low, high in ((even, sizes.lo, sizes.hi), (odd, V.negative(sizes.hi), V.negative(sizes.lo))):
        none = V.isnan(y.lo)
        y = Bounds(choose(mask, choose(none, low, V.minimum(y.lo, low)), y.lo),
                   choose(mask, choose(none, high, V.maximum(y.hi, high)), y.hi))  # fmt: skip
    return unless_empty(y, x, p)


def _general_power(x: Bounds, p: Bounds) -> Bounds:
    """exp(p·log x), defined for x > 0, and for x = 0 where p > 0; 0⁰ is one, as it is for numbers."""
    base = Bounds(V.maximum(x.lo, 0), x.hi)
    corners = [(a, b) for a in base for b in p]
    low, high = _value(*corners[0], -1), _value(*corners[0], 1)
    for a, b in corners[1:]:
        low, high = V.minimum(low, _value(a, b, -1)), V.maximum(high, _value(a, b, 1))
    zero = V.equal(x.hi, 0)
    one = V.logical_and(zero, contains_zero(p))
    positive = V.logical_and(zero, V.greater(p.hi, 0))
    defined = V.logical_or(V.logical_or(V.greater(x.hi, 0), positive), one)
    low = choose(zero, choose(positive, 0.0, 1.0), V.maximum(low, 0))
    high = choose(zero, choose(one, 1.0, 0.0), high)
    # Zero to the power of what comes close to zero.
    low = choose(V.logical_and(V.less_equal(x.lo, 0), V.greater(p.hi, 0)), 0.0, low)
    return unless_empty(Bounds(choose(defined, low, math.nan), choose(defined, high, math.nan)), x, p)


# -------------------------------------------------------------------------------------------- functions of two numbers


def hypot(x: Bounds, y: Bounds) -> Bounds:
    (a, b), (c, d) = magnitudes(x), magnitudes(y)
    op = TABLE["hypot"]
    low, high = value_towards(op, (a, c), -1), value_towards(op, (b, d), 1)
    low = choose(V.equal(a, 0), c, choose(V.equal(c, 0), a, low))
    high = choose(V.equal(b, 0), d, choose(V.equal(d, 0), b, high))
    return unless_empty(Bounds(V.maximum(low, 0), high), x, y)


def exponent(x: Bounds) -> Bounds:
    """The exponent of two of the next power above |x|, which grows with it, but is zero at zero."""
    op, (least, most) = TABLE["exponent"], magnitudes(x)
    zero = V.equal(least, 0)
    low, high = op(least), op(most)
    return Bounds(choose(zero, V.minimum(_LEAST_EXPONENT, high), low), choose(zero, V.maximum(high, 0), high))


_LEAST_EXPONENT = -1073


def ldexp(x: Bounds, n: Bounds) -> Bounds:
    """x·2ⁿ, which is exact but for the largest and the smallest numbers."""
    low, high = _extremes([V.ldexp(b, k) for b in x for k in n])
    tiny = float(np.finfo(dtype_of(low)).tiny)

    def exact(y: Any) -> Any:
        return V.logical_and(V.greater_equal(V.absolute(y), tiny), V.less(V.absolute(y), math.inf))

    zero = V.logical_and(V.equal(x.lo, 0), V.equal(x.hi, 0))
    low = choose(V.logical_or(exact(low), zero), low, moved(low, -1))
    return unless_empty(Bounds(low, choose(V.logical_or(exact(high), zero), high, moved(high, 1))), x)


def crosses_cut(y: Bounds, x: Bounds) -> Any:
    """Whether angles of points in a rectangle jump: at the negative axis, or at the origin."""
    return V.logical_and(V.less_equal(x.lo, 0), contains_zero(y))


def arctan2(y: Bounds, x: Bounds) -> Bounds:
    op: Op = TABLE["arctan2"]
    y = Bounds(*[choose(V.equal(b, 0), 0.0, b) for b in y])
    x = Bounds(*[choose(V.equal(b, 0), 0.0, b) for b in x])
    found = []
    for a in y:
        for b in x:
            origin = V.logical_and(V.equal(a, 0), V.equal(b, 0))
            low, high = value_towards(op, (a, b), -1), value_towards(op, (a, b), 1)
            ahead = V.logical_and(V.equal(a, 0), V.greater(b, 0))
            low, high = choose(ahead, 0.0, low), choose(ahead, 0.0, high)
            found.append(Bounds(choose(origin, math.nan, low), choose(origin, math.nan, high)))
    least, most = hull(*found)
    # A corner at the origin: what is next to it along the sides is at the other corners.
    cut = V.logical_and(V.less(x.lo, 0), V.logical_and(V.less(y.lo, 0), V.greater_equal(y.hi, 0)))
    whole = constant(np.float64(math.pi))
    top = math.nextafter(float(whole.hi), math.inf)
    least, most = choose(cut, -top, V.maximum(least, -top)), choose(cut, top, V.minimum(most, top))
    none = V.logical_and(V.logical_and(V.equal(x.lo, 0), V.equal(x.hi, 0)),
                         V.logical_and(V.equal(y.lo, 0), V.equal(y.hi, 0)))  # fmt: skip
    return unless_empty(Bounds(choose(none, math.nan, least), choose(none, math.nan, most)), x, y)


def rounded(x: Any, decimals: int) -> Any:
    """Rounded to so many decimals, or to tens, hundreds, … if that is negative."""
    scale = 10.0 ** abs(decimals)
    if decimals == 0:
        return V.rint(x)
    if decimals > 0:
        return V.divide(V.rint(V.multiply(x, scale)), scale)
    return V.multiply(V.rint(V.divide(x, scale)), scale)
