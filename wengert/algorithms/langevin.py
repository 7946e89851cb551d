"""Stochastic gradients: Langevin's equation and Hamiltonian dynamics with friction, without a correction.

`gradient(x, rows)` is the gradient of the log-density, estimated from some rows of the data. Welling and Teh
(2011); Chen, Fox and Guestrin (2014). Numbers are scaled by estimates of their standard deviations.
"""

from __future__ import annotations

import numpy as np


def sgld_block(gradient, x, scales, step, normals, rows):
    """A draw for each row of normals: x + ½ε²g + εz."""
    n, d = normals.shape
    draws = np.zeros((n, d))
    for i in range(n):
        x = x + scales * (0.5 * step**2 * (scales * gradient(x, rows[i])) + step * normals[i])
        draws[i] = x
    return x, draws


def sghmc_block(gradient, x, v, scales, step, friction, normals, rows):
    """A draw after every few steps: x moves by half a step, v is damped and kicked, x moves on, the gradient pulls.

    This order (Leimkuhler and Matthews 2013, "BAOAB") has errors of the second order in the step; draws of a normal
    posterior have the right spread, so that what is wrong is the noise of the gradient.
    """
    n, steps, d = normals.shape
    kept = 1.0 - friction
    noise = np.sqrt(1.0 - kept * kept)
    draws = np.zeros((n, d))
    for i in range(n):
        for k in range(steps):
            x = x + (0.5 * step) * (scales * v)
            v = kept * v + noise * normals[i, k]
            x = x + (0.5 * step) * (scales * v)
            draws[i] = x
            v = v + step * (scales * gradient(x, rows[i, k]))
    return x, v, draws
