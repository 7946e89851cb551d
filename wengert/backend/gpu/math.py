"""Elementary functions in LLVM's own instructions, for devices that have no C library.

They are functions of the module, called by the names that `scalars/external.py` gives to libm's (`wg_exp`). log, sinh
and pow are those of vectors (`scalars/vector_math.py`), of one number; the others are written on lanes, so that they
read as formulas. What a function and its derivative have in common is computed once (`TWINS`).

What kernels wait for is how many instructions there are, most of all those of double precision. So exp, tanh, sin and
cos have a short way for usual arguments, and take another for those that are huge, infinite or NaN (`_usually`), and
quotients by one divisor share its inverse (`quotient`). Where a kernel asks once whether any number was unusual
(`Elements.know`), the short ways have no branch at all.

exp, tanh, sin, cos, log and sinh of single precision are computed in single precision, the others in double precision
and rounded.

Errors, measured against higher precision, are below 3 units in the last place, of the derivative of tanh
below 7. Polynomials are interpolations at
Chebyshev points, computed with sixty digits. sin, cos and tan subtract multiples of π/2: in three parts with fused
products (Cody and Waite 1980), and for |x| ≥ 2²⁹ by the bits of 2/π that matter (Payne and Hanek 1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import F32, F64, I64
from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.scalars import vector_math, vector_power
from wengert.backend.llvm.scalars.arithmetic import intrinsic
from wengert.backend.llvm.scalars.lane import Lane, lane_of, select
from wengert.backend.llvm.scalars.vectors import Vectors

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
I32 = ir.IntType(32)


class _Numbers(Vectors):
    """Arithmetic of single numbers, for functions that are written for vectors."""

    def __init__(self, module: ir.Module, b: ir.IRBuilder, kind: ir.Type):
        self.module, self.b, self.type = module, b, kind
        self.double = kind == F64
        self.bits = I64 if self.double else I32

    scales = False

    def number(self, value: float) -> ir.Value:
        return self.type(value)

    def integer(self, value: int) -> ir.Value:
        return self.bits(value)

    def polynomial(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """Σ cₖ·xᵏ by Horner's scheme: the least work, and while a thread waits others run."""
        y: ir.Value = self.number(coefficients[-1])
        for c in coefficients[-2::-1]:
            y = self.fused(y, x, c)
        return y

    def _intrinsic(self, name: str, *values: ir.Value) -> ir.Value:
        name = "fma" if name == "fmuladd" else name
        kind = ir.FunctionType(self.type, [self.type] * len(values))
        known = self.module.declare_intrinsic(f"llvm.{name}", [self.type], kind)
        return self.b.call(known, list(values))


_AS_VECTORS: dict[str, Callable] = {
    "log": vector_math.log,
    "sinh": vector_math.sinh,
    "pow": vector_power._every_power,
}
_IN_SINGLE = frozenset(("log", "sinh"))
"""Of these, those that compute in single precision as well."""


class _Body:
    """What rules of lanes need of a context."""

    def __init__(self, module: ir.Module, function: ir.Function):
        self.module, self.function = module, function
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.long_calls = 0
        self.addresses: dict[str, int] = {}
        self.doubts = None  # functions are right for all numbers, or written by themselves

    def device_math(self, name: str, *values: ir.Value) -> ir.Value | None:
        return math_call(self, name, *values)


def is_known(name: str, kind: ir.Type) -> bool:
    """Whether there is an elementary function of that name in C, of numbers of that type, here."""
    double = name.removesuffix("f") if kind == F32 else name
    return double in TWINS or double in _AS_VECTORS or double in LANES


def math_call(cx: Any, name: str, *values: ir.Value) -> ir.Value | None:
    """A call of an elementary function by its name in C, `None` if there is none here."""
    kind = values[0].type
    if not is_known(name, kind):
        return None
    b = cx.builder
    if kind == F32:
        name = name.removesuffix("f")
        if name not in TWINS and name not in _IN_SINGLE:
            y = math_call(cx, name, *[b.fpext(v, F64) for v in values])
            return b.fptrunc(y, F32)
    suffix, dtype = ("", DOUBLE) if kind == F64 else ("_single", SINGLE)
    if name in TWINS:
        return _twin(cx, *TWINS[name], values[0])
    symbol = f"wg_{name}{suffix}"
    function = cx.module.globals.get(symbol)
    if function is None:
        function = _internal(cx.module, symbol, kind, len(values), kind)
        body = _Body(cx.module, function)
        if name in _AS_VECTORS:
            v = _Numbers(cx.module, body.builder, kind)
            body.builder.ret(_AS_VECTORS[name](v, *function.args))
        else:
            y = LANES[name](*[Lane(body, a, dtype) for a in function.args])
            body.builder.ret(lane_of(body, y, dtype).value)
    return b.call(function, list(values))


def _internal(module: ir.Module, symbol: str, result: ir.Type, count: int = 1, kind: ir.Type = F64) -> ir.Function:
    """A function that depends on nothing but its arguments: of equal calls one is left."""
    return internal_function(module, symbol, result, [kind] * count, "nounwind", "willreturn", "memory(none)")


def _twin(cx: Any, twins: Twins, which: int, is_of_negative: bool, x: ir.Value) -> ir.Value:
    """One of functions that have most of their work in common. Where code is written that is right for usual numbers
    only, it has no branch, and a doubt about x instead."""
    b, kind = cx.builder, x.type
    dtype = DOUBLE if kind == F64 else SINGLE
    is_usual = cx.doubts is not None
    symbol = f"wg_{twins.name}{'' if kind == F64 else '_single'}{'_usually' if is_usual else ''}"
    function = cx.module.globals.get(symbol)
    if function is None:
        function = _internal(cx.module, symbol, ir.LiteralStructType([kind] * twins.number), 1, kind)
        body = _Body(cx.module, function)
        found = (twins.usual if is_usual else twins.every)(Lane(body, function.args[0], dtype))
        _return(body.builder, function, *[lane_of(body, y, dtype).value for y in found])
    if is_usual:
        size, most = _size(Lane(cx, x, dtype), twins.bounds[kind])
        cx.doubts.append(b.fcmp_unordered(">=", size, most))
    return b.extract_value(b.call(function, [b.fneg(x) if is_of_negative else x]), which)


# ------------------------------------------------------------------------------------------------- sines and cosines

_SIN = (
    -0.16666666666666666, 0.008333333333330948, -0.0001984126983675854, 2.7557316102534617e-06,
    -2.505113184128889e-08, 1.5918129027234826e-10,
)  # fmt: skip
_COS = (
    0.041666666666666664, -0.0013888888888887398, 2.4801587298765665e-05, -2.7557317271718644e-07,
    2.087614626607931e-09, -1.1382632258093615e-11,
)  # fmt: skip
_SIN_SINGLE = (-0.166666641831398, 0.008332724682986736, -0.00019582855748012662)
_COS_SINGLE = (0.0416666641831398, -0.0013888279208913445, 2.4542896426282823e-05)
"""sin r = r + r³·p(r²) and cos r = 1 − r²/2 + r⁴·q(r²), for |r| ≤ π/4; errors 2.1e-17 and 1.3e-18, in single precision
1.2e-8 and 7e-10."""
_HALF_PI = (1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32)
_HALF_PI_SINGLE = (1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15)
"""π/2 in three parts, none of them negative: what is subtracted from -0.0 leaves -0.0."""
_TWO_OVER_PI = (
    0, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0xF0CFBC209AF4361D,
    0xA9E391615EE61B08,
)  # fmt: skip
"""64 zeros, and the bits of 2/π."""
_LARGE, _LARGE_SINGLE = 2.0**29, 2.0**15
_MAGIC, _MAGIC_SINGLE = 1.5 * 2.0**52, 1.5 * 2.0**23
"""A sum with it is rounded to an integer, which stands in its last bits."""


def _fused(x: Any, y: Any, z: Any) -> Lane:
    cx = next(v.cx for v in (x, y, z) if isinstance(v, Lane))
    dtype = next(v.dtype for v in (x, y, z) if isinstance(v, Lane))
    return intrinsic("llvm.fma", *[lane_of(cx, v, dtype) for v in (x, y, z)])


def _polynomial(z: Lane, coefficients: tuple[float, ...]) -> Any:
    y: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = _fused(y, z, c)
    return y


def _usually(x: Lane, bound: float, usual: Callable[[], Sequence[Any]], other: Callable[[], Sequence[Any]]) -> list:
    """What one function computes if |x| < bound, and another one otherwise, also for NaN: a branch."""
    return _one_of_two(x, x.b.fcmp_ordered("<", *_size(x, bound)), usual, other)


def _size(x: Lane, bound: float) -> tuple[ir.Value, ir.Value]:
    """|x| and a bound, to compare."""
    return (_high_word(x), _as_high_word(bound)) if x.dtype == DOUBLE else (abs(x).value, F32(bound))


def _high_word(x: Lane) -> ir.Value:
    """The size of x to compare by: the high word, which as a number of single precision has the same order. That takes
    one instruction, and none of double precision."""
    b = x.b
    word = b.bitcast(b.trunc(b.lshr(b.bitcast(x.value, I64), I64(32)), I32), F32)
    return b.call(x.cx.module.declare_intrinsic("llvm.fabs", [F32]), [word])


def _as_high_word(bound: float) -> ir.Value:
    return F32(float(np.array([bound]).view(np.uint32)[1:].view(np.float32)[0]))


def _one_of_two(
    x: Lane, condition: ir.Value, one: Callable[[], Sequence[Any]], other: Callable[[], Sequence[Any]]
) -> list:
    """Numbers that are computed in one way or in another: a branch."""
    cx, b = x.cx, x.b
    blocks = [b.append_basic_block(name) for name in ("usual", "other", "both")]
    b.cbranch(condition, *blocks[:2])
    found = []
    for block, make in zip(blocks, (one, other), strict=False):
        b.position_at_end(block)
        found.append(([lane_of(cx, y, x.dtype).value for y in make()], b.block))
        b.branch(blocks[2])
    b.position_at_end(blocks[2])
    results = []
    for k in range(len(found[0][0])):
        phi = b.phi(x.value.type)
        for values, block in found:
            phi.add_incoming(values[k], block)
        results.append(x.like(phi))
    return results


def _reduced(x: Lane) -> tuple[Lane, ir.Value]:
    """r and k of x = r + k·π/2, of k only what it is modulo 4."""
    module = x.cx.module
    function = module.globals.get("wg_reduced") or _write_reduced(module)
    both = x.b.call(function, [x.value])
    return x.like(x.b.extract_value(both, 0)), x.b.extract_value(both, 1)


def _write_reduced(module: ir.Module) -> ir.Function:
    function = _internal(module, "wg_reduced", ir.LiteralStructType([F64, I64]))
    body = _Body(module, function)
    b = body.builder
    x = Lane(body, function.args[0], DOUBLE)
    small, large = [b.append_basic_block(name) for name in ("small", "large")]
    b.cbranch(b.fcmp_ordered("<", _high_word(x), _as_high_word(_LARGE)), small, large)
    b.position_at_end(small)
    r, k = _subtracted(x, _HALF_PI)
    _return(b, function, r.value, k)
    b.position_at_end(large)
    _return(b, function, *_reduced_by_bits(module, b, x))
    return function


def _subtracted(x: Lane, half_pi: Sequence[float]) -> tuple[Lane, ir.Value]:
    """r and k of x = r + k·π/2, for x that are not too large."""
    magic, bits = (_MAGIC, I64) if x.dtype == DOUBLE else (_MAGIC_SINGLE, I32)
    shifted = _fused(x, 2 / math.pi, magic)
    k, r = shifted - magic, x
    for part in half_pi:
        r = _fused(-k, part, r)
    return r, x.b.bitcast(shifted.value, bits)


def _return(b: ir.IRBuilder, function: ir.Function, *values: ir.Value) -> None:
    whole: ir.Value = ir.Constant(function.ftype.return_type, ir.Undefined)
    for k, value in enumerate(values):
        whole = b.insert_value(whole, value, k)
    b.ret(whole)


def _reduced_by_bits(module: ir.Module, b: ir.IRBuilder, x: Lane) -> tuple[ir.Value, ir.Value]:
    """x is m·2ᵉ. Of the bits of 2/π those are taken whose products with x are less than 4, 192 of them, as w₀ w₁ w₂."""
    wide = ir.IntType(128)
    table = ir.GlobalVariable(module, ir.ArrayType(I64, len(_TWO_OVER_PI)), "wg_two_over_pi")
    table.initializer, table.global_constant, table.linkage = (
        ir.Constant(table.value_type, [I64(w) for w in _TWO_OVER_PI]),
        True,
        "internal",
    )
    bits = b.bitcast(x.value, I64)
    exponent = b.and_(b.lshr(bits, I64(52)), I64(0x7FF))
    finite = b.icmp_unsigned("!=", exponent, I64(0x7FF))
    exponent = b.select(finite, exponent, I64(1100))
    mantissa = b.or_(b.and_(bits, I64((1 << 52) - 1)), I64(1 << 52))
    start = b.add(exponent, I64(64 - 1 - 1075 - 1))  # the first of the bits, the zeros counted, from 0
    place, rest = b.lshr(start, I64(6)), b.and_(start, I64(63))
    words = []
    for k in range(4):
        where = b.gep(table, [I64(0), b.add(place, I64(k))], inbounds=True, source_etype=table.value_type)
        words.append(b.load(where, typ=I64, align=8))
    funnel = module.declare_intrinsic("llvm.fshl", [I64], ir.FunctionType(I64, [I64, I64, I64]))
    w = [b.zext(b.call(funnel, [words[k], words[k + 1], rest]), wide) for k in range(3)]
    m = b.zext(mantissa, wide)
    low, middle, high = b.mul(m, w[2]), b.mul(m, w[1]), b.mul(m, w[0])
    total = b.add(b.add(middle, b.lshr(low, wide(64))), b.shl(high, wide(64)))  # modulo 2¹²⁸: below 4
    fraction = b.shl(total, wide(2))
    negative = b.icmp_signed("<", fraction, wide(0))
    quarter = b.add(b.trunc(b.lshr(total, wide(126)), I64), b.zext(negative, I64))
    size = b.select(negative, b.sub(wide(0), fraction), fraction)
    head = b.uitofp(b.trunc(b.lshr(size, wide(64)), I64), F64)
    tail = b.uitofp(b.trunc(size, I64), F64)
    r = b.fmul(b.fadd(b.fmul(head, F64(2.0**-64)), b.fmul(tail, F64(2.0**-128))), F64(_HALF_PI[0]))
    r = b.select(negative, b.fneg(r), r)
    below = b.icmp_signed("<", bits, I64(0))
    r = b.select(below, b.fneg(r), r)
    quarter = b.select(below, b.sub(I64(0), quarter), quarter)
    return b.select(finite, r, F64(math.nan)), quarter


def _both(r: Lane) -> tuple[Any, Any]:
    """sin and cos, for |r| ≤ π/4. (A polynomial alone would give sin(-0.0) the wrong sign.)"""
    z = r * r
    of_sine, of_cosine = (_SIN, _COS) if r.dtype == DOUBLE else (_SIN_SINGLE, _COS_SINGLE)
    sine = np.copysign(_fused(r * z, _polynomial(z, of_sine), r), r)
    return sine, _fused(z, _polynomial(z, (-0.5, *of_cosine)), 1.0)


def _sin_and_cos(x: Lane) -> list[Any]:
    def in_double() -> list[Any]:
        wide = x.b.fpext(x.value, F64)
        return [x.like(x.b.fptrunc(math_call(x.cx, name, wide), F32)) for name in ("sin", "cos")]

    if x.dtype == DOUBLE:
        return _of_reduced(*_reduced(x))
    return _usually(x, _LARGE_SINGLE, lambda: _usual_sin_and_cos(x), in_double)


def _usual_sin_and_cos(x: Lane) -> list[Any]:
    return _of_reduced(*_subtracted(x, _HALF_PI if x.dtype == DOUBLE else _HALF_PI_SINGLE))


def _of_reduced(r: Lane, k: ir.Value) -> list[Any]:
    sine, cosine = _both(r)
    return [_in_quarter(k, sine, cosine), _in_quarter(r.b.add(k, k.type(1)), sine, cosine)]


def _in_quarter(k: ir.Value, sine: Lane, cosine: Lane) -> Any:
    """sin(r + k·π/2): in every second quarter the cosine, and in the last two of four with the other sign."""
    b = sine.b
    odd = sine.like(b.trunc(k, ir.IntType(1)), np.dtype(bool))
    sign = b.shl(b.and_(b.trunc(k, I32) if k.type == I64 else k, I32(2)), I32(30))
    sign = b.shl(b.zext(sign, I64), I64(32)) if k.type == I64 else sign
    return sine.like(b.bitcast(b.xor(b.bitcast(select(odd, cosine, sine).value, k.type), sign), sine.value.type))


def _tan(x: Lane) -> Any:
    r, k = _reduced(x)
    sine, cosine = _both(r)
    odd = x.like(x.b.trunc(k, ir.IntType(1)), np.dtype(bool))
    return select(odd, -cosine, sine) / select(odd, sine, cosine)


# ------------------------------------------------------------------------------------------------------- inverse ones

_ATAN = (
    -0.3333333333333333, 0.1999999999999509, -0.14285714284577217, 0.11111111008107874, -0.09090904289128517,
    0.07692176510795928, -0.06664417824186955, 0.058573396761385246, -0.05081236164642543, 0.03911053674347613,
    -0.019029290809743138,
)  # fmt: skip


def _atan(x: Lane) -> Any:
    size = abs(x)
    far, near = size > 2.414213562373095, size > 0.41421356237309503
    t = select(far, -1.0 / size, select(near, (size - 1.0) / (size + 1.0), size))
    z = t * t
    rest = _fused(t * z, _polynomial(z, _ATAN), select(far, _HALF_PI[1], select(near, _HALF_PI[1] / 2, 0.0)))
    y = select(far, _HALF_PI[0], select(near, _HALF_PI[0] / 2, 0.0)) + (t + rest)
    return np.copysign(y, x)


def _atan2(y: Lane, x: Lane) -> Any:
    ay, ax = abs(y), abs(x)
    swapped = ay > ax
    large, small = select(swapped, ay, ax), select(swapped, ax, ay)
    equal = ay == ax  # also infinities
    ratio = select(equal, select(ax == 0, 0.0, 1.0), small / large)
    a = _atan(ratio)
    a = select(swapped, (_HALF_PI[0] - a) + _HALF_PI[1], a)
    a = select(np.signbit(x), (math.pi - a) + 2 * _HALF_PI[1], a)
    return select(np.isnan(x) | np.isnan(y), x + y, np.copysign(a, y))


def _asin(x: Lane) -> Any:
    return _atan2(x, np.sqrt((1.0 - x) * (1.0 + x)))


def _acos(x: Lane) -> Any:
    return 2.0 * _atan2(np.sqrt(1.0 - x), np.sqrt(1.0 + x))


# ----------------------------------------------------------------------------------- exponentials and logarithms


_FAR, _FAR_SINGLE = 350.0, 43.0


def _exp_and_tanh(x: Lane) -> list[Any]:
    def far() -> list[Any]:
        exponential, slope = [x.like(vector_math.exp(_numbers_at(x), t.value)) for t in (x, -2.0 * abs(x))]
        return [exponential, select(np.isnan(x), x, np.copysign(1.0, -x)), 4.0 * slope]

    return _usually(x, _FAR if x.dtype == DOUBLE else _FAR_SINGLE, lambda: _usual_exp_and_tanh(x), far)


def _usual_exp_and_tanh(x: Lane) -> list[Any]:
    """exp x, and what begins like it: tanh −x and its derivative there.

    With x = r + k·log 2 and p = exp(r) − 1, known well also near zero, exp x is 2ᵏ·(1 + p): usually k is added to the
    exponent. tanh −x is −e/(2 + e), and its derivative 4·(1 + e)/(2 + e)², with e = exp(2x) − 1 = 4ᵏ·(1 + q) − 1 and
    q = 2p + p².
    """
    kind = x.value.type
    of_exp = vector_math.EXP_DOUBLE if kind == F64 else vector_math.EXP_SINGLE
    r, shifted = _modulo_log2(x)
    p = _fused(r * r, _polynomial(r, of_exp), r)
    exponential = _with_exponent_more(p + 1.0, shifted)
    q = _fused(p, p, p + p)
    scale = _with_exponent_more(x.like(kind(1.0)), shifted, 1)
    e = _fused(scale, q, scale - 1.0)
    under = 2.0 + e
    inverse = _inverse(under)
    y = e * inverse
    y = _fused(_fused(-y, under, e), inverse, y)  # as good as divided
    slope = (q + 1.0) * _with_exponent_more(x.like(kind(4.0)), shifted, 1) * inverse * inverse
    return [exponential, np.copysign(y, -x), slope]


def _with_exponent_more(y: Lane, shifted: Lane, doublings: int = 0) -> Lane:
    """y times 2ᵏ, or 4ᵏ for one doubling, by adding to its exponent; k stands in the last bits of `shifted`. Of double
    precision that is one instruction for the high word, where two would add 64 bits."""
    b, kind = y.b, y.value.type
    if kind == F32:
        more = b.shl(b.bitcast(shifted.value, I32), I32(23 + doublings))
        return y.like(b.bitcast(b.add(b.bitcast(y.value, I32), more), kind))
    words = ir.VectorType(I32, 2)
    low, high = I32(0), I32(1)
    more = b.shl(b.extract_element(b.bitcast(shifted.value, words), low), I32(20 + doublings))
    own = b.bitcast(y.value, words)
    return y.like(b.bitcast(b.insert_element(own, b.add(b.extract_element(own, high), more), high), kind))


def _inverse(x: Lane) -> Any:
    """1/x, for x of usual size. What the device knows is off by e, and 1 + e + e² by e³: of 20 bits, that makes 60 (of
    single precision it knows nearly all)."""
    kind = x.value.type
    y = _from_device(x, "wg_near_inverse" if kind == F64 else "wg_near_inverse_single", kind)
    left = _fused(-x, y, 1.0)
    return _fused(y, _fused(left, left, left) if kind == F64 else left, y)


def _from_device(x: Lane, name: str, kind: ir.Type) -> Lane:
    """What an instruction of the device finds out about x, by the name that all devices know it by."""
    module = x.cx.module
    function = module.globals.get(name) or ir.Function(module, ir.FunctionType(kind, [kind]), name)
    return x.like(x.b.call(function, [x.value]))


def _modulo_log2(x: Lane) -> tuple[Lane, Lane]:
    """r of x = r + k·log 2, and k with `_MAGIC` added."""
    r, _, shifted = vector_math.reduced(_numbers_at(x), x.value)
    return x.like(r), x.like(shifted)


def _expm1(x: Lane) -> Any:
    k = np.rint(x * math.log2(math.e))
    r = _fused(-k, 1.90821492927058770002e-10, _fused(-k, 6.93147180369123816490e-01, x))
    p = _fused(r * r, _polynomial(r, vector_math.EXP_DOUBLE), r)
    scale = np.exp2(select(abs(x) < 40.0, k, 0.0))
    near = _fused(scale, p, scale - 1.0)
    return select(x == 0, x, select(abs(x) < 40.0, select(k == 0, p, near), np.exp(x) - 1.0))


def _exp2(x: Lane) -> Any:
    """2ˣ is exp(r·log 2)·2ᵏ, in two steps, since 2ᵏ may be out of range where the result is not."""
    inside = np.minimum(np.maximum(x, -1100.0), 1100.0)
    k = np.rint(inside)
    y = np.exp((inside - k) * math.log(2.0))
    half = np.floor(k * 0.5)
    y = y * _power_of_two(half) * _power_of_two(k - half)
    return select(np.isnan(x), x, y)


def _power_of_two(k: Any) -> Lane:
    b = k.b
    whole = b.add(b.fptosi(k.value, I64), I64(1023))
    return k.like(b.bitcast(b.shl(whole, I64(52)), F64))


def _log1p(x: Lane) -> Any:
    """log of u, the rounded 1 + x, and what the rounding has lost."""
    u = 1.0 + x
    y = np.log(u) + (x - (u - 1.0)) / u
    return select((u == 1.0) | (x == math.inf), x, select(u == 0.0, -math.inf, y))


def _log2(x: Lane) -> Any:
    v = _numbers_at(x)
    f, k = vector_math.parts_of(v, x.value)
    one = np.log(x.like(x.b.fadd(f, F64(1.0))))
    inside = (x > 0) & (x < math.inf)
    return select(inside, _fused(one, 1 / math.log(2.0), x.like(k)), np.log(x))


def _numbers_at(x: Lane) -> Vectors:
    return _Numbers(x.cx.module, x.b, x.value.type)


def _log10(x: Lane) -> Any:
    return np.log(x) * (1 / math.log(10.0))


def _cosh(x: Lane) -> Any:
    """H + 1/(4H) with H = exp|x|/2, which overflows where the result does."""
    v = _numbers_at(x)
    size = np.minimum(abs(x), 711.0)
    r, k, shifted = vector_math.reduced(v, size.value)
    one_less = [x.b.fsub(each, F64(1.0)) for each in (k, shifted)]
    whole = x.b.fadd(F64(1.0), vector_math.exp_minus_one(v, r))
    half = x.like(vector_math.scaled_by(v, whole, *one_less))
    return half + 0.25 / half


def _asinh(x: Lane) -> Any:
    size = abs(x)
    z = size * size
    near = np.log1p(size + z / (1.0 + np.sqrt(z + 1.0)))
    return np.copysign(select(size < 1e8, near, np.log(size) + math.log(2.0)), x)


def _acosh(x: Lane) -> Any:
    less = x - 1.0
    near = np.log1p(less + np.sqrt(select(x < 1.0, math.nan, less * (less + 2.0))))
    return select(x < 1e8, near, np.log(x) + math.log(2.0))


def _atanh(x: Lane) -> Any:
    size = abs(x)
    return np.copysign(0.5 * np.log1p(2.0 * size / (1.0 - size)), x)


def _cbrt(x: Lane) -> Any:
    """exp(log|x|/3), and a step of Newton's."""
    size = abs(x)
    usual = (size > 0) & (size < math.inf)
    s = select(usual, size, 1.0)
    y = np.exp(np.log(s) * (1 / 3))
    y = y - (y - s / (y * y)) * (1 / 3)
    return select(usual, np.copysign(y, x), x)


def _hypot(x: Lane, y: Lane) -> Any:
    a, b = abs(x), abs(y)
    large, small = np.maximum(a, b), np.minimum(a, b)
    scale = select(large > 1e150, 2.0**-600, select(large < 1e-150, 2.0**600, 1.0))
    p, q = large * scale, small * scale
    found = np.sqrt(_fused(p, p, q * q)) / scale
    return select((a == math.inf) | (b == math.inf), math.inf, found)


# -------------------------------------------------------------------------------------------------------- quotients


def quotient(cx: Any, x: ir.Value, y: ir.Value) -> ir.Value:
    """x/y by the inverse of y, of which one is left where several numbers are divided by y.

    x/y is the product, corrected by what it leaves of x (Markstein 1990): as good as divided. Where the product is
    huge, tiny or not finite, it is divided.
    """
    function = cx.module.globals.get("wg_quotient") or _write_quotient(cx.module)
    return cx.builder.call(function, [x, y])


def _write_quotient(module: ir.Module) -> ir.Function:
    function = _internal(module, "wg_quotient", F64, 2)
    body = _Body(module, function)
    x, y = [Lane(body, a, DOUBLE) for a in function.args]
    inverse = 1.0 / y
    product = x * inverse
    size = _high_word(product)
    b = body.builder
    is_usual = b.and_(
        b.fcmp_ordered("<", size, _as_high_word(2.0**1000)), b.fcmp_ordered(">", size, _as_high_word(2.0**-900))
    )
    usual = lambda: [_fused(_fused(-product, y, x), inverse, product)]
    (found,) = _one_of_two(product, is_usual, usual, lambda: [x / y])
    b.ret(found.value)
    return function


# -------------------------------------------------------------------------------------------------- for usual numbers


def usual_quotient(cx: Any, x: ir.Value, y: ir.Value) -> ir.Value:
    """x/y without branches, if both and the result are of usual size, about which there is a doubt (`cx.doubts`)."""
    divisor = Lane(cx, y, DOUBLE)
    root = cx.inverse_roots.get(y)
    if root is None:
        _doubt(cx, _high_word(divisor), 2.0**-1000, 2.0**1000)
        inverse = _inverse(divisor)
    else:
        inverse = _fused(root, _fused(-divisor, root, 1.0), root)
    if isinstance(x, ir.Constant) and abs(x.constant) in (0.25, 0.5, 1.0, 2.0, 4.0):
        return (inverse * Lane(cx, x, DOUBLE)).value  # exact
    product = inverse * Lane(cx, x, DOUBLE)
    _doubt(cx, _high_word(product), 2.0**-900, 2.0**1000)
    return _fused(_fused(-product, divisor, Lane(cx, x, DOUBLE)), inverse, product).value


def usual_root(cx: Any, x: ir.Value) -> ir.Value:
    """√x without branches, if x is of usual size, about which there is a doubt. Its inverse is known then, too.

    Of the device's inverse root y, the error e = 1 − x·y² leaves y·(1 + e/2 + 3e²/8), to all digits; the root x·y is
    corrected by what its square leaves (Markstein 1990).
    """
    of = Lane(cx, x, DOUBLE)
    _doubt(cx, of.b.bitcast(of.b.trunc(of.b.lshr(of.b.bitcast(x, I64), I64(32)), I32), F32), 2.0**-1000, 2.0**1000)
    y = _from_device(of, "wg_near_inverse_root", F64)
    left = _fused(-of, y * y, 1.0)
    y = _fused(_fused(left, 0.375, 0.5), y * left, y)
    root = of * y
    root = _fused(_fused(-root, root, of), y * 0.5, root)
    cx.inverse_roots[root.value] = y
    return root.value


def _doubt(cx: Any, size: ir.Value, low: float, high: float) -> None:
    """Have it that a number may be less or more than usual."""
    b = cx.builder
    cx.doubts.append(b.fcmp_unordered("<", size, _as_high_word(low)))
    cx.doubts.append(b.fcmp_unordered(">", size, _as_high_word(high)))


# ---------------------------------------------------------------------------------------------------- error function

_ERF = (
    1.1283791670955126, -0.3761263890318375, 0.11283791670954876, -0.02686617064507627, 0.005223977624812638,
    -0.0008548326980509413, 0.00012055331099279798, -1.4925594957596026e-05, 1.6460995338195411e-06,
    -1.6350256278696497e-07, 1.4659383821340068e-08, -1.1371291831047954e-09, 5.954471583153482e-11,
)  # fmt: skip
_ERFCX = (
    -4.836886729855173e-10, 0.28209480597488285, 0.2820947087268815, 0.24683017953314926, 0.17638250428419497,
    0.08280646642459485, 0.003650738842969374, -0.10745880841482366, 0.19135069676888924, -0.9309984090194608,
    2.8344954001959173, -6.589989691202682, 12.501253658024652, -18.379795364940843, 20.15818661849875,
    -16.158954986601497, 9.23375195798766, -3.581737686793816, 0.8493508434911706, -0.09331373908914559,
)  # fmt: skip
"""erfcx in t = 1/(1 + x/2), for x from 1 to 6."""


def _erf(x: Lane) -> Any:
    size = np.minimum(abs(x), 6.0)
    z = size * size
    t = 1.0 / (1.0 + 0.5 * np.maximum(size, 1.0))
    far = 1.0 - np.exp(-z) * _polynomial(t, _ERFCX)
    return np.copysign(select(abs(x) < 1.0, size * _polynomial(z, _ERF), far), x)


LANES: dict[str, Callable] = {
    "tan": _tan, "asin": _asin, "acos": _acos, "atan": _atan, "atan2": _atan2,
    "expm1": _expm1, "exp2": _exp2, "log1p": _log1p, "log2": _log2, "log10": _log10, "cosh": _cosh, "asinh": _asinh,
    "acosh": _acosh, "atanh": _atanh, "cbrt": _cbrt, "hypot": _hypot, "erf": _erf,
}  # fmt: skip
"""By their names in C. What is not here has no code on a GPU, and is left to the library of the arrays."""


class Twins(NamedTuple):
    """Functions that have most of their work in common, and how many: for every x, and without a branch for usual ones,
    below a bound."""

    name: str
    every: Callable[[Lane], list]
    usual: Callable[[Lane], list]
    number: int
    bounds: dict[ir.Type, float]


_SIN_AND_COS = Twins("sin_and_cos", _sin_and_cos, _usual_sin_and_cos, 2, {F64: _LARGE, F32: _LARGE_SINGLE})
_EXP_AND_TANH = Twins("exp_and_tanh", _exp_and_tanh, _usual_exp_and_tanh, 3, {F64: _FAR, F32: _FAR_SINGLE})

TWINS: dict[str, tuple[Twins, int, bool]] = {
    "sin": (_SIN_AND_COS, 0, False), "cos": (_SIN_AND_COS, 1, False), "exp": (_EXP_AND_TANH, 0, False),
    "tanh": (_EXP_AND_TANH, 1, True), "sech_squared": (_EXP_AND_TANH, 2, True),
}  # fmt: skip
"""By the name in C: with which others it is written, which of these it is, and whether it is found at −x, where those
are that it is usually seen with."""
