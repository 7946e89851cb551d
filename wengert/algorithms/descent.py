"""First-order descent with line searches: nonlinear conjugate gradients, and gradient descent.

Conjugate gradients are those of Hager and Zhang (2005), whose directions always descend. Gradient descent takes the
step lengths of Barzilai and Borwein (1988), and demands only that values fall below the largest of the last ten
(Grippo, Lampariello and Lucidi 1986). A state begins as that of `lbfgs.py`.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.lbfgs import moving
from wengert.algorithms.line_search import backtrack, wolfe
from wengert.algorithms.status import RUNNING, after_iteration, before_iterations, when_stuck

_REMEMBERED = 10


def start_conjugate(x, value, gradient):
    """The state of conjugate gradients before the first iteration."""
    return x, value, gradient, 0, 1, RUNNING, -gradient, 0.0, 0


def advance_conjugate(f_and_gradient, state, iterations, tol):
    """Conjugate gradients, up to this number of iterations."""
    x, value, gradient, count, evaluations, status, direction, step, level = state
    size = np.max(np.abs(gradient))
    status = before_iterations(status, x, value, gradient, gradient, size, tol)
    while status == RUNNING and count < iterations:
        slope = gradient @ direction
        is_steepest = step == 0 or not slope < 0
        if is_steepest:
            direction = -gradient
            slope = -(gradient @ gradient)
            step = np.minimum(1.0, 1.0 / np.sum(np.abs(gradient)))
        new, after, new_gradient, trials, good = wolfe(f_and_gradient, x, direction, value, slope, step, 0.1)
        evaluations = evaluations + trials
        count = count + 1
        if good:
            y = new_gradient - gradient
            dy = direction @ y
            dd = direction @ direction
            taken = np.sqrt(((new - x) @ (new - x)) / dd)
            beta = (y @ new_gradient - 2 * (y @ y) * (direction @ new_gradient) / dy) / dy
            least = -1.0 / (np.sqrt(dd) * np.minimum(0.01, np.sqrt(gradient @ gradient)))
            beta = np.maximum(beta, least) if np.isfinite(beta) else 0.0
            size = np.max(np.abs(new_gradient))
            status, level = after_iteration(new, after, new_gradient, size, tol, value - after, level)
            new_direction = beta * direction - new_gradient
            # The first trial of the next search promises the same fall as this one did.
            step = taken * slope / (new_gradient @ new_direction)
            step = step if np.isfinite(step) and step > 0 else taken
            direction = new_direction
            x = new
            value = after
            gradient = new_gradient
        elif not is_steepest:
            step = 0.0
        else:
            status = when_stuck(x, value, gradient, -slope * step)
    return x, value, gradient, count, evaluations, status, direction, step, level


def start_descent(x, value, gradient):
    """The state of gradient descent before the first iteration."""
    length = 1.0 / np.maximum(np.sum(np.abs(gradient)), 1.0)
    return x, value, gradient, 0, 1, RUNNING, length, np.full(_REMEMBERED, value), 0


def advance_descent(f_and_gradient, state, iterations, tol, lower, upper):
    """Gradient descent within bounds, up to this number of iterations."""
    x, value, gradient, count, evaluations, status, length, values, level = state
    values = values.copy()
    size = np.max(np.abs(np.minimum(np.maximum(x - gradient, lower), upper) - x))
    free = moving(x, gradient, lower, upper)
    status = before_iterations(status, x, value, gradient, free, size, tol)
    while status == RUNNING and count < iterations:
        # A projected step is a straight line into the bounds, so that every part of it is within them.
        direction = np.minimum(np.maximum(x - length * gradient, lower), upper) - x
        new, after, new_gradient, trials, good = backtrack(
            f_and_gradient, x, direction, value, gradient, np.max(values), lower, upper
        )
        evaluations = evaluations + trials
        count = count + 1
        if good:
            s = new - x
            y = new_gradient - gradient
            sy = s @ y
            length = (s @ s) / sy if sy > 0 else 10 * length
            length = np.minimum(np.maximum(length, 1e-20), 1e20)
            size = np.max(np.abs(np.minimum(np.maximum(new - new_gradient, lower), upper) - new))
            left = moving(new, new_gradient, lower, upper)
            status, level = after_iteration(new, after, left, size, tol, np.abs(value - after), level)
            x = new
            value = after
            gradient = new_gradient
            values[count % _REMEMBERED] = after
        else:
            status = when_stuck(x, value, moving(x, gradient, lower, upper), -(gradient @ direction))
    return x, value, gradient, count, evaluations, status, length, values, level
