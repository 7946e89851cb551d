"""Launches, recorded once and then repeated as a whole: a CUDA graph.

A loop of a thousand iterations launches thousands of kernels, and the host needs longer to say so than the device to
run them. Recorded launches have their operands at fixed places, so arguments are copied there and results from there,
which must be little beside what is saved.

Recorded is only what is known to be launches and nothing else: kernels of our own, products by cuBLAS, views at places
that the host knows, and loops of these. Whatever looks at a number on the device, or may copy something from the host,
is run as always.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.backend.gpu import blas
from wengert.backend.gpu.regions import VIEWS, KernelRegion, counts, is_count
from wengert.backend.gpu.scalar import lengths
from wengert.control.loop import loop
from wengert.ir.node import Block, Const, Node
from wengert.ops.library import is_foreign

_FEWEST = 8
"""Launches, and twice as many for each argument that is copied, for a recording to pay."""
_MOST_SIGNATURES = 4
_BYTES_A_LAUNCH = 4_000_000
"""How many bytes can be copied while the host launches one kernel."""


def launches_of(plan: Any, inner: Callable[[Any], Any]) -> int | None:
    """How many launches a plan is, `None` if it is something else as well; `inner` gives the plan of a body."""
    total = 0
    for step in plan.steps:
        if isinstance(step, KernelRegion):
            total += 1 + 2 * (len(step.reductions) + len(step.crossing))
        elif blas.fits(step) or step in plan.loops:
            total += 1
        elif step.op is loop:
            count, body = step.args[0], step.params["body"]
            own = launches_of(inner(body), inner) if isinstance(count, Const) else None
            if own is None:
                return None
            total += int(count.value) * own
        elif not _is_view(step) and not counts(step):
            return None
    return total


def is_worth_recording(launches: int, moved: Sequence[int], returned: int) -> bool:
    """Whether so many launches are better recorded, though so many bytes of each argument and of the results are moved
    then."""
    return launches >= _FEWEST + 2 * len(moved) and sum(moved) + returned <= launches * _BYTES_A_LAUNCH


def bytes_of(values: Sequence[Any]) -> list[int]:
    """How long arrays of known shapes are."""
    return [math.prod(lengths(v)) * v.type.dtype.itemsize for v in values if v.type.is_static]


def _is_view(node: Node) -> bool:
    """Whether a node is a view, at places that the host knows."""
    if node.sizes or node.blocks or not all(a.type.is_static for a in (*node.args, *node.outs)):
        return False
    return node.op.name in VIEWS and all(is_count(a.type) for a in node.args[1:])


class Recording:
    """The launches of a program for arguments that lie so."""

    def __init__(self, device: Any, args: Sequence[Any], run: Callable[[Sequence[Any]], list[Any]]):
        self._lock = threading.Lock()
        self._places, self._results, self._graph = device.record(args, run)

    def repeat(self, device: Any, args: Sequence[Any]) -> list[Any]:
        with self._lock:
            return device.repeat(self._graph, self._places, args, self._results)


class Recordings:
    """Those of a plan."""

    def __init__(self, block: Block) -> None:
        self.launches: int | None = -1
        self._returned = sum(bytes_of(block.results))
        self._known: dict[Any, Recording | None] = {}

    def run(self, device: Any, args: Sequence[Any], run: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        """What `run` gives for arguments: the second time for arguments that lie so recorded, from then on repeated."""
        if any(a.__class__ is np.ndarray for a in args):
            return run(args)
        moved = [a.nbytes for a in args if is_foreign(a)]
        if not self.launches or not is_worth_recording(self.launches, moved, self._returned):
            return run(args)
        key = tuple([(a.strides, a.dtype) if is_foreign(a) else (a.__class__, repr(a)) for a in args])
        if key not in self._known:
            if len(self._known) < _MOST_SIGNATURES:
                self._known[key] = None
            return run(args)
        found = self._known[key]
        if found is None:
            try:
                found = self._known[key] = Recording(device, args, run)
            except Exception:  # out of memory, or something that cannot be recorded after all
                self.launches = None
                return run(args)
        return found.repeat(device, args)
