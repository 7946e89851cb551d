"""exp, log and tanh of vectors: what the loop vectoriser calls in place of the scalar functions.

They are functions of the module itself, so they are there on every platform. Beside libmvec's, exp and tanh are faster
in double precision and log is about equal; in single precision log is slower but more accurate (libmvec's has errors of
3.9 units in the last place), and tanh is slower, so libmvec's is taken where there is one. In code that stays scalar
the C library's functions are called.

Errors, measured against higher precision, are below 1.5 units in the last place. Methods: exp by reduction modulo log 2
and a polynomial; log as in fdlibm (Sun Microsystems, 1993), log(1 + f) with s = f/(2 + f); tanh as in Cephes (Moshier),
a rational function for |x| < 0.625, otherwise from exp.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from wengert.backend.llvm.buffer import F64


class _Vectors:
    """Arithmetic of vectors of one length, for one function being written."""

    def __init__(self, module: ir.Module, function: ir.Function):
        self.module = module
        self.type: ir.VectorType = function.ftype.return_type
        self.double = self.type.element == F64
        self.bits = ir.VectorType(ir.IntType(64 if self.double else 32), self.type.count)
        self.b = ir.IRBuilder(function.append_basic_block("entry"))

    def number(self, value: float) -> ir.Value:
        return ir.Constant(self.type, [value] * self.type.count)

    def integer(self, value: int) -> ir.Value:
        return ir.Constant(self.bits, [value] * self.type.count)

    def fused(self, x: ir.Value, y: ir.Value, z: ir.Value | float) -> ir.Value:
        """x·y + z, in one rounding where the processor can."""
        z = z if isinstance(z, ir.Value) else self.number(z)
        return self._intrinsic("fmuladd", x, y, z)

    def absolute(self, x: ir.Value) -> ir.Value:
        return self._intrinsic("fabs", x)

    def copysign(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self._intrinsic("copysign", x, y)

    def _intrinsic(self, name: str, *values: ir.Value) -> ir.Value:
        full = f"llvm.{name}.v{self.type.count}f{64 if self.double else 32}"
        known = self.module.globals.get(full)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(self.type, [self.type] * len(values)), full)
        return self.b.call(known, list(values))

    @property
    def scales(self) -> bool:
        """Whether there is one instruction for y·2ᵏ, rounded once: AVX-512 has it."""
        full = 8 * self.type.count * (8 if self.double else 4) == 512
        return full and bool(llvm.get_host_cpu_features().get("avx512f"))

    def scaled(self, y: ir.Value, k: ir.Value) -> ir.Value:
        name = f"llvm.x86.avx512.mask.scalef.p{'d' if self.double else 's'}.512"
        mask, mode = ir.IntType(self.type.count), ir.IntType(32)
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(self.type, [self.type] * 3 + [mask, mode]), name)
        return self.b.call(known, [y, k, y, mask(-1), mode(4)])

    def less(self, x: ir.Value, bound: float) -> ir.Value:
        return self.b.fcmp_ordered("<", x, self.number(bound))

    def greater(self, x: ir.Value, bound: float) -> ir.Value:
        return self.b.fcmp_ordered(">", x, self.number(bound))

    def polynomial(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """Σ cₖ·xᵏ by Estrin's scheme, whose steps do not wait for each other."""
        terms: list[Any] = [self.number(c) for c in coefficients]
        power = x
        while len(terms) > 1:
            pairs = [
                self.fused(terms[k + 1], power, terms[k]) if k + 1 < len(terms) else terms[k]
                for k in range(0, len(terms), 2)
            ]
            terms = pairs
            if len(terms) > 1:
                power = self.b.fmul(power, power)
        return terms[0]


# -------------------------------------------------------------------------------------------------------------- exp


_EXP_DOUBLE = (
    *(0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062),
    *(0.0013888888917213717, 0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06),
    *(2.7620088445409746e-07, 2.510038549551032e-08),
)
_EXP_SINGLE = (0.5, 0.16666576989698775, 0.041666554617204574, 0.008363179052722578, 0.0013926183587713494)
"""q in exp(r) = 1 + (r + r²·q(r)), near the best polynomial for |r| ≤ ½·log 2; errors 1.3e-17 and 7.8e-9."""


def _exp(v: _Vectors, x: ir.Value) -> ir.Value:
    """2ᵏ·exp(r). The sum with 1.5·2⁵² rounds to the integer k and has it in its last bits."""
    b = v.b
    low, high = (-750.0, 711.0) if v.double else (-105.0, 90.0)
    x = b.select(v.greater(x, high), v.number(high), x)  # NaN stays
    x = b.select(v.less(x, low), v.number(low), x)
    digits, bias = (52, 1023) if v.double else (23, 127)
    magic = 1.5 * 2.0**digits
    shifted = v.fused(x, v.number(math.log2(math.e)), magic)
    k = b.fsub(shifted, v.number(magic))
    head, tail = (6.93147180369123816490e-01, 1.90821492927058770002e-10) if v.double else (0.693359375, -2.12194440e-4)
    r = v.fused(k, v.number(-tail), v.fused(k, v.number(-head), x))
    q = v.polynomial(r, _EXP_DOUBLE if v.double else _EXP_SINGLE)
    y = b.fadd(v.number(1.0), v.fused(b.fmul(r, r), q, r))  # the one last: so it is rounded once
    if v.scales:
        return v.scaled(y, k)
    # In two steps, since 2ᵏ itself may be out of range where the result is not.
    whole = b.sub(b.bitcast(shifted, v.bits), v.integer(_word(magic, v.double) - 4 * (bias + 1)))
    first = b.sub(b.lshr(whole, v.integer(1)), v.integer(2 * (bias + 1)))
    second = b.sub(b.sub(whole, v.integer(4 * (bias + 1))), first)
    for part in (first, second):
        y = b.fmul(y, b.bitcast(b.shl(b.add(part, v.integer(bias)), v.integer(digits)), v.type))
    return y


def _word(value: float, double: bool) -> int:
    """The bits of a number, as an integer."""
    return int.from_bytes(struct.pack("<d" if double else "<f", value), "little")


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


def _log(v: _Vectors, x: ir.Value) -> ir.Value:
    """x = 2ᵏ·(1 + f) with 1 + f between √½ and √2."""
    b = v.b
    digits, bias = (52, 1023) if v.double else (23, 127)
    least, lift = (2.0**-1022, 54) if v.double else (2.0**-126, 25)
    tiny = v.less(x, least)
    lifted = b.select(tiny, b.fmul(x, v.number(2.0**lift)), x)
    one, root = _word(1.0, v.double), 0x3FE6A09E667F3BCD if v.double else 0x3F3504F3
    word = b.add(b.bitcast(lifted, v.bits), v.integer(one - root))
    exponent = b.lshr(word, v.integer(digits))
    near_one = b.add(b.and_(word, v.integer((1 << digits) - 1)), v.integer(root))
    f = b.fsub(b.bitcast(near_one, v.type), v.number(1.0))
    # An integer below 2⁵² in the last bits of 2⁵².
    large = 2.0**digits
    k = b.fsub(b.bitcast(b.or_(exponent, v.integer(_word(large, v.double))), v.type), v.number(large + bias))
    k = b.select(tiny, b.fsub(k, v.number(float(lift))), k)
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


# ------------------------------------------------------------------------------------------------------------- tanh

_TANH_P = (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1)
_TANH_Q = (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0)
_TANH_SINGLE = (-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)


def _tanh(v: _Vectors, x: ir.Value) -> ir.Value:
    b = v.b
    size = v.absolute(x)
    z = b.fmul(x, x)
    if v.double:
        ratio = b.fdiv(v.polynomial(z, _TANH_P), v.polynomial(z, _TANH_Q))
    else:
        ratio = v.polynomial(z, _TANH_SINGLE)
    near = v.fused(b.fmul(x, z), ratio, x)
    twice = b.fadd(size, size)
    far = b.fsub(v.number(1.0), b.fdiv(v.number(2.0), b.fadd(_exp(v, twice), v.number(1.0))))
    return v.copysign(b.select(v.less(size, 0.625), near, far), x)  # also at −0


FUNCTIONS: dict[str, Callable[[_Vectors, ir.Value], ir.Value]] = {
    "exp": _exp,
    "log": _log,
    "tanh": _tanh,
    "expf": _exp,
    "logf": _log,
    "tanhf": _tanh,
}
"""By the name of the C library's function."""


def vector_function(module: ir.Module, name: str, lanes: int) -> ir.Function:
    """The function for vectors of so many lanes, written into the module if it is not there yet."""
    symbol = f"wg_{name}_{lanes}"
    function = module.globals.get(symbol)
    if function is None:
        type = ir.VectorType(ir.FloatType() if name.endswith("f") else F64, lanes)
        function = ir.Function(module, ir.FunctionType(type, [type]), symbol)
        function.linkage = "internal"
        function.attributes.add("alwaysinline")  # steps of several vectors then go on at the same time
        v = _Vectors(module, function)
        v.b.ret(FUNCTIONS[name](v, function.args[0]))
    return function
