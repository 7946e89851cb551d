"""Cholesky's factorisation by three loops, in place."""

import numpy as np

SIZES = (10, 30, 100)


def title(n):
    """Name the case in tables."""
    return f"Cholesky by loops, n = {n}"


def inputs(n):
    """Return a symmetric positive definite matrix."""
    B = np.random.default_rng(n).normal(size=(n, n))
    return (B @ B.T / n + np.eye(n),)


def objective(A):
    """Return the logarithm of the determinant, and a little of every entry of the factor."""
    n = len(A)
    L = np.zeros_like(A)
    for j in range(n):
        for i in range(j, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[j, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    total = 0.0
    for j in range(n):
        total += 2 * np.log(L[j, j])
    return total + 0.1 * np.sum(L**2)
