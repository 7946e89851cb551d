"""The linear systems of an interior-point method, and the inertia that says whether a step goes downhill.

    [ W + Σ + δ   Jᵀ ] [ dx ]   [ a ]
    [ J          −D  ] [ dy ] = [ b ]

The step is one towards a minimum if the matrix has as many positive eigenvalues as there are variables, as many
negative ones as there are constraints, and none that is zero. Dense: Bunch–Kaufman's factorisation (LAPACK's sytrf)
tells. Sparse: an LU factorisation whose pivots all lie on the diagonal is LDLᵀ, and the signs of the pivots tell
(Sylvester). Static pivots are safe where the matrix is quasidefinite (Vanderbei 1995), which a small D everywhere
provides, with rows and columns scaled to size one (barriers make entries of 1e-10 and 1e10). What that changes and what
pivots lose is won back by refinement; a solution that cannot be is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

_REFINEMENTS = 12
_LEAST_SHIFT = 1e-10
"""What D is at least where a sparse matrix is factored."""
_EQUILIBRATIONS = 3

_NOTHING = 1e-100
"""Rows that are so much smaller than others are not asked for digits: solutions may fade until they underflow."""


class Singular(Exception):
    """The system has no solution that is good enough."""


class DenseSystem:
    """The system for matrices that are arrays."""

    def __init__(self, free: np.ndarray, m: int):
        self._free, self._n, self._m = free, free.size, m
        self._matrix = np.zeros((self._n + m, self._n + m))
        self._diagonal = self._matrix.reshape(-1)[:: self._n + m + 1]
        self._factor: Any = None

    def factor(self, hessian: Any, jacobian: Any, diagonal: np.ndarray, shift: np.ndarray) -> tuple[int, int]:
        """Factor the matrix; how many eigenvalues are positive and how many negative."""
        n, K = self._n, self._matrix
        are_all = hessian.shape[0] == n
        K[:n, :n] = hessian if are_all else hessian[np.ix_(self._free, self._free)]
        if self._m:
            K[n:, :n] = jacobian if are_all else jacobian[:, self._free]
            K[:n, n:] = K[n:, :n].T
        self._diagonal[:n] += diagonal
        self._diagonal[n:] = -shift
        ldu, pivots, info = lapack.dsytrf(K, lower=1)
        self._factor = None if info else (ldu, pivots)
        if info:
            return 0, 0
        d = ldu.diagonal()
        pairs = 0
        single = pivots > 0
        alone = int(np.count_nonzero(single))
        if alone < d.size:
            pairs = (d.size - alone) // 2  # blocks of two have one eigenvalue of each sign
            d = d[single]
        return int(np.count_nonzero(d > 0)) + pairs, int(np.count_nonzero(d < 0)) + pairs

    def solve(self, side: np.ndarray) -> np.ndarray:
        """The solution, refined."""
        if self._factor is None:
            raise Singular
        ldu, pivots = self._factor
        solve = lambda v: lapack.dsytrs(ldu, pivots, v, lower=1)[0]
        return _refined(self._matrix, solve, side, np.abs(self._matrix), 1e-7)


class SparseSystem:
    """The system for sparse matrices. The pattern of the matrix and the order of elimination are found once."""

    def __init__(self, free: np.ndarray, m: int):
        self._free, self._n, self._m = free, free.size, m
        self._size = self._n + m
        self._places = np.zeros(0, np.int64)
        self._factor: Any = None

    def _prepare(self, hessian: Any, jacobian: Any) -> None:
        """Where each entry of Hessian, Jacobian and diagonal goes in the matrix."""
        column = np.full(hessian.shape[1], -1)
        column[self._free] = np.arange(self._n)
        H, J = sp.coo_array(hessian), sp.coo_array(jacobian)
        own, held = (column[H.row] >= 0) & (column[H.col] >= 0), column[J.col] >= 0
        self._of_hessian, self._of_jacobian = np.flatnonzero(own), np.flatnonzero(held)
        h_row, h_col = column[H.row[own]], column[H.col[own]]
        j_row, j_col = J.row[held] + self._n, column[J.col[held]]
        every = np.arange(self._size)
        rows = np.concatenate([h_row, j_row, j_col, every])
        cols = np.concatenate([h_col, j_col, j_row, every])
        order = _elimination_order(rows, cols, self._size)
        rows, cols = order[rows], order[cols]
        self._order = order
        numbers = cols.astype(np.int64) * self._size + rows
        kept, self._places = np.unique(numbers, return_inverse=True)
        indices = (kept % self._size).astype(np.int32)
        indptr = np.searchsorted(kept, np.arange(self._size + 1, dtype=np.int64) * self._size).astype(np.int32)
        self._exact, self._matrix, self._magnitudes = (
            sp.csc_array((np.zeros(kept.size), indices, indptr), shape=(self._size, self._size)) for _ in range(3)
        )
        self._lengths = np.diff(indptr)

    def factor(self, hessian: Any, jacobian: Any, diagonal: np.ndarray, shift: np.ndarray) -> tuple[int, int]:
        """Factor the matrix; how many eigenvalues are positive and how many negative, or (-1, -1) if unknown."""
        if not self._places.size:
            self._prepare(hessian, jacobian)
        J = jacobian.data[self._of_jacobian]
        entries = np.concatenate([hessian.data[self._of_hessian], J, J, diagonal, -shift])
        self._exact.data[:] = np.bincount(self._places, entries, minlength=self._matrix.data.size)
        self._magnitudes.data[:] = np.abs(self._exact.data)
        scale = self._scale = self._equilibrated()
        self._scales = scale[self._exact.indices] * np.repeat(scale, self._lengths)
        self._matrix.data[:] = self._exact.data * self._scales
        own = scale[self._order[self._n :]]
        self._matrix.data[self._places[-self._m or self._places.size :]] = -np.maximum(shift * own**2, _LEAST_SHIFT)
        try:
            self._factor = splu(
                self._matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:  # exactly singular
            self._factor = None
            return 0, 0
        pivots = self._factor.U.diagonal()
        if not np.array_equal(self._factor.perm_r, self._factor.perm_c):
            return -1, -1
        return int(np.count_nonzero(pivots > 0)), int(np.count_nonzero(pivots < 0))

    def solve(self, side: np.ndarray) -> np.ndarray:
        """The solution, refined; where rows depend on each other, that of what was factored."""
        if self._factor is None:
            raise Singular
        permuted = np.empty_like(side)
        permuted[self._order] = side
        scale = self._scale
        solve = lambda v: scale * self._factor.solve(scale * v)
        try:
            found = _refined(self._exact, solve, permuted, self._magnitudes, 1e-9)
        except Singular:
            data = self._matrix.data / self._scales
            factored = sp.csc_array((data, self._exact.indices, self._exact.indptr), shape=self._exact.shape)
            found = _refined(factored, solve, permuted, self._magnitudes, 1e-7)
        return found[self._order]

    def _equilibrated(self) -> np.ndarray:
        """Factors of rows and columns with which the largest entries of all are about one (Ruiz 2001)."""
        scale = np.ones(self._size)
        for _ in range(_EQUILIBRATIONS):
            entries = self._magnitudes.data * scale[self._exact.indices]
            largest = np.maximum.reduceat(entries, self._exact.indptr[:-1]) * scale
            scale = scale / np.sqrt(np.where(largest > 0, largest, 1.0))
        return scale


def _elimination_order(rows: np.ndarray, cols: np.ndarray, size: int) -> np.ndarray:
    """The place of each unknown in an order with little fill: minimum degree, as SuperLU finds it."""
    dominant = np.where(rows == cols, float(size), 1.0)
    pattern = sp.csc_array((dominant, (rows, cols)), shape=(size, size))
    return splu(
        pattern, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    ).perm_c.astype(np.int64)


def _refined(matrix: Any, solve: Any, side: np.ndarray, magnitudes: Any, enough: float) -> np.ndarray:
    """The solution with a small backward error in every row.

    Iterative refinement (Skeel 1980); where that is slow, since the factors are those of another matrix, by GMRES with
    the factors as preconditioner.
    """
    x = solve(side)
    best, smallest, sizes = x, np.inf, np.abs(side)
    for k in range(_REFINEMENTS):
        with np.errstate(all="ignore"):  # a factorisation that went wrong is noticed by its residual
            residual = side - matrix @ x
            scale = magnitudes @ np.abs(x) + sizes
            most = np.maximum.reduce(scale, initial=0.0)
            scale = np.maximum(scale, _NOTHING * most) if most > 0 else np.ones_like(scale)
            size = np.maximum.reduce(np.abs(residual) / scale, initial=0.0)
        if not size < smallest:
            break
        best, before, smallest = x, smallest, size
        if size < 1e-13:
            break
        if k and size > 0.2 * before:
            if size < enough:
                break
            x = x + _krylov(matrix, solve, residual)
        else:
            x = x + solve(residual)
    if not smallest < enough:
        raise Singular
    return best


def _krylov(matrix: Any, solve: Any, side: np.ndarray, most: int = 20) -> np.ndarray:
    """GMRES, preconditioned from the right (Saad 1993, Algorithm 2.2), from zero."""
    first = np.linalg.norm(side)
    if not (np.isfinite(first) and first > 0):
        return np.zeros_like(side)
    basis, solved = np.empty((most + 1, side.size)), np.empty((most, side.size))
    basis[0] = side / first
    H = np.zeros((most + 1, most))
    for k in range(most):
        solved[k] = solve(basis[k])
        v = matrix @ solved[k]
        for _ in range(2):  # orthogonal to rounding
            part = np.einsum("ij,j->i", basis[: k + 1], v)  # quicker than threads of BLAS for so little
            H[: k + 1, k] += part
            v = v - np.einsum("i,ij->j", part, basis[: k + 1])
        H[k + 1, k] = np.sqrt(np.sum(v * v))
        if not np.all(np.isfinite(H)):
            return np.zeros_like(side)
        target = np.zeros(k + 2)
        target[0] = first
        weights = np.linalg.lstsq(H[: k + 2, : k + 1], target, rcond=None)[0]
        left = np.linalg.norm(target - H[: k + 2, : k + 1] @ weights)
        if left < 1e-10 * first or H[k + 1, k] == 0:
            break
        basis[k + 1] = v / H[k + 1, k]
    return np.einsum("i,ij->j", weights, solved[: k + 1])
