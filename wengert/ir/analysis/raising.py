"""Whether a node may raise, or not come to an end, given the types of its operands but not their values.

Rows say when their ops raise (`Raises`); here is what that means for a node. It is asked before a node is run where
the program would not have run it: moved out of a loop that may have no iteration, or on examples of a batch that went
another way.

    for i in range(n):            m = np.max(x[:k])       if n is 0, and k is 0, the program on the right raises
        s += np.max(x[:k])        for i in range(n):      and the one on the left does not
                                      s += m

Shapes that do not fit are no matter where lengths are known, for then they have been found to fit.
"""

from __future__ import annotations

import numpy as np

from wengert.ir.analysis.regions import region_of
from wengert.ir.node import Block, Const, Node
from wengert.ops.traits import Raises


def may_raise(node: Node) -> bool:
    """Whether a node may raise, or not end, on some values of the types that its operands have."""
    static = all(a.type.is_static for a in node.args)
    if not static and len(node.args) + len(node.sizes) > 1:
        return True  # lengths that do not fit
    when = node.op.raises
    if when is Raises.NEVER:
        return False
    if when is Raises.LENGTHS:
        return not static or bool(node.sizes)
    if when is Raises.INTEGERS:
        return _is_of_integers(node) and not _is_harmless(node)
    if when is Raises.PLACE:
        return "pattern" not in node.params or not region_of(node).exists
    if when is Raises.BODY:
        return blocks_may_raise(*node.blocks)
    return True


def blocks_may_raise(*blocks: Block) -> bool:
    """Whether a node in one of these blocks may raise."""
    return any(map(_may_raise, blocks))


def _may_raise(block: Block) -> bool:
    found = block.derived.get("raises")
    if found is None:
        found = block.derived["raises"] = any(map(may_raise, block.nodes))
    return found


def _is_of_integers(node: Node) -> bool:
    return all(a.type.dtype.kind in "biu" for a in node.args)


def _is_harmless(node: Node) -> bool:
    """Whether the last operand is a positive constant: as exponent, divisor, or number of bits."""
    last = node.args[-1]
    return len(node.args) > 1 and isinstance(last, Const) and bool(np.all(np.asarray(last.value) > 0))
