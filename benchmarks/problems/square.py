"""What a call costs: the gradient of a small sum of squares."""

import numpy as np

SIZES = (3,)


def title(n):
    """Name the case in tables."""
    return "sum(x**2)"


def inputs(n):
    """Return a small array."""
    return (np.arange(1.0, n + 1),)


def objective(x):
    """Return the sum of squares."""
    return np.sum(x**2)
