"""Rosenbrock's function in PyTorch."""

import torch


def objective(x):
    """Return Rosenbrock's function, chained."""
    return torch.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
