"""Levinson and Durbin's recursion: a Toeplitz system solved order by order, the coefficients updated in place."""

import numpy as np

SIZES = (16, 64, 256)


def title(n):
    """Name the case in tables."""
    return f"Levinson-Durbin, n = {n}"


def inputs(n):
    """Return the autocorrelation of a signal."""
    signal = np.random.default_rng(n).normal(size=4 * n)
    return (np.array([signal[k:] @ signal[: 4 * n - k] for k in range(n + 1)]) / (4 * n) + np.eye(1, n + 1)[0],)


def objective(r):
    """Return the error of the best linear prediction, and the energy of its coefficients."""
    n = len(r) - 1
    a = np.zeros_like(r)
    error = r[0]
    for k in range(1, n + 1):
        s = r[k]
        for j in range(1, k):
            s -= a[j] * r[k - j]
        reflection = s / error
        for j in range(1, k // 2 + 1):
            left = a[j]
            right = a[k - j]
            a[j] = left - reflection * right
            a[k - j] = right - reflection * left
        a[k] = reflection
        error = error * (1 - reflection * reflection)
    return error + np.sum(a**2)
