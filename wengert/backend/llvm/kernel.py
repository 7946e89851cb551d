"""A program as one native function, and what Python must know to call it.

The kernel of a program takes the place for fault values, its inputs and the places of its outputs. Inputs are never
written to and outputs overlap nothing, which is what `noalias` says. It is called by `call(record, table)`
(`calls/ways.py`), which takes all of them from a table of pointers: an array's data; the address of a scalar; for an
axis whose length is known only at run time, the address of that length. A result with such an axis comes as a
descriptor, memory that belongs to the caller (`free`) and lengths, because nobody knows before how much is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.buffer import I64, POINTER, Buffer, element_pointer, load_element, store_element
from wengert.backend.llvm.arrays.composed import natively
from wengert.backend.llvm.calls.arena import kept_arena
from wengert.backend.llvm.calls.callback import Callback
from wengert.backend.llvm.calls.entry import has_entry
from wengert.backend.llvm.calls.interface import Interface, dynamic_axes
from wengert.backend.llvm.calls.ways import Signature, kernel_type
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import ON_STACK, Emitter, Frame
from wengert.backend.llvm.machine.engine import KERNEL
from wengert.backend.llvm.machine.hints import finished
from wengert.backend.llvm.outline.outline import Outline, is_large
from wengert.backend.llvm.run import run_block
from wengert.backend.plan.access import byte_bound
from wengert.backend.plan.memory import lay_out, plan_program
from wengert.ir.analysis.ranges import intervals
from wengert.ir.loops import LOOPS
from wengert.ir.node import Const, Program, Type

STACK_IN_ALL = 1 << 14
"""At most so many bytes of the stack are used for small arrays."""


@dataclass
class Kernel:
    """The text of a module and what belongs to it. It is called by the ways of its `signature`.

    `constants` are large arrays by the symbols that the text has for them, `callbacks` ways back to Python, by number.
    """

    text: str
    constants: dict[str, np.ndarray]
    callbacks: list[Callback]
    interface: Interface
    signature: Signature


@dataclass
class Written:
    """The function of a program in a module: what the ways to call it are written around."""

    module: ir.Module
    function: ir.Function
    cx: Context
    report: list[tuple[str, str]]
    inputs: list[Type]
    outputs: list[Type]


def write_kernel(program: Program) -> Kernel:
    """The LLVM module of a program, and what Python must know to call it."""
    written = write_function(program)
    cx, inputs, outputs = written.cx, written.inputs, written.outputs
    runs_long = any(name in LOOPS for name, _ in written.report) or any(
        (byte_bound(t) or 1 << 62) > 1 << 15 for t in (*inputs, *outputs)
    )
    interface = Interface(inputs, outputs, cx.faults, written.report, has_entry(inputs, outputs))
    signature = Signature(tuple(inputs), tuple(outputs), runs_long)
    return Kernel(finished(str(written.module)), cx.constants, cx.callbacks, interface, signature)


def write_function(program: Program, standalone: bool = False) -> Written:
    """The function of a program, in a module of its own. If it is to stand alone, it knows nothing of Python."""
    plan, slots = plan_program(program.block, natively)
    on_stack = 0
    for slot in slots:
        nbytes = slot.nbytes
        if (
            slot.output is None
            and slot.within is None
            and nbytes is not None
            and nbytes <= ON_STACK
            and on_stack + nbytes <= STACK_IN_ALL
        ):
            slot.on_stack = True
            on_stack += nbytes
    arena_size = lay_out(slots)

    module = ir.Module(program.name)
    inputs = [p.type for p in plan.block.params]
    outputs = [r.type for r in plan.block.results]
    function = ir.Function(module, kernel_type(inputs, outputs), KERNEL)
    function.attributes.add("nounwind")
    if standalone:  # what calls it stands in the same module
        function.linkage = "internal"
        function.attributes.add("noinline")
    for argument in function.args:
        if argument.type == POINTER:
            argument.add_attribute("noalias")
    cx = Context(module, function, function.args[0], standalone=standalone)
    arguments = iter(function.args[1:])
    values: dict[Any, Any] = {}
    for p in plan.block.params:
        pointer = next(arguments)
        lengths = [I64(n) if isinstance(n, int) else next(arguments) for n in p.type.shape]
        buffer = Buffer(pointer, lengths, None, p.type.dtype)
        if p.type.ndim:
            values[p] = in_memory(cx, buffer)
        else:
            values[p] = load_element(cx.builder, pointer, I64(0), p.type.dtype)
    places = list(arguments)
    em = Emitter(cx, places, None)
    em.intervals = intervals(program.block)
    if is_large(plan):
        em.outline, cx.is_large = Outline(), True
    if arena_size:
        em.arena = kept_arena(cx, arena_size) if arena_size > ON_STACK else cx.scratch(arena_size)
        cx.poison(em.arena, arena_size)
    for place, type in zip(places, outputs, strict=True):
        if type.is_static:
            cx.poison(place, byte_bound(type) or 0)
    frame = Frame(plan, values)
    run_block(em, frame)
    cx.fail_now()
    for k, result in enumerate(plan.block.results):
        _put_out(em, frame, k, result)
    cx.finish()
    return Written(module, function, cx, em.report, inputs, outputs)


def _put_out(em: Emitter, frame: Frame, k: int, result: Any) -> None:
    """Bring a result of the program to its place."""
    cx, type = em.cx, result.type
    value = em.value(frame, result)
    place = em.outputs[k]
    if not isinstance(value, Array):
        store_element(cx.builder, value, place, I64(0), type.dtype)
        return
    if type.is_static:
        slot = None if isinstance(result, Const) else _slot(frame, result)
        if slot is not None and slot.output == k and em.fills(value, slot):
            return
        em.fill(value, Buffer(place, value.lengths, None, type.dtype, writable=True))
        return
    nbytes = em.byte_count(value.lengths, type.dtype)
    malloc = cx.declare("malloc", POINTER, [I64])
    memory = cx.builder.call(malloc, [cx.builder.add(nbytes, I64(1))])
    cx.fail_if(
        cx.builder.icmp_unsigned("==", cx.builder.ptrtoint(memory, I64), I64(0)),
        "MemoryError", "cannot allocate {0} bytes", nbytes,
    )  # fmt: skip
    cx.poison(memory, nbytes)
    cx.builder.store(memory, place)
    for j, axis in enumerate(dynamic_axes(type)):
        cx.builder.store(value.lengths[axis], element_pointer(cx.builder, place, I64(1 + j), np.dtype(np.int64)))
    em.fill(value, Buffer(memory, value.lengths, None, type.dtype, writable=True))


def _slot(frame: Frame, result: Any) -> Any:
    version = frame.plan.storage.get(result)
    return frame.plan.slots.get(version) if version is not None else None
