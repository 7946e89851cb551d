"""Colourings of the graph of a symmetric matrix: star (decompressed directly) and acyclic (by substitution).

Neighbours have different colours. In a star colouring no path of four vertices has only two colours, so that the edges
between any two colours form stars; in an acyclic colouring no cycle has only two, so that they form trees.

Both are greedy, and both keep the two-coloured structures that arise (Gebremedhin, Tarafdar, Manne, Pothen 2007,
algorithms 4.1 and 3.1). What these algorithms find by going through the neighbours of a neighbour is found here by its
*bundles*: a bundle (w, c) is all edges from the vertex w to neighbours of colour c. All edges of a bundle lie in the
same star or tree, and a vertex has as many as its neighbours have colours, so that one vertex that is a neighbour of
all others does not make the time quadratic. Bundles are kept in a hash table with open addressing; a bundle is its
place.
"""

from __future__ import annotations

import numpy as np

from wengert.graphs.kernels.symmetric import acyclic, star
from wengert.graphs.pattern import INDEX, Neighbours
from wengert.graphs.running import Run


def star_coloring(graph: Neighbours, order: np.ndarray, run: Run) -> np.ndarray:
    """Colours of the vertices, of which any path of four has at least three."""
    n, edges = graph.size, len(graph.other)
    colors = np.full(n, -1, INDEX)
    size = _table_size(edges)
    room = lambda: np.empty(edges, INDEX)
    count = lambda: np.zeros(n, INDEX)
    marks = lambda: np.full(n + 1, -1, INDEX)
    table = np.zeros(size, INDEX), np.empty(size, INDEX)
    written = *table, room(), count(), room(), count(), marks(), marks(), marks(), colors
    run(star, 4 * edges, (n, order, *graph, size - 1), written)
    return colors


def acyclic_coloring(graph: Neighbours, order: np.ndarray, run: Run) -> np.ndarray:
    """Colours of the vertices, of which any cycle has at least three."""
    n, edges = graph.size, len(graph.other)
    colors = np.full(n, -1, INDEX)
    size = _table_size(edges)
    table = np.zeros(size, INDEX), np.arange(size, dtype=INDEX), np.full(size, -1, INDEX)
    written = *table, np.empty(edges, INDEX), np.zeros(n, INDEX), np.full(n + 1, -1, INDEX), colors
    run(acyclic, 8 * edges, (n, order, *graph, size - 1), written)
    return colors


def _table_size(bundles: int) -> int:
    """A power of two that leaves a third of the table free."""
    return 1 << (3 * bundles // 2 + 1).bit_length()
