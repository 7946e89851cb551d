"""The logistic regression in CasADi."""

import casadi

SYMBOLS = "MX"


def objective(w, X, y):
    """Return the penalised loss."""
    return casadi.sum1(casadi.log1p(casadi.exp(-y * (X @ w)))) + 0.5 * casadi.sumsqr(w)
