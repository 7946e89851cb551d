"""LU factorisation by three loops, in place (Doolittle; a dominant diagonal needs no pivots)."""

import numpy as np

SIZES = (10, 30, 100)


def title(n):
    """Name the case in tables."""
    return f"LU by loops, n = {n}"


def inputs(n):
    """Return a matrix with a dominant diagonal."""
    return (np.random.default_rng(n).normal(size=(n, n)) / n**0.5 + 4 * np.eye(n),)


def objective(A):
    """Return the logarithm of the determinant, and a little of every entry of the factors."""
    n = len(A)
    B = A.copy()
    for k in range(n):
        for i in range(k + 1, n):
            B[i, k] /= B[k, k]
            for j in range(k + 1, n):
                B[i, j] -= B[i, k] * B[k, j]
    total = 0.0
    for k in range(n):
        total += np.log(B[k, k])
    return total + 0.1 * np.sum(B**2)
