"""Programs written as native code: blocks, their values, and where results are put.

`Emitter` walks a planned block and writes code for one node after the other. What a node's result is (scalar, lazy,
view, made) is the plan's decision; how each family of ops is written stands in a file of its own:

    composed.py    results that are computed while they are read: elementwise ops, views, index
    reduction.py   sums, extremes, scans
    writing.py     store, add_at, scatter, concatenate
    control.py     loop, while, cond, require

What has no native code goes to a library (`library.py`) or back to Python (`callback.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.array import constant_array as uniform
from wengert.backend.llvm.arrays.buffer import (
    F64,
    I1,
    I8,
    I32,
    I64,
    POINTER,
    VOID,
    Buffer,
    Complex,
    Scalar,
    contiguous_strides,
    dot,
    is_native,
    known,
    product,
    register_type,
    store_element,
)
from wengert.backend.llvm.arrays.transposition import copy_transposed, has_blocks
from wengert.backend.llvm.calls.faults import SIGNALLED
from wengert.backend.llvm.calls.interrupt import poll_function
from wengert.backend.llvm.context import Context, GrowingMemory
from wengert.backend.llvm.threads.sharing import Total, shared
from wengert.backend.plan.memory import BlockPlan, Kind, Slot
from wengert.ir.node import Const, Dyn, Node, Operand, Var, map_refs

ON_STACK = 512
"""Static arrays of at most so many bytes lie on the stack, where LLVM may turn them into registers."""


class FoldProtocol(Total, Protocol):
    """A reduction of elements while they are made."""

    def add(self, value: Scalar) -> None: ...


@dataclass(eq=False)
class Frame:
    """A block being written: its plan and the values so far."""

    plan: BlockPlan
    values: dict[Var, Any] = field(default_factory=dict)


class Emitter:
    """Writes the code of one kernel."""

    def __init__(self, cx: Context, outputs: Sequence[ir.Value], arena: ir.Value | None):
        self.cx = cx
        self.outputs = list(outputs)
        self.arena = arena
        self.arena_start = 0  # the arena begins with this byte of it: part of the work has memory of its own
        self.report: list[tuple[str, str]] = []
        self.loop_depth = 0
        self.owed = 0  # steps of the iteration of a loop that is being written, of which no note was made yet
        self.outline: Any = None  # of a large kernel, see `outline.py`
        self.is_part = False  # of one
        self.folds: dict[Var, list[Node]] = {}  # reductions of what is made to a number, see `run.py`
        self._heap: dict[int, GrowingMemory] = {}
        self._stack: dict[int, ir.Value] = {}
        self.constants: dict[int, Array] = {}  # by the id of the value
        self.places: dict[int, ir.Value] = {}  # of slots, by id, whose address was handed over
        self.intervals: dict[Var, tuple[int, int]] = {}  # of integers, see `ir/analysis/ranges.py`
        self._work: ir.Value | None = None

    # ------------------------------------------------------------------------------------------------------- values

    def value(self, frame: Frame, operand: Operand) -> Any:
        """The value of an operand: a scalar or an Array."""
        if isinstance(operand, Const):
            if operand.type.ndim == 0:
                return constant(operand.value, operand.type.dtype)
            return self.constant_array(operand)
        return frame.values[operand]

    def array(self, frame: Frame, operand: Operand) -> Array:
        """The value of an operand as an array, of rank 0 if it is a scalar."""
        value = self.value(frame, operand)
        return value if isinstance(value, Array) else uniform(self.cx, value, operand.type.dtype, [])

    def integer(self, frame: Frame, operand: Operand) -> ir.Value:
        """The value of an integer scalar, as i64."""
        value = self.value(frame, operand)
        if isinstance(value, Array):
            value = value.load([I64(0)] * value.ndim)
        return widened(self.cx.builder, value, operand.type.dtype)

    def params(self, frame: Frame, node: Node) -> dict[str, Any]:
        """Parameters with i64 values in place of what is known only at run time."""
        if not node.sizes:
            return node.params
        sizes = [self.integer(frame, s) for s in node.sizes]
        return map_refs(
            node.params, lambda ref: known(sizes[ref.k]) if known(sizes[ref.k]) is not None else sizes[ref.k]
        )

    def constant_array(self, operand: Const) -> Array:
        found = self.constants.get(id(operand.value))
        if found is None:
            data = np.ascontiguousarray(operand.value, dtype=operand.type.dtype)
            self.cx.keep(operand.value)  # its id is the key
            name = f"constant{len(self.constants)}"
            place = ir.GlobalVariable(self.cx.module, ir.ArrayType(I8, data.nbytes), name)
            place.global_constant = True
            place.align = 16
            place.type = POINTER
            if data.nbytes <= 4096 or self.cx.standalone:
                place.linkage = "internal"
                place.initializer = ir.Constant(place.value_type, bytearray(data.tobytes()))
            else:
                self.cx.constants[name] = data if data.ctypes.data % place.align == 0 else data.copy()
            buffer = Buffer(place, [I64(n) for n in data.shape], None, data.dtype)
            found = self.constants[id(operand.value)] = in_memory(self.cx, buffer)
        return found

    # ------------------------------------------------------------------------------------------------------- memory

    def allocate(self, slot: Slot, lengths: Sequence[ir.Value]) -> Buffer:
        """The memory of a slot, for an array of these lengths."""
        lengths = list(lengths)
        self._check_bounds(slot, lengths)
        pointer = self._pointer(slot, lengths)
        if self.cx.poisons and not slot.epoch and not slot.has_parts:
            self.cx.poison(pointer, self.byte_count(lengths, slot.type.dtype))
        return Buffer(pointer, lengths, None, slot.type.dtype, writable=True)

    def _check_bounds(self, slot: Slot, lengths: list[ir.Value]) -> None:
        cx = self.cx
        for k, n in enumerate(slot.type.shape):
            length = lengths[k]
            if isinstance(n, int) and known(length) != n:
                cx.fail_if(
                    cx.builder.icmp_signed("!=", length, I64(n)), "ValueError",
                    "an array has length {0} along an axis where {1} was expected", length, I64(n),
                )  # fmt: skip
                lengths[k] = I64(n)
            elif isinstance(n, Dyn) and n.bound is not None and not _is_at_most(length, n.bound):
                cx.fail_if(
                    cx.builder.icmp_unsigned(">", length, I64(n.bound)), "ValueError",
                    "an array has length {0} along an axis where at most {1} was expected", length, I64(n.bound),
                )  # fmt: skip

    def _pointer(self, slot: Slot, lengths: Sequence[ir.Value]) -> ir.Value:
        builder = self.cx.builder
        if id(slot) in self.places:
            return self.places[id(slot)]
        if slot.within is not None:
            whole, offset = slot.within
            return builder.gep(self._pointer(whole, []), [I64(offset)], inbounds=True, source_etype=I8)
        if slot.output is not None:
            return self.outputs[slot.output]
        if slot.on_stack:
            if id(slot) not in self._stack:
                place = self.cx.on_stack(I8, max(slot.nbytes or 0, 1), "small")
                place.align = 64
                self._stack[id(slot)] = place
            return self._stack[id(slot)]
        if slot.offset is not None:
            return builder.gep(self.arena, [I64(slot.offset - self.arena_start)], inbounds=True, source_etype=I8)
        return self.heap(slot).at_least(self.byte_count(lengths, slot.type.dtype))

    @contextmanager
    def for_any_thread(self, memory: ir.Value, start: int) -> Iterator[None]:
        """What is written has memory of its own: an arena, from a byte on, and small arrays on the stack.

        It shares no functions with other parts of the kernel: these may look for signals, which only the thread may do
        that called.
        """
        before = self.arena, self.arena_start, self._stack, self.outline
        self.arena, self.arena_start, self._stack, self.outline = memory, start, dict(self._stack), None
        yield
        self.arena, self.arena_start, self._stack, self.outline = before

    def fills(self, array: Array, slot: Slot) -> bool:
        """Whether an array lies in a slot, from its beginning to its end and in order."""
        buffer = array.buffer
        if buffer is None or buffer.strides is not None or array.slots() != [slot] or not slot.type.is_static:
            return False
        return known(product(self.cx.builder, array.lengths)) == math.prod(slot.type.shape)

    def heap(self, slot: Slot) -> GrowingMemory:
        if id(slot) not in self._heap:
            self._heap[id(slot)] = GrowingMemory(self.cx)
        return self._heap[id(slot)]

    def byte_count(self, lengths: Sequence[ir.Value], dtype: np.dtype) -> ir.Value:
        """How many bytes an array needs; a MemoryError if that is not a number."""
        cx = self.cx
        total: ir.Value = I64(dtype.itemsize)
        for n in lengths:
            if known(n) is not None and known(total) is not None:
                total = I64(known(total) * known(n))  # type: ignore[operator]
                continue
            pair = cx.builder.umul_with_overflow(total, n)
            cx.fail_if(cx.builder.extract_value(pair, 1), "MemoryError", "an array is too large")
            total = cx.builder.extract_value(pair, 0)
        return total

    def current(self, slot: Slot, lengths: Sequence[ir.Value]) -> Array:
        """What lies in a slot now."""
        return in_memory(self.cx, Buffer(self.place(slot), list(lengths), None, slot.type.dtype, writable=True), slot)

    def place(self, slot: Slot) -> ir.Value:
        """Where a slot lies now."""
        return self._heap[id(slot)].current() if id(slot) in self._heap else self._pointer(slot, [])

    def made(self, slot: Slot, buffer: Buffer) -> Array:
        """The array that was just written into the memory of a slot."""
        slot.epoch += 1
        return in_memory(self.cx, buffer, slot)

    # ------------------------------------------------------------------------------------------------------- copying

    def make(self, array: Array, slot: Slot, folds: Sequence[FoldProtocol] = ()) -> Array:
        """Compute an array into a slot, and reductions of it."""
        buffer = self.allocate(slot, array.lengths)
        self.fill(array, buffer, folds)
        return self.made(slot, buffer)

    def in_buffer(self, array: Array) -> Buffer:
        """The array in memory; where it is not, in scratch memory."""
        return array.buffer if array.buffer is not None else self.in_scratch(array)

    def in_scratch(self, array: Array) -> Buffer:
        """A copy of the array in scratch memory."""
        nbytes = self.byte_count(array.lengths, array.dtype)
        static = known(nbytes)
        pointer = self.cx.scratch(nbytes if static is None else static)
        buffer = Buffer(pointer, array.lengths, None, array.dtype, writable=True)
        self.fill(array, buffer)
        return buffer

    def fill(self, array: Array, target: Buffer, folds: Sequence[FoldProtocol] = ()) -> None:
        """Write the elements of an array into memory of the same lengths. `folds` are told of every one."""
        cx, builder = self.cx, self.cx.builder
        total = product(builder, array.lengths)
        if not folds and target.strides is None and array.buffer is not None and array.buffer.strides is None:
            if array.buffer.pointer is target.pointer:
                return
            if known(total) is None or known(total) > 8:  # type: ignore[operator]
                array.check()
                self.copy_bytes(target.pointer, array.buffer.pointer, self.byte_count(array.lengths, array.dtype))
                self.work(total)
                return
        if not folds and target.strides is None and array.buffer is not None and _is_transposed(array.buffer):
            array.check()
            assert array.buffer.strides is not None
            rows, columns = array.lengths
            copy_transposed(
                cx, target.dtype, array.buffer.pointer, array.buffer.strides[1], target.pointer, columns, rows, columns
            )
        elif target.strides is None and array.flat is not None:
            with shared(cx, [total], target.dtype, totals=folds, is_independent=True) as (i,):
                value = array.flat(i)
                store_element(cx.builder, value, target.pointer, i, target.dtype)
                for fold in folds:
                    fold.add(value)
        else:
            strides = contiguous_strides(builder, target.lengths) if target.strides is None else target.strides
            with shared(cx, array.lengths, target.dtype, totals=folds, is_independent=True) as indices:
                value = array.load(indices)
                store_element(cx.builder, value, target.pointer, dot(cx.builder, indices, strides), target.dtype)
                for fold in folds:
                    fold.add(value)
        self.work(total)

    def copy_bytes(self, target: ir.Value, source: ir.Value, nbytes: ir.Value) -> None:
        memcpy = self.cx.declare("llvm.memcpy.p0.p0.i64", VOID, [POINTER, POINTER, I64, I1])
        self.cx.builder.call(memcpy, [target, source, nbytes, I1(0)])

    def zero(self, target: Buffer) -> None:
        """Fill a contiguous buffer with zeros."""
        memset = self.cx.declare("llvm.memset.p0.i64", VOID, [POINTER, I8, I64, I1])
        self.cx.builder.call(memset, [target.pointer, I8(0), self.byte_count(target.lengths, target.dtype), I1(0)])

    # ----------------------------------------------------------------------------------------------------- Ctrl-C

    def work(self, amount: ir.Value) -> None:
        """Note that so many steps were done inside a loop; every so often a signal may end the kernel.

        Small amounts are added up, for a note at the end of the iteration.
        """
        n = known(amount)
        if not self.loop_depth or self.cx.is_shared or (n is not None and n < 64):
            return
        if n is None:
            self.poll(amount)
            return
        self.owed += n
        if self.owed > POLL_EVERY // 16:
            self.note_work()

    def note_work(self) -> None:
        """At the end of an iteration of a loop."""
        if self.owed:
            self.poll(I64(self.owed))
        self.owed = 0

    def poll(self, amount: ir.Value) -> None:
        cx, b = self.cx, self.cx.builder
        if cx.standalone or cx.is_shared:
            return
        if self._work is None:
            self._work = cx.on_stack(I64, name="work")
            with cx.at_entry() as at_entry:
                at_entry.store(I64(0), self._work)
        done = b.add(b.load(self._work, typ=I64), amount)
        b.store(done, self._work)
        with b.if_then(b.icmp_signed(">", done, I64(POLL_EVERY)), likely=False):
            b.store(I64(0), self._work)
            interrupted = b.icmp_signed("!=", b.call(poll_function(cx), [cx.record]), I32(0))
            with cx.unlikely(interrupted):
                cx.exit_with(I32(SIGNALLED))


POLL_EVERY = 1 << 20
"""Steps of loops between two looks whether the user pressed Ctrl-C: well under a millisecond for the cheapest steps."""


_SQUARE = 16
"""Rows and columns from which on matrices are transposed in blocks."""


def _is_transposed(buffer: Buffer) -> bool:
    """Whether a buffer is a matrix that lies by columns, and large enough to be copied in blocks."""
    if buffer.ndim != 2 or buffer.strides is None or not has_blocks(buffer.dtype):
        return False
    if any((known(n) or 0) < _SQUARE for n in buffer.lengths):
        return False
    down, right = map(known, buffer.strides)
    return down == 1 and right is not None and right >= _SQUARE


def _is_at_most(length: ir.Value, bound: int) -> bool:
    n = known(length)
    return n is not None and n <= bound


def constant(value: Any, dtype: np.dtype) -> Scalar:
    """A scalar constant.

    >>> print(constant(2, np.dtype(float)))
    double 0x4000000000000000
    """
    if isinstance(value, np.ndarray):
        value = value[()]
    if not is_native(dtype):
        return ir.Constant(register_type(dtype), bytearray(np.asarray(value, dtype).tobytes()))
    if dtype.kind == "c":
        part = register_type(dtype)
        return Complex(_real(part, np.real(value), dtype), _real(part, np.imag(value), dtype))
    return _real(register_type(dtype), value, dtype)


def _real(type: ir.Type, value: Any, dtype: np.dtype) -> ir.Value:
    if isinstance(type, ir.IntType):
        return type(int(value))
    return type(float(value))


def widened(builder: ir.IRBuilder, value: ir.Value, dtype: np.dtype) -> ir.Value:
    """An integer or bool as i64."""
    width = value.type.width
    if isinstance(value, ir.Constant):
        return I64(int(value.constant))
    if width == 64:
        return value
    return builder.sext(value, I64) if dtype.kind == "i" else builder.zext(value, I64)


__all__ = ["Emitter", "Frame", "Kind", "F64"]
