"""Simplification: what is known is computed now, and identities are applied.

This file only goes through the nodes, those of inner blocks first. What it applies are rules for one node at a time:
`fold.py` (constants), `algebra.py` (arithmetic), `structure.py` (shapes and indices), `contraction.py` (sums of
products), `diagonal.py` (products with the identity and its multiples), `push_selections.py` (parts of what is
computed), `cancel_maxima.py` (maxima before exponentials), `resolve_control.py` (ops that hold code). A new identity
goes into one of these, by the name of the op whose node it replaces.
"""

from __future__ import annotations

from wengert.ir.node import Block
from wengert.passes import algebra, cancel_maxima, contraction, diagonal, push_selections, resolve_control, structure
from wengert.passes.fold import fold
from wengert.passes.rewrite import rebuilt, with_blocks
from wengert.passes.scope import rewritten

_FAMILIES = (algebra, structure, contraction, diagonal, push_selections, cancel_maxima, resolve_control)
_ALWAYS = (structure.constant_sizes, fold)
_RULES: dict[str, tuple] = {}
for _family in _FAMILIES:
    for _name, _rule in _family.RULES.items():
        _RULES[_name] = (*_RULES.get(_name, _ALWAYS), _rule)


def simplify(block: Block) -> Block:
    """A block in which identities have been applied."""
    scope, results = rewritten(
        block, lambda node: _RULES.get(node.op.name, _ALWAYS), lambda node: with_blocks(node, simplify)
    )
    return rebuilt(block, block.params, scope.nodes, results)
