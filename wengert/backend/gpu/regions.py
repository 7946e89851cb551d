"""Which values of a block are made in which kernel, and which are never in memory.

A value is in memory if the library needs it, if it is a result, or a reduction of many elements. Others are made where
they are needed, in registers, unless that would be more work than to read them: if they are dear, and needed at several
places, or for many elements each.

    a = sin(x); b = a * w; s = sum(b); c = a + b        one kernel: x, w → c, and s
    d = c / s                                           the next: it needs all of s

A kernel computes values of one shape, and reductions of all elements of that shape; or reductions along the same axes.
It comes as soon as all that it reads is there (`level`), together with others of its shape that could come then. A
table that is reduced along axes, in several ways, is made by the first of these reductions, and the others read it; if
it is reduced along rows and along columns and needed for nothing else, one kernel does both, and it is not in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from wengert.backend.gpu.elements import can_be_moved, reduced_axes
from wengert.backend.gpu.scalar import can_be_written, is_number, lengths, reduces
from wengert.backend.llvm.arrays.buffer import is_native
from wengert.ir.node import Block, Const, Node, Var

_MOST_OUTPUTS, _MOST_INPUTS, _MOST_NODES = 60, 100, 400
_SHORT = 8
"""A sum of so few elements is made where it is needed."""
_MORE_WORK = 48
"""So much is rather computed again than read from memory (an addition is 1)."""
_TOO_LONG = 200
_SPREAD = 16
VIEWS = frozenset(("index", "reshape", "transpose"))


def is_count(type: Any) -> bool:
    """Whether a value is an integer of Python's, such as the counters of loops: these stay on the host, where they say
    which part of an array is meant."""
    return type.weak and not type.shape and type.dtype.kind in "bi"


class KernelRegion:
    """What one kernel computes: `outputs`, values of the region's shape (or such as are broadcast to it, where it is
    reduced along some axes only), and reductions along `axes` of it."""

    def __init__(self, shape: tuple[int, ...], axes: tuple[int, ...]):
        self.shape, self.axes = shape, axes
        self.size = math.prod(shape)
        self.kept = math.prod([n for k, n in enumerate(shape) if k not in axes])
        self.outputs: list[Var] = []
        self.reductions: list[Node] = []
        self.crossing: list[Node] = []
        """Reductions of the same table along its other axis, where it is reduced along the first."""
        self.inside: dict[Var, Node] = {}
        """The nodes that make the values in registers."""
        self.inputs: list[Any] = []
        self.kernels: dict[Any, Any] = {}
        """By the layouts of the inputs."""

    @property
    def made(self) -> list[Var]:
        """What is in memory afterwards."""
        return [*self.outputs, *[node.outs[0] for node in (*self.reductions, *self.crossing)]]

    @property
    def nodes(self) -> list[Node]:
        """All nodes, in an order in which they can run."""
        return [*self.inside.values(), *self.reductions, *self.crossing]

    @property
    def is_full(self) -> bool:
        many = len(self.made) >= _MOST_OUTPUTS
        return many or len(self.inputs) >= _MOST_INPUTS or len(self.inside) >= _MOST_NODES


Step = KernelRegion | Node


def _fits_a_kernel(node: Node) -> bool:
    """Whether a node can be computed in a kernel."""
    if len(node.outs) != 1 or node.sizes or node.blocks:
        return False
    types = [a.type for a in (*node.args, node.outs[0])]
    if not all(t.is_static and is_native(t.dtype) for t in types) or 0 in node.outs[0].type.shape:
        return False
    if reduces(node):
        return 0 not in node.args[0].type.shape
    return not counts(node) and (can_be_moved(node) or can_be_written(node))


def counts(node: Node) -> bool:
    """Whether a node computes with Python's integers only."""
    return all(is_count(a.type) for a in (*node.args, *node.outs))


def _is_short(node: Node) -> bool:
    """Whether a reduction is of few elements each, and leaves some axis."""
    shape, axes = lengths(node.args[0]), reduced_axes(node)
    return len(axes) < len(shape) and math.prod([shape[k] for k in axes]) <= _SHORT


class _Partition:
    """How a block is divided: which values are in memory, and what is computed when."""

    def __init__(self, block: Block):
        self.block = block
        self.makers: dict[Var, Node] = {node.outs[0]: node for node in block.nodes if _fits_a_kernel(node)}
        self.users: dict[Var, list[Node]] = {}
        for node in block.nodes:
            for a in (*node.args, *node.sizes):
                if a.__class__ is Var:
                    self.users.setdefault(a, []).append(node)
        self.cost: dict[Var, int] = {}
        self.stored: set[Var] = {r for r in block.results if r in self.makers}
        for v, node in self.makers.items():
            elsewhere = [user for user in self.users.get(v, ()) if not user.outs or user.outs[0] not in self.makers]
            if elsewhere or (reduces(node) and not _is_short(node)):
                self.stored.add(v)

    # ---------------------------------------------------------------------------------------- what is in memory

    def choose(self) -> None:
        """Have in memory what would be more work otherwise."""
        for v, node in self.makers.items():
            cost = self.cost[v] = self._own_cost(node)
            if cost > _TOO_LONG or (self._ways(v) - 1) * cost > _MORE_WORK:
                self.stored.add(v)

    def _own_cost(self, node: Node) -> int:
        """How much work it is to make an element of a value in registers; nothing for one that is read."""
        parts = [self.cost.get(a, 0) if a.__class__ is Var and a not in self.stored else 0 for a in node.args]
        if reduces(node):
            shape = lengths(node.args[0])
            return math.prod([shape[k] for k in reduced_axes(node)]) * (1 + sum(parts))
        if node.op.name in VIEWS:
            return parts[0]
        own = int(node.op.cost) if node.op.elementwise else len(node.args) - 1
        return own + sum([max(1, p) for p, a in zip(parts, node.args, strict=True) if not is_number(a)])

    def _ways(self, v: Var) -> int:
        """In how many ways the elements of a value are needed."""
        ways, same = 0, False
        for user in self.users.get(v, ()):
            if user.outs and user.outs[0] in self.makers:
                shape = lengths(user.outs[0])
                if user.op.elementwise and shape == lengths(v):
                    same = True
                elif user.op.elementwise or user.op.name == "broadcast_to":
                    ways += min(_SPREAD, -(-math.prod(shape) // math.prod(lengths(v))))
                else:
                    ways += sum(1 for a in user.args if a is v)
        return max(1, ways + same)

    def is_view(self, v: Any) -> bool:
        """Whether a value that has to be in memory is a view of one that is there."""
        node = self.makers[v]
        return node.op.name in VIEWS and (node.args[0] not in self.makers or node.args[0] in self.stored)

    # ---------------------------------------------------------------------------------------------- when, and where

    def steps(self) -> tuple[list[Step], set[Var]]:
        """Kernels and nodes that are left to the library, in an order in which they can run; and values that should be
        in memory after all, since several kernels make them."""
        self._level: dict[Var, int] = {}
        self._open: dict[tuple, KernelRegion] = {}
        self._of: dict[Var, KernelRegion] = {}
        found: list[tuple[int, Step]] = []
        library = 0
        for node in self.block.nodes:
            v = node.outs[0] if node.outs else None
            if v not in self.makers or (v in self.stored and self.is_view(v)):
                read = [a for a in (*node.args, *node.sizes) if a.__class__ is Var]
                levels = [self._level.get(a, 0) + (a in self._of) for a in read]
                level = max([library, *levels])
                library = library if v in self.makers else level
                self._level.update(dict.fromkeys(node.outs, level))
                found.append((level, node))
            elif v in self.stored:
                level, region, is_new = self._place(node)
                if is_new:
                    found.append((level, region))
        regions = [step for _, step in found if isinstance(step, KernelRegion)]
        made: dict[Var, int] = {}
        for region in regions:
            for v in region.inside:
                made[v] = made.get(v, 0) + 1
        dear = {v for v, n in made.items() if v not in self.stored and (n - 1) * self.cost[v] > _MORE_WORK}
        dear -= {a for v in dear for a in self.makers[v].args if a.__class__ is Var}
        return self._with_tables(sorted(found, key=lambda pair: pair[0])), dear

    def _with_tables(self, found: list[tuple[int, Step]]) -> list[Step]:
        """Have reductions along axes make the tables that they read, at the places of the kernels that made these."""
        steps, levels = [step for _, step in found], [level for level, _ in found]
        joined: set[int] = set()
        for k, table in enumerate(steps):
            if not isinstance(table, KernelRegion) or table.reductions or len(table.axes) < len(table.shape):
                continue
            able = {
                n: step
                for n, step in enumerate(steps)
                if n > k and n not in joined and isinstance(step, KernelRegion) and self._makes(step, table, levels[k])
            }
            if able:
                (first, making), *others = able.items()
                across = next((n for n, step in others if _are_across(making, step)), None)
                region = _made_in(making, table)
                joined.add(first)
                if across is not None:
                    region = self._both(region, able[across])
                    joined.add(across)
                steps[k] = region
        left = [k for k in range(len(steps)) if k not in joined]
        return self._crossed([(levels[k], steps[k]) for k in left])

    def _crossed(self, found: list[tuple[int, Step]]) -> list[Step]:
        """Have one kernel for reductions along rows and along columns that can come at the same time and have work in
        common."""
        steps: list[Step] = []
        alone: list[tuple[int, int, KernelRegion]] = []
        """Reductions that have none across, with their levels and places."""
        for level, step in found:
            if isinstance(step, KernelRegion) and len(step.axes) < len(step.shape) and not step.crossing:
                met = next((m for m in alone if m[0] == level and _have_common_work(m[2], step)), None)
                if met is not None:
                    steps[met[1]] = self._both(met[2], step)
                    alone.remove(met)
                    continue
                alone.append((level, len(steps), step))
            steps.append(step)
        return steps

    def _both(self, one: KernelRegion, other: KernelRegion) -> KernelRegion:
        """One region for reductions along rows and along columns: of the tables that they make, in memory is what
        others need."""
        down, across = (one, other) if one.axes == (0,) else (other, one)
        region = KernelRegion(one.shape, (0,))
        region.reductions, region.crossing = down.reductions, across.reductions
        region.inside = {**one.inside, **other.inside}
        tables = [*one.outputs, *other.outputs]
        region.inputs = list(dict.fromkeys([a for a in (*one.inputs, *other.inputs) if a not in tables]))
        nodes = set(region.nodes)
        region.outputs = [
            v for v in tables if v in self.block.results or any(user not in nodes for user in self.users.get(v, ()))
        ]
        return region

    def _makes(self, reduction: KernelRegion, table: KernelRegion, level: int) -> bool:
        """Whether the threads of a reduction come to every element of a table, few times each, and could do so when the
        table is made."""
        if len(reduction.axes) == len(reduction.shape) or reduction.outputs or reduction.is_full or table.is_full:
            return False
        others = [a for a in reduction.inputs if not any(a is v for v in table.outputs)]
        if len(others) + len(table.outputs) != len(reduction.inputs):
            return False
        if any(self._level.get(a, 0) >= level for a in others if a.__class__ is Var):
            return False
        are_seen = all(_is_seen_in_full(lengths(v), reduction.shape) for v in table.outputs)
        return are_seen and _is_read_in_place(reduction, table.outputs)

    def _place(self, node: Node) -> tuple[int, KernelRegion, bool]:
        """The kernel that makes a value that is to be in memory."""
        v, is_reduction = node.outs[0], reduces(node)
        shape: Any = tuple(node.args[0].type.shape if is_reduction else v.type.shape)
        axes = reduced_axes(node) if is_reduction else tuple(range(len(shape)))
        inside: dict[Var, Node] = {}
        read: dict[Any, bool] = {}
        seen: dict[Any, bool] = {}
        for a in node.args if is_reduction else (v,):
            self._walk(a, True, v, inside, read, seen)
        whole = len(axes) == len(shape)
        level = 1
        for a, same in read.items():
            if a.__class__ is Var and a in self._level:
                of = self._of.get(a)
                joins = whole and same and of is not None and of.shape == shape and a in of.outputs
                level = max(level, self._level[a] + (not joins))
        key = (level, shape, axes)
        region = self._open.get(key)
        is_new = region is None or region.is_full
        if region is None or is_new:
            region = self._open[key] = KernelRegion(shape, axes)
        for a in read:
            if a not in region.inside and not any(a is other for other in region.inputs):
                region.inputs.append(a)
        region.inside.update(inside)
        if is_reduction:
            region.reductions.append(node)
        else:
            region.outputs.append(v)
        self._level[v], self._of[v] = level, region
        return level, region, is_new

    def _walk(self, a: Any, same: bool, root: Var, inside: dict, read: dict, seen: dict) -> None:
        """Which nodes make a value, and what they read; `same`: whether at the coordinates of the kernel."""
        if is_number(a) or (a in seen and (same or not seen[a])):
            return
        seen[a] = same
        node = self.makers.get(a)
        if node is None or (a in self.stored and a is not root and not self.is_view(a)):
            read[a] = same
            return
        for b in node.args:
            keeps = same and node.op.elementwise and tuple(b.type.shape) == tuple(a.type.shape)
            self._walk(b, keeps, root, inside, read, seen)
        inside.setdefault(a, node)


def _is_seen_in_full(shape: tuple[int, ...], of: tuple[int, ...]) -> bool:
    """Whether an array that is broadcast to a shape has as many elements, but for short axes at the end, which are a
    thread's own."""
    padded = (1,) * (len(of) - len(shape)) + shape
    seen = len(of)
    while seen and padded[seen - 1] == 1:
        seen -= 1
    return len(shape) <= len(of) and padded[:seen] == of[:seen] and math.prod(of[seen:]) <= _SHORT


def _is_read_in_place(reduction: KernelRegion, values: list[Var]) -> bool:
    """Whether a reduction reads values nowhere but at its own coordinates: at others they would be computed again."""
    tables = {id(v) for v in values}
    seen: set[tuple[int, bool]] = set()
    left = [(a, True) for node in reduction.reductions for a in node.args]
    while left:
        a, is_in_place = left.pop()
        if id(a) in tables and not is_in_place:
            return False
        node = reduction.inside.get(a) if a.__class__ is Var else None
        if node is not None and (id(a), is_in_place) not in seen:
            seen.add((id(a), is_in_place))
            keeps = is_in_place and (node.op.elementwise or node.op.name == "broadcast_to")
            left += [(b, keeps) for b in node.args]
    return True


def _are_across(one: KernelRegion, other: KernelRegion) -> bool:
    """Whether one of two reductions of a table is along its first axis and one along its second, what follows these is
    short, and there is room for both in a kernel."""
    if one.shape != other.shape or {one.axes, other.axes} != {(0,), (1,)}:
        return False
    rows, columns, *own = one.shape
    many = len(one.made) + len(other.made) > _MOST_OUTPUTS or len(one.inputs) + len(other.inputs) > _MOST_INPUTS
    return rows > 1 < columns and math.prod(own) <= _SHORT and not many


def _have_common_work(one: KernelRegion, other: KernelRegion) -> bool:
    """Whether two reductions across each other compute or read a table of which they see every element."""
    if not _are_across(one, other):
        return False
    theirs = {id(a) for a in (*other.inside, *other.inputs)}
    common = [a for a in (*one.inside, *one.inputs) if id(a) in theirs and not is_number(a)]
    return any(_is_seen_in_full(lengths(a), one.shape) for a in common)


def _made_in(reduction: KernelRegion, table: KernelRegion) -> KernelRegion:
    """The reduction, which makes the values of another region on its way."""
    read = [a for a in reduction.inputs if not any(a is v for v in table.outputs)]
    reduction.inputs = [*table.inputs, *[a for a in read if not any(a is b for b in table.inputs)]]
    reduction.inside = {**table.inside, **reduction.inside}
    reduction.outputs = table.outputs
    return reduction


def steps_of(block: Block) -> list[Step]:
    """The block as kernels, and nodes that are left to the library, in an order in which they can run."""
    partition = _Partition(block)
    while True:
        partition.choose()
        steps, dear = partition.steps()
        if not dear:
            return steps
        partition.stored |= dear


def operands_of(step: Step) -> Iterator[Any]:
    """The values that a step reads."""
    operands = step.inputs if isinstance(step, KernelRegion) else [*step.args, *step.sizes]
    return (a for a in operands if a.__class__ is Var)


def constants_of(block: Block) -> Iterator[Const]:
    """The constant arrays that are needed in memory."""
    for operands in (*[node.args for node in block.nodes], block.results):
        for a in operands:
            if a.__class__ is Const and a.type.shape:
                yield a
