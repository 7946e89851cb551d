"""pow of vectors: 2 to the power of y·log₂x, with log₂x in two numbers of working precision.

The logarithm is the series of Artanh in s = f/(2 + f), where x = 2ᵏ·(1 + f). What is left out of it, relative to the
whole, is about 2⁻⁶⁶: the product with y may be as large as 1075, and its error is that of the result, relatively. So
the first two terms, s and s³/3, are computed twice as precisely as the others. This needs products that are rounded
once (`has_fused`).

Errors, measured against higher precision, are below 1.3 units in the last place, and below 1.7 where x is within a few
hundredths of a power of two times the root of two, where f is largest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from llvmlite import ir

from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.scalars.vector_math import EXP_DOUBLE, EXP_SINGLE, parts_of, scaled_by
from wengert.backend.llvm.scalars.vectors import Vectors, word


class _Numbers(NamedTuple):
    """What is known of a precision."""

    series: tuple[float, ...]
    """(Artanh(s)/s − 1 − z/3)/z², z = s² up to 0.0295."""
    third: tuple[float, float]
    """1/3, and what is missing."""
    scale: tuple[float, float]
    """2/log 2, and what is missing."""
    exp: tuple[float, ...]
    """q in 2ʳ = 1 + r·(log 2 + r·q(r)), |r| ≤ ½."""
    far: float
    """2 to this power overflows, and to minus this power is zero."""
    magic: float
    """A number plus this is rounded to an integer."""


def _to_base_two(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    return tuple([c * math.log(2.0) ** (k + 2) for k, c in enumerate(coefficients)])


_DOUBLE = _Numbers(
    (
        *(0.2, 0.14285714285714682, 0.11111111110828116, 0.0909090916765724),
        *(0.07692297485443542, 0.06667402119340458, 0.05853124264360821, 0.0586152557784635),
    ),
    (0.3333333333333333, 1.850371707708594e-17),
    (2.8853900817779268, 4.0710547481862066e-17),
    _to_base_two(EXP_DOUBLE),
    1100.0,
    1.5 * 2.0**52,
)
_SINGLE = _Numbers(
    (0.19999999952485606, 0.14285765895394661, 0.11102382831221981, 0.09560178836134682),
    (0.3333333432674408, -9.934107758624577e-09),
    (2.885390043258667, 3.851926067000022e-08),
    _to_base_two(EXP_SINGLE),
    200.0,
    1.5 * 2.0**23,
)


def power(v: Vectors, x: ir.Value, y: ir.Value) -> ir.Value:
    """Where all bases are positive and normal and all results in reach, there are no special cases to look for."""
    b, numbers = v.b, _DOUBLE if v.double else _SINGLE
    ordinary, ready, unusual, after = [b.append_basic_block(name) for name in ("ordinary", "ready", "unusual", "after")]
    least = word(2.0 ** (-1022 if v.double else -126), v.double)
    above = b.sub(b.bitcast(x, v.bits), v.integer(least))
    normal = b.icmp_unsigned("<", above, v.integer(word(math.inf, v.double) - least))
    b.cbranch(v.all(normal), ordinary, unusual).set_weights(_RARELY)
    b.position_at_end(ordinary)
    high, low = _logarithm(v, *parts_of(v, x, normal=True), numbers)
    exponent = b.fmul(y, high)
    b.cbranch(v.all(v.less(v.absolute(exponent), numbers.far)), ready, unusual).set_weights(_RARELY)
    b.position_at_end(ready)
    rest = v.fused(y, low, v.exactly_fused(y, high, b.fneg(exponent)))
    quick = _two_to(v, exponent, rest, numbers)
    b.branch(after)
    b.position_at_end(unusual)
    slow = b.call(_with_special_cases(v), [x, y])
    b.branch(after)
    b.position_at_end(after)
    result = b.phi(v.type)
    result.add_incoming(quick, ready)
    result.add_incoming(slow, unusual)
    return result


_RARELY = [1000, 1]


def _with_special_cases(v: Vectors) -> ir.Function:
    """The function that knows all cases, in the module."""
    name = f"wg_power_{v.type.count}_{'d' if v.double else 's'}"
    function = v.module.globals.get(name)
    if function is None:
        function = internal_function(v.module, name, v.type, [v.type, v.type], "noinline")
        own = Vectors(v.module, function)
        own.b.ret(_every_power(own, *function.args))
    return function


def _every_power(v: Vectors, x: ir.Value, y: ir.Value) -> ir.Value:
    b = v.b
    size = v.absolute(x)
    result = _of_positive(v, size, y, _DOUBLE if v.double else _SINGLE)
    # Signs. A y without a fraction is odd if half of it has one; large ones have none, and are even.
    whole = b.fcmp_ordered("==", v.truncated(y), y)
    half = b.fmul(y, v.number(0.5))
    odd = b.and_(whole, b.fcmp_ordered("!=", v.truncated(half), half))
    result = b.select(odd, v.copysign(result, x), result)
    below = b.and_(v.less(x, 0.0), v.greater(x, -math.inf))
    result = b.select(b.and_(below, b.not_(whole)), v.number(math.nan), result)
    # ±1 to the power of ±∞ is 1; so is anything, also NaN, to the power of 0, and 1 to the power of anything.
    at_one = b.and_(b.fcmp_ordered("==", size, v.number(1.0)), b.fcmp_ordered("==", v.absolute(y), v.number(math.inf)))
    result = b.select(b.fcmp_unordered("uno", x, y), b.fadd(x, y), result)
    one = b.or_(b.fcmp_ordered("==", x, v.number(1.0)), b.fcmp_ordered("==", y, v.number(0.0)))
    return b.select(b.or_(one, at_one), v.number(1.0), result)


def _of_positive(v: Vectors, x: ir.Value, y: ir.Value, numbers: _Numbers) -> ir.Value:
    b, far = v.b, numbers.far
    high, low = _logarithm(v, *parts_of(v, x), numbers)
    at_zero, at_infinity = b.fcmp_ordered("==", x, v.number(0.0)), b.fcmp_ordered("==", x, v.number(math.inf))
    high = b.select(at_zero, v.number(-math.inf), b.select(at_infinity, v.number(math.inf), high))
    exponent = b.fmul(y, high)
    rest = v.fused(y, low, v.exactly_fused(y, high, b.fneg(exponent)))
    rest = b.select(v.less(v.absolute(exponent), far), rest, v.number(0.0))
    exponent = b.select(v.greater(exponent, far), v.number(far), exponent)
    exponent = b.select(v.less(exponent, -far), v.number(-far), exponent)
    return _two_to(v, exponent, rest, numbers)


def _two_to(v: Vectors, exponent: ir.Value, rest: ir.Value, numbers: _Numbers) -> ir.Value:
    """2 to the power of a sum."""
    b = v.b
    shifted = b.fadd(b.fadd(exponent, rest), v.number(numbers.magic))
    k = b.fsub(shifted, v.number(numbers.magic))
    r = b.fadd(b.fsub(exponent, k), rest)
    slope = v.fused(r, v.polynomial(r, numbers.exp), math.log(2.0))
    return scaled_by(v, v.fused(r, slope, v.number(1.0)), k, shifted)


def _logarithm(v: Vectors, f: ir.Value, k: ir.Value, numbers: _Numbers) -> tuple[ir.Value, ir.Value]:
    """log₂x, of x = 2ᵏ·(1 + f), as a sum of two numbers. The second is small: it comes later, and is needed later."""
    b = v.b
    # s = f/(2 + f), and what it misses.
    below = b.fadd(f, v.number(2.0))
    below_rest = b.fsub(f, b.fsub(below, v.number(2.0)))
    inverse = b.fdiv(v.number(1.0), below)
    s = b.fmul(f, inverse)
    missing = v.exactly_fused(b.fneg(s), below, f)
    s_rest = b.fmul(v.fused(b.fneg(s), below_rest, missing), inverse)
    # z = s²
    z = b.fmul(s, s)
    z_rest = v.fused(b.fadd(s, s), s_rest, v.exactly_fused(s, s, b.fneg(z)))
    # u = 2s/log 2; the logarithm is k + u + u·z/3 + u·z²·(1/5 + z/7 + …), of which the last needs no care.
    scale, scale_rest = map(v.number, numbers.scale)
    u = b.fmul(s, scale)
    u_rest = v.fused(s_rest, scale, v.fused(s, scale_rest, v.exactly_fused(s, scale, b.fneg(u))))
    third, third_rest = map(v.number, numbers.third)
    c = b.fmul(z, third)
    c_rest = v.fused(z_rest, third, v.fused(z, third_rest, v.exactly_fused(z, third, b.fneg(c))))
    c_rest = v.fused(b.fmul(z, z), v.polynomial(z, numbers.series), c_rest)
    more = b.fmul(u, c)
    more_rest = v.fused(u, c_rest, v.fused(u_rest, c, v.exactly_fused(u, c, b.fneg(more))))
    first = b.fadd(k, u)
    first_rest = b.fsub(u, b.fsub(first, k))
    second = b.fadd(first, more)
    second_rest = b.fsub(more, b.fsub(second, first))
    return second, b.fadd(b.fadd(b.fadd(first_rest, second_rest), u_rest), more_rest)
