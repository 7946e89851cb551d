"""Loops reversed with all their states on disk, as a program.

    for k in range(n): state = body(k, state)

    open; for s in range(segments): write s, state; advance through segment s        the first sweep
    for s in reversed(range(segments)): read s; reverse segment s; close             the backward sweep

Where `checkpointed_loop.py` keeps few states and runs iterations again from these, here each segment has its state in a
file, so that every iteration is run again once, however many there are. Reading and writing are calls back to Python
(`effects.py`), which stay in their order. What lies in a file has no derivative and no examples of a batch, so that
modes that go through such a program are refused; a loop that is traced by them in the first place keeps its states in
memory (`loop.reversed_within_budget`).

The file of a loop is there until the backward sweep has gone through it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.control.blocks import block_of
from wengert.control.checkpointed_loop import CheckpointedLoop, RunAgain, carried_variables, grouped
from wengert.control.differing import COUNTER, as_number
from wengert.control.effects import called_back
from wengert.control.states_on_disk import PlaceOnDisk, StatesOnDisk
from wengert.errors import UnsupportedFunctionError
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.node import Block, Type, Var
from wengert.ops.act import undifferentiable
from wengert.ops.op import TABLE, call
from wengert.types import dtype_of, is_inexact

_NUMBER = Var(COUNTER, None, (0, None), False)
_TOKEN = Found((), COUNTER.dtype, True)
_REMEDY = "leave out spill=, or put wg.jit around all operators"
_WHAT = "a loop whose states go to disk (spill=)"

_OPEN: dict[int, StatesOnDisk] = {}
"""Files that are in use, by numbers that programs pass on."""
_numbers = itertools.count(1)


class FileOfStates:
    """The files of one loop: a row for each state, of values of these types."""

    def __init__(self, folder: str, types: Sequence[Type]):
        self.folder, self.types = folder, types
        self.places: list[PlaceOnDisk] = []
        """Where the values of a row stand in it."""
        self.size = 0
        for t in types:
            shape = tuple([int(n) for n in t.shape])  # type: ignore[arg-type]  # states have known lengths
            self.places.append(PlaceOnDisk(self.size, shape, t.dtype))
            self.size += math.prod(shape) * t.dtype.itemsize

    def open(self) -> Any:
        """The number of a new file, when the program runs."""
        return called_back(self._open, (), (_TOKEN,))[0]

    def write(self, number: Any, k: Any, states: Sequence[Any]) -> None:
        """Write the k-th row."""
        marked = [
            undifferentiable(x, what=_WHAT, why=f"what lies in a file is no longer traced ({_REMEDY})")
            if is_inexact(dtype_of(x))
            else x
            for x in states
        ]
        refused = (f"{_WHAT}, for a batch", _REMEDY)
        called_back(self._write, [number, k, *marked], (), refused)

    def read(self, number: Any, k: Any) -> list[Any]:
        """The k-th row."""
        types = [Found(t.shape, t.dtype, t.weak) for t in self.types]
        found = called_back(self._read, [number, k], types)
        return [as_number(x, t) for x, t in zip(found, self.types, strict=True)]

    def close(self, number: Any) -> None:
        """Let the system remove the file."""
        called_back(self._close, [number], ())

    def _open(self) -> int:
        number = next(_numbers)
        _OPEN[number] = StatesOnDisk(self.folder)
        return number

    def _write(self, number: int, k: int, *states: Any) -> tuple:
        file = _file(number)
        for x, place in zip(states, self.places, strict=True):
            file.write(np.asarray(x, place.dtype), int(k) * self.size + place.start)
        return ()

    def _read(self, number: int, k: int) -> tuple:
        file = _file(number)
        begin = int(k) * self.size
        return tuple([file.read(place._replace(start=begin + place.start)) for place in self.places])

    def _close(self, number: int) -> tuple:
        _OPEN.pop(int(number), None)
        return ()


def _file(number: int) -> StatesOnDisk:
    found = _OPEN.get(int(number))
    if found is None:
        raise UnsupportedFunctionError(
            "the pullback of a compiled function whose states lay on disk (spill=) is called a second time",
            remedy="call wg.vjp again; or leave out spill=",
        )
    return found


class SpilledLoop(CheckpointedLoop):
    """A loop whose states are all kept on disk, reversed in segments of `length` iterations."""

    def __init__(self, again: RunAgain, length: int, folder: str):
        super().__init__(again, 1, length)
        self.file = FileOfStates(folder, again.types)

    def start(self, state: Sequence[Any]) -> Any:
        """The first state; the others are written when it is known how many there are."""
        return list(state)

    def first_sweep(self, body: Block, count: Any, values: Sequence[Any], consts: Sequence[Any]) -> tuple[list, Any]:
        number, finals = self._written(body, 1, count, values, consts, [], self.again.state)
        return finals, number

    def _written(
        self,
        body: Block,
        before: int,
        count: Any,
        state: Sequence[Any],
        consts: Sequence[Any],
        drawn: Sequence[Any],
        chosen: Sequence[int],
    ) -> tuple[Any, list[Any]]:
        """Run the loop, and write the state before each segment; the number of the file, and the last state."""
        m, c = len(state), len(consts)

        def function(s: Any, *xs: Any) -> list[Any]:
            state, number, count, consts, drawn = xs[:m], xs[m], xs[m + 1], xs[m + 2 : m + 2 + c], xs[m + 2 + c :]
            self.file.write(number, s, [state[k] for k in chosen])
            begin, iterations = self.bounds(s, count)
            return list(self._iterations(body, before, iterations, begin, state, consts, drawn))

        operands = [*state, self.file.open(), count, *consts, *drawn]
        params = [_NUMBER, *body.params[before : before + m], *map(var_like, operands[m:])]
        block = block_of(function, params)
        return operands[m], list(call(TABLE["loop"], self.segments(count), *operands, body=block, carried=m))

    def backward_sweep(
        self,
        backward: Callable,
        count: Any,
        kept: Any,
        cts: Sequence[Any],
        totals: Sequence[Any],
        y_cts: Sequence[Any],
        consts: Sequence[Any],
        ends: Sequence[Any],
        drawn: Sequence[Any],
    ) -> Any:
        again = self.again
        if kept.__class__ is list:
            kept, _ = self._written(again.advance, again.before, count, kept, consts, drawn, range(len(kept)))
        sizes = [len(cts), len(totals), 3, len(y_cts), len(drawn), len(consts), len(ends)]
        carried = sum(sizes[:2])

        def function(k: Any, *xs: Any) -> list[Any]:
            cts, totals, (number, segments, count), y_cts, drawn, consts, ends = grouped(xs, sizes)
            segment = segments - 1 - k
            state = self.file.read(number, segment)
            begin, iterations = self.bounds(segment, count)
            results = self._iterations(
                again.save, again.before, iterations, begin, state, consts, drawn, carries=again.advance
            )
            return list(backward(iterations, cts, totals, y_cts, results[len(state) :], [*consts, *ends], begin))

        segments = self.segments(count)
        operands = [*cts, *totals, kept, segments, count, *y_cts, *drawn, *consts, *ends]
        block = block_of(function, [_NUMBER, *carried_variables(operands, carried)])
        found = call(TABLE["loop"], segments, *operands, body=block, carried=carried)
        self.file.close(kept)
        return found
