"""Minima of functions of traced values: in a `vmap`, a derivative, another compiled function.

The solver runs as one program on values that are not differentiated. Its answer y satisfies

    y − P(y − ∇f(y)) = 0,        P the projection into the bounds,

in which an unknown that is held by a bound moves with the bound, and one that is free has gradient zero; that gives the
derivative of the answer (`solvers/implicit.py`). Where the solver has not converged there is no answer, and the
derivative is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms import loops
from wengert.api.custom import stop_gradient
from wengert.api.flat import Layout, of_vector
from wengert.api.grad import grad
from wengert.api.jit import jit
from wengert.optimize.native import Programs, limits_for, programs_for, settings_of
from wengert.optimize.objective import one_number
from wengert.optimize.result import Solved
from wengert.solvers.implicit import Equation, Implicit
from wengert.solvers.parameters import Parameters


def minimum(f: Callable, x0: Any, args: tuple, name: str, limits: tuple | None, tol: float | None, options: dict
            ) -> Solved:  # fmt: skip
    """The result with traced values in it."""
    layout = Layout(x0)
    maxiter, gtol, memory = settings_of(name, options, tol)
    given = limits_for(name, limits, layout.size)
    x = layout.ravel(x0)
    form = (lambda g: g) if name == "gauss-newton" else one_number
    owner, flat = f, form(of_vector(f, layout))
    parameters = Parameters(f)
    if parameters.any:  # in the function itself: its traced values become an argument
        values, inner_args = parameters.values, args

        def of_values(vector: Any, values: list, *inner: Any) -> Any:
            return form(of_vector(parameters.put(values), layout))(vector, *inner)

        owner, flat, args = None, of_values, (values, *inner_args)  # type: ignore[assignment]
    programs = programs_for(owner, name, flat, layout, memory, limits is not None, True)
    answer, value, count, evaluations, status, is_answer = _answering(programs, name, flat)(
        x, maxiter, gtol, given, args
    )
    return Solved(
        x=layout.unravel(answer), fun=value, nit=count, nfev=evaluations, status=status, success=is_answer,
        message="see success and status", method=name,
    )  # fmt: skip


def _answering(programs: Programs, name: str, flat: Callable) -> Callable:
    """The whole program with the derivative of its answer, made once."""
    if programs.answered is None:
        value_of = _sum_of_squares(flat) if name == "gauss-newton" else flat

        def stationary(y: Any, found: Any, valid: Any, limits: tuple, args: tuple) -> Any:
            gradient = grad(value_of)(y, *args)
            if not limits:
                return valid * gradient
            lower, upper = limits
            return valid * (y - np.minimum(np.maximum(y - gradient, lower), upper))

        answer = Implicit(lambda found, valid, limits, args: found, Equation(stationary), None)
        programs.answered = jit(loops.answering(programs.solve, stop_gradient, answer, value_of))
    return programs.answered


def _sum_of_squares(residuals: Callable) -> Callable:
    return lambda x, *args: np.sum(residuals(x, *args) ** 2)
