"""Steps of least squares with a sparse Jacobian: (JᵀJ + D) d = −Jᵀf.

Structure is found from the pattern of J alone. Columns with the same rows are taken together, and with those that have
to do with almost the same others; of these groups as many as possible are chosen that have no row in common with each
other, those with the fewest neighbours first. In bundle
adjustment these are the points, or, where there are more of them, the cameras. They are eliminated (Schur complement,
`algorithms/schur.py`), and what is left is a small dense system. Where that does not pay the whole system goes to
SuperLU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse import csr_array
from scipy.sparse.linalg import splu

from wengert.algorithms import schur as kernels
from wengert.api.jit import jit

_LARGEST_GROUP = 16
_LARGEST_REST = 5000
"""Unknowns that may be left for a dense system."""
_LARGEST_OWN = 1000
"""Up to so many of them a loop of our own factors the system."""
_WORTH = 0.3
"""The part of the unknowns that must be eliminated for the complement to pay."""
_MOST_PAIRS = 50_000_000
_MOST_NEAR = 200_000
_OVERHEAD = 30
"""What a product of two blocks of the rest costs beside its elements."""
_WORTH_COMPILING = 200_000
"""How many steps take Python, in all iterations, about as long as it takes to compile them."""


@cache
def _compiled(kernel: Callable) -> Callable:
    return jit(kernel)


def of_columns(jacobian: csr_array, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares of the columns, and Jᵀ f."""
    n = jacobian.shape[1]
    if jacobian.nnz < _WORTH_COMPILING:
        return np.bincount(jacobian.indices, jacobian.data**2, minlength=n), jacobian.T @ f
    squares, gradient = np.zeros(n), np.zeros(n)
    _compiled(kernels.of_columns)(jacobian.data, jacobian.indices, jacobian.indptr, f, squares, gradient)
    return squares, gradient


def solver_for(pattern: csr_array) -> Any:
    """What solves the systems of a pattern."""
    chosen = eliminated(pattern)
    return WholeSystem(pattern) if chosen is None else Complement(pattern, *chosen)


def eliminated(pattern: csr_array) -> tuple[np.ndarray, np.ndarray] | None:
    """Groups of columns that are eliminated: the group of each column, −1 for the rest, and its place in the group."""
    m, n = pattern.shape
    group = _alike(pattern)
    count = int(group.max(initial=-1)) + 1
    sizes = np.bincount(group, minlength=count)
    rows = np.repeat(np.arange(m), np.diff(pattern.indptr))
    ones = np.ones(pattern.nnz)
    incidence = csr_array((ones, (rows, group[pattern.indices])), shape=(m, count))
    incidence.sum_duplicates()
    if np.sum(np.diff(incidence.indptr).astype(float) ** 2) > _MOST_PAIRS:
        return None
    touching = csr_array(incidence.T @ incidence)
    joined = _joined(touching, sizes)
    if joined is not None:
        group, count = joined[group], int(joined.max()) + 1
        sizes = np.bincount(group, minlength=count)
        members = csr_array((np.ones(len(joined)), (np.arange(len(joined)), joined)), shape=(len(joined), count))
        touching = csr_array(members.T @ touching @ members)
    start, other = touching.indptr, touching.indices
    taken = np.zeros(count, bool)
    barred = np.zeros(count, bool)
    for g in np.lexsort((-sizes, np.diff(start))).tolist():
        if not barred[g] and sizes[g] <= _LARGEST_GROUP:
            barred[other[start[g] : start[g + 1]]] = True
            taken[g] = True
    rest = n - int(np.sum(sizes[taken]))
    if rest > _LARGEST_REST or rest > (1 - _WORTH) * n:
        return None
    number = np.where(taken, np.cumsum(taken) - 1, -1)[group]
    order = np.argsort(group, kind="stable")
    place = np.empty(n, int)
    place[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return number, place


def _alike(pattern: csr_array) -> np.ndarray:
    """Numbers of groups of columns that have the same rows; such groups are told apart by sums of random numbers."""
    m, n = pattern.shape
    random = np.random.default_rng(0).integers(1, 2**61, (2, m))
    rows = np.repeat(np.arange(m), np.diff(pattern.indptr))
    sums = np.zeros((2, n), np.int64)
    for k in range(2):
        np.add.at(sums[k], pattern.indices, random[k][rows])  # wraps around, which does no harm
    return np.unique(sums, axis=1, return_inverse=True)[1].ravel()


def _joined(touching: csr_array, sizes: np.ndarray) -> np.ndarray | None:
    """New numbers of groups, with those joined that have to do with the same others, up to a few: the coordinates of
    one camera, say, of which each shows in some of its residuals only. `None` if there are no such groups."""
    degree = np.diff(touching.indptr)
    first = np.repeat(np.arange(len(degree)), degree)
    second = touching.indices
    near = (first != second) & (degree[first] <= degree[second]) & (degree[second] <= 1.25 * degree[first] + 2)
    pairs = np.flatnonzero(near & (sizes[first] + sizes[second] <= _LARGEST_GROUP))
    if not len(pairs) or len(pairs) > _MOST_NEAR:
        return None
    into = np.arange(len(degree))
    total = sizes.copy()
    neighbours = lambda g: second[touching.indptr[g] : touching.indptr[g + 1]]
    for a, b in zip(first[pairs].tolist(), second[pairs].tolist(), strict=True):
        while into[b] != b:
            b = into[b]
        if into[a] == a and a != b and total[a] + total[b] <= _LARGEST_GROUP:
            if np.isin(neighbours(a), neighbours(b), assume_unique=True).all():
                into[a] = b
                total[b] += total[a]
    while np.any(into != into[into]):
        into = into[into]
    return np.unique(into, return_inverse=True)[1]


class WholeSystem:
    """All unknowns at once, by a sparse factorisation of JᵀJ + D."""

    description = "sparse factorisation"

    def __init__(self, pattern: csr_array):
        self._square: Any = None
        self._gradient: Any = None

    def take(self, jacobian: csr_array, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The Jacobian and the residuals at a new point: sums of squares of the columns, and Jᵀ f."""
        self._square = (jacobian.T @ jacobian).tocsc()
        self._gradient = jacobian.T @ f
        return self._square.diagonal(), self._gradient

    def step(self, diagonal: np.ndarray) -> np.ndarray:
        """The step for a damping."""
        matrix = (self._square + scipy.sparse.diags_array(diagonal)).tocsc()
        found = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return -found.solve(self._gradient)


class Blocks(NamedTuple):
    """The rest of the unknowns in blocks of `width`: those that have to do with the same groups, in so many blocks, of
    which the last one may have room left."""

    width: int
    many: int
    place: np.ndarray
    """Of each of all columns, counted through the blocks; −1 for those of groups."""

    def matrix(self, blocks: np.ndarray) -> np.ndarray:
        """A matrix of blocks as one of numbers."""
        n = self.many * self.width
        return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3)).reshape(n, n)


def _in_blocks(rest: np.ndarray, groups: np.ndarray, columns: np.ndarray, n: int) -> Blocks:
    """The rest in blocks; `groups` and `columns` say which groups have residuals in common with which unknowns."""
    random = np.random.default_rng(0).integers(1, 2**61, int(groups.max(initial=-1)) + 1)
    kinds, degrees = np.zeros(n, np.int64), np.bincount(columns, minlength=n)
    np.add.at(kinds, columns, random[groups])  # wraps around, which does no harm
    _, first, kind, sizes = np.unique(kinds[rest], return_index=True, return_inverse=True, return_counts=True)
    weights = degrees[rest][first] + 1.0
    cost = lambda width: np.sum(weights * np.ceil(sizes / width)) ** 2 * (width**2 + _OVERHEAD)
    width = min(range(1, _LARGEST_GROUP + 1), key=cost)
    blocks = -(-sizes // width)
    order = np.argsort(kind, kind="stable")
    inside = np.arange(len(rest)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.full(n, -1)
    place[rest[order]] = np.repeat((np.cumsum(blocks) - blocks) * width, sizes) + inside
    return Blocks(width, int(np.sum(blocks)), place)


class Bucket:
    """Groups of one size: index arrays for the kernels, and the blocks they fill."""

    def __init__(self, pattern: csr_array, size: int, columns: np.ndarray, group_of: np.ndarray, place: np.ndarray,
                 blocks: Blocks):  # fmt: skip
        """`columns` are those of the groups; `group_of` gives each of all columns its group here, or −1."""
        groups, width = len(columns) // size, blocks.width
        self.columns = np.empty((groups, size), int)
        self.columns[group_of[columns], place[columns]] = columns
        of_row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        of_group = group_of[pattern.indices]
        row_group = np.full(pattern.shape[0], -1)
        row_group[of_row[of_group >= 0]] = of_group[of_group >= 0]
        rows = np.flatnonzero(row_group >= 0)
        rows = rows[np.argsort(row_group[rows], kind="stable")]
        self.rows = rows
        self.first = np.concatenate(([0], np.cumsum(np.bincount(row_group[rows], minlength=groups))))
        number = np.full(pattern.shape[0], -1)  # of a row among these
        number[rows] = np.arange(len(rows))
        mine = np.flatnonzero(of_group >= 0)
        self.inner = np.full((len(rows), size), pattern.nnz)  # where a zero stands behind the data
        self.inner[number[of_row[mine]], place[pattern.indices[mine]]] = mine
        others = np.flatnonzero((number[of_row] >= 0) & (of_group < 0))
        block, inside = np.divmod(blocks.place[pattern.indices[others]], width)
        ties, tie = np.unique(number[of_row[others]] * blocks.many + block, return_inverse=True)
        self.outer = np.full((len(ties), width), pattern.nnz)
        self.outer[tie.ravel(), inside] = others
        row, self.block = np.divmod(ties, blocks.many)
        self.start = np.searchsorted(row, np.arange(len(rows) + 1))
        distinct, place_of = np.unique(row_group[rows[row]] * blocks.many + self.block, return_inverse=True)
        self.place = place_of.ravel()
        self.outer_blocks = distinct % blocks.many
        self.begin = np.searchsorted(distinct, np.arange(groups + 1) * blocks.many)
        self.padded = bool(self.inner.max(initial=0) == pattern.nnz or self.outer.max(initial=0) == pattern.nnz)
        steps = np.sum((np.diff(self.start) * width + size) ** 2) + size * np.sum((np.diff(self.begin) * width) ** 2)
        self._run = _compiled if steps > _WORTH_COMPILING else lambda kernel: kernel
        self.v, self.factors = np.empty((groups, size, size)), np.empty((groups, size, size))
        self.w, self._y = np.empty((len(distinct), size, width)), np.empty((len(distinct), size, width))
        self.ge = np.empty((groups, size))

    def take(self, data: np.ndarray, f: np.ndarray, u: np.ndarray, gc: np.ndarray) -> None:
        """Fill the blocks, and add to those of the rest."""
        for filled in (self.v, self.w, self.ge):
            filled.fill(0.0)
        self._run(kernels.assemble)(data, f, self.first, self.rows, self.inner, self.start, self.outer, self.block,
                                    self.place, u, self.v, self.w, gc, self.ge)  # fmt: skip

    def eliminate(self, diagonal: np.ndarray, s: np.ndarray, rhs: np.ndarray) -> None:
        """Take these groups out of the system of the rest."""
        self._run(kernels.eliminate)(self.v, self.w, self.ge, diagonal[self.columns], self.begin, self.outer_blocks,
                                     self.factors, self._y, s, rhs)  # fmt: skip

    def back(self, c: np.ndarray, step: np.ndarray) -> None:
        """Compute the step of these groups."""
        e = np.zeros(self.columns.shape)
        self._run(kernels.back)(self.w, self.ge, self.begin, self.outer_blocks, self.factors, c, e)
        step[self.columns] = e


class Complement:
    """Some unknowns eliminated, the rest by a dense factorisation."""

    def __init__(self, pattern: csr_array, number: np.ndarray, place: np.ndarray):
        m, n = pattern.shape
        self.rest = np.flatnonzero(number < 0)
        of_row = np.repeat(np.arange(m), np.diff(pattern.indptr))
        of_group = number[pattern.indices]
        row_group = np.full(m, -1)
        row_group[of_row[of_group >= 0]] = of_group[of_group >= 0]
        shared = (of_group < 0) & (row_group[of_row] >= 0)
        pairs = np.unique(row_group[of_row[shared]] * n + pattern.indices[shared])
        self._blocks = _in_blocks(self.rest, *np.divmod(pairs, n), n)
        self._at = self._blocks.place[self.rest]
        sizes = np.bincount(number[number >= 0])
        self.buckets: list[Bucket] = []
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            renumbered = np.full(len(sizes) + 1, -1)
            renumbered[chosen] = np.arange(len(chosen))
            group_of = renumbered[number]  # −1 is the last
            columns = np.flatnonzero(group_of >= 0)
            self.buckets.append(Bucket(pattern, int(size), columns, group_of, place, self._blocks))
        self._alone = np.flatnonzero(row_group < 0)  # residuals of the rest only
        self.description = f"Schur complement: {n - len(self.rest)} of {n} unknowns eliminated"

    def take(self, jacobian: csr_array, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The Jacobian and the residuals at a new point: sums of squares of the columns, and Jᵀ f."""
        count, width = self._blocks.many, self._blocks.width
        self._u, self._gc = np.zeros((count, count, width, width)), np.zeros((count, width))
        if len(self._alone):
            part = jacobian[self._alone][:, self.rest]
            square = (part.T @ part).tocoo()
            i, a = np.divmod(self._at[square.row], width)
            j, b = np.divmod(self._at[square.col], width)
            self._u[i, j, a, b] += square.data
            self._gc.reshape(-1)[self._at] += part.T @ f[self._alone]
        data = np.append(jacobian.data, 0.0) if any(b.padded for b in self.buckets) else jacobian.data
        for bucket in self.buckets:
            bucket.take(data, f, self._u, self._gc)
        squares, gradient = np.empty(jacobian.shape[1]), np.empty(jacobian.shape[1])
        squares[self.rest] = np.einsum("iiaa->ia", self._u).reshape(-1)[self._at]
        gradient[self.rest] = self._gc.reshape(-1)[self._at]
        for bucket in self.buckets:
            squares[bucket.columns] = np.einsum("gaa->ga", bucket.v)
            gradient[bucket.columns] = bucket.ge
        return squares, gradient

    def step(self, diagonal: np.ndarray) -> np.ndarray:
        """The step for a damping."""
        blocks, of_blocks = self._u.copy(), self._gc.copy()
        for bucket in self.buckets:
            bucket.eliminate(diagonal, blocks, of_blocks)
        s, rhs = self._blocks.matrix(blocks), of_blocks.reshape(-1)
        added = np.ones(len(rhs))  # where blocks have room left
        added[self._at] = diagonal[self.rest]
        s.reshape(-1)[:: len(rhs) + 1] += added
        if len(rhs) ** 3 > _WORTH_COMPILING and len(rhs) <= _LARGEST_OWN:
            _compiled(kernels.solve)(s, rhs)
            c = -rhs
        elif len(rhs):
            c = -scipy.linalg.cho_solve(scipy.linalg.cho_factor(s, lower=True, check_finite=False), rhs)
        else:
            c = rhs
        step = np.zeros(len(diagonal))
        step[self.rest] = c[self._at]
        for bucket in self.buckets:
            bucket.back(c.reshape(-1, self._blocks.width), step)
        return step
