"""Many sets of numbers at once: the rows of a sparse boolean matrix.

Row k of `Sets` has the numbers of the arguments' elements on which element k of a value depends. What an op does to
the elements of its operands it does to their sets, all at once: rows are taken, united where elements are added, and
put one after the other. Within a row numbers are sorted, none twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from wengert.ops.links import Added, Step, Taken

INDEX = np.int32


class Sets:
    """Sets of numbers below `width`: those of row k are `indices[indptr[k] : indptr[k + 1]]`.

    >>> a = Sets.units(3, 0, 3)
    >>> a.after([Taken(np.array([0, 2, -1]))]).tolist()
    [[0], [2], []]
    >>> a.after([Added(np.array([1, 0, 1]), 2)]).tolist()
    [[1], [0, 2]]
    """

    __slots__ = ("_indices", "_indptr", "_rows", "width")

    def __init__(self, indptr: np.ndarray | None, indices: np.ndarray | None, width: int):
        self._indptr = indptr
        self._indices = indices
        self._rows: list[np.ndarray] | None = None
        self.width = width

    @staticmethod
    def of_rows(rows: list[np.ndarray], width: int) -> Sets:
        """Sets that are given one by one: put together when they are asked for together."""
        made = Sets(None, None, width)
        made._rows = rows
        return made

    @property
    def indptr(self) -> np.ndarray:
        if self._indptr is None:
            self._put_together()
        return self._indptr  # type: ignore[return-value]

    @property
    def indices(self) -> np.ndarray:
        if self._indices is None:
            self._put_together()
        return self._indices  # type: ignore[return-value]

    def _put_together(self) -> None:
        rows = self.rows
        self._indptr = _offsets(np.array([len(row) for row in rows]))
        self._indices = np.concatenate(rows) if rows else np.zeros(0, INDEX)

    @property
    def rows(self) -> list[np.ndarray]:
        """The sets one by one. Nobody writes to the list."""
        if self._rows is None:
            self._rows = np.split(self.indices, self.indptr[1:-1]) if self.count else []
        return self._rows

    def with_row(self, k: int, row: np.ndarray) -> Sets:
        """The same, but for one set."""
        rows = self.rows.copy()
        rows[k] = row
        return Sets.of_rows(rows, self.width)

    @staticmethod
    def units(count: int, start: int, width: int) -> Sets:
        """Sets of one number each: start, start + 1, …"""
        return Sets(np.arange(count + 1, dtype=INDEX), np.arange(start, start + count, dtype=INDEX), width)

    @staticmethod
    def empty(count: int, width: int) -> Sets:
        return Sets(np.zeros(count + 1, INDEX), np.zeros(0, INDEX), width)

    @property
    def count(self) -> int:
        return len(self._rows) if self._rows is not None else len(self.indptr) - 1

    def matrix(self) -> csr_array:
        """The same as a boolean matrix."""
        data = np.ones(len(self.indices), bool)
        made = csr_array((data, self.indices, self.indptr), shape=(self.count, self.width))
        made.has_canonical_format = True
        return made

    def tolist(self) -> list[list[int]]:
        return [self.indices[a:b].tolist() for a, b in zip(self.indptr, self.indptr[1:], strict=False)]

    def same(self, other: Sets) -> bool:
        """Whether all sets are equal."""
        return self is other or (
            np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)
        )

    def after(self, steps: Sequence[Step]) -> Sets:
        """The sets of a result, by the steps that lead there (`ops/links.py`)."""
        sets = self
        for step in steps:
            if step.__class__ is Taken:
                sets = sets._taken(step.places)
            elif step.__class__ is Added:
                sets = sets._multiplied(step.places, np.arange(sets.count), step.height)
            else:
                sets = sets._multiplied(step.rows, step.columns, step.height)  # type: ignore[union-attr]
        return sets

    def _taken(self, places: np.ndarray) -> Sets:
        if not len(self.indices):
            return Sets.empty(len(places), self.width)
        starts = np.append(self.indptr, self.indptr[-1])  # behind the last row an empty one, for -1
        first = starts[:-1][places]
        lengths = starts[1:][places] - first
        indptr = _offsets(lengths)
        if len(lengths) and lengths.min() == lengths.max() == 1:
            return Sets(indptr, self.indices[first], self.width)
        shift = np.repeat(first - indptr[:-1], lengths)
        shift += np.arange(len(shift), dtype=shift.dtype)
        return Sets(indptr, self.indices[shift], self.width)

    def _multiplied(self, rows: np.ndarray, columns: np.ndarray, count: int) -> Sets:
        if not len(self.indices) or not len(rows):
            return Sets.empty(count, self.width)
        inside = rows >= 0
        if not inside.all():
            rows, columns = rows[inside], columns[inside]
        if count == 1:
            whole = self if len(rows) == self.count else self._taken(columns)
            return one_set(np.unique(whole.indices), self.width)
        links = csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(count, self.count))
        return _of_matrix(links @ self.matrix())


def one_set(indices: np.ndarray, width: int) -> Sets:
    """A single set."""
    return Sets(np.array([0, len(indices)], INDEX), indices, width)


def _offsets(lengths: np.ndarray) -> np.ndarray:
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr if indptr[-1] > np.iinfo(INDEX).max else indptr.astype(INDEX)


def _of_matrix(matrix: Any) -> Sets:
    matrix.sort_indices()
    return Sets(matrix.indptr, matrix.indices, matrix.shape[1])


def united(a: Sets, b: Sets) -> Sets:
    """Row by row, what is in either."""
    if a is b or not len(b.indices) or (a.indices is b.indices and a.indptr is b.indptr):
        return a
    if not len(a.indices):
        return b
    if a.count == 1:
        return one_set(np.union1d(a.indices, b.indices), a.width)
    if len(a.indices) == len(b.indices) and a.same(b):
        return a
    return _of_matrix(a.matrix() + b.matrix())


def stacked(parts: Sequence[Sets]) -> Sets:
    """The rows of all, one after the other."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return Sets(_offsets(lengths), np.concatenate([part.indices for part in parts]), parts[0].width)
