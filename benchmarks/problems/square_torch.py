"""The sum of squares in PyTorch."""

import torch


def objective(x):
    """Return the sum of squares."""
    return torch.sum(x**2)
