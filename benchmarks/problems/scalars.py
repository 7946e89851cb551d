"""A recurrence over many scalars: nothing to vectorise, one long chain of dependent operations.

Every step adds to the result, so that neither the state nor its cotangent decays into denormal numbers, on which
processors are up to a hundred times slower.
"""

import numpy as np

SIZES = (1_000, 10_000, 100_000)


def title(n):
    """Name the case in tables."""
    return f"recurrence, {n} scalars"


def inputs(n):
    """Return the signal that drives the recurrence, and its coefficient."""
    return np.random.default_rng(n).uniform(0.5, 1.5, n), 0.9


def objective(x, a):
    """Return the energy of all states."""
    s = 0.5
    total = 0.0
    for i in range(len(x)):
        s = a * s / (1 + s * s) + x[i]
        total += s * s
    return total
