"""What a block is made of, on a device: found out once, and kept with it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from wengert.backend.gpu.device import device_of
from wengert.backend.gpu.launch import text_of, usual
from wengert.backend.gpu.loop_kernel import LoopKernel, write_loop
from wengert.backend.gpu.partial_sums import with_partial_sums
from wengert.backend.gpu.prepared import PreparedLaunches
from wengert.backend.gpu.ptx import ptx_of
from wengert.backend.gpu.recording import Recordings
from wengert.backend.gpu.regions import KernelRegion, Step, constants_of, operands_of, steps_of
from wengert.backend.plan.lower import lowered
from wengert.control.custom import without_rules
from wengert.control.loop import loop
from wengert.ir.node import Block, Node, Program
from wengert.ops.library import example_of
from wengert.passes.pipeline import optimise
from wengert.passes.rewrite import rebuilt

_lock = threading.RLock()


class DevicePlan:
    """The steps of a block, and its constants in the memory of the device."""

    def __init__(self, block: Block, name: str, like: Any):
        self.block = lowered(optimise(Program(name, without_rules(block)), strips=False).block)
        self.loops: dict[Step, LoopKernel] = {}
        """Of loops that are one kernel: which."""
        if device_of(like) is not None:
            self.block = _with_loop_kernels(self.block, like, self.loops)
        self.steps: list[Step] = steps_of(self.block)
        self.constants = {c: np.asarray(c.value, like=like) for c in constants_of(self.block)}
        self.example = example_of([like])
        self.last: list[list[Any]] = _last_uses(self.steps, self.block)
        used = {*self.block.results, *[a for step in self.steps for a in operands_of(step)]}
        self.read = [k for k, p in enumerate(self.block.params) if p in used]
        """Which arguments are needed on the device."""
        self.copies: dict[Any, KernelRegion] = {}
        """Kernels that copy operands of products."""
        self.recordings = Recordings(self.block)
        self.prepared = PreparedLaunches.of(self)

    @property
    def ptx(self) -> str:
        """The kernels, for operands in C order."""
        found = []
        for step in self.steps:
            if isinstance(step, KernelRegion):
                found.append(text_of(step, [usual(a) for a in step.inputs]))
            elif step in self.loops:
                whole = self.loops[step]
                found.append(write_loop(whole, [usual(a) for a in whole.inputs], "wg_kernel"))
        return "\n".join([ptx_of(text) for text in found])

    @property
    def report(self) -> list[str]:
        """How each operation was compiled."""
        lines = []
        for step in self.steps:
            if isinstance(step, KernelRegion):
                names = ", ".join([node.op.name for node in step.nodes])
                lines.append(f"one kernel for {list(step.shape)}: {names}")
            elif step in self.loops:
                whole = self.loops[step]
                names = ", ".join([node.op.name for node in whole.inside.values()])
                lines.append(f"one kernel for {whole.count} iterations for {list(whole.shape)}: {names}")
            else:
                lines.append(f"{step.op.name}: by the library of the arrays")
        return lines


def _with_loop_kernels(block: Block, like: Any, loops: dict[Step, LoopKernel]) -> Block:
    """A block in which as many loops as possible are kernels, which `loops` learns."""
    nodes: list[Node] = []
    for node in block.nodes:
        several = [node]
        found = _loop_kernel(node, like) if node.op is loop else None
        if node.op is loop and found is None:
            split = with_partial_sums(node)
            for new in split or ():
                found = _loop_kernel(new, like) if new.op is loop else found
            several = [node] if found is None or split is None else split
        if found is not None:
            loops[found.node] = found
        nodes += several
    return rebuilt(block, block.params, nodes, block.results)


def _loop_kernel(node: Node, like: Any) -> LoopKernel | None:
    inner = plan_of(node.params["body"], "body", like)
    return LoopKernel.of(node, inner.block, inner.constants)


def _last_uses(steps: Sequence[Step], block: Block) -> list[list[Any]]:
    """After which step each value is needed no more: its memory goes back to the pool."""
    kept, found = set(block.results), [[] for _ in steps]
    for k in range(len(steps) - 1, -1, -1):
        for a in operands_of(steps[k]):
            if a not in kept:
                kept.add(a)
                found[k].append(a)
    return found


def plan_of(block: Block, name: str, like: Any) -> DevicePlan:
    """The plan of a block for the device of an array, made when it is first run there."""
    device = device_of(like)
    key = ("device", type(like).__module__, None if device is None else device.number)
    found = block.derived.get(key)
    if found is None:
        with _lock, nullcontext() if device is None or device.is_current else device.current():
            found = block.derived.get(key)
            if found is None:
                found = block.derived[key] = DevicePlan(block, name, like)
    return found
