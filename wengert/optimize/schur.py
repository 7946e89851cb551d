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
from typing import Any

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

    def take(self, jacobian: csr_array, f: np.ndarray) -> None:
        """The Jacobian and the residuals at a new point."""
        self._square = (jacobian.T @ jacobian).tocsc()
        self._gradient = jacobian.T @ f

    def step(self, diagonal: np.ndarray) -> np.ndarray:
        """The step for a damping."""
        matrix = (self._square + scipy.sparse.diags_array(diagonal)).tocsc()
        found = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return -found.solve(self._gradient)


class Bucket:
    """Groups of one size: index arrays for the kernels, and the blocks they fill."""

    def __init__(self, pattern: csr_array, size: int, columns: np.ndarray, group_of: np.ndarray, place: np.ndarray,
                 rest: np.ndarray):  # fmt: skip
        """`columns` are those of the groups; `group_of` gives each of all columns its group here, or −1."""
        self.size = size
        groups = len(columns) // size
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
        others = others[np.lexsort((pattern.indices[others], number[of_row[others]]))]
        self.outer = others
        self.column = rest[pattern.indices[others]]
        counts = np.bincount(number[of_row[others]], minlength=len(rows))
        self.start = np.concatenate(([0], np.cumsum(counts)))
        pairs = row_group[of_row[others]] * (rest.max() + 1) + self.column
        distinct, place_of = np.unique(pairs, return_inverse=True)
        self.place = place_of.ravel()
        self.outer_columns = distinct % (rest.max() + 1)
        self.begin = np.searchsorted(distinct, np.arange(groups + 1) * (rest.max() + 1))
        steps = np.sum((counts + size) ** 2) + size * np.sum(np.diff(self.begin) ** 2)
        self._run = _compiled if steps > _WORTH_COMPILING else lambda kernel: kernel

    def take(self, data: np.ndarray, f: np.ndarray, u: np.ndarray, gc: np.ndarray) -> None:
        """Fill the blocks, and add to those of the rest."""
        groups, size = self.columns.shape
        self.v = np.zeros((groups, size, size))
        self.w = np.zeros((len(self.outer_columns), size))
        self.ge = np.zeros((groups, size))
        self._run(kernels.assemble)(data, f, self.first, self.rows, self.inner, self.start, self.outer, self.column,
                                    self.place, u, self.v, self.w, gc, self.ge)  # fmt: skip

    def eliminate(self, diagonal: np.ndarray, s: np.ndarray, rhs: np.ndarray) -> None:
        """Take these groups out of the system of the rest."""
        self.factors = np.zeros_like(self.v)
        self._run(kernels.eliminate)(self.v, self.w, self.ge, diagonal[self.columns], self.begin, self.outer_columns,
                                     self.factors, np.zeros_like(self.w), s, rhs)  # fmt: skip

    def back(self, c: np.ndarray, step: np.ndarray) -> None:
        """Compute the step of these groups."""
        e = np.zeros(self.columns.shape)
        self._run(kernels.back)(self.w, self.ge, self.begin, self.outer_columns, self.factors, c, e)
        step[self.columns] = e


class Complement:
    """Some unknowns eliminated, the rest by a dense factorisation."""

    def __init__(self, pattern: csr_array, number: np.ndarray, place: np.ndarray):
        n = pattern.shape[1]
        self.rest = np.flatnonzero(number < 0)
        where = np.full(n, -1)
        where[self.rest] = np.arange(len(self.rest))
        sizes = np.bincount(number[number >= 0])
        self.buckets: list[Bucket] = []
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            renumbered = np.full(len(sizes) + 1, -1)
            renumbered[chosen] = np.arange(len(chosen))
            group_of = renumbered[number]  # −1 is the last
            columns = np.flatnonzero(group_of >= 0)
            self.buckets.append(Bucket(pattern, int(size), columns, group_of, place, where))
        covered = np.zeros(pattern.shape[0], bool)
        for bucket in self.buckets:
            covered[bucket.rows] = True
        self._alone = np.flatnonzero(~covered)  # residuals of the rest only
        self.description = f"Schur complement: {n - len(self.rest)} of {n} unknowns eliminated"

    def take(self, jacobian: csr_array, f: np.ndarray) -> None:
        """The Jacobian and the residuals at a new point."""
        k = len(self.rest)
        self._u, self._gc = np.zeros((k, k)), np.zeros(k)
        if len(self._alone):
            part = jacobian[self._alone][:, self.rest]
            self._u += (part.T @ part).toarray()
            self._gc += part.T @ f[self._alone]
        data = np.append(jacobian.data, 0.0)
        for bucket in self.buckets:
            bucket.take(data, f, self._u, self._gc)

    def step(self, diagonal: np.ndarray) -> np.ndarray:
        """The step for a damping."""
        s, rhs = self._u + np.diag(diagonal[self.rest]), self._gc.copy()
        for bucket in self.buckets:
            bucket.eliminate(diagonal, s, rhs)
        if len(rhs) ** 3 > _WORTH_COMPILING and len(rhs) <= _LARGEST_OWN:
            _compiled(kernels.solve)(s, rhs)
            c = -rhs
        elif len(rhs):
            c = -scipy.linalg.cho_solve(scipy.linalg.cho_factor(s, lower=True, check_finite=False), rhs)
        else:
            c = rhs
        step = np.zeros(len(diagonal))
        step[self.rest] = c
        for bucket in self.buckets:
            bucket.back(c, step)
        return step
