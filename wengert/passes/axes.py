"""Ops seen along one axis: if an operand comes in strips, cut along some axis, can the result be made in strips too?

`along(node, cut)` answers for one node: along which axis each operand must be cut (None: it is needed whole) and along
which the result comes, or, for sums along the axis, that the results of the strips are to be combined. The rules know
static shapes only. `in_strip` gives a node's parameters for a strip of some length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wengert.ir.node import Node, Operand
from wengert.ops.traits import Raises


class Along(NamedTuple):
    """How a node works along an axis of some length."""

    needs: tuple[int | None, ...]
    """For each operand, the axis along which it is cut."""
    axis: int | None
    """The axis of the result; None if strips are combined."""
    combine: str | None = None
    """The op that combines the results of two strips."""


Cut = Callable[[Operand], int | None]
"""The axis along which an operand comes in strips; None if it is there whole."""


def along(node: Node, cut: Cut, start: tuple[int, int] | None = None) -> Along | None:
    """How a node works along the axis in which its operands come; None if it does not.

    With `start`, (axis, length), nothing comes in strips yet, and the result is to be made in strips along that axis.
    """
    if node.sizes or len(node.outs) != 1 or not all(v.type.is_static for v in (*node.args, *node.outs)):
        return None
    if node.op.axes is None or node.op.raises is Raises.VALUES:  # a part that nobody needs may raise
        return None
    cuts = node.op.axes([a.type.shape for a in node.args], node.outs[0].type.shape, node.params)
    for k, a in enumerate(node.args):
        axis = cut(a)
        if axis is not None:
            found = next((each for each in cuts if each.needs[k] == axis), None)
            break
    else:
        found = next((each for each in cuts if start is not None and each.axis == start[0]), None)
    if found is None or not all(cut(a) in (None, need) for a, need in zip(node.args, found.needs, strict=True)):
        return None
    if found.axis is not None:
        return Along(found.needs, found.axis)
    dtypes = {v.type.dtype for v in (*node.args, *node.outs)}
    if node.op.combine is None or len(dtypes) > 1 or dtypes.pop().kind != "f":
        return None
    return Along(found.needs, None, node.op.combine)


def in_strip(node: Node, axis: int | None, length: int) -> dict[str, Any]:
    """The parameters of a node for a strip of its result."""
    if axis is None or "shape" not in node.params:
        return node.params
    shape = list(node.params["shape"])
    shape[axis] = length
    return {**node.params, "shape": tuple(shape)}
