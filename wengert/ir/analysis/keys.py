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


class BlockNumbers:
    """A number for each block, the same exactly if blocks have the same structure.

    Blocks stand in blocks: keys that held those of the blocks inside would be as long as all of them together, once for
    each level.
    """

    def __init__(self) -> None:
        self._by_structure: dict[tuple, int] = {}
        self._known: dict[int, tuple[Block, int]] = {}  # by id; the block itself keeps that from being used again

    def of(self, block: Block) -> int:
        """The number of a block."""
        found = self._known.get(id(block))
        if found is None:
            structure = self._structure(block)
            found = block, self._by_structure.setdefault(structure, len(self._by_structure))
            self._known[id(block)] = found
        return found[1]

    def _structure(self, block: Block) -> tuple:
        """What a block is made of: its values are numbered in the order in which they appear."""
        numbers: dict[Var, int] = {}
        for param in block.params:
            numbers[param] = len(numbers)
        nodes = []
        for node in block.nodes:
            nodes.append(node_key(node, self, numbers.__getitem__))
            for out in node.outs:
                numbers[out] = len(numbers)
        results = [operand_key(r, numbers.__getitem__) for r in block.results]
        return (tuple([p.type for p in block.params]), tuple(nodes), tuple(results))


def node_key(node: Node, blocks: BlockNumbers, name: Callable[[Var], Any] = id) -> tuple:
    """The key of a node; `name` says what stands for a value, `blocks` what for a block."""
    args = [operand_key(a, name) for a in node.args]
    if len(args) == 2 and all(a.type.dtype.kind in node.op.commutes for a in node.args):
        args.sort(key=repr)
    return (
        node.op.name,
        tuple(args),
        tuple([(key, blocks.of(p) if p.__class__ is Block else data_key(p)) for key, p in sorted(node.params.items())]),
        tuple([operand_key(s, name) for s in node.sizes]),
        tuple([out.type for out in node.outs]),
    )


def operand_key(operand: Operand, name: Callable[[Var], Any] = id) -> Any:
    """The key of an operand."""
    return (operand.type, data_key(operand.value)) if isinstance(operand, Const) else name(operand)


def data_key(value: Any) -> Any:
    """The key of a constant or a parameter."""
    kind = value.__class__
    if kind is tuple or kind is list:
        return (kind, tuple([data_key(v) for v in value]))
    if kind is dict:
        return (kind, tuple([(key, data_key(v)) for key, v in value.items()]))
    if kind is slice:
        return (kind, data_key((value.start, value.stop, value.step)))
    if kind is float or kind is complex:
        return (kind, repr(value))
    if kind in SCALARS or value is None or kind is str or kind is Ref:
        return (kind, value)
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.nbytes <= _LARGE and value.dtype.kind in "biufc":
        return (isinstance(value, np.generic), value.dtype, value.shape, value.tobytes())
    return (kind, id(value))
