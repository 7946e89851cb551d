"""Rosenbrock's function in CasADi."""

import casadi

SIZES = (100, 10_000)


def objective(x):
    """Return Rosenbrock's function, chained."""
    return casadi.sumsqr(10 * (x[1:] - x[:-1] ** 2)) + casadi.sumsqr(1 - x[:-1])
