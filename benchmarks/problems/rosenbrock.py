"""Products of a Hessian with a vector, of Rosenbrock's function: the Hessian is never there."""

import numpy as np

SIZES = (100, 10_000, 1_000_000)
DERIVATIVE = "hvp"


def title(n):
    """Name the case in tables."""
    return f"Hessian-vector product, Rosenbrock, n = {n}"


def inputs(n):
    """Return a point."""
    return (np.random.default_rng(n).normal(size=n),)


def objective(x):
    """Return Rosenbrock's function, chained."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
