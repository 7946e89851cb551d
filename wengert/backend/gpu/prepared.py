"""Programs that are a few kernels and products, launched with as little as possible around them.

A small function takes longer to be launched than to be run, and the device waits while the host finds out what comes
first. What launches need is the same for all calls with arguments that lie alike, but for the memory of arguments,
results and what is between. So the first such call notes what it allocates and launches, and later ones repeat that:
what is between lies in one piece of memory, at places that are known, and launches are given addresses only.
(Programs of many launches are recorded as a whole instead: `recording.py`.)
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.backend.gpu import blas
from wengert.backend.gpu.recording import bytes_of, is_worth_recording, launches_of
from wengert.backend.gpu.regions import KernelRegion
from wengert.ir.node import Node
from wengert.ops.library import is_foreign

_MOST_SIGNATURES = 64
_ALIGNED = 256
_START_WHERE_THEIR_OPERAND_DOES = frozenset(("reshape", "transpose"))


class _Launch(NamedTuple):
    """A kernel or a product, and its operands: arrays by their numbers, those of arguments first, then constants, then
    what is made. Memory is taken before it (`made`: number, shape, dtype)."""

    made: list[tuple[int, Any, Any]]
    start: Callable
    operands: list[int]


class _Made(NamedTuple):
    """A result as it lies in memory, and the order of its axes for the caller, if that is another."""

    shape: tuple[int, ...]
    dtype: np.dtype
    axes: tuple[int, ...] | None

    @staticmethod
    def like(y: Any) -> _Made:
        inwards = sorted(range(y.ndim), key=lambda k: -y.strides[k])
        if y.flags.c_contiguous:
            return _Made(y.shape, y.dtype, None)
        return _Made(tuple([y.shape[k] for k in inwards]), y.dtype, tuple([inwards.index(k) for k in range(y.ndim)]))

    def is_whole(self, y: Any) -> bool:
        """Whether the result has no gaps."""
        return self.axes is None or y.transpose(sorted(range(y.ndim), key=self.axes.__getitem__)).flags.c_contiguous


class _Launches:
    """What a call does. Operands are numbers of places: of arguments, constants, what is between, and results."""

    def __init__(
        self, constants: list[Any], steps: list[_Launch], between: Sequence[int], room: int, results: list[_Made]
    ):
        self._constants, self._room, self._results = constants, room, results
        self._steps = [(step.start, step.operands) for step in steps]
        self._between = between
        self._lock = threading.Lock()

    def run(self, device: Any, args: Sequence[Any]) -> list[Any]:
        place_of = device.place_of
        results = [device.empty(shape, dtype) for shape, dtype, _ in self._results]
        places = [place_of(x) for x in (*args, *self._constants)]
        if self._room:
            room = device.empty((self._room,), _BYTE)
            start = place_of(room)
            places += [start + offset for offset in self._between]
        places += [place_of(y) for y in results]
        with self._lock:
            device.repeat_launches(self._steps, places)
        return [
            y if made.axes is None else y.transpose(made.axes) for y, made in zip(results, self._results, strict=True)
        ]


_BYTE = np.dtype(np.uint8)


class PreparedLaunches:
    """Those of a plan, by how its arguments lie."""

    def __init__(self, constants: Iterable[Any]):
        self._constants = list(constants)
        self._known: dict[Any, _Launches | None] = {}

    @staticmethod
    def of(plan: Any) -> PreparedLaunches | None:
        """`None` for a program that has something else to do, or is better recorded."""
        block, loops = plan.block, plan.loops
        if not all(
            isinstance(s, KernelRegion) or _is_plain(s) or (s in loops and not loops[s].written) for s in plan.steps
        ):
            return None
        launches = launches_of(plan, lambda _: None)
        moved, returned = bytes_of(block.params), sum(bytes_of(block.results))
        if not launches or is_worth_recording(launches, moved, returned):
            return None
        return PreparedLaunches(plan.constants.values())

    def run(
        self, args: Sequence[Any], device: Any, kind: Any, run: Callable[[Any], list[Any]]
    ) -> list[Any] | None:  # fmt: skip
        """The results, `None` if arguments are not all arrays of that class, or are to be treated as always. `run` runs
        the program on a device."""
        key = tuple([a.strides if a.__class__ is kind else None for a in args])
        found = self._known.get(key)
        if found is not None:
            return found.run(device, args)
        if key in self._known or None in key or len(self._known) >= _MOST_SIGNATURES:
            return None
        noting = _Noting(device, [*args, *self._constants])
        if not noting.are_apart:
            return None
        results = run(noting)
        self._known[key] = noting.launches(len(args), results)
        return results


class _Noting:
    """A device that notes what it is asked to do. Arrays are known by where they begin."""

    def __init__(self, device: Any, known: Sequence[Any]):
        self._device, self._arrays = device, list(known)
        self._numbers = {device.place_of(x): k for k, x in enumerate(known)}
        self._made: list[tuple[int, Any, Any]] = []
        self._steps: list[_Launch] = []
        self._first = len(known)
        self._count = len(known)
        self.are_apart = len(self._numbers) == len(known)
        self._is_complete = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        x = self._device.empty(shape, dtype)
        self._numbers[self._device.place_of(x)] = self._count
        self._made.append((self._count, shape, dtype))
        self._count += 1
        return x

    def start(self, kernel: Any, threads: int, arguments: Sequence[Any]) -> None:
        self._device.start(kernel, threads, arguments)
        self._note(self._device.launcher(kernel, threads, len(arguments)), arguments)

    def multiply(self, x: Any, y: Any, out: Any) -> bool:
        if not self._device.multiply(x, y, out):
            return False
        self._note(self._device.multiplier(x, y, out), (x, y, out))
        return True

    def _note(self, start: Callable, arguments: Sequence[Any]) -> None:
        operands = [self._number(x) for x in arguments]
        self._steps.append(_Launch(self._made, start, operands))
        self._made = []

    def _number(self, x: Any) -> int:
        k = self._numbers.get(self._device.place_of(x), -1) if is_foreign(x) else -1
        self._is_complete = self._is_complete and k >= 0
        return k

    def launches(self, arguments: int, results: Sequence[Any]) -> _Launches | None:
        """What was noted, `None` if something else is needed: numbers of the host, memory that others have taken,
        results that are not as they were made."""
        numbers = [self._number(y) for y in results]
        if not self._is_complete or len(set(numbers)) < len(numbers) or any(k < self._first for k in numbers):
            return None
        made = {k: (shape, dtype) for step in self._steps for k, shape, dtype in step.made}
        lying = [_Made.like(y) for y in results]
        for y, k, own in zip(results, numbers, lying, strict=True):
            shape, dtype = made[k]
            if not own.is_whole(y) or dtype != y.dtype or math.prod(shape) != y.size:
                return None
        between = [k for k in made if k not in numbers]
        offsets, room = _offsets(self._steps, {k: _bytes(*made[k]) for k in between})
        places = {k: self._first + n for n, k in enumerate([*between, *numbers])}
        steps = [s._replace(operands=[places.get(k, k) for k in s.operands]) for s in self._steps]
        return _Launches(self._arrays[arguments : self._first], steps, [offsets[k] for k in between], room, lying)


def _is_plain(node: Node) -> bool:
    """Whether a node that is left to the library is a product, or nothing but another view of its operand."""
    return blas.fits(node) or node.op.name in _START_WHERE_THEIR_OPERAND_DOES


def _bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return -(-max(math.prod(shape) * dtype.itemsize, 1) // _ALIGNED) * _ALIGNED


def _offsets(steps: Sequence[_Launch], sizes: dict[int, int]) -> tuple[dict[int, int], int]:
    """Where in one piece of memory arrays lie that are made on the way, and how long it is. What is needed no more
    leaves its place to others."""
    last = {k: n for n, step in enumerate(steps) for k in (*[m[0] for m in step.made], *step.operands) if k in sizes}
    found: dict[int, int] = {}
    taken: list[tuple[int, int, int]] = []
    """Where those begin and end that are needed still, and which they are."""
    for n, step in enumerate(steps):
        for k in [m[0] for m in step.made if m[0] in sizes]:
            start = 0
            for begin, end, _ in sorted(taken):
                if begin - start >= sizes[k]:
                    break
                start = max(start, end)
            found[k] = start
            taken.append((start, start + sizes[k], k))
        taken = [t for t in taken if last[t[2]] > n]
    return found, max([found[k] + sizes[k] for k in found], default=0)
