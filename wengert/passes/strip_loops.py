"""Loops in strips: a loop that does the same for all rows is run for a few of them, then for the next.

    loop k < n:                                         for each strip:
        m = b[:, k] - a[:, k] * c[:, k - 1]                 loop k < n: the same, with as many rows as a strip has
        c[:, k] = c[:, k] / m                 becomes

`loop_along` finds out, for all values of the body, along which axis they would be cut, beginning with those that the
loop carries: forwards through the nodes, whose rows say which axes go together (`axes.py`), and backwards to what else
a node reads. Branches inside are gone through in the same way. Nothing may be left that is done for all rows at once
and is more than a number, since it would be done for every strip; nor anything with an effect. Products of matrices are
better off with more rows than a strip has.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.ops.traits import Cost
from wengert.passes.axes import Cut, along, in_strip


class LoopAlong(NamedTuple):
    """How a loop works along an axis: along which each operand is cut, and each result."""

    needs: tuple[int | None, ...]
    axes: tuple[int | None, ...]
    width: int
    """So many elements for each row has the smallest array that an iteration computes."""
    body: _LoopAxes

    def params(self, node: Node, length: int) -> dict[str, Any]:
        """The parameters of the loop for a strip of some length."""
        return {**node.params, "body": self.body.in_strip(node.params["body"], length)}


def loop_along(node: Node, cut: Cut, start: tuple[int, int] | None = None) -> LoopAlong | None:
    """How a loop works along the axis in which its operands come; None if it does not.

    With `start`, (axis, length), nothing comes in strips yet, and what it carries is to be cut along that axis.
    """
    if node.op.name != "loop" or node.sizes or not all(v.type.is_static for v in (*node.args, *node.outs)):
        return None
    carried, inside = node.params["carried"], node.params["body"]
    body = _LoopAxes()
    try:
        for a, p in zip(node.args[1:], inside.params[1:], strict=True):
            axis = cut(a)
            if axis is not None:
                body.assign(p, axis)
        if start is not None:
            for p in inside.params[1 : 1 + carried]:
                if p.type.ndim > start[0] and p.type.shape[start[0]] == start[1]:
                    body.assign(p, start[0])
        body.find(inside, carried)
    except _NotAlong:
        return None
    needs = (None, *[body.axes.get(p) for p in inside.params[1:]])
    found = [body.axes.get(r) for r in inside.results]
    if all(axis is None for axis in found[:carried]) or any(cut(a) is not None for a in node.args[:1]):
        return None
    stacked = [None if axis is None else axis + 1 for axis in found[carried:]]
    return LoopAlong(needs, (*found[:carried], *stacked), body.width(), body)


class _NotAlong(Exception):
    """Something does not work along the axis."""


class _LoopAxes:
    """The axes along which values are cut, in a block and all blocks inside."""

    def __init__(self) -> None:
        self.axes: dict[Operand, int] = {}
        self.makers: dict[Operand, Node] = {}
        self.sources: dict[Operand, Operand] = {}
        """Parameters of blocks inside, by what stands for them in the block around."""

    def find(self, block: Block, carried: int) -> None:
        """All values of the body of a loop."""
        self._enter(block)
        while True:
            before = len(self.axes)
            self._go_through(block)
            for p, r in zip(block.params[1 : 1 + carried], block.results[:carried], strict=True):
                self._same(p, r)
            if len(self.axes) == before:
                break
        self._check(block)

    def assign(self, x: Operand, axis: int) -> None:
        """A value is cut along an axis: so is what it is made of."""
        if x in self.axes:
            if self.axes[x] != axis:
                raise _NotAlong
            return
        if isinstance(x, Const):
            raise _NotAlong
        self.axes[x] = axis
        if x in self.sources:
            self.assign(self.sources[x], axis)
        maker = self.makers.get(x)
        if maker is None:
            return
        if maker.op.name == "cond":
            for which in ("then", "orelse"):
                self.assign(maker.params[which].results[maker.outs.index(x)], axis)
        else:
            found = along(maker, lambda a: None, (axis, 0))
            if found is None:
                raise _NotAlong
            self._assign_all(maker, found.needs)

    def _assign_all(self, node: Node, needs: tuple[int | None, ...]) -> None:
        for a, need in zip(node.args, needs, strict=True):
            if need is not None:
                self.assign(a, need)

    def _same(self, a: Operand, b: Operand) -> None:
        if a in self.axes:
            self.assign(b, self.axes[a])
        elif b in self.axes:
            self.assign(a, self.axes[b])

    def _enter(self, block: Block) -> None:
        for node in block.nodes:
            is_product = node.op.combine is not None and node.op.cost is Cost.MORE
            if node.op.effect or is_product or (node.blocks and node.op.name != "cond"):
                raise _NotAlong
            self.makers.update(dict.fromkeys(node.outs, node))
            for inner in node.blocks:
                if any(p in self.sources for p in inner.params):
                    raise _NotAlong  # a block that occurs twice
                self.sources.update(zip(inner.params, node.args[1:], strict=True))
                self._enter(inner)

    def _go_through(self, block: Block) -> None:
        for node in block.nodes:
            if node.op.name == "cond":
                for inner in node.blocks:
                    for p, a in zip(inner.params, node.args[1:], strict=True):
                        self._same(p, a)
                    self._go_through(inner)
                for k, out in enumerate(node.outs):
                    for inner in node.blocks:
                        self._same(out, inner.results[k])
            elif any(a in self.axes for a in node.args):
                found = along(node, self.axes.get)
                if found is None or found.axis is None:
                    raise _NotAlong
                self._assign_all(node, found.needs)
                self.assign(node.outs[0], found.axis)

    def _check(self, block: Block) -> None:
        """What is cut is made of what is cut, and nothing large is left."""
        for node in block.nodes:
            for inner in node.blocks:
                for p, a in zip(inner.params, node.args[1:], strict=True):
                    if self.axes.get(p) != self.axes.get(a):
                        raise _NotAlong
                for r, out in zip(inner.results, node.outs, strict=True):
                    if self.axes.get(r) != self.axes.get(out):
                        raise _NotAlong
                self._check(inner)
            if node.blocks and node.args[0] in self.axes:
                raise _NotAlong
            if any(v.type.ndim and v not in self.axes for v in node.outs):
                raise _NotAlong

    def width(self) -> int:
        """How many elements for each row the smallest array has that is computed."""
        sizes = [
            math.prod([n for k, n in enumerate(v.type.shape) if k != axis and isinstance(n, int)])
            for v, axis in self.axes.items()
            if v in self.makers
        ]
        return min(sizes, default=0)

    # ------------------------------------------------------------------------------------------------------ a strip

    def in_strip(self, block: Block, length: int) -> Block:
        """The block for a strip of some length."""
        known: dict[Operand, Operand] = {}

        def new(v: Var) -> Var:
            known[v] = found = Var(self._type(v, length), v.hint, v.span, v.stable)
            return found

        params = [new(p) for p in block.params]
        nodes = []
        for node in block.nodes:
            args = tuple([known.get(a, a) for a in node.args])
            outs = tuple([new(v) for v in node.outs])
            if node.blocks:
                blocks = {which: self.in_strip(node.params[which], length) for which in ("then", "orelse")}
                nodes.append(Node(node.op, args, {**node.params, **blocks}, outs, node.sizes, node.source))
                continue
            sizes = tuple([known.get(a, a) for a in node.sizes])
            shape = in_strip(node, self.axes.get(node.outs[0]), length)
            nodes.append(Node(node.op, args, shape, outs, sizes, node.source))
        return Block(params, nodes, [known.get(r, r) for r in block.results])

    def _type(self, v: Var, length: int) -> Type:
        axis = self.axes.get(v)
        if axis is None:
            return v.type
        shape = list(v.type.shape)
        shape[axis] = length
        return Type(tuple(shape), v.type.dtype, v.type.weak)
