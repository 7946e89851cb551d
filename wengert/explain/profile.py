"""`wg.profile`: what each line of a function costs, in time and memory, and what its derivatives cost.

Three runs, each watched operation by operation (`modes/watching.py`): the function alone, forward mode, and reverse
mode with its two sweeps. The time of an operation is charged to the line of the user's source that did it; in the
reverse sweep, to the line whose operation is being transposed. Memory is that of results, and what the tape keeps from
one sweep to the other. Watching adds to the time of a run, but little to that of an operation, which is measured from
inside; the times of whole runs above the table are measured without it.
"""

from __future__ import annotations

import functools
import html
import linecache
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import Argnums, Prepared
from wengert.api.operators import operation
from wengert.box.writing import plain
from wengert.capture import hooks
from wengert.explain import tables
from wengert.explain.memory_curve import MemoryCurve, memory_curve
from wengert.explain.pictures import Picture, bars
from wengert.explain.report import Report
from wengert.modes.dual import Dual
from wengert.modes.watching import Operation, Watch, bytes_kept, looking_on, seen
from wengert.types import aval_of, dtype_of, is_inexact, shape_of

_clock = time.perf_counter


@dataclass(frozen=True, slots=True)
class ProfiledLine:
    """What one line of source costs; times in seconds, of all times it ran in one call of the function.

    `operations` counts elementary operations. `forward` is the time of values and tangents together, `record` and
    `sweep` those of reverse mode's two sweeps; `reverse` is their sum. `allocated` are the bytes of the results of all
    operations, `kept` those that the tape holds until the reverse sweep.
    """

    file: str
    line: int
    text: str
    operations: int
    function: float
    forward: float
    record: float
    sweep: float
    allocated: int
    kept: int

    @property
    def reverse(self) -> float:
        return self.record + self.sweep


class Profile(Report):
    """The costs of a function line by line; made by `wg.profile`. Printed it is a table; `svg` is a picture of it.

    `lines` are the rows as data, the dearest first. `function`, `forward` and `reverse` are the seconds that one call
    of the function, of `jvp`, and of `vjp` with its pullback took, unwatched.
    """

    def __init__(self, name: str, lines: Sequence[ProfiledLine], function: float, forward: float, reverse: float,
                 sweeps: Callable[[], Any]):  # fmt: skip
        self._sweeps = sweeps
        self.name = name
        self.lines = list(lines)
        self.function, self.forward, self.reverse = function, forward, reverse

    @property
    def allocated(self) -> int:
        """Bytes of the results of all operations of one call of the function."""
        return sum(line.allocated for line in self.lines)

    @property
    def kept(self) -> int:
        """Bytes that the tape holds at the end of the first sweep of reverse mode."""
        return sum(line.kept for line in self.lines)

    @functools.cached_property
    def memory(self) -> MemoryCurve:
        """What reverse mode within a budget (`memory=`) takes, against how often iterations of loops are run again."""
        return memory_curve(self.name, self._sweeps)

    def _summary(self) -> str:
        return (
            f"{self.name}: {tables.seconds(self.function)}; forward mode {tables.seconds(self.forward)} "
            f"({self.forward / self.function:.1f} ×), reverse mode {tables.seconds(self.reverse)} "
            f"({self.reverse / self.function:.1f} ×); {tables.size(self.kept)} kept by the tape"
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        several = len({line.file for line in self.lines}) > 1
        head = ["line", "ops", "function", "forward", "reverse", "of it 2nd sweep", "allocated", "kept", "source"]
        rows = []
        for x in self.lines:
            where = f"{Path(x.file).name}:{x.line}" if several else str(x.line)
            times = [tables.seconds(t) for t in (x.function, x.forward, x.reverse, x.sweep)]
            rows.append([where, str(x.operations), *times, tables.size(x.allocated), tables.size(x.kept), x.text])
        total = [sum(getattr(x, k) for x in self.lines) for k in ("function", "forward", "reverse", "sweep")]
        rows.append(["all", str(sum(x.operations for x in self.lines)), *map(tables.seconds, total),
                     tables.size(self.allocated), tables.size(self.kept), ""])  # fmt: skip
        return head, rows

    def text(self) -> str:
        """The table as text."""
        return f"{self._summary()}\n\n{tables.as_text(*self._table(), left=[8])}"

    __str__ = __repr__ = text

    def html(self) -> str:
        """The table and the picture as HTML."""
        return f"<p>{html.escape(self._summary())}</p>{tables.as_html(*self._table(), left=[8])}{self.svg}"

    @property
    def svg(self) -> Picture:
        """The times of the lines as bars: function, forward mode, reverse mode."""
        shown = self.lines[:30]
        labels = [f"{x.line:>5}  {x.text[:60]}" for x in shown]
        series = {name: [getattr(x, name) for x in shown] for name in ("function", "forward", "reverse")}
        return bars(labels, series, tables.seconds)


class _Costs(Watch):
    """Adds up what each line costs."""

    def __init__(self) -> None:
        self.time: dict[Any, float] = defaultdict(float)
        self.sweep: dict[Any, float] = defaultdict(float)
        self.count: dict[Any, int] = defaultdict(int)
        self.allocated: dict[Any, int] = defaultdict(int)
        self.kept: dict[Any, int] = defaultdict(int)
        self._started = 0.0
        self._depth = 0

    def operation(self, step: Operation, args: Sequence[Any], apply: Callable[[], Any]) -> Any:
        if self._depth:  # an operation inside another, which is being measured
            return apply()
        self._depth = 1
        start = _clock()
        try:
            y = apply()
        finally:
            elapsed = _clock() - start
            self._depth = 0
        place = step.place
        self.time[place] += elapsed
        self.count[place] += 1
        for part in y if y.__class__ is tuple else (y,):
            value = plain(part)
            view = isinstance(value, np.ndarray) and value.base is not None
            self.allocated[place] += 0 if view else getattr(value, "nbytes", 8)
            if isinstance(part, Dual):
                self.allocated[place] += getattr(plain(part._tangent), "nbytes", 8)
        return y

    def written(self, step: Operation, box: Any, v: Any, apply: Callable[[], Any]) -> Any:
        start = _clock()
        y = apply()
        self.time[step.place] += _clock() - start
        self.count[step.place] += 1
        return y

    def finished(self, values: Sequence[Any], program: Any) -> None:
        if program is not None:
            for step, size in bytes_kept(program):
                self.kept[step.place] += size

    def passing(self, step: Operation, k: int, ct: Any) -> None:
        self._started = _clock()

    def passed(self, step: Operation, ct: Any, parts: Sequence[Any]) -> None:
        self.sweep[step.place] += _clock() - self._started

    def compiled(self, f: Callable, args: tuple, kwargs: dict) -> Any:
        return hooks.resolve(f)(*args, **kwargs)


@operation
def profile(f: Callable, *args: Any, argnums: Argnums | None = None, repeat: int = 5, **kwargs: Any) -> Profile:
    """What each line of `f(*args, **kwargs)` costs in time and memory, and in both modes of differentiation.

    Args:
        f: a function of numbers, arrays and containers of them. Compiled functions in it run as ordinary Python.
        args: where to evaluate it.
        argnums: which arguments are differentiated; if it is not given, all that hold floating-point numbers.
        repeat: how many times everything is run; of the times of a line the smallest counts.

    Returns:
        A `Profile`: printed it is a table of the lines, the dearest first; `.lines` are its rows, `.svg` is a picture.
        `.memory` is the curve of what loops take in reverse mode against how often their iterations are run again, with
        `.points` and `.svg`: it says what `memory=` of `grad` will cost.

    >>> import numpy as np, wengert as wg
    >>> p = wg.profile(lambda x: np.sum(np.sin(x) ** 2), np.ones(1000))
    >>> [(line.operations, line.allocated) for line in p.lines]
    [(3, 16008)]
    """
    chosen = _floating(args) if argnums is None else argnums
    made = lambda: Prepared(f, (chosen,) if isinstance(chosen, int) else chosen, args, kwargs, False)
    plain_runs, forward_runs, reverse_runs = [], [], []
    for _ in range(max(1, repeat)):
        plain_runs.append(_watched(lambda watch: seen(watch, made(), made().leaves)))
        forward_runs.append(_watched(lambda watch: made().push(_ones(made().leaves))))
        reverse_runs.append(_watched(lambda watch: _pull(made())))
    places = {p for runs in (plain_runs, forward_runs, reverse_runs) for run in runs for p in [*run.time, *run.sweep]}
    lines = []
    for place in places:
        if place is None:
            continue
        function, forward, record = [min(run.time.get(place, 0.0) for run in runs)
                                     for runs in (plain_runs, forward_runs, reverse_runs)]  # fmt: skip
        first, last = plain_runs[0], reverse_runs[0]
        sweep = min(run.sweep.get(place, 0.0) for run in reverse_runs)
        text = linecache.getline(place[0], place[1]).strip()
        lines.append(ProfiledLine(place[0], place[1], text, first.count.get(place, 0), function, forward, record, sweep,
                          first.allocated.get(place, 0), last.kept.get(place, 0)))  # fmt: skip
    lines.sort(key=lambda line: -(line.function + line.forward + line.reverse))
    return Profile(
        getattr(f, "__name__", "f"), lines, _time(lambda: f(*args, **kwargs), repeat),
        _time(lambda: made().push(_ones(made().leaves)), repeat), _time(lambda: _pull(made()), repeat),
        lambda: _pull(made()),
    )  # fmt: skip


def _watched(run: Callable[[_Costs], Any]) -> _Costs:
    watch = _Costs()
    with looking_on(watch):
        run(watch)
    return watch


def _pull(prepared: Prepared) -> None:
    values, program = prepared.record()
    program.pull(_ones(values), consume=True)


def _ones(leaves: Sequence[Any]) -> list[Any]:
    return [np.ones(shape_of(x), dtype_of(x))[()] for x in leaves]


def _time(run: Callable[[], Any], repeat: int) -> float:
    least = np.inf
    for _ in range(max(1, repeat)):
        start = _clock()
        run()
        least = min(least, _clock() - start)
    return float(least)


def _floating(args: tuple) -> tuple[int, ...]:
    """The arguments all of whose leaves have derivatives."""
    return tuple([k for k, a in enumerate(args) if tree.leaves(a) and all(map(_has_derivative, tree.leaves(a)))])


def _has_derivative(leaf: Any) -> bool:
    try:
        return is_inexact(aval_of(leaf).dtype)
    except (TypeError, ValueError, AttributeError):
        return False
