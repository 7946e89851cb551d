"""A region's kernels, launched: which one its operands need, and the further ones that its reductions need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wengert.backend.gpu.elements import OperandLayout
from wengert.backend.gpu.kernel import Tiling, contiguous, tiling_for, write_kernel
from wengert.backend.gpu.regions import KernelRegion
from wengert.ir.node import Const, Node, Var
from wengert.running import running
from wengert.types import SCALARS

_FEWER = 64
"""So many numbers of threads are reduced to one, by the next kernel."""


def value_of(a: Any, values: dict) -> Any:
    """The value of an operand."""
    if a.__class__ is Const:
        return values.get(a, a.value)
    return values[a]


def _is_number(x: Any) -> bool:
    """Whether an operand is a number of the host, which is passed itself (NumPy's have strides as well)."""
    return x.__class__ in SCALARS or isinstance(x, np.generic)


def _layout(x: Any) -> OperandLayout:
    if _is_number(x):
        dtype = np.dtype(x.__class__) if x.__class__ in SCALARS else x.dtype
        return OperandLayout(dtype, None)
    item = x.dtype.itemsize
    return OperandLayout(x.dtype, tuple([0 if n == 1 else s // item for n, s in zip(x.shape, x.strides, strict=True)]))


def usual(a: Any) -> OperandLayout:
    return OperandLayout(a.type.dtype, contiguous(a.type.shape))


def kernel_for(region: KernelRegion, operands: Sequence[Any], device: Any, tiling: Tiling | None = None) -> Any:
    """The kernel for operands that lie like these."""
    key = tuple([x.__class__ if _is_number(x) else x.strides for x in operands])
    kernel = region.kernels.get(key)
    if kernel is None:
        text = write_kernel(region, [_layout(x) for x in operands], "wg_kernel", tiling)
        kernel = region.kernels[key] = device.load(text, "wg_kernel")
    return kernel


_WAVES = 4
"""Where nothing is reduced there are so many times more threads: that some end later matters less then."""


def threads_for(region: KernelRegion, device: Any) -> int:
    """How many threads compute the elements of a region."""
    return min(region.size, device.width * device.blocks * (1 if region.reductions else _WAVES))


def launch(region: KernelRegion, values: dict, device: Any, into: Mapping[Any, Any]) -> None:
    """Compute what a region makes. `into` says where in memory some values are to be."""
    operands = [_operand(value_of(a, values)) for a in region.inputs]
    tiling = None if len(region.axes) == len(region.shape) else _tiling(region, device)
    threads = threads_for(region, device) if tiling is None else region.kept // tiling.numbers * tiling.parts
    kernel = kernel_for(region, operands, device, tiling)
    outs = [into[v] if v in into else device.empty(v.type.shape, v.type.dtype) for v in region.outputs]
    left = threads if tiling is None else region.kept * (tiling.parts // tiling.joined)
    partial = [device.empty((left,), node.outs[0].type.dtype) for node in region.reductions]
    device.start(kernel, threads, [*[_argument(x) for x in operands], *outs, *partial])
    values.update(zip(region.outputs, outs, strict=True))
    for node, numbers in zip(region.reductions, partial, strict=True):
        total = (
            _reduced(region, node, numbers, device)
            if tiling is None
            else _joined(region, node, numbers, tiling, device)
        )
        values[node.outs[0]] = total.reshape(node.outs[0].type.shape)


def _operand(x: Any) -> Any:
    """An operand of a kernel: NumPy's arrays of one element are passed as numbers, others move to the device."""
    if x.__class__ is not np.ndarray:
        return x
    return np.asarray(x, like=running.state.library) if x.size != 1 else x.reshape(())[()]


def _argument(x: Any) -> Any:
    if _is_number(x):
        return np.int64(x) if np.dtype(type(x)).kind in "biu" else np.float64(x)
    return x


def _tiling(region: KernelRegion, device: Any) -> Tiling:
    found = region.kernels.get("tiling")
    if found is None:
        found = region.kernels["tiling"] = tiling_for(region, device.width * device.blocks, device.lanes)
    return found


def _joined(region: KernelRegion, node: Node, numbers: Any, tiling: Tiling, device: Any) -> Any:
    """The numbers of a reduction along axes, from those of the threads that shared the work for each."""
    kept, parts = region.kept, tiling.parts // tiling.joined
    while parts > 1:
        shape, axes = ((kept, parts), (1,)) if tiling.in_a_row else ((parts, kept), (0,))
        step = _further(region, node, shape, axes)
        tiling = _tiling(step, device)
        parts = tiling.parts // tiling.joined
        fewer = device.empty((kept * parts,), numbers.dtype)
        kernel = kernel_for(step, [numbers.reshape(shape)], device, tiling)
        device.start(kernel, kept // tiling.numbers * tiling.parts, [numbers, fewer])
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
        device.start(kernel_for(step, [numbers], device), threads, [numbers, fewer])
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
