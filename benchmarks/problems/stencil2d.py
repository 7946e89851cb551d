"""A five-point stencil on a square, swept a few times, element by element, from one array into another."""

import numpy as np

SIZES = (16, 64, 128)
SWEEPS = 10


def title(n):
    """Name the case in tables."""
    return f"stencil 2-D, {n} × {n}"


def inputs(n):
    """Return the values at the start and the weights of centre and neighbours."""
    return np.random.default_rng(n).normal(size=(n, n)), 0.4, 0.14


def objective(u, centre, side):
    """Return the energy after the sweeps; the border keeps its values."""
    n, m = u.shape
    old = u.copy()
    new = u.copy()
    for _ in range(SWEEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = centre * old[i, j] + side * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
        old[:] = new
    return np.sum(old**2)
