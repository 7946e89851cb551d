"""Minima, with or without constraints, as answers of an equation: the conditions of Karush, Kuhn and Tucker.

The unknowns are x and one multiplier for each constraint. At a minimum of f with h(x) = 0 and g(x) ≥ 0

    ∇f − ν·∇h − λ·∇g = 0,      h = 0,      min(g, λ) = 0 in each component.

The minimum in the last line is what `np.minimum` is: it selects g where a constraint is active, and the multiplier
where it is not, and has the derivative of what it selects. Bounds are constraints like others. Where g and λ are both
zero the constraint is just touched: a small change of the parameters one way or the other gives different derivatives,
and that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.optimize

from wengert.api.grad import grad
from wengert.api.jacobian import jacobian
from wengert.box.functions.operands import join, part
from wengert.errors import ConvergenceError
from wengert.ops import elementwise as e
from wengert.ops.reduce import sum
from wengert.solvers.answer import Problem, solved
from wengert.solvers.given import Given
from wengert.solvers.parameters import vector
from wengert.types import shape_of

_NEAR = 1e-3
"""A constraint that is nearer to its limit than this, relative to 1 + |x|, may be active."""
_TOUCHED = 1e-7
"""A constraint and its multiplier that are both smaller than this, relative to the largest, are both zero."""

Function = Callable[[Any, Any], Any]
"""Of the arguments of a solver, with certain values for the traced ones, and of x, a vector."""


class Optimum:
    """A minimum of `objective` where `equalities` are zero and `inequalities` are not negative; they give vectors."""

    def __init__(
        self,
        given: Given,
        objective: Function,
        equalities: Sequence[Function] = (),
        inequalities: Sequence[Function] = (),
    ):
        self.name, self.parameters = given.name, given.parameters
        self.objective = objective
        self._equalities = list(equalities)
        self._inequalities = list(inequalities)
        self.sizes = (0, 0, 0)

    def minimum(self, start: Any, shape: tuple[int, ...], find: Callable[[Any], Any]) -> Any:
        """The minimum, an array of a shape. `find` gives it for plain arguments; `start` is one such vector."""
        arguments = self.parameters.put(self.parameters.values)
        self.sizes = (
            int(np.prod(shape)),
            *[shape_of(_joined(fs, arguments, start))[0] for fs in (self._equalities, self._inequalities)],
        )
        total = int(np.sum(self.sizes))

        def unknowns(values: Sequence[Any]) -> np.ndarray:
            x = np.asarray(self.parameters.run(self.name, values, find), float).reshape(-1)
            return np.concatenate([x, *self._multipliers(self.parameters.put(values), x)])

        problem = Problem(self.name, unknowns, self.conditions, self.sizes[0], total, self._demand_strict)
        return solved(problem, self.parameters.values, shape)

    def conditions(self, unknowns: Any, *values: Any) -> Any:
        """What is zero at a minimum."""
        arguments = self.parameters.put(values)
        n, equal, unequal = self.sizes
        x, nu = part(unknowns, 0, slice(0, n)), part(unknowns, 0, slice(n, n + equal))
        lam = part(unknowns, 0, slice(n + equal, n + equal + unequal))

        def lagrangian(x: Any) -> Any:
            value = part(vector(self.objective(arguments, x)), 0, 0)
            if equal:
                value = value - sum(nu * _joined(self._equalities, arguments, x))
            return value - sum(lam * _joined(self._inequalities, arguments, x)) if unequal else value

        rows = [grad(lagrangian)(x)]
        if equal:
            rows.append(_joined(self._equalities, arguments, x))
        if unequal:
            rows.append(e.minimum(_joined(self._inequalities, arguments, x), lam))
        return join(rows, 0)

    def _multipliers(self, arguments: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By least squares, those of inequalities being positive, and zero for constraints that are not near."""
        _, equal, unequal = self.sizes
        if not equal and not unequal:
            return np.zeros(0), np.zeros(0)
        gradient = grad(lambda x: part(vector(self.objective(arguments, x)), 0, 0))(x)
        rows = [np.zeros((0, len(x)))]
        if equal:
            rows.append(jacobian(lambda x: _joined(self._equalities, arguments, x))(x))
        near = np.zeros(0, bool)
        if unequal:
            g = np.asarray(_joined(self._inequalities, arguments, x))
            near = g <= _NEAR * (1 + np.max(np.abs(x), initial=0))
            rows.append(jacobian(lambda x: _joined(self._inequalities, arguments, x))(x)[near])
        matrix = np.concatenate(rows).T
        lowest = np.concatenate([np.full(equal, -np.inf), np.zeros(int(np.sum(near)))])
        found = scipy.optimize.lsq_linear(matrix, gradient, (lowest, np.inf), tol=1e-15).x if len(lowest) else lowest
        lam = np.zeros(unequal)
        lam[near] = found[equal:]
        return found[:equal], lam

    def _demand_strict(self, unknowns: np.ndarray, values: Sequence[Any]) -> None:
        """Refuse an answer at which a constraint is neither active nor inactive."""
        n, equal, unequal = self.sizes
        if not unequal:
            return
        lam = unknowns[n + equal :]
        g = np.asarray(_joined(self._inequalities, self.parameters.put(values), unknowns[:n]))
        scale = 1 + max(np.max(np.abs(lam), initial=0), np.max(np.abs(g[np.isfinite(g)]), initial=0))
        if np.any(np.maximum(g, lam) <= _TOUCHED * scale):
            raise ConvergenceError(
                f"the answer of {self.name} has no derivative: a constraint is just touched, active on one side only",
                remedy="move the constraint or the parameters a little; the derivatives on both sides differ",
            )


def _joined(functions: Sequence[Function], arguments: Any, x: Any) -> Any:
    """The values of several functions, one after the other."""
    return join([vector(f(arguments, x)) for f in functions], 0) if functions else np.zeros(0)
