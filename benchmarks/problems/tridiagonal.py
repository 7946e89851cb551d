"""A tridiagonal system solved by elimination and back substitution (Thomas's algorithm), in place."""

import numpy as np

SIZES = (100, 1_000, 10_000)


def title(n):
    """Name the case in tables."""
    return f"tridiagonal solve, n = {n}"


def inputs(n):
    """Return the diagonal (dominant), the two beside it, and the right-hand side."""
    random = np.random.default_rng(n)
    return random.uniform(3.0, 4.0, n), random.normal(size=n), random.normal(size=n), random.normal(size=n)


def objective(diagonal, lower, upper, right):
    """Return the squared length of the solution."""
    n = len(diagonal)
    d = diagonal.copy()
    x = right.astype(diagonal.dtype)
    for i in range(1, n):
        m = lower[i] / d[i - 1]
        d[i] -= m * upper[i - 1]
        x[i] -= m * x[i - 1]
    x[n - 1] /= d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i]
    return np.sum(x**2)
