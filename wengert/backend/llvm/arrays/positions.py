"""`searchsorted`, by halving, and `true_positions`, by counting first how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array
from wengert.backend.llvm.arrays.buffer import I64, Scalar, known, plus, product, store_at, store_element, times
from wengert.backend.llvm.arrays.reduction import Accumulator
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.threads.sharing import shared
from wengert.ir.node import Node

_INT = np.dtype(np.int64)


def is_searched_natively(node: Node) -> bool:
    a, v = node.args[0].type, node.args[1].type
    length = a.shape[-1]
    return a.dtype == v.dtype and a.dtype.kind in "fiu" and isinstance(length, int) and length > 0


def searchsorted(em: Emitter, frame: Frame, node: Node) -> Any:
    cx, out = em.cx, node.outs[0]
    a, v = [em.array(frame, x) for x in node.args]
    lead = a.ndim - 1
    count = known(a.lengths[-1]) or 1
    steps = count.bit_length()

    def search(indices: Sequence[ir.Value]) -> ir.Value:
        value, b = v.load(list(indices)), cx.builder
        place = Accumulator(cx, _INT)
        place.set(I64(0))
        with cx.loop(I64(steps), unrolled=False) as k:
            b = cx.builder
            beyond = b.add(place.get(), b.shl(I64(1), b.sub(I64(steps - 1), k)))
            inside = b.icmp_signed("<=", beyond, I64(count))
            last = b.sub(b.select(inside, beyond, I64(count)), I64(1))
            element = a.load([*indices[:lead], last])
            right = node.params["side"] == "right"
            is_before = b.not_(_less(cx, a.dtype, value, element)) if right else _less(cx, a.dtype, element, value)
            place.set(b.select(b.and_(inside, is_before), beyond, place.get()))
        em.work(I64(steps))
        return place.get()

    if not out.type.ndim:
        return search([])
    slot = frame.plan.slots[out]
    target = em.allocate(slot, v.lengths)
    with shared(cx, v.lengths, weight=4 * steps) as indices:
        store_at(cx.builder, search(indices), target, indices)
    return em.made(slot, target)


def _less(cx: Any, dtype: np.dtype, x: Scalar, y: Scalar) -> ir.Value:
    """In the order in which NumPy sorts: what is no number comes last."""
    b = cx.builder
    if dtype.kind != "f":
        return (b.icmp_signed if dtype.kind == "i" else b.icmp_unsigned)("<", x, y)
    is_last = b.and_(b.fcmp_unordered("uno", y, y), b.fcmp_ordered("ord", x, x))
    return b.or_(b.fcmp_ordered("<", x, y), is_last)


def true_positions(em: Emitter, frame: Frame, node: Node) -> Array:
    cx, out = em.cx, node.outs[0]
    mask = em.array(frame, node.args[0])
    found = Accumulator(cx, _INT)
    found.set(I64(0))
    with cx.loops(mask.lengths) as indices:
        found.set(cx.builder.add(found.get(), cx.builder.zext(mask.load(indices), I64)))
    slot = frame.plan.slots[out]
    target = em.allocate(slot, [found.get()])
    found.set(I64(0))
    with cx.loops(mask.lengths) as indices, cx.when(mask.load(indices)):
        place: ir.Value = I64(0)
        for i, n in zip(indices, mask.lengths, strict=True):
            place = plus(cx.builder, times(cx.builder, place, n), i)
        store_element(cx.builder, place, target.pointer, found.get(), _INT)
        found.set(cx.builder.add(found.get(), I64(1)))
    em.work(product(cx.builder, mask.lengths))
    return em.made(slot, target)
