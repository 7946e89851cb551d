"""What LLVM is told about loops.

Left alone, it unrolls loops of few turns before it makes vectors, and then gathers the elements of the loop around
them one by one; and of long loops it makes vectors of half the length that the processor has.

A hint is metadata of the jump back. LLVM wants it to refer to itself, which llvmlite cannot write: `finished` puts that
into the text of a module.
"""

from __future__ import annotations

import functools
import re

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

FEW, MANY = 5, 64
"""Loops of fewer turns than the first are unrolled; of the second or more, vectors are as long as they can be."""

LONG = 1024
"""In shorter loops LLVM's four vectors at a time leave too many elements over, which are done one by one."""

_SELF = "wg.self"


@functools.cache
def vector_bytes() -> int:
    """How long the longest vectors of this processor are; functions have variants for these."""
    features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


def vectors(module: ir.Module, count: int, dtype: np.dtype, one_by_one: bool = False) -> ir.MDValue | None:
    """The hint for a loop of so many turns, each for one element of some dtype.

    Vectors are made `one_by_one` if there is so much to do for each that the processor has no registers for more.
    """
    if count < FEW or dtype.kind not in "fiub":
        return None
    if count < MANY:
        return as_it_is(module, count)
    if dtype.kind != "f":
        return None
    width = vector_bytes() // dtype.itemsize
    items = [_SELF, module.add_metadata(["llvm.loop.vectorize.width", ir.Constant(ir.IntType(32), width)])]
    several = None
    if one_by_one:
        several = 1
    elif count < LONG and count % (4 * width) > width:
        several = 2 if count % (2 * width) < width else 1
    if several is not None:
        number = ir.Constant(ir.IntType(32), several)
        items.append(module.add_metadata(["llvm.loop.interleave.count", number]))
    return module.add_metadata(items)


def as_it_is(module: ir.Module, count: int) -> ir.MDValue | None:
    """The hint for a loop of so many turns that is not to be unrolled."""
    if not FEW <= count < MANY:
        return None
    return module.add_metadata([_SELF, module.add_metadata(["llvm.loop.unroll.disable"])])


def finished(text: str) -> str:
    """The text of a module with hints that refer to themselves.

    >>> finished('!3 = !{ !"wg.self", !2 }')
    '!3 = distinct !{ !3, !2 }'
    """
    return re.sub(rf'^(!\d+) = !\{{ !"{_SELF}"', r"\1 = distinct !{ \1", text, flags=re.MULTILINE)
