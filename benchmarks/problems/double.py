"""What a call costs: a function of one small array that returns a new one."""

import numpy as np

SIZES = (3,)
DERIVATIVE = None


def title(n):
    """Name the case in tables."""
    return "return 2 * x"


def inputs(n):
    """Return a small array."""
    return (np.arange(1.0, n + 1),)


def objective(x):
    """Return twice the argument."""
    return 2 * x
