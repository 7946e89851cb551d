"""Several sums into overlapping parts of one array are put together: `add_parts`, which goes through the array once.

The reverse sweep of `u[1:-1] = f(u[:-2], u[1:-1], u[2:])` takes the cotangent of the middle, puts zero in its place,
and adds to three parts, one after the other:

    y = store(x, 0, 1:-1);  y = add_at(y, a, :-2);  y = add_at(y, b, 1:-1);  y = add_at(y, c, 2:)

Element k of the result is a[k] + b[k - 1] + c[k - 2], but for those at the ends. So it is computed where it is written.

The order in which `add_at` adds has no meaning: see `sink_sums.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from wengert.ir.analysis.regions import region_of
from wengert.ir.analysis.uses import makers_of, uses_of
from wengert.ir.node import Block, Const, Node, Operand, Var
from wengert.ops.op import TABLE
from wengert.passes.rewrite import rebuilt, with_blocks

FEWEST = 3
"""So many sums make it worth it."""

Box = tuple[slice, ...]
"""A part of an array: slices with both ends, one for each axis."""


def fuse_adds(block: Block) -> Block:
    """A block in which sums into parts of one array are put together."""
    nodes = [with_blocks(node, fuse_adds) if node.blocks else node for node in block.nodes]
    uses, makers = uses_of(nodes, block.results), makers_of(nodes)
    for chain in _chains(nodes, uses):
        nodes = _joined(nodes, chain, uses, makers)
    return rebuilt(block, block.params, nodes, block.results)


def _box(node: Node) -> Box | None:
    """The part of an array that a node writes to; None if it is not one, or what is written has another shape."""
    if node.sizes or len(node.args) != 2:
        return None
    array, value = node.outs[0].type, node.args[1].type
    if not array.is_static or not array.ndim or array.dtype.kind != "f" or not value.is_static:
        return None
    return region_of(node).box


def _lengths(box: Box) -> tuple[int, ...]:
    return tuple([side.stop - side.start for side in box])


def _common(boxes: list[Box]) -> Box:
    return tuple([slice(max(s.start for s in sides), min(s.stop for s in sides)) for sides in zip(*boxes, strict=True)])


def _volume(box: Box) -> int:
    return math.prod([max(n, 0) for n in _lengths(box)])


def _chains(nodes: list[Node], uses: Counter[Operand]) -> list[list[tuple[Node, Box]]]:
    """Sums into one array, one after the other, whose parts have most of their elements in common."""
    chains: list[list[tuple[Node, Box]]] = []
    open_: dict[Operand, list[tuple[Node, Box]]] = {}
    for node in nodes:
        if node.op.name != "add_at":
            continue
        box = _box(node)
        if (
            box is None
            or node.args[1].type.dtype != node.outs[0].type.dtype
            or _lengths(box) != node.args[1].type.shape
        ):
            continue
        chain = open_.pop(node.args[0], None)
        if chain is not None and uses[node.args[0]] == 1:
            both = [other for _, other in chain] + [box]
            if 2 * _volume(_common(both)) < max(map(_volume, both)):
                chain = None
        else:
            chain = None
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append((node, box))
        open_[node.outs[0]] = chain
    return [chain for chain in chains if len(chain) >= FEWEST]


def _joined(
    nodes: list[Node], chain: list[tuple[Node, Box]], uses: Counter[Operand], makers: dict[Var, Node]
) -> list[Node]:
    last = chain[-1][0]
    start: Operand = chain[0][0].args[0]
    gone = {id(node) for node, _ in chain}
    cleared = _cleared(start, uses, makers)
    if cleared is not None:
        maker = makers[start]  # type: ignore[index]
        gone.add(id(maker))
        start = maker.args[0]
    params: dict[str, Any] = {"patterns": tuple([box for _, box in chain]), "cleared": cleared}
    args = (start, *[node.args[1] for node, _ in chain])
    joined = Node(TABLE["add_parts"], args, params, last.outs, (), last.source)
    return [joined if node is last else node for node in nodes if node is last or id(node) not in gone]


def _cleared(x: Operand, uses: Counter[Operand], makers: dict[Var, Node]) -> Box | None:
    """The part of an array that was set to zero for these sums."""
    maker = makers.get(x) if isinstance(x, Var) else None
    if maker is None or maker.op.name != "store" or uses[x] != 1:
        return None
    value = maker.args[1]
    if not isinstance(value, Const) or np.ndim(value.value) or value.value != 0 or np.signbit(value.value):
        return None
    return _box(maker)
