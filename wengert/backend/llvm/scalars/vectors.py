"""Arithmetic of vectors of one length, in which functions of vectors are written (`vector_math.py`)."""

from __future__ import annotations

import functools
import platform
import struct
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import F64


@functools.cache
def has_fused() -> bool:
    """Whether the processor has an instruction for x·y + z that rounds once."""
    return bool(llvm.get_host_cpu_features().get("fma")) or platform.machine() in ("arm64", "aarch64")


def word(value: float, double: bool) -> int:
    """The bits of a number, as an integer."""
    return int.from_bytes(struct.pack("<d" if double else "<f", value), "little")


class Vectors:
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

    def exactly_fused(self, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        """x·y + z in one rounding, for what depends on it; slow where the processor cannot (`has_fused`)."""
        return self._intrinsic("fma", x, y, z)

    def truncated(self, x: ir.Value) -> ir.Value:
        return self._intrinsic("trunc", x)

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

    def all(self, conditions: ir.Value) -> ir.Value:
        """Whether all of some conditions hold."""
        together = ir.IntType(self.type.count)
        return self.b.icmp_unsigned("==", self.b.bitcast(conditions, together), together(-1))

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
