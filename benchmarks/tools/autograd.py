"""autograd: the problem with `autograd.numpy` in the place of NumPy, or in words without in-place writes."""

from functools import partial
from importlib.metadata import version as version_of

import autograd
import autograd.numpy
import problems

from tools import derivatives

TITLE = "autograd"


def version():
    """Return the version measured."""
    return version_of("autograd")


def prepare(problem, arguments):
    """Return a function that computes the gradient."""
    return partial(autograd.grad(problems.stated_for("autograd", problem, autograd.numpy).objective), *arguments)


def derivative(problem, arguments):
    """Return a function that computes the derivative that the problem asks for."""
    return partial(*flat(derivatives.of("autograd", problem, arguments, OPERATORS, autograd.numpy)))


def flat(found):
    """Return (f, x, y) for (f, (x, y))."""
    compute, arguments = found
    return compute, *arguments


def hvp(f):
    """Return the product of the Hessian with a vector."""
    return lambda x, v: autograd.make_hvp(f)(x)[0](v)


OPERATORS = {"gradient": autograd.grad, "jacobian": autograd.jacobian, "hessian": autograd.hessian, "hvp": hvp}
