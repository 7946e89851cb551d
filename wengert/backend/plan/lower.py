"""Ops written in terms of others before anything is planned, where that lets them be computed while they are read.

`shares(y, x)` is one over the number of elements of x that are equal to y, for these, and zero for the others: a count
and a choice. As such it needs no memory of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.ops.choice import choice
from wengert.ops.op import TABLE


def lowered(block: Block) -> Block:
    """The block with such ops written out. Blocks inside are treated when their turn comes."""
    if not any(_is_lowered(node) for node in block.nodes):
        return block
    nodes: list[Node] = []
    for node in block.nodes:
        if _is_lowered(node):
            _shares(node, nodes)
        else:
            nodes.append(node)
    return Block(block.params, nodes, block.results)


def _is_lowered(node: Node) -> bool:
    if node.op.name != "shares" or choice.ties != "share":
        return False
    (out,) = node.outs
    return out.type.is_static and out.type.ndim > 0 and out.type.dtype.kind == "f" and node.args[1].type.is_static


def _shares(node: Node, nodes: list[Node]) -> None:
    (out,) = node.outs
    x = node.args[1]
    axes = node.params["axis"]
    least = node.params.get("least", 0)
    dtype, f64 = out.type.dtype, np.dtype(np.float64)

    def new(name: str, args: Sequence[Operand], type: Type, **params: Any) -> Var:
        found = Var(type)
        nodes.append(Node(TABLE[name], tuple(args), params, (found,), (), node.source))
        return found

    def number(value: float) -> Const:
        return Const(dtype.type(value), Type((), dtype))

    chosen = Type(out.type.shape, np.dtype(bool))
    kept = tuple([1 if k in axes else n for k, n in enumerate(x.type.shape)])
    count: Operand = new("equal", node.args, chosen)
    count = new("astype", (count,), Type(chosen.shape, f64), dtype=f64)
    count = new("sum", (count,), Type(kept, f64), axis=tuple(axes), keepdims=True)
    if least:
        count = new("maximum", (count, Const(np.float64(least), Type((), f64))), Type(kept, f64))
    if dtype != f64:
        count = new("astype", (count,), Type(kept, dtype), dtype=dtype)
    shares = [new("divide", (number(share), count), Type(kept, dtype)) for share in (1.0, 0.0)]
    again = new("equal", node.args, chosen)  # cheaper to find again than to remember
    nodes.append(Node(TABLE["where"], (again, *shares), {}, node.outs, (), node.source))
