"""Dead code: nodes, parameters of blocks, carried values, stacks and results of branches that nobody needs go.

A carried value is needed if its last value is, if the test or something that is needed in the body uses it; not if all
it does is to compute itself. What has effects stays, and with it what it uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wengert.ir.loops import LOOPS, loop_parts
from wengert.ir.node import Block, Node, Operand, Var
from wengert.passes.rewrite import has_effects, rebuilt


def dce(block: Block) -> Block:
    """A block without dead code. Its own parameters stay."""
    return rebuilt(block, block.params, _Sweep().live(block, (True,) * len(block.results)).nodes, block.results)


class _Live(NamedTuple):
    nodes: list[Node]
    params: tuple[bool, ...]
    """Which parameters are used."""


class _Sweep:
    def __init__(self) -> None:
        self._known: dict[tuple[int, tuple[bool, ...]], _Live] = {}

    def live(self, block: Block, wanted: tuple[bool, ...]) -> _Live:
        """What is needed of a block of which these results are wanted."""
        found = self._known.get((id(block), wanted))
        if found is None:
            live: set[Operand] = {r for r, w in zip(block.results, wanted, strict=True) if w}
            nodes: list[Node] = []
            for node in reversed(block.nodes):
                if any(out in live for out in node.outs) or has_effects(node):
                    node = self.shrunk(node, live)
                    nodes.append(node)
                    live.update(node.args)
                    live.update(node.sizes)
            found = _Live(nodes[::-1], tuple([p in live for p in block.params]))
            self._known[id(block), wanted] = found
        return found

    def shrunk(self, node: Node, live: set[Operand]) -> Node:
        """A node with blocks without what nobody needs of it."""
        name = node.op.name
        if name in LOOPS:
            return self.loop(node, live)
        if name in ("cond", "call"):
            return self.once(node, live)
        return node

    def once(self, node: Node, live: set[Operand]) -> Node:
        own = int(node.op.name == "cond")  # the condition stays
        wanted = tuple([out in live for out in node.outs])
        parts = [self.live(block, wanted).params for block in node.blocks]
        used = tuple([any(uses) for uses in zip(*parts, strict=True)])
        params = {
            key: self.block(p, used, wanted) if p.__class__ is Block else p for key, p in node.params.items()
        }  # fmt: skip
        return _changed(node, (*node.args[:own], *_kept(node.args[own:], used)), params, _kept(node.outs, wanted))

    def loop(self, node: Node, live: set[Operand]) -> Node:
        parts = loop_parts(node)
        first, carried, body, test = parts.first, parts.carried, parts.body, parts.test
        count = 1 - first  # the number of iterations, and what counts them, stay
        stacks = tuple([out in live for out in parts.stacks])
        needed = [out in live for out in parts.finals]
        while True:
            used = list(self.live(body, (*needed, *stacks)).params[first:])
            if test is not None:
                used = [a or b for a, b in zip(used, self.live(test, (True,)).params, strict=True)]
            more = [a or b for a, b in zip(needed, used[:carried], strict=True)]
            if more == needed:
                break
            needed = more
        keep = (*needed, *used[carried:])
        params = dict(node.params)
        params["body"] = self.block(body, (True,) * first + keep, (*needed, *stacks))
        params["carried"] = sum(needed)
        if test is not None:
            params["test"] = self.block(test, keep, (True,))
        outs = _kept(node.outs, (*needed, *(True,) * count, *stacks))
        return _changed(node, (*node.args[:first], *_kept(node.args[first:], keep)), params, outs)

    def block(self, block: Block, params: Sequence[bool], results: tuple[bool, ...]) -> Block:
        nodes = self.live(block, results).nodes
        return rebuilt(block, list(_kept(block.params, params)), nodes, _kept(block.results, results))


def _kept(items: Sequence, keep: Sequence[bool]) -> tuple:
    return tuple([x for x, k in zip(items, keep, strict=True) if k])


def _changed(node: Node, args: tuple[Operand, ...], params: dict, outs: tuple[Var, ...]) -> Node:
    """A node with fewer operands and results; the same one if they are all there."""
    if len(args) == len(node.args) and len(outs) == len(node.outs):
        if all(params[key] is p or params[key] == p for key, p in node.params.items()):
            return node
    return Node(node.op, args, params, outs, node.sizes, node.source)
