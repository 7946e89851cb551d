"""The ways by which Python calls a kernel, as object code of their own.

They are `call(record, table)`, which takes all that the kernel wants from a table of pointers, and the quick entry
(`entry.py`). Both depend on the types of inputs and outputs alone, so they are written and compiled once for all
kernels that have the same, and kept on disk for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER
from wengert.backend.llvm.calls.entry import Entry
from wengert.backend.llvm.calls.interface import dynamic_axes
from wengert.backend.llvm.machine.engine import KERNEL
from wengert.backend.llvm.machine.hints import finished
from wengert.ir.node import Type


class Signature(NamedTuple):
    """All that ways to call a kernel depend on. Long kernels let other threads of Python run meanwhile."""

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]
    runs_long: bool

    def __str__(self) -> str:
        both = [[(t.dtype.str, *map(repr, t.shape)) for t in types] for types in (self.inputs, self.outputs)]
        return f"{both} {self.runs_long}"


def kernel_type(inputs: Sequence[Type], outputs: Sequence[Type]) -> ir.FunctionType:
    """The type of a kernel: the place for fault values, inputs with lengths that are not known, places of outputs."""
    parts: list[ir.Type] = [POINTER]
    for t in inputs:
        parts += [POINTER] + [I64] * len(dynamic_axes(t))
    return ir.FunctionType(I32, parts + [POINTER] * len(outputs))


def ways(signature: Signature) -> str:
    """The LLVM module with the ways to call kernels of this signature."""
    module = ir.Module("ways")
    kernel = ir.Function(module, kernel_type(signature.inputs, signature.outputs), KERNEL)
    kernel.attributes.add("nounwind")
    _write_call(module, kernel, signature)
    Entry(module, kernel, list(signature.inputs), list(signature.outputs), signature.runs_long).write()
    return finished(str(module))


def _write_call(module: ir.Module, kernel: ir.Function, signature: Signature) -> None:
    function = ir.Function(module, ir.FunctionType(I32, [POINTER, POINTER]), "call")
    builder = ir.IRBuilder(function.append_basic_block())
    record, table = function.args
    position = 0

    def following() -> ir.Value:
        nonlocal position
        place = builder.gep(table, [I64(position)], source_etype=POINTER)
        position += 1
        return builder.load(place, typ=POINTER)

    arguments = [record]
    for t in signature.inputs:
        arguments.append(following())
        for _ in dynamic_axes(t):
            arguments.append(builder.load(following(), typ=I64))
    for _ in signature.outputs:
        arguments.append(following())
    builder.ret(builder.call(kernel, arguments))
