"""Constant folding: what depends on nothing but constants is computed now, if it is small.

Not if it warns or raises: then it must do so when the program runs. Not if the program would print larger than it is:
what `broadcast_to` and `iota` make, backends need not even store. Not if it may be another one when the program runs.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from wengert.ir.node import Const, Node, Type
from wengert.passes.rewrite import const
from wengert.passes.scope import Rewritten, Scope

_SMALL = 64


def fold(node: Node, scope: Scope) -> Rewritten:
    """The results of a node whose operands are constants."""
    if not node.args or node.sizes or not all(isinstance(a, Const) for a in node.args):
        return None
    if node.op.effect or node.op.expands or node.op.marks or not node.op.pure or node.blocks or not node.outs:
        return None
    if not all(_is_small(out.type) for out in node.outs):
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            found = node.op.impl(*[a.value for a in node.args], **node.params)  # type: ignore[union-attr]
    except Exception:  # a warning counts: what it says is for the program to say, when it runs
        return None
    values = found if len(node.outs) != 1 or found.__class__ is tuple else (found,)
    constants = tuple([const(np.asarray(v) if isinstance(v, np.ndarray) else v) for v in values])
    fits = all(
        c.type == out.type and (c.value.__class__ is not int or -(2**63) <= c.value < 2**63)
        for c, out in zip(constants, node.outs, strict=True)
    )
    return constants if fits else None


def _is_small(type: Type) -> bool:
    return type.is_static and math.prod(type.shape) <= _SMALL  # type: ignore[operator]
