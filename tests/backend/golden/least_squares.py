import numpy as np


def cost_and_gradient(A, b, x):
    """Takes A, float64 (5, 3); b, float64 (5,); x, float64 (3,). Returns float64, float64 (3,)."""
    t0 = A @ x - b
    return np.sum(t0 * t0) / 5, (t0 * 0.2 + t0 * 0.2) @ A
