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
    """A draw after every few steps: v is damped, pulled by the gradient and kicked; x follows v."""
    n, steps, d = normals.shape
    draws = np.zeros((n, d))
    for i in range(n):
        for k in range(steps):
            kick = np.sqrt(2.0 * friction) * step * normals[i, k]
            v = (1.0 - friction) * v + step**2 * (scales * gradient(x, rows[i, k])) + kick
            x = x + scales * v
        draws[i] = x
    return x, v, draws
