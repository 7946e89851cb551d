"""A sparsity pattern in one form, whatever it is given as, and the graphs that colourings look at.

A pattern is a boolean `csr_array`, every stored entry True, the indices of a row ascending and distinct. What a sparse
matrix stores belongs to its pattern, also where the value is zero: a derivative that happens to vanish at one point is
there at the next. Of a dense array the entries that are not zero belong to it.

Graphs are pairs of integer arrays: `start[v] : start[v + 1]` are the places in `other` where the neighbours of v stand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from wengert.errors import PatternError

INDEX = np.int64


class Neighbours(NamedTuple):
    """Neighbours of each vertex; in a bipartite graph those are vertices of the other side."""

    start: np.ndarray
    other: np.ndarray

    @property
    def size(self) -> int:
        return len(self.start) - 1

    @property
    def degrees(self) -> np.ndarray:
        return np.diff(self.start)


def as_pattern(given: Any) -> sp.csr_array:
    """The pattern of a sparse matrix or of an array; what is given is not changed and shares no memory with it."""
    if sp.issparse(given):
        if given.ndim != 2:
            raise PatternError(
                f"a sparsity pattern has rows and columns, but this one has {given.ndim} dimension(s)",
                remedy="pass a two-dimensional sparse array",
            )
        compressed = given.tocsr()
        indices, starts = compressed.indices.copy(), compressed.indptr.copy()
    else:
        dense = np.asarray(given)
        if dense.ndim != 2 or dense.dtype.kind not in "biufc":
            raise PatternError(
                f"a sparsity pattern is a SciPy sparse matrix or a two-dimensional boolean array, but this is "
                f"{_described(given, dense)}",
                remedy="pass the pattern that wg.sparsity(f)(x) returns, or a boolean array",
            )
        compressed = sp.csr_array(dense != 0)
        indices, starts = compressed.indices, compressed.indptr
    pattern = sp.csr_array((np.ones(len(indices), bool), indices, starts), shape=given.shape)
    pattern.sum_duplicates()
    for shared in (pattern.data, pattern.indices, pattern.indptr):
        shared.flags.writeable = False
    return pattern


def with_values(pattern: sp.csr_array, values: np.ndarray) -> sp.csr_array:
    """A matrix with the entries of a pattern, which shares the pattern's index arrays.

    These cannot be written to: a method such as `eliminate_zeros` would change all matrices that share them; it raises.
    """
    matrix = sp.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    matrix.indices, matrix.indptr = pattern.indices, pattern.indptr  # the very same, not views of them
    matrix.has_canonical_format = True
    return matrix


def _described(given: Any, dense: np.ndarray) -> str:
    if isinstance(given, np.ndarray):
        return f"an array of shape {dense.shape} and type {dense.dtype}"
    return f"a {type(given).__name__}"


def rows_of(pattern: sp.csr_array) -> np.ndarray:
    """The row of each stored entry."""
    return np.repeat(np.arange(pattern.shape[0], dtype=INDEX), np.diff(pattern.indptr))


def by_columns(pattern: sp.csr_array) -> np.ndarray:
    """The places of the entries in the order of columns, and in each in the order of rows."""
    places = sp.csr_array((np.arange(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape)
    return sp.csr_array(places.T).data


def rows_to_columns(pattern: sp.csr_array) -> Neighbours:
    """The bipartite graph, seen from the rows."""
    return Neighbours(pattern.indptr.astype(INDEX), pattern.indices.astype(INDEX))


def columns_to_rows(pattern: sp.csr_array) -> Neighbours:
    """The bipartite graph, seen from the columns."""
    return rows_to_columns(sp.csr_array(pattern.T))


def both_sides(pattern: sp.csr_array) -> Neighbours:
    """The bipartite graph as one: rows are the first vertices, columns those behind them."""
    rows, columns = rows_to_columns(pattern), columns_to_rows(pattern)
    start = np.concatenate([rows.start, columns.start[1:] + rows.start[-1]])
    return Neighbours(start, np.concatenate([rows.other + rows.size, columns.other]))


def adjacency(pattern: sp.csr_array) -> Neighbours:
    """The graph of a symmetric pattern: an edge for each pair of entries beside the diagonal."""
    rows = rows_of(pattern)
    beside = rows != pattern.indices
    start = np.zeros(pattern.shape[0] + 1, INDEX)
    np.cumsum(np.bincount(rows[beside], minlength=pattern.shape[0]), out=start[1:])
    return Neighbours(start, pattern.indices[beside].astype(INDEX))


def demand_symmetric(pattern: sp.csr_array) -> None:
    """Raise unless for each entry (i, j) there is one at (j, i)."""
    rows, columns = pattern.shape
    if rows != columns:
        raise PatternError(
            f"a symmetric colouring needs a symmetric pattern, but this one has {rows} rows and {columns} columns",
            remedy='partition="column", "row" or "both"',
        )
    turned = sp.csr_array(pattern.T)
    if np.array_equal(turned.indptr, pattern.indptr) and np.array_equal(turned.indices, pattern.indices):
        return
    alone = sp.coo_array(pattern > turned)
    i, j = (int(k[0]) for k in (alone.coords if alone.nnz else sp.coo_array(turned > pattern).coords))
    raise PatternError(
        f"a symmetric colouring needs a symmetric pattern, but entry ({i}, {j}) is in it and ({j}, {i}) is not",
        remedy='partition="column", "row" or "both"; or pass pattern + pattern.T',
    )


_REPEATED = 16
"""Entries that rows with so many others in them share are looked at so often that it pays to look for equal rows."""


def without_equal_rows(graph: Neighbours, back: Neighbours) -> tuple[Neighbours, Neighbours]:
    """The graph seen from both sides, without vertices of the other side that have the same neighbours as another.

    Who has a neighbour in common stays the same. Work on pairs of columns is quadratic in the lengths of rows, and rows
    that are full, as they are where a function reads at places it is given, are all the same.
    """
    lengths = back.degrees
    if int((lengths.astype(np.int64) ** 2).sum()) <= _REPEATED * len(back.other):
        return graph, back
    weights = np.random.default_rng(0).integers(0, 2**63, graph.size, dtype=np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weights[back.other], dtype=np.uint64)])
    _, first, group = np.unique(sums[back.start[1:]] - sums[back.start[:-1]], return_index=True, return_inverse=True)
    earlier = first[group]
    is_equal = (lengths[earlier] == lengths) & (earlier != np.arange(back.size))
    row = np.repeat(np.arange(back.size), lengths)
    candidates = np.flatnonzero(is_equal[row])
    place = candidates - back.start[row[candidates]] + back.start[earlier[row[candidates]]]
    is_equal[row[candidates[back.other[place] != back.other[candidates]]]] = False  # equal sums do not prove anything
    if not is_equal.any():
        return graph, back
    kept = sp.csr_array((np.ones(len(back.other), bool), back.other, back.start), shape=(back.size, graph.size))[
        ~is_equal
    ]
    return columns_to_rows(kept), rows_to_columns(kept)
