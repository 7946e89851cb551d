"""The logarithm of a sum of exponentials in PyTorch, which has a function for it."""

import torch

NOTE = "`torch.logsumexp`"


def objective(x):
    """Return the logarithm of the sum of exponentials."""
    return torch.logsumexp(x, 0)
