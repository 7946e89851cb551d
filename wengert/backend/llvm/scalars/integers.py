"""Rules for integers and booleans: arithmetic that wraps around, Python's division, powers, bits.

Division by zero gives 0, as NumPy's arrays have it; of two Python integers it raises ZeroDivisionError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.scalars.lane import RULES, Lane, function, rule, select
from wengert.backend.llvm.scalars.values import BOOL, constant, known_number

# ------------------------------------------------------------------------------------------------------- arithmetic

rule(np.add, "i")(lambda x, y: x.like(x.b.add(x.value, y.value)))
rule(np.subtract, "i")(lambda x, y: x.like(x.b.sub(x.value, y.value)))
rule(np.multiply, "i")(lambda x, y: x.like(x.b.mul(x.value, y.value)))
rule(np.negative, "i")(lambda x: x.like(x.b.neg(x.value)))
rule(np.square, "i")(lambda x: x * x)
rule(np.divide, "i")(lambda x, y: x.astype(np.float64) / y.astype(np.float64))
rule(np.absolute, "i")(lambda x: x if x.dtype.kind == "u" else select(x < 0, -x, x))
rule(np.rint, "i")(lambda x: x)

_AND: Callable = lambda x, y: x.like(x.b.and_(x.value, y.value))
_OR: Callable = lambda x, y: x.like(x.b.or_(x.value, y.value))
_XOR: Callable = lambda x, y: x.like(x.b.xor(x.value, y.value))
rule(np.bitwise_and, "bi")(_AND)
rule(np.bitwise_or, "bi")(_OR)
rule(np.bitwise_xor, "bi")(_XOR)
rule(np.invert, "bi")(lambda x: x.like(x.b.not_(x.value)))
_ufunc: np.ufunc
for _ufunc in (np.add, np.maximum, np.fmax):
    rule(_ufunc, "b")(_OR)
for _ufunc in (np.multiply, np.minimum, np.fmin):
    rule(_ufunc, "b")(_AND)
rule(np.absolute, "b")(lambda x: x)
for _ufunc in (np.maximum, np.fmax):
    rule(_ufunc, "i")(lambda x, y: select(x >= y, x, y))
for _ufunc in (np.minimum, np.fmin):
    rule(_ufunc, "i")(lambda x, y: select(x <= y, x, y))


@rule(np.sign, "i")
def _sign(x: Lane) -> Any:
    one = x.like(constant(1, x.dtype))
    if x.dtype.kind == "u":
        return select(x > 0, one, 0)
    return select(x > 0, one, select(x < 0, x.like(constant(-1, x.dtype)), 0))


@rule(np.left_shift, "i")
def _left_shift(x: Lane, n: Lane) -> Any:
    """LLVM leaves shifts by more than all bits undefined; NumPy gives what is left then."""
    zero = constant(0, x.dtype)
    return x.like(x.b.select(_too_far(x, n), zero, x.b.shl(x.value, n.value)))


@rule(np.right_shift, "i")
def _right_shift(x: Lane, n: Lane) -> Any:
    if x.dtype.kind == "u":
        return x.like(x.b.select(_too_far(x, n), constant(0, x.dtype), x.b.lshr(x.value, n.value)))
    last = constant(8 * x.dtype.itemsize - 1, x.dtype)
    return x.like(x.b.ashr(x.value, x.b.select(_too_far(x, n), last, n.value)))


def _too_far(x: Lane, n: Lane) -> ir.Value:
    return x.b.icmp_unsigned(">=", n.value, constant(8 * x.dtype.itemsize, x.dtype))


# -------------------------------------------------------------------------------------------------------- division


def _divided(x: Lane, y: Lane) -> tuple[Any, Any]:
    """Quotient, rounded down, and remainder; both zero (and of the smallest number by −1 itself and zero) safely."""
    b, zero, one = x.b, constant(0, x.dtype), constant(1, x.dtype)
    by_zero = b.icmp_unsigned("==", y.value, zero)
    if x.dtype.kind == "u":
        safe = b.select(by_zero, one, y.value)
        quotient, rest = b.udiv(x.value, safe), b.urem(x.value, safe)
    else:
        least = constant(np.iinfo(x.dtype).min, x.dtype)
        overflows = b.and_(b.icmp_unsigned("==", y.value, constant(-1, x.dtype)), b.icmp_unsigned("==", x.value, least))
        safe = b.select(b.or_(by_zero, overflows), one, y.value)
        quotient, rest = b.sdiv(x.value, safe), b.srem(x.value, safe)
        apart = b.icmp_signed("<", b.xor(rest, safe), zero)
        other_side = b.and_(apart, b.icmp_unsigned("!=", rest, zero))
        quotient = b.sub(quotient, b.zext(other_side, quotient.type))
        rest = b.add(rest, b.select(other_side, safe, zero))
    return x.like(b.select(by_zero, zero, quotient)), x.like(rest)


rule(np.floor_divide, "i")(lambda x, y: _divided(x, y)[0])
rule(np.remainder, "i")(lambda x, y: _divided(x, y)[1])


def _message(divide: Callable) -> str:
    try:
        return str(divide(1, 0))
    except ZeroDivisionError as error:
        return str(error)


def _refuse_zero(message: str) -> Callable:
    def check(x: Any, y: Any) -> None:
        if isinstance(y, Lane):
            number = known_number(y.value, y.dtype)
            if number is None:
                y.cx.fail_if(y.b.icmp_unsigned("==", y.value, y.value.type(0)), "ZeroDivisionError", message)
            elif number == 0:
                y.cx.fail_if(ir.IntType(1)(1), "ZeroDivisionError", message)
        elif y == 0:
            x.cx.fail_if(ir.IntType(1)(1), "ZeroDivisionError", message)

    return check


RULES[np.floor_divide, "weak"] = _refuse_zero(_message(lambda x, y: x // y))
RULES[np.remainder, "weak"] = _refuse_zero(_message(lambda x, y: x % y))

# ---------------------------------------------------------------------------------------------------------- powers


@rule(np.power, "i")
def _power(x: Lane, p: Lane) -> Any:
    """By repeated squaring; a negative exponent is an error, as in NumPy, whatever the base."""
    known = known_number(p.value, p.dtype)
    if p.dtype.kind == "i" and (known is None or known < 0):
        negative = p.b.icmp_signed("<", p.value, p.value.type(0))
        p.cx.fail_if(negative, "ValueError", "Integers to negative integer powers are not allowed.")
    if known in (0, 1, 2, 3):
        return {0: lambda: x.like(constant(1, x.dtype)), 1: lambda: x, 2: lambda: x * x, 3: lambda: x * x * x}[known]()
    return x.like(x.b.call(_power_function(x.cx.module, x.value.type), [x.value, p.value]))


def _power_function(module: ir.Module, type: ir.Type) -> ir.Function:
    name = f"wg_power_{type}"
    found = module.globals.get(name)
    if found is not None:
        return found
    f = internal_function(module, name, type, [type, type], "nounwind", "readnone")
    entry, body, after = (f.append_basic_block(n) for n in ("entry", "body", "after"))
    b = ir.IRBuilder(entry)
    b.branch(body)
    b.position_at_end(body)
    base, rest, power = b.phi(type), b.phi(type), b.phi(type)
    odd = b.icmp_unsigned("!=", b.and_(rest, type(1)), type(0))
    multiplied = b.select(odd, b.mul(power, base), power)
    halved, squared = b.lshr(rest, type(1)), b.mul(base, base)
    for phi, first, following in ((base, f.args[0], squared), (rest, f.args[1], halved), (power, type(1), multiplied)):
        phi.add_incoming(first, entry)
        phi.add_incoming(following, body)
    b.cbranch(b.icmp_unsigned("!=", halved, type(0)), body, after)
    b.position_at_end(after)
    b.ret(multiplied)
    return f


@function(np.fix)
def _fix(x: Lane) -> Any:
    return np.trunc(x)


for _ufunc, _answer in ((np.isnan, False), (np.isinf, False), (np.isfinite, True)):
    rule(_ufunc, "bi")(lambda x, answer=_answer: x.like(constant(answer, BOOL), BOOL))
