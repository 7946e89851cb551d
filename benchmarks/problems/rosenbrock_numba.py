"""The product of Rosenbrock's Hessian with a vector by hand: the Hessian is tridiagonal."""

import numpy as np


def derivative(x, v):
    """Return the product with v."""
    n = len(x)
    out = np.zeros(n)
    for i in range(n - 1):
        side = -400 * x[i]
        out[i] += (1200 * x[i] ** 2 - 400 * x[i + 1] + 2) * v[i] + side * v[i + 1]
        out[i + 1] += 200 * v[i + 1] + side * v[i]
    return out
