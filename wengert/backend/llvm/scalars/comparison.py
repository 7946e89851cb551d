"""Rules for comparisons and logic, of all kinds of numbers.

Complex numbers are ordered as NumPy orders them: by the real part, then by the imaginary part; NaN is not comparable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.scalars.lane import Lane, rule
from wengert.backend.llvm.scalars.values import BOOL


def _as_bool(x: Lane, bit: ir.Value) -> Lane:
    return x.like(bit, BOOL)


# ------------------------------------------------------------------------------------------------------ comparisons


def _ordered(symbol: str) -> Callable:
    def compare(x: Lane, y: Lane) -> Lane:
        b = x.b
        if x.dtype.kind == "f":
            test = b.fcmp_unordered if symbol == "!=" else b.fcmp_ordered
            return _as_bool(x, test(symbol, x.value, y.value))
        if x.dtype.kind == "b":
            return _as_bool(x, b.icmp_unsigned(symbol, x.value, y.value))
        if x.dtype.kind == y.dtype.kind:
            test = b.icmp_signed if x.dtype.kind == "i" else b.icmp_unsigned
            return _as_bool(x, test(symbol, x.value, y.value))
        # A signed number beside an unsigned one: a negative one is the smaller.
        signed = x if x.dtype.kind == "i" else y
        negative = b.icmp_signed("<", signed.value, signed.value.type(0))
        outcome = {"==": False, "!=": True}.get(symbol, (symbol in ("<", "<=")) == (signed is x))
        return _as_bool(x, b.select(negative, ir.IntType(1)(outcome), b.icmp_unsigned(symbol, x.value, y.value)))

    return compare


_SYMBOLS = {
    np.equal: "==",
    np.not_equal: "!=",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
}
for _ufunc, _symbol in _SYMBOLS.items():
    rule(_ufunc, "bif")(_ordered(_symbol))

rule(np.equal, "c")(lambda x, y: (x.real == y.real) & (x.imag == y.imag))
rule(np.not_equal, "c")(lambda x, y: (x.real != y.real) | (x.imag != y.imag))


def _complex_order(strict: np.ufunc, last: np.ufunc) -> Callable:
    def compare(x: Lane, y: Lane) -> Any:
        comparable = ~(np.isnan(x.imag) | np.isnan(y.imag))
        return strict(x.real, y.real) & comparable | (x.real == y.real) & last(x.imag, y.imag)

    return compare


rule(np.less, "c")(_complex_order(np.less, np.less))
rule(np.less_equal, "c")(_complex_order(np.less, np.less_equal))
rule(np.greater, "c")(_complex_order(np.greater, np.greater))
rule(np.greater_equal, "c")(_complex_order(np.greater, np.greater_equal))

# ----------------------------------------------------------------------------------------------------------- logic

rule(np.logical_and, "bifc")(lambda x, y: x.astype(BOOL) & y.astype(BOOL))
rule(np.logical_or, "bifc")(lambda x, y: x.astype(BOOL) | y.astype(BOOL))
rule(np.logical_xor, "bifc")(lambda x, y: x.astype(BOOL) ^ y.astype(BOOL))
rule(np.logical_not, "bifc")(lambda x: ~x.astype(BOOL))

# ------------------------------------------------------------------------------------------------- kinds of numbers

rule(np.isnan)(lambda x: _as_bool(x, x.b.fcmp_unordered("uno", x.value, x.value)))
rule(np.isinf)(lambda x: abs(x) == float("inf"))
rule(np.isfinite)(lambda x: abs(x) < float("inf"))
rule(np.isnan, "c")(lambda x: np.isnan(x.real) | np.isnan(x.imag))
rule(np.isinf, "c")(lambda x: np.isinf(x.real) | np.isinf(x.imag))
rule(np.isfinite, "c")(lambda x: np.isfinite(x.real) & np.isfinite(x.imag))
