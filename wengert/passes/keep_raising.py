"""What the user's code computes, uses nowhere, and may raise, stays.

    L = cholesky(A)        →        L = cholesky(A)
    y = sum(A)                      require(True, L)
    return y                        y = sum(A)
                                    return y

Python raises on the left where A is not positive definite, though nobody looks at L. So a `require` that always holds
is given what would be dead: it has an effect, and all other passes leave it and what it uses in place. Whether somebody
asked for a value, or a derivative rule left it behind, says the variable (`Var.demanded`). Where another node that is
needed raises for the same values (a system with the same matrix is solved, the same places are read) nothing is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ir.analysis.raising import may_raise
from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.ops.sizes import require
from wengert.ops.traits import Raises
from wengert.passes.rewrite import has_effects, rebuilt, with_blocks

_HOLDS = Const(True, Type((), np.dtype(bool), True))


def keep_raising(block: Block) -> Block:
    """A block in which nothing is dead that was asked for and may raise."""
    return _Keeping().kept(block, True)


class _Keeping:
    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], Block] = {}

    def kept(self, block: Block, wanted: bool) -> Block:
        """The same for a block inside: whether its results are wanted."""
        found = self._known.get((id(block), wanted))
        if found is None:
            found = self._known[id(block), wanted] = self._with_kept(block, wanted)
        return found

    def _with_kept(self, block: Block, wanted: bool) -> Block:
        if not _demands(block):
            return block
        live: set[Operand] = set(block.results) if wanted else set()
        causes: set[Any] | None = None
        nodes: list[Node] = []
        for node in reversed(block.nodes):
            is_used = any(out in live for out in node.outs)
            if node.blocks:
                test = node.params.get("test")
                node = with_blocks(node, lambda b, test=test, used=is_used: self.kept(b, used or b is test))  # type: ignore[misc]
            is_used = is_used or has_effects(node)
            if not is_used and not node.blocks and node.outs and node.outs[0].demanded and may_raise(node):
                if causes is None:
                    causes = _causes_of_needed(block, wanted)
                cause = _cause(node, {})
                if cause is None or cause not in causes:
                    kept: tuple[Operand, ...] = (_HOLDS, *node.outs)
                    params = {"error": "ValueError", "message": ""}
                    nodes.append(Node(require, kept, params, (), (), node.source))
                    is_used = True
            if is_used:
                live.update(node.args)
                live.update(node.sizes)
            nodes.append(node)
        return rebuilt(block, block.params, nodes[::-1], block.results)


def _demands(block: Block) -> bool:
    """Whether something in a block was asked for that may raise."""
    found = block.derived.get("demands")
    if found is None:
        found = block.derived["demands"] = any(
            any(out.demanded for out in node.outs) or any(map(_demands, node.blocks)) for node in block.nodes
        )
    return found


def _causes_of_needed(block: Block, wanted: bool) -> set[Any]:
    """For what the nodes of a block raise that are needed in any case."""
    live: set[Operand] = set(block.results) if wanted else set()
    makers: dict[Operand, Node] = {out: node for node in block.nodes for out in node.outs}
    causes = set()
    for node in reversed(block.nodes):
        if has_effects(node) or any(out in live for out in node.outs):
            live.update(node.args)
            live.update(node.sizes)
            causes.add(_cause(node, makers))
    return causes


def _cause(node: Node, makers: dict[Operand, Node]) -> Any:
    """What two nodes have in common that raise for the same values; `None` if that is not known."""
    if node.op.raises is Raises.VALUES and node.args:
        matrix = node.args[0]
        while matrix in makers and makers[matrix].op.name == "transpose":
            matrix = makers[matrix].args[0]
        return (Raises.VALUES, id(matrix)) if isinstance(matrix, Var) else None
    if "pattern" in node.params:
        arrays = node.args[1 + (node.op.name != "index") :]
        return (repr(node.params["pattern"]), node.args[0].type.shape, *map(id, arrays), *map(id, node.sizes))
    return None
