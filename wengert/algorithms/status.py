"""How an iterative method stands: the codes that compiled loops carry, and what they mean."""

from __future__ import annotations

RUNNING = -1
CONVERGED = 0
LIMIT = 1
STUCK = 2
NOT_FINITE = 3
PRECISE = 4
INTERRUPTED = 99

MESSAGES = {
    CONVERGED: "converged: the gradient is small",
    LIMIT: "the largest number of iterations is reached (options={'maxiter': …})",
    STUCK: "no lower value was found along the search direction, and the gradient is not small: the function may have "
    "a kink or a jump there, or be computed inaccurately",
    NOT_FINITE: "the value or the gradient is not finite",
    PRECISE: "converged: further decrease is below the rounding errors of the function",
    INTERRUPTED: "interrupted",
}

LEVEL_ITERATIONS = 5
"""After so many iterations in a row that do not change the value, rounding errors are all that is left."""
ROUNDING = 1e-15
"""A change of a value, relative to it, that is rounding error."""


def after_iteration(size, tol, fall, value, level):
    """The status after an iteration, and for how many in a row the value has not fallen. `size` is the gradient's."""
    level = level + 1 if fall <= ROUNDING * abs(value) else 0
    status = RUNNING
    if size <= tol:
        status = CONVERGED
    elif level >= LEVEL_ITERATIONS:
        status = PRECISE
    return status, level


def when_stuck(promised, value):
    """The status where no step makes the value fall: what is promised may be less than can be resolved."""
    return PRECISE if promised <= 1e-9 * abs(value) else STUCK
