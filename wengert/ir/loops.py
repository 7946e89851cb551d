"""The parts of a loop: what the operands, parameters and results of a `loop` or `while` node are for.

loop (count, *starts, *consts; body (k, *state, *inside) -> (*state, *ys)) -> (*finals, *stacks)
while       (*starts, *consts; test, body  (*state, *inside) -> (*state, *ys)) -> (*finals, count, *stacks)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wengert.ir.node import Block, Node, Operand, Var

LOOPS = frozenset(("loop", "while"))
"""The ops that are loops, by their names."""


class LoopParts(NamedTuple):
    """See the module's text. `first` is the number of operands (and parameters of the body) before the carried ones."""

    first: int
    carried: int
    body: Block
    test: Block | None
    starts: Sequence[Operand]
    consts: Sequence[Operand]
    state: list[Var]
    inside: list[Var]
    finals: Sequence[Var]
    stacks: Sequence[Var]


def loop_parts(node: Node) -> LoopParts:
    """The parts of a node that is a loop."""
    first = int(node.op.name == "loop")
    body, carried = node.params["body"], node.params["carried"]
    end = first + carried
    return LoopParts(
        first, carried, body, node.params.get("test"), node.args[first:end], node.args[end:], body.params[first:end],
        body.params[end:], node.outs[:carried], node.outs[carried + 1 - first :],
    )  # fmt: skip
