"""Which nodes of a block go into one kernel.

A region is elementwise work on one shape, and reductions of whole arrays of that shape. Nodes join the region of their
shape for as long as nothing that it computes is needed elsewhere; then the region is closed, and its kernel is launched
before what needs it. So nodes of several shapes may alternate in the program, and each shape still has one kernel.

    a = sin(x); b = a * w; s = sum(b); c = a + b        one region: x, w → c, and s
    d = c / s                                           the next: it needs all of s
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from wengert.backend.gpu.kernel import can_be_written, is_number, reduces_all
from wengert.ir.node import Block, Const, Node, Var

_MOST_NODES, _MOST_INPUTS = 400, 100


class KernelRegion:
    """Elementwise nodes on one shape, and reductions."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self.size = math.prod(shape)
        self.nodes: list[Node] = []
        self.reductions: list[Node] = []
        self.made: set[Var] = set()
        self.inputs: list[Any] = []
        self.outputs: list[Var] = []
        self.kernels: dict[Any, Any] = {}
        """By the layouts of the inputs."""

    def add(self, node: Node, is_reduction: bool) -> None:
        for a in node.args:
            if a not in self.made and not is_number(a) and not any(a is other for other in self.inputs):
                self.inputs.append(a)
        if is_reduction:
            self.reductions.append(node)
        else:
            self.nodes.append(node)
            self.made.add(node.outs[0])

    @property
    def is_full(self) -> bool:
        return len(self.nodes) + len(self.reductions) >= _MOST_NODES or len(self.inputs) >= _MOST_INPUTS


Step = KernelRegion | Node


class _Partition:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._open: dict[tuple, KernelRegion] = {}
        self._of: dict[Var, KernelRegion] = {}

    def close(self, region: KernelRegion) -> None:
        if self._open.get(region.shape) is region:
            del self._open[region.shape]
            self.steps.append(region)

    def need(self, operands: Any, shape: tuple | None = None) -> None:
        """Have operands in memory before what comes next; but not those that the open region of a shape makes."""
        own = None if shape is None else self._open.get(shape)
        for a in operands:
            region = self._of.get(a) if a.__class__ is Var else None
            if region is not None and (region is not own or a not in region.made):
                self.close(region)

    def take(self, node: Node) -> None:
        shape = _region_shape(node)
        if shape is None:
            self.need([*node.args, *node.sizes])
            self.steps.append(node)
            return
        self.need(node.args, shape)
        region = self._open.get(shape)
        if region is None or region.is_full:
            if region is not None:
                self.close(region)
            region = self._open[shape] = KernelRegion(shape)
        region.add(node, reduces_all(node))
        self._of[node.outs[0]] = region

    def finish(self) -> None:
        for region in list(self._open.values()):
            self.close(region)


def _region_shape(node: Node) -> tuple | None:
    """The shape on which a node can be computed in a kernel, `None` if it cannot."""
    if len(node.outs) != 1 or node.sizes or node.blocks:
        return None
    if not all(a.type.is_static for a in (*node.args, node.outs[0])):
        return None
    shape: Any = tuple(node.args[0].type.shape) if reduces_all(node) else tuple(node.outs[0].type.shape)
    return shape if math.prod(shape) > 0 and can_be_written(node) else None


def steps_of(block: Block) -> list[Step]:
    """The block as kernels, and nodes that are left to the library, in an order in which they can run."""
    partition = _Partition()
    for node in block.nodes:
        partition.take(node)
    partition.finish()
    needed = {a for step in partition.steps for a in _operands(step)} | {r for r in block.results if r.__class__ is Var}
    for step in partition.steps:
        if isinstance(step, KernelRegion):
            step.outputs = [node.outs[0] for node in step.nodes if node.outs[0] in needed]
    return partition.steps


def _operands(step: Step) -> Iterator[Any]:
    operands = step.inputs if isinstance(step, KernelRegion) else [*step.args, *step.sizes]
    return (a for a in operands if a.__class__ is Var)


def constants_of(block: Block) -> Iterator[Const]:
    """The constant arrays that are needed in memory."""
    for operands in (*[node.args for node in block.nodes], block.results):
        for a in operands:
            if a.__class__ is Const and a.type.shape:
                yield a
