"""Values of elementary functions where those of libm are not close enough for a tight enclosure.

Their errors have been searched for (Innocente and Zimmermann, "Accuracy of Mathematical Functions in Single, Double, …
Precision"): glibc's cbrt errs by up to 3.67 units in the last place, acosh by 2.25 between 1 and 2. (So does tanh, by
2.21, where NumPy does not compute it itself; everything else by less than 2.) A correction from a residual that is
known to twice the digits (Dekker 1971) leaves an error of one rounding, or of that and log1p's. Nothing here may be
reassociated, or contracted.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.ops.rounding import V, choose, evaluated

_SPLITTER = 134217729.0  # 2²⁷ + 1, Veltkamp's


def _halves(x: Any) -> tuple[Any, Any]:
    """A number as the sum of two with half the digits."""
    c = V.multiply(x, _SPLITTER)
    high = V.subtract(c, V.subtract(c, x))
    return high, V.subtract(x, high)


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """a · b as a rounded product and its error, where nothing over- or underflows."""
    p = V.multiply(a, b)
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    rest = V.subtract(V.multiply(a1, b1), p)
    rest = V.add(V.add(rest, V.multiply(a1, b2)), V.multiply(a2, b1))
    return p, V.add(rest, V.multiply(a2, b2))


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a rounded sum and its error (Knuth's TwoSum)."""
    s = V.add(a, b)
    t = V.subtract(s, a)
    return s, V.add(V.subtract(a, V.subtract(s, t)), V.subtract(b, t))


_FAR, _SCALE, _ROOT = 1e200, 2.0**600, 2.0**200


def cbrt(x: Any) -> Any:
    """∛x: one step of Newton's method from libm's value, y − (y³ − x) / 3y². Errs by little more than a rounding."""
    size = V.absolute(x)
    small, large = V.less(size, 1 / _FAR), V.greater(size, _FAR)
    scaled = V.multiply(x, choose(small, _SCALE, choose(large, 1 / _SCALE, 1.0)))  # exact
    ends = V.logical_or(V.equal(x, 0), V.equal(size, math.inf))
    scaled = choose(ends, 1.0, scaled)
    y = evaluated(V.cbrt, scaled)
    square, lost = _product(y, y)
    cube, more = _product(square, y)
    residual = V.add(V.subtract(cube, scaled), V.add(more, V.multiply(lost, y)))
    y = V.subtract(y, V.divide(residual, V.multiply(square, 3.0)))
    y = V.multiply(y, choose(small, 1 / _ROOT, choose(large, _ROOT, 1.0)))  # exact
    return choose(ends, x, y)


def arccosh(x: Any) -> Any:
    """acosh x; below 2 as log1p(u), u = t + √(t·(t + 2)), t = x − 1, with u to twice the digits."""
    t = V.subtract(V.minimum(x, 2.0), 1.0)  # exact
    s, s_rest = _sum(2.0, t)
    p, p_rest = _product(t, s)
    p_rest = V.add(p_rest, V.multiply(t, s_rest))
    r = V.sqrt(p)
    square, square_rest = _product(r, r)
    residual = V.add(V.subtract(V.subtract(p, square), square_rest), p_rest)
    u, u_rest = _sum(t, r)
    u_rest = V.add(u_rest, V.divide(residual, V.maximum(V.multiply(r, 2.0), 1e-300)))
    near = V.add(evaluated(V.log1p, u), V.divide(u_rest, V.add(u, 1.0)))
    return choose(V.less(x, 2.0), near, evaluated(V.arccosh, x))
