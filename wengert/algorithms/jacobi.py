"""Eigenvalues of a small symmetric matrix by Jacobi's rotations, in a native loop.

Cyclic by rows (Golub and Van Loan, Matrix Computations, 8.5): each rotation makes one element off the diagonal zero,
and what is off the diagonal vanishes quadratically. Small matrices take less time than a call of LAPACK does.
"""

from __future__ import annotations

import numpy as np

_SWEEPS = 50


def symmetric_eigen(matrix):
    """Eigenvalues, in no order, and vectors in the columns; of a matrix that is not finite, NaN after all sweeps."""
    n = matrix.shape[0]
    a = matrix + 0.0
    vectors = np.eye(n)
    sweep = 0
    rotated = True
    while rotated and sweep < _SWEEPS:
        sweep = sweep + 1
        rotated = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                off = a[p, q]
                if np.abs(off) > 1e-18 * (np.abs(a[p, p]) + np.abs(a[q, q])):
                    rotated = True
                    theta = 0.5 * (a[q, q] - a[p, p]) / off
                    t = np.where(theta < 0, -1.0, 1.0) / (np.abs(theta) + np.sqrt(theta * theta + 1.0))
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(n):
                        left, right = a[k, p], a[k, q]
                        a[k, p] = c * left - s * right
                        a[k, q] = s * left + c * right
                    for k in range(n):
                        left, right = a[p, k], a[q, k]
                        a[p, k] = c * left - s * right
                        a[q, k] = s * left + c * right
                        left, right = vectors[k, p], vectors[k, q]
                        vectors[k, p] = c * left - s * right
                        vectors[k, q] = s * left + c * right
                    a[p, q] = 0.0
                    a[q, p] = 0.0
    return np.diagonal(a) + 0.0, vectors
