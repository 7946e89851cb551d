"""The logistic regression in PyTorch."""

import torch


def objective(w, X, y):
    """Return the penalised loss."""
    return torch.sum(torch.log1p(torch.exp(-y * (X @ w)))) + 0.5 * torch.sum(w**2)
