"""Colourings by name, and what can be done with one: compress a matrix, and get it back.

| partition | colours | read from |
|---|---|---|
| `"column"` | columns, those of a colour have no row in common | M @ S |
| `"row"` | rows, those of a colour have no column in common | Sᵀ @ M |
| `"both"` | rows and columns, some of them not at all | Sᵀ @ M and M @ T |
| `"symmetric"` | rows and columns alike | M @ S, and that M is its own transpose |

Column j of S is the sum of the unit vectors of colour j.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from wengert.errors import PatternError
from wengert.graphs.bicoloring import star_bicoloring
from wengert.graphs.decompression import Cells, Steps, read_from, substituted, substitution
from wengert.graphs.ordering import ORDERS, hops_of, ordered
from wengert.graphs.partial import distance_two
from wengert.graphs.pattern import (
    INDEX,
    adjacency,
    as_pattern,
    by_columns,
    columns_to_rows,
    demand_symmetric,
    rows_of,
    rows_to_columns,
    with_values,
)
from wengert.graphs.running import Run, interpreted
from wengert.graphs.symmetric import acyclic_coloring, star_coloring

PARTITIONS = ("column", "row", "both", "symmetric")
DECOMPRESSIONS = ("direct", "substitution")


def coloring(pattern: Any, partition: str = "column", order: str = "largest-first", decompression: str = "direct",
             seed: int = 0, run: Run = interpreted) -> Coloring:  # fmt: skip
    """Colour a pattern; `wg.coloring` says what the arguments mean."""
    for name, given, known in (
        ("partition", partition, PARTITIONS),
        ("order", order, ORDERS),
        ("decompression", decompression, DECOMPRESSIONS),
    ):
        if not isinstance(given, str) or given not in known:
            raise ValueError(f"{name} is one of {', '.join(known)}, not {given!r}")
    pattern = as_pattern(pattern)
    colors: Any
    if partition == "both":
        colors = star_bicoloring(pattern, order, seed, run)
    elif partition == "symmetric":
        demand_symmetric(pattern)
        graph = adjacency(pattern)
        way = star_coloring if decompression == "direct" else acyclic_coloring
        colors = way(graph, ordered(hops_of(graph), order, seed, run), run)
    else:
        sides = columns_to_rows(pattern), rows_to_columns(pattern)
        colors = distance_two(*(sides if partition == "column" else sides[::-1]), order, seed, run)
    return Coloring(pattern, partition, decompression, colors, run)


class Coloring:
    """Groups of columns, of rows, or of both; made by `wg.coloring`.

    `colors` are integers from 0 on, for `partition="both"` a pair of arrays (rows, columns) with -1 for those that
    have no colour; `count` is the number of colours, `pattern` what was coloured, as a boolean `csr_array`.
    """

    colors: Any
    count: int

    def __init__(self, pattern: sp.csr_array, partition: str, decompression: str, colors: Any, run: Run = interpreted):
        self.pattern, self.partition, self.decompression, self.colors = pattern, partition, decompression, colors
        self._run = run
        self._counts = tuple([int(c.max(initial=-1)) + 1 for c in (colors if partition == "both" else (colors,))])
        self.count = sum(self._counts)

    def __repr__(self) -> str:
        m, n = self.pattern.shape
        name = f"{self.partition}, {self.decompression}"
        return f"<Coloring ({name}) of {self.pattern.nnz} entries in {m} x {n}: {self.count} colours>"

    # ------------------------------------------------------------------------------------------------ there

    def compress(self, matrix: Any) -> Any:
        """The sums of the columns (or rows) of each colour: M @ S, or Sᵀ @ M; for `"both"` the pair (Sᵀ @ M, M @ T)."""
        if not hasattr(matrix, "shape"):
            matrix = np.asarray(matrix)
        if tuple(matrix.shape) != self.pattern.shape:
            raise PatternError(
                f"the pattern that was coloured is one of {_size(self.pattern.shape)} matrices, but this one is "
                f"{_size(matrix.shape)}",
                remedy="color the pattern of the matrix that is to be compressed",
            )
        if self.partition == "both":
            return _sums(matrix.T, self._seeds(0)).T, _sums(matrix, self._seeds(1))
        return _sums(matrix.T, self._seeds(0)).T if self.partition == "row" else _sums(matrix, self._seeds(0))

    def _seeds(self, side: int) -> sp.csr_array:
        colors = self.colors[side] if self.partition == "both" else self.colors
        has = np.flatnonzero(colors >= 0)
        ones = np.ones(len(has), np.int8)
        return sp.csr_array((ones, (has, colors[has])), shape=(len(colors), self._counts[side]))

    # ------------------------------------------------------------------------------------------------ and back

    def decompress(self, compressed: Any) -> sp.csr_array:
        """The matrix that was compressed, with exactly the entries of the pattern, zeros too.

        All matrices that come from here share their index arrays, which cannot be written to.
        """
        given = compressed if self.partition == "both" else (compressed,)
        arrays = [np.asarray(array) for array in given]
        m, n = self.pattern.shape
        shapes = {
            "column": lambda: [(m, self.count)],
            "symmetric": lambda: [(m, self.count)],
            "row": lambda: [(self.count, n)],
            "both": lambda: [(self._counts[0], n), (m, self._counts[1])],
        }[self.partition]()
        if [array.shape for array in arrays] != shapes:
            raise PatternError(
                f"a matrix compressed with this colouring is {' and '.join(map(_size, shapes))}, but this is "
                f"{' and '.join(_size(array.shape) for array in arrays)}",
                remedy="pass what compress returned, or products with the same seeds",
            )
        flat = arrays[0].ravel() if len(arrays) == 1 else np.concatenate([array.ravel() for array in arrays])
        if self.is_direct:
            data = flat.take(self.source)
        else:
            data = substituted(self.steps, flat, self._run).take(self.source)
        return with_values(self.pattern, data)

    @property
    def is_direct(self) -> bool:
        """Whether every entry stands somewhere in the compressed matrix, so that nothing must be solved for."""
        return self.decompression == "direct" or self.partition in ("column", "row")

    @cached_property
    def source(self) -> np.ndarray:
        """Where each entry of the pattern stands: in the compressed matrix, flat, or in the results of the `steps`.

        For `"both"` the two compressed matrices stand one behind the other.
        """
        if self.partition == "column":
            return rows_of(self.pattern) * self.count + self.colors[self.pattern.indices]
        if self.partition == "row":
            return np.repeat(self.colors, np.diff(self.pattern.indptr)) * self.pattern.shape[1] + self.pattern.indices
        if self.is_direct:
            source = read_from(self._cells)
        else:
            source = np.empty(len(self.steps.unknown), INDEX)
            source[self.steps.unknown] = np.arange(len(source))
        return source[self._unknowns] if self.partition == "symmetric" else source

    @cached_property
    def steps(self) -> Steps:
        """The steps of the substitution."""
        return substitution(self._cells, self._run)

    @property
    def _unknowns(self) -> np.ndarray:
        """The unknown that each entry of a symmetric pattern is."""
        upper = rows_of(self.pattern) <= self.pattern.indices
        number = np.cumsum(upper) - 1
        return np.where(upper, number, number[by_columns(self.pattern)])  # the entry behind is the one mirrored

    @property
    def _cells(self) -> Cells:
        rows, columns = rows_of(self.pattern), self.pattern.indices.astype(INDEX)
        m, n = self.pattern.shape
        if self.partition == "symmetric":
            upper = rows <= columns  # entries (i, j) and (j, i) are one unknown
            rows, columns, count = rows[upper], columns[upper], self.count
            return Cells(rows * count + self.colors[columns], columns * count + self.colors[rows], n * count)
        (of_rows, of_columns), (first, second) = self.colors, self._counts
        size = first * n + m * second
        from_rows = of_rows[rows] * n + columns
        from_columns = first * n + rows * second + of_columns[columns]
        from_rows[of_rows[rows] < 0] = size
        from_columns[of_columns[columns] < 0] = size
        return Cells(from_columns, from_rows, size)


def _sums(matrix: Any, seeds: sp.csr_array) -> np.ndarray:
    """The matrix times the seeds, dense. Nothing is multiplied by zero, not even infinity."""
    if matrix.dtype == bool:
        matrix = matrix.astype(np.intp)
    if sp.issparse(matrix):
        return (sp.csr_array(matrix) @ seeds).toarray()
    if isinstance(matrix, np.ndarray):
        return np.ascontiguousarray((seeds.T @ matrix.T).T)
    return matrix @ seeds.toarray()  # a linear operator


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
