import numpy as np


def f(x):
    """Takes x, float64. Returns float64, float64 (3,), int, float64 (?,), float64 (?, 3)."""
    a = np.zeros(3)
    count = 0
    xs = []
    as_ = []
    while x > 1.0:
        as_.append(a.copy())
        xs.append(x)
        x = x * 0.5
        a[:2] += x
        count += 1
    xs = np.array(xs, float)
    as_ = np.array(as_, float).reshape(len(as_), 3)
    return x, a, count, xs, as_
