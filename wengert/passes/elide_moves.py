"""Elements that are taken out of an array and added to it again stay where they are.

The reverse sweep of `a[i] -= f(…)` takes the cotangent of the new element, puts zero in its place, because that element
did not exist before, and adds what the old one gets: the same cotangent.

    t = x[p]; y = store(x, 0, p); z = add_at(y, …, q); w = add_at(z, t, p)      becomes      w = add_at(x, …, q)

Nobody else may see what is between. Sums are added in another order, and -0.0 stays -0.0, where 0 + -0.0 is 0.0.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from wengert.ir.analysis.regions import region_of
from wengert.ir.analysis.uses import makers_of, uses_of
from wengert.ir.node import Block, Const, Node, Operand, Var
from wengert.passes.rewrite import Environment, rebuilt, replaced, substituted, with_blocks


def elide_moves(block: Block) -> Block:
    """A block in which elements stay where they are."""
    uses, makers = uses_of(block.nodes, block.results), makers_of(block.nodes)
    env: Environment = {}
    gone: set[int] = set()
    for node in block.nodes:
        taken = _taken_out(node, makers, uses)
        if taken is not None and id(taken) not in gone:
            env[taken.outs[0]] = taken.args[0]
            env[node.outs[0]] = node.args[0]
            gone.update((id(taken), id(node)))
    env = {v: _last(v, env) for v in env}
    nodes = [with_blocks(node, elide_moves) if node.blocks else node for node in block.nodes if id(node) not in gone]
    nodes = [substituted(node, env) for node in nodes]
    return rebuilt(block, block.params, nodes, [replaced(r, env) for r in block.results])


def _last(v: Var, env: Environment) -> Operand:
    x: Operand = v
    while isinstance(x, Var) and x in env:
        x = env[x]
    return x


def _taken_out(node: Node, makers: dict[Var, Node], uses: Counter[Operand]) -> Node | None:
    """The store of a zero that a node makes up for."""
    if node.op.name != "add_at" or not isinstance(node.args[1], Var):
        return None
    read = makers.get(node.args[1])
    if read is None or read.op.name != "index":
        return None
    place = region_of(node)
    if place != region_of(read) or not place.is_once:
        return None
    before = node.args[0]
    while isinstance(before, Var) and uses[before] == 1:
        maker = makers.get(before)
        if maker is None:
            return None
        if maker.op.name == "store":
            found = maker.args[0] is read.args[0] and _is_zero(maker.args[1])
            return maker if found and region_of(maker) == place else None
        if maker.op.name != "add_at":
            return None
        before = maker.args[0]
    return None


def _is_zero(x: Operand) -> bool:
    return isinstance(x, Const) and not np.any(x.value) and x.type.dtype.kind in "biufc"
