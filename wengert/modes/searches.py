"""Searches by comparisons: a bisection finds a number that depends on what is differentiated, without a derivative.

    for _ in range(60):
        middle = (low + high) / 2
        if middle**2 > a:           # the difference of the operands goes to zero, with changing signs,
            high = middle           # but its derivative does not
        else:
            low = middle

What is compared there is a quantity that the search makes zero. If the numbers it is made of carried their derivatives,
as in Newton's method, the derivative of that quantity would go to zero as well: it is zero for all a. So modes look at
the quantities which are compared at one place of a program (`Searches`), and where one has become small while its
derivative has not, there is a warning. Relative to the quantity the derivative grows as the quantity falls: in a
bisection by as much, in a golden section search by the square root of that. In programs that follow what converges it
grows slowly, as in t exp(-t). And searches are quick: what decays in the course of time takes many comparisons.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.errors import user_frame
from wengert.modes.cuts import Cutoff, is_of_a_rule
from wengert.ops.op import Op
from wengert.packages import is_ours
from wengert.running import running

_RECENT = 6
"""So many quantities in a row are small at the end of a search,"""
_SIGNS = 4
"""and so often at least has the sign changed."""
_SMALL = (1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
"""Relative to the largest quantity; the derivative is looked at once for each."""
_LARGE = 0.01
"""Quantities that are larger than this do not belong to the end of a search,"""
_SLOWEST = 2
"""and from there it takes so many comparisons at most to halve them."""
_GROWTH = 1e4
"""So much has the derivative grown relative to the quantity."""
_LARGEST = 1024
"""Larger arrays are not looked at."""
_FLOATS = (float, np.float64, np.float32)


class _Place:
    """What has been compared at one place of a program."""

    __slots__ = ("changes", "is_positive", "level", "peak", "recent", "since_large", "slope_at_peak")

    def __init__(self) -> None:
        self.peak = 0.0
        self.slope_at_peak: Callable[[], float] = lambda: 0.0
        self.recent: deque[float] = deque(maxlen=_RECENT)
        self.is_positive: bool | None = None
        self.changes = 0
        self.level = 0
        self.since_large = 0

    def adds(self, u: float, slope: Callable[[], float]) -> bool:
        """Whether, with one more quantity, this is a search that loses the derivative of what it finds."""
        size, is_positive = abs(u), u > 0
        if is_positive is not self.is_positive:
            self.is_positive, self.changes = is_positive, self.changes + 1
        if size >= _LARGE * self.peak:
            self.since_large = 0
            if size > self.peak:
                self.peak, self.slope_at_peak = size, slope
            return False
        self.since_large += 1
        self.recent.append(size)
        if self.since_large < _RECENT or self.changes <= _SIGNS or self.level == len(_SMALL):
            return False
        largest = max(self.recent) / self.peak
        if largest > _SMALL[self.level]:
            return False
        self.level += 1
        if self.since_large > _RECENT + _SLOWEST * np.log2(_LARGE / max(largest, 1e-300)):
            return False
        return slope() > _GROWTH * max(largest, 1e-300) * self.slope_at_peak()


class Searches:
    """The places of a program at which one trace has compared numbers."""

    __slots__ = ("_places", "found")

    def __init__(self) -> None:
        self._places: dict[Any, _Place] = {}
        self.found: Cutoff | None = None

    def ended(self) -> Cutoff | None:
        """What was found. Places hold what was compared, which holds the trace: it is let go of."""
        self._places.clear()
        return self.found

    def look_at(self, trace: Any, op: Op, values: tuple, slope: Callable[[], float]) -> None:
        """A trace decides something by these plain values; `slope` is the size of the derivative of their difference,
        or of the only one."""
        if op.compares != "order" and (op.compares or op.rounds or len(values) > 1):
            return
        u = values[0]
        if u.__class__ not in _FLOATS:
            u = _first(u)
        if len(values) == 2:
            v = values[1]
            u = u - (v if v.__class__ in _FLOATS else _first(v))
        if not -np.inf < u < np.inf:
            return
        frame: Any = sys._getframe(3)
        while frame is not None and is_ours(frame.f_code.co_filename):
            frame = frame.f_back
        key = frame and (frame.f_code, frame.f_lasti)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place()
        if place.adds(u, slope) and self.found is None and not _is_followed(trace):
            frame = user_frame()
            self.found = frame and Cutoff(op.name, frame.f_code.co_filename, frame.f_lineno, True)


def _is_followed(trace: Any) -> bool:
    """Whether it is no program of the user's that compares: a rule of an inner differentiation, or one that looks for
    jumps (`switches.py`), which has their derivatives."""
    return is_of_a_rule(trace) or any(hasattr(t, "notes") for t in running.state.traces)


def _first(x: Any) -> float:
    """The first element, which stands for all, of an array of real numbers; NaN if there is none."""
    kind = x.__class__
    if kind is int:
        return float(x) if abs(x) < 2**53 else np.nan
    if kind is np.ndarray and 0 < x.size <= _LARGEST and x.dtype.kind in "fiu":
        return float(x.item(0))
    return np.nan
