"""How much memory the reverse sweep of a program's loops takes, against how often their iterations are run.

What is kept of each loop is known after one run: how often it was run, the bytes of a state, and of what an iteration
keeps. From these follows what a budget leads to (`control/budget.py`), so the curve is predicted, not measured.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from wengert.control.budget import Budget, LoopSizes, described_bytes, predicted, under
from wengert.explain import tables
from wengert.explain.pictures import COLOURS, Picture, picture, text
from wengert.explain.report import Report

_POINTS = 60
_PLENTY = 2**60


class MemoryPoint(NamedTuple):
    """What a budget (`memory=`) leads to: the bytes that loops take of it, and how many iterations are run again on the
    way back."""

    memory: int
    repeated: int
    budget: int


class MemoryCurve(Report):
    """Memory of the reverse sweep against repeated work, from the least possible to all; `wg.profile(f, x).memory`.

    `points` are its points as data, `loops` what is known of each loop: how often it runs, and the bytes of a state and
    of what an iteration keeps.
    """

    def __init__(self, name: str, loops: Sequence[LoopSizes]):
        self.name = name
        self.loops = list(loops)
        self.points = _points(self.loops)
        self.iterations = sum(loop.iterations or 0 for loop in self.loops)

    def runs(self, point: MemoryPoint) -> float:
        """How often an iteration is run altogether, on average: once forwards, and again for the reverse sweep."""
        return 1 + point.repeated / max(self.iterations, 1)

    def _summary(self) -> str:
        if not self.points:
            return f"{self.name} has no loops that could be reversed with less memory"
        least, most = self.points[0].memory, self.points[-1].memory
        return (
            f"{self.name}: {len(self.loops)} loop{'s' * (len(self.loops) > 1)}, {self.iterations} iterations; "
            f"reverse mode keeps {tables.size(most)} of them, and at least {tables.size(least)}"
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        chosen = self.points[:: max(len(self.points) // 12, 1)]
        chosen = chosen if not self.points or chosen[-1] == self.points[-1] else [*chosen, self.points[-1]]
        rows = [[tables.size(p.memory), str(p.repeated), f"{self.runs(p):.2f}"] for p in chosen]
        return ["memory", "iterations run again", "runs of an iteration"], rows

    def text(self) -> str:
        return f"{self._summary()}\n\n{tables.as_text(*self._table())}" if self.points else self._summary()

    __str__ = __repr__ = text

    def html(self) -> str:
        shown = f"<p>{html.escape(self._summary())}</p>"
        return shown + (f"{tables.as_html(*self._table())}{self.svg}" if self.points else "")

    @property
    def svg(self) -> Picture:
        """The curve: memory, and how often an iteration is run, on logarithmic axes."""
        left, top, width, height = 60.0, 40.0, 480.0, 280.0
        sizes = [max(p.memory, 1) for p in self.points] or [1]
        low, high = math.log10(sizes[0]), math.log10(sizes[-1])
        most = max([self.runs(p) for p in self.points], default=1.0)
        most = max(most, 2.0)
        at_x = lambda n: left + width * (math.log10(max(n, 1)) - low) / max(high - low, 1e-9)
        at_y = lambda runs: top + height * (1 - math.log(runs) / math.log(most))
        parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>']
        for n in _ticks(sizes[0], sizes[-1]):
            x = at_x(n)
            parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + height}" stroke="#ddd"/>')
            parts.append(text(x, top + height + 16, described_bytes(n, 3), "middle"))
        for runs in [m * 10**k for k in range(9) for m in (1, 2, 5) if m * 10**k <= most]:
            y = at_y(runs)
            parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="#ddd"/>')
            parts.append(text(left - 6, y + 4, str(runs), "end"))
        path = " ".join(f"{at_x(p.memory):.1f},{at_y(self.runs(p)):.1f}" for p in self.points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="2"/>')
        parts.append(text(8, top - 16, "runs of an iteration, the first one included"))
        parts.append(
            text(left + width / 2, top + height + 36, "memory that the reverse sweep of loops takes", "middle")
        )
        return picture(left + width + 40, top + height + 48, parts)


def _points(loops: Sequence[LoopSizes]) -> list[MemoryPoint]:
    known = [loop for loop in loops if loop.iterations and loop.residuals]
    if not known:
        return []
    everything = 2 * sum([(loop.iterations or 0) * (loop.residuals + loop.state) for loop in known])
    least = sum(loop.least for loop in known)
    found: list[MemoryPoint] = []
    for k in range(_POINTS):
        budget = int(least * (4 * everything / least) ** (k / (_POINTS - 1)))
        outcome = predicted(known, budget)
        if outcome is not None:
            point = MemoryPoint(*outcome, budget)
            if not found or point.repeated < found[-1].repeated:
                found.append(point)
    return sorted(found)


def _ticks(low: int, high: int) -> list[int]:
    found = [10**k for k in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    if len(found) < 2:
        found = [m * 10**k for k in range(19) for m in (1, 2, 5) if low <= m * 10**k <= high]
    return found[:: max(len(found) // 7, 1)]


def memory_curve(name: str, reverse: Callable[[], object]) -> MemoryCurve:
    """The curve of a program, of which `reverse` computes a derivative in reverse mode."""
    with under(Budget(memory=_PLENTY)) as account:
        reverse()
    assert account is not None
    return MemoryCurve(name, account.loops)
