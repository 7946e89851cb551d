"""NumPy: the function alone, without any derivative; what the gradients are divided by."""

from functools import partial

import numpy as np
import problems

TITLE = "NumPy (function)"


def version():
    """Return the version measured."""
    return np.__version__


def prepare(problem, arguments):
    """Return a function that evaluates the objective."""
    return partial(problems.load(problem).objective, *arguments)


function = prepare
