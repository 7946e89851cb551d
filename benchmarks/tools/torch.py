"""PyTorch, eager, in double precision: `torch.autograd.grad` of the problem as stated in `problems/*_torch.py`."""

import numpy as np
import problems
import torch
import trees

TITLE = "PyTorch"

torch.set_num_threads(1)


def version():
    """Return the version measured."""
    return torch.__version__


def prepare(problem, arguments):
    """Return a function that computes the gradient, as a flat tuple of tensors."""
    objective = problems.stated_for("torch", problem).objective
    first = trees.map_leaves(lambda leaf: tensor(leaf).requires_grad_(), arguments[0])
    rest = trees.map_leaves(lambda leaf: tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, arguments[1:])
    wanted = trees.leaves(first)
    return lambda: torch.autograd.grad(objective(first, *rest), wanted)


def tensor(leaf):
    """Copy a number or an array into a tensor of the same precision (`torch.tensor(0.5)` alone would be float32)."""
    return torch.from_numpy(np.array(leaf))
