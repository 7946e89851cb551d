"""Columns (or rows) of which no two in a group have an entry in the same row (or column).

A greedy distance-2 colouring of one side of the bipartite graph (Gebremedhin, Manne, Pothen 2005, algorithm 3.1), after
Curtis, Powell and Reid 1974. Each row keeps the colours it has. Of those only the ones above its first gap are listed:
a dense row, in which most colours below some number are taken, is not read again for each of its columns, so that one
dense row does not make the time quadratic.

There are at least as many colours as entries in the longest row. If there are more, a periodic colouring may have fewer
(`lattice.py`). Otherwise the columns are coloured again, colour by colour, which never takes more colours, and often
one less (Culberson 1992, iterated greedy).
"""

from __future__ import annotations

import numpy as np

from wengert.graphs.kernels.partial import greedy
from wengert.graphs.lattice import periodic_coloring
from wengert.graphs.ordering import Hops, hops_of, ordered
from wengert.graphs.pattern import INDEX, Neighbours, without_equal_rows
from wengert.graphs.running import Run

_AGAIN = 4
"""How often the columns are coloured again."""


def distance_two(graph: Neighbours, back: Neighbours, order: str, seed: int, run: Run) -> np.ndarray:
    """Colours of the vertices of one side: those with a neighbour in common have different ones."""
    graph, back = without_equal_rows(graph, back)
    hops = hops_of(graph, back)
    colors = in_order(hops, ordered(hops, order, seed, run), run)
    fewest = int(back.degrees.max(initial=0))
    if colors.max(initial=-1) >= max(fewest, 1):
        periodic = periodic_coloring(back, graph.size, fewest, int(colors.max()), run)
        if periodic is not None:
            return periodic
    for again in range(_AGAIN):
        if colors.max(initial=-1) < max(fewest, 1):
            break
        # Either the colours from last to first, or those with the most columns first
        sizes = np.bincount(colors)
        rank = -np.arange(len(sizes)) if again % 2 == 0 else np.argsort(np.argsort(-sizes, kind="stable"))
        colors = in_order(hops, np.argsort(rank[colors], kind="stable").astype(INDEX), run)
    return colors


def in_order(hops: Hops, order: np.ndarray, run: Run) -> np.ndarray:
    """The least colour that is possible for each vertex, one after the other."""
    n, m = hops.size, len(hops.begin) - 1
    colors = np.full(n, -1, INDEX)
    listed = np.empty(len(hops.end), INDEX)
    read = n, order, hops.start, hops.middle, hops.begin
    run(greedy, hops.work, read, (np.zeros(m, INDEX), np.zeros(m, INDEX), listed, np.full(n + 1, -1, INDEX), colors))
    return colors
