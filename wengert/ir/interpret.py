"""Running a program, node by node: the reference for every backend.

Each node goes through the one door, `call`, so a program also runs on traced values: that is how derivatives of ops
that hold code are taken (`control/`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.ir.node import Block, Const, Node, map_refs
from wengert.ops.library import is_foreign
from wengert.ops.op import Op, Traced, call
from wengert.running import running

elsewhere: list[Callable[[Block, Sequence[Any]], list[Any]] | None] = [None]
"""How blocks are run on arrays of other libraries; a backend says so."""


def run(block: Block, args: Sequence[Any]) -> list[Any]:
    """The results of a block for these arguments."""
    if elsewhere[0] is not None and any(map(is_foreign, args)):
        return elsewhere[0](block, args)
    values: dict[Any, Any] = dict(zip(block.params, args, strict=True))
    for param in block.params:
        if param.type.weak:
            _note_weak(values[param])

    def value(operand: Any) -> Any:
        return operand.value if operand.__class__ is Const else values[operand]

    state = running.state
    outer = state.source
    try:
        for node in block.nodes:
            y = apply_node(node, value)
            values.update(zip(node.outs, y if y.__class__ is tuple else (y,), strict=True))
            for out in node.outs:
                if out.type.weak:
                    _note_weak(values[out])
    finally:
        state.source = outer
    return [value(r) for r in block.results]


def _note_weak(x: Any) -> None:
    """Have a batch know that its examples are numbers of Python's own: other values say so themselves."""
    if isinstance(x, Traced) and "_is_pythons" in x._state:  # type: ignore[attr-defined]
        x._is_pythons = True  # type: ignore[attr-defined]


def apply_node(node: Node, value: Callable[[Any], Any]) -> Any:
    """What a node gives, for these values of its operands."""
    params = node.params
    if node.sizes:
        sizes = [int(n) if is_foreign(n) else n for n in map(value, node.sizes)]
        params = map_refs(params, lambda ref: sizes[ref.k])
    running.state.source = node.source
    args = [value(a) for a in node.args]
    if args and ((not node.sizes and node.outs) or any(isinstance(a, Traced) for a in args)):
        return call(node.op, *args, **params)
    return _with_parameters(node.op, args, params)


def _with_parameters(op: Op, args: Sequence[Any], params: dict) -> Any:
    """An op that may have traced values among its parameters only, where the door does not look for them; or an effect,
    which belongs to the block that is being captured even if it is about nothing but constants."""
    if running.state.capture is not None:
        return running.state.capture.process(op, tuple(args), params)
    return op.impl(*args, **params)
