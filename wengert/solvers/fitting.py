"""Least squares inside programs that are differentiated, batched or compiled: the answer, and its derivative.

The iterations (`algorithms/levenberg.py`) are compiled with the residuals into one loop. The derivative is that of the
answer (`implicit.py`): where the gradient of the cost is zero, or, at a bound, where the unknown stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms.levenberg import NO_PROGRESS
from wengert.api.grad import grad
from wengert.api.jit import jit
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.capture.program import CANNOT_BE_CAPTURED
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.running import running
from wengert.solvers.implicit import Equation, Implicit
from wengert.solvers.parameters import Parameters


def followed(algorithm: Callable) -> Callable:
    """An algorithm of this package, as it is called for values that may be traced."""
    return instrument(algorithm)


def is_traced(*things: Any) -> bool:
    """Whether functions or values depend on values that are traced, or a program is being captured."""
    return running.state.capture is not None or Parameters(things).any


def _is_of_examples(value: Any) -> bool:
    """Whether a value holds many examples, perhaps within a derivative."""
    value = settled(value)
    while isinstance(value, Traced):
        if value._owner.batches:
            return True
        value = getattr(value, "_value", None)
    return False


def fitted(find: Callable, cost: Callable, things: tuple, bounds: Any) -> Any:
    """The vector that `find(*things)` gives, with the derivative of a least-squares answer.

    Args:
        find: gives the answer and, behind it, why the iterations ended and how many there were.
        cost: `cost(y, *things)`, what is smallest there.
        bounds: two vectors, or `None`.

    An answer that was not found has NaN for its derivative.
    """
    parameters = Parameters(things)

    if running.state.capture is None and any(map(_is_of_examples, parameters.values)):
        # Examples have ways of their own: compiled code has a loop for them, in Python it would be one after another.
        try:
            return jit(lambda values: fitted(find, cost, parameters.put(values), bounds))(parameters.values)
        except CANNOT_BE_CAPTURED:
            pass

    def solve(values: list[Any]) -> Any:
        return find(*parameters.put(values))

    def stationary(y: Any, values: list[Any]) -> Any:
        things = parameters.put(values)
        state, told = y[:-2], y[-2:]
        slope = grad(lambda state: cost(state, *things))(state)
        if bounds is not None:
            slope = state - np.minimum(np.maximum(state - slope, bounds[0]), bounds[1])
        is_found = (told[0] > 0) & (told[0] < NO_PROGRESS)
        return np.concatenate((slope * np.where(is_found, 1.0, np.nan), told - stop_gradient(told)))

    solve.__name__ = "optimize.least_squares"
    if not parameters.values:
        return stop_gradient(find(*things))
    return Implicit(solve, Equation(stationary), 1e-3)(parameters.values)
