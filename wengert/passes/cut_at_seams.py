"""Arrays that are put together, and computed with, and put together again, are computed part by part instead.

    a = concatenate(u, v);  b = store(zeros, w, 1:)         a, b: arrays of which several passes are made
    y = table(a, b * s)

becomes, between the *seams* at which one of them begins to be something else,

    y = concatenate(table(u[:1], 0 * s[:1]), table(u[1:], (w * s[1:])[: len(u) - 1]), …)

where each part is elementwise work on what lies in memory anyway, and is done in one pass. That is what is left of a
sparse matrix's entries (`api/entries.py`): derivatives that were written into parts of arrays, by the sweeps, and are
then taken out of these again.

Seams are places along the first axis. Work that is not cheap stays where it is, and its result is read; other work may
be done again, which takes less time than memory does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.ir.analysis.regions import region_of
from wengert.ir.analysis.uses import makers_of
from wengert.ir.node import Block, Const, Node, Operand, Source, Type, Var
from wengert.ops.op import TABLE, Op
from wengert.ops.traits import Cost
from wengert.passes.rewrite import const, rebuilt, with_blocks

_MOST_SEAMS, _MOST_NODES = 8, 200
_WRITING = ("store", "add_at")
_JOINING = (*_WRITING, "concatenate")
_MEMORY_TO_SAVE = 1 << 12
"""Arrays of fewer bytes are written quickly enough."""


def cut_at_seams(block: Block) -> Block:
    """A block in which what is put together of parts is computed by parts."""
    nodes = [with_blocks(node, cut_at_seams) if node.blocks else node for node in block.nodes]
    if any(node.op.name == "concatenate" for node in nodes):
        makers = makers_of(nodes)
        seams = _Seams(makers)
        nodes = [new for node in nodes for new in _cut(node, makers, seams)]
    return rebuilt(block, block.params, nodes, block.results)


def _cut(node: Node, makers: dict[Var, Node], seams: _Seams) -> Sequence[Node]:
    if node.op.name != "concatenate" or not _is_plain(node) or _bytes(node.outs[0].type) < _MEMORY_TO_SAVE:
        return [node]
    axis, dtype = node.params["axis"], node.outs[0].type.dtype
    if any(a.type.dtype != dtype for a in node.args):
        return [node]
    found = [seams.of(a) for a in node.args]
    if any(s is None for s in found) or not any(seams.is_joined(a) for a in node.args):
        return [node]
    parts = _Parts(makers, seams)
    try:
        if axis == 0:
            pieces = [
                parts.of(a, start, stop)
                for a, own in zip(node.args, found, strict=True)
                for start, stop in itertools.pairwise([0, *(own or ()), _rows(a)])
            ]
        else:
            every = sorted({place for own in found for place in own or ()})
            if len(every) > _MOST_SEAMS:
                return [node]
            pieces = []
            for start, stop in itertools.pairwise([0, *every, _rows(node.outs[0])]):
                columns = [parts.of(a, start, stop) for a in node.args]
                shape = (stop - start, *node.outs[0].type.shape[1:])
                pieces.append(parts.new(node.op, columns, node.params, shape, dtype, node.source))
    except _TooMuch:
        return [node]
    return [*parts.nodes, Node(node.op, tuple(pieces), {"axis": 0}, node.outs, (), node.source)]


def _is_plain(node: Node) -> bool:
    return not node.sizes and len(node.outs) == 1 and all(v.type.is_static for v in (*node.args, *node.outs))


def _rows(x: Operand) -> int:
    length = x.type.shape[0]
    assert isinstance(length, int)
    return length


def _bytes(type: Type) -> int:
    return math.prod([n for n in type.shape if isinstance(n, int)]) * type.dtype.itemsize


class _TooMuch(Exception):
    """More code than it is worth."""


def _start_of_part(node: Node) -> tuple[int, int] | None:
    """Of what reads or writes some rows, and all of them: the first row and the one after the last."""
    if len(node.args) > 1 + (node.op.name != "index"):
        return None
    region = region_of(node)
    box = region.box
    if box is None or any(not region.is_all(axis) for axis in range(1, len(box))):
        return None
    return box[0].start, box[0].stop


def _only_adds_ones(node: Node) -> bool:
    """Whether a reshape only puts axes of length one behind the first, or takes some away."""
    old, new = node.args[0].type.shape, node.outs[0].type.shape
    return old[:1] == new[:1] != () and [n for n in old[1:] if n != 1] == [n for n in new[1:] if n != 1]


class _Seams:
    """Where values begin to be something else, along their first axis: sorted places; None if there are too many."""

    def __init__(self, makers: dict[Var, Node]):
        self.makers = makers
        self.known: dict[Operand, tuple[int, ...] | None] = {}
        self.joined: set[Operand] = set()
        for v, node in makers.items():
            self.known[v] = self._found(v, node)
            if self.is_computed(node) and (node.op.name in _JOINING or any(a in self.joined for a in node.args)):
                self.joined.add(v)

    def of(self, x: Operand) -> tuple[int, ...] | None:
        if isinstance(x, Const):
            return _steps_of(x.value) if x.type.ndim == 1 else ()
        return self.known.get(x, ())

    def is_joined(self, x: Operand) -> bool:
        """Whether a value is put together, or computed from such."""
        return x in self.joined

    def is_computed(self, node: Node) -> bool:
        """Whether parts of a value are computed from parts of its operands."""
        (out,) = node.outs[:1]
        if not _is_plain(node) or not out.type.ndim or out.type.weak:
            return False
        name = node.op.name
        if node.op.elementwise:
            return node.op.cost <= Cost.CHEAP and all(a.type.ndim in (0, out.type.ndim) for a in node.args)
        if name in _WRITING:
            value = node.args[1].type
            part = _start_of_part(node)
            return (
                part is not None
                and node.args[0].type == out.type
                and value.dtype == out.type.dtype
                and value.shape == (part[1] - part[0], *out.type.shape[1:])
            )
        if name == "index":
            return node.args[0].type.ndim == out.type.ndim and _start_of_part(node) is not None
        if name == "concatenate":
            return node.params["axis"] == 0 and all(a.type.dtype == out.type.dtype for a in node.args)
        if name == "reshape":
            return _only_adds_ones(node)
        return name == "broadcast_to" and not node.args[0].type.ndim

    def _found(self, v: Var, node: Node) -> tuple[int, ...] | None:
        if not self.is_computed(node):
            return ()
        name, length = node.op.name, _rows(v)
        places: set[int] = set()
        shifted: list[tuple[Operand, int]] = []
        if name == "broadcast_to":
            return ()
        if name == "concatenate":
            start = 0
            for a in node.args:
                shifted.append((a, start))
                places.add(start)
                start += _rows(a)
        elif name == "index":
            start, _ = _start_of_part(node)  # type: ignore[misc]
            shifted = [(node.args[0], -start)]
        elif name in _WRITING:
            start, stop = _start_of_part(node)  # type: ignore[misc]
            places |= {start, stop}
            shifted = [(node.args[0], 0), (node.args[1], start)]
        else:
            shifted = [(a, 0) for a in node.args if a.type.ndim and a.type.shape[0] == length]
        for a, shift in shifted:
            own = self.of(a)
            if own is None:
                return None
            places |= {place + shift for place in own}
        found = sorted([place for place in places if 0 < place < length])
        return tuple(found) if len(found) <= _MOST_SEAMS else None


def _steps_of(value: np.ndarray) -> tuple[int, ...]:
    """Where a constant has another value than before; nowhere, if that is often."""
    changes = np.flatnonzero(value[1:] != value[:-1]) + 1
    return tuple([int(c) for c in changes]) if len(changes) <= _MOST_SEAMS // 2 else ()


class _Parts:
    """Parts of values, from one place to another along the first axis, and the nodes that compute them."""

    def __init__(self, makers: dict[Var, Node], seams: _Seams):
        self.makers, self.seams = makers, seams
        self.nodes: list[Node] = []
        self.made: dict[tuple[Operand, int, int], Operand] = {}

    def new(
        self,
        op: Op,
        args: Sequence[Operand],
        params: dict[str, Any],
        shape: tuple,
        dtype: np.dtype,
        source: Source | None,
    ) -> Var:
        if len(self.nodes) >= _MOST_NODES:
            raise _TooMuch
        out = Var(Type(shape, dtype))
        self.nodes.append(Node(op, tuple(args), params, (out,), (), source))
        return out

    def of(self, x: Operand, start: int, stop: int) -> Operand:
        """Rows of a value; there is no seam between them."""
        found = self.made.get((x, start, stop))
        if found is None:
            found = self.made[x, start, stop] = self._of(x, start, stop)
        return found

    def _of(self, x: Operand, start: int, stop: int) -> Operand:
        shape, dtype = (stop - start, *x.type.shape[1:]), x.type.dtype
        is_whole = (start, stop) == (0, x.type.shape[0])
        if isinstance(x, Const):
            return self._of_constant(x, start, stop)
        node = self.makers.get(x)
        if node is None or not self.seams.is_computed(node):
            return x if is_whole else self._slice(x, start, stop, shape)
        if is_whole and not self.seams.is_joined(x):
            return x
        name, source = node.op.name, node.source
        if name == "broadcast_to":
            return self.new(node.op, node.args, {"shape": shape}, shape, dtype, source)
        if name == "index":
            first, _ = _start_of_part(node)  # type: ignore[misc]
            return self.of(node.args[0], first + start, first + stop)
        if name == "reshape":
            inner = self.of(node.args[0], start, stop)
            return self.new(node.op, [inner], {"shape": shape}, shape, dtype, source)
        if name == "concatenate":
            return self._of_joined(node, start, stop)
        if name in _WRITING:
            return self._of_written(node, start, stop, shape)
        length = x.type.shape[0]
        if name == "where" and node.args[0].type.shape == x.type.shape:
            chosen = _chosen(node, self.of(node.args[0], start, stop))
            if chosen is not None and chosen.type.ndim:
                return self.of(chosen, start, stop)
            if chosen is not None:
                return self.new(TABLE["broadcast_to"], [chosen], {"shape": shape}, shape, dtype, source)
        args = [self.of(a, start, stop) if a.type.ndim and a.type.shape[0] == length else a for a in node.args]
        return self.new(node.op, args, node.params, shape, dtype, source)

    def _of_constant(self, x: Const, start: int, stop: int) -> Operand:
        value, dtype = x.value[start:stop], x.type.dtype
        is_sequence = x.type.ndim == 1 and len(value) > 1 and dtype.kind != "b"
        if is_sequence and value.tobytes() == value[:1].tobytes() * len(value):
            shape = (stop - start,)
            return self.new(TABLE["broadcast_to"], [const(value[0])], {"shape": shape}, shape, dtype, None)
        return x if (start, stop) == (0, x.type.shape[0]) else const(value)

    def _of_joined(self, node: Node, start: int, stop: int) -> Operand:
        first = 0
        for a in node.args:
            if start < first + _rows(a):
                return self.of(a, start - first, stop - first)
            first += _rows(a)
        raise AssertionError("rows beyond the last")

    def _of_written(self, node: Node, start: int, stop: int, shape: tuple) -> Operand:
        base, value = node.args
        first, last = _start_of_part(node)  # type: ignore[misc]
        if not first <= start < last:
            return self.of(base, start, stop)
        part = self.of(value, start - first, stop - first)
        if node.op.name == "store":
            return part
        return self.new(TABLE["add"], [self.of(base, start, stop), part], {}, shape, base.type.dtype, node.source)

    def _slice(self, x: Operand, start: int, stop: int, shape: tuple) -> Operand:
        return self.new(TABLE["index"], [x], {"pattern": (slice(start, stop),)}, shape, x.type.dtype, None)


def _chosen(node: Node, mask: Operand) -> Operand | None:
    """What a `where` takes for all rows of a part, if that is known."""
    if not isinstance(mask, Const) or mask.value.all() != mask.value.any():
        return None
    chosen, out = node.args[1 if mask.value.all() else 2], node.outs[0].type
    if chosen.type.dtype == out.dtype and chosen.type.shape == out.shape:
        return chosen
    return const(out.dtype.type(chosen.value)) if isinstance(chosen, Const) and not chosen.type.ndim else None
