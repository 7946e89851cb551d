"""Sums that a loop adds to elements of an array are added after it, all at once.

The reverse sweep of a loop that reads `a[i - 1]`, `a[i]` and `a[i + 1]` adds to three elements in each iteration; each
iteration has to wait for the one before, which has just written two of them. And a loop that reads `a[j]` again and
again adds to this one element, one iteration after the other. If nobody in the loop reads what is added, this can be
done afterwards.

A short loop in which the iterations do not depend on each other then is no loop any more, but works on whole slices:

    loop k < n: x = add_at(x, u * y[k], k + 1)      becomes      x = add_at(x, u * y[0:n], 1:n + 1)

So does a loop around it, which then works on rows, if it adds to several rows of one array: `fuse_adds.py` makes one
loop of these.

In any other, what is added to one element all the time, or to one row, is added up in a variable:

    loop k < n: x = add_at(x, v, j)                 becomes      loop k < n: s = s + v;  x = add_at(x, s, j)

(For numbers by `accumulate`, which may be done in any order, too.)

`add_at` is what the reverse sweep adds with; the order in which it does has no meaning. (What a user writes as
`x[k] += v` is a read and a store, and stays as it is.)

That nobody reads it is certain if all places that are read or stored to in the loop are apart from the place, in
whatever iteration (`ir/analysis/ranges.py`); and the place must be known to be inside the array, also if the loop has
no iteration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.ir.analysis.affine import Affine, least
from wengert.ir.analysis.ranges import NestBlock, bounds_around, disjoint, nest, place_of
from wengert.ir.analysis.uses import makers_of
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Ref, Type, Var
from wengert.ops.index import ARRAY, FLAG, explicit
from wengert.ops.op import TABLE
from wengert.passes.rewrite import (
    Environment,
    all_replaced,
    const,
    rebuilt,
    renamed,
    replaced,
    substituted,
    with_params,
)

FEWEST = 8
"""Loops of fewer iterations stay as they are,"""
MOST = 1 << 14
"""as do those of more: the values of all iterations would not stay in the cache."""
WIDEST = 1 << 12
"""Rows of at most so many elements are added up in a variable: it stays in the cache."""
ROWS = 3
"""Loops that work on rows become work on slices if there are so many sums into one array,"""
LARGEST = 1 << 20
"""and if there are not more elements than that."""
LONGEST = 16
"""Only loops with so few operations work on slices: in one iteration, everything between is in registers."""


def sink_sums(block: Block) -> Block:
    """A block whose innermost loops add to arrays after them."""
    while True:
        outermost = NestBlock(block, None, 0, {})
        nest(outermost)
        before, block = block, _sunk(outermost)
        if block is before:
            return block


def _sunk(scope: NestBlock) -> Block:
    nodes: list[Node] = []
    for i, node in enumerate(scope.block.nodes):
        inside = {which: s for (j, which), s in scope.inner.items() if j == i}
        if (
            node.op.name == "loop"
            and not inside["body"].inner
            and not any(n.blocks for n in inside["body"].block.nodes)
        ):
            nodes += _Loop(scope, inside["body"], node).rewritten()
            continue
        blocks = {which: _sunk(s) for which, s in inside.items()}
        node = with_params(node, blocks)
        nodes.append(node)
    return rebuilt(scope.block, scope.block.params, nodes, scope.block.results)


class _Sum(NamedTuple):
    """An add_at that is done after the loop."""

    node: Node
    array: int  # which carried array
    axis: int | None  # along which it moves on from iteration to iteration
    step: int


class _Loop:
    """An innermost loop."""

    def __init__(self, around: NestBlock, scope: NestBlock, node: Node):
        self.around, self.scope, self.node, self.body = around, scope, node, scope.block
        self.carried: int = node.params["carried"]
        self.makers = makers_of(self.body.nodes)
        self.outside: dict[Operand, Operand] = dict(
            zip(self.body.params[1 + self.carried :], node.args[1 + self.carried :], strict=True)
        )
        self.bound = self._bound()

    def _bound(self) -> int | None:
        """The largest number of iterations; None if it is not known, or may be negative."""
        iterations = self.around.integer(self.node.args[0])
        if iterations is None:
            return None
        bounds = bounds_around(self.around)
        low, high = least(iterations, bounds), least(iterations.scaled(-1), bounds)
        return None if low is None or low < 0 or high is None else -high

    # ------------------------------------------------------------------------------------------------ what can be done

    def sums(self) -> list[_Sum]:
        if self.bound is None or not FEWEST <= self.bound <= MOST:
            return []
        found = []
        for c in range(self.carried):
            p = self.body.params[1 + c]
            if p.type.shape and p.type.is_static and p.type.dtype.kind == "f":
                found += self._sums_of(c)
        return found

    def _sums_of(self, c: int) -> list[_Sum]:
        """The sums for one array."""
        writes = self._writes_to(c)
        if not writes:
            return []
        versions: set[Operand] = {writes[-1].args[0], *[node.outs[0] for node in writes]}
        reads: list[Node] = []
        for node in self.body.nodes:
            others = node.args[1:] if node in writes or node.op.name == "index" else node.args
            if any(a in versions for a in (*others, *node.sizes)):
                return []
            if node.op.name == "index" and node.args[0] in versions:
                reads.append(node)
        if sum(r in versions for r in self.body.results) > 1:
            return []
        named = [place_of(self.scope, n) for n in reads]
        named += [place_of(self.scope, n) for n in writes if n.op.name == "store"]
        found = []
        for node in writes:
            movement = self._movement(node)
            if movement is None:
                continue
            place = place_of(self.scope, node)
            assert self.scope.counter is not None
            later = frozenset([self.scope.counter.key])
            if all(disjoint(other, self.scope, place, self.scope, later) for other in named):
                found.append(_Sum(node, c, *movement))
        # One sum that moves on, and nothing else to wait for: LLVM makes vectors of it as it is.
        return found if len(found) > 1 or named or any(s.axis is None for s in found) else []

    def _writes_to(self, c: int) -> list[Node]:
        """The writes that make the array at the end of an iteration of that at its beginning; none if it is otherwise
        made."""
        writes: list[Node] = []
        x: Operand = self.body.results[c]
        while x is not self.body.params[1 + c]:
            maker = self.makers.get(x) if isinstance(x, Var) else None
            if maker is None or not maker.op.writes or "pattern" not in maker.params:
                return []
            writes.append(maker)
            x = maker.args[0]
        return writes

    def _movement(self, node: Node) -> tuple[int | None, int] | None:
        """Along which axis the place of a sum moves on, and how; None if it cannot be done after the loop."""
        array, value = node.outs[0].type, node.args[1]
        if node.op.name != "add_at" or value not in self.makers or value.type.dtype != array.dtype:
            return None
        items = _items(node, node.args[2:])
        if items is None or _row(items, array.shape) != value.type.shape:
            return None
        movement = self.place(node, node.args[2:], node.outs[0])
        is_wide = math.prod(_row(items, array.shape)) > WIDEST
        return None if movement is not None and movement[0] is None and is_wide else movement

    def _is_inside(self, at: Affine, step: int, n: int) -> bool:
        """Whether the places along an axis are inside an array, whatever the number of iterations."""
        iterations = self.around.integer(self.node.args[0])
        assert iterations is not None
        assert self.scope.counter is not None
        base = at.plus(Affine.of(self.scope.counter), -step)
        first, last = base, base + iterations - 1 if step else base
        if step < 0:
            first, last = base - iterations + 1, base
        bounds = bounds_around(self.around)
        lowest, room = least(first, bounds), least(Affine.of(n - 1) - last, bounds)
        return lowest is not None and lowest >= 0 and room is not None and room >= 0

    # ---------------------------------------------------------------------------------------------------- the new nodes

    def rewritten(self) -> list[Node]:
        sums = self.sums()
        if not sums:
            return [self.node]
        lifted = self._lifted(sums) if self._pays(sums) else None
        if lifted is not None:
            return lifted
        sums = [s for s in sums if s.axis is None]
        return self._with_variables(sums) if sums else [self.node]

    def _pays(self, sums: list[_Sum]) -> bool:
        """Whether to do all iterations at once. Of numbers always; of rows if there are enough sums into one array."""
        rows = {s.node.args[1].type.shape for s in sums}
        if rows == {()}:
            return True
        many = max(sum(s.axis is not None and s.array == c for s in sums) for c in range(self.carried))
        assert self.bound is not None
        lengths: Any = rows.pop()
        return not rows and many >= ROWS and self.bound * math.prod(lengths) <= LARGEST

    def _with_variables(self, sums: list[_Sum]) -> list[Node]:
        """The loop with variables for sums."""
        source = self.node.source
        inner, env = self._without(sums)
        groups: dict[Any, list[_Sum]] = {}
        for s in sums:
            groups.setdefault((s.array, repr(s.node.params["pattern"]), *map(_name, s.node.args[2:])), []).append(s)
        totals, more, sums = [], [], [group[0] for group in groups.values()]
        for group in groups.values():
            added = [s.node.args[1] for s in group]
            total = Var(Type(added[0].type.shape, added[0].type.dtype))
            # As soon as all are there: what they read may be written to afterwards.
            at = 1 + max(j for j, n in enumerate(inner) if any(v in added for v in n.outs))
            new: Operand = total
            for value in added:
                x, new = new, Var(total.type)
                op = TABLE["add" if total.type.shape else "accumulate"]
                inner.insert(at, Node(op, (x, value), {}, (new,), (), source))
                at += 1
            totals.append(total)
            more.append(new)
        k, params, results = 1 + self.carried, self.body.params, all_replaced(self.body.results, env)
        body = Block(
            [*params[:k], *totals, *params[k:]], inner, [*results[: self.carried], *more, *results[self.carried :]]
        )
        starts: list[Operand] = []
        before: list[Node] = []
        for t in totals:
            start: Operand = const(t.type.dtype.type(0))
            if t.type.shape:
                start = Var(t.type)
                zero = (const(t.type.dtype.type(0)),)
                before.append(Node(TABLE["broadcast_to"], zero, {"shape": t.type.shape}, (start,), (), source))
            starts.append(start)
        args = (*self.node.args[:k], *starts, *self.node.args[k:])
        outs, ends = list(self.node.outs), [Var(t.type) for t in totals]
        after: list[Node] = []
        for s, end in reversed(list(zip(sums, ends, strict=True))):
            out, outs[s.array] = outs[s.array], Var(outs[s.array].type)
            arrays = [self.outside.get(a, a) for a in s.node.args[2:]]
            after.append(Node(s.node.op, (outs[s.array], end, *arrays), s.node.params, (out,), (), source))
        new_outs = (*outs[: self.carried], *ends, *outs[self.carried :])
        new_params = {"body": body, "carried": self.carried + len(sums)}
        return [*before, Node(self.node.op, args, new_params, new_outs, (), source), *reversed(after)]

    def _without(self, sums: list[_Sum]) -> tuple[list[Node], Environment]:
        """The nodes of the body without those of sums, and what stands for their results."""
        gone = {id(s.node) for s in sums}
        env: Environment = {}
        inner: list[Node] = []
        for n in self.body.nodes:
            if id(n) in gone:
                env[n.outs[0]] = replaced(n.args[0], env)
            else:
                inner.append(substituted(n, env))
        return inner, env

    # ------------------------------------------------------------------------------------------------ on whole slices

    def _lifted(self, sums: list[_Sum]) -> list[Node] | None:
        """All iterations at once; None if that cannot be done, or does not pay."""
        inner, env = self._without(sums)
        results = all_replaced(self.body.results, env)
        if len(results) > self.carried or any(not r.type.shape for r in results):
            return None
        steps = {s.step for s in sums if s.axis is not None}
        lift = _Lift(self, steps, sums[0].node.args[1].type.shape)
        if not all(lift.add(n) for n in inner) or len(lift.steps) > 1 or lift.operations > LONGEST:
            return None
        for c, r in enumerate(results):
            if r is not self.body.params[1 + c] and lift.stores.get(c) is not r:
                return None
        if not all(s.node.args[1] in lift.varying for s in sums):
            return None
        return lift.finished(sums)

    def place(self, node: Node, arrays: Sequence[Operand], x: Operand) -> tuple[int | None, int] | None:
        """The movement of the place that a node names by numbers, and by slices along the axes behind them."""
        items = _items(node, arrays)
        if items is None or not x.type.is_static:
            return None
        found: tuple[int | None, int] = (None, 0)
        for axis, (a, n) in enumerate(zip(items, x.type.shape, strict=True)):
            if a.__class__ is slice or not isinstance(n, int):
                continue
            at = self.scope.integer(a) if not a.type.shape else None
            if at is None:
                return None
            step = at.terms.get(self.scope.counter, 0) if self.scope.counter is not None else 0
            if step == 0 and isinstance(a, Var) and a not in self.outside:
                return None
            if step and (found[0] is not None or abs(step) != 1):
                return None
            if step:
                if any(item.__class__ is slice for item in items[:axis]):
                    return None  # the iterations are the first axis of what is read in all of them
                found = (axis, step)
            if not self._is_inside(at, step, n):
                return None
        return found

    def at(self, nodes: list[Node], x: Operand, iteration: Operand) -> Operand:
        """An integer of the loop in some iteration, computed outside."""
        env: Environment = {**self.outside, self.body.params[0]: iteration}  # type: ignore[dict-item]
        wanted: set[Operand] = {x}
        chosen = []
        for n in reversed(self.body.nodes):
            if any(v in wanted for v in n.outs):
                wanted.update(n.args)
                chosen.append(n)
        for n in reversed(chosen):
            if all(isinstance(replaced(a, env), Const) for a in n.args) and n.op.name in (
                "add",
                "subtract",
                "multiply",
            ):
                numbers = [int(replaced(a, env).value) for a in n.args]  # type: ignore[union-attr]
                env[n.outs[0]] = const(int(getattr(np, n.op.name)(*numbers)))
            else:
                nodes.append(renamed(n, env))
        return replaced(x, env)

    def node_of(self, nodes: list[Node], name: str, x: Operand, y: Operand) -> Operand:
        if isinstance(x, Const) and isinstance(y, Const):
            return const(int(getattr(np, name)(int(x.value), int(y.value))))
        out = Var(Type((), np.dtype(np.int64), x.type.weak and y.type.weak))
        nodes.append(Node(TABLE[name], (x, y), {}, (out,), (), self.node.source))
        return out


class _Lift:
    """A loop whose iterations are independent, on slices. They are in the order of their places in memory."""

    def __init__(self, loop: _Loop, steps: set[int], row: tuple[Any, ...]):
        self.loop, self.steps = loop, steps
        self.row = row  # the shape of what is computed in one iteration
        self.nodes: list[Node] = []
        self.arrays: dict[Operand, Operand] = {}  # what stands for the values of all iterations
        self.varying: set[Operand] = set()  # those that are not the same in all iterations
        self.stores: dict[int, Var] = {}  # of carried arrays
        self.written: dict[int, tuple[Node, int]] = {}
        self.reads: list[tuple[int, Node]] = []
        self.operations = 0
        count = loop.node.args[0]
        self.length: Any = int(count.value) if isinstance(count, Const) else Dyn(loop.bound)

    def add(self, node: Node) -> bool:
        """Take one node of the body; False if it cannot be done on slices."""
        loop, name = self.loop, node.op.name
        if len(node.outs) != 1:
            return False
        out = node.outs[0]
        if out in loop.scope.integers and not out.type.shape:
            return True  # part of a place
        if name == "index":
            return self._read(node, out)
        if name == "store":
            return self._store(node, out)
        if not node.op.elementwise or out.type.shape not in ((), self.row) or node.sizes:
            return False
        args = [self._value(a) for a in node.args]
        if any(a is None for a in args):
            return False
        self.operations += 1
        return self._new(node, args, out, (), any(a in self.varying for a in node.args))  # type: ignore[arg-type]

    def _new(self, node: Node, args: Sequence[Operand], out: Var, sizes: tuple[Operand, ...], varies: bool) -> bool:
        """A node outside that stands for one of the body; False if what an iteration computes has another shape."""
        if varies and out.type.shape != self.row:
            return False
        new = Var(Type((self.length, *self.row), out.type.dtype) if varies else out.type)
        self.nodes.append(Node(node.op, tuple(args), node.params, (new,), sizes, node.source))
        self.arrays[out] = new
        if varies:
            self.varying.add(out)
        return True

    def _value(self, x: Operand) -> Operand | None:
        """A value of the body outside: of all iterations, or the same for all."""
        if x in self.arrays:
            return self.arrays[x]
        if x.type.shape not in ((), self.row):
            return None
        return x if isinstance(x, Const) else self.loop.outside.get(x)

    def _carried(self, x: Operand) -> int | None:
        params = self.loop.body.params[1 : 1 + self.loop.carried]
        return next((c for c, p in enumerate(params) if p is x), None)

    def _read(self, node: Node, out: Var) -> bool:
        loop, x = self.loop, node.args[0]
        c = self._carried(x)
        source = loop.outside.get(x) if c is None else loop.node.args[1 + c]
        movement = loop.place(node, node.args[1:], x)
        if source is None or movement is None:
            return False
        if c is not None:
            if c in self.stores:
                return False
            self.reads.append((c, node))
        axis, step = movement
        if axis is None:
            outside = [loop.outside.get(a, a) for a in node.args[1:]]
            return out.type.shape in ((), self.row) and self._new(node, (source, *outside), out, (), False)
        self.steps.add(step)
        pattern, arrays, sizes = self._slices(node, node.args[1:], axis, step)
        named = Node(node.op, node.args, {"pattern": pattern}, node.outs, (), node.source)
        return self._new(named, (source, *arrays), out, sizes, True)

    def _store(self, node: Node, out: Var) -> bool:
        c = self._carried(node.args[0])
        movement = self.loop.place(node, node.args[2:], node.args[0])
        if c is None or c in self.stores or movement is None or movement[0] is None:
            return False
        value, items = node.args[1], _items(node, node.args[2:])
        if self._value(value) is None or items is None or _row(items, out.type.shape) != self.row:
            return False
        self.steps.add(movement[1])
        self.stores[c] = out
        self.written[c] = (node, movement[0])
        return all(self._is_free(read, node) for other, read in self.reads if other == c)

    def _is_free(self, read: Node, write: Node) -> bool:
        """Whether no iteration reads what another one has written."""
        scope = self.loop.scope
        assert scope.counter is not None
        places = [
            [a if a.__class__ is slice else scope.integer(a) for a in _items(n, arrays) or ()]
            for n, arrays in ((read, read.args[1:]), (write, write.args[2:]))
        ]
        if places[0] == places[1]:
            return True
        here = place_of(scope, read)
        there = place_of(scope, write)
        return disjoint(here, scope, there, scope, frozenset([scope.counter.key]))

    def _slices(
        self, node: Node, arrays: Sequence[Operand], axis: int, step: int
    ) -> tuple[tuple[Any, ...], tuple[Operand, ...], tuple[Operand, ...]]:
        """Pattern, arrays and sizes for the places of all iterations."""
        loop, count, items = self.loop, self.loop.node.args[0], _items(node, arrays)
        assert items is not None
        iteration = const(0) if step > 0 else loop.node_of(self.nodes, "subtract", count, const(1))
        start = loop.at(self.nodes, items[axis], iteration)
        stop = loop.node_of(self.nodes, "add", start, count)
        sizes = [x for x in (start, stop) if not isinstance(x, Const)]
        ends = [int(x.value) if isinstance(x, Const) else Ref(sizes.index(x)) for x in (start, stop)]
        pattern = [item if item.__class__ is slice else ARRAY for item in items]
        pattern[axis] = slice(*ends)
        others = [loop.outside.get(a, a) for k, a in enumerate(items) if k != axis and a.__class__ is not slice]
        return tuple(pattern), tuple(others), tuple(sizes)

    def finished(self, sums: list[_Sum]) -> list[Node]:
        """All nodes: reads and operations, sums, stores, and sums into what was stored to.

        Stores come late since what they overwrite may be read by sums.
        """
        loop = self.loop
        latest: dict[int, Operand] = {c: loop.node.args[1 + c] for c in range(loop.carried)}
        stores = [(c, node, axis, node.args[1], node.args[2:]) for c, (node, axis) in self.written.items()]
        added = [(s.array, s.node, s.axis, s.node.args[1], s.node.args[2:]) for s in sums]
        writes: list[Any] = [w for w in added if w[0] not in self.written]
        writes += [*stores, *[w for w in added if w[0] in self.written]]
        for k, (c, node, axis, value, arrays) in enumerate(writes):
            is_last = all(other[0] != c for other in writes[k + 1 :])
            out = loop.node.outs[c] if is_last else Var(loop.node.outs[c].type)
            v = self._value(value)
            assert v is not None
            if axis is None:
                total = Var(Type(v.type.shape[1:], v.type.dtype))
                params: dict[str, Any] = {"axis": (0,), "keepdims": False}
                self.nodes.append(Node(TABLE["sum"], (v,), params, (total,), (), node.source))
                outside = [loop.outside.get(a, a) for a in arrays]
                self.nodes.append(Node(node.op, (latest[c], total, *outside), node.params, (out,), (), node.source))
            else:
                step = next(iter(self.steps))
                pattern, others, sizes = self._slices(node, arrays, axis, step)
                params = {"pattern": pattern}
                self.nodes.append(Node(node.op, (latest[c], v, *others), params, (out,), sizes, node.source))
            latest[c] = out
        return [*self.nodes, *_unchanged(loop.node, loop.carried, {w[0] for w in writes})]


def _unchanged(node: Node, carried: int, written: set[int]) -> list[Node]:
    """Copies of arrays that a loop carries and does not write to."""
    return [
        Node(TABLE["copy"], (node.args[1 + c],), {}, (node.outs[c],), (), node.source)
        for c in range(carried)
        if c not in written
    ]


def _name(x: Operand) -> Any:
    """The same for two operands only if they are the same."""
    return repr(x.value) if isinstance(x, Const) else id(x)


def _items(node: Node, arrays: Sequence[Operand]) -> list[Any] | None:
    """What a place is along each axis: an operand, or a slice; None if it is named in another way."""
    x = node.args[0]
    pattern = explicit(node.params["pattern"], x.type.ndim)
    if node.sizes or any(item is None or item is Ellipsis or item is FLAG for item in pattern):
        return None
    pattern += (slice(None),) * (x.type.ndim - len(pattern))
    remaining = iter(arrays)
    return [item if item.__class__ is slice else next(remaining) if item is ARRAY else const(item) for item in pattern]


def _row(items: Sequence[Any], shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of a place."""
    return tuple([len(range(*a.indices(n))) for a, n in zip(items, shape, strict=True) if a.__class__ is slice])
