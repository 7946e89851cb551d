"""A step of training a small neural network, 16-32-32-1: loss, gradient and new weights in one function."""

from problems.mlp import inputs, objective

__all__ = ["inputs", "objective"]

SIZES = (32, 256, 1024)
DERIVATIVE = "step"


def title(n):
    """Name the case in tables."""
    return f"MLP training step, batch {n}"


def update(layers, slopes):
    """Return the weights and biases after a step of gradient descent."""
    return [(W - 0.01 * dW, b - 0.01 * db) for (W, b), (dW, db) in zip(layers, slopes, strict=True)]
