"""The Helmholtz free energy of a mixed fluid: the gradient benchmark of Griewank (1989) and of the survey.

Baydin, Pearlmutter, Radul and Siskind, "Automatic differentiation in machine learning: a survey" (2018), figure 5 and
table 5. A handful of scalar operations around one quadratic form: all overhead at n = 1, all matrix at n = 1000.
"""

import numpy as np

SIZES = (1, 8, 50, 1000)
COMPILED_SIZES = (1, 8, 15, 22, 29, 36, 43, 50, 200, 1000)


def title(n):
    """Name the case in tables."""
    return f"Helmholtz, n = {n}"


def inputs(n):
    """Return amounts x with b·x well below 1, a symmetric matrix A and the vector b."""
    random = np.random.default_rng(n)
    x = random.uniform(0.5, 1.0, n) / n
    A = random.uniform(0.0, 1.0, (n, n))
    b = random.uniform(0.1, 0.5, n)
    return x, (A + A.T) / 2, b


def objective(x, A, b, R=8.314, T=300.0):
    """Return the free energy (Peng-Robinson equation of state)."""
    bx = b @ x
    return R * T * np.sum(np.log(x / (1 - bx))) - x @ A @ x / (np.sqrt(8) * bx) * np.log(
        (1 + (1 + np.sqrt(2)) * bx) / (1 + (1 - np.sqrt(2)) * bx)
    )
