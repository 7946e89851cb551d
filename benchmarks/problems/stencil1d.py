"""A three-point stencil on a line, swept a few times, element by element, from one array into another."""

import numpy as np

SIZES = (100, 1_000, 10_000)
SWEEPS = 10


def title(n):
    """Name the case in tables."""
    return f"stencil 1-D, n = {n}"


def inputs(n):
    """Return the values at the start and the weights of the stencil."""
    return np.random.default_rng(n).normal(size=n), np.array([0.3, 0.45, 0.2])


def objective(u, w):
    """Return the energy after the sweeps; the ends keep their values."""
    n = len(u)
    old = u.copy()
    new = u.copy()
    for _ in range(SWEEPS):
        for i in range(1, n - 1):
            new[i] = w[0] * old[i - 1] + w[1] * old[i] + w[2] * old[i + 1]
        old[:] = new
    return np.sum(old**2)
