"""A recurrent network over a long sequence: a product of a matrix and a vector in each of a thousand steps."""

import numpy as np

SIZES = (8, 16, 64)
STEPS = 1000


def title(n):
    """Name the case in tables."""
    return f"RNN, {STEPS} steps, width {n}"


def inputs(n):
    """Return (recurrent weights, input weights, biases), the sequence and the target of each step."""
    random = np.random.default_rng(n)
    weights = random.normal(0.0, 0.8 * n**-0.5, (n, n)), random.normal(0.0, 0.5, (n, 4)), random.normal(0.0, 0.1, n)
    return weights, random.normal(size=(STEPS, 4)), random.normal(size=(STEPS, n))


def objective(weights, sequence, targets):
    """Return the mean squared error of the states."""
    W, U, b = weights
    h = np.zeros(len(b))
    loss = 0.0
    for t in range(len(sequence)):
        h = np.tanh(W @ h + U @ sequence[t] + b)
        loss = loss + np.sum((h - targets[t]) ** 2)
    return loss / len(sequence)
