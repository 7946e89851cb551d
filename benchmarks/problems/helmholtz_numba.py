"""The gradient of the Helmholtz free energy by hand (A is symmetric): one matrix-vector product and a few loops."""

import numpy as np


def derivative(x, A, b):
    """Return the gradient in the amounts."""
    R, T = 8.314, 300.0
    bx, Ax = b @ x, A @ x
    xAx = x @ Ax
    above, below = 1 + (1 + np.sqrt(2)) * bx, 1 + (1 - np.sqrt(2)) * bx
    log = np.log(above / below)
    scale = 1 / (np.sqrt(8) * bx)
    slope = scale * ((1 + np.sqrt(2)) / above - (1 - np.sqrt(2)) / below) - scale * log / bx
    in_bx = R * T * len(x) / (1 - bx) - xAx * slope
    return R * T / x + in_bx * b - 2 * scale * log * Ax
