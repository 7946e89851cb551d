"""Reductions and scans.

Loops run in the order of memory. Reduced axes at the end are added up in a register; if there are others in front of
them, partial results are combined in the memory of the result. So all loops go through memory in steps of one element
where they can. Only the sums that reductions make may be reordered (`reassoc`): each of several partial sums is then a
lane of a vector.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.array import Array
from wengert.backend.llvm.arrays.buffer import (
    I64,
    Buffer,
    Complex,
    Scalar,
    contiguous_strides,
    dot,
    element_type,
    known,
    load_element,
    offset_of,
    product,
    register_type,
    store_at,
    store_element,
)
from wengert.backend.llvm.arrays.composed import broadcast_lengths, pointwise
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import Emitter, Frame, constant
from wengert.backend.llvm.threads.sharing import shared
from wengert.ir.node import Dyn, Node, Type
from wengert.ops.op import TABLE, Op
from wengert.ops.traits import Raises

Combine = Callable[[Scalar, Scalar], Scalar]
FAST_SUM = ("reassoc", "contract", "nsz")


def _identity(op: Op) -> Any:
    return TABLE[op.combine].identity  # type: ignore[index]


def is_reduced_natively(node: Node) -> bool:
    dtypes = [a.type.dtype for a in (*node.args, *node.outs)]
    if node.op.raises is Raises.LENGTHS:
        return all(d.kind in "biuf" for d in dtypes)
    return True


def reduce(em: Emitter, frame: Frame, node: Node) -> Any:
    """The value of a node that is a reduction; what is not a scalar is made in the slot of the result."""
    cx, name, out = em.cx, node.op.name, node.outs[0]
    x = _operand(em, frame, node)
    axis = node.params.get("axis")
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis)
    combine = combiner(cx, name, out.type.dtype)
    lanes = None if node.op.combine in ("fmax", "fmin") else x.dtype  # LLVM does not know these as reductions
    start = None if node.op.raises is Raises.LENGTHS else constant(_identity(node.op), out.type.dtype)
    if start is None:
        empty = cx.builder.icmp_signed("==", product(cx.builder, [x.lengths[k] for k in axes]), I64(0))
        cx.fail_if(
            is_empty(empty, [x.lengths[k] for k in axes]), "ValueError",
            f"zero-size array to reduction operation {node.op.combine} which has no identity",
        )  # fmt: skip
    keepdims = node.params.get("keepdims", False)
    kept = [k for k in range(x.ndim) if k not in axes]
    if not kept and out.type.ndim == 0:
        return _folded_loops(em, x, list(range(x.ndim)), [], combine, start, lanes)
    lengths = [I64(1) if k in axes else n for k, n in enumerate(x.lengths) if keepdims or k in kept]
    slot = frame.plan.slots[out]
    target = em.allocate(slot, lengths)
    _into(em, x, axes, target, [k for k in range(x.ndim) if keepdims or k in kept], combine, start, lanes)
    return em.made(slot, target)


class Running:
    """A value that elements are combined with, one after the other; in chunks where threads share them."""

    def __init__(self, cx: Context, dtype: np.dtype, combine: Combine, start: Scalar):
        self._cx, self._dtype, self._combine, self._start = cx, dtype, combine, start
        self._parts: ir.Value | None = None

    def apart(self, chunks: int) -> None:
        self._parts = self._cx.on_stack(element_type(self._dtype), chunks, "parts")

    def begin(self) -> None:
        self._total = Accumulator(self._cx, self._dtype)
        self._total.set(self._start)

    def add(self, value: Scalar) -> None:
        self._total.set(self._combine(self._total.get(), value))

    def put(self, chunk: ir.Value) -> None:
        assert self._parts is not None
        store_element(self._cx.builder, self._total.get(), self._parts, chunk, self._dtype)

    def join(self, chunks: int) -> None:
        assert self._parts is not None
        self.begin()
        with self._cx.loop(I64(chunks)) as k:
            self.add(load_element(self._cx.builder, self._parts, k, self._dtype))

    def result(self) -> Scalar:
        return self._total.get()


class Fold(Running):
    """A reduction of all elements to a number that goes on while the elements are made, in whatever order."""

    def __init__(self, cx: Context, node: Node):
        dtype = node.outs[0].type.dtype
        start = constant(_identity(node.op), dtype)
        super().__init__(cx, dtype, combiner(cx, node.op.name, dtype), start)

    @staticmethod
    def takes(node: Node) -> bool:
        """Whether a node is such a reduction. There is at least one element, so an extreme is one of them."""
        (x, *others), (out,) = node.args, node.outs
        axis = node.params.get("axis")
        return (
            node.op.combine in ("add", "maximum", "minimum")
            and not others
            and out.type.ndim == 0
            and x.type.dtype == out.type.dtype
            and x.type.dtype.kind == "f"
            and x.type.is_static
            and 0 not in x.type.shape
            and (axis is None or len(axis) == x.type.ndim)
        )


def is_empty(empty: ir.Value, lengths: Sequence[ir.Value]) -> ir.Value:
    numbers = [known(n) for n in lengths]
    return ir.IntType(1)(int(0 in numbers)) if None not in numbers else empty


def _operand(em: Emitter, frame: Frame, node: Node) -> Array:
    """What is reduced, in the dtype of the result."""
    cx, out = em.cx, node.outs[0].type.dtype
    arrays = [em.array(frame, a) for a in node.args]
    dtypes = [a.type.dtype for a in node.args]
    name = node.op.name
    if name == "weighted_sum":
        types = [a.type for a in node.args]
        lengths = broadcast_lengths(cx, types, arrays, Type(_broadcast_shape(types), out))
        weak = [a.type.weak for a in node.args]
        return pointwise(cx, lengths, out, arrays, lambda v: scalars.emit(cx, "multiply", {}, out, v, dtypes, weak))
    (x,), (dtype,) = arrays, dtypes
    if name == "count_nonzero":
        bool_ = np.dtype(bool)
        to_bool = functools.partial(_converted, cx, dtype, bool_)
        return pointwise(cx, x.lengths, out, [x], lambda v: scalars.convert(cx, to_bool(v[0]), bool_, out))
    if dtype == out:
        return x
    return pointwise(cx, x.lengths, out, [x], lambda v: _converted(cx, dtype, out, v[0]))


def _broadcast_shape(types: Sequence[Type]) -> tuple[int | Dyn, ...]:
    rank = max(t.ndim for t in types)
    padded = [(1,) * (rank - t.ndim) + t.shape for t in types]
    return tuple([next((n for n in axis if n != 1), 1) for axis in zip(*padded, strict=True)])


def _converted(cx: Context, old: np.dtype, new: np.dtype, value: Scalar) -> Scalar:
    return scalars.convert(cx, value, old, new)


def combiner(cx: Context, name: str, dtype: np.dtype) -> Combine:
    combine = TABLE[name].combine
    assert combine is not None
    if combine == "add":
        return functools.partial(added, cx, dtype)
    if combine == "multiply" and dtype.kind == "f":
        return lambda a, b: cx.builder.fmul(a, b, flags=FAST_SUM)
    if combine in ("maximum", "minimum") and dtype.kind == "f":
        # LLVM knows how to make vectors of this reduction: NaN wins, as in NumPy.
        type = register_type(dtype)
        intrinsic = f"llvm.{combine}.f{8 * dtype.itemsize}"
        return lambda a, b: cx.builder.call(cx.declare(intrinsic, type, [type, type]), [a, b])
    return lambda a, b: scalars.emit(cx, combine, {}, dtype, [a, b], [dtype, dtype], [False, False])


def added(cx: Context, dtype: np.dtype, a: Scalar, b: Scalar) -> Scalar:
    """A sum whose terms may be reordered."""
    if dtype.kind == "c":
        return Complex(*[cx.builder.fadd(p, q, flags=FAST_SUM) for p, q in zip(a, b, strict=True)])
    if dtype.kind == "f":
        return cx.builder.fadd(a, b, flags=FAST_SUM)
    return cx.builder.or_(a, b) if dtype.kind == "b" else cx.builder.add(a, b)


class Accumulator:
    """A scalar that changes: variables on the stack, which LLVM turns into registers."""

    def __init__(self, cx: Context, dtype: np.dtype):
        self.cx, self.dtype = cx, dtype
        self.places = [cx.on_stack(register_type(dtype)) for _ in range(2 if dtype.kind == "c" else 1)]

    def get(self) -> Scalar:
        values = [self.cx.builder.load(p, typ=register_type(self.dtype)) for p in self.places]
        return Complex(*values) if self.dtype.kind == "c" else values[0]

    def set(self, value: Scalar) -> None:
        for part, place in zip(value if self.dtype.kind == "c" else [value], self.places, strict=True):
            self.cx.builder.store(part, place)


def _folded_loops(
    em: Emitter,
    x: Array,
    axes: Sequence[int],
    outer: Sequence[ir.Value],
    combine: Combine,
    start: Scalar | None,
    lanes: np.dtype | None,
) -> Scalar:
    """All elements along the last axes, combined; `outer` are the indices along the others."""
    cx = em.cx
    lengths = [x.lengths[k] for k in axes]
    zeros: list[ir.Value] = [I64(0)] * len(axes)
    total = Running(cx, x.dtype, combine, x.load([*outer, *zeros]) if start is None else start)
    if x.flat is not None and not outer:
        with shared(cx, [product(cx.builder, lengths)], lanes, totals=[total]) as (i,):
            total.add(x.flat(i))
    else:
        with shared(cx, lengths, lanes, totals=[total]) as inner:
            total.add(x.load([*outer, *inner]))
    em.work(product(cx.builder, lengths))
    return total.result()


def _into(
    em: Emitter,
    x: Array,
    axes: Sequence[int],
    target: Buffer,
    shown: Sequence[int],
    combine: Combine,
    start: Scalar | None,
    lanes: np.dtype | None,
) -> None:
    """Reduce into memory. `shown` are the axes of x that the result has (of length one where they are reduced)."""
    cx = em.cx
    tail = x.ndim
    while tail > 0 and tail - 1 in axes:
        tail -= 1
    front = list(range(tail))
    strides = contiguous_strides(cx.builder, target.lengths)
    in_memory_too = any(k in axes for k in front)

    def offset(indices: Sequence[ir.Value]) -> ir.Value:
        return dot(cx.builder, [I64(0) if k in axes else indices[k] for k in shown], strides)

    if in_memory_too:
        # What is there first: the identity, or the first of the elements that are combined.
        kept = [k for k in front if k not in axes]
        with cx.loops([x.lengths[k] for k in kept]) as found:
            indices: list[ir.Value] = [I64(0)] * x.ndim
            for k, i in zip(kept, found, strict=True):
                indices[k] = i
            first = x.load(indices) if start is None else start
            store_element(cx.builder, first, target.pointer, offset(indices), target.dtype)
    loops = cx.loops if in_memory_too else functools.partial(shared, cx, weight=_steps(x, range(tail, x.ndim)))
    with loops([x.lengths[k] for k in front], lanes if tail == x.ndim else None) as outer:
        if tail < x.ndim:
            part = _folded_loops(em, x, list(range(tail, x.ndim)), outer, combine, start, lanes)
        else:
            part = x.load(outer)
        at = offset(outer)
        if in_memory_too:
            part = combine(load_element(cx.builder, target.pointer, at, target.dtype), part)
        store_element(cx.builder, part, target.pointer, at, target.dtype)
    em.work(product(cx.builder, x.lengths))


def _steps(x: Array, axes: Sequence[int]) -> int:
    """How many elements there are along some axes; 1 if nobody knows."""
    return math.prod([known(x.lengths[k]) or 1 for k in axes])


def shares(em: Emitter, frame: Frame, node: Node) -> Array:
    """One over the number of elements that are equal to y along some axes, for these; zero for the others."""
    cx, out = em.cx, node.outs[0]
    y, x = [em.array(frame, a) for a in node.args]
    dtypes, weak = [a.type.dtype for a in node.args], [a.type.weak for a in node.args]
    number = register_type(out.type.dtype)
    axes = [k for k in range(x.ndim) if k in node.params["axis"]]
    kept = [k for k in range(x.ndim) if k not in axes]
    chosen = pointwise(
        cx, broadcast_lengths(cx, [a.type for a in node.args], [y, x], out.type), np.dtype(bool), [y, x],
        lambda v: scalars.emit(cx, "equal", {}, np.dtype(bool), v, dtypes, weak),
    )  # fmt: skip
    slot = frame.plan.slots[out]
    target = em.allocate(slot, x.lengths)
    inner_lengths = [x.lengths[k] for k in axes]

    def at(outer: Sequence[ir.Value], inner: Sequence[ir.Value]) -> list[ir.Value]:
        found = dict(zip([*kept, *axes], [*outer, *inner], strict=True))
        return [found[k] for k in range(x.ndim)]

    with cx.loops([x.lengths[k] for k in kept]) as outer:
        count = Accumulator(cx, np.dtype(np.int64))
        count.set(I64(0))
        with cx.loops(inner_lengths) as inner:
            one = cx.builder.zext(chosen.load(at(outer, inner)), I64)
            count.set(cx.builder.add(count.get(), one))
        total = count.get()
        least = I64(node.params.get("least", 0))
        total = cx.builder.select(cx.builder.icmp_signed("<", total, least), least, total)
        total = cx.builder.sitofp(total, number)
        with cx.loops(inner_lengths) as inner:
            place = at(outer, inner)
            share = cx.builder.select(chosen.load(place), number(1.0), number(0.0))
            share = cx.builder.fdiv(share, total)
            store_at(cx.builder, share, target, place)
    em.work(product(cx.builder, x.lengths))
    return em.made(slot, target)


# ------------------------------------------------------------------------------------------------ scans


def scan(em: Emitter, frame: Frame, node: Node) -> Array:
    """`cumsum` along an axis, `cumprod` along the first."""
    cx, out = em.cx, node.outs[0]
    x = em.array(frame, node.args[0])
    axis = node.params.get("axis", 0)
    old, new = node.args[0].type.dtype, out.type.dtype
    op = "add" if node.op.name == "cumsum" else "multiply"
    slot = frame.plan.slots[out]
    target = em.allocate(slot, x.lengths)
    strides = contiguous_strides(cx.builder, target.lengths)
    with cx.loops(x.lengths[:axis]) as before, cx.loop(x.lengths[axis]) as k, cx.loops(x.lengths[axis + 1 :]) as after:
        indices = [*before, k, *after]
        at = dot(cx.builder, indices, strides)
        value = scalars.convert(cx, x.load(indices), old, new)
        accumulated = Accumulator(cx, new)
        accumulated.set(value)
        with cx.when(cx.builder.icmp_signed(">", k, I64(0))):
            earlier = load_element(cx.builder, target.pointer, cx.builder.sub(at, strides[axis]), new)
            accumulated.set(scalars.emit(cx, op, {}, new, [earlier, value], [new, new], [False, False]))
        store_element(cx.builder, accumulated.get(), target.pointer, at, new)
    em.work(product(cx.builder, x.lengths))
    return em.made(slot, target)


def linear_recurrence(em: Emitter, frame: Frame, node: Node) -> Array:
    """h₀ = b₀, hₖ = aₖ·hₖ₋₁ + bₖ, along the first axis."""
    cx, out = em.cx, node.outs[0]
    arrays = [em.array(frame, a) for a in node.args]
    dtypes, new = [a.type.dtype for a in node.args], out.type.dtype
    lengths = broadcast_lengths(cx, [a.type for a in node.args], arrays, out.type)
    a, b = [
        pointwise(cx, lengths, new, [x], lambda v, d=d: scalars.convert(cx, v[0], d, new))
        for x, d in zip(arrays, dtypes, strict=True)
    ]
    slot = frame.plan.slots[out]
    target = em.allocate(slot, lengths)
    strides = contiguous_strides(cx.builder, lengths)
    with cx.loop(lengths[0]) as k, cx.loops(lengths[1:]) as lane:
        indices = [k, *lane]
        at = offset_of(cx.builder, target, indices)
        h = Accumulator(cx, new)
        h.set(b.load(indices))
        with cx.when(cx.builder.icmp_signed(">", k, I64(0))):
            earlier = load_element(cx.builder, target.pointer, cx.builder.sub(at, strides[0]), new)
            grown = scalars.emit(cx, "multiply", {}, new, [a.load(indices), earlier], [new, new], [False, False])
            h.set(scalars.emit(cx, "add", {}, new, [grown, h.get()], [new, new], [False, False]))
        store_element(cx.builder, h.get(), target.pointer, at, new)
    em.work(product(cx.builder, lengths))
    return em.made(slot, target)
