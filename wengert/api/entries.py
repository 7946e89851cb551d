"""The entries of a sparse matrix, taken from where they stand among what was computed.

Eagerly that is a gather. In compiled code a gather reads a number for each entry and keeps what is computed in memory
until it is read. But rows follow each other in the same way nearly everywhere (`graphs/runs.py`), so the entries are
put together of slices,

    interleave(a[0:998], b[1:999], c[2:1000])      instead of      [*a, *b, *c][places]

which are computed where they are written. Where rows are irregular, there is still the gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.graphs.runs import PeriodicRun, periodic_runs
from wengert.ops.elementwise import where
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced, call
from wengert.ops.shape import broadcast_to, concatenate, reshape
from wengert.running import running
from wengert.types import aval_of

FEWEST = 256
"""Fewer entries than these are gathered."""


def taken_entries(parts: Sequence[Any], places: np.ndarray, lengths: np.ndarray, dtype: np.dtype) -> Any:
    """The elements of flat arrays at places that are counted through all of them, zero for -1. `lengths` are those of
    the rows that the entries make up."""
    if not len(places) or not parts:
        return np.zeros(len(places), dtype)
    if running.state.capture is not None and len(places) >= FEWEST and any(isinstance(p, Traced) for p in parts):
        runs = periodic_runs(places, lengths)
        if runs is not None:
            return _joined([_Slices(parts, dtype).of(run) for run in runs])
    whole = parts[0] if len(parts) == 1 else concatenate(*parts, axis=0)
    data = index(whole, np.maximum(places, 0), pattern=(ARRAY,))
    return data if places.min() >= 0 else call(where, places >= 0, data, dtype.type(0))


def _joined(pieces: Sequence[Any], axis: int = 0) -> Any:
    return pieces[0] if len(pieces) == 1 else concatenate(*pieces, axis=axis)


class _Slices:
    """Slices of flat arrays that stand one after the other."""

    def __init__(self, parts: Sequence[Any], dtype: np.dtype):
        self.parts, self.dtype = parts, dtype
        self.starts = np.cumsum([0, *[aval_of(p).size for p in parts]])

    def of(self, run: PeriodicRun) -> Any:
        """The elements of a run, one after the other."""
        columns = [self._column(run.repeats, *at) for at in zip(run.starts, run.steps, strict=True)]
        if run.repeats == 1 or len(columns) == 1:
            return _joined(columns)
        table = _joined([reshape(c, shape=(run.repeats, 1)) for c in columns], axis=1)
        return reshape(table, shape=(run.repeats * len(columns),))

    def _column(self, count: int, start: int, step: int) -> Any:
        if start < 0:
            return np.zeros(count, self.dtype)
        last = start + (count - 1) * step
        part = int(np.searchsorted(self.starts, start, side="right")) - 1
        source, first = self.parts[part], int(self.starts[part])
        if last >= self.starts[part + 1]:
            source, first = concatenate(*self.parts, axis=0), 0
        if step == 0:
            one = index(source, pattern=(slice(start - first, start - first + 1, None),))
            return one if count == 1 else call(broadcast_to, one, shape=(count,))
        return index(source, pattern=(slice(start - first, last - first + 1, None if step == 1 else step),))
