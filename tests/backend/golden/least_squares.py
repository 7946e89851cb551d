import numpy as np


def cost_and_gradient(A, b, x):
    """Takes A, float64 (5, 3); b, float64 (5,); x, float64 (3,). Returns float64, float64 (3,)."""
    r = A @ x - b
    return np.sum(r * r) / 5, (r * 0.2 + r * 0.2) @ A
