"""Common subexpressions: what has been computed already is not computed again, also inside blocks.

Blocks are closed, so what is known outside is known inside only by way of parameters. Parameters that are bound to the
same value become one; and if a value and what it was computed from both come in, computing it again inside finds it.
Values that loops carry become one if they begin alike and, supposing they are alike, go on alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.ir.analysis.keys import BlockNumbers, node_key, operand_key
from wengert.ir.loops import LOOPS, loop_parts
from wengert.ir.node import Block, Node, Operand, Var
from wengert.passes.rewrite import Environment, all_replaced, has_effects, rebuilt, replaced, same, substituted

Table = dict[Any, tuple[Operand, ...]]
"""The results of each computation, by its key."""


def cse(block: Block) -> Block:
    """A block without common subexpressions."""
    return _Cse().block(block, {}, {})


class _Cse:
    def __init__(self) -> None:
        self.blocks = BlockNumbers()

    def block(self, block: Block, env: Environment, table: Table) -> Block:
        nodes = []
        makers: dict[Var, Node] = {}
        for node in block.nodes:
            node = substituted(node, env)
            if node.blocks:
                node = self.inside(node, makers, env)
            if not has_effects(node):
                key = node_key(node, self.blocks)
                known = table.get(key)
                if known is not None:
                    env.update(zip(node.outs, known, strict=True))
                    continue
                table[key] = node.outs
                if len(node.outs) == 1:
                    makers[node.outs[0]] = node
            nodes.append(node)
        return rebuilt(block, block.params, nodes, all_replaced(block.results, env))

    def inside(self, node: Node, makers: dict[Var, Node], env: Environment) -> Node:
        """A node with its blocks done. `env` learns which of its results are the same as others."""
        name = node.op.name
        if name in LOOPS:
            parts = loop_parts(node)
            first, carried = parts.first, parts.carried
            alike = self.alike(parts.starts, node, bool(first))
            for i, j in enumerate(alike):
                if i != j:
                    env[node.outs[i]] = node.outs[j]
            # What is carried is not in the table: inside it is another value than outside.
            bound = [(i + first, a) for i, a in enumerate(node.args[first:]) if i >= carried]
            params = dict(node.params)
            params["body"] = self.region(
                node.params["body"], bound, makers, [(i + first, j + first) for i, j in enumerate(alike)]
            )
            if name == "while":
                params["test"] = self.region(node.params["test"], bound, makers, list(enumerate(alike)))
        elif name in ("cond", "call"):
            bound = list(enumerate(node.args[name == "cond" :]))
            params = {
                key: self.region(p, bound, makers, []) if p.__class__ is Block else p for key, p in node.params.items()
            }
        else:
            return node
        if all(params[key] is p for key, p in node.params.items()):
            return node
        return Node(node.op, node.args, params, node.outs, node.sizes, node.source)

    def region(
        self,
        block: Block,
        bound: Sequence[tuple[int, Operand]],
        makers: dict[Var, Node],
        alike: Sequence[tuple[int, int]],
    ) -> Block:
        """A block of which some parameters are bound to values outside, and some are known to be alike."""
        env: Environment = {block.params[i]: block.params[j] for i, j in alike if i != j}
        inner: dict[Any, Var] = {}
        for i, arg in bound:
            key = operand_key(arg)
            if key in inner:
                env[block.params[i]] = inner[key]
            else:
                inner[key] = block.params[i]
        table: Table = {}
        for _, arg in bound:
            maker = makers.get(arg) if isinstance(arg, Var) else None
            if maker is None or any(isinstance(a, Var) and id(a) not in inner for a in (*maker.args, *maker.sizes)):
                continue
            into: Environment = {a: inner[id(a)] for a in (*maker.args, *maker.sizes) if isinstance(a, Var)}
            table[node_key(substituted(maker, into), self.blocks)] = (inner[id(arg)],)
        return self.block(block, env, table)

    def alike(self, inits: Sequence[Operand], node: Node, first: int) -> list[int]:
        """For each carried value the first one that always is the same.

        Suppose that all that begin alike stay alike, look whether they do, and if not, suppose less.
        """
        body = node.params["body"]
        types = [(body.params[i + first].type, node.outs[i].type) for i in range(len(inits))]
        groups = _grouped([(operand_key(x), *t) for x, t in zip(inits, types, strict=True)])
        while any(i != j for i, j in enumerate(groups)):
            env: Environment = {body.params[i + first]: body.params[j + first] for i, j in enumerate(groups) if i != j}
            table: Table = {}
            for inner in body.nodes:
                inner = substituted(inner, env)
                if not has_effects(inner):
                    known = table.setdefault(node_key(inner, self.blocks), inner.outs)
                    if known is not inner.outs:
                        env.update(zip(inner.outs, known, strict=True))
            after = [operand_key(replaced(r, env)) for r in body.results[: len(inits)]]
            refined = _grouped(list(zip(groups, after, strict=True)))
            if same(refined, groups):
                break
            groups = refined
        return groups


def _grouped(keys: Sequence[Any]) -> list[int]:
    """For each key where it first appears."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(key, i) for i, key in enumerate(keys)]
