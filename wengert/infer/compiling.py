"""Functions that are compiled if they can be, and run as Python, with a warning that says why, if they cannot.

A log-density may raise at some points (a matrix that has no Cholesky factor, a solver that does not converge). Such a
point is one of no density; but an error that has to do with the program, not with the point, goes to the user.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.jit import jit
from wengert.api.vmap import vmap
from wengert.errors import ConvergenceError, WengertError


class NotCompiledWarning(UserWarning):
    """A log-density runs as plain Python, because it could not be compiled."""


def compiled(f: Callable) -> Callable:
    """`jit(f)`; `f` itself from the first call on that cannot be compiled."""
    quick: Callable = jit(f)
    chosen = quick

    def call(*args: Any) -> Any:
        nonlocal chosen
        if chosen is not quick:
            return chosen(*args)
        try:
            return quick(*args)
        except WengertError as error:
            result = f(*args)  # an error that is not about compiling comes again
            chosen = f
            warnings.warn(
                f"the log-density could not be compiled and runs as plain Python: {error}", NotCompiledWarning, 3
            )
            return result

    return call


def is_of_the_point(error: Exception) -> bool:
    """Whether an error may be about a point, so that there is none at others."""
    return isinstance(error, ConvergenceError) or (
        isinstance(error, (ArithmeticError, ValueError, RuntimeError)) and not isinstance(error, WengertError)
    )


def unless_it_raises(f: Callable, otherwise: Any) -> Callable:
    """`f`, and `otherwise` at points where it raises."""

    def call(*args: Any) -> Any:
        try:
            return f(*args)
        except Exception as error:
            if not is_of_the_point(error):
                raise
            return otherwise

    return call


def logs_of_rows(f: Callable) -> Callable:
    """Values of `f(*shared, row)`, a logarithm, for the rows of the last argument; −∞ where it is NaN or raises."""
    together, one = compiled(lambda *args: vmap(lambda row: f(*args[:-1], row))(args[-1])), compiled(f)

    def call(*args: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = unless_it_raises(together, None)(*args)
            if found is None:
                at = unless_it_raises(one, -np.inf)
                found = [at(*args[:-1], row) for row in args[-1]]
        found = np.asarray(found, float)
        return np.where(np.isnan(found), -np.inf, found)

    return call
