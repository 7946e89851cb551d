"""The scalar recurrence in PyTorch."""

import torch

STEPS = 100


def objective(x, a):
    """Iterate from x."""
    for _ in range(STEPS):
        x = a * torch.sin(x) + x / (1 + x * x)
    return x
