"""Dynamic time warping: a table filled by dynamic programming, each entry from the least of three others."""

import numpy as np

SIZES = (30, 100, 300)
ANALYTIC = False


def title(n):
    """Name the case in tables."""
    return f"dynamic programming, {n} × {n}"


def inputs(n):
    """Return two signals."""
    random = np.random.default_rng(n)
    return np.cumsum(random.normal(size=n)), np.cumsum(random.normal(size=n))


def objective(x, y):
    """Return the cost of the cheapest alignment."""
    n = len(x)
    m = len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            D[i + 1, j + 1] = (x[i] - y[j]) ** 2 + min(D[i, j], D[i, j + 1], D[i + 1, j])
    return D[n, m]
