"""A seven-point stencil in a cube, swept a few times, element by element, from one array into another."""

import numpy as np

SIZES = (8, 16, 32)
SWEEPS = 5


def title(n):
    """Name the case in tables."""
    return f"stencil 3-D, {n} × {n} × {n}"


def inputs(n):
    """Return the values at the start and the weights of centre and neighbours."""
    return np.random.default_rng(n).normal(size=(n, n, n)), 0.4, 0.09


def objective(u, centre, side):
    """Return the energy after the sweeps; the border keeps its values."""
    n, m, l = u.shape
    old = u.copy()
    new = u.copy()
    for _ in range(SWEEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    around = old[i - 1, j, k] + old[i + 1, j, k] + old[i, j - 1, k] + old[i, j + 1, k]
                    around += old[i, j, k - 1] + old[i, j, k + 1]
                    new[i, j, k] = centre * old[i, j, k] + side * around
        old[:] = new
    return np.sum(old**2)
