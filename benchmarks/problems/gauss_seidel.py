"""Gauss-Seidel with over-relaxation for Poisson's equation: every update reads what the sweep has just written."""

import numpy as np

SIZES = (16, 64, 128)
SWEEPS = 10


def title(n):
    """Name the case in tables."""
    return f"Gauss-Seidel, {n} × {n}"


def inputs(n):
    """Return the source on the grid, and the relaxation."""
    return np.random.default_rng(n).normal(size=(n, n)), 1.5


def objective(f, omega):
    """Return the energy of the solution after the sweeps, with zero on the border."""
    n, m = f.shape
    u = np.zeros_like(f)
    for _ in range(SWEEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
                u[i, j] += omega * (new - u[i, j])
    return np.sum(u**2)
