"""wengert, compiled: the problem's own NumPy code, as it stands, under `wg.jit`."""

from functools import partial

import problems

import wengert as wg
from tools import derivatives
from tools.wengert import version

__all__ = ["TITLE", "derivative", "function", "version"]

TITLE = "wengert"
OPERATORS = {"gradient": wg.grad, "jacobian": wg.jacobian, "hessian": wg.hessian, "hvp": wg.hvp}


def function(problem, arguments):
    """Return a function that evaluates the compiled objective."""
    module = problems.load(problem)
    return partial(wg.jit(module.objective, static_argnums=problems.static(problem)), *arguments)


def derivative(problem, arguments):
    """Return a function that computes the compiled derivative."""
    compute, arguments = derivatives.of("wengert_jit", problem, arguments, OPERATORS, problems.NUMPY)
    return partial(wg.jit(compute, static_argnums=problems.static(problem)), *arguments)
