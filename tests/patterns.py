"""Families of sparsity patterns, and what a colouring is, by definition: the slow way, with sets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp


def pattern(m: int, n: int, entries: Iterable[tuple[int, int]]) -> np.ndarray:
    made = np.zeros((m, n), bool)
    for i, j in entries:
        made[i, j] = True
    return made


def banded(n: int, half: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= half


def stencil(shape: tuple[int, ...], corners: bool, periodic: bool = False) -> np.ndarray:
    """Neighbours on a grid: along the axes, or also across corners."""
    places = np.array(list(np.ndindex(shape)))
    apart = np.abs(places[:, None] - places[None])
    if periodic:
        apart = np.minimum(apart, np.array(shape) - apart)
    return (apart.max(-1) if corners else apart.sum(-1)) <= 1


def brusselator(side: int) -> np.ndarray:
    """Two species on a periodic grid: the five-point stencil of each, and the other species at the same place."""
    own, other = stencil((side, side), corners=False, periodic=True), np.eye(side * side, dtype=bool)
    return np.block([[own, other], [other, own]])


def cyclic(n: int) -> np.ndarray:
    return stencil((n,), corners=False, periodic=True)


def arrow(n: int, width: int = 1) -> np.ndarray:
    made = np.eye(n, dtype=bool)
    made[:width] = made[:, :width] = True
    return made


def bundle_adjustment(cameras: int, points: int, seed: int = 0) -> np.ndarray:
    """Two residuals for each point that a camera sees, of the camera's 3 parameters and the point's 2."""
    rng = np.random.default_rng(seed)
    seen = [(c, p) for p in range(points) for c in rng.choice(cameras, 2, replace=False)]
    made = np.zeros((2 * len(seen), 3 * cameras + 2 * points), bool)
    for k, (c, p) in enumerate(seen):
        made[2 * k : 2 * k + 2, 3 * c : 3 * c + 3] = True
        made[2 * k : 2 * k + 2, 3 * cameras + 2 * p : 3 * cameras + 2 * p + 2] = True
    return made


def scattered(m: int, n: int, density: float, seed: int, symmetric: bool = False) -> np.ndarray:
    made = np.random.default_rng(seed).random((m, n)) < density
    return made | made.T if symmetric else made


SQUARE = {
    "tridiagonal": banded(20, 1),
    "pentadiagonal": banded(17, 2),
    "five-point": stencil((5, 6), corners=False),
    "nine-point": stencil((4, 5), corners=True),
    "seven-point": stencil((3, 3, 3), corners=False),
    "five-point, periodic": stencil((4, 5), corners=False, periodic=True),
    "cyclic": cyclic(9),
    "arrow": arrow(12),
    "wide arrow": arrow(12, 3),
    "Kronecker": np.kron(banded(5, 1), np.ones((3, 3), bool)),
    "diagonal": np.eye(6, dtype=bool),
    "empty": np.zeros((5, 5), bool),
    "full": np.ones((6, 6), bool),
    "no diagonal": banded(9, 1) & ~np.eye(9, dtype=bool),
    "complete bipartite": np.block([[np.zeros((3, 3), bool), np.ones((3, 5), bool)],
                                    [np.ones((5, 3), bool), np.zeros((5, 5), bool)]]),
    "one": np.ones((1, 1), bool),
    "none": np.zeros((0, 0), bool),
    **{f"scattered {seed}": scattered(14, 14, 0.12, seed, symmetric=True) for seed in range(6)},
}  # fmt: skip

RECTANGULAR = {
    "Brusselator": brusselator(3),
    "triangle": pattern(3, 3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 2)]),
    "anti-diagonal": np.eye(4, dtype=bool)[::-1],
    "bundle adjustment": bundle_adjustment(3, 6),
    "upper triangular": np.triu(np.ones((7, 7), bool)),
    "dense row": np.vstack([np.ones((1, 9), bool), np.eye(9, dtype=bool)]),
    "dense column": np.hstack([np.ones((9, 1), bool), np.eye(9, dtype=bool)]),
    "dense rows and columns": scattered(15, 15, 0.06, 1) | arrow(15, 2)[::-1],
    "no rows": np.zeros((0, 5), bool),
    "no columns": np.zeros((5, 0), bool),
    **{f"scattered {seed}": scattered(9 + seed, 14, 0.15, seed) for seed in range(6)},
}

ALL = {**SQUARE, **{f"{name}, rectangular": made for name, made in RECTANGULAR.items()}}


# --------------------------------------------------------------------------------------------- by definition


def is_column_coloring(made: np.ndarray, colors: np.ndarray) -> bool:
    """In no row have two entries the same colour. Columns without a colour (-1) count as not there."""
    return all(
        colors[j] != colors[k] for row in made for j, k in itertools.combinations(np.flatnonzero(row), 2)
        if colors[j] >= 0 and colors[k] >= 0
    )  # fmt: skip


def neighbours(made: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(row)) - {i} for i, row in enumerate(made)]


def is_star_coloring(made: np.ndarray, colors: np.ndarray) -> bool:
    """Neighbours differ, and no path of four vertices has only two colours."""
    near = neighbours(made)
    has = lambda v: colors[v] >= 0
    for v in range(len(near)):
        for w in near[v]:
            if has(v) and has(w) and colors[v] == colors[w]:
                return False
            for x in near[w] - {v}:
                for y in near[x] - {v, w}:
                    if all(map(has, (v, w, x, y))) and colors[v] == colors[x] and colors[w] == colors[y]:
                        return False
    return True


def is_acyclic_coloring(made: np.ndarray, colors: np.ndarray) -> bool:
    """Neighbours differ, and the vertices of any two colours are a forest: fewer edges than vertices in each part."""
    near = neighbours(made)
    if any(colors[v] == colors[w] >= 0 for v in range(len(near)) for w in near[v]):
        return False
    for b, c in itertools.combinations(sorted(set(colors[colors >= 0])), 2):
        part = np.flatnonzero((colors == b) | (colors == c))
        inside = made[np.ix_(part, part)] & ~np.eye(len(part), dtype=bool)
        parts = sp.csgraph.connected_components(sp.csr_array(inside), directed=False)[0]
        if inside.sum() // 2 != len(part) - parts:
            return False
    return True


def is_bicoloring(made: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> bool:
    """Each entry is the only one of its column's colour in its row, or of its row's colour in its column."""
    for i, j in zip(*np.nonzero(made), strict=True):
        in_row = columns[j] >= 0 and sum(columns[k] == columns[j] for k in np.flatnonzero(made[i])) == 1
        in_column = rows[i] >= 0 and sum(rows[k] == rows[i] for k in np.flatnonzero(made[:, j])) == 1
        if not (in_row or in_column):
            return False
    return True


def greedy(made: np.ndarray, order: Iterable[int], allowed) -> np.ndarray:
    """The least colour that is allowed, one vertex after the other."""
    colors = np.full(made.shape[1], -1)
    for v in order:
        colors[v] = 0
        while not allowed(made, colors):
            colors[v] += 1
    return colors
