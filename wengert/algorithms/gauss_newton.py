"""Gauss and Newton's method for sums of squares: the Hessian is taken to be 2 JᵀJ, steps are shortened until they fall.

Directions in which J is singular are left alone (a truncated spectral decomposition). A state begins as that of
`lbfgs.py`; the value is the sum of squares of the residuals.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.line_search import FALL, MOST_TRIALS
from wengert.algorithms.status import RUNNING, after_iteration, before_iterations, when_stuck

_SINGULAR = 1e-15


def start(x, residuals, jacobian):
    """The state before the first iteration."""
    return x, residuals @ residuals, 2 * (jacobian.T @ residuals), 0, 1, RUNNING, residuals, jacobian, 0


def advance(residuals_of, residuals_and_jacobian, state, iterations, tol):
    """Up to this number of iterations."""
    x, value, gradient, count, evaluations, status, r, jacobian, level = state
    size = np.max(np.abs(gradient))
    status = before_iterations(status, x, value, gradient, gradient, size, tol)
    while status == RUNNING and count < iterations:
        # Columns of length one: a change of units must not decide what is singular.
        scale = np.sqrt(np.sum(jacobian * jacobian, axis=0))
        scale = np.where(scale > 0, scale, 1.0)
        scaled = jacobian / scale
        w, v = np.linalg.eigh(scaled.T @ scaled)
        part = v.T @ (gradient / scale)
        direction = -(v @ np.where(w > _SINGULAR * np.max(w), part / np.maximum(w, 1e-300), 0.0)) / (2 * scale)
        slope = gradient @ direction
        step = 1.0
        new = x + direction
        new_r = residuals_of(new)
        after = new_r @ new_r
        trials = 1
        while not after <= value + FALL * step * slope and trials < MOST_TRIALS:
            fitted = -slope * step * step / (2 * (after - value - slope * step))
            if np.isfinite(fitted):
                step = np.minimum(np.maximum(fitted, 0.1 * step), 0.5 * step)
            else:
                step = 0.1 * step
            new = x + step * direction
            new_r = residuals_of(new)
            after = new_r @ new_r
            trials = trials + 1
        evaluations = evaluations + trials
        count = count + 1
        if after <= value + FALL * step * slope and slope < 0:
            r, jacobian = residuals_and_jacobian(new)
            gradient = 2 * (jacobian.T @ r)
            size = np.max(np.abs(gradient))
            status, level = after_iteration(new, after, gradient, size, tol, value - after, level)
            x = new
            value = after
        else:
            status = when_stuck(x, value, gradient, -slope)
    return x, value, gradient, count, evaluations, status, r, jacobian, level
