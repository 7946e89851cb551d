"""Chandrasekhar's H-equation of radiative transfer, discretised: a dense Jacobian of middling size."""

import numpy as np

SIZES = (20, 60, 200)
DERIVATIVE = "jacobian"


def title(n):
    """Name the case in tables."""
    return f"Jacobian, H-equation, n = {n}"


def inputs(n):
    """Return a guess of H, and the matrix of the integral."""
    mu = (np.arange(n) + 0.5) / n
    return np.random.default_rng(n).uniform(1.0, 2.0, n), 0.45 / n * mu[:, None] / (mu[:, None] + mu)


def objective(h, kernel):
    """Return the residuals."""
    return h - 1 / (1 - kernel @ h)
