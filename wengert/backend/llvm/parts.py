"""`add_parts`: sums into overlapping parts of an array, row by row.

Where all parts overlap, an element gets its sum at once. The elements of such a row before and behind, and rows that
only some of the parts reach, are done one value after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.array import Array, in_memory, strides_of
from wengert.backend.llvm.buffer import I1, I64, Buffer, Scalar, known, load_element, minus, plus, store_element, times
from wengert.backend.llvm.emitter import Emitter, Frame, constant
from wengert.ir.node import Node

Box = tuple[slice, ...]


def add_parts(em: Emitter, frame: Frame, node: Node, i: int) -> Array:
    """Write the code of one node."""
    (out,), slot = node.outs, frame.plan.slots[node.outs[0]]
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
    for n in out.type.shape:
        assert isinstance(n, int)
    em.work(I64(sum(known(_size(value)) or 0 for value in values)))
    slot.epoch += 1
    return in_memory(em.cx, target, slot)


def _size(value: Array) -> ir.Value:
    total = 1
    for n in value.lengths:
        total *= known(n) or 1
    return I64(total)


class _Rows:
    """All rows of an array that are touched."""

    def __init__(self, em: Emitter, target: Buffer, boxes: Sequence[Box], values: Sequence[Array], cleared: Box | None):
        self.em, self.cx, self.target, self.boxes, self.values = em, em.cx, target, boxes, values
        self.cleared = cleared
        self.strides = strides_of(em.cx, target)
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
        middle, whole = self.common[-1], self.hull[-1]
        self._each(row, middle.start, middle.stop, self._sum)
        for start, stop in ((whole.start, middle.start), (middle.stop, whole.stop)):
            self._one_by_one(row, start, stop, lambda box, action: action())

    def _outer(self, row: Sequence[ir.Value]) -> None:
        """A row that some parts reach."""

        def where_reached(box: Box, action: Callable[[], None]) -> None:
            reached = self._is_in(row, box)
            if known(reached) == 1:
                action()
            else:
                with self.cx.builder.if_then(reached):
                    action()

        self._one_by_one(row, self.hull[-1].start, self.hull[-1].stop, where_reached)

    def _one_by_one(
        self, row: Sequence[ir.Value], first: int, last: int, where: Callable[[Box, Callable[[], None]], None]
    ) -> None:
        """The elements of a row from one to another: what is cleared, then one value after the other."""
        zero = constant(0.0, self.target.dtype)

        def part(box: Box, one: Callable[[Sequence[ir.Value], ir.Value], Scalar]) -> None:
            start, stop = max(first, box[-1].start), min(last, box[-1].stop)
            if start < stop:
                where(box, lambda: self._each(row, start, stop, one))

        if self.cleared is not None:
            part(self.cleared, lambda at, offset: zero)
        for k, box in enumerate(self.boxes):
            part(box, lambda at, offset, k=k: self._plus(self._old(offset), self._value(k, at)))  # type: ignore[misc]

    def _each(
        self, row: Sequence[ir.Value], start: int, stop: int, one: Callable[[Sequence[ir.Value], ir.Value], Scalar]
    ) -> None:
        cx = self.cx
        with cx.loop(I64(stop - start), lanes=self.target.dtype) as j:
            at = [*row, plus(cx.builder, j, I64(start))]
            offset: ir.Value = I64(0)
            for k, stride in zip(at, self.strides, strict=True):
                offset = plus(cx.builder, offset, times(cx.builder, k, stride))
            store_element(cx.builder, one(at, offset), self.target.pointer, offset, self.target.dtype)

    def _sum(self, at: Sequence[ir.Value], offset: ir.Value) -> Scalar:
        total = constant(0.0, self.target.dtype) if self.cleared is not None else self._old(offset)
        for k in range(len(self.boxes)):
            total = self._plus(total, self._value(k, at))
        return total

    def _old(self, offset: ir.Value) -> Scalar:
        return load_element(self.cx.builder, self.target.pointer, offset, self.target.dtype)

    def _value(self, k: int, at: Sequence[ir.Value]) -> Scalar:
        b = self.cx.builder
        return self.values[k].load([minus(b, i, I64(side.start)) for i, side in zip(at, self.boxes[k], strict=True)])

    def _plus(self, x: Scalar, y: Scalar) -> Scalar:
        d = self.target.dtype
        return scalars.emit(self.cx, "add", {}, d, [x, y], [d, d], [False, False])


def _both(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return y if known(x) == 1 else b.and_(x, y)
