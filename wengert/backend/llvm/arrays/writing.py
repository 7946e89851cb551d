"""Ops that write: `store`, `add_at`, `scatter`, `concatenate`, `padded`.

Where the plan says so, a store goes right into the slot of its operand; otherwise the operand is first computed into
the slot of the result. The value was made before if it reads what is overwritten at any other place (see `memory.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.array import NEVER_ONE, Array, broadcasted, strides_of
from wengert.backend.llvm.arrays.buffer import (
    I64,
    Buffer,
    Scalar,
    dot,
    element_type,
    known,
    load_element,
    offset_of,
    plus,
    product,
    store_element,
    times,
)
from wengert.backend.llvm.arrays.composed import index_operands, lengths_from, pointwise
from wengert.backend.llvm.arrays.place import CheckedIndex
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.threads.sharing import shared
from wengert.backend.plan.access import is_supported
from wengert.backend.plan.memory import Slot
from wengert.ir.node import Node, Operand
from wengert.ops.index import ARRAY, FLAG

_MOST_TOGETHER = 32
"""So many pieces are put together in one loop."""


def is_written_natively(node: Node) -> bool:
    patterns = node.params["patterns"] if node.op.name == "scatter" else (node.params["pattern"],)
    return all(is_supported(p) for p in patterns)


def write(em: Emitter, frame: Frame, node: Node, i: int) -> Array:
    """`store` and `add_at`."""
    cx, out = em.cx, node.outs[0]
    if not out.type.ndim:
        return _number(em, frame, node)
    slot = frame.plan.slots[out]
    x = em.array(frame, node.args[0])
    pattern = em.params(frame, node)["pattern"]
    value = converted(em, frame, node.args[1], out.type.dtype)
    operands = index_operands(em, frame, node.args[2:])
    if i in frame.plan.in_place:
        target = x.buffer
        assert target is not None
        target = Buffer(target.pointer, target.lengths, target.strides, target.dtype, writable=True)
        place = CheckedIndex(cx, x.lengths, pattern, operands)
        _put(em, target, place, value, add=node.op.name == "add_at")
        return em.made(slot, target)
    if x.dtype != out.type.dtype:
        x = converted(em, frame, node.args[0], out.type.dtype)
    place = CheckedIndex(cx, x.lengths, pattern, operands)
    made = em.make(x, slot).buffer
    assert made is not None
    target = made
    _put(em, target, place, value, add=node.op.name == "add_at")
    return em.made(slot, target)


def _number(em: Emitter, frame: Frame, node: Node) -> Array:
    """An array without axes is a number, which lies in no memory: `y[...] = v` and `y[None] += v` make another one."""
    cx, dtype = em.cx, node.outs[0].type.dtype
    place = CheckedIndex(cx, [], em.params(frame, node)["pattern"], index_operands(em, frame, node.args[2:]))
    value = fitting(cx, converted(em, frame, node.args[1], dtype), place.lengths)
    number = value.load([I64(0)] * value.ndim)
    if node.op.name == "add_at":
        old = converted(em, frame, node.args[0], dtype).load([])
        number = scalars.emit(cx, "add", {}, dtype, [old, number], [dtype, dtype], [False, False])
    return Array([], dtype, lambda _: number)


def converted(em: Emitter, frame: Frame, operand: Operand, dtype: np.dtype) -> Array:
    cx, a, old = em.cx, em.array(frame, operand), operand.type.dtype
    if old == dtype:
        return a
    return pointwise(cx, a.lengths, dtype, [a], lambda v: scalars.convert(cx, v[0], old, dtype))


def _put(em: Emitter, target: Buffer, place: CheckedIndex, value: Array, add: bool) -> None:
    """Write, or add, a value at a place of a buffer."""
    cx = em.cx
    value = fitting(cx, value, place.lengths)
    whole = place.affine(target)
    if whole is not None:
        start, strides, contiguous = whole

        def where(part: Sequence[ir.Value]) -> ir.Value:
            return plus(cx.builder, start, dot(cx.builder, part, strides))

        if contiguous and value.flat is not None and place.lengths and not add:
            with cx.loop(product(cx.builder, place.lengths), lanes=target.dtype, is_independent=True) as k:
                at = plus(cx.builder, start, k)
                store_element(cx.builder, value.flat(k), target.pointer, at, target.dtype)
            em.work(product(cx.builder, place.lengths))
            return
    else:

        def where(part: Sequence[ir.Value]) -> ir.Value:
            return offset_of(cx.builder, target, place.indices(part))

    # A basic index names no element twice, and the value is read where it is written, or elsewhere (`memory.py`).
    _each(em, place.lengths, value, lambda part, v: put_one(cx, target, where(part), v, add), whole is not None)


def _each(em: Emitter, lengths: list[ir.Value], value: Array, action: Callable, is_independent: bool) -> None:
    with em.cx.loops(lengths, value.dtype, is_independent) as part:
        action(part, value.load(part if value.ndim else []))
    em.work(product(em.cx.builder, lengths))


def put_one(cx: Context, target: Buffer, at: ir.Value, value: Scalar, add: bool) -> None:
    if add:
        old = load_element(cx.builder, target.pointer, at, target.dtype)
        d = target.dtype
        value = scalars.emit(cx, "add", {}, d, [old, value], [d, d], [False, False])
    store_element(cx.builder, value, target.pointer, at, target.dtype)


def fitting(cx: Context, value: Array, lengths: list[ir.Value]) -> Array:
    """The value, broadcast to its place; it may have more axes in front, of length one."""
    if not value.ndim:
        return value
    extra = value.ndim - len(lengths)
    if extra > 0:
        inner, many = value.load, extra
        value = Array(value.lengths[extra:], value.dtype, lambda part: inner([I64(0)] * many + list(part)),
                      value.flat, None, value.epochs)  # fmt: skip
        if not value.ndim:
            return value
    for own, wanted in zip(value.lengths, lengths[len(lengths) - value.ndim :], strict=True):
        if known(own) != 1:
            message = "could not broadcast a value with {0} elements along an axis into a place with {1}" + NEVER_ONE
            cx.fail_if_differ(own, wanted, message)
    return broadcasted(cx, value, lengths)


def scatter(em: Emitter, frame: Frame, node: Node) -> Array:
    """Zeros, and each value added at its place."""
    cx, out = em.cx, node.outs[0]
    params = em.params(frame, node)
    slot = frame.plan.slots[out]
    patterns = params["patterns"]
    values = [converted(em, frame, a, out.type.dtype) for a in node.args[: len(patterns)]]
    remaining = index_operands(em, frame, node.args[len(patterns) :])
    target = em.allocate(slot, lengths_from(em, params["shape"]))
    em.zero(target)
    for pattern, value in zip(patterns, values, strict=True):
        count = sum(item is ARRAY or item is FLAG for item in pattern)
        own, remaining = remaining[:count], remaining[count:]
        _put(em, target, CheckedIndex(cx, target.lengths, pattern, own), value, add=True)
    return em.made(slot, target)


def concatenate(em: Emitter, frame: Frame, node: Node) -> Array:
    cx, out = em.cx, node.outs[0]
    axis = node.params["axis"]
    pieces = [converted(em, frame, a, out.type.dtype) for a in node.args]
    lengths = list(pieces[0].lengths)
    for piece in pieces[1:]:
        for k, n in enumerate(piece.lengths):
            if k == axis:
                lengths[axis] = plus(cx.builder, lengths[axis], n)
            else:
                message = "all the input array dimensions except for the concatenation axis must match exactly"
                cx.fail_if_differ(lengths[k], n, message + ": {0} and {1}")
    slot = frame.plan.slots[out]
    target = em.allocate(slot, lengths)
    strides = strides_of(cx, target)
    if axis and _are_alike(pieces):
        _interleave(em, pieces, target, axis)
        return em.made(slot, target)
    start: ir.Value = I64(0)
    for piece in pieces:
        offset = times(cx.builder, start, strides[axis])
        pointer = cx.builder.gep(target.pointer, [offset], inbounds=True, source_etype=element_type(target.dtype))
        own = None if axis == 0 else strides
        at = known(offset)
        if at is not None and any(_lies_at(em, piece, s, slot, at * target.dtype.itemsize) for s in piece.slots()):
            piece.check()
        else:
            em.fill(piece, Buffer(pointer, piece.lengths, own, target.dtype, writable=True))
        start = plus(cx.builder, start, piece.lengths[axis])
    return em.made(slot, target)


def _are_alike(pieces: Sequence[Array]) -> bool:
    """Whether pieces are computed, and one loop can do it for all of them."""
    first, *others = [[known(n) for n in piece.lengths] for piece in pieces]
    return (
        len(pieces) <= _MOST_TOGETHER and None not in first and 0 not in first and all(own == first for own in others)
    )


def _interleave(em: Emitter, pieces: Sequence[Array], target: Buffer, axis: int) -> None:
    """Elements of all pieces in each iteration: they lie near each other, and have work in common."""
    cx, strides = em.cx, strides_of(em.cx, target)
    lengths = pieces[0].lengths
    with shared(cx, lengths, target.dtype, weight=len(pieces)) as indices:
        place = dot(cx.builder, indices, strides)
        elements = [piece.load(indices) for piece in pieces]
        step = times(cx.builder, lengths[axis], strides[axis])
        for k, element in enumerate(elements):
            at = plus(cx.builder, place, times(cx.builder, I64(k), step))
            store_element(cx.builder, element, target.pointer, at, target.dtype)
    em.work(product(cx.builder, target.lengths))


def _lies_at(em: Emitter, piece: Array, own: Slot, whole: Slot, at: int) -> bool:
    """Whether a piece was made right there, at a byte of a larger array. (It may be needed in other places, too.)"""
    return own.within == (whole, at) and em.fills(piece, own)


def padded(em: Emitter, frame: Frame, node: Node) -> Array:
    """An array at the beginning of a larger one, whose other elements stay what they are."""
    cx, (out,), shape = em.cx, node.outs, node.params["shape"]
    slot, x = frame.plan.slots[out], em.array(frame, node.args[0])
    target = em.allocate(slot, [I64(n) for n in shape])
    if any(s.within == (slot, 0) for s in x.slots()):
        x.check()  # it was made here
    else:
        for length, n in zip(x.lengths, shape, strict=True):
            if known(length) is None:
                cx.fail_if(
                    cx.builder.icmp_unsigned(">", length, I64(n)), "ValueError",
                    "an array has length {0} along an axis where at most {1} was expected", length, I64(n),
                )  # fmt: skip
        strides = None if _is_first_rows(node) else strides_of(cx, target)
        em.fill(x, Buffer(target.pointer, x.lengths, strides, target.dtype, writable=True))
    return em.made(slot, target)


def _is_first_rows(node: Node) -> bool:
    return node.args[0].type.shape[1:] == node.params["shape"][1:]
