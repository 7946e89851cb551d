"""Large arrays in strips: what works along one axis is done for a few rows at a time, while they are in the cache.

A run of nodes that all work along one long axis (`along.py`) becomes a loop over strips of it. What is between is then
as large as a strip; sums along the axis are carried from strip to strip; only what is needed outside is put together.
So a program like

    d = x[:, None] - m          one million elements
    y = einsum(Q, d)
    return sum(exp(-sum(y * y, 2)))

goes through memory once, as one would write it by hand. This pass comes last: a loop hides its nodes from the others.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE
from wengert.passes.along import Along, along, in_strip
from wengert.passes.rewrite import const, has_effects

LARGE = 1 << 21
"""It is worth it if arrays with so many bytes in all need not lie in memory: more than fits into a core's cache."""

STRIP = 1 << 18
"""All arrays of a strip together have about so many bytes, so that they stay in the cache."""

_PRODUCTS = ("einsum", "matmul")
_CHEAP = ("add", "subtract", "multiply", "negative")
_OUT_OF_NOTHING = ("broadcast_to", "iota")


def strips(block: Block) -> Block:
    """A block in which runs along a long axis are done in strips."""
    rest = list(block.nodes)
    done: list[Node] = []
    while rest:
        run = _best_run(block, rest)
        if run is None:
            break
        done += [*run.before, *run.rewritten()]
        rest = run.after
    return Block(block.params, done + rest, block.results) if done else block


def _best_run(block: Block, nodes: list[Node]) -> _Run | None:
    """The run that saves most."""
    axes: set[tuple[int, int]] = set()
    for node in nodes:
        for v in node.outs:
            if _nbytes(v.type) >= LARGE // 8 and node.op.name not in _OUT_OF_NOTHING:
                axes.update((axis, n) for axis, n in enumerate(v.type.shape) if isinstance(n, int) and n >= 16)
    runs = [_Run(block, nodes, n, axis) for axis, n in sorted(axes)]
    return max([run for run in runs if run.saves > 0], key=lambda run: run.saves, default=None)


def _starts(node: Node, axis: int, length: int) -> bool:
    """Whether a node is to be done in strips along an axis though nothing it reads is."""
    if len(node.outs) != 1 or node.blocks or node.op.name in _OUT_OF_NOTHING:
        return False
    type = node.outs[0].type
    return type.ndim > axis and type.shape[axis] == length and _nbytes(type) >= LARGE // 32


def _nbytes(type: Type) -> int:
    count = 1
    for n in type.shape:
        if not isinstance(n, int):
            return 0
        count *= n
    return count * type.dtype.itemsize


class _Run:
    """Nodes that work along an axis of some length, and all others, before and after them."""

    def __init__(self, block: Block, nodes: list[Node], length: int, axis: int):
        self.length = length
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.members: list[tuple[Node, Along]] = []
        self.axes: dict[Var, int] = {}  # of values that come in strips
        self.combined: dict[Var, str] = {}
        self.makers = {v: node for node in nodes for v in node.outs}
        late: set[Operand] = set()
        effects = False
        for node in nodes:
            operands = (*node.args, *node.sizes)
            found = None
            if not any(a in late for a in operands):
                if any(a in self.axes for a in node.args) and not node.blocks:
                    found = along(node, self._cut)
                elif not any(a in self.axes for a in operands):
                    if _starts(node, axis, length):
                        found = along(node, self._cut, (axis, length))
                    if found is None and not (has_effects(node) and (effects or self.members)):
                        self.before.append(node)
                        continue
            effects = effects or has_effects(node)
            if found is None:
                self.after.append(node)
                late.update(node.outs)
                continue
            self.members.append((node, found))
            if found.axis is None:
                self.combined[node.outs[0]] = found.combine or ""
                late.update(node.outs)
            else:
                self.axes[node.outs[0]] = found.axis
        used_after: set[Operand] = {a for node in self.after for a in (*node.args, *node.sizes)}
        used_after.update(block.results)
        self.stacked = [v for v in self.axes if v in used_after]
        self.wanted = [v for v in self.combined if v in used_after]

    def _cut(self, operand: Operand) -> int | None:
        return self.axes.get(operand) if isinstance(operand, Var) else None

    # -------------------------------------------------------------------------------------------------- is it worth it

    @functools.cached_property
    def saves(self) -> int:
        """How many bytes less go to memory and back, about; 0 if it is not worth it."""
        if len(self.members) < 3 or any(self.axes[v] != 0 for v in self.stacked):
            return 0
        saved = sum(_nbytes(v.type) for v in self._in_memory() if v not in self.stacked)
        # What is carried is read and written for every strip.
        spent = sum(_nbytes(v.type) for v in self.stacked) // 2
        spent += sum(_nbytes(v.type) for v in self.wanted) * (self.length // self._strip)
        return saved - spent if saved >= LARGE else 0

    def _in_memory(self) -> list[Var]:
        """Values that lie in memory, as they are read several times, or by or from products."""
        uses: Counter[Operand] = Counter()
        for node, _ in self.members:
            weight = 2 if node.op.name in _PRODUCTS else 1
            for a in node.args:
                uses[a] += weight
        made_by_product = {v for node, _ in self.members if node.op.name in _PRODUCTS for v in node.outs}
        often = {v for v in self.axes if uses[v] > 1 and not self._is_cheap(v)}
        return [v for v in self.axes if v in often or v in made_by_product or v in self.stacked]

    def _is_cheap(self, v: Var) -> bool:
        """Whether a value is computed again by all who read it, since that is no more work than reading it."""
        maker = self.makers[v]
        return maker.op.name in _CHEAP and not any(a in self.axes for a in maker.args)

    @functools.cached_property
    def _strip(self) -> int:
        """The length of a strip: it divides the axis if possible."""
        row = max(sum(_nbytes(v.type) for v in self._in_memory()) // self.length, 1)
        best = max(min(STRIP // row, self.length // 2), 1)
        if any(node.op.name in _PRODUCTS for node, _ in self.members):
            best = max(best, min(50, self.length // 2))
        for n in range(best, best // 2, -1):
            if self.length % n == 0:
                return n
        return best if best < 8 else best - best % 8

    # ----------------------------------------------------------------------------------------------------- the loop

    def rewritten(self) -> list[Node]:
        strip = self._strip
        count, left = divmod(self.length, strip)
        source = self.members[0][0].source
        nodes: list[Node] = []
        combined, stacked = self.wanted, self.stacked
        tails: list[Operand] = []
        starts: list[Operand] = [_start(v.type, self.combined[v]) for v in combined]
        starts = [_made(nodes, s, v.type) for s, v in zip(starts, combined, strict=True)]
        if left:
            cutter = _Ends(self, nodes, self.length - left, left)
            inner = self._copied(nodes, cutter, left)
            starts = [inner[v] for v in combined]
            tails = [inner[v] for v in stacked]
        k = Var(Type((), np.dtype(np.int64), True), span=(0, count - 1))
        carried = [Var(v.type) for v in combined]
        body_nodes: list[Node] = []
        slices = _Slices(self, nodes, body_nodes, k, count, strip)
        inner = self._copied(body_nodes, slices, strip)
        results: list[Operand] = []
        for v, total in zip(combined, carried, strict=True):
            new = Var(v.type)
            args = (total, inner[v])
            body_nodes.append(Node(TABLE[self.combined[v]], args, {}, (new,), (), source))
            results.append(new)
        results += [inner[v] for v in stacked]
        body = Block([k, *carried, *slices.inside], body_nodes, results)
        stacks = [Var(Type((count, *inner[v].type.shape), v.type.dtype)) for v in stacked]
        nodes.append(
            Node(
                TABLE["loop"],
                (const(count), *starts, *slices.outside),
                {"body": body, "carried": len(combined)},
                (*combined, *stacks),
                (),
                source,
            )
        )
        for j, (v, stack) in enumerate(zip(stacked, stacks, strict=True)):
            shape = (count * strip, *v.type.shape[1:])
            whole = Var(Type(shape, v.type.dtype)) if left else v
            nodes.append(Node(TABLE["reshape"], (stack,), {"shape": shape}, (whole,), (), source))
            if left:
                params = {"axis": 0, "starts": (0, count * strip, self.length)}
                nodes.append(Node(TABLE["concatenate"], (whole, tails[j]), params, (v,), (), source))
        return nodes

    def _copied(self, nodes: list[Node], cutter: _Ends | _Slices, length: int) -> dict[Var, Var]:
        """The nodes of the run for one strip."""
        env: dict[Operand, Operand] = {}
        found: dict[Var, Var] = {}
        for node, how in self.members:
            args = []
            for a, need in zip(node.args, how.needs, strict=True):
                if a in env:
                    args.append(env[a])
                elif need is None:
                    args.append(cutter.whole(a))
                else:
                    args.append(cutter.part(a, need))
            (out,) = node.outs
            shape = list(out.type.shape)
            if how.axis is not None:
                shape[how.axis] = length
            new = Var(Type(tuple(shape), out.type.dtype, out.type.weak), out.hint)
            nodes.append(Node(node.op, tuple(args), in_strip(node, how.axis, length), (new,), (), node.source))
            env[out] = found[out] = new
        return found


def _start(type: Type, combine: str) -> Operand:
    number = {"add": 0.0, "maximum": -np.inf, "minimum": np.inf}[combine]
    return const(type.dtype.type(number))


def _made(nodes: list[Node], start: Operand, type: Type) -> Operand:
    if not type.shape:
        return start
    out = Var(type)
    nodes.append(Node(TABLE["broadcast_to"], (start,), {"shape": type.shape}, (out,), (), None))
    return out


class _Ends:
    """The rows at the end that make up no whole strip."""

    def __init__(self, run: _Run, nodes: list[Node], start: int, length: int):
        self.nodes, self.start, self.length = nodes, start, length

    def whole(self, operand: Operand) -> Operand:
        return operand

    def part(self, operand: Operand, axis: int) -> Operand:
        shape = list(operand.type.shape)
        shape[axis] = self.length
        out = Var(Type(tuple(shape), operand.type.dtype))
        pattern = (slice(None),) * axis + (slice(self.start, self.start + self.length),)
        self.nodes.append(Node(TABLE["index"], (operand,), {"pattern": pattern}, (out,), (), None))
        return out


class _Slices:
    """Strip k of values from outside: seen in memory as one axis more, they are rows of it."""

    def __init__(self, run: _Run, nodes: list[Node], body: list[Node], k: Var, count: int, length: int):
        self.run, self.nodes, self.body, self.k, self.count, self.length = run, nodes, body, k, count, length
        self.outside: list[Operand] = []
        self.inside: list[Var] = []
        self._params: dict[Operand, Var] = {}
        self._parts: dict[tuple[Operand, int], Var] = {}

    def whole(self, operand: Operand) -> Operand:
        if isinstance(operand, Const) and not operand.type.shape:
            return operand
        if operand not in self._params:
            self._params[operand] = Var(operand.type)
            self.outside.append(operand)
            self.inside.append(self._params[operand])
        return self._params[operand]

    def part(self, operand: Operand, axis: int) -> Operand:
        if (operand, axis) not in self._parts:
            self._parts[operand, axis] = self._spread(operand, axis) or self._cut(operand, axis)
        return self._parts[operand, axis]

    def _spread(self, operand: Operand, axis: int) -> Var | None:
        """A strip of what is the same along the axis is made where it is needed."""
        maker = self.run.makers.get(operand) if isinstance(operand, Var) else None
        if maker is None or maker.op.name != "broadcast_to" or maker.sizes:
            return None
        x = maker.args[0]
        own = axis - (operand.type.ndim - x.type.ndim)
        if own >= 0 and x.type.shape[own] != 1:
            return None
        shape = list(operand.type.shape)
        shape[axis] = self.length
        out = Var(Type(tuple(shape), operand.type.dtype, operand.type.weak))
        self.body.append(Node(maker.op, (self.whole(x),), {"shape": tuple(shape)}, (out,), (), maker.source))
        return out

    def _cut(self, operand: Operand, axis: int) -> Var:
        operand, old = self._source(operand), operand
        shape = list(old.type.shape)
        if self.count * self.length != shape[axis]:
            front = (slice(None),) * axis + (slice(0, self.count * self.length),)
            shape[axis] = self.count * self.length
            operand = self._new("index", old, {"pattern": front}, tuple(shape))
        shape[axis : axis + 1] = [self.count, self.length]
        rows = self._new("reshape", operand, {"shape": tuple(shape)}, tuple(shape))
        out = Var(Type((*shape[:axis], *shape[axis + 1 :]), old.type.dtype))
        pattern = (slice(None),) * axis + (ARRAY,)
        self.body.append(Node(TABLE["index"], (self.whole(rows), self.k), {"pattern": pattern}, (out,), (), None))
        return out

    def _source(self, operand: Operand) -> Operand:
        """What an operand is the same as but for axes of length one."""
        while isinstance(operand, Var):
            maker = self.run.makers.get(operand)
            if maker is None or maker.sizes or not maker.args[0].type.is_static:
                break
            adds = maker.op.name == "index" and all(
                item is None or item is Ellipsis or item == slice(None) for item in maker.params["pattern"]
            )
            if not (adds or maker.op.name == "reshape"):
                break
            operand = maker.args[0]
        return operand

    def _new(self, name: str, operand: Operand, params: dict, shape: Sequence[Any]) -> Var:
        out = Var(Type(tuple(shape), operand.type.dtype))
        self.nodes.append(Node(TABLE[name], (operand,), params, (out,), (), None))
        return out
