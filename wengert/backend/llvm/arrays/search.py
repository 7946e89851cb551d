"""`argmax` and `argmin`: the place of the first of the largest or smallest elements; NaN is before any number.

Vectors are made of loops that look for an extreme, but not of those that keep a place. So many elements are searched in
blocks: the extreme of each block decides whether it is the best so far, and only the best one is looked through for the
place, as the least of all places that have the extreme.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array
from wengert.backend.llvm.arrays.buffer import I64, Scalar, known, plus, product, store_at, times
from wengert.backend.llvm.arrays.reduction import Accumulator, combiner, is_empty
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.ir.node import Node

BLOCK = 256

Load = Callable[[ir.Value], Scalar]
"""The element at a place."""


def arg_extreme(em: Emitter, frame: Frame, node: Node) -> Any:
    """`argmax` and `argmin` along one axis, or of all elements."""
    cx, out = em.cx, node.outs[0]
    x, axis = em.array(frame, node.args[0]), node.params["axis"]
    if axis is not None and axis < 0:
        axis += x.ndim
    searched = list(range(x.ndim)) if axis is None else [axis]
    lengths = [x.lengths[k] for k in searched]
    count = product(cx.builder, lengths)
    empty = is_empty(cx.builder.icmp_signed("==", count, I64(0)), lengths)
    cx.fail_if(empty, "ValueError", f"attempt to get {node.op.name} of an empty sequence")
    rest = [k for k in range(x.ndim) if k not in searched]

    def search(outer: Sequence[ir.Value]) -> ir.Value:
        at = dict(zip(rest, outer, strict=True))
        load = _by_place(x, searched, at)
        if load is not None and (known(count) or 0) >= 2 * BLOCK:
            place = _Search(cx, node).in_blocks(load, known(count) or 0)
        else:
            place = _Search(cx, node).one_by_one(x, searched, at)
        em.work(count)
        return place

    if out.type.ndim == 0:
        return search([])
    slot = frame.plan.slots[out]
    target = em.allocate(slot, [x.lengths[k] for k in rest])
    with cx.loops(target.lengths) as outer:
        store_at(cx.builder, search(outer), target, outer)
    return em.made(slot, target)


def _by_place(x: Array, searched: list[int], at: dict[int, ir.Value]) -> Load | None:
    """How to read the elements that are searched by one number; `None` where that takes a division."""
    if len(searched) == 1:
        return lambda i: x.load([at.get(k, i) for k in range(x.ndim)])
    return x.flat


class _Search:
    """The best element so far, and where it is."""

    def __init__(self, cx: Context, node: Node):
        self.cx, self.node = cx, node
        self.dtype = node.args[0].type.dtype
        self.best, self.place = Accumulator(cx, self.dtype), Accumulator(cx, np.dtype(np.int64))

    def _offer(self, value: Scalar, place: ir.Value) -> None:
        with self.cx.when(_better(self.cx, self.node.op.name, self.dtype, value, self.best.get())):
            self.best.set(value)
            self.place.set(place)

    def one_by_one(self, x: Array, searched: list[int], at: dict[int, ir.Value]) -> ir.Value:
        cx = self.cx
        self.best.set(x.load([at.get(k, I64(0)) for k in range(x.ndim)]))
        self.place.set(I64(0))
        with cx.loops([x.lengths[k] for k in searched]) as inner:
            indices = [at[k] if k in at else inner[searched.index(k)] for k in range(x.ndim)]
            position: ir.Value = I64(0)
            for i, k in zip(inner, searched, strict=True):
                position = plus(cx.builder, times(cx.builder, position, x.lengths[k]), i)
            self._offer(x.load(indices), position)
        return self.place.get()

    def in_blocks(self, load: Load, count: int) -> ir.Value:
        cx = self.cx
        self.best.set(load(I64(0)))
        self.place.set(I64(0))
        whole = count - count % BLOCK
        with cx.loop(I64(count // BLOCK)) as k:
            start = times(cx.builder, k, I64(BLOCK))
            self._offer(self._extreme(load, start, BLOCK), start)
        if count > whole:
            self._offer(self._extreme(load, I64(whole), count - whole), I64(whole))
        b, start, best = cx.builder, self.place.get(), self.best.get()
        left = b.sub(I64(count), start)
        length = b.select(b.icmp_signed("<", left, I64(BLOCK)), left, I64(BLOCK))
        first = Accumulator(cx, np.dtype(np.int64))
        first.set(I64(BLOCK))
        with cx.loop(length) as i:
            found = self._is(load(plus(cx.builder, start, i)), best)
            offered = cx.builder.select(found, i, I64(BLOCK))
            before = first.get()
            first.set(cx.builder.select(cx.builder.icmp_signed("<", offered, before), offered, before))
        return plus(cx.builder, start, first.get())

    def _extreme(self, load: Load, start: ir.Value, count: int) -> Scalar:
        cx = self.cx
        combine = combiner(cx, self.node.op.name.removeprefix("arg"), self.dtype)
        found = Accumulator(cx, self.dtype)
        found.set(load(start))
        with cx.loop(I64(count), lanes=self.dtype) as i:
            found.set(combine(found.get(), load(plus(cx.builder, start, i))))
        return found.get()

    def _is(self, value: Scalar, best: Scalar) -> ir.Value:
        b = self.cx.builder
        if self.dtype.kind != "f":
            return b.icmp_signed("==", value, best)
        both = b.and_(b.fcmp_unordered("uno", value, value), b.fcmp_unordered("uno", best, best))
        return b.or_(b.fcmp_ordered("==", value, best), both)


def _better(cx: Context, name: str, dtype: np.dtype, value: Scalar, best: Scalar) -> ir.Value:
    b, sign = cx.builder, ">" if name == "argmax" else "<"
    if dtype.kind == "f":
        # NaN wins over a number, and the first NaN over later ones.
        better = b.fcmp_ordered(sign, value, best)
        fresh_nan = b.and_(b.fcmp_unordered("uno", value, value), b.fcmp_ordered("ord", best, best))
        return b.or_(better, fresh_nan)
    return b.icmp_signed(sign, value, best) if dtype.kind == "i" else b.icmp_unsigned(sign, value, best)
