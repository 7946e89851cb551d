"""Gram and Schmidt's orthogonalisation (modified), row by row, in place: vector operations inside two loops."""

import numpy as np

SIZES = (8, 32, 128)


def title(n):
    """Name the case in tables."""
    return f"Gram-Schmidt, {n} vectors"


def inputs(n):
    """Return vectors, and weights that make every entry of the result count."""
    random = np.random.default_rng(n)
    return random.normal(size=(n, n)) + 2 * np.eye(n), random.normal(size=(n, n))


def objective(V, W):
    """Return a weighted sum of the orthonormal vectors, and the logarithms of the lengths."""
    n = len(V)
    Q = V.copy()
    total = 0.0
    for i in range(n):
        length = np.sqrt(np.sum(Q[i] ** 2))
        Q[i] /= length
        total += np.log(length)
        for j in range(i + 1, n):
            Q[j] -= np.sum(Q[i] * Q[j]) * Q[i]
    return total + np.sum(W * Q)
