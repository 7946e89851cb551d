"""How an optimum moves with a parameter: the implicit function of the conditions that hold there (Fiacco 1976).

    [ W   Aᵀ ] [ dx/dp ]     [ ∂²L/∂x∂p ]
    [ A   0  ] [ −dy/dp] = − [ ∂a/∂p    ]

A are the gradients of the constraints that are active, a their values. Bounds that are active hold their variable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from wengert.api.grad import grad
from wengert.api.jacobian import jacobian
from wengert.errors import ConvergenceError
from wengert.optimize.program import FlatProgram


class Sensitivity(dict):
    """Derivatives of the variables by name, and of the objective."""

    def __init__(self, parts: dict[str, Any], objective: Any):
        super().__init__(parts)
        self.objective = objective


def sensitivity_at(
    program: FlatProgram,
    x: np.ndarray,
    rows: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    parameters: dict[str, Any],
    name: str,
) -> tuple[np.ndarray, np.ndarray]:
    """dx/dp, of shape (variables, size of p), and the derivative of the objective, of shape (size of p,)."""
    _, _, values, J = program.first(x)
    slack, multiplier = values[program.equal :], rows[program.equal :]
    active = np.concatenate([np.ones(program.equal, bool), multiplier > np.abs(slack)])
    low, high = bounds
    with np.errstate(invalid="ignore"):
        held = (low > x - program.lower) | (high > program.upper - x) | (program.lower == program.upper)
    _demand_strict(slack, multiplier, lambda k: program.row_name(program.equal + k))
    moves = program.lower < program.upper
    for distance, weight in ((x - program.lower, low), (program.upper - x, high)):
        _demand_strict(np.where(moves, distance, np.inf), weight, lambda k: f"a bound of variable {k}")
    free, kept = np.flatnonzero(~held), np.flatnonzero(active)

    def slope(p: Any) -> Any:
        """The gradient of the Lagrangian."""
        return grad(program.lagrangian)(x, 1.0, -rows, {**parameters, name: p})

    def constraints(p: Any) -> Any:
        return program.rows(x, {**parameters, name: p})

    def objective(p: Any) -> Any:
        return program.lagrangian(x, 1.0, -rows, {**parameters, name: p})

    p = parameters[name]
    size = int(np.size(p))
    mixed = np.reshape(jacobian(slope, mode="forward")(p), (program.n, size))
    moved = (
        np.reshape(jacobian(constraints, mode="forward")(p), (program.m, size)) if program.m else np.zeros((0, size))
    )
    gained = np.reshape(grad(objective)(p), (size,))
    W = sp.csc_array(program.second(x, 1.0, -rows))[free][:, free]
    A = sp.csc_array(J)[kept][:, free]
    K = sp.csc_array(sp.block_array([[W, A.T], [A, None]])) if kept.size else W
    side = -np.concatenate([mixed[free], moved[kept]])
    result = np.zeros((program.n, size))
    if free.size or kept.size:
        try:
            found = splu(sp.csc_array(K)).solve(side)
        except RuntimeError:
            found = np.full(side.shape, np.nan)
        residual = np.max(np.abs(K @ found - side), initial=0.0)
        if not residual <= 1e-6 * (1 + np.max(np.abs(side), initial=0.0)):
            raise ConvergenceError(
                "the optimum is degenerate: active constraints depend on each other, or it is not the only one",
                remedy="look at model.check(), and leave out constraints that say the same",
            )
        result[free] = found[: free.size]
    return result, gained


def _demand_strict(slack: np.ndarray, multiplier: np.ndarray, name: Callable[[int], str]) -> None:
    """Refuse constraints of which it cannot be said whether they are active: slack and multiplier vanish together."""
    small, large = np.minimum(np.abs(slack), multiplier), np.maximum(np.abs(slack), multiplier)
    weak = np.flatnonzero((large < 1e-3) & (small > 1e-2 * large))
    if weak.size:
        raise ConvergenceError(
            f"{name(int(weak[0]))} is active with multiplier zero: the optimum has a kink there, and no derivative",
            remedy="leave the constraint out, or look at a parameter next to this one",
        )
