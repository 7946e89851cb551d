"""Rows and columns together: few products of both kinds, where neither kind alone does with few.

An arrowhead matrix has a dense row and a dense column, so columns alone need n colours, and rows as well. If the dense
row is read from a product of its own, two colours are enough for the columns.

Each entry is read from its column, in M @ S, or from its row, in Tᵀ @ M. Which one is found by peeling (Coleman and
Verma 1998, minimum nonzero count ordering): rows and columns with the fewest entries left are taken away, one by one;
what a row still has then is read from the columns, and the other way round. The most that a row had when it was taken
away is a lower bound for the colours of columns. Then columns that some entry is read from are coloured, such that two
of them differ if they have entries in the same row and one of these is read from its column; rows in the same way.
That is a star bicolouring (Gebremedhin, Manne, Pothen 2005, section 5).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from wengert.graphs.kernels.bicoloring import distinct, peel
from wengert.graphs.ordering import hops_of, ordered
from wengert.graphs.partial import distance_two
from wengert.graphs.pattern import INDEX, Neighbours, both_sides, by_columns, columns_to_rows, rows_of, rows_to_columns
from wengert.graphs.running import Run


def star_bicoloring(pattern: sp.csr_array, order: str, seed: int, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Colours of rows and of columns, -1 for those from which nothing is read."""
    m, n = pattern.shape
    rows, columns = rows_to_columns(pattern), columns_to_rows(pattern)
    from_columns = _peeled(pattern, run)
    place = ordered(hops_of(both_sides(pattern)), order, seed, run)
    turned = by_columns(pattern)
    best = (
        _coloured(rows, columns, ~from_columns, ~from_columns[turned], place[place < m], run),
        _coloured(columns, rows, from_columns[turned], from_columns, place[place >= m] - m, run),
    )
    # One kind alone may do with fewer; it needs at least as many colours as the longest line has entries
    for side, (graph, back) in enumerate(((rows, columns), (columns, rows))):
        if back.degrees.max(initial=0) < _count(best):
            alone = distance_two(graph, back, order, seed, run)
            other = np.full(n if side == 0 else m, -1, INDEX)
            pair = (alone, other) if side == 0 else (other, alone)
            if _count(pair) < _count(best):
                best = pair
    return best


def _count(colors: tuple[np.ndarray, np.ndarray]) -> int:
    return int(colors[0].max(initial=-1) + colors[1].max(initial=-1)) + 2


def _peeled(pattern: sp.csr_array, run: Run) -> np.ndarray:
    """Which entries are read from their columns."""
    m, n = pattern.shape
    start, other = both_sides(pattern)
    size = m + n
    degrees = np.diff(start)
    top = int(degrees.max(initial=0)) + 1
    links = np.full(size, -1, INDEX), np.full(size, -1, INDEX)
    when = np.full(size, size, INDEX)
    run(peel, 4 * len(other), (m, size, start, other, top), (degrees, np.full(2 * top, -1, INDEX), *links, when))
    return when[rows_of(pattern)] < when[m + pattern.indices.astype(INDEX)]


def _coloured(
    graph: Neighbours, back: Neighbours, read_here: np.ndarray, read_back: np.ndarray, order: np.ndarray, run: Run
) -> np.ndarray:
    """Colours of the vertices from which something is read; `read_here` says so of each entry, in the graph's order."""
    # The entries of each vertex on the other side, those first that are read from this side
    lines = np.repeat(np.arange(back.size, dtype=INDEX), back.degrees)
    first = np.lexsort((~read_back, lines))
    ends = back.other[first]
    until = back.start[:-1] + np.bincount(lines[read_back], minlength=back.size)
    needed = np.zeros(graph.size, bool)
    needed[np.repeat(np.arange(graph.size), graph.degrees)[read_here]] = True
    order = np.ascontiguousarray(order[needed[order]])
    colors = np.full(graph.size, -1, INDEX)
    work = int((np.where(read_here, back.degrees[graph.other], (until - back.start[:-1])[graph.other])).sum())
    read = len(order), order, *graph, read_here.astype(INDEX), back.start, until, ends
    run(distinct, work, read, (np.full(len(order) + 1, -1, INDEX), colors))
    return colors
