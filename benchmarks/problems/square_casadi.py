"""The sum of squares in CasADi."""

import casadi


def objective(x):
    """Return the sum of squares."""
    return casadi.sumsqr(x)
