"""Sums that a loop adds to a carried value are made after it: in the loop, elements add up by themselves.

    loop: total = total + k * sum(x * y)     becomes     loop: part = part + k * (x * y);     total = total + sum(part)

So a loop whose elements have nothing else in common is a kernel (`loop_kernel.py`): in the reverse sweep of a loop,
every number that was given to it has such a sum for its cotangent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.ir.node import Block, Node, Operand, Type, Var
from wengert.ops.op import TABLE
from wengert.ops.reduce import weighted_sum
from wengert.passes.rewrite import const, with_params

_ADDS = {"add": "add", "accumulate": "add", "subtract": "subtract"}


class _Sum(NamedTuple):
    """A sum, perhaps times numbers: what is summed, and the node that does."""

    summand: Var
    node: Node


class _Body:
    """The body of a loop while sums are taken out of it."""

    def __init__(self, loop: Node):
        body = loop.params["body"]
        self.params, self.results, self.nodes = list(body.params), list(body.results), list(body.nodes)
        self._makers = {v: node for node in body.nodes for v in node.outs}
        self._uses: dict[Any, int] = {}
        for a in [*body.results, *[a for node in body.nodes for a in (*node.args, *node.sizes)]]:
            self._uses[a] = self._uses.get(a, 0) + 1

    def take(self, c: int) -> _Sum | None:
        """Have a carried value add up elements of what is added to it, if that is a sum."""
        p, r = self.params[1 + c], self.results[c]
        total = self._makers.get(r)
        if total is None or total.op.name not in _ADDS or self._uses[r] > 1 or self._uses.get(p, 0) > 1:
            return None
        own = [a for a in total.args if a is not p]
        if total.op.name == "subtract" and total.args[0] is not p:
            return None
        before = list(self.nodes)
        found = self._sum(own[0], r.type.dtype) if len(own) == 1 else None
        if found is None:
            self.nodes = before
            return None
        type = found.summand.type
        part, self.results[c] = Var(type), Var(type)
        self.params[1 + c] = part
        self._replace(
            total, Node(TABLE[_ADDS[total.op.name]], (part, found.summand), {}, (self.results[c],), source=total.source)
        )
        return found

    def _sum(self, a: Operand, dtype: np.dtype) -> _Sum | None:
        node = self._makers.get(a)
        if node is None or self._uses[a] > 1 or a.type.dtype != dtype:
            return None
        if node.op.name == "sum" or node.op is weighted_sum:
            return self._summand(node, dtype)
        numbers = [b for b in node.args if b.type.shape == ()]
        if node.op.name not in ("multiply", "negative") or len(numbers) < len(node.args) - 1:
            return None
        for b in node.args:
            found = self._sum(b, dtype)
            if found is not None and (not a.type.shape or node.op.name == "negative"):
                given = tuple([found.summand if d is b else d for d in node.args])
                summand = Var(found.summand.type)
                self._replace(node, Node(node.op, given, {}, (summand,), source=node.source))
                return _Sum(summand, found.node)
        return None

    def _summand(self, node: Node, dtype: np.dtype) -> _Sum | None:
        x = node.args[0]
        if not isinstance(x, Var) or not x.type.is_static or any(b.type.dtype != dtype for b in node.args):
            return None
        if node.op is not weighted_sum:
            self.nodes = [n for n in self.nodes if n is not node]
            return _Sum(x, node)
        product = Var(Type(x.type.shape, dtype))
        self._replace(node, Node(TABLE["multiply"], node.args, {}, (product,), source=node.source))
        return _Sum(product, node)

    def _replace(self, old: Node, new: Node) -> None:
        self.nodes = [new if node is old else node for node in self.nodes]


def with_partial_sums(loop: Node) -> list[Node] | None:
    """The nodes that a loop becomes, the new loop among them; `None` if it has no such sum."""
    body = _Body(loop)
    args, outs = list(loop.args), list(loop.outs)
    before, after = [], []
    for c in range(loop.params["carried"]):
        found = body.take(c)
        if found is None:
            continue
        type, sums = found.summand.type, found.node
        nothing, parts, total = Var(type), Var(type), Var(sums.outs[0].type)
        zero = const(np.zeros((), type.dtype)[()])
        before.append(Node(TABLE["broadcast_to"], (zero,), {"shape": type.shape}, (nothing,)))
        how = {**sums.params, "keepdims": False} if sums.op is weighted_sum else sums.params
        after.append(Node(TABLE["sum"], (parts,), how, (total,), source=sums.source))
        after.append(Node(TABLE["add"], (args[1 + c], total), {}, (outs[c],), source=loop.source))
        args[1 + c], outs[c] = nothing, parts
    if not after:
        return None
    new = with_params(loop, {"body": Block(body.params, body.nodes, body.results)})
    return [*before, Node(new.op, tuple(args), new.params, tuple(outs), source=loop.source), *after]
