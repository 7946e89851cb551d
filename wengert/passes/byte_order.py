"""Numbers in the machine's own byte order: what native code computes with.

Arrays from files and networks may have their bytes the other way round; to NumPy that is part of the dtype (`>f8`), and
a captured program says so in its types.

    program f(%x: f64, big-endian, [3]) { %y = multiply(%x, 2.0) … }      becomes      the same of f64[3]

Whoever calls the code converts arguments, and results that have another order (`backend/execute.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ir.node import Block, Const, Node, Operand, Type, Var, all_nodes


def is_native(type: Type) -> bool:
    """Whether values of a type have the machine's own byte order."""
    return type.dtype.isnative


def in_native_order(block: Block) -> Block:
    """The block with all values in the machine's own byte order; the block itself if they are."""
    return block if _is_all_native(block) else _converted(block)


def _is_all_native(block: Block) -> bool:
    blocks = [block, *[inner for node in all_nodes(block) for inner in node.blocks]]
    values = [v for b in blocks for v in (*b.params, *b.results)]
    values += [v for node in all_nodes(block) for v in (*node.args, *node.outs)]
    return all(map(is_native, [v.type for v in values])) and all(
        _native(p) is p for node in all_nodes(block) for p in node.params.values() if p.__class__ is not Block
    )


def _converted(block: Block) -> Block:
    values: dict[Operand, Operand] = {}

    def own(v: Operand) -> Operand:
        if v not in values:
            values[v] = _operand(v)
        return values[v]

    def define(v: Var) -> Var:
        found = own(v)
        assert isinstance(found, Var)
        return found

    params = [define(p) for p in block.params]
    nodes = [
        Node(
            node.op, tuple([own(a) for a in node.args]), {key: _native(p) for key, p in node.params.items()},
            tuple([define(v) for v in node.outs]), tuple([own(s) for s in node.sizes]), node.source,
        )
        for node in block.nodes
    ]  # fmt: skip
    return Block(params, nodes, [own(r) for r in block.results])


def _operand(v: Operand) -> Operand:
    if is_native(v.type):
        return v
    type = Type(v.type.shape, v.type.dtype.newbyteorder("="), v.type.weak)
    return Const(_native(v.value), type) if isinstance(v, Const) else Var(type, v.hint, v.span, v.stable)


def _native(value: Any) -> Any:
    """A parameter or a constant in the machine's own byte order; the same object if it is already."""
    kind = value.__class__
    if kind is Block:
        return _converted(value)
    if isinstance(value, np.dtype):
        return value if value.isnative else value.newbyteorder("=")
    if isinstance(value, np.ndarray):
        return value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))
    if kind is tuple or kind is list:
        new = [_native(v) for v in value]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else kind(new)
    if kind is dict:
        found = {key: _native(v) for key, v in value.items()}
        return value if all(found[key] is v for key, v in value.items()) else found
    return value
