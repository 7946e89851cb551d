"""The filling loop in PyTorch, with a list: for each `out[i] = …` and `x[i]` its backward pass makes a whole array."""

import torch

NOTE = "a list, and `torch.stack` of it (`out[i] = …` works too, but takes longer)"


def objective(x):
    """Return the energy of a leaky integrator's states."""
    first, *others = x
    out = [first]
    for value in others:
        out.append(0.9 * out[-1] + torch.tanh(value))
    return torch.sum(torch.stack(out) ** 2)
