"""How an iterative method stands: the codes that compiled loops carry, and what they mean."""

from __future__ import annotations

import numpy as np

RUNNING = -1
CONVERGED = 0
LIMIT = 1
STUCK = 2
NOT_FINITE = 3
PRECISE = 4
STALLED = 5
VALLEY = 6
FLAT = 7
SADDLE = 8
ENDLESS = 9
INTERRUPTED = 99

MESSAGES = {
    CONVERGED: "converged: the gradient is small",
    LIMIT: "the largest number of iterations is reached (options={'maxiter': …})",
    STUCK: "no lower value was found along the search direction, and the gradient is not small: the function may have "
    "a kink or a jump there, or be computed inaccurately",
    NOT_FINITE: "the value or the gradient is not finite",
    PRECISE: "converged: further decrease is below the rounding errors of the function",
    STALLED: "the value falls no further, though its gradient is not small for the size of x: a narrow valley, or a "
    "function that is computed inaccurately; unknowns of similar size, or another start, may help",
    VALLEY: "the value falls ever more slowly as x grows: a valley that seems to have no lowest point",
    FLAT: "flat: the value does not change with x here, so that nothing says where to go; start elsewhere",
    SADDLE: "the gradient is zero at a saddle point, beside which values are lower; start elsewhere",
    ENDLESS: "the value falls to minus infinity: the function has no lower bound",
    INTERRUPTED: "interrupted",
}

LEVEL_ITERATIONS = 5
"""After so many iterations in a row that do not change the value, rounding errors are all that is left."""
LEVEL_PART = 1e-2
"""The part of a value that a change of x by itself may seem to be worth where rounding errors are all that is left."""
ROUNDING = 1e-15
"""A change of a value, relative to it, that is rounding error."""


def is_stationary(x, value, gradient, size, tol):
    """Whether a gradient, of which `size` is what counts within bounds, is small: absolutely, and for x and the value.

    That the components are below the tolerance says little where a change of x by a part of itself still changes the
    value by a part of itself. Values near zero are exempt: they have no size of their own.
    """
    return size <= tol and (abs(value) <= tol * np.sqrt(tol) or is_level(x, value, gradient, np.sqrt(tol)))


def is_level(x, value, gradient, part):
    """Whether a change of an unknown by its own size changes the value by a part of it only, to first order."""
    return np.max(np.abs(gradient * x)) <= part * abs(value)


def before_iterations(status, x, value, gradient, free, size, tol):
    """The status of a point to begin with, or to go on from. `free` is the gradient without what bounds hold back."""
    if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
        status = NOT_FINITE
    elif is_stationary(x, value, free, size, tol):
        status = CONVERGED
    return status


def after_iteration(x, value, gradient, size, tol, fall, level):
    """The status after an iteration, and for how many in a row the value has not fallen.

    `gradient` is that of free unknowns, `size` what counts of it.
    """
    level = level + 1 if fall <= ROUNDING * abs(value) else 0
    status = RUNNING
    if is_stationary(x, value, gradient, size, tol):
        status = CONVERGED
    elif value == -np.inf:
        status = ENDLESS
    elif level >= LEVEL_ITERATIONS:
        status = PRECISE if is_level(x, value, gradient, LEVEL_PART) else STALLED
    return status, level


def when_stuck(x, value, gradient, promised):
    """The status where no step makes the value fall: what is promised may be less than can be resolved."""
    if promised > 1e-9 * abs(value):
        return STUCK
    return PRECISE if is_level(x, value, gradient, LEVEL_PART) else STALLED
