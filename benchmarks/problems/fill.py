"""A loop that fills an array, each element from the one before: what a write to an element costs."""

import numpy as np

SIZES = (100, 10_000)


def title(n):
    """Name the case in tables."""
    return f"fill, n = {n}"


def inputs(n):
    """Return the signal that drives the recurrence."""
    return (np.random.default_rng(n).normal(size=n),)


def objective(x):
    """Return the energy of a leaky integrator's states."""
    n = len(x)
    out = np.zeros(n, x.dtype)
    out[0] = x[0]
    for i in range(1, n):
        out[i] = 0.9 * out[i - 1] + np.tanh(x[i])
    return np.sum(out**2)
