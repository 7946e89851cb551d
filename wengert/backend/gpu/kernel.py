"""The kernels of a region, in LLVM's language.

Where elements are written, thread t of T computes the elements t, t + T, t + 2T, … of the region's shape, counted in C
order, or patch after patch where elements need neighbours in other rows; a reduction of everything leaves one number
for each thread. Where an array is reduced along some axes, so many threads (`parts`) share the work for one number, and
leave as many numbers. Further kernels of the same kind reduce those. A thread may make several numbers
at a time (`Tiling`), and what these have in common is read and computed once. Operands are read where they lie; their
strides are constants of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.gpu.elements import (
    Coordinate,
    Coordinates,
    Elements,
    OperandLayout,
    fitted,
    merged,
    reads_other_rows,
)
from wengert.backend.gpu.scalar import KernelContext, combined, divisors_of_several, flat, gathered, parts_of
from wengert.backend.llvm.arrays.buffer import I64, POINTER, VOID, store_element
from wengert.backend.llvm.scalars.values import convert
from wengert.ir.node import Node

I32 = ir.IntType(32)
_FITS = 1 << 30


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order; along axes of length one they are zero."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(0 if n == 1 else step)
        step *= n
    return tuple(reversed(strides))


_MOST_OWN = 16
"""So many numbers of a reduction at most a thread makes at a time."""
_FEW = 16
"""A reduction of so few elements is one thread's work."""


class Tiling(NamedTuple):
    """How the work of a reduction along some axes is shared: each thread makes the numbers of a tile of the axes that
    are kept, and so many threads (`parts`) share the work for it. `in_a_row`: these are neighbours, which read
    neighbours, and as many as are `joined` join what they have found in registers; otherwise neighbours make tiles that
    are neighbours."""

    tile: tuple[int, ...]
    parts: int
    in_a_row: bool
    joined: int

    @property
    def numbers(self) -> int:
        return math.prod(self.tile)


def tiling_for(region: Any, threads: int, lanes: int) -> Tiling:
    """How the work of a region that is reduced along some axes is shared by about so many threads."""
    shape, axes = region.shape, region.axes
    length = math.prod([shape[k] for k in axes])
    kept = [k for k in range(len(shape)) if k not in axes]
    tile = _tile(region, kept, length, threads)
    own = {k for k, n in zip(kept, tile, strict=True) if n == shape[k]}
    in_a_row = max(k for k in range(len(shape)) if k not in own) in axes
    parts = _parts(length, region.kept // math.prod(tile), in_a_row, threads, lanes, 8 if region.inside else 32)
    return Tiling(tile, parts, in_a_row, min(parts, lanes) if in_a_row else 1)


def _tile(region: Any, kept: Sequence[int], length: int, threads: int) -> tuple[int, ...]:
    """Short axes at the end (the coordinates of points) are a thread's own; and where operands are small beside what is
    computed of them, as in a table of distances, a thread that makes a few neighbours reads each element less often."""
    shape, last = region.shape, len(region.shape) - 1
    tile = [1] * len(kept)
    if length <= _FEW:
        return tuple(tile)
    for n in reversed(range(len(kept))):
        if kept[n] != last - (len(kept) - 1 - n) or math.prod(tile) * shape[kept[n]] > _MOST_OWN // 2:
            break
        tile[n] = shape[kept[n]]
    operands = sum([math.prod(a.type.shape) for a in region.inputs])
    # (What is stored on the way is stored by neighbours at neighbouring places.)
    if math.prod(tile) == 1 and operands * _FEW <= region.size and not region.outputs:
        for n in reversed(range(len(kept))):
            for side in (4, 2):
                larger = side * math.prod(tile)
                if shape[kept[n]] % side == 0 and larger <= _MOST_OWN and region.kept // larger * 8 >= threads:
                    tile[n] = side
                    break
    return tuple(tile)


def _parts(length: int, tiles: int, in_a_row: bool, threads: int, lanes: int, own: int) -> int:
    """How many threads share the work for the numbers of a tile, each for about `own` elements: more where these are
    only read, since a further kernel takes longer."""
    if length <= 2 * own and (not in_a_row or length <= _FEW):
        return 1
    if in_a_row:
        few = min(lanes, 8 if length < 256 else 32)
        more = min(threads // (tiles * few), -(-length // (own * lanes)))
        return few if more < 2 else lanes * more
    if threads < 2 * tiles:
        return 1
    chunk = -(-length // min(threads // tiles, -(-length // own)))
    return -(-length // chunk)


class KernelWriter:
    """A kernel being written: its function, its parameters, and elements."""

    def __init__(self, region: Any, layouts: Sequence[OperandLayout], name: str):
        module = ir.Module(name)
        self.thread, self.threads = [
            ir.Function(module, ir.FunctionType(I64, []), f"wg_{n}") for n in ("thread", "threads")
        ]
        self.from_lane = ir.Function(module, ir.FunctionType(I64, [I64, I32]), "wg_from_lane")
        passed = [POINTER if y.strides is not None else _by_value(y.dtype) for y in layouts]
        outs = [POINTER] * len(region.made)
        function = ir.Function(module, ir.FunctionType(VOID, [*passed, *outs]), name)
        function.calling_convention = "ptx_kernel"
        for argument in function.args:
            if argument.type == POINTER:
                argument.add_attribute("noalias")
        self.cx = KernelContext(module, function)
        self.cx.divisors = divisors_of_several(set(region.inside.values()))
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


def write_kernel(region: Any, layouts: Sequence[OperandLayout], name: str, shared: Tiling | int = 1) -> str:
    """The kernel of a region, for operands that lie so. Its parameters are the inputs, the outputs, and for each
    reduction where the numbers of the threads go; a reduction along some axes has a tiling, one of everything a number
    of threads that join what they have found."""
    k = KernelWriter(region, layouts, name)
    if isinstance(shared, Tiling):
        _write_reduction(k, region, shared)
    else:
        _write_elements(k, region, shared)
    return str(k.module)


class Totals:
    """What the reductions of a kernel have come to, in a loop, for each number of a tile."""

    def __init__(self, k: KernelWriter, region: Any, tile: Sequence[int] = ()):
        self._k, self._outs = k, k.outs[len(region.outputs) :]
        self.places = list(np.ndindex(*tile))
        self._nodes = [(node, place) for node in region.reductions for place in self.places]
        self._before = [[k.b.phi(t) for t in parts_of(node.outs[0].type.dtype)] for node, _ in self._nodes]
        self._after: list[list[Any]] = []

    def take(self, is_first: ir.Value, coordinates: Callable[[tuple[int, ...]], Coordinates]) -> None:
        """The elements of an iteration; further ones of the same iteration at the next call."""
        k, before = self._k, self._after or self._before
        after = []
        for (node, place), found in zip(self._nodes, before, strict=True):
            x = k.elements.reduced_element(node, coordinates(place))
            new = flat(combined(k.cx, node, gathered(found, node.outs[0].type.dtype), x))
            after.append(
                new if self._after else [k.b.select(is_first, p, q) for p, q in zip(flat(x), new, strict=True)]
            )
        self._after = after

    def close(self, entry: ir.Block) -> None:
        """At the end of the loop's body."""
        for phis, totals in zip(self._before, self._after, strict=True):
            for phi, total in zip(phis, totals, strict=True):
                phi.add_incoming(ir.Constant(phi.type, ir.Undefined), entry)
                phi.add_incoming(total, self._k.b.block)

    def leave(self, others: Sequence[ir.Block], latch: ir.Block) -> None:
        """After the loop, in a block that others reach as well, which have found nothing."""
        for n, totals in enumerate(self._after):
            phis = [self._k.b.phi(x.type) for x in totals]
            for phi, x in zip(phis, totals, strict=True):
                phi.add_incoming(x, latch)
                for block in others:
                    phi.add_incoming(ir.Constant(x.type, ir.Undefined), block)
            self._after[n] = phis

    def join(self, lanes: int, among: tuple[ir.Value, int] | None = None) -> None:
        """Let the first of so many threads in a row have what all of them have found, by halves."""
        for n, (node, _) in enumerate(self._nodes):
            self._after[n] = joined_lanes(self._k, node, self._after[n], lanes, among)

    def store(self, number: Callable[[tuple[int, ...]], ir.Value]) -> None:
        """Leave the numbers where they belong among those of each reduction."""
        for n, ((node, place), totals) in enumerate(zip(self._nodes, self._after, strict=True)):
            dtype = node.outs[0].type.dtype
            store_element(self._k.b, gathered(totals, dtype), self._outs[n // len(self.places)], number(place), dtype)


_PATCH = (8, 32)
"""So many rows and columns are neighbouring threads' work where elements need neighbours: few of these are then read by
more than one processor of the device, and most come from its own cache."""
_TURNED = (4, 8)
"""So many rows and columns of a patch are the work of threads that run in step, where an array is turned: what lies
along rows here lies along columns there, and both are read or written in pieces of 32 bytes."""


def _counted(k: KernelWriter, region: Any, i: ir.Value) -> Coordinates:
    """The coordinates of a thread's element number so and so."""
    es, shape = k.elements, region.shape
    is_turned = any(_is_turned(layout, len(shape)) for _, layout in es.places.values())
    if (
        len(shape) < 2
        or any(n % m for n, m in zip(shape[-2:], _PATCH, strict=True))
        or not (is_turned or reads_other_rows(region))
    ):
        found = es.coordinates(i, shape)
        es.know_offset(found, contiguous(shape), i if k.kind == I64 else k.b.sext(i, I64))
        return found
    sizes = [_PATCH, _TURNED] if is_turned else [_PATCH]
    """How many elements each of the steps goes on that the numbers of two axes count."""
    counts = [
        tuple([n // m for n, m in zip(whole, part, strict=True)])
        for whole, part in zip([shape[-2:], *sizes], [*sizes, (1, 1)], strict=True)
    ]
    parts = es.coordinates(i, [*shape[:-2], *[n for pair in counts for n in pair]])
    outer = parts[: len(shape) - 2]
    inner = []
    for axis in range(2):
        y: Any = None
        for n, size in enumerate([*sizes, (1, 1)]):
            step = es.integer(parts[len(outer) + 2 * n + axis].moved(size[axis], 0))
            y = step if y is None else k.b.add(y, step)
        inner.append(Coordinate(y, 1, 0))
    return (*outer, *inner)


def _is_turned(layout: OperandLayout, ndim: int) -> bool:
    """Whether neighbours in the last row but one of an operand are neighbours in memory."""
    return layout.strides is not None and len(layout.strides) == ndim and layout.strides[-2:-1] == (1,)


MANY = 1 << 21
"""So many elements are enough for all threads, though each has several at a time."""


def at_a_time(region: Any) -> int:
    """How many elements a thread reads before it computes: memory answers late, and threads that wait for a few bytes
    each leave it idle. (After the last element a thread has that one again, which a sum must not count twice.)"""
    if region.reductions or region.size < MANY:
        return 1
    return _numbers_at_a_time(region)


def _numbers_at_a_time(region: Any) -> int:
    """Four of single precision, and one of double precision, whose arithmetic takes longer than reading it."""
    widest = max([v.type.dtype.itemsize for v in (*region.inputs, *region.made)])
    return 4 if widest <= 4 else 1


def read_ahead(k: KernelWriter, region: Any, points: Sequence[Coordinates]) -> None:
    """Read what several elements need of operands of the region's shape."""
    for point in points if len(points) > 1 else ():
        for a in region.inputs:
            if a in k.elements.places and tuple(a.type.shape) == region.shape:
                k.elements.at(a, point)


def _write_elements(k: KernelWriter, region: Any, joined: int) -> None:
    """`joined`: so many threads in a row join what they have found of reductions. Those that have found nothing are
    there, too, to run in step."""
    b, es = k.b, k.elements
    entry, loop, done, last, end = b.block, *[b.append_basic_block(n) for n in ("loop", "done", "last", "end")]
    number, thread = k.kind, b.call(k.thread, [])
    size, first, step = number(math.prod(region.shape)), k.small(thread), k.small(b.call(k.threads, []))
    has_any = b.icmp_unsigned("<", first, size)
    b.cbranch(has_any, loop, done if joined > 1 else end)
    b.position_at_end(loop)
    i = b.phi(number)
    i.add_incoming(first, entry)
    totals, many, after = Totals(k, region), at_a_time(region), i
    with es.scope():
        points = []
        for _ in range(many):
            at = after if many == 1 else b.select(b.icmp_unsigned("<", after, size), after, number(size.constant - 1))
            points.append(_counted(k, region, at))
            after = b.add(after, step)
        read_ahead(k, region, points)
        know_all(k, region, points)
        for coordinates in points:
            place = es.offset(coordinates, contiguous(region.shape))
            for out, argument in zip(region.outputs, k.outs, strict=False):
                store_element(b, es.at(out, coordinates), argument, place, out.type.dtype)
        totals.take(b.icmp_unsigned("==", i, first), lambda _: points[0])
    i.add_incoming(after, b.block)
    totals.close(entry)
    latch = b.block
    b.cbranch(b.icmp_unsigned("<", after, size), loop, done)
    b.position_at_end(done)
    if joined > 1:
        totals.leave([entry], latch)
        totals.join(joined, (first, size.constant))
        b.cbranch(b.and_(has_any, b.icmp_unsigned("==", b.urem(first, number(joined)), number(0))), last, end)
    else:
        b.branch(last)
    b.position_at_end(last)
    totals.store(lambda _: b.udiv(thread, I64(joined)))
    b.branch(end)
    b.position_at_end(end)
    b.ret_void()


def joined_lanes(
    k: KernelWriter, node: Node, own: Sequence[ir.Value], lanes: int, among: tuple[ir.Value, int] | None = None
) -> list[ir.Value]:
    """What so many threads in a row have found, joined by halves: the first of them has it then. `among`: the number of
    a thread, and how many there are, if those after the last have nothing."""
    b, dtype, found, step = k.b, node.outs[0].type.dtype, list(own), lanes // 2
    is_even = among is None or among[1] % lanes == 0
    while step:
        other = [_from_lane(k, x, step) for x in found]
        new = flat(combined(k.cx, node, gathered(found, dtype), gathered(other, dtype)))
        if among is not None and not is_even:
            place, count = among
            is_there = b.icmp_unsigned("<", b.add(place, place.type(step)), place.type(count))
            new = [b.select(is_there, p, q) for p, q in zip(new, found, strict=True)]
        found, step = new, step // 2
    return found


def _from_lane(k: KernelWriter, x: ir.Value, step: int) -> ir.Value:
    """The number in the same register of the thread that many further on."""
    b, kind = k.b, x.type
    bits = ir.IntType(kind.width) if isinstance(kind, ir.IntType) else I64 if kind == ir.DoubleType() else I32
    whole = x if kind == bits else b.bitcast(x, bits)
    there = b.call(k.from_lane, [whole if bits == I64 else b.zext(whole, I64), I32(step)])
    there = there if bits == I64 else b.trunc(there, bits)
    return there if kind == bits else b.bitcast(there, kind)


def _write_reduction(k: KernelWriter, region: Any, tiling: Tiling) -> None:
    """Thread t works on tile t ÷ parts or t mod tiles, so that neighbours read neighbours: in a row, each every so
    many-th element, otherwise each so many in a row. Threads too many work on the last tile, in vain."""
    b, es, shape, axes = k.b, k.elements, region.shape, region.axes
    tile, parts, in_a_row, joined = tiling
    many = 1
    reduced = [shape[a] for a in axes]
    kept = [n for a, n in enumerate(shape) if a not in axes]
    grid = [n // m for n, m in zip(kept, tile, strict=True)]
    length, tiles = math.prod(reduced), math.prod(grid)
    work, loop, done, last, end = [b.append_basic_block(n) for n in ("work", "loop", "done", "last", "end")]
    t, number = b.call(k.thread, []), k.kind
    is_needed = b.icmp_unsigned("<", t, I64(tiles * parts))
    b.cbranch(is_needed if joined == 1 else ir.IntType(1)(1), work, end)
    b.position_at_end(work)
    small = k.small(t)
    if in_a_row:
        place, part = b.udiv(small, number(parts)), b.urem(small, number(parts))
        place = b.select(b.icmp_unsigned("<", place, number(tiles)), place, number(tiles - 1))
        start, step, stop = part, number(parts), number(length)
    else:
        place, part, chunk = b.urem(small, number(tiles)), b.udiv(small, number(tiles)), -(-length // parts)
        start, step = b.mul(part, number(chunk)), number(1)
        stop = b.add(start, number(chunk))
        stop = b.select(b.icmp_unsigned("<", stop, number(length)), stop, number(length))
        if tiling.numbers == 1 and chunk % _numbers_at_a_time(region) == 0 == length % chunk:
            many = _numbers_at_a_time(region)
    corner = es.coordinates(place, grid)

    def own(place: tuple[int, ...]) -> Coordinates:
        return tuple([c.moved(m, p) for c, m, p in zip(corner, tile, place, strict=True)])

    b.branch(loop)
    b.position_at_end(loop)
    r = b.phi(number)
    r.add_incoming(start, work)
    totals = Totals(k, region, tile)
    after = r
    with es.scope():
        several = []
        for _ in range(many):
            along = es.coordinates(after, reduced)
            several.append({place: merged(own(place), along, axes) for place in totals.places})
            after = b.add(after, step)
        read_ahead(k, region, [point for points in several if many > 1 for point in points.values()])
        know_all(k, region, [point for points in several for point in points.values()])
        for points in several:
            store_outputs(k, region, list(points.values()))
            totals.take(b.icmp_unsigned("==", r, start), points.__getitem__)
    r.add_incoming(after, b.block)
    totals.close(work)
    b.cbranch(b.icmp_unsigned("<", after, stop), loop, done)
    b.position_at_end(done)
    totals.join(joined)
    is_first = b.icmp_unsigned("==", b.urem(t, I64(joined)), I64(0))
    b.cbranch(b.and_(is_needed, is_first), last, end)
    b.position_at_end(last)
    wide = b.zext(part, I64) if number != I64 else part

    def stored(place: tuple[int, ...]) -> ir.Value:
        """The numbers of parts lie behind each other in a row, or after those of all others."""
        which = es.offset(own(place), contiguous(kept))
        if in_a_row:
            return b.add(b.mul(which, I64(parts // joined)), b.udiv(wide, I64(joined)))
        return b.add(b.mul(wide, I64(region.kept)), which)

    totals.store(stored)
    b.branch(end)
    b.position_at_end(end)
    b.ret_void()


def know_all(k: KernelWriter, region: Any, places: Sequence[Coordinates]) -> None:
    """Compute what a thread stores and sums at several places, all together."""
    wanted: dict[Any, None] = {}
    for point in places:
        wanted.update(dict.fromkeys([(v, fitted(point, v.type.shape)) for v in region.outputs]))
        for node in (*region.reductions, *region.crossing):
            wanted.update(dict.fromkeys([(a, point) for a in node.args if a in region.inside]))
    k.elements.know(list(wanted))


def store_outputs(k: KernelWriter, region: Any, points: Sequence[Coordinates]) -> None:
    """Store what a reduction makes on its way, at each element that its points come to. (Threads that come to the same
    one store the same number.)"""
    for out, argument in zip(region.outputs, k.outs, strict=False):
        shape = out.type.shape
        for there in dict.fromkeys([fitted(point, shape) for point in points]):
            place = k.elements.offset(there, contiguous(shape))
            store_element(k.b, k.elements.at(out, there), argument, place, out.type.dtype)


def _by_value(dtype: np.dtype) -> ir.Type:
    return I64 if dtype.kind in "biu" else ir.DoubleType()


def _received(cx: KernelContext, argument: ir.Value, dtype: np.dtype) -> Any:
    """A number that was passed, as 64 bits."""
    return convert(cx, argument, np.dtype(np.int64 if argument.type == I64 else np.float64), dtype)
