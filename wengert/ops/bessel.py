"""Rows for Bessel functions: cylindrical, modified, scaled, spherical, Hankel and Airy functions.

Derivatives in the argument are differences or sums of neighbouring orders (DLMF 10.6.1, 10.29.1, 10.51.1), which hold
at zero as well. Derivatives in the order, for real arguments, stand in `orders.py`; Hankel functions and the unscaled I
and K are composed of what is there. The order of a spherical function is an integer: differentiating in it is an error.

The scaled functions exp(∓x)·I, exp(±x)·K vary slowly where the unscaled ones grow or decay: the sum of neighbouring
orders cancels against the function itself. Their n-th derivative is the op with parameter n, computed from its
asymptotic series where x is large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.errors import UnsupportedFunctionError
from wengert.ops.circles import RADII, WITHIN, on_circles
from wengert.ops.derive import Elementwise, elementwise
from wengert.ops.directed import curved, directed, one_way
from wengert.ops.elementwise import absolute, exp, greater, hypot, less, maximum, minimum, where
from wengert.ops.enclosures import Enclosure, decreasing, even, hull, increasing
from wengert.ops.op import Traced
from wengert.ops.orders import ive_rows, jv_by_order, kve_by_order, yv_by_order
from wengert.ops.rounding import Bounds
from wengert.ops.shape import astype
from wengert.ops.special import double, is_complex, no_rule, precision, rounded
from wengert.types import dtype_of

# ------------------------------------------------------------------------------------------------------ cylindrical


def _in_order(name: str, derivative: Any) -> Any:
    """The partial in the order: `derivative(v, x)`, for real arguments only."""
    refused = no_rule(name, "the order, for a complex argument,")
    return lambda y, v, x, **params: refused() if is_complex(x) else derivative(v, x, **params)


def _j_and_y(v: Any, x: Any, sign: int) -> Any:
    return jv_by_order(v, x, n=1) + sign * 1j * yv_by_order(v, x, n=1)


_BELOW_ZERO = -5e-324
"""Enclosures are known from zero on."""


def _modulus(v: Any, x: Any) -> Any:
    """A bound of |J| and |Y| of order ±v beyond x > 0: √(J² + Y²) decreases (Watson 1944, 13.74)."""
    v = np.abs(v)
    return 1.000001 * hypot(jv(v, x), yv(v, x))


def _bend(v: Any, x: Bounds) -> Any:
    """f″ = ¼·(f(v−2) − 2·f(v) + f(v+2)) for J and Y."""
    return 0.25 * (_modulus(v - 2, x.lo) + 2 * _modulus(v, x.lo) + _modulus(v + 2, x.lo))


def _integer(v: Any) -> bool:
    return not isinstance(v, Traced) and bool(np.all(np.equal(v, np.round(v))))


_OSCILLATES = curved(_bend, above=0.0, slack=1e-13)
_OF_INTEGER_ORDER = curved(lambda v, x: 0.5, range=lambda: (-1.0, 1.0), slack=1e-13)
"""Jₙ(x) is the mean of cos(nτ − x·sin τ)."""


def _jv_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    return (_OF_INTEGER_ORDER if _integer(args[0]) else _OSCILLATES)(mode, op, args, params)


_FLUSHED = 1e-150
"""What SciPy makes of smaller values of I, of small arguments, may be zero: I₁(10⁻²⁰⁰), for instance."""
_RISES = directed(-1, 1, above={0: _BELOW_ZERO, 1: _BELOW_ZERO}, range=(0.0, math.inf), slack=1e-11, tiny=_FLUSHED)


def _iv_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """Of an even order it is even, of an odd one it increases on the whole line."""
    v, x = args
    if _integer(v) and np.all(np.remainder(v, 2) == 0):
        return _RISES(mode, op, (np.abs(v), absolute(x)), params)
    if _integer(v) and np.all(np.remainder(v, 2) == 1):
        return _ON_THE_LINE(mode, op, (np.abs(v), x), params)
    return _RISES(mode, op, args, params)


_ON_THE_LINE = one_way(-math.inf, slack=1e-11, tiny=_FLUSHED)


def _neighbours(name: str, scale: float, sign: int, in_order: Callable, **stated: Any) -> Elementwise:
    """A row for y(v, x) with y' = scale·(y(v−1) + sign·y(v+1)); `in_order(v, x)` is its derivative in v."""

    def slope(y: Any, v: Any, x: Any) -> Any:
        below, above = op(v - 1, x), op(v + 1, x)
        return scale * (below - above if sign < 0 else below + above)

    op = elementwise(name, getattr(sc, name), (_in_order(name, in_order), slope), **stated)
    return op


def _scaled_hankel(name: str, sign: int) -> Elementwise:
    """A row for exp(∓ix)·(J ± iY)."""
    turn = 1j * sign

    def slope(y: Any, v: Any, x: Any) -> Any:
        return 0.5 * (op(v - 1, x) - op(v + 1, x)) - turn * y

    in_order = _in_order(name, lambda v, x: exp(-turn * x) * _j_and_y(v, x, sign))
    op = elementwise(name, getattr(sc, name), (in_order, slope))
    return op


_FALLS = directed(1, -1, above={0: _BELOW_ZERO, 1: 0.0}, range=(0.0, math.inf), slack=1e-11)

jv = _neighbours("jv", 0.5, -1, lambda v, x: jv_by_order(v, x, n=1), bounds=_jv_enclosed)
yv = _neighbours("yv", 0.5, -1, lambda v, x: yv_by_order(v, x, n=1), bounds=_OSCILLATES)
iv = _neighbours("iv", 0.5, 1, lambda v, x: exp(x) * ive_by_order(v, x, m=1, n=0), bounds=_iv_enclosed)
kv = _neighbours("kv", -0.5, 1, lambda v, x: exp(-x) * kve_by_order(v, x, m=1, n=0), bounds=_FALLS)
hankel1 = _neighbours("hankel1", 0.5, -1, lambda v, x: _j_and_y(v, x, 1))
hankel2 = _neighbours("hankel2", 0.5, -1, lambda v, x: _j_and_y(v, x, -1))
hankel1e = _scaled_hankel("hankel1e", 1)
hankel2e = _scaled_hankel("hankel2e", -1)

j0 = elementwise(
    "j0", sc.j0, (lambda y, x: -j1(x),), bounds=curved(lambda x: 0.5, range=lambda: (-0.4028, 1.0), slack=1e-14)
)
j1 = elementwise(
    "j1",
    sc.j1,
    (lambda y, x: 0.5 * (j0(x) - jv(2, x)),),
    bounds=curved(lambda x: 0.5, range=lambda: (-0.5819, 0.5819), slack=1e-14),
)
y0 = elementwise("y0", sc.y0, (lambda y, x: -y1(x),), bounds=curved(lambda x: _bend(0, x), above=0.0, slack=1e-13))
y1 = elementwise(
    "y1",
    sc.y1,
    (lambda y, x: 0.5 * (y0(x) - yv(2, x)),),
    bounds=curved(lambda x: _bend(1, x), above=0.0, slack=1e-13),
)
i0 = elementwise("i0", sc.i0, (lambda y, x: i1(x),), bounds=even(steps=64))
i1 = elementwise(
    "i1", sc.i1, (lambda y, x: 0.5 * (i0(x) + iv(2, x)),), bounds=increasing(exact=((0.0, 0.0),), steps=64)
)
_DECAYS: Any = decreasing(domain=(0.0, math.inf), open=True, range=(0.0, math.inf), steps=64, flushes=True)
k0 = elementwise("k0", sc.k0, (lambda y, x: -k1(x),), bounds=_DECAYS)
k1 = elementwise("k1", sc.k1, (lambda y, x: -0.5 * (k0(x) + kv(2, x)),), bounds=_DECAYS)

# ----------------------------------------------------------------------------------------------------------- scaled


def _asymptotic(v: Any, x: Any, n: int, sign: int) -> Any:
    """The n-th derivative of Σ signᵏ·aₖ(v)/x^(k+½), DLMF 10.40.1 and 10.40.2 without their constants."""
    term = (-1) ** n * math.prod([j + 0.5 for j in range(n)]) * x ** (-0.5 - n)
    total = term
    for k in range(1, 40):
        ratio = (4 * v * v - (2 * k - 1) ** 2) / (8 * k) * sign * (k + n - 0.5) / (k - 0.5)
        smaller = term * ratio / x
        term = np.where(np.abs(smaller) < np.abs(term), smaller, 0.0)
        total = total + term
        if np.all(np.abs(term) < 1e-18 * np.abs(total)):
            break
    return total


def _differences(f: Any, v: Any, x: Any, n: int, sign: int) -> Any:
    """(½·δ²)ⁿ in the order: since y′ = ±½·(y(v−1) − 2y(v) + y(v+1)) for a scaled function."""
    total = 0.0
    for j in range(2 * n + 1):
        total = total + (-1) ** j * math.comb(2 * n, j) * f(v - n + j, x)
    return (0.5 * sign) ** n * total


def _ive_around(v: Any, z: Any) -> Any:
    """exp(−z)·I, which is analytic: SciPy's has exp(−|x|)."""
    return sc.ive(v, z) * np.exp(np.abs(z.real) - z)


def _near(f: Any, f_real: Any, v: Any, x: Any, n: int, sign: int) -> Any:
    """By differences, of which (2x)ⁿ/n! tells how much they lose; where that is much, by circles on which the function
    is analytic: around x without zero, or, of I of an integer order, any."""
    y = np.array(_differences(f_real, v, x, n, sign))
    if n < 3 or x.__class__ is not np.ndarray:
        return y
    loses = (2 * np.maximum(x, 1)) ** n > 100.0 * math.factorial(n)
    entire = (v == np.round(v)) & (sign > 0) & (x < 3)
    for some in (loses & entire, loses & ~entire & (x > 0)):
        orders, there = v[some], x[some]
        radii = RADII[:, None] if np.any(entire & some) else WITHIN[:, None] * there
        y[some] = on_circles(lambda z, part: f(orders[part], z), there, n, radii)  # noqa: B023
    return y


def _far_or_near(series: Any, near: Any, v: Any, x: Any, n: int) -> Any:
    """The asymptotic series where x is large, what is near elsewhere; neither is computed for nothing."""
    far = x > 40 + 10 * n + v * v
    if not np.any(far):
        return near(v, x)
    if np.all(far):
        return series(v, x)
    return np.where(far, series(v, np.where(far, x, 1e3)), near(v, np.where(far, 1.0, x)))


def _ive(v: Any, x: Any, n: int) -> Any:
    if n == 0:
        return _SIMPLE[v](x) if v.__class__ is int and v in _SIMPLE and not is_complex(x) else sc.ive(v, x)
    if is_complex(x):
        return no_rule("ive", "a complex number (it is not analytic)")()
    dtype = precision(v, x)
    v, x = np.broadcast_arrays(double(v), double(x))
    r = np.abs(x)
    series = lambda v, x: _asymptotic(v, x, n, -1) / math.sqrt(2 * math.pi)
    y = _far_or_near(series, lambda v, x: _near(_ive_around, sc.ive, v, x, n, 1), v, r, n)
    # ive(−x) = (−1)^v·ive(x) for integers v. At zero exp(−|x|) has a kink: half way between the sides.
    odd = (np.remainder(v, 2) == 1) != bool(n % 2)
    mirrored = np.where(odd, -y, y)
    y = np.where(x > 0, y, np.where(x < 0, mirrored, 0.5 * (y + mirrored)))
    return rounded(y, dtype)


_SIMPLE = {0: sc.i0e, 1: sc.i1e}

ive_by_order = ive_rows(_ive)
"""The m-th derivative in v, m > 0, of the n-th in x."""
_FALLS_FROM_ONE = directed(-1, -1, above={0: _BELOW_ZERO, 1: _BELOW_ZERO}, range=(0.0, 1.0), slack=1e-11)
_RISES_AND_FALLS = curved(lambda v, x, n: 2.0, above=0.0, range=lambda n: (0.0, 1.0), slack=1e-12)
"""f″ is a sum of neighbouring orders, each between zero and one."""


def _ive_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    v, x = args
    known = _integer(v) and np.all(np.greater_equal(v, 0))
    if known and params["n"] == 1 and np.ndim(v) == 0:
        size, order = absolute(x), int(v)
        right = 0.5 * (ive(abs(order - 1), size, n=0) + ive(order + 1, size, n=0)) - ive(order, size, n=0)
        left = right if order % 2 else -right
        either = mode.enclosed(hull(mode.bounds(left), mode.bounds(right)))
        return where(greater(x, 0), right, where(less(x, 0), left, either))
    if params["n"] or not known:
        raise UnsupportedFunctionError(
            "no enclosure is known of ive but for integer orders, nor of its second derivative",
            remedy="write it as np.exp(-abs(x)) * scipy.special.iv(v, x)",
        )
    if not np.any(v):
        return _FALLS_FROM_ONE(mode, op, (v, absolute(x)), params)
    right = _RISES_AND_FALLS(mode, op, (v, absolute(x)), params)
    left = where(np.equal(np.remainder(v, 2), 1), -right, right)
    y = mode.bounds(where(greater(x, 0), right, left))
    z = mode.bounds(exp(-absolute(x)) * iv(v, x))
    return mode.enclosed(Bounds(maximum(y.lo, z.lo), minimum(y.hi, z.hi)))


ive = elementwise(
    "ive",
    _ive,
    (
        _in_order("ive", lambda v, x, n: ive_by_order(v, x, m=1, n=n)),
        lambda y, v, x, n: ive(v, x, n=n + 1),
    ),
    bounds=_ive_enclosed,
)


def _kve(v: Any, x: Any, n: int) -> Any:
    if n == 0:
        return _SIMPLE_K[v](x) if v.__class__ is int and v in _SIMPLE_K and not is_complex(x) else sc.kve(v, x)
    dtype = precision(v, x)
    if dtype.kind == "c":
        return _differences(sc.kve, v, x, n, -1)
    v, x = np.broadcast_arrays(double(v), double(x))
    series = lambda v, x: _asymptotic(v, x, n, 1) * math.sqrt(math.pi / 2)
    return rounded(_far_or_near(series, lambda v, x: _near(sc.kve, sc.kve, v, x, n, -1), v, x, n), dtype)


_SIMPLE_K = {0: sc.k0e, 1: sc.k1e}

kve = elementwise(
    "kve",
    _kve,
    (
        _in_order("kve", lambda v, x, n: kve_by_order(v, x, m=1, n=n)),
        lambda y, v, x, n: kve(v, x, n=n + 1),
    ),
    bounds=one_way(0.0, slack=1e-11),
)

# -------------------------------------------------------------------------------------------------------- spherical
#
# (2n + 1)·f′ = ±n·f(n−1) ∓ (n+1)·f(n+1). At n = 0 the first term is nothing, whatever its function would be.


def _below(n: Any) -> Any:
    return np.maximum(n, 1) - 1


def _above(n: Any) -> Any:
    return np.add(n, 1)


def _spherical(name: str, function: Any, lower: int, upper: int, bounds: Enclosure) -> Any:
    def slope(y: Any, n: Any, x: Any) -> Any:
        m = n if n.__class__ is int else astype(n, dtype=dtype_of(x))
        return (lower * m * op(_below(n), x) + upper * (m + 1) * op(_above(n), x)) / (2 * m + 1)

    op = elementwise(name, lambda n, x: function(n, x), (no_rule(name, "the order, an integer,"), slope), bounds=bounds)
    return op


def _spherical_bend(n: Any, x: Bounds) -> Any:
    """A slope is a weighted mean of two neighbours, so f″ is not larger than |f| of one of the orders up to n + 2:
    √(j² + y²) increases with the order, and decreases with x."""
    return 1.000001 * hypot(spherical_jn(n + 2, x.lo), spherical_yn(n + 2, x.lo))


def _spherical_in_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """Of an even order it is even, of an odd one it increases on the whole line."""
    n, x = args[0], args[1]
    odd = bool(np.all(np.remainder(mode.structure(op, n), 2)))
    return _ON_THE_LINE(mode, op, (n, x) if odd else (n, absolute(x)), params)


spherical_jn = _spherical(
    "spherical_jn", sc.spherical_jn, 1, -1, curved(lambda n, x: 1.0, range=lambda: (-1.0, 1.0), slack=1e-13)
)
spherical_yn = _spherical("spherical_yn", sc.spherical_yn, 1, -1, curved(_spherical_bend, above=0.0, slack=1e-13))
spherical_in = _spherical("spherical_in", sc.spherical_in, 1, 1, _spherical_in_enclosed)
spherical_kn = _spherical("spherical_kn", sc.spherical_kn, -1, -1, one_way(0.0, slack=1e-11))

# ------------------------------------------------------------------------------------------------------------- Airy

# Of the second derivatives x·f of Ai and Bi, and f + x·f′ of their slopes: below zero |f| and |f′|/(1 + |x|)^¼ are not
# larger than 0.62 and 0.7; above, Ai and its slope become smaller, Bi and its slope increase.


def _largest(x: Bounds) -> Any:
    return maximum(absolute(x.lo), absolute(x.hi))


def _bi_bend(x: Bounds) -> Any:
    high = maximum(x.hi, 0)
    return 0.62 * _largest(x) + high * airy_bi(high)


def _bip_bend(x: Bounds) -> Any:
    high = maximum(x.hi, 0)
    return 0.62 + 0.7 * _largest(x) * (1 + _largest(x)) + airy_bi(high) + high * airy_bip(high)


airy_ai = elementwise(
    "airy_ai",
    lambda x: sc.airy(x)[0],
    (lambda y, x: airy_aip(x),),
    bounds=curved(lambda x: 0.54 * _largest(x), slack=1e-13),
)
airy_aip = elementwise(
    "airy_aip",
    lambda x: sc.airy(x)[1],
    (lambda y, x: x * airy_ai(x),),
    bounds=curved(lambda x: 0.54 + 0.7 * _largest(x) * (1 + _largest(x)), slack=1e-13),
)
airy_bi = elementwise(
    "airy_bi", lambda x: sc.airy(x)[2], (lambda y, x: airy_bip(x),), bounds=curved(_bi_bend, slack=1e-12)
)
airy_bip = elementwise(
    "airy_bip", lambda x: sc.airy(x)[3], (lambda y, x: x * airy_bi(x),), bounds=curved(_bip_bend, slack=1e-12)
)
"""The Airy functions Ai and Bi and their derivatives, the four results of `scipy.special.airy`."""
