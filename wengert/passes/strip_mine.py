"""Large arrays in strips: what works along one axis is done for a few rows at a time, while they are in the cache.

A run of nodes that all work along one long axis (`axes.py`) becomes a loop over strips of it. What is between is then
as large as a strip; sums along the axis are carried from strip to strip; only what is needed outside is put together.
So a program like

    d = x[:, None] - m          one million elements
    y = einsum(Q, d)
    return sum(exp(-sum(y * y, 2)))

goes through memory once, as one would write it by hand. This pass comes last: a loop hides its nodes from the others.

A large array that several products or sums go through is read once in the same way, as in `A @ x` and `x @ A`. Loops
that do the same along the axis in all their iterations (`strip_loops.py`) are members of a run as well: all iterations
are done for one strip, then all for the next.

Strips are taken together in groups, which do not depend on each other: threads may share them. Sums are carried from
strip to strip of a group; in the end those of all groups are combined.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np

from wengert.ir.analysis.uses import makers_of, uses_of
from wengert.ir.node import Block, Node, Operand, Type, Var
from wengert.ops.op import TABLE
from wengert.ops.traits import Cost
from wengert.passes.axes import Along, Cut, along, in_strip
from wengert.passes.rewrite import const, has_effects, rebuilt, with_blocks
from wengert.passes.strip_loops import LoopAlong, loop_along
from wengert.passes.strip_operands import Ends, Rows, Slices

LARGE = 1 << 21
"""It is worth it if arrays with so many bytes in all need not lie in memory: more than fits into a core's cache."""

READ_OFTEN = 1 << 19
"""What several products or sums go through is read once where it has so many bytes: its strips stay nearer."""

STRIP = 1 << 18
"""All arrays of a strip together have about so many bytes, so that they stay in the cache."""

NARROWEST = 64
"""Iterations of loops work on so many elements of a strip at least, which are vectors and some more."""

GROUPS = 16
"""At most so many groups of strips."""

SHORTEST = 16
"""Axes with fewer elements are not cut."""

_COUNTER = Type((), np.dtype(np.int64), True)


def _is_product(node: Node) -> bool:
    return node.op.combine is not None and node.op.cost is Cost.MORE


def strip_mine(block: Block) -> Block:
    """A block in which runs along a long axis are done in strips, also in each iteration of a loop."""
    return _strip_mine(block, is_whole=True)


def _strip_mine(block: Block, is_whole: bool) -> Block:
    rest = [with_blocks(node, functools.partial(_strip_mine, is_whole=False)) for node in block.nodes]
    block = rebuilt(block, block.params, rest, block.results)
    done: list[Node] = []
    while rest:
        run = _best_run(block, rest, is_whole)
        if run is None:
            break
        done += [*run.before, *run.rewritten()]
        rest = run.after
    return Block(block.params, done + rest, block.results) if done else block


def _best_run(block: Block, nodes: list[Node], is_whole: bool) -> _Run | None:
    """The run that saves most. In a block inside, arrays that are put together are copied once more: that pays only
    where there are products."""
    axes: set[tuple[int, int]] = set()
    for node in nodes:
        if not node.op.expands:
            large = [v.type for v in node.outs if _nbytes(v.type) >= LARGE // 8]
            for type in _carried(node) if large and node.op.name == "loop" else large:
                axes.update((axis, n) for axis, n in enumerate(type.shape) if isinstance(n, int) and n >= SHORTEST)
    runs = [_Run(block, nodes, n, axis) for axis, n in sorted(axes)]
    readers = Counter(a for node in nodes if node.op.combine for a in set(node.args))
    for a, count in readers.items():
        n = a.type.shape[0] if a.type.ndim else 0
        if count > 1 and isinstance(n, int) and n >= SHORTEST and _nbytes(a.type) >= READ_OFTEN:
            runs.append(_Run(block, nodes, n, 0, a))
    runs = [run for run in runs if run.saves > 0 and (is_whole or not run.stacked or run.has_products)]
    return max(runs, key=lambda run: run.saves, default=None)


def _starts(node: Node, axis: int, length: int) -> bool:
    """Whether a node is to be done in strips along an axis though nothing it reads is."""
    is_loop = node.op.name == "loop"
    if node.op.expands or not any(_nbytes(v.type) >= LARGE // 32 for v in node.outs):
        return False
    if not is_loop and (len(node.outs) != 1 or node.blocks):
        return False
    types = _carried(node) if is_loop else [node.outs[0].type]
    return any(t.ndim > axis and t.shape[axis] == length for t in types)


def _carried(node: Node) -> list[Type]:
    """What a loop carries."""
    return [v.type for v in node.outs[: node.params["carried"]]]


def _along(node: Node, cut: Cut, start: tuple[int, int] | None = None) -> Along | LoopAlong | None:
    return loop_along(node, cut, start) if node.op.name == "loop" else None if node.blocks else along(node, cut, start)


def _nbytes(type: Type) -> int:
    count = 1
    for n in type.shape:
        if not isinstance(n, int):
            return 0
        count *= n
    return count * type.dtype.itemsize


class _Run:
    """Nodes that work along an axis of some length, and all others, before and after them.

    With a `source`, these are the nodes that read it, and what follows from them.
    """

    def __init__(self, block: Block, nodes: list[Node], length: int, axis: int, source: Operand | None = None):
        self.length, self.source = length, source
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.members: list[tuple[Node, Along | LoopAlong]] = []
        self.axes: dict[Var, int] = {}  # of values that come in strips
        self.combined: dict[Var, str] = {}
        self.makers = makers_of(nodes)
        self.uses = uses_of(nodes, block.results)
        late: set[Operand] = set()
        effects = False
        for node in nodes:
            operands = (*node.args, *node.sizes)
            is_late = any(a in late for a in operands)
            found = None if is_late else self._how(node, axis)
            if found is None and not is_late and not any(a in self.axes for a in operands):
                if not (has_effects(node) and (effects or self.members)):
                    self.before.append(node)
                    continue
            effects = effects or has_effects(node)
            if found is None:
                self.after.append(node)
                late.update(node.outs)
                continue
            self.members.append((node, found))
            if isinstance(found, LoopAlong):
                self.axes.update({v: own for v, own in zip(node.outs, found.axes, strict=True) if own is not None})
            elif found.axis is None:
                self.combined[node.outs[0]] = found.combine or ""
                late.update(node.outs)
            else:
                self.axes[node.outs[0]] = found.axis
        used_after: set[Operand] = {a for node in self.after for a in (*node.args, *node.sizes)}
        used_after.update(block.results)
        self.stacked = [v for v in self.axes if v in used_after]
        self.wanted = [v for v in self.combined if v in used_after]

    def _how(self, node: Node, axis: int) -> Along | LoopAlong | None:
        """How a node works along the axis, if it does."""
        found = None
        if any(self._cut(a) is not None for a in node.args):
            found = _along(node, self._cut)
        elif self.source is None and _starts(node, axis, self.length):
            found = _along(node, self._cut, (axis, self.length))
        return None if isinstance(found, LoopAlong) and not self._is_all(node, found) else found

    def _is_all(self, node: Node, how: LoopAlong) -> bool:
        """Whether all that anybody needs of a loop comes in strips of this length."""
        operands = zip(node.args, how.needs, strict=True)
        if any(axis is not None and a.type.shape[axis] != self.length for a, axis in operands):
            return False
        results = zip(node.outs, how.axes, strict=True)
        return all(v not in self.uses if axis is None else v.type.shape[axis] == self.length for v, axis in results)

    def _cut(self, operand: Operand) -> int | None:
        if operand is self.source:
            return 0
        return self.axes.get(operand) if isinstance(operand, Var) else None

    # -------------------------------------------------------------------------------------------------- is it worth it

    @functools.cached_property
    def saves(self) -> int:
        """How many bytes less go to memory and back, about; 0 if it is not worth it."""
        if any(self.axes[v] != 0 for v in self.stacked):
            return 0
        saved = sum(_nbytes(v.type) for v in self._in_memory() if v not in self.stacked)
        if self.source is not None:
            readings = sum(self.source in node.args for node, _ in self.members if node.op.combine)
            saved += _nbytes(self.source.type) * max(readings - 1, 0)
        elif len(self.members) < 3 or self._cut_into[2] * self._narrowest < NARROWEST:
            return 0
        # What is carried is read and written for every strip.
        spent = sum(_nbytes(v.type) for v in self.stacked) // 2
        spent += sum(_nbytes(v.type) for v in self.wanted) * self._cut_into[0] * self._cut_into[1]
        return saved - spent if saved >= (LARGE if self.source is None else READ_OFTEN) else 0

    @property
    def _narrowest(self) -> int:
        """How many elements for each row the smallest array has that loops work on."""
        return min([how.width for _, how in self.members if isinstance(how, LoopAlong)], default=NARROWEST)

    def _in_memory(self) -> list[Var]:
        """Values that lie in memory, as they are read several times, or by or from products."""
        uses: Counter[Operand] = Counter()
        for node, _ in self.members:
            weight = 2 if _is_product(node) else 1
            for a in node.args:
                uses[a] += weight
        made = {v for node, _ in self.members if _is_product(node) or node.blocks for v in node.outs}
        often = {v for v in self.axes if uses[v] > 1 and not self._is_cheap(v)}
        return [v for v in self.axes if v in often or v in made or v in self.stacked]

    def _is_cheap(self, v: Var) -> bool:
        """Whether a value is computed again by all who read it, since that is no more work than reading it."""
        maker = self.makers[v]
        return maker.op.elementwise and maker.op.cost <= Cost.CHEAP and not any(a in self.axes for a in maker.args)

    @functools.cached_property
    def _cut_into(self) -> tuple[int, int, int]:
        """How many groups, of how many strips, of which length: nothing is left of the axis if possible."""
        longest = self._longest_strip
        groups = max(min(GROUPS, self.length // longest), 1)
        for found in range(groups, groups // 2, -1):
            strips_ = -(-self.length // (found * longest))
            for n in range(strips_, min(2 * strips_, self.length // found) + 1):
                if self.length % (found * n) == 0:
                    return found, n, self.length // (found * n)
        strips_ = -(-self.length // (groups * longest))
        if groups * strips_ > self.length:
            strips_ = self.length // groups
        strip = self.length // (groups * strips_)
        return groups, strips_, strip if strip < 8 else strip - strip % 8

    @property
    def has_products(self) -> bool:
        return any(_is_product(node) for node, _ in self.members)

    @property
    def _longest_strip(self) -> int:
        wide = sum(_nbytes(v.type) for v in self._in_memory())
        wide += _nbytes(self.source.type) if self.source is not None else 0
        row = max(wide // self.length, 1)
        best = max(min(STRIP // row, self.length // 2), 1)
        if self.has_products:
            best = max(best, min(50, self.length // 2))
        return best

    # ----------------------------------------------------------------------------------------------------- the loop

    def rewritten(self) -> list[Node]:
        groups, strips_, strip = self._cut_into
        done = groups * strips_ * strip
        nodes: list[Node] = []
        group = Var(_COUNTER, span=(0, groups - 1))
        rows = Rows(self.makers, nodes, groups * strips_, strip)
        inner, totals, stacked = self._group(rows, group, groups, strips_, strip)
        body = Block([group, *rows.inside], inner, [*totals, *stacked])
        outs = [Var(Type((groups, *v.type.shape), v.type.dtype)) for v in (*totals, *stacked)]
        params = {"body": body, "carried": 0}
        nodes.append(Node(TABLE["loop"], (const(groups), *rows.outside), params, tuple(outs), (), self._source))
        tails: dict[Var, Var] = {}
        if done < self.length:
            # Rows may be computed twice, but not added twice: without sums, the last strip is as long as the others, so
            # that code for these will do.
            left = self.length - done
            ending = left if self.wanted else max(left, strip)
            ends = self._copied(nodes, Ends(nodes, self.length - ending, ending), ending)
            tails = {v: ends[v] for v in self.wanted}
            tails |= {v: _last(nodes, ends[v], left) for v in self.stacked}
        for v, parts in zip(self.wanted, outs[: len(totals)], strict=True):
            whole = Var(v.type) if tails else v
            over = {"axis": (0,)}
            nodes.append(Node(TABLE[_reduction(self.combined[v])], (parts,), over, (whole,), (), self._source))
            if tails:
                nodes.append(Node(TABLE[self.combined[v]], (whole, tails[v]), {}, (v,), (), self._source))
        for v, stack in zip(self.stacked, outs[len(totals) :], strict=True):
            whole = _of_length(v, 0, done) if tails else v
            params = {"shape": whole.type.shape}
            nodes.append(Node(TABLE["reshape"], (stack,), params, (whole,), (), self._source))
            if tails:
                params = {"axis": 0, "starts": (0, done, self.length)}
                nodes.append(Node(TABLE["concatenate"], (whole, tails[v]), params, (v,), (), self._source))
        return nodes

    def _group(
        self, rows: Rows, group: Var, groups: int, strips_: int, strip: int
    ) -> tuple[list[Node], list[Var], list[Var]]:
        """A loop over the strips of a group: the nodes, sums over all of them, and what they give one by one."""
        nodes: list[Node] = []
        starts: list[Operand] = [_made(nodes, _start(v.type, self.combined[v]), v.type) for v in self.wanted]
        k, own = Var(_COUNTER, span=(0, strips_ - 1)), Var(_COUNTER, span=(0, groups - 1))
        first, number = Var(_COUNTER, span=(0, (groups - 1) * strips_)), Var(_COUNTER, span=(0, groups * strips_ - 1))
        body_nodes = [
            Node(TABLE["multiply"], (own, const(strips_)), {}, (first,), (), self._source),
            Node(TABLE["add"], (first, k), {}, (number,), (), self._source),
        ]
        carried = [Var(v.type) for v in self.wanted]
        slices = Slices(self.makers, rows, body_nodes, number, strip)
        inner = self._copied(body_nodes, slices, strip)
        results: list[Operand] = []
        for v, total in zip(self.wanted, carried, strict=True):
            new = Var(v.type)
            body_nodes.append(Node(TABLE[self.combined[v]], (total, inner[v]), {}, (new,), (), self._source))
            results.append(new)
        results += [inner[v] for v in self.stacked]
        body = Block([k, *carried, own, *slices.inside], body_nodes, results)
        totals = [Var(v.type) for v in self.wanted]
        stacked = [Var(Type((strips_, *inner[v].type.shape), v.type.dtype)) for v in self.stacked]
        args = (const(strips_), *starts, group, *slices.outside)
        params = {"body": body, "carried": len(totals)}
        nodes.append(Node(TABLE["loop"], args, params, (*totals, *stacked), (), self._source))
        return nodes, totals, stacked

    @property
    def _source(self) -> Any:
        return self.members[0][0].source

    def _copied(self, nodes: list[Node], cutter: Ends | Slices, length: int) -> dict[Var, Var]:
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
            axes = how.axes if isinstance(how, LoopAlong) else (how.axis,)
            outs = [_of_length(v, axis, length) for v, axis in zip(node.outs, axes, strict=True)]
            params = how.params(node, length) if isinstance(how, LoopAlong) else in_strip(node, how.axis, length)
            nodes.append(Node(node.op, tuple(args), params, tuple(outs), (), node.source))
            found.update(zip(node.outs, outs, strict=True))
            env.update(zip(node.outs, outs, strict=True))
        return found


def _of_length(v: Var, axis: int | None, length: int) -> Var:
    """A variable like another, but of some length along an axis."""
    shape = list(v.type.shape)
    if axis is not None:
        shape[axis] = length
    return Var(Type(tuple(shape), v.type.dtype, v.type.weak), v.hint)


def _reduction(combine: str) -> str:
    name = TABLE[combine].reduction
    assert name is not None
    return name


def _start(type: Type, combine: str) -> Operand:
    return const(type.dtype.type(TABLE[combine].identity))


def _made(nodes: list[Node], start: Operand, type: Type) -> Operand:
    if not type.shape:
        return start
    out = Var(type)
    nodes.append(Node(TABLE["broadcast_to"], (start,), {"shape": type.shape}, (out,), (), None))
    return out


def _last(nodes: list[Node], value: Var, count: int) -> Var:
    """So many rows at the end of a value."""
    n = value.type.shape[0]
    assert isinstance(n, int)
    if n == count:
        return value
    out = _of_length(value, 0, count)
    nodes.append(Node(TABLE["index"], (value,), {"pattern": (slice(n - count, n),)}, (out,), (), None))
    return out
