"""autograd: the problem with `autograd.numpy` in the place of NumPy, or in words without in-place writes."""

from functools import partial
from importlib.metadata import version as version_of

import autograd
import autograd.numpy
import problems

TITLE = "autograd"


def version():
    """Return the version measured."""
    return version_of("autograd")


def prepare(problem, arguments):
    """Return a function that computes the gradient."""
    return partial(autograd.grad(problems.stated_for("autograd", problem, autograd.numpy).objective), *arguments)
