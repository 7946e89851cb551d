"""exp, log, tanh, sinh and erf of vectors: what the loop vectoriser calls in place of the scalar functions.

They are functions of the module itself, so they are there on every platform. Beside libmvec's, those in double
precision are faster, but for log, which is about equal; in single precision log is slower but more accurate (libmvec's
has errors of 3.9 units in the last place), and tanh is slower, so libmvec's is taken where there is one. In code that
stays scalar the C library's functions are called.

Errors, measured against higher precision, are below 1.5 units in the last place, of sinh below 2.5. Methods: exp by
reduction modulo log 2 and a polynomial; log as in fdlibm (Sun Microsystems, 1993), log(1 + f) with s = f/(2 + f); tanh
as in Cephes (Moshier), a rational function for |x| < 0.625, otherwise from exp; sinh from exp(x) − 1; erf by
polynomials, near zero for itself and otherwise for −log(1 − erf) (Juffa).
"""

from __future__ import annotations

import math

from llvmlite import ir

from wengert.backend.llvm.scalars.vectors import Vectors, word

# -------------------------------------------------------------------------------------------------------------- exp


EXP_DOUBLE = (
    *(0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062),
    *(0.0013888888917213717, 0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06),
    *(2.7620088445409746e-07, 2.510038549551032e-08),
)
EXP_SINGLE = (0.5, 0.16666576989698775, 0.041666554617204574, 0.008363179052722578, 0.0013926183587713494)
"""q in exp(r) = 1 + (r + r²·q(r)), near the best polynomial for |r| ≤ ½·log 2; errors 1.3e-17 and 7.8e-9."""


def exp(v: Vectors, x: ir.Value) -> ir.Value:
    """2ᵏ·exp(r)."""
    b = v.b
    low, high = (-750.0, 711.0) if v.double else (-105.0, 90.0)
    x = b.select(v.greater(x, high), v.number(high), x)  # NaN stays
    x = b.select(v.less(x, low), v.number(low), x)
    r, k, shifted = reduced(v, x)
    return scaled_by(v, b.fadd(v.number(1.0), exp_minus_one(v, r)), k, shifted)  # the one last: it is rounded once


def reduced(v: Vectors, x: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """r and k of x = r + k·log 2, and k as it was found: with 1.5·2⁵², a sum that rounds to an integer."""
    b = v.b
    magic = 1.5 * 2.0 ** (52 if v.double else 23)
    shifted = v.fused(x, v.number(math.log2(math.e)), magic)
    k = b.fsub(shifted, v.number(magic))
    head, tail = (6.93147180369123816490e-01, 1.90821492927058770002e-10) if v.double else (0.693359375, -2.12194440e-4)
    return v.fused(k, v.number(-tail), v.fused(k, v.number(-head), x)), k, shifted


def exp_minus_one(v: Vectors, r: ir.Value) -> ir.Value:
    """exp(r) − 1, for |r| ≤ ½·log 2."""
    return v.fused(v.b.fmul(r, r), v.polynomial(r, EXP_DOUBLE if v.double else EXP_SINGLE), r)


def scaled_by(v: Vectors, y: ir.Value, k: ir.Value, shifted: ir.Value) -> ir.Value:
    """2ᵏ·y, for y near 1. `shifted` is k with 1.5·2⁵² added, as it was found."""
    if v.scales:
        return v.scaled(y, k)
    first, second = two_powers(v, shifted)
    return v.b.fmul(v.b.fmul(y, first), second)


def two_powers(v: Vectors, shifted: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Two powers of two whose product is 2ᵏ: that itself may be out of range where a result is not."""
    b = v.b
    digits, bias = (52, 1023) if v.double else (23, 127)
    magic = 1.5 * 2.0**digits
    whole = b.sub(b.bitcast(shifted, v.bits), v.integer(word(magic, v.double) - 4 * (bias + 1)))
    first = b.sub(b.lshr(whole, v.integer(1)), v.integer(2 * (bias + 1)))
    second = b.sub(b.sub(whole, v.integer(4 * (bias + 1))), first)
    one, other = [b.shl(b.add(part, v.integer(bias)), v.integer(digits)) for part in (first, second)]
    return b.bitcast(one, v.type), b.bitcast(other, v.type)


# -------------------------------------------------------------------------------------------------------------- log

_LOG_DOUBLE = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_LOG_SINGLE = (0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841)


def parts_of(v: Vectors, x: ir.Value, normal: bool = False) -> tuple[ir.Value, ir.Value]:
    """f and k of x = 2ᵏ·(1 + f), for x > 0 that is finite, and maybe known to be normal; 1 + f is between √½ and √2."""
    b = v.b
    digits, bias = (52, 1023) if v.double else (23, 127)
    least, lift = (2.0**-1022, 54) if v.double else (2.0**-126, 25)
    tiny = v.less(x, least)
    lifted = x if normal else b.select(tiny, b.fmul(x, v.number(2.0**lift)), x)
    one, root = word(1.0, v.double), 0x3FE6A09E667F3BCD if v.double else 0x3F3504F3
    above = b.add(b.bitcast(lifted, v.bits), v.integer(one - root))
    exponent = b.lshr(above, v.integer(digits))
    near_one = b.add(b.and_(above, v.integer((1 << digits) - 1)), v.integer(root))
    f = b.fsub(b.bitcast(near_one, v.type), v.number(1.0))
    # An integer below 2⁵² in the last bits of 2⁵².
    large = 2.0**digits
    k = b.fsub(b.bitcast(b.or_(exponent, v.integer(word(large, v.double))), v.type), v.number(large + bias))
    return f, k if normal else b.select(tiny, b.fsub(k, v.number(float(lift))), k)


def log(v: Vectors, x: ir.Value) -> ir.Value:
    b = v.b
    f, k = parts_of(v, x)
    s = b.fdiv(f, b.fadd(f, v.number(2.0)))
    z = b.fmul(s, s)
    rest = b.fmul(z, v.polynomial(z, _LOG_DOUBLE if v.double else _LOG_SINGLE))
    half = b.fmul(b.fmul(v.number(0.5), f), f)
    head, tail = (
        (6.93147180369123816490e-01, 1.90821492927058770002e-10) if v.double else (6.9313812256e-01, 9.0580006145e-06)
    )
    small = v.fused(s, b.fadd(half, rest), b.fmul(k, v.number(tail)))
    y = v.fused(k, v.number(head), b.fsub(f, b.fsub(half, small)))
    inside = b.and_(v.greater(x, 0.0), v.less(x, math.inf))
    at_zero = b.fcmp_ordered("==", x, v.number(0.0))
    outside = b.select(at_zero, v.number(-math.inf), b.select(v.less(x, 0.0), v.number(math.nan), x))
    return b.select(inside, y, outside)


# ------------------------------------------------------------------------------------------------------- hyperbolic


def _powers_of_two(v: Vectors, shifted: ir.Value) -> ir.Value:
    """2ᵏ, for k from −1022 to 1023."""
    digits, bias = (52, 1023) if v.double else (23, 127)
    magic = word(1.5 * 2.0**digits, v.double)
    k = v.b.sub(v.b.bitcast(shifted, v.bits), v.integer(magic - bias))
    return v.b.bitcast(v.b.shl(k, v.integer(digits)), v.type)


_TANH_P = (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1)
_TANH_Q = (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0)
_TANH_SINGLE = (-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)


def tanh(v: Vectors, x: ir.Value) -> ir.Value:
    b = v.b
    size = v.absolute(x)
    z = b.fmul(x, x)
    if v.double:
        ratio = b.fdiv(v.polynomial(z, _TANH_P), v.polynomial(z, _TANH_Q))
    else:
        ratio = v.polynomial(z, _TANH_SINGLE)
    near = v.fused(b.fmul(x, z), ratio, x)
    twice = b.fadd(size, size)
    far = b.fsub(v.number(1.0), b.fdiv(v.number(2.0), b.fadd(exp(v, twice), v.number(1.0))))
    return v.copysign(b.select(v.less(size, 0.625), near, far), x)  # also at −0


def sinh(v: Vectors, x: ir.Value) -> ir.Value:
    """H + H/(2H + 1) with H = (exp|x| − 1)/2; for large |x| half of exp|x|."""
    b = v.b
    size = v.absolute(x)
    most, large = (711.0, 22.0) if v.double else (90.0, 10.0)
    size = b.select(v.greater(size, most), v.number(most), size)
    r, k, shifted = reduced(v, size)
    part = exp_minus_one(v, r)
    one_less = [b.fsub(each, v.number(1.0)) for each in (k, shifted)]
    far = scaled_by(v, b.fadd(v.number(1.0), part), *one_less)
    scale = _powers_of_two(v, one_less[1])
    half = v.fused(scale, part, b.fsub(scale, v.number(0.5)))
    near = b.fadd(half, b.fdiv(half, b.fadd(b.fadd(half, half), v.number(1.0))))
    near = b.select(v.less(size, 2.0**-28), size, near)  # of the least numbers halves are not exact
    return v.copysign(b.select(v.greater(size, large), far, near), x)


# ------------------------------------------------------------------------------------------------------------- erf

_ERF_NEAR = (1.28379121e-1, -3.76124859e-1, 1.12818025e-1, -2.67667342e-2, 4.99339588e-3, -5.99104969e-4)
_ERF_FAR = (1.28717512e-1, 6.34846687e-1, 1.06777847e-1, -2.42545605e-2, 3.88393435e-3, -3.83208680e-4, 1.72948930e-5)


def erf(v: Vectors, x: ir.Value) -> ir.Value:
    """In single precision. Beyond 4 it is one."""
    b = v.b
    size = v.absolute(x)
    near = v.fused(x, v.polynomial(b.fmul(x, x), _ERF_NEAR), x)
    size = b.select(v.greater(size, 4.0), v.number(4.0), size)
    far = b.fsub(v.number(1.0), exp(v, b.fneg(v.fused(size, v.polynomial(size, _ERF_FAR), size))))
    return b.select(v.greater(size, 0.921875), v.copysign(far, x), near)
