"""The order in which a greedy colouring comes to its vertices (Gebremedhin, Manne, Pothen 2005, section 3).

Neighbours are those whose colour must differ, for a column those it shares a row with. They are reached in two hops:
`start[v] : start[v + 1]` are places in `middle`, and `begin[r] : begin[r + 1]`, for each r there, places in `end`. With
columns for vertices and rows in the middle that is the column intersection graph, which is never formed. An ordinary
graph has one vertex in the middle for each edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wengert.graphs.kernels.ordering import by_rank, degrees_in
from wengert.graphs.pattern import INDEX, Neighbours
from wengert.graphs.running import Run

ORDERS = ("natural", "largest-first", "smallest-last", "incidence", "random")


class Hops(NamedTuple):
    """Neighbours in two hops."""

    start: np.ndarray
    middle: np.ndarray
    begin: np.ndarray
    end: np.ndarray

    @property
    def size(self) -> int:
        return len(self.start) - 1

    @property
    def work(self) -> int:
        """How many ends are reached from all vertices together."""
        return int(np.diff(self.begin)[self.middle].sum())


def hops_of(graph: Neighbours, back: Neighbours | None = None) -> Hops:
    """Neighbours in a graph; with `back`, vertices of the same side that have a neighbour in common."""
    if back is None:
        count = len(graph.other)
        return Hops(graph.start, np.arange(count, dtype=INDEX), np.arange(count + 1, dtype=INDEX), graph.other)
    return Hops(*graph, *back)


def ordered(hops: Hops, order: str, seed: int, run: Run) -> np.ndarray:
    """The vertices in an order that is given by name."""
    n = hops.size
    if order == "natural":
        return np.arange(n, dtype=INDEX)
    if order == "random":
        return np.random.default_rng(seed).permutation(n).astype(INDEX)
    degrees = np.zeros(n, INDEX)
    run(degrees_in, hops.work, (n, *hops), (degrees, np.full(n, -1, INDEX)))
    largest_first = np.argsort(-degrees, kind="stable").astype(INDEX)
    if order == "largest-first":
        return largest_first
    # Smallest last: the last one has the fewest neighbours, the one before it the fewest among those that are left, and
    # so on. Incidence: the next one has the most neighbours that have come already, of equals the largest degree. In
    # both whoever is taken brings its neighbours forward. Of equals the first is taken, in any order of the hops.
    vertices = np.arange(n, dtype=INDEX)
    rank = np.empty(n, INDEX)
    if order == "smallest-last":
        rank[:] = degrees * n + vertices
    else:
        rank[largest_first] = vertices
    heap = np.argsort(rank).astype(INDEX)  # sorted, so it is a heap
    place = np.empty(n, INDEX)
    place[heap] = vertices
    found = np.empty(n, INDEX)
    run(by_rank, 4 * hops.work, (n, *hops), (rank, heap, place, np.full(n, -1, INDEX), found))
    return found[::-1].copy() if order == "smallest-last" else found
