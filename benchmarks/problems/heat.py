"""The heat equation on a line, 100 explicit steps in place: what a write to a slice costs."""

import numpy as np

STEPS = 100
SIZES = (100, 10_000)


def title(n):
    """Name the case in tables."""
    return f"heat, n = {n}"


def inputs(n):
    """Return the temperatures at the start, those wished for at the end, and a coefficient for which it is stable."""
    random = np.random.default_rng(n)
    return random.normal(size=n), random.normal(size=n), 0.4


def objective(start, wanted, c):
    """Return how far the temperatures end from those wanted; the two ends of the line keep theirs."""
    u = start.copy()
    for _ in range(STEPS):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum((u - wanted) ** 2)
