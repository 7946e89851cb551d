"""Programs that are one kernel, which makes each of their results: launched with as little as possible around it.

A small function takes longer to be launched than to be run. What a launch needs, except memory for its results, is the
same for all calls with arguments that lie alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.backend.gpu.launch import kernel_for, threads_for, value_of
from wengert.backend.gpu.regions import KernelRegion
from wengert.ir.node import Block

_MOST = 64


class _Prepared(NamedTuple):
    """A kernel, its number of threads, and of each operand which argument it is, or itself."""

    kernel: Any
    threads: int
    operands: list[tuple[int, Any]]


class SingleKernel:
    """The only step of a block, if it is an elementwise kernel. Arguments must all be arrays of one class."""

    def __init__(self, block: Block, region: KernelRegion, constants: dict):
        self._block, self._region, self._constants = block, region, constants
        self._outputs = [(v.type.shape, v.type.dtype) for v in region.outputs]
        places = {id(v): k for k, v in enumerate(region.outputs)}
        self._results = [places[id(r)] for r in block.results]
        self._prepared: dict[Any, _Prepared] = {}

    @staticmethod
    def of(block: Block, steps: Sequence[Any], constants: dict) -> SingleKernel | None:
        if len(steps) != 1 or not isinstance(steps[0], KernelRegion):
            return None
        region = steps[0]
        is_elementwise = not region.reductions and len(region.axes) == len(region.shape)
        are_made = all(any(r is v for v in region.outputs) for r in block.results)
        is_one_each = len({id(r) for r in block.results}) == len(block.results)
        return SingleKernel(block, region, constants) if is_elementwise and are_made and is_one_each else None

    def run(self, args: Sequence[Any], device: Any, kind: Any) -> list[Any] | None:
        """The results, `None` if some argument is not of that class."""
        key = tuple([a.strides if a.__class__ is kind else None for a in args])
        found = self._prepared.get(key)
        if found is None:
            if None in key:
                return None
            found = self._prepare(args, device)
            if len(self._prepared) < _MOST:
                self._prepared[key] = found
        outs = [device.empty(shape, dtype) for shape, dtype in self._outputs]
        found.kernel(found.threads, [*[x if k < 0 else args[k] for k, x in found.operands], *outs])
        return [outs[k] for k in self._results]

    def _prepare(self, args: Sequence[Any], device: Any) -> _Prepared:
        values = {**dict(zip(self._block.params, args, strict=True)), **self._constants}
        operands = [value_of(a, values) for a in self._region.inputs]
        places = {id(p): k for k, p in enumerate(self._block.params)}
        kernel = kernel_for(self._region, operands, device)
        named = [(places.get(id(a), -1), x) for a, x in zip(self._region.inputs, operands, strict=True)]
        # (an argument is not kept from one call to the next)
        named = [(k, None if k >= 0 else x) for k, x in named]
        return _Prepared(kernel, threads_for(self._region, device), named)
