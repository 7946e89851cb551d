"""The gradient of the tridiagonal solve by hand: one more solve, with the transposed matrix."""

import numpy as np


def solve(diagonal, lower, upper, right):
    """Solve by elimination and back substitution."""
    n = len(diagonal)
    d, x = diagonal.copy(), right.copy()
    for i in range(1, n):
        m = lower[i] / d[i - 1]
        d[i] -= m * upper[i - 1]
        x[i] -= m * x[i - 1]
    x[n - 1] /= d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i]
    return x


def derivative(diagonal, lower, upper, right):
    """Return the gradient of |x|² in the diagonal: with Aᵀ y = 2x it is -y x, element by element."""
    n = len(diagonal)
    x = solve(diagonal, lower, upper, right)
    below, above = np.zeros(n), np.zeros(n)
    below[1:], above[:-1] = upper[:-1], lower[1:]
    y = solve(diagonal, below, above, 2 * x)
    return -y * x
