"""A region's kernels, launched: which one its operands need, and the further ones that its reductions need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.backend.gpu.crossing import Crossing, crossing_for, write_crossing
from wengert.backend.gpu.elements import OperandLayout
from wengert.backend.gpu.kernel import Tiling, at_a_time, contiguous, tiling_for, write_kernel
from wengert.backend.gpu.regions import KernelRegion
from wengert.ir.node import Const, Node, Var
from wengert.ops.op import TABLE
from wengert.running import running
from wengert.types import SCALARS

Shared = Tiling | Crossing | int
"""How threads share the work of a region. Where everything is reduced, or nothing: how many join what they found."""


def value_of(a: Any, values: dict) -> Any:
    """The value of an operand."""
    if a.__class__ is Const:
        return values.get(a, a.value)
    return values[a]


def _is_number(x: Any) -> bool:
    """Whether an operand is a number of the host, which is passed itself (NumPy's have strides as well)."""
    return x.__class__ in SCALARS or isinstance(x, np.generic)


def key_of(x: Any) -> Any:
    """By what kernels for an operand are known."""
    return x.__class__ if _is_number(x) else x.strides


def layout_of(x: Any) -> OperandLayout:
    """How an operand lies."""
    if _is_number(x):
        dtype = np.dtype(x.__class__) if x.__class__ in SCALARS else x.dtype
        return OperandLayout(dtype, None)
    item = x.dtype.itemsize
    return OperandLayout(x.dtype, tuple([0 if n == 1 else s // item for n, s in zip(x.shape, x.strides, strict=True)]))


def usual(a: Any) -> OperandLayout:
    return OperandLayout(a.type.dtype, contiguous(a.type.shape))


def kernel_for(region: KernelRegion, operands: Sequence[Any], device: Any, shared: Shared | None = None) -> Any:
    """The kernel for operands that lie like these."""
    key = tuple([key_of(x) for x in operands])
    kernel = region.kernels.get(key)
    if kernel is None:
        text = text_of(region, [layout_of(x) for x in operands], shared)
        kernel = region.kernels[key] = device.load(text, "wg_kernel")
    return kernel


def text_of(region: KernelRegion, layouts: Sequence[OperandLayout], shared: Shared | None = None) -> str:
    """A kernel of a region in LLVM's language, for operands that lie so."""
    shared = shared or _sharing(region, 1, 1)
    if isinstance(shared, Crossing):
        return write_crossing(region, layouts, "wg_kernel", shared)
    return write_kernel(region, layouts, "wg_kernel", shared)


def _sharing(region: KernelRegion, threads: int, lanes: int) -> Shared:
    """How about so many threads, of which `lanes` run in step, share the work of a region."""
    if region.crossing:
        return crossing_for(region, threads, lanes)
    if len(region.axes) < len(region.shape):
        return tiling_for(region, threads, lanes)
    return lanes if region.reductions else 1


WAVES = 4
"""Where nothing is reduced there are so many times more threads: that some end later matters less then."""


def threads_for(region: KernelRegion, device: Any) -> int:
    """How many threads compute the elements of a region."""
    return min(-(-region.size // at_a_time(region)), device.width * device.blocks * (1 if region.reductions else WAVES))


def launch(region: KernelRegion, values: dict, device: Any, into: Mapping[Any, Any]) -> None:
    """Compute what a region makes. `into` says where in memory some values are to be."""
    operands = [operand_of(value_of(a, values)) for a in region.inputs]
    shared = _shared(region, device)
    kernel = kernel_for(region, operands, device, shared)
    outs = [into[v] if v in into else device.empty(v.type.shape, v.type.dtype) for v in region.outputs]
    threads, left = _threads(region, shared, device)
    nodes = [*region.reductions, *region.crossing]
    partial = [device.empty((math.prod(p.shape),), n.outs[0].type.dtype) for p, n in zip(left, nodes, strict=True)]
    device.start(kernel, threads, [*[argument_of(x) for x in operands], *outs, *partial])
    values.update(zip(region.outputs, outs, strict=True))
    for node, numbers, parts in zip(nodes, partial, left, strict=True):
        total = _joined(region, node, numbers, parts, device)
        values[node.outs[0]] = total.reshape(node.outs[0].type.shape)


class _Copying:
    """A copy, as a node of a kernel."""

    def __init__(self, x: Var, y: Var):
        self.op, self.args, self.outs, self.params = TABLE["copy"], (x,), (y,), {}


def in_rows(x: Any, type: Any, known: dict[Any, KernelRegion], device: Any) -> Any:
    """A copy of an array in C order, made by a kernel. `known` keeps the region."""
    region = known.get(type.shape)
    if region is None:
        region = known[type.shape] = KernelRegion(type.shape, tuple(range(type.ndim)))
        y = Var(type)
        region.inputs.append(Var(type))
        region.outputs.append(y)
        region.inside[y] = _Copying(region.inputs[0], y)  # type: ignore[assignment]
    out = device.empty(type.shape, type.dtype)
    device.start(kernel_for(region, [x], device), threads_for(region, device), [x, out])
    return out


class _Left(NamedTuple):
    """The numbers that threads leave: for each of `kept` so many `parts`, in a row or after each other."""

    kept: int
    parts: int
    in_a_row: bool

    @property
    def shape(self) -> tuple[int, int]:
        return (self.kept, self.parts) if self.in_a_row else (self.parts, self.kept)

    @property
    def axes(self) -> tuple[int, ...]:
        return (1,) if self.in_a_row else (0,)

    @staticmethod
    def by(tiling: Tiling, kept: int) -> _Left:
        return _Left(kept, tiling.parts // tiling.joined, tiling.in_a_row)


def _threads(region: KernelRegion, shared: Shared, device: Any) -> tuple[int, list[_Left]]:
    """How many threads compute a region, and what they leave of each reduction."""
    if isinstance(shared, int):
        threads = threads_for(region, device)
        return threads, [_Left(1, -(-threads // shared), True)] * len(region.reductions)
    if isinstance(shared, Crossing):
        down, across = (
            _Left(region.kept, shared.parts, False),
            _Left(region.size // region.shape[1], shared.groups, True),
        )
        return shared.threads, [down] * len(region.reductions) + [across] * len(region.crossing)
    return region.kept // shared.numbers * shared.parts, [_Left.by(shared, region.kept)] * len(region.reductions)


def operand_of(x: Any) -> Any:
    """An operand of a kernel: NumPy's arrays of one element are passed as numbers, others move to the device."""
    if x.__class__ is not np.ndarray:
        return x
    return np.asarray(x, like=running.state.library) if x.size != 1 else x.reshape(())[()]


def argument_of(x: Any) -> Any:
    """An operand as it is passed to a kernel."""
    if _is_number(x):
        return np.int64(x) if np.dtype(type(x)).kind in "biu" else np.float64(x)
    return x


def _shared(region: KernelRegion, device: Any) -> Shared:
    """How threads of a device share the work of a region."""
    found = region.kernels.get("shared")
    if found is None:
        found = region.kernels["shared"] = _sharing(region, device.width * device.blocks, device.lanes)
    return found


def _joined(region: KernelRegion, node: Node, numbers: Any, left: _Left, device: Any) -> Any:
    """The numbers of a reduction, from those of the threads that shared the work for each."""
    while left.parts > 1:
        step = _further(region, node, left.shape, left.axes)
        tiling: Any = _shared(step, device)
        kernel = kernel_for(step, [numbers.reshape(left.shape)], device, tiling)
        left = _Left.by(tiling, left.kept)
        fewer = device.empty((left.kept * left.parts,), numbers.dtype)
        device.start(kernel, left.kept // tiling.numbers * tiling.parts, [numbers, fewer])
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
