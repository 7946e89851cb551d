"""The Helmholtz free energy in PyTorch, whose `sqrt` and `log` take only tensors."""

import math

import torch


def objective(x, A, b, R=8.314, T=300.0):
    """Return the free energy (Peng-Robinson equation of state)."""
    bx = b @ x
    return R * T * torch.sum(torch.log(x / (1 - bx))) - x @ A @ x / (math.sqrt(8) * bx) * torch.log(
        (1 + (1 + math.sqrt(2)) * bx) / (1 + (1 - math.sqrt(2)) * bx)
    )
