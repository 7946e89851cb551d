"""The logarithm of a sum of exponentials in CasADi, which has a function for it."""

import casadi

NOTE = "`casadi.logsumexp`"


def objective(x):
    """Return the logarithm of the sum of exponentials."""
    return casadi.logsumexp(x)
