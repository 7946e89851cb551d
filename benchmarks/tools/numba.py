"""Numba: the problem's own NumPy code, compiled by `njit`, and where one was written by hand, a compiled derivative."""

from functools import partial
from types import FunctionType, ModuleType

import numba
import problems
from numba.core.errors import NumbaError

TITLE = "Numba"


def version():
    """Return the version measured."""
    return numba.__version__


def function(problem, arguments):
    """Return a function that evaluates the compiled objective."""
    return started(compiled(problems.load(problem)).objective, arguments)


def derivative(problem, arguments):
    """Return a function that computes the derivative written by hand in `<problem>_numba.py`."""
    own = compiled(problems.load(f"{problem}_numba"))
    if problems.derivative_of(problem) == "hvp":
        arguments = (*arguments, problems.direction(arguments[0]))
    return started(own.derivative, arguments)


def compiled(module: ModuleType) -> ModuleType:
    """Compile all functions of a module; with NumPy's division, which raises nothing and so can be vectorised."""
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            setattr(module, name, numba.njit(error_model="numpy")(value))
    return module


def started(f, arguments):
    """Compile for the arguments; a program that Numba cannot compile counts as not stated for it."""
    if isinstance(f, FunctionType):
        raise problems.NotStated("a function of another module, which is not compiled")
    arguments = (*arguments, *(f.py_func.__defaults__ or ()))  # left to Numba, defaults cost 60 µs a call
    try:
        f(*arguments)
    except NumbaError as error:
        raise problems.NotStated(str(error)) from None
    return partial(f, *arguments)
