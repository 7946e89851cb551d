"""Programs that are a few kernels, launched with as little as possible around them.

A small function takes longer to be launched than to be run, and the device waits while the host finds out what comes
first. What launches need is the same for all calls with arguments that lie alike, but for the memory of arguments,
results and what is between. So the first such call notes what it allocates and launches, and later ones repeat that.
(Programs of many launches are recorded as a whole instead: `recording.py`.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.backend.gpu.recording import bytes_of, is_worth_recording, launches_of
from wengert.backend.gpu.regions import KernelRegion, Step
from wengert.ir.node import Block
from wengert.ops.library import is_foreign

_MOST_SIGNATURES = 64
_START_WHERE_THEIR_OPERAND_DOES = frozenset(("reshape", "transpose"))


class _Launch(NamedTuple):
    """A kernel with its operands: arrays by their numbers, those of arguments first, then constants, then what is
    made. Memory is taken before it (`made`: number, shape, dtype) and given back after it."""

    made: list[tuple[int, Any, Any]]
    kernel: Any
    threads: int
    operands: list[int]
    last: list[int]


class _Launches(NamedTuple):
    """What a call does."""

    constants: list[Any]
    number: int
    steps: list[_Launch]
    results: list[int]

    def run(self, device: Any, args: Sequence[Any]) -> list[Any]:
        arrays = [*args, *self.constants, *[None] * self.number]
        for made, kernel, threads, operands, last in self.steps:
            for k, shape, dtype in made:
                arrays[k] = device.empty(shape, dtype)
            kernel(threads, [arrays[k] for k in operands])
            for k in last:
                arrays[k] = None
        return [arrays[k] for k in self.results]


class PreparedLaunches:
    """Those of a plan, by how its arguments lie."""

    def __init__(self, constants: Iterable[Any]):
        self._constants = list(constants)
        self._known: dict[Any, _Launches | None] = {}

    @staticmethod
    def of(block: Block, steps: Sequence[Step], constants: dict) -> PreparedLaunches | None:
        """`None` for a program that has something else to do, or is better recorded."""
        if not all(isinstance(s, KernelRegion) or s.op.name in _START_WHERE_THEIR_OPERAND_DOES for s in steps):
            return None
        launches = launches_of(steps, lambda _: ())
        moved, returned = bytes_of(block.params), sum(bytes_of(block.results))
        if not launches or is_worth_recording(launches, moved, returned):
            return None
        return PreparedLaunches(constants.values())

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
        operands = [self._number(x) for x in arguments]
        self._steps.append(_Launch(self._made, kernel, threads, operands, []))
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
        shapes = {k: y.shape for k, y in zip(numbers, results, strict=True)}
        for y, k in zip(results, numbers, strict=True):
            (as_made,) = [m for step in self._steps for m in step.made if m[0] == k]
            if not y.flags.c_contiguous or as_made[2] != y.dtype or math.prod(as_made[1]) != y.size:
                return None
        seen = set(numbers)
        for n, step in reversed(list(enumerate(self._steps))):
            made = [(k, shapes.get(k, shape), dtype) for k, shape, dtype in step.made]
            unseen = dict.fromkeys([k for k in (*step.operands, *[m[0] for m in made]) if k >= self._first])
            self._steps[n] = step._replace(made=made, last=[k for k in unseen if k not in seen])
            seen.update(unseen)
        return _Launches(self._arrays[arguments : self._first], self._count - self._first, self._steps, numbers)
