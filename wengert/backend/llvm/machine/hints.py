"""What LLVM is told about loops, and about memory that they read and write.

Left alone, it unrolls loops of few iterations before it makes vectors, and then gathers the elements of the loop around
them one by one; and of long loops it makes vectors of half the length that the processor has.

A hint is metadata of the jump back. LLVM wants it to refer to itself, which llvmlite cannot write: `finished` puts that
into the text of a module.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from llvmlite.ir.instructions import AllocaInstr, CallInstr, GEPInstr, LoadInstr, PhiInstr, StoreInstr

FEW, MANY = 5, 64
"""Loops of fewer iterations than the first are unrolled; of the second or more, vectors are as long as they can be."""

SHORT = 96
"""Loops of fewer iterations may be short enough for LLVM to write all of them out before it thinks of vectors."""

LONG = 1024
"""In shorter loops LLVM's four vectors at a time leave too many elements over, which are done one by one."""

MOST_APART = 12
"""To so many places that move on by more than an element at a time may a loop go, of which vectors are made: for each
LLVM wants to know that it does not pass the end of memory, and does not ask too often."""

_SELF, _GROUP = "wg.self", "wg.group"


@functools.cache
def vector_bytes() -> int:
    """How long the longest vectors of this processor are; functions have variants for these."""
    features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


VARIANTS = '"vector-function-abi-variant"'
"""The attribute of a function that names its vector variants."""


def is_vectorisable(blocks: Sequence[ir.Block]) -> bool:
    """Whether a loop of these blocks calls nothing of which vectors cannot be made, and goes to few places at a time.

    Where somebody asks for vectors of some width and LLVM cannot make them, it says so on stderr. Of several zeros that
    are stored side by side, or of a loop that stores them, it makes a call of its own (`memset`).
    """
    instructions = [instruction for block in blocks for instruction in block.instructions]
    zeros = [i for i in instructions if isinstance(i, StoreInstr) and isinstance(i.operands[0], ir.Constant)]
    has_loop = sum(isinstance(i, PhiInstr) for i in instructions) > 1
    if len(zeros) > (not has_loop):
        return False
    if sum(isinstance(i, GEPInstr) and getattr(i.indices[0], "opname", "") == "mul" for i in instructions) > MOST_APART:
        return False
    return all(_has_vectors(i.callee) for i in instructions if isinstance(i, CallInstr))


def _has_vectors(function: ir.Value) -> bool:
    if not isinstance(function, ir.Function):
        return False
    if function.name.startswith("llvm."):
        return not function.name.startswith("llvm.mem")
    attributes = " ".join(map(str, function.attributes))
    if VARIANTS in attributes:
        return True
    return bool(function.blocks) and "noinline" not in attributes and is_vectorisable(function.blocks)


def vectors(
    module: ir.Module, count: int, dtype: np.dtype, single: bool = False, wide: bool = True
) -> ir.MDValue | None:
    """The hint for a loop of so many iterations, each for one element of some dtype.

    A `single` vector is made at a time if there is so much to do for each that the processor has no registers for more,
    or if the code is to be short. They are as wide as they can be where it is `wide`, which must be possible.
    """
    if count < FEW or dtype.kind not in "fiub":
        return None
    if count < MANY:
        return as_it_is(module, count)
    items = [_SELF, module.add_metadata(["llvm.loop.vectorize.followup_all", _not_unrolled(module)])]
    if count < SHORT:
        items.append(_not_unrolled(module))
    if dtype.kind != "f" or not wide:
        return module.add_metadata(items)
    width = vector_bytes() // dtype.itemsize
    items.append(module.add_metadata(["llvm.loop.vectorize.width", ir.Constant(ir.IntType(32), width)]))
    if single:
        items.append(module.add_metadata(["llvm.loop.interleave.count", ir.Constant(ir.IntType(32), 1)]))
    elif count < LONG and count % (4 * width) > width:
        several = ir.Constant(ir.IntType(32), 2 if count % (2 * width) < width else 1)
        items.append(module.add_metadata(["llvm.loop.interleave.count", several]))
    return module.add_metadata(items)


def as_it_is(module: ir.Module, count: int) -> ir.MDValue | None:
    """The hint for a loop of so many iterations that is not to be unrolled."""
    if not FEW <= count < MANY:
        return None
    return not_unrolled(module)


def not_unrolled(module: ir.Module) -> ir.MDValue:
    """The hint for a loop that is not to be unrolled, whatever its iterations."""
    return module.add_metadata([_SELF, _not_unrolled(module)])


def _not_unrolled(module: ir.Module) -> ir.MDValue:
    return module.add_metadata(["llvm.loop.unroll.disable"])


def rare(module: ir.Module) -> ir.MDValue:
    """The hint for a loop that hardly ever runs: all the work that LLVM could do for it would be for nothing."""
    plain = module.add_metadata(["llvm.loop.vectorize.width", ir.Constant(ir.IntType(32), 1)])
    single = module.add_metadata(["llvm.loop.interleave.count", ir.Constant(ir.IntType(32), 1)])
    return module.add_metadata([_SELF, plain, single, _not_unrolled(module)])


def memory_apart(module: ir.Module) -> ir.MDValue:
    """A mark for memory that something is written to: see `written` and `read_elsewhere`."""
    name = f"written {len(module.metadata)}"
    domain = module.add_metadata([_SELF, name])
    return module.add_metadata([module.add_metadata([_SELF, domain, name])])


def written(instruction: ir.Instruction, mark: ir.MDValue) -> None:
    """Say that an instruction reads or writes marked memory."""
    instruction.set_metadata("alias.scope", mark)


def read_elsewhere(instructions: Sequence[ir.Instruction], mark: ir.MDValue) -> None:
    """Say that whatever these instructions load, it is not from marked memory."""
    for instruction in instructions:
        if isinstance(instruction, LoadInstr):
            instruction.set_metadata("noalias", mark)


def independent(module: ir.Module, blocks: Sequence[ir.Block], hint: ir.MDValue | None) -> ir.MDValue:
    """The hint for a loop of these blocks in which no iteration reads or writes what another one writes.

    Else LLVM looks for itself whether that is so, for each pair of addresses, and gives up where there are many. What
    lies on the stack is left to it: variables of the loop, of which registers are made.
    """
    group = module.add_metadata([f"{_GROUP} {len(module.metadata)}"])
    for block in blocks:
        for instruction in block.instructions:
            if isinstance(instruction, LoadInstr | StoreInstr):
                pointer = instruction.operands[isinstance(instruction, StoreInstr)]
                while isinstance(pointer, GEPInstr):
                    pointer = pointer.pointer
                if not isinstance(pointer, AllocaInstr):
                    instruction.set_metadata("llvm.access.group", group)
    items = [_SELF] if hint is None else list(hint.operands)
    return module.add_metadata([*items, module.add_metadata(["llvm.loop.parallel_accesses", group])])


def finished(text: str) -> str:
    """The text of a module with hints that refer to themselves, and groups that are like no other.

    >>> finished('!3 = !{ !"wg.self", !2 }')
    '!3 = distinct !{ !3, !2 }'
    """
    text = re.sub(rf'^(!\d+) = !\{{ !"{_GROUP} \d+" \}}', r"\1 = distinct !{}", text, flags=re.MULTILINE)
    return re.sub(rf'^(!\d+) = !\{{ !"{_SELF}"', r"\1 = distinct !{ \1", text, flags=re.MULTILINE)
