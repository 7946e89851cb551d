"""Columns (or rows) of which no two in a group have an entry in the same row (or column).

Greedy distance-2 colouring of one side of the bipartite graph (Gebremedhin, Manne, Pothen 2005, algorithm 3.1), after
Curtis, Powell and Reid 1974. Each row keeps the colours it has. Of those only the ones above its first gap are listed:
a dense row, in which most colours below some number are taken, is not read again for each of its columns, so that one
dense row does not make the time quadratic.
"""

from __future__ import annotations

import numpy as np

from wengert.graphs.kernels.partial import greedy
from wengert.graphs.ordering import Hops
from wengert.graphs.pattern import INDEX
from wengert.graphs.running import Run


def distance_two(hops: Hops, order: np.ndarray, run: Run) -> np.ndarray:
    """Colours of the vertices: those with a neighbour in common have different ones."""
    n, m = hops.size, len(hops.begin) - 1
    colors = np.full(n, -1, INDEX)
    listed = np.empty(len(hops.end), INDEX)
    read = n, order, hops.start, hops.middle, hops.begin
    run(greedy, hops.work, read, (np.zeros(m, INDEX), np.zeros(m, INDEX), listed, np.full(n + 1, -1, INDEX), colors))
    return colors
