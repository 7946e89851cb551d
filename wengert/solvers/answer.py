"""The derivative of an answer: the implicit function theorem, and the checks that it applies.

An answer y satisfies F(y, *parameters) = 0. `implicit_tangent` is what follows from that for a tangent of the
parameters; it is written with operators of this package, so y and the parameters may be traced by any outer mode, and
the tangent may be a symbol that reverse mode transposes.

`Problem` is such an equation together with a solver that wants plain numbers, as SciPy's do: what the ops
`solution` and `refined_solution` need. What the solver returns is what the user gets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.algorithms import roots
from wengert.box.functions.operands import answer, part
from wengert.box.writing import zeros
from wengert.capture.hooks import instrument
from wengert.errors import ConvergenceError
from wengert.modes.dual import push
from wengert.modes.linear import Tangent
from wengert.modes.tape import record
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import enclosing
from wengert.ops.shape import reshape
from wengert.ops.solution import solution
from wengert.running import running
from wengert.solvers.proved import enclosed_roots
from wengert.solvers.slopes import ImplicitEquations, checked_solver
from wengert.types import aval_of

Residual = Callable[..., Any]
"""F(y, *parameters): vectors of one length, y first."""

_STEPS = 3
"""So many steps of Newton's method refine an answer."""
_LARGEST_STEP = 1e-3
"""An answer that Newton's method moves further than this, relative to 1 + |y|, is none."""


def implicit_tangent(equations: ImplicitEquations, y: Any, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
    """The tangent of an answer, a vector, for tangents of the parameters; `None` where there is none."""
    residual = lambda *p: [equations.residual(y, *p)]
    moving = [dot for dot in dots if dot is not None]
    if running.state.capture is not None and moving and all(dot.__class__ is Tangent for dot in moving):
        r_dot = _as_map(residual, parameters, dots)
    else:
        _, (r_dot,) = push(residual, parameters, dots)
    return None if r_dot is None else -equations.matrix(y, parameters).solve(r_dot)


def _as_map(residual: Callable, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
    """The tangent of a residual as a linear map, whose transpose is what reverse mode makes of the residual.

    In a program the residual may hold loops, which symbols for tangents do not go through.
    """
    places = [k for k, dot in enumerate(dots) if dot is not None]

    def of_moving(*moving: Any) -> list[Any]:
        filled = list(parameters)
        for k, x in zip(places, moving, strict=True):
            filled[k] = x
        return residual(*filled)

    moving = [parameters[k] for k in places]

    def pull(cts: Sequence[Any]) -> list[Any]:
        return record(of_moving, moving)[1].pull(list(cts))

    def pushed(dots: Sequence[Any]) -> list[Any]:
        return [zeros(*aval) if dot is None else dot for dot in push(of_moving, moving, dots)[1]]

    aval = aval_of(residual(*parameters)[0])
    given = [dots[k] for k in places]
    return given[0]._owner.mapped(given, aval, pull, pushed)


def demand_answer(
    name: str, equations: ImplicitEquations, y: Any, parameters: Sequence[Any], tol: float, derivative: bool
) -> None:
    """Raise if a vector y does not satisfy its equation; and if it has no `derivative`, where one is asked for.

    In a program that is captured this is part of the program. Of parameters in intervals it was proved.
    """
    if enclosing(y, *parameters) is not None:
        return
    y, parameters = stop_gradient(y), [stop_gradient(p) for p in parameters]
    if running.state.capture is None:
        answer(lambda y, *p: _demand_at_numbers(name, equations, y, p, tol, derivative), y, *parameters)
        return
    r, matrix = equations.linearised(y, parameters)
    instrument(roots.demand_answer)(r, matrix.solve, y, tol, name)
    if derivative:
        instrument(roots.demand_derivative)(r, matrix.solve, _slope(equations, parameters), y, name)


def _slope(equations: ImplicitEquations, parameters: Sequence[Any]) -> Callable:
    """What the Jacobian at a point does to a vector."""

    def slope(y: Any, v: Any) -> Any:
        found = push(lambda y: [equations.residual(y, *parameters)], [y], [v])[1][0]
        return 0 * v if found is None else found

    return slope


def _demand_at_numbers(
    name: str, equations: ImplicitEquations, y: np.ndarray, parameters: Sequence[Any], tol: float, derivative: bool
) -> bool:
    with np.errstate(all="ignore"):
        r, matrix = equations.linearised(y, parameters)
        if derivative or np.any(r):
            solve = checked_solver(name, matrix.plain(matrix.entries), r)
            roots.demand_answer(r, solve, y, tol, name)
            if derivative:
                roots.demand_derivative(r, solve, _slope(equations, parameters), y, name)
    return True


class Problem:
    """An equation and its solver, for the op `solution`, of any number of parameters.

    `find(parameters)` gives all unknowns at plain numbers as one vector; the first `count` of them are what the user
    sees. `demand(y, parameters)` raises if the refined answer has no derivative for another reason than a singular
    Jacobian.
    """

    def __init__(
        self,
        name: str,
        find: Callable[[Sequence[Any]], Any],
        residual: Residual,
        count: int,
        unknowns: int,
        demand: Callable[[np.ndarray, Sequence[Any]], None] | None = None,
    ):
        self.name = name
        self.find = find
        self.equations = ImplicitEquations(residual)
        self.count = count
        self.size = unknowns
        self.demand = demand

    def solve(self, parameters: Sequence[Any]) -> np.ndarray:
        """The answer as it was found."""
        return np.asarray(self.find(parameters), float).reshape(-1)

    def refined(self, y: np.ndarray, parameters: Sequence[Any]) -> np.ndarray:
        """An answer with all its digits, if it has a derivative."""
        with np.errstate(all="ignore"):
            y = self._improved(y, parameters)
        if self.demand is not None:
            self.demand(y, parameters)
        return y

    def enclosed(self, mode: Any, parameters: Sequence[Any]) -> Any:
        """The answers for all parameters in intervals."""

        def at(middle: Sequence[Any]) -> np.ndarray:
            return self.refined(self.solve(middle), middle)

        return enclosed_roots(mode, self.name, self.equations.residual, at, parameters)

    def _improved(self, y: np.ndarray, parameters: Sequence[Any]) -> np.ndarray:
        smallest = np.inf
        for _ in range(_STEPS):
            r, matrix = self.equations.linearised(y, parameters)
            solve = checked_solver(self.name, matrix.plain(matrix.entries), r)
            if smallest == np.inf:
                self._demand_derivative(r, solve, y, parameters)
            step = solve(r)
            length = np.max(np.abs(step), initial=0)
            if not length < smallest / 2:  # rounding errors are left
                break
            y, smallest = y - step, length
        return y

    def _demand_derivative(self, r: Any, solve: Callable, y: np.ndarray, parameters: Sequence[Any]) -> None:
        roots.demand_answer(r, solve, y, _LARGEST_STEP, self.name)
        try:
            roots.demand_derivative(r, solve, _slope(self.equations, parameters), y, self.name)
        except ConvergenceError:
            if self.demand is not None:  # which may know more
                self.demand(y, parameters)
            raise

    def tangent(self, y: Any, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
        """The tangent of a refined answer."""
        return implicit_tangent(self.equations, y, parameters, dots)


def solved(problem: Problem, values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The answer that the user sees."""
    found = solution(*values, problem=problem)
    return reshape(part(found, 0, slice(0, problem.count)), shape=shape) if shape else part(found, 0, 0)
