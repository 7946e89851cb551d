"""The Hessian of a logistic regression with a quadratic penalty."""

import numpy as np

SIZES = (10, 30, 100)
SAMPLES = 500
DERIVATIVE = "hessian"


def title(n):
    """Name the case in tables."""
    return f"Hessian, logistic regression, n = {n}"


def inputs(n):
    """Return coefficients, features and labels (±1)."""
    random = np.random.default_rng(n)
    return 0.1 * random.normal(size=n), random.normal(size=(SAMPLES, n)), np.sign(random.normal(size=SAMPLES))


def objective(w, X, y):
    """Return the penalised loss."""
    return np.sum(np.log1p(np.exp(-y * (X @ w)))) + 0.5 * np.sum(w**2)
