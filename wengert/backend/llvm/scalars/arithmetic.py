"""Rules for arithmetic of real floating-point numbers, signs, rounding, and choices between numbers.

What NumPy computes, element by element, including NaN, infinities and signed zeros. Rules of several steps are written
in NumPy's own words, which are instructions here (see `lane.py`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import F32
from wengert.backend.llvm.scalars.external import math_call
from wengert.backend.llvm.scalars.lane import Lane, Unsupported, function, rule, select
from wengert.backend.llvm.scalars.values import BOOL, constant, known_number


def intrinsic(name: str, *lanes: Lane) -> Lane:
    """An LLVM intrinsic that is exact, such as `llvm.sqrt`."""
    x = lanes[0]
    type = x.value.type
    known = x.cx.module.declare_intrinsic(name, [type], ir.FunctionType(type, [type] * len(lanes)))
    return x.like(x.b.call(known, [v.value for v in lanes]))


# --------------------------------------------------------------------------------------------------- one instruction

rule(np.add)(lambda x, y: x.like(x.b.fadd(x.value, y.value)))
rule(np.subtract)(lambda x, y: x.like(x.b.fsub(x.value, y.value)))
rule(np.multiply)(lambda x, y: x.like(x.b.fmul(x.value, y.value)))
rule(np.divide)(lambda x, y: x.like(x.b.fdiv(x.value, y.value)))
rule(np.negative)(lambda x: x.like(x.b.fneg(x.value)))
rule(np.positive, "ifc")(lambda x: x)
rule(np.conjugate, "if")(lambda x: x)
rule(np.sqrt)(lambda x: intrinsic("llvm.sqrt", x))
rule(np.fabs)(lambda x: intrinsic("llvm.fabs", x))
rule(np.absolute)(lambda x: intrinsic("llvm.fabs", x))
rule(np.floor)(lambda x: intrinsic("llvm.floor", x))
rule(np.ceil)(lambda x: intrinsic("llvm.ceil", x))
rule(np.trunc)(lambda x: intrinsic("llvm.trunc", x))
rule(np.rint)(lambda x: intrinsic("llvm.rint", x))
rule(np.copysign)(lambda x, y: intrinsic("llvm.copysign", x, y))
rule(np.reciprocal)(lambda x: 1 / x)
rule(np.square)(lambda x: x * x)
_ufunc: np.ufunc
for _ufunc in (np.floor, np.ceil, np.trunc):
    rule(_ufunc, "bi")(lambda x: x)

# ------------------------------------------------------------------------------------------------- signs and angles


@rule(np.nextafter)
def _nextafter(x: Lane, y: Lane) -> Any:
    """Floats in order are integers in order, those of negative ones backwards."""
    bits = ir.IntType(8 * x.dtype.itemsize)
    away = x.b.xor(x.b.fcmp_ordered("<", x.value, y.value), x.b.fcmp_ordered("<", x.value, x.value.type(0.0)))
    number = x.b.bitcast(x.value, bits)
    there = x.like(x.b.bitcast(x.b.select(away, x.b.add(number, bits(1)), x.b.sub(number, bits(1))), x.value.type))
    least = np.copysign(x.like(constant(float(np.finfo(x.dtype).smallest_subnormal), x.dtype)), y)
    found = select(x == y, y, select(x == x.like(constant(0, x.dtype)), least, there))
    return select(np.isnan(x), x, select(np.isnan(y), y, found))


@rule(np.signbit)
def _signbit(x: Lane) -> Lane:
    bits = ir.IntType(8 * x.dtype.itemsize)
    return x.like(x.b.icmp_signed("<", x.b.bitcast(x.value, bits), bits(0)), BOOL)


@rule(np.sign)
def _sign(x: Lane) -> Any:
    """NaN where x is, and +0 at both zeros."""
    return np.where(x > 0, 1, np.where(x < 0, -1, np.where(x == 0, 0, x)))


@rule(np.heaviside)
def _heaviside(x: Lane, at_zero: Lane) -> Any:
    return np.where(np.isnan(x), x, np.where(x == 0, at_zero, np.where(x < 0, 0, x.like(constant(1, x.dtype)))))


for _ufunc in (np.degrees, np.rad2deg):
    rule(_ufunc)(lambda x: x * (180.0 / math.pi))
for _ufunc in (np.radians, np.deg2rad):
    rule(_ufunc)(lambda x: x * (math.pi / 180.0))

# ---------------------------------------------------------------------------------------------- larger and smaller
#
# `maximum` and `minimum` choose NaN before any number, `fmax` and `fmin` any number before NaN; if equal, the first.


@rule(np.maximum, "fc")
def _maximum(x: Lane, y: Lane) -> Any:
    return select((x >= y) | np.isnan(x), x, y)


@rule(np.minimum, "fc")
def _minimum(x: Lane, y: Lane) -> Any:
    return select((x <= y) | np.isnan(x), x, y)


@rule(np.fmax, "fc")
def _fmax(x: Lane, y: Lane) -> Any:
    return select((x >= y) | np.isnan(y), x, y)


@rule(np.fmin, "fc")
def _fmin(x: Lane, y: Lane) -> Any:
    return select((x <= y) | np.isnan(y), x, y)


# ----------------------------------------------------------------------------------------------- division with rest


@rule(np.fmod)
def _fmod(x: Lane, y: Lane) -> Lane:
    return x.like(math_call(x.cx, "fmodf" if x.value.type == F32 else "fmod", x.value, y.value))


def _divmod(x: Lane, y: Lane) -> tuple[Any, Any]:
    """`npy_divmod`: the quotient that belongs to the remainder, both with the signs that Python gives them."""
    zero = x.like(constant(0, x.dtype))
    rest = np.fmod(x, y)
    quotient = (x - rest) / y
    other_side = ((y < 0) != (rest < 0)) & (rest != 0)
    quotient = select(other_side, quotient - 1, quotient)
    rest = select(rest == 0, np.copysign(zero, y), select(other_side, rest + y, rest))
    below = np.floor(quotient)
    whole = select(quotient - below > 0.5, below + 1, below)
    return select(quotient == 0, np.copysign(zero, x / y), whole), rest


@rule(np.floor_divide)
def _floor_divide(x: Lane, y: Lane) -> Any:
    return select(y == 0, x / y, _divmod(x, y)[0])


@rule(np.remainder)
def _remainder(x: Lane, y: Lane) -> Any:
    return select(y == 0, np.fmod(x, y), _divmod(x, y)[1])


# ---------------------------------------------------------------------------------------------------------- powers


@rule(np.power)
def _power(x: Lane, p: Lane) -> Any:
    """Small whole exponents that are known are products, which is as accurate and much faster."""
    known = known_number(p.value, p.dtype)
    if known == 1:
        return x
    if known in (2, 3, 4):
        square = x * x
        return {2: lambda: square, 3: lambda: square * x, 4: lambda: square * square}[int(known)]()
    return x.like(math_call(x.cx, "powf" if x.value.type == F32 else "pow", x.value, p.value))


# -------------------------------------------------------------------------------------------- functions that round


@function(np.round)
def _round(x: Lane, decimals: int = 0) -> Any:
    if x.dtype.kind in "biu":
        if decimals < 0 or x.dtype.kind == "b":
            raise Unsupported("rounding of integers to tens")
        return x
    if x.dtype.kind == "c":
        parts = (_round(x.real, decimals), _round(x.imag, decimals))
        return x.like(x.value._replace(re=parts[0].value, im=parts[1].value))
    if decimals == 0:
        return np.rint(x)
    scale = float(10.0 ** abs(decimals))
    return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


@function(np.nan_to_num)
def _nan_to_num(x: Lane, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if x.dtype.kind in "biu":
        return x
    if x.dtype.kind == "c":
        parts = [_nan_to_num(part, nan, posinf, neginf).value for part in (x.real, x.imag)]
        return x.like(x.value._replace(re=parts[0], im=parts[1]))
    limits = np.finfo(x.dtype)
    top = float(limits.max) if posinf is None else float(posinf)
    bottom = float(limits.min) if neginf is None else float(neginf)
    return np.where(np.isnan(x), float(nan), np.where(x == math.inf, top, np.where(x == -math.inf, bottom, x)))


@function(np.isclose)
def _isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    if isinstance(y, Lane):
        y = y if y.dtype.kind in "fc" else y.astype(np.result_type(y.dtype, 1.0))
    elif y.__class__ is int:
        y = float(y)
    return (abs(x - y) <= atol + rtol * abs(y)) & np.isfinite(y) | (x == y)


@function(np.sinc)
def _sinc(x: Lane) -> Any:
    y = math.pi * x
    y = np.where(y != 0, y, float(np.finfo(y.dtype).eps) if y.dtype.kind == "f" else 1e-20)
    return np.sin(y) / y
