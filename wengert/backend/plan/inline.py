"""Calls of functions written out: `call` nodes replaced by the nodes of their body.

What the rest of the backend sees has no `call` left outside of the blocks of loops and conditions, whose bodies are
treated in the same way when their turn comes. Variables of a body are renamed, so one body may be called many times.
"""

from __future__ import annotations

from wengert.ir.node import Block, Const, Node, Operand, Var


def inline_calls(block: Block) -> Block:
    """The block with all its calls, also those inside the called bodies, written out."""
    if not any(node.op.name == "call" for node in block.nodes):
        return block
    nodes: list[Node] = []
    names: dict[Var, Operand] = {}
    _append(block, names, nodes, rename=False)
    return Block(block.params, nodes, [_renamed(r, names) for r in block.results])


def _renamed(operand: Operand, names: dict[Var, Operand]) -> Operand:
    return operand if isinstance(operand, Const) else names.get(operand, operand)


def _append(block: Block, names: dict[Var, Operand], nodes: list[Node], rename: bool) -> None:
    for node in block.nodes:
        args = tuple([_renamed(a, names) for a in node.args])
        if node.op.name == "call":
            body: Block = node.params["body"]
            inner: dict[Var, Operand] = dict(zip(body.params, args, strict=True))
            _append(body, inner, nodes, rename=True)
            names.update(zip(node.outs, [_renamed(r, inner) for r in body.results], strict=True))
            continue
        outs = node.outs
        if rename:
            outs = tuple([Var(v.type, v.hint) for v in node.outs])
            names.update(zip(node.outs, outs, strict=True))
        sizes = tuple([_renamed(s, names) for s in node.sizes])
        nodes.append(Node(node.op, args, node.params, outs, sizes, node.source))
