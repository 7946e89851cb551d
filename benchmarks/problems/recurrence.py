"""A scalar recurrence of a hundred steps: nothing but the overhead of an operation."""

import numpy as np

STEPS = 100
SIZES = (STEPS,)


def title(n):
    """Name the case in tables."""
    return f"recurrence, {n} steps"


def inputs(n):
    """Return a starting point and a coefficient for which the derivative neither vanishes nor explodes."""
    return 0.5, 2.27


def objective(x, a):
    """Iterate from x."""
    for _ in range(STEPS):
        x = a * np.sin(x) + x / (1 + x * x)
    return x
