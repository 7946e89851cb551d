"""When two computations are the same: keys that are equal exactly if op, operands, parameters and types are.

Constants are compared by their bits (0.0 is not -0.0, True is not 1), blocks by their structure: the names of their
values do not count. Large arrays, and parameters that are no data, are the same only if they are the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ir.node import Block, Const, Node, Operand, Ref, Var
from wengert.types import SCALARS

_LARGE = 4096


def node_key(node: Node, name: Callable[[Var], Any] = id) -> tuple:
    """The key of a node; `name` says what stands for a value."""
    args = [operand_key(a, name) for a in node.args]
    if len(args) == 2 and all(a.type.dtype.kind in node.op.commutes for a in node.args):
        args.sort(key=repr)
    return (
        node.op.name,
        tuple(args),
        tuple([(key, data_key(p)) for key, p in sorted(node.params.items())]),
        tuple([operand_key(s, name) for s in node.sizes]),
        tuple([out.type for out in node.outs]),
    )


def operand_key(operand: Operand, name: Callable[[Var], Any] = id) -> Any:
    """The key of an operand."""
    return (operand.type, data_key(operand.value)) if isinstance(operand, Const) else name(operand)


def block_key(block: Block) -> tuple:
    """The key of a block: its values are numbered in the order in which they appear."""
    numbers: dict[Var, int] = {}
    for param in block.params:
        numbers[param] = len(numbers)
    nodes = []
    for node in block.nodes:
        nodes.append(node_key(node, numbers.__getitem__))
        for out in node.outs:
            numbers[out] = len(numbers)
    results = [operand_key(r, numbers.__getitem__) for r in block.results]
    return (tuple([p.type for p in block.params]), tuple(nodes), tuple(results))


def data_key(value: Any) -> Any:
    """The key of a constant or a parameter."""
    kind = value.__class__
    if kind is tuple or kind is list:
        return (kind, tuple([data_key(v) for v in value]))
    if kind is dict:
        return (kind, tuple([(key, data_key(v)) for key, v in value.items()]))
    if kind is slice:
        return (kind, data_key((value.start, value.stop, value.step)))
    if kind is Block:
        return (kind, block_key(value))
    if kind is float or kind is complex:
        return (kind, repr(value))
    if kind in SCALARS or value is None or kind is str or kind is Ref:
        return (kind, value)
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.nbytes <= _LARGE and value.dtype.kind in "biufc":
        return (isinstance(value, np.generic), value.dtype, value.shape, value.tobytes())
    return (kind, id(value))
