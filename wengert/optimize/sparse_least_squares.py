"""Levenberg and Marquardt's method with a sparse Jacobian, for many unknowns.

The same method as `algorithms/levenberg.py`, driven by Python, since an iteration does much: the compiled residuals
with their Jacobian, and a linear system (`schur.py`). Steps that the system cannot be solved for are damped more.
Bounds: unknowns at a bound that the cost pushes them against are held, and steps end at bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from wengert.algorithms.levenberg import COST, GRADIENT, INTERRUPTED, NO_PROGRESS, RUNNING, STEP, STOPPED
from wengert.errors import MismatchError
from wengert.optimize.robust import scaled
from wengert.optimize.schur import of_columns, solver_for
from wengert.optimize.telling import Listener, Stopped

_LEAST_DAMPING = 1e-16
_PASSES = 10
"""So often a step is computed again for unknowns that stay within their bounds."""


class SparseProblem:
    """Cost, residuals and sparse Jacobian of a problem at states."""

    def __init__(self, problem: Any, pattern: Any):
        self.problem = problem
        self._both = problem.residuals.sparse(pattern, problem.jit)
        self._zeros = np.zeros(problem.coordinates.size)

    def __call__(self, state: np.ndarray) -> tuple[float, np.ndarray, csr_array]:
        problem = self.problem
        first = (self._zeros, state) if problem.coordinates.curved else (state,)
        with np.errstate(all="ignore"):
            f, jacobian = self._both(*first, problem.start, problem.args)
            cost, f, rows = scaled(problem.residuals.loss, np.asarray(f), problem.scale)
        if rows is not None:
            each = np.repeat(np.asarray(rows), np.diff(jacobian.indptr))
            jacobian = csr_array((jacobian.data * each, jacobian.indices, jacobian.indptr), shape=jacobian.shape)
        problem.evaluations += 1
        if cost < problem.best[0]:
            problem.best = float(cost), state
        return float(cost), np.asarray(f), jacobian


def sparse_levenberg(problem: Any, pattern: Any, method: str, tolerances: list[float], maxiter: int,
                     listener: Listener) -> tuple:  # fmt: skip
    """The state that is reached, why, after how many iterations, and cost, residuals and Jacobian there."""
    if method == "dogleg":
        raise MismatchError("dogleg steps are for dense Jacobians", remedy='use method="lm", or sparse=False')
    evaluate = SparseProblem(problem, pattern)
    state = problem.state
    cost, f, jacobian = last = evaluate(state)
    if not (np.isfinite(cost) and np.all(np.isfinite(jacobian.data))):
        raise problem.residuals.not_finite(problem.vector(state), problem.args)
    solver = problem.residuals.solver(jacobian, solver_for)
    ftol, xtol, gtol = tolerances
    damping, grow = (1e-4, 2.0) if method == "lm" else (1e-12, 2.0)
    scale = np.zeros(problem.coordinates.size)
    status, count = RUNNING, 0
    fresh = True
    try:
        while status == RUNNING and count < maxiter:
            if fresh:
                norms, gradient = (of_columns if problem.bounded else solver.take)(jacobian, f)
                scale = np.maximum(scale, norms)
                held = _pushed(problem, state, gradient)
                size = np.abs(np.where(held, 0.0, gradient)) / np.sqrt(np.where(norms > 0, norms, 1.0))
                if np.max(size, initial=0.0) <= gtol * np.sqrt(2 * cost):
                    status = GRADIENT
                    break
            diagonal = damping * np.where(scale > 0, scale, 1.0)
            count += 1
            if problem.bounded:
                step = _bounded_step(problem, solver, jacobian, f, diagonal, state, held)
            else:
                step = _solved(solver, diagonal)
            if step is not None:
                along = jacobian @ step
                predicted = -(gradient @ step) - (along @ along) / 2
            if step is None or not predicted > 0:
                damping, grow = max(damping, 1e-12) * grow, grow * 2
                fresh = False
                status = NO_PROGRESS if damping > 1e30 else RUNNING
                continue
            trial = np.asarray(problem.coordinates.moved(state, step))
            if problem.bounded:
                trial = np.clip(trial, problem.lower, problem.upper)
            after, new_f, new_jacobian = new = evaluate(trial)
            fresh = bool(after < cost and np.all(np.isfinite(new_jacobian.data)))
            if abs(cost - after) <= ftol * cost and predicted <= max(ftol, 1e-14) * cost:
                status = COST
            elif np.all(np.abs(step) <= xtol * np.max(np.abs(state), initial=0.0)):
                status = STEP
            if fresh:
                gain = (cost - after) / predicted if predicted > 0 else 0.0
                damping = max(damping * max(1 / 3, 1 - (2 * min(gain, 10.0) - 1) ** 3), _LEAST_DAMPING)
                grow = 2.0
                state, cost, f, jacobian = trial, after, new_f, new_jacobian
                last = new
                listener.tell(count, state, cost, None)
            else:
                damping, grow = max(damping, 1e-12) * grow, grow * 2
                if damping > 1e30 and status == RUNNING:
                    status = NO_PROGRESS
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Stopped:
        status = STOPPED
    problem.description = solver.description
    return state, status, count, last


def _pushed(problem: Any, state: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Unknowns at a bound that the cost pushes them against."""
    if not problem.bounded:
        return np.zeros(len(gradient), bool)
    return ((state <= problem.lower) & (gradient > 0)) | ((state >= problem.upper) & (gradient < 0))


def _bounded_step(problem: Any, solver: Any, jacobian: csr_array, f: np.ndarray, diagonal: np.ndarray,
                  state: np.ndarray, held: np.ndarray) -> np.ndarray | None:  # fmt: skip
    """A step within bounds: unknowns that it would take beyond are taken to their bound, the others computed again."""
    step = np.zeros(len(state))
    for _ in range(_PASSES):
        solver.take(_without(jacobian, held), f + jacobian @ np.where(held, step, 0.0))
        found = _solved(solver, diagonal)
        if found is None:
            return None
        step = np.where(held, step, found)
        inside = np.clip(step, problem.lower - state, problem.upper - state)
        out = inside != step
        step = inside
        if not np.any(out):
            break
        held = held | out
    return step


def _without(matrix: csr_array, columns: np.ndarray) -> csr_array:
    """A matrix with zeros in some columns, and the index arrays that it had."""
    data = np.where(columns[matrix.indices], 0.0, matrix.data)
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _solved(solver: Any, diagonal: np.ndarray) -> np.ndarray | None:
    """A step, unless the system is singular."""
    try:
        step = solver.step(diagonal)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    return step if np.all(np.isfinite(step)) else None
