"""A reaction and diffusion in the plane (Fisher's equation), explicit steps in place, with slices."""

import numpy as np

SIZES = (32, 64, 128)
STEPS = 50
DT = 0.1


def title(n):
    """Name the case in tables."""
    return f"reaction-diffusion, {n} × {n}"


def inputs(n):
    """Return the density at the start, and how fast it spreads."""
    return np.random.default_rng(n).uniform(size=(n, n)), 0.8


def objective(start, speed):
    """Return the energy at the end; the border keeps its density."""
    u = start.copy()
    for _ in range(STEPS):
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = inner + DT * (speed * (around - 4 * inner) + inner * (1 - inner))
    return np.sum(u**2)
