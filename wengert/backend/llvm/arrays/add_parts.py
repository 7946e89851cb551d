"""`add_parts`: sums into overlapping parts of an array, row by row.

An element gets its sum at once. Which parts reach it depends on where it is: along the last axis that is known, piece
by piece; of the rows, most are reached by all parts, and for the others it is asked.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.array import Array, strides_of
from wengert.backend.llvm.arrays.buffer import (
    I1,
    I64,
    Buffer,
    Scalar,
    dot,
    known,
    load_element,
    minus,
    plus,
    store_element,
)
from wengert.backend.llvm.emitter import Emitter, Frame, constant
from wengert.backend.llvm.machine.hints import memory_apart, read_elsewhere, written
from wengert.ir.node import Node

Box = tuple[slice, ...]


def add_parts(em: Emitter, frame: Frame, node: Node, i: int) -> Array:
    """Write the code of one node."""
    slot = frame.plan.slots[node.outs[0]]
    x = em.array(frame, node.args[0])
    values = [em.array(frame, a) for a in node.args[1:]]
    if i in frame.plan.in_place:
        found = x.buffer
        assert found is not None
        target = Buffer(found.pointer, found.lengths, found.strides, found.dtype, writable=True)
    else:
        made = em.make(x, slot).buffer
        assert made is not None
        target = made
    for value in values:
        value.check()
    _Rows(em, target, node.params["patterns"], values, node.params["cleared"]).write()
    em.work(I64(sum(math.prod([side.stop - side.start for side in box]) for box in node.params["patterns"])))
    return em.made(slot, target)


class _Rows:
    """All rows of an array that are touched."""

    def __init__(self, em: Emitter, target: Buffer, boxes: Sequence[Box], values: Sequence[Array], cleared: Box | None):
        self.em, self.cx, self.target, self.boxes, self.values = em, em.cx, target, boxes, values
        self.cleared = cleared
        self.strides = strides_of(em.cx, target)
        self.mark = memory_apart(em.cx.module)  # values do not lie where they are added to: see `memory.py`
        every = [*boxes, *([] if cleared is None else [cleared])]
        sides = list(zip(*every, strict=True))
        self.hull = tuple([slice(min(s.start for s in side), max(s.stop for s in side)) for side in sides])
        self.common = tuple([slice(max(s.start for s in side), min(s.stop for s in side)) for side in sides])

    def write(self) -> None:
        cx = self.cx
        lengths = [I64(side.stop - side.start) for side in self.hull[:-1]]
        with cx.loops(lengths) as part:
            row = [plus(cx.builder, k, I64(side.start)) for k, side in zip(part, self.hull[:-1], strict=True)]
            inside = self._is_in(row, self.common)
            if known(inside) == 1:
                self._inner(row)
                return
            with cx.builder.if_else(inside) as (then, otherwise):
                with then:
                    self._inner(row)
                with otherwise:
                    self._outer(row)

    def _is_in(self, row: Sequence[ir.Value], box: Box) -> ir.Value:
        """Whether a row is one of those of a part."""
        b, found = self.cx.builder, I1(1)
        for k, side, whole in zip(row, box[:-1], self.hull[:-1], strict=True):
            if side.start > whole.start:
                found = _both(b, found, b.icmp_signed(">=", k, I64(side.start)))
            if side.stop < whole.stop:
                found = _both(b, found, b.icmp_signed("<", k, I64(side.stop)))
        return found

    def _inner(self, row: Sequence[ir.Value]) -> None:
        """A row that all parts reach."""
        for start, stop, here, is_cleared in self._segments():
            self._each(row, start, stop, functools.partial(self._sum, here, is_cleared))

    def _outer(self, row: Sequence[ir.Value]) -> None:
        """A row that some parts reach: values of the others are -0.0, which added to anything changes nothing."""
        masks = [self._mask(self._is_in(row, box)) for box in self.boxes]
        rows = [self._nearest(row, box) for box in self.boxes]
        cleared = None if self.cleared is None else self._mask(self._is_in(row, self.cleared))
        for start, stop, here, is_cleared in self._segments():

            def one(
                at: Sequence[ir.Value], offset: ir.Value, here: list[int] = here, clear: bool = is_cleared
            ) -> Scalar:
                total = self._old(offset)
                if clear and cleared is not None:
                    total = self._only_if(self.cx.builder.not_(cleared), total, 0.0)
                for k in here:
                    value = self._only_if(masks[k], self._value(k, [*rows[k], at[-1]]), -0.0)
                    total = self._plus(total, value)
                return total

            self._each(row, start, stop, one)

    def _segments(self) -> Iterator[tuple[int, int, list[int], bool]]:
        """Pieces of a row, the values that parts have there, and whether it is cleared."""
        every = [*self.boxes, *([] if self.cleared is None else [self.cleared])]
        ends = sorted({end for box in every for end in (box[-1].start, box[-1].stop)})
        for start, stop in itertools.pairwise(ends):
            here = [k for k, box in enumerate(self.boxes) if _covers(box, start, stop)]
            is_cleared = self.cleared is not None and _covers(self.cleared, start, stop)
            if here or is_cleared:
                yield start, stop, here, is_cleared

    def _mask(self, condition: ir.Value) -> ir.Value:
        """All bits of an element, or none."""
        return self.cx.builder.sext(condition, ir.IntType(8 * self.target.dtype.itemsize))

    def _only_if(self, mask: ir.Value, value: Scalar, otherwise: float) -> Scalar:
        """A value where a mask has all bits, zero with some sign where it has none.

        By its bits: of a choice that is the same for the whole row LLVM would make two loops.
        """
        b = self.cx.builder
        bits = b.and_(b.bitcast(value, mask.type), mask)
        if math.copysign(1.0, otherwise) < 0:
            sign = mask.type(1 << (mask.type.width - 1))
            bits = b.or_(bits, b.and_(b.not_(mask), sign))
        return b.bitcast(bits, value.type)

    def _nearest(self, row: Sequence[ir.Value], box: Box) -> list[ir.Value]:
        """The row of a part that is nearest to some row: it has values that can be read, whether they count or not."""
        b, found = self.cx.builder, []
        for k, side, whole in zip(row, box[:-1], self.hull[:-1], strict=True):
            if side.start > whole.start:
                k = b.select(b.icmp_signed("<", k, I64(side.start)), I64(side.start), k)
            if side.stop < whole.stop:
                k = b.select(b.icmp_signed(">=", k, I64(side.stop)), I64(side.stop - 1), k)
            found.append(k)
        return found

    def _each(
        self, row: Sequence[ir.Value], start: int, stop: int, one: Callable[[Sequence[ir.Value], ir.Value], Scalar]
    ) -> None:
        cx = self.cx
        with cx.loop(I64(stop - start), lanes=self.target.dtype, is_independent=True) as j:
            at = [*row, plus(cx.builder, j, I64(start))]
            offset = dot(cx.builder, at, self.strides)
            store_element(cx.builder, one(at, offset), self.target.pointer, offset, self.target.dtype)
            written(cx.builder.block.instructions[-1], self.mark)

    def _sum(self, numbers: Sequence[int], is_cleared: bool, at: Sequence[ir.Value], offset: ir.Value) -> Scalar:
        """What an element is with some of the values added."""
        total = constant(0.0, self.target.dtype) if is_cleared else self._old(offset)
        for k in numbers:
            total = self._plus(total, self._value(k, at))
        return total

    def _old(self, offset: ir.Value) -> Scalar:
        value = load_element(self.cx.builder, self.target.pointer, offset, self.target.dtype)
        written(value, self.mark)
        return value

    def _value(self, k: int, at: Sequence[ir.Value]) -> Scalar:
        b = self.cx.builder
        block, before = b.block, len(b.block.instructions)
        value = self.values[k].load([minus(b, i, I64(side.start)) for i, side in zip(at, self.boxes[k], strict=True)])
        read_elsewhere(block.instructions[before:], self.mark)
        return value

    def _plus(self, x: Scalar, y: Scalar) -> Scalar:
        d = self.target.dtype
        return scalars.emit(self.cx, "add", {}, d, [x, y], [d, d], [False, False])


def _covers(box: Box, start: int, stop: int) -> bool:
    return box[-1].start <= start and stop <= box[-1].stop


def _both(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return y if known(x) == 1 else b.and_(x, y)
