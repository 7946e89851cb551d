"""The kernels of a region, in LLVM's language.

Where elements are written, thread t of T computes the elements t, t + T, t + 2T, … of the region's shape, counted in C
order; a reduction of everything leaves one number for each thread. Where an array is reduced along some axes, so many
threads (`parts`) share the work for one number, and leave as many numbers. Further kernels of the same kind reduce
those. Operands are read where they lie; their strides are constants of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.gpu.elements import Elements, OperandLayout, merged
from wengert.backend.gpu.scalar import KernelContext, combined, flat, gathered, parts_of
from wengert.backend.llvm.arrays.buffer import I64, POINTER, VOID, store_element
from wengert.backend.llvm.scalars.values import convert

I32 = ir.IntType(32)
_FITS = 1 << 30


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order; along axes of length one they are zero."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(0 if n == 1 else step)
        step *= n
    return tuple(reversed(strides))


def parts_for(shape: Sequence[int], axes: Sequence[int], threads: int, lanes: int) -> int:
    """How many threads share the work for one number of a reduction along axes."""
    length = math.prod([shape[k] for k in axes])
    kept = math.prod(shape) // length
    if length <= 16:
        return 1
    if len(shape) - 1 in axes:  # neighbours read neighbours, and join what they have found
        few = min(lanes, 8 if length < 256 else 32)
        more = min(threads // (kept * few), -(-length // (8 * lanes)))
        return few if more < 2 else lanes * more
    if threads < 2 * kept:
        return 1
    chunk = -(-length // min(threads // kept, -(-length // 8)))
    return -(-length // chunk)


def joining(region: Any, parts: int, lanes: int) -> int:
    """How many of the threads that share the work for one number join what they have found in registers."""
    return min(parts, lanes) if len(region.shape) - 1 in region.axes else 1


class _Kernel:
    """A kernel being written: its function, its parameters, and elements."""

    def __init__(self, region: Any, layouts: Sequence[OperandLayout], name: str):
        module = ir.Module(name)
        self.thread, self.threads = [
            ir.Function(module, ir.FunctionType(I64, []), f"wg_{n}") for n in ("thread", "threads")
        ]
        self.from_lane = ir.Function(module, ir.FunctionType(I64, [I64, I32]), "wg_from_lane")
        passed = [POINTER if y.strides is not None else _by_value(y.dtype) for y in layouts]
        outs = [POINTER] * (len(region.outputs) + len(region.reductions))
        function = ir.Function(module, ir.FunctionType(VOID, [*passed, *outs]), name)
        function.calling_convention = "ptx_kernel"
        for argument in function.args:
            if argument.type == POINTER:
                argument.add_attribute("noalias")
        self.cx = KernelContext(module, function)
        self.module, self.b = module, self.cx.builder
        self.outs = function.args[len(layouts) :]
        self.kind = I32 if _largest(region, layouts) < _FITS else I64
        self.elements = Elements(self.cx, self.kind, region.inside)
        for a, layout, argument in zip(region.inputs, layouts, function.args, strict=False):
            if layout.strides is None:
                self.elements.numbers[a] = _received(self.cx, argument, a.type.dtype)
            else:
                self.elements.places[a] = argument, layout

    def small(self, i: ir.Value) -> ir.Value:
        """A number of 64 bits, in as many as coordinates have."""
        return i if self.kind == I64 else self.b.trunc(i, self.kind)


def _largest(region: Any, layouts: Sequence[OperandLayout]) -> int:
    """The largest number that coordinates and offsets can come to."""
    shapes = [region.shape, *[node.outs[0].type.shape for node in region.inside.values()]]
    sizes = [math.prod(shape) for shape in shapes]
    for a, layout in zip(region.inputs, layouts, strict=True):
        if layout.strides is not None:
            sizes.append(sum([abs(s) * n for s, n in zip(layout.strides, a.type.shape, strict=True)]))
    return max(sizes)


def write_kernel(region: Any, layouts: Sequence[OperandLayout], name: str, parts: int = 1, lanes: int = 1) -> str:
    """The kernel of a region, for operands that lie so. Its parameters are the inputs, the outputs, and for each
    reduction where the numbers of the threads go; `lanes` threads run in step."""
    k = _Kernel(region, layouts, name)
    if len(region.axes) < len(region.shape):
        _write_reduction(k, region, parts, joining(region, parts, lanes))
    else:
        _write_elements(k, region)
    return str(k.module)


class _Totals:
    """What the reductions of a kernel have come to, in a loop."""

    def __init__(self, k: _Kernel, region: Any):
        self._k, self._region = k, region
        self._before = [[k.b.phi(t) for t in parts_of(n.outs[0].type.dtype)] for n in region.reductions]
        self._after: list[list[Any]] = []

    def take(self, is_first: ir.Value, coordinates: Any) -> None:
        k = self._k
        for node, phis in zip(self._region.reductions, self._before, strict=True):
            x = k.elements.reduced_element(node, coordinates)
            new = combined(k.cx, node, gathered(phis, node.outs[0].type.dtype), x)
            self._after.append([k.b.select(is_first, p, q) for p, q in zip(flat(x), flat(new), strict=True)])

    def close(self, entry: ir.Block) -> None:
        """At the end of the loop's body."""
        for phis, totals in zip(self._before, self._after, strict=True):
            for phi, total in zip(phis, totals, strict=True):
                phi.add_incoming(ir.Constant(phi.type, ir.Undefined), entry)
                phi.add_incoming(total, self._k.b.block)

    def join(self, lanes: int) -> None:
        """Let the first of so many threads in a row have what all of them have found, by halves."""
        k = self._k
        for n, node in enumerate(self._region.reductions):
            dtype = node.outs[0].type.dtype
            step = lanes // 2
            while step:
                other = [_from_lane(k, x, step) for x in self._after[n]]
                new = combined(k.cx, node, gathered(self._after[n], dtype), gathered(other, dtype))
                self._after[n] = flat(new)
                step //= 2

    def store(self, place: ir.Value) -> None:
        outs = self._k.outs[len(self._region.outputs) :]
        for node, totals, out in zip(self._region.reductions, self._after, outs, strict=True):
            dtype = node.outs[0].type.dtype
            store_element(self._k.b, gathered(totals, dtype), out, place, dtype)


def _write_elements(k: _Kernel, region: Any) -> None:
    b, es = k.b, k.elements
    entry, loop, done, end = b.block, *[b.append_basic_block(n) for n in ("loop", "done", "end")]
    size = I64(math.prod(region.shape))
    first, step = b.call(k.thread, []), b.call(k.threads, [])
    b.cbranch(b.icmp_unsigned("<", first, size), loop, end)
    b.position_at_end(loop)
    i = b.phi(I64)
    i.add_incoming(first, entry)
    totals = _Totals(k, region)
    with es.scope():
        coordinates = es.coordinates(k.small(i), region.shape)
        es.know_offset(coordinates, contiguous(region.shape), i)
        for out, argument in zip(region.outputs, k.outs, strict=False):
            store_element(b, es.at(out, coordinates), argument, i, out.type.dtype)
        totals.take(b.icmp_unsigned("==", i, first), coordinates)
    after = b.add(i, step)
    i.add_incoming(after, b.block)
    totals.close(entry)
    b.cbranch(b.icmp_unsigned("<", after, size), loop, done)
    b.position_at_end(done)
    totals.store(first)
    b.branch(end)
    b.position_at_end(end)
    b.ret_void()


def _from_lane(k: _Kernel, x: ir.Value, step: int) -> ir.Value:
    """The number in the same register of the thread that many further on."""
    b, kind = k.b, x.type
    bits = ir.IntType(kind.width) if isinstance(kind, ir.IntType) else I64 if kind == ir.DoubleType() else I32
    whole = x if kind == bits else b.bitcast(x, bits)
    there = b.call(k.from_lane, [whole if bits == I64 else b.zext(whole, I64), I32(step)])
    there = there if bits == I64 else b.trunc(there, bits)
    return there if kind == bits else b.bitcast(there, kind)


def _write_reduction(k: _Kernel, region: Any, parts: int, joined: int) -> None:
    """Thread t works on number t ÷ parts or t mod kept, so that neighbours read neighbours: along the last axis, each
    every so many-th element, otherwise each so many in a row. Threads too many work on the last number, in vain."""
    b, es, shape, axes = k.b, k.elements, region.shape, region.axes
    reduced = [shape[a] for a in axes]
    others = [n for a, n in enumerate(shape) if a not in axes]
    length, kept = math.prod(reduced), math.prod(others)
    work, loop, done, last, end = [b.append_basic_block(n) for n in ("work", "loop", "done", "last", "end")]
    t, number = b.call(k.thread, []), k.kind
    is_needed = b.icmp_unsigned("<", t, I64(kept * parts))
    b.cbranch(is_needed if joined == 1 else ir.IntType(1)(1), work, end)
    b.position_at_end(work)
    small = k.small(t)
    if len(shape) - 1 in axes:
        place, part = b.udiv(small, number(parts)), b.urem(small, number(parts))
        place = b.select(b.icmp_unsigned("<", place, number(kept)), place, number(kept - 1))
        start, step, stop = part, number(parts), number(length)
    else:
        place, part, chunk = b.urem(small, number(kept)), b.udiv(small, number(kept)), -(-length // parts)
        start, step = b.mul(part, number(chunk)), number(1)
        stop = b.add(start, number(chunk))
        stop = b.select(b.icmp_unsigned("<", stop, number(length)), stop, number(length))
    own = es.coordinates(place, others)
    b.branch(loop)
    b.position_at_end(loop)
    r = b.phi(number)
    r.add_incoming(start, work)
    totals = _Totals(k, region)
    with es.scope():
        totals.take(b.icmp_unsigned("==", r, start), merged(own, es.coordinates(r, reduced), axes))
    after = b.add(r, step)
    r.add_incoming(after, b.block)
    totals.close(work)
    b.cbranch(b.icmp_unsigned("<", after, stop), loop, done)
    b.position_at_end(done)
    totals.join(joined)
    is_first = b.icmp_unsigned("==", b.urem(t, I64(joined)), I64(0))
    b.cbranch(b.and_(is_needed, is_first), last, end)
    b.position_at_end(last)
    totals.store(b.udiv(t, I64(joined)))
    b.branch(end)
    b.position_at_end(end)
    b.ret_void()


def _by_value(dtype: np.dtype) -> ir.Type:
    return I64 if dtype.kind in "biu" else ir.DoubleType()


def _received(cx: KernelContext, argument: ir.Value, dtype: np.dtype) -> Any:
    """A number that was passed, as 64 bits."""
    return convert(cx, argument, np.dtype(np.int64 if argument.type == I64 else np.float64), dtype)
