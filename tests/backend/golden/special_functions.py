import numpy as np


def _power_log(x, p, n):
    z = np.power(x, p)
    at_zero = np.logical_and(np.equal(x, 0), np.greater(np.real(p), 0))
    return z * np.log(np.where(at_zero, 1, x), dtype=np.result_type(z)) ** n


def gradient(x, a):
    """Takes x, float64 (5,); a, float64. Returns float64."""
    return np.sum(_power_log(x, a, n=1))
