"""Who makes a value, and how often and by whom it is used: in one block, not in the blocks inside it.

(Blocks are closed: what they use is an operand of the node that has them.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wengert.ir.node import Node, Operand, Var


def makers_of(nodes: Sequence[Node]) -> dict[Var, Node]:
    """The node that makes each value."""
    return {v: node for node in nodes for v in node.outs}


def uses_of(nodes: Sequence[Node], results: Sequence[Operand]) -> Counter[Operand]:
    """How often each value is an operand, a size or a result."""
    found: Counter[Operand] = Counter(a for node in nodes for a in (*node.args, *node.sizes))
    found.update(results)
    return found


def readers_of(nodes: Sequence[Node], results: Sequence[Operand]) -> dict[Operand, list[tuple[int, int]]]:
    """Where each value is used: the number of the node, and of the operand or, behind these, the size.

    Results have the number after the last node.
    """
    found: dict[Operand, list[tuple[int, int]]] = {}
    for i, node in enumerate(nodes):
        for k, a in enumerate((*node.args, *node.sizes)):
            found.setdefault(a, []).append((i, k))
    for k, r in enumerate(results):
        found.setdefault(r, []).append((len(nodes), k))
    return found
