import numpy as np


def gradient(x):
    """Takes x, float64 (5,). Returns float64 (5,)."""
    t0 = x[:-1]
    t1 = np.zeros(5)
    t1[:-1] -= 2.0 * (1 - x[:-1])
    t2 = 2 * (x[1:] - t0**2) * 100.0
    t1[:-1] -= 2 * t0 * t2
    t1[1:] += t2
    return t1
