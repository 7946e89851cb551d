"""A table that is reduced along its columns and along its rows, by one kernel: it is made in registers, once.

    t = f(x[:, None] - y)                   n × m
    a = sum(t, axis=0); b = sum(t, axis=1)

A thread walks down some rows of a few neighbouring columns, and neighbouring threads have neighbouring columns. What
a column comes to, the thread adds up itself. What a row comes to, threads that run in step join in registers, and the
first of them leaves it: a number for each row and group of such threads. Further kernels join the parts of columns,
and those of rows. The order is fixed, so the digits are the same every time.

Short axes behind these two (the coordinates of points) are a thread's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.backend.gpu.elements import Coordinate, Coordinates, OperandLayout
from wengert.backend.gpu.kernel import KernelWriter, Totals, joined_lanes, know_all, store_outputs
from wengert.backend.gpu.scalar import combined, flat, gathered
from wengert.backend.llvm.arrays.buffer import I64, store_element


class Crossing(NamedTuple):
    """How the work is shared: a thread has so many `columns`, so many `groups` of threads that run in step share a row,
    and so many of them (`parts`) a column."""

    columns: int
    groups: int
    parts: int
    lanes: int

    @property
    def threads(self) -> int:
        return self.groups * self.lanes * self.parts


_MOST_NUMBERS = 12
"""So many numbers of columns a thread has at a time."""
_FEWEST_ROWS = 16


def crossing_for(region: Any, threads: int, lanes: int) -> Crossing:
    """How about so many threads share the work of a region."""
    rows, width, *own = region.shape
    possible = [c for c in (4, 2) if width % c == 0 and width >= c * lanes and c * math.prod(own) <= _MOST_NUMBERS]
    columns = possible[0] if possible else 1
    groups = -(-(width // columns) // lanes)
    most = max(1, min(threads // (8 * groups * lanes), rows // _FEWEST_ROWS))
    chunk = -(-rows // most)
    return Crossing(columns, groups, -(-rows // chunk), lanes)


def write_crossing(region: Any, layouts: Sequence[OperandLayout], name: str, crossing: Crossing) -> str:
    """The kernel. Its parameters are the inputs, the outputs, and where numbers go: for each reduction of columns one
    for each part and column, for each of rows one for each row and group."""
    k = KernelWriter(region, layouts, name)
    b, es, number = k.b, k.elements, k.kind
    rows, width, *own = region.shape
    tiles, chunk = width // crossing.columns, -(-rows // crossing.parts)
    work, loop, leave, further, done, last, end = [
        b.append_basic_block(n) for n in ("work", "loop", "leave", "further", "done", "last", "end")
    ]
    t = b.call(k.thread, [])
    # (Threads that run in step go the same way: their number divides that of all threads.)
    b.cbranch(b.icmp_unsigned("<", t, I64(crossing.threads)), work, end)
    b.position_at_end(work)
    in_a_row = number(crossing.groups * crossing.lanes)
    small = k.small(t)
    place, part = b.urem(small, in_a_row), b.udiv(small, in_a_row)
    is_there = b.icmp_unsigned("<", place, number(tiles))
    tile = Coordinate(b.select(is_there, place, number(tiles - 1)), crossing.columns, 0)
    start = b.mul(part, number(chunk))
    stop = b.add(start, number(chunk))
    stop = b.select(b.icmp_unsigned("<", stop, number(rows)), stop, number(rows))
    b.branch(loop)
    b.position_at_end(loop)
    r = b.phi(number)
    r.add_incoming(start, work)
    totals = Totals(k, region, (crossing.columns, *own))

    def at(place: tuple[int, ...]) -> Coordinates:
        column, *others = place
        return Coordinate(r, 1, 0), tile.moved(1, column), *[Coordinate(None, 0, int(n)) for n in others]

    with es.scope():
        know_all(k, region, [at(p) for p in totals.places])
        store_outputs(k, region, [at(p) for p in totals.places])
        totals.take(b.icmp_unsigned("==", r, start), at)
        found = [_of_a_row(k, node, at, crossing, p) for node in region.crossing for p in np.ndindex(*own)]
        met = [joined_lanes(k, node, x, crossing.lanes, (place, tiles)) for node, x in found]
        b.cbranch(b.icmp_unsigned("==", b.urem(place, number(crossing.lanes)), number(0)), leave, further)
    b.position_at_end(leave)
    wide = [x if number == I64 else b.zext(x, I64) for x in (r, b.udiv(place, number(crossing.lanes)), part)]
    kept, outs = math.prod(own), k.outs[len(region.outputs) + len(region.reductions) :]
    for n, ((node, _), x) in enumerate(zip(found, met, strict=True)):
        dtype = node.outs[0].type.dtype
        row = b.add(b.mul(wide[0], I64(kept)), I64(n % kept))
        where = b.add(b.mul(row, I64(crossing.groups)), wide[1])
        store_element(b, gathered(x, dtype), outs[n // kept], where, dtype)
    b.branch(further)
    b.position_at_end(further)
    after = b.add(r, number(1))
    r.add_incoming(after, b.block)
    totals.close(work)
    b.cbranch(b.icmp_unsigned("<", after, stop), loop, done)
    b.position_at_end(done)
    b.cbranch(is_there, last, end)
    b.position_at_end(last)
    strides = [kept, *[math.prod(own[n + 1 :]) for n in range(len(own))]]
    first = b.mul(wide[2], I64(region.kept))
    totals.store(lambda p: b.add(first, es.offset(at(p)[1:], strides)))
    b.branch(end)
    b.position_at_end(end)
    b.ret_void()
    return str(k.module)


def _of_a_row(k: KernelWriter, node: Any, at: Any, crossing: Crossing, own: tuple[int, ...]) -> tuple[Any, list[Any]]:
    """A reduction of a row, and what the columns of this thread come to in it."""
    total: Any = None
    for column in range(crossing.columns):
        x = k.elements.reduced_element(node, at((column, *own)))
        total = x if total is None else combined(k.cx, node, total, x)
    return node, flat(total)
