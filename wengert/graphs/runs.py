"""Long lists of places that go on in the same way: found as few runs, so that nobody has to look them up.

    4 9  0 5 10  1 6 11  2 7 12  3 8      is      4 9, three columns that begin at 0, 5, 10 and go on by 1, 3 8

Entries of a sparse matrix stand in the order of its rows, and are computed in that of its diagonals, so each of them is
found somewhere else; but what holds for one row holds for the next. A run is so many periods, in each of which every
column is a step further on. Which period there is follows from the lengths of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MOST_RUNS = 12
"""Lists that are made of more runs are looked up."""
_SHORTEST = 8
"""A run has at least so many periods; what is left between two runs is taken one by one."""
_LONGEST_PERIOD = 64


class PeriodicRun(NamedTuple):
    """So many periods; column j of period i has the place `starts[j] + i * steps[j]`, or -1 throughout."""

    repeats: int
    starts: tuple[int, ...]
    steps: tuple[int, ...]


def periodic_runs(places: np.ndarray, lengths: np.ndarray, most: int = MOST_RUNS) -> list[PeriodicRun] | None:
    """The list as runs; None if it has too many. `lengths` are those of the rows it consists of."""
    total = len(places)
    if not total:
        return []
    periods = _periods(lengths)
    if not periods:
        return None
    ends = [_ends(places, p) for p in periods]
    found: list[PeriodicRun] = []
    at = 0
    while at < total:
        if len(found) == most:
            return None
        reach = [(int(end[at]) - at) // p for p, end in zip(periods, ends, strict=True)]
        covered = [n * p if n >= _SHORTEST else 0 for n, p in zip(reach, periods, strict=True)]
        best = int(np.argmax(covered))
        if covered[best]:
            p, count = periods[best], reach[best]
        else:
            count, p = 1, _until_a_run(at, total, periods, ends)
            if p > _LONGEST_PERIOD:
                return None
        first = places[at : at + p]
        steps = places[at + p : at + 2 * p] - first if count > 1 else np.zeros(p, np.int64)
        found.append(PeriodicRun(count, tuple(map(int, first)), tuple(map(int, steps))))
        at += count * p
    return found


def _periods(lengths: np.ndarray) -> list[int]:
    """Lengths that many rows have, and several rows together."""
    values, counts = np.unique(lengths[lengths > 0], return_counts=True)
    common = [int(v) for v in values[np.argsort(-counts, kind="stable")][:4]]
    return sorted({k * n for n in common for k in (1, 2, 3, 4, n) if k * n <= _LONGEST_PERIOD})


def _ends(places: np.ndarray, period: int) -> np.ndarray:
    """For each position up to where the list goes on with this period, as it does there."""
    total = len(places)
    if total < 2 * period:
        return np.zeros(total, np.int64)
    steps = places[period:] - places[:-period]
    # A place that is none stays none, and no column runs backwards: it would have to be read in the other direction.
    is_odd = (steps < 0) | ((steps != 0) & ((places[period:] < 0) | (places[:-period] < 0)))
    breaks = steps[period:] != steps[:-period]
    stops = np.full(total, total)
    positions = np.arange(total)
    changed = np.flatnonzero(breaks) + 2 * period
    _lower(stops, positions, changed - 2 * period, changed)
    _lower(stops, positions, np.flatnonzero(is_odd), np.flatnonzero(is_odd) + period)
    stops[total - 2 * period + 1 :] = 0
    return stops


def _lower(stops: np.ndarray, positions: np.ndarray, seen_from: np.ndarray, stop: np.ndarray) -> None:
    """No run goes on beyond the first `stop` that is seen from its beginning, or from later."""
    if len(seen_from):
        following = np.searchsorted(seen_from, positions)
        inside = following < len(seen_from)
        stops[inside] = np.minimum(stops[inside], stop[following[inside]])


def _until_a_run(at: int, total: int, periods: Sequence[int], ends: Sequence[np.ndarray]) -> int:
    """How many places there are before the next run begins, or the list ends."""
    nearest = total
    for p, end in zip(periods, ends, strict=True):
        ahead = end[at : at + _LONGEST_PERIOD + 1] - np.arange(at, min(at + _LONGEST_PERIOD + 1, total))
        starts = np.flatnonzero(ahead >= _SHORTEST * p)
        if len(starts):
            nearest = min(nearest, at + int(starts[0]))
    return nearest - at
