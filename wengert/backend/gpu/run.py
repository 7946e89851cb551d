"""A block, run on a device: kernels for its regions, the library of the arrays for all else.

What a block is made of is found out once, and kept with it; which kernel a region needs depends on how its operands
lie, and is kept with the region. Loops, branches and calls run on the host, and their bodies here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.backend.gpu.device import device_of, ptx_of
from wengert.backend.gpu.elements import OperandLayout
from wengert.backend.gpu.kernel import contiguous, parts_for, write_kernel
from wengert.backend.gpu.regions import KernelRegion, Step, constants_of, operands_of, steps_of
from wengert.control.custom import without_rules
from wengert.ir import interpret
from wengert.ir.interpret import apply_node
from wengert.ir.node import Block, Const, Node, Program, Var
from wengert.ops.library import example_of, is_foreign
from wengert.passes.pipeline import optimise
from wengert.running import making, running
from wengert.types import SCALARS

_lock = threading.RLock()
interpret.elsewhere[0] = lambda block, args: run(block, "block", args)
_FEWER = 64
"""So many numbers of threads are reduced to one, by the next kernel."""


class DevicePlan:
    """The steps of a block, and its constants in the memory of the device."""

    def __init__(self, block: Block, name: str, like: Any):
        self.block = optimise(Program(name, without_rules(block)), strips=False).block
        self.steps: list[Step] = steps_of(self.block)
        self.constants = {c: np.asarray(c.value, like=like) for c in constants_of(self.block)}
        self.example = example_of([like])
        self.last: list[list[Any]] = _last_uses(self.steps, self.block)

    @property
    def ptx(self) -> str:
        """The kernels, for operands in C order."""
        regions = [step for step in self.steps if isinstance(step, KernelRegion)]
        return "\n".join([ptx_of(write_kernel(r, [_usual(a) for a in r.inputs], "wg_kernel")) for r in regions])

    @property
    def report(self) -> list[str]:
        """How each operation was compiled."""
        lines = []
        for step in self.steps:
            if isinstance(step, KernelRegion):
                names = ", ".join([node.op.name for node in step.nodes])
                lines.append(f"one kernel for {list(step.shape)}: {names}")
            else:
                lines.append(f"{step.op.name}: by the library of the arrays")
        return lines


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
    """The plan of a block, made when it is first run."""
    key = ("device", type(like).__module__)
    found = block.derived.get(key)
    if found is None:
        with _lock:
            found = block.derived.get(key)
            if found is None:
                found = block.derived[key] = DevicePlan(block, name, like)
    return found


def runs_here(args: Sequence[Any]) -> bool:
    """Whether some of these values lie on a device."""
    return any(is_foreign(a) for a in args)


def run(block: Block, name: str, args: Sequence[Any]) -> list[Any]:
    """The results of a block on values of which some lie on a device."""
    like = next(a for a in args if is_foreign(a))
    plan, device = plan_of(block, name, like), device_of(like)
    moved = [np.asarray(a, like=like) if a.__class__ is np.ndarray and a.ndim else a for a in args]
    values: dict[Any, Any] = dict(zip(plan.block.params, moved, strict=True))
    values.update(plan.constants)
    state = running.state
    source = state.source
    try:
        with making(plan.example):
            for step, last in zip(plan.steps, plan.last, strict=True):
                if isinstance(step, KernelRegion) and device is not None:
                    _launch(step, values, device)
                elif isinstance(step, KernelRegion):
                    own = dict(values)
                    for node in step.nodes:
                        _apply(node, own)
                    values.update({v: own[v] for v in step.made})
                else:
                    _apply(step, values)
                for a in last:
                    del values[a]
    finally:
        state.source = source
    return [_value(r, values) for r in plan.block.results]


def _value(a: Any, values: dict) -> Any:
    if a.__class__ is Const:
        return values.get(a, a.value)
    return values[a]


def _apply(node: Node, values: dict) -> None:
    y = apply_node(node, lambda a: _value(a, values))
    if len(node.outs) == 1 and y.__class__ is not tuple:
        values[node.outs[0]] = y
    else:
        values.update(zip(node.outs, y, strict=True))


# ----------------------------------------------------------------------------------------------------------- kernels


def _layout(x: Any) -> OperandLayout:
    if x.__class__ in SCALARS or isinstance(x, np.generic):
        dtype = np.dtype(x.__class__) if x.__class__ in SCALARS else x.dtype
        return OperandLayout(dtype, None)
    item = x.dtype.itemsize
    return OperandLayout(x.dtype, tuple([0 if n == 1 else s // item for n, s in zip(x.shape, x.strides, strict=True)]))


def _usual(a: Any) -> OperandLayout:
    return OperandLayout(a.type.dtype, contiguous(a.type.shape))


def _kernel(region: KernelRegion, operands: Sequence[Any], device: Any, parts: int = 1) -> Any:
    """The kernel for operands that lie like these."""
    key = tuple([getattr(x, "strides", x.__class__) for x in operands])
    kernel = region.kernels.get(key)
    if kernel is None:
        text = write_kernel(region, [_layout(x) for x in operands], "wg_kernel", parts)
        kernel = region.kernels[key] = device.load(text, "wg_kernel")
    return kernel


def _launch(region: KernelRegion, values: dict, device: Any) -> None:
    operands = [_operand(_value(a, values)) for a in region.inputs]
    is_whole = len(region.axes) == len(region.shape)
    parts = 1 if is_whole else parts_for(region.shape, region.axes, device.width * device.blocks)
    threads = min(region.size, device.width * device.blocks) if is_whole else region.kept * parts
    kernel = _kernel(region, operands, device, parts)
    outs = [device.empty(v.type.shape, v.type.dtype) for v in region.outputs]
    partial = [device.empty((threads,), node.outs[0].type.dtype) for node in region.reductions]
    kernel(threads, [*[_argument(x) for x in operands], *outs, *partial])
    values.update(zip(region.outputs, outs, strict=True))
    for node, numbers in zip(region.reductions, partial, strict=True):
        total = _reduced(region, node, numbers, device) if is_whole else _joined(region, node, numbers, parts, device)
        values[node.outs[0]] = total.reshape(node.outs[0].type.shape)


def _operand(x: Any) -> Any:
    """An operand of a kernel: NumPy's arrays of one element are passed as numbers, others move to the device."""
    if x.__class__ is not np.ndarray:
        return x
    return np.asarray(x, like=running.state.library) if x.size != 1 else x.reshape(())[()]


def _argument(x: Any) -> Any:
    if x.__class__ in SCALARS or isinstance(x, np.generic):
        return np.int64(x) if np.dtype(type(x)).kind in "biu" else np.float64(x)
    return x


def _joined(region: KernelRegion, node: Node, numbers: Any, parts: int, device: Any) -> Any:
    """The numbers of a reduction along axes, from those of the threads that shared the work for each."""
    is_last = len(region.shape) - 1 in region.axes
    while parts > 1:
        shape = (region.kept, parts) if is_last else (parts, region.kept)
        step = _further(region, node, shape, (1,) if is_last else (0,))
        parts = parts_for(shape, step.axes, device.width * device.blocks)
        fewer = device.empty((region.kept * parts,), numbers.dtype)
        _kernel(step, [numbers.reshape(shape)], device, parts)(region.kept * parts, [numbers, fewer])
        numbers = fewer
    return numbers


def _reduced(region: KernelRegion, node: Node, numbers: Any, device: Any) -> Any:
    """One number from those of the threads, by 64 times fewer threads at a time."""
    while numbers.shape[0] > 1:
        step = _further(region, node, numbers.shape, (0,))
        threads = -(-numbers.shape[0] // _FEWER)
        if threads > device.width:
            threads += -threads % device.width  # whole blocks: each thread leaves a number
        fewer = device.empty((threads,), numbers.dtype)
        _kernel(step, [numbers], device)(threads, [numbers, fewer])
        numbers = fewer
    return numbers


def _further(region: KernelRegion, node: Node, shape: tuple[int, ...], axes: tuple[int, ...]) -> KernelRegion:
    """The region that reduces the numbers of threads."""
    key = ("further", node.outs[0], shape)
    found = region.kernels.get(key)
    if found is None:
        numbers = Var(node.outs[0].type._replace(shape=shape, weak=False))
        found = region.kernels[key] = KernelRegion(shape, axes)
        found.inputs.append(numbers)
        found.reductions.append(_Combining(node, numbers))  # type: ignore[arg-type]
    return found


class _Combining:
    """A reduction of numbers of one dtype, as a node of a kernel."""

    def __init__(self, node: Node, numbers: Var):
        self.op, self.args, self.outs, self.params = node.op, (numbers,), node.outs, {}
