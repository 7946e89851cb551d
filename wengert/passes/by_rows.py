"""Several sums into parts of one large array go through it once, row by row.

The reverse sweep of `u[1:-1, 1:-1] = f(u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], …)` adds to one part of an array after
the other. If the array is larger than the innermost cache, each of these goes to the next one and back; and what is
added several times has to lie in memory as a whole. A loop over the rows that does all of them for one row, with what
is computed for them, needs a few rows only at a time.

The order in which `add_at` adds has no meaning: see `spread.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from wengert.ir.infer import is_elementwise
from wengert.ir.node import Block, Node, Operand, Type, Var
from wengert.ops.index import ARRAY, explicit
from wengert.ops.op import TABLE
from wengert.passes.rewrite import const, rebuilt, with_blocks

LARGE = 1 << 15
"""Arrays of so many bytes are too large for the innermost cache."""
FEWEST = 3
"""So many sums make it worth it."""


def by_rows(block: Block) -> Block:
    """A block in which sums into parts of large arrays are done row by row."""
    nodes = [with_blocks(node, by_rows) if node.blocks else node for node in block.nodes]
    uses: Counter[Operand] = Counter(a for node in nodes for a in (*node.args, *node.sizes))
    uses.update(block.results)
    for chain in _chains(nodes, uses):
        nodes = _Rows(nodes, chain, uses).rewritten()
    return rebuilt(block, block.params, nodes, block.results)


class _Part(NamedTuple):
    """A sum into a part of an array: from which row on, and where in each row."""

    node: Node
    first: int
    rest: tuple[Any, ...]


def _nbytes(type: Type) -> int:
    """How many bytes a static array has."""
    lengths = [n for n in type.shape if isinstance(n, int)]
    return type.dtype.itemsize * math.prod(lengths)


def _part(node: Node) -> _Part | None:
    if node.op.name != "add_at" or node.sizes or len(node.args) != 2:
        return None
    array, value = node.outs[0].type, node.args[1].type
    if not array.is_static or not value.is_static or value.ndim != array.ndim or array.ndim < 2:
        return None
    if _nbytes(array) < LARGE or array.dtype.kind != "f":
        return None
    pattern = explicit(node.params["pattern"], array.ndim)
    pattern += (slice(None),) * (array.ndim - len(pattern))
    if any(item.__class__ is not slice or item.step not in (None, 1) for item in pattern):
        return None
    rows = range(*pattern[0].indices(array.shape[0]))
    if len(rows) != value.shape[0] or len(rows) < 8 or value.dtype != array.dtype:
        return None
    lengths = [len(range(*item.indices(n))) for item, n in zip(pattern[1:], array.shape[1:], strict=True)]
    return _Part(node, rows[0], pattern[1:]) if lengths == list(value.shape[1:]) else None


def _chains(nodes: list[Node], uses: Counter[Operand]) -> list[list[_Part]]:
    """Sums into one array, one after the other, of as many rows each."""
    chains: list[list[_Part]] = []
    open_: dict[Operand, list[_Part]] = {}
    for node in nodes:
        part = _part(node)
        if part is None:
            continue
        chain = open_.pop(node.args[0], None)
        if chain is None or uses[node.args[0]] != 1 or _rows(chain[0]) != _rows(part):
            chain = []
            chains.append(chain)
        chain.append(part)
        open_[node.outs[0]] = chain
    return [chain for chain in chains if len(chain) >= FEWEST]


def _rows(part: _Part) -> Any:
    return part.node.args[1].type.shape[0]


class _Rows:
    """One chain of sums, as a loop."""

    def __init__(self, nodes: list[Node], chain: list[_Part], uses: Counter[Operand]):
        self.nodes, self.chain, self.uses = nodes, chain, uses
        self.count = _rows(chain[0])
        self.k = Var(Type((), np.dtype(np.int64), True), span=(0, self.count - 1))
        self.body: list[Node] = []
        self.outside: list[Operand] = []
        self.inside: list[Var] = []
        self.row_of: dict[Operand, Operand] = {}

    def _members(self) -> list[Node]:
        """Elementwise work that is done for these sums only."""
        wanted: Counter[Operand] = Counter(part.node.args[1] for part in self.chain)
        found: list[Node] = []
        for node in reversed(self.nodes):
            if len(node.outs) != 1 or not wanted[node.outs[0]] or not is_elementwise(node.op):
                continue
            out = node.outs[0]
            fits = all(not a.type.shape or a.type.shape == out.type.shape for a in node.args)
            if fits and not node.sizes and wanted[out] == self.uses[out]:
                found.append(node)
                wanted.update(node.args)
        return found[::-1]

    def _given(self, x: Operand) -> Operand:
        if not isinstance(x, Var):
            return x
        if x not in self.outside:
            self.outside.append(x)
            self.inside.append(Var(x.type))
        return self.inside[self.outside.index(x)]

    def _row(self, x: Operand) -> Operand:
        """Row k of a value; the value itself if it is a number."""
        if not x.type.shape:
            return self.row_of.get(x, self._given(x)) if isinstance(x, Var) else x
        if x not in self.row_of:
            out = Var(Type(x.type.shape[1:], x.type.dtype))
            array = self._given(x)
            self.body.append(Node(TABLE["index"], (array, self.k), {"pattern": (ARRAY,)}, (out,), (), None))
            self.row_of[x] = out
        return self.row_of[x]

    def rewritten(self) -> list[Node]:
        members = self._members()
        for node in members:
            out = Var(Type(node.outs[0].type.shape[1:], node.outs[0].type.dtype))
            args = tuple([self._row(a) for a in node.args])
            self.body.append(Node(node.op, args, node.params, (out,), (), node.source))
            self.row_of[node.outs[0]] = out
        start, last = self.chain[0].node.args[0], self.chain[-1].node
        array = carried = Var(start.type)
        for part in self.chain:
            row = self._row(part.node.args[1])
            at: Operand = self.k
            if part.first:
                at = Var(Type((), np.dtype(np.int64), True))
                self.body.append(Node(TABLE["add"], (self.k, const(part.first)), {}, (at,), (), part.node.source))
            new = Var(start.type)
            params = {"pattern": (ARRAY, *part.rest)}
            self.body.append(Node(part.node.op, (array, row, at), params, (new,), (), part.node.source))
            array = new
        block = Block([self.k, carried, *self.inside], self.body, [array])
        args = (const(self.count), start, *self.outside)
        loop = Node(TABLE["loop"], args, {"body": block, "carried": 1}, last.outs, (), last.source)
        gone = {id(node) for node in members} | {id(part.node) for part in self.chain}
        return [loop if node is last else node for node in self.nodes if node is last or id(node) not in gone]
