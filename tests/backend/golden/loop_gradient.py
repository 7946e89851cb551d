import numpy as np


def gradient(x):
    """Takes x, float64 (3,). Returns float64 (3,)."""
    s = 1.0
    saved = np.empty(20)
    saved_s = np.empty(20)
    saved_1 = np.empty(20)
    for k in range(20):
        saved_s[k] = s
        t0 = x[0]
        saved_1[k] = t0
        t1 = t0 * s + x[1]
        saved[k] = np.cos(t1)
        s = np.sin(t1)
    t2 = 1.0
    t3 = np.zeros(3)
    for k in reversed(range(20)):
        t4 = saved[k] * t2
        t3[1] += t4
        t3[0] += saved_s[k] * t4
        t2 = saved_1[k] * t4
    return t3
