"""A small neural network, 16-32-32-1: gradients in a nested list of weights and biases."""

from itertools import pairwise

import numpy as np

SIZES = (32,)
WIDTHS = (16, 32, 32, 1)


def title(n):
    """Name the case in tables."""
    return f"MLP, batch {n}"


def inputs(n):
    """Return the layers [(W, b), …] and a batch of n samples with their targets."""
    random = np.random.default_rng(n)
    layers = [
        (random.normal(0.0, fan_in**-0.5, (fan_in, fan_out)), random.normal(0.0, 0.1, fan_out))
        for fan_in, fan_out in pairwise(WIDTHS)
    ]
    return layers, random.normal(size=(n, WIDTHS[0])), random.normal(size=(n, WIDTHS[-1]))


def objective(layers, x, y):
    """Return the mean squared error of a network with tanh between its layers."""
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    W, b = layers[-1]
    return np.mean((x @ W + b - y) ** 2)
