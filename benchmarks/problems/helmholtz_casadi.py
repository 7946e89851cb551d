"""The Helmholtz free energy in CasADi, with matrices as operands."""

from math import sqrt

import casadi

SYMBOLS = "MX"


def objective(x, A, b, R=8.314, T=300.0):
    """Return the free energy (Peng-Robinson equation of state)."""
    bx = casadi.dot(b, x)
    return R * T * casadi.sum1(casadi.log(x / (1 - bx))) - casadi.dot(x, A @ x) / (sqrt(8) * bx) * casadi.log(
        (1 + (1 + sqrt(2)) * bx) / (1 + (1 - sqrt(2)) * bx)
    )
