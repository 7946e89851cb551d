"""The functions that the survey takes as examples, in plain NumPy; every table and figure is about one of them."""

import numpy as np


def f(x1, x2):
    """Tables 2 and 3, figure 4: ln x₁ + x₁ x₂ − sin x₂, with the operations in the survey's order."""
    a, b, c = np.log(x1), x1 * x2, np.sin(x2)
    return a + b - c


def logistic_map(x, n=4):
    """Figures 2 and 3, table 1: the n-th iterate of l₁ = x, lₖ₊₁ = 4 lₖ (1 − lₖ)."""
    v = x
    for _ in range(n - 1):
        v = 4 * v * (1 - v)
    return v


def helmholtz(x, A, b, R=8.314, T=300.0):
    """Table 4, figure 5: the Helmholtz free energy of a mixed fluid (Peng-Robinson equation of state)."""
    bx = b @ x
    attraction = x @ A @ x / (np.sqrt(8) * bx)
    return R * T * np.sum(np.log(x / (1 - bx))) - attraction * np.log(
        (1 + (1 + np.sqrt(2)) * bx) / (1 + (1 - np.sqrt(2)) * bx)
    )


def helmholtz_gradient(x, A, b, R=8.314, T=300.0):
    """The gradient by hand, to check the others with."""
    s = np.sqrt(2)
    bx, q = b @ x, x @ A @ x
    up, low = 1 + (1 + s) * bx, 1 + (1 - s) * bx
    log = np.log(up / low)
    mixing = R * T * (1 / x + len(x) * b / (1 - bx))
    attraction = 2 * (A @ x) / (np.sqrt(8) * bx) * log - q * b / (np.sqrt(8) * bx**2) * log
    attraction += q / (np.sqrt(8) * bx) * ((1 + s) / up - (1 - s) / low) * b
    return mixing - attraction


def helmholtz_inputs(n):
    """Amounts x with b·x well below 1, a symmetric matrix A and the vector b."""
    random = np.random.default_rng(n)
    A = random.uniform(0.0, 1.0, (n, n))
    return random.uniform(0.5, 1.0, n) / n, (A + A.T) / 2, random.uniform(0.1, 0.5, n)
