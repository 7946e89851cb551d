"""An array that starts as zeros, and of which overlapping parts are written, is put together of pieces instead.

The reverse sweep of `x[1:] - x[:-1] ** 2` is zeros, to which something is added at `1:` and something else at `:-1`.
Each of these writes goes through the memory of the whole array, and what is written lies in memory, too. But for every
element it is known what is added to it: between the ends of the parts, always the same. So

    y = zeros(n); y[:-1] += a; y[1:] += b      becomes      y = concatenate(0 + a[:1], 0 + a[1:] + b[:-1], 0 + b[-1:])

where parts of results of elementwise work are such work on parts, all of which is done in one pass. Work that would be
done twice that way, because `a` and `b` have it in common, must be cheap: arithmetic that takes less time than memory.
Other work in common stays where it is.

Parts are slices along one axis. Terms are added in the same order as before.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.ir.analysis.regions import region_of
from wengert.ir.analysis.uses import makers_of, uses_of
from wengert.ir.node import Block, Node, Operand, Source, Type, Var
from wengert.ops.op import TABLE
from wengert.ops.traits import Cost
from wengert.passes.rewrite import rebuilt, with_blocks

_MOST_PIECES, _MOST_NODES = 9, 300
_MEMORY_TO_SAVE = 1 << 10
"""Arrays of fewer bytes are written quickly enough."""


def join_writes(block: Block) -> Block:
    """A block in which arrays are put together of pieces, where that saves passes."""
    nodes = [with_blocks(node, join_writes) if node.blocks else node for node in block.nodes]
    uses, makers = uses_of(nodes, block.results), makers_of(nodes)
    instead: dict[int, list[Node]] = {}
    for chain in _chains(nodes, makers, uses):
        found = _Pieces(chain, makers, uses).nodes()
        if found is not None:
            instead[id(chain[-1].node)] = found
    if instead:
        nodes = [new for node in nodes for new in instead.get(id(node), [node])]
    return rebuilt(block, block.params, nodes, block.results)


class _Write(NamedTuple):
    """A write to a part of an array: from where to where, along which axis (None: all of it)."""

    node: Node
    axis: int | None
    start: int
    stop: int


def _write(node: Node) -> _Write | None:
    if not node.op.writes or "pattern" not in node.params or node.sizes or len(node.args) != 2:
        return None
    array, value = node.outs[0].type, node.args[1].type
    if not array.is_static or not array.ndim or array.dtype.kind != "f" or value.dtype != array.dtype:
        return None
    if node.args[0].type != array or math.prod(_lengths(array)) * array.dtype.itemsize < _MEMORY_TO_SAVE:
        return None
    box = region_of(node).box
    if box is None or value.shape != tuple([side.stop - side.start for side in box]):
        return None
    axes = [k for k, n in enumerate(value.shape) if n != array.shape[k]]
    if len(axes) > 1:
        return None
    axis = axes[0] if axes else None
    span = box[axis or 0]
    return _Write(node, axis, span.start, span.stop)


def _lengths(type: Type) -> list[int]:
    return [n for n in type.shape if isinstance(n, int)]


def _chains(nodes: list[Node], makers: dict[Var, Node], uses: Counter[Operand]) -> list[list[_Write]]:
    """Writes along one axis to what was zeros, one after the other, of which nobody sees what is between."""
    chains: dict[Operand, list[_Write]] = {}
    for node in nodes:
        write = _write(node)
        if write is None:
            continue
        base = node.args[0]
        chain = chains.get(base)
        if chain is not None and uses[base] == 1:
            del chains[base]
        elif _is_zeros(base, makers):
            chain = []
        else:
            continue
        chains[node.outs[0]] = [*chain, write]
    return [chain for chain in chains.values() if _is_worth_it(chain)]


def _is_zeros(base: Operand, makers: dict[Var, Node]) -> bool:
    maker = makers.get(base) if isinstance(base, Var) else None
    return maker is not None and maker.op.name == "broadcast_to" and not maker.args[0].type.ndim


def _is_worth_it(chain: list[_Write]) -> bool:
    """Several writes, that go to most of the array."""
    axes = {write.axis for write in chain if write.axis is not None}
    length = _lengths(chain[0].node.outs[0].type)[next(iter(axes), 0)]
    written = sum(w.stop - w.start for w in chain if w.axis is not None)
    return len(chain) > 1 and len(axes) == 1 and 2 * written >= length


class _TooMuch(Exception):
    """More code than it is worth."""


class _Pieces:
    """One array that is put together."""

    def __init__(self, chain: list[_Write], makers: dict[Var, Node], uses: Counter[Operand]):
        self.chain, self.makers, self.uses = chain, makers, uses
        self.axis = next(write.axis for write in chain if write.axis is not None)
        self.type = chain[0].node.outs[0].type
        self.length = _lengths(self.type)[self.axis]
        self.whole: set[Var] = set()
        """Results that stay in memory, since their parts would be computed more than once."""
        self.found: list[Node] = []
        self.parts: dict[tuple[Operand, int, int], Operand] = {}
        self.elements: Counter[Var] = Counter()

    def nodes(self) -> list[Node] | None:
        bounds = sorted({0, self.length, *[e for w in self.chain if w.axis is not None for e in (w.start, w.stop)]})
        if len(bounds) - 1 > _MOST_PIECES:
            return None
        while True:
            self.found, self.parts = [], {}
            self.elements.clear()
            try:
                joined = [self._piece(start, stop) for start, stop in itertools.pairwise(bounds)]
            except _TooMuch:
                return None
            twice = {v for v in self.elements if self._is_done_twice(v)}
            if not twice:
                break
            self.whole |= twice
        last = self.chain[-1].node
        self.found.append(Node(TABLE["concatenate"], tuple(joined), {"axis": self.axis}, last.outs, (), last.source))
        return self.found

    def _is_done_twice(self, v: Var) -> bool:
        """Whether some work that is not cheap would be done for more elements than there are."""
        maker = self.makers[v]
        if maker.op.elementwise and maker.op.cost <= Cost.CHEAP:
            return False
        outside = sum(a is v for write in self.chain for a in write.node.args[1:])
        inside = sum(self.makers[u].args.count(v) for u in self.elements)
        elsewhere = self.uses[v] > outside + inside
        return elsewhere or self.elements[v] > _lengths(v.type)[self._own_axis(v)]

    def _own_axis(self, v: Operand) -> int:
        """The axis of a value that is aligned with that of the array."""
        return self.axis - (self.type.ndim - v.type.ndim)

    def _piece(self, start: int, stop: int) -> Operand:
        base = self.chain[0].node.args[0]
        maker = self.makers[base]  # type: ignore[index]
        shape = tuple([stop - start if k == self.axis else n for k, n in enumerate(self.type.shape)])
        total: Operand = self._new(maker.op, maker.args, {"shape": shape}, shape, maker.source)
        for write in self.chain:
            value = write.node.args[1]
            first, last = (0, self.length) if write.axis is None else (write.start, write.stop)
            if not first <= start < last:
                continue
            part = self._part(value, start - first, stop - first)
            if write.node.op.name == "store":
                total = part
            else:
                total = self._new(TABLE["add"], (total, part), {}, shape, write.node.source)
        return total

    def _new(self, op: Any, args: Sequence[Operand], params: dict, shape: tuple, source: Source | None) -> Var:
        if len(self.found) >= _MOST_NODES:
            raise _TooMuch
        out = Var(Type(shape, self.type.dtype))
        self.found.append(Node(op, tuple(args), params, (out,), (), source))
        return out

    # ------------------------------------------------------------------------------------------------ parts of values

    def _part(self, x: Operand, start: int, stop: int) -> Operand:
        """The part of a value, of the dtype of the array, from somewhere to somewhere along the axis."""
        axis = self._own_axis(x)
        if axis < 0 or x.type.shape[axis] == 1 or (start == 0 and stop == x.type.shape[axis]):
            return x
        known = self.parts.get((x, start, stop))
        if known is None:
            known = self.parts[x, start, stop] = self._computed(x, axis, start, stop)
        return known

    def _computed(self, x: Operand, axis: int, start: int, stop: int) -> Operand:
        maker = self.makers.get(x) if isinstance(x, Var) else None
        shape = tuple([stop - start if k == axis else n for k, n in enumerate(x.type.shape)])
        if maker is not None and x not in self.whole:
            name = maker.op.name
            if name == "broadcast_to" and not maker.args[0].type.ndim:
                return self._new(maker.op, maker.args, {"shape": shape}, shape, maker.source)
            if name == "index" and (before := self._start_of_slice(maker, axis)) is not None:
                return self._slice(maker.args[0], axis, before + start, before + stop, shape, maker.source)
            if self._is_movable(maker):
                assert isinstance(x, Var)
                self.elements[x] += stop - start
                args = [self._part(a, start, stop) for a in maker.args]
                return self._new(maker.op, args, maker.params, shape, maker.source)
        return self._slice(x, axis, start, stop, shape, None if maker is None else maker.source)

    def _is_movable(self, maker: Node) -> bool:
        (out,) = maker.outs[:1]
        return (
            maker.op.elementwise
            and len(maker.outs) == 1
            and not maker.sizes
            and not out.type.weak
            and all(v.type.is_static for v in (out, *maker.args))
            and all(v.type.dtype == self.type.dtype for v in (out, *[a for a in maker.args if a.type.ndim]))
        )

    def _start_of_slice(self, maker: Node, axis: int) -> int | None:
        """Where a part of a value begins, if it is a slice of another along the axis."""
        x, out = maker.args[0].type, maker.outs[0].type
        if len(maker.args) > 1 or maker.sizes or not x.is_static or x.ndim != out.ndim or x.dtype != out.dtype:
            return None
        box = region_of(maker).box
        if box is None or any(k != axis and out.shape[k] != n for k, n in enumerate(x.shape)):
            return None
        return box[axis].start

    def _slice(self, x: Operand, axis: int, start: int, stop: int, shape: tuple, source: Source | None) -> Operand:
        pattern = (*[slice(None)] * axis, slice(start, stop))
        key = (x, start, stop)
        if self.parts.get(key) is None:
            self.parts[key] = self._new(TABLE["index"], (x,), {"pattern": pattern}, shape, source)
        return self.parts[key]
