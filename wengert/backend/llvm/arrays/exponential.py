"""`logsumexp` and `softmax`: reductions that go through their operand two or three times.

With m the largest element, log Σ exp x = m + log Σ exp(x − m) cannot overflow. Where x = m, also if both are infinite,
the difference is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.buffer import I64, Scalar, known, product, register_type, store_at
from wengert.backend.llvm.arrays.reduction import Running, combiner
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.threads.sharing import shared
from wengert.ir.node import Node


class Lanes:
    """The elements that are reduced together, for each index along the other axes."""

    def __init__(self, em: Emitter, x: Array, axes: Sequence[int], may_be_empty: bool = False):
        self.em, self.cx, self.x = em, em.cx, x
        self.axes = [k for k in range(x.ndim) if k in axes]
        self.kept = [k for k in range(x.ndim) if k not in axes]
        self.dtype = x.dtype
        if may_be_empty:
            return
        empty = self.cx.builder.icmp_signed("==", product(self.cx.builder, self.inner), I64(0))
        message = "zero-size array to reduction operation maximum which has no identity"
        self.cx.fail_if(empty, "ValueError", message)

    @property
    def inner(self) -> list[ir.Value]:
        return [self.x.lengths[k] for k in self.axes]

    @property
    def outer(self) -> list[ir.Value]:
        return [self.x.lengths[k] for k in self.kept]

    def indices(self, outer: Sequence[ir.Value], inner: Sequence[ir.Value]) -> list[ir.Value]:
        found = dict(zip([*self.kept, *self.axes], [*outer, *inner], strict=True))
        return [found[k] for k in range(self.x.ndim)]

    def largest(self, outer: Sequence[ir.Value]) -> Scalar:
        top = self.running("max", -np.inf)
        with shared(self.cx, self.inner, self.dtype, totals=[top]) as inner:
            top.add(self.x.load(self.indices(outer, inner)))
        return top.result()

    def running(self, name: str, start: float) -> Running:
        return Running(self.cx, self.dtype, combiner(self.cx, name, self.dtype), register_type(self.dtype)(start))

    def weight(self, value: Scalar, top: Scalar) -> Scalar:
        """exp(x − m)."""
        b = self.cx.builder
        tied = b.fcmp_ordered("==", value, top)
        lead = b.select(tied, register_type(self.dtype)(0.0), b.fsub(value, top))
        return scalars.emit(self.cx, "exp", {}, self.dtype, [lead], [self.dtype], [False])

    def total(
        self, outer: Sequence[ir.Value], top: Scalar, each: Callable[[list[ir.Value], Scalar], None] | None = None
    ) -> Scalar:
        """Σ exp(x − m). `each` writes what else is done with every term."""
        total = self.running("sum", 0.0)
        with shared(self.cx, self.inner, self.dtype, totals=[total]) as inner:
            indices = self.indices(outer, inner)
            weight = self.weight(self.x.load(indices), top)
            total.add(weight)
            if each is not None:
                each(indices, weight)
        self.em.work(product(self.cx.builder, self.inner))
        return total.result()

    @property
    def steps(self) -> int:
        """How many elements there are for each index along the other axes; 1 if that is not known."""
        return math.prod([known(n) or 1 for n in self.inner])

    def reduced(self, frame: Frame, node: Node, one: Callable[[Sequence[ir.Value]], Scalar]) -> Any:
        """The result of a node, which is `one(outer)` for each index along the other axes."""
        cx, out = self.cx, node.outs[0]
        if not out.type.ndim:
            return one([])
        slot = frame.plan.slots[out]
        target = self.em.allocate(slot, self.outer)
        with shared(cx, self.outer, weight=self.steps) as outer:
            store_at(cx.builder, one(outer), target, outer)
        return self.em.made(slot, target)


def logsumexp(em: Emitter, frame: Frame, node: Node) -> Any:
    cx, out = em.cx, node.outs[0]
    lanes = Lanes(em, em.array(frame, node.args[0]), node.params["axis"])
    dtype = out.type.dtype

    def one(outer: Sequence[ir.Value]) -> Scalar:
        top = lanes.largest(outer)
        logarithm = scalars.emit(cx, "log", {}, dtype, [lanes.total(outer, top)], [dtype], [False])
        return cx.builder.fadd(logarithm, top)

    return lanes.reduced(frame, node, one)


def softmax(em: Emitter, frame: Frame, node: Node) -> Array:
    cx, out = em.cx, node.outs[0]
    x = em.array(frame, node.args[0])
    lanes = Lanes(em, x, node.params["axis"])
    dtype = out.type.dtype
    slot = frame.plan.slots[out]
    target = em.allocate(slot, x.lengths)

    def keep(indices: list[ir.Value], weight: Scalar) -> None:
        store_at(cx.builder, weight, target, indices)

    with shared(cx, lanes.outer, weight=lanes.steps) as outer:
        sum_of_weights = lanes.total(outer, lanes.largest(outer), keep)
        whole = in_memory(cx, target)
        with shared(cx, lanes.inner, dtype) as inner:
            indices = lanes.indices(outer, inner)
            share = cx.builder.fdiv(whole.load(indices), sum_of_weights)
            store_at(cx.builder, share, target, indices)
        em.work(product(cx.builder, lanes.inner))
    return em.made(slot, target)
