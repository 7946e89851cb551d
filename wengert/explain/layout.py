"""Where the nodes of a directed acyclic graph are drawn: layers from left to right, few crossings, short edges.

The method of Sugiyama, Tagawa and Toda (1981), in four steps:

1. Layers. Every node as late as its successors allow (the longest path to a sink); then nodes with more edges coming in
   than going out are moved as early as possible, which makes edges shorter.
2. An edge over several layers gets a dummy node in each of those between.
3. Order. Sweeps over the layers put each node at the barycentre of its neighbours; the order with the fewest crossings
   is kept (crossings are counted as inversions).
4. Coordinates. Sweeps put each node at the mean of its neighbours as nearly as the order and the distances between
   nodes allow: least squares under these constraints, an isotonic regression, solved exactly by pooling neighbours.

Nodes are numbered in a topological order: every edge goes from a smaller number to a larger one.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

_LONGEST_ROUTED = 40
"""Edges over more layers than this are drawn as one curve, without dummy nodes."""
_THIN = 2.0
"""The height of a dummy node."""
_ORDER_SWEEPS = 24
_PLACE_SWEEPS = 14


@dataclass(slots=True)
class GraphLayout:
    """Centres of the nodes, and for each edge the points it passes through, its ends included."""

    centres: list[Point]
    routes: list[list[Point]]
    width: float
    height: float


@dataclass(slots=True)
class _Layered:
    """The graph with dummy nodes: nodes by layer, neighbours on either side, heights."""

    layers: list[list[int]]
    before: list[list[int]]
    after: list[list[int]]
    heights: list[float]
    chains: list[list[int]]


def layout(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    first: Mapping[int, int] | None = None,
    gap: tuple[float, float] = (56.0, 26.0),
) -> GraphLayout:
    """Centres and routes for nodes of given widths and heights; `first` says which nodes must be in which layer.

    >>> layout([(10, 10)] * 3, [(0, 1), (1, 2)], gap=(20, 10)).centres
    [(5.0, 5.0), (35.0, 5.0), (65.0, 5.0)]
    """
    n = len(sizes)
    if n == 0:
        return GraphLayout([], [], 0.0, 0.0)
    layer = layers_of(n, edges, first)
    graph = _with_dummies(sizes, edges, layer)
    _order(graph)
    ys = _coordinates(graph, gap[1])
    xs = _columns(graph, sizes, gap[0], n)
    low = min(ys[v] - graph.heights[v] / 2 for v in range(len(ys)))
    high = max(ys[v] + graph.heights[v] / 2 for v in range(len(ys)))
    column = {v: x for x, nodes in zip(xs, graph.layers, strict=True) for v in nodes}
    points = [(column[v], ys[v] - low) for v in range(len(ys))]
    right = max(points[v][0] + sizes[v][0] / 2 for v in range(n))
    return GraphLayout(points[:n], [[points[v] for v in chain] for chain in graph.chains], right, high - low)


# ---------------------------------------------------------------------------------------------------------- 1. layers


def layers_of(n: int, edges: Sequence[tuple[int, int]], first: Mapping[int, int] | None = None) -> list[int]:
    """The layer of each node.

    >>> layers_of(4, [(0, 2), (1, 2), (2, 3), (1, 3)], first={0: 0, 1: 0})
    [0, 0, 1, 2]
    """
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        before[v].append(u)
        after[u].append(v)
    to_sink = [0] * n
    for v in range(n - 1, -1, -1):
        to_sink[v] = max([to_sink[w] + 1 for w in after[v]], default=0)
    last = max(to_sink, default=0)
    layer = [last - d for d in to_sink]
    pinned = first or {}
    for v, k in pinned.items():
        layer[v] = k
    for v in range(n):
        earliest = max([layer[u] + 1 for u in before[v]], default=0)
        if v not in pinned and len(before[v]) > len(after[v]):
            layer[v] = earliest
    return layer


# ---------------------------------------------------------------------------------------------------- 2. dummy nodes


def _with_dummies(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], layer: list[int]) -> _Layered:
    n = len(sizes)
    heights = [h for _, h in sizes]
    layers: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for v in range(n):
        layers[layer[v]].append(v)
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    chains = []
    for u, v in edges:
        chain = [u]
        if layer[v] - layer[u] <= _LONGEST_ROUTED:
            for between in range(layer[u] + 1, layer[v]):
                heights.append(_THIN)
                before.append([])
                after.append([])
                layers[between].append(len(heights) - 1)
                chain.append(len(heights) - 1)
        chain.append(v)
        if len(chain) - 1 == layer[v] - layer[u]:
            for a, b in pairwise(chain):
                after[a].append(b)
                before[b].append(a)
        chains.append(chain)
    return _Layered(layers, before, after, heights, chains)


# ---------------------------------------------------------------------------------------------------------- 3. order


def _order(graph: _Layered) -> None:
    """Put each layer into an order with few crossings."""
    best = [list(nodes) for nodes in graph.layers]
    fewest = _crossings(graph)
    for sweep in range(_ORDER_SWEEPS):
        if fewest == 0:
            break
        forwards = sweep % 2 == 0
        order = range(1, len(graph.layers)) if forwards else range(len(graph.layers) - 2, -1, -1)
        for k in order:
            neighbours = graph.before if forwards else graph.after
            beside = graph.layers[k - 1 if forwards else k + 1]
            position = {v: i for i, v in enumerate(beside)}
            own = {v: i for i, v in enumerate(graph.layers[k])}

            def centre(v: int, near: list[list[int]] = neighbours, at: dict = position, old: dict = own) -> float:
                known = [at[u] for u in near[v] if u in at]
                return sum(known) / len(known) if known else old[v]

            graph.layers[k].sort(key=centre, reverse=False)
        found = _crossings(graph)
        if found < fewest:
            fewest, best = found, [list(nodes) for nodes in graph.layers]
    graph.layers[:] = best


def _crossings(graph: _Layered) -> int:
    total = 0
    for left, right in pairwise(graph.layers):
        position = {v: i for i, v in enumerate(right)}
        seen: list[int] = []
        for u in left:
            ends = sorted(position[v] for v in graph.after[u])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# ---------------------------------------------------------------------------------------------------- 4. coordinates


def _coordinates(graph: _Layered, gap: float) -> list[float]:
    """The height of each node's centre."""
    y = [0.0] * len(graph.heights)
    for nodes in graph.layers:
        at = 0.0
        for k, v in enumerate(nodes):
            at += _distance(graph, nodes[k - 1], v, gap) if k else 0.0
            y[v] = at
    for sweep in range(_PLACE_SWEEPS):
        last = sweep >= _PLACE_SWEEPS - 4
        forwards = sweep % 2 == 0
        for nodes in graph.layers if forwards else reversed(graph.layers):
            wanted, weights = [], []
            for v in nodes:
                near = graph.before[v] + graph.after[v] if last else graph.before[v] if forwards else graph.after[v]
                wanted.append(sum(y[u] for u in near) / len(near) if near else y[v])
                weights.append(4.0 if graph.heights[v] <= _THIN else 1.0 + 0.1 * len(near))
            offsets = [0.0]
            for a, b in pairwise(nodes):
                offsets.append(offsets[-1] + _distance(graph, a, b, gap))
            pooled = isotonic([w - o for w, o in zip(wanted, offsets, strict=True)], weights)
            for v, z, o in zip(nodes, pooled, offsets, strict=True):
                y[v] = z + o
    return y


def _distance(graph: _Layered, a: int, b: int, gap: float) -> float:
    """How far apart the centres of two neighbours in a layer must be; edges may pass closer to each other."""
    thin = (graph.heights[a] <= _THIN) + (graph.heights[b] <= _THIN)
    return (graph.heights[a] + graph.heights[b]) / 2 + (gap, 0.75 * gap, 9.0)[thin]


def isotonic(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nondecreasing numbers nearest to those wanted, by weighted least squares (pool adjacent violators).

    >>> isotonic([1, 3, 2, 4], [1, 1, 1, 1])
    [1.0, 2.5, 2.5, 4.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(wanted, weights, strict=True):
        pool = (float(value), weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            before = pools.pop()
            total = before[1] + pool[1]
            pool = ((before[0] * before[1] + pool[0] * pool[1]) / total, total, before[2] + pool[2])
        pools.append(pool)
    return [value for value, _, count in pools for _ in range(count)]


def _columns(graph: _Layered, sizes: Sequence[tuple[float, float]], gap: float, n: int) -> list[float]:
    """The horizontal centre of each layer."""
    centres, at = [], 0.0
    for nodes in graph.layers:
        width = max([sizes[v][0] for v in nodes if v < n], default=0.0)
        centres.append(at + width / 2)
        at += width + gap
    return centres
