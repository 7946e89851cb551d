"""PyTorch, eager, in double precision: `torch.autograd.grad` of the problem as stated in `problems/*_torch.py`."""

from functools import partial

import numpy as np
import problems
import torch
import trees

from tools import derivatives

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


def derivative(problem, arguments):
    """Return a function that computes the derivative that the problem asks for."""
    if problems.derivative_of(problem) == "gradient":
        return prepare(problem, arguments)
    compute, arguments = derivatives.of("torch", problem, arguments, OPERATORS)
    converted = trees.map_leaves(lambda leaf: tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, arguments)
    return partial(compute, *converted)


def gradient(f):
    """Return the gradient in nested parameters, in the same nesting."""

    def compute(parameters, *rest):
        wanted = trees.map_leaves(lambda leaf: leaf.detach().requires_grad_(), parameters)
        found = iter(torch.autograd.grad(f(wanted, *rest), trees.leaves(wanted)))
        return trees.map_leaves(lambda _: next(found), wanted)

    return compute


def jacobian(f):
    """Return the Jacobian by forward mode: none of the problems has fewer results than arguments."""
    return torch.func.jacfwd(f)


def hvp(f):
    """Return the product of the Hessian with a vector, forward over reverse."""
    return lambda x, v: torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


def tensor(leaf):
    """Copy a number or an array into a tensor of the same precision (`torch.tensor(0.5)` alone would be float32)."""
    return torch.from_numpy(np.array(leaf))


OPERATORS = {"gradient": gradient, "jacobian": jacobian, "hessian": torch.func.hessian, "hvp": hvp}
