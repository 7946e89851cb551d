import numpy as np


def gradient(x):
    """Takes x, float64 (3,). Returns float64 (3,)."""
    s = 1.0  # model.py:3
    cs = np.empty(20)
    saved_s = np.empty(20)
    for k in range(20):
        saved_s[k] = s
        t0 = x[0] * s + x[1]  # model.py:4
        cs[k] = np.cos(t0)  # model.py:5
        s = np.sin(t0)
    s_bar = 1.0
    x_bar = np.zeros(3)
    for k in reversed(range(20)):
        t1 = cs[k] * s_bar
        x_bar[1] += t1  # model.py:4
        x_bar[0] += saved_s[k] * t1
        s_bar = x[0] * t1
    return x_bar
