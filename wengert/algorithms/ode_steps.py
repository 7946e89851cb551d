"""Initial-value problems whose solution is kept after every step, as SciPy's `solve_ivp` does without `t_eval`.

How many steps there are data decide. Steps are chosen by SciPy's rules, so that an explicit method stops at the times
at which SciPy's does, up to rounding errors.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.ode import LARGEST_FACTOR, SAFETY, SMALLEST_FACTOR, first_step, without_derivative
from wengert.errors import ConvergenceError


def integrate_by_steps(f, y, begin, end, constant, attempt, order, rtol, atol, first, longest):
    """The times after all steps, the first and the last of which are the ends, and the states there, row by row.

    `attempt` is as for `ode.integrate`; `first` is the length of the first step, or None, and `longest` that of the
    longest. Of the times the ends have derivatives.
    """
    before, stop = constant(begin), constant(end)
    whole = np.abs(stop - before)
    direction = np.where(stop < before, -1.0, 1.0)
    slope = f(begin, y, 1)
    if first is None:
        still = without_derivative(f, constant)
        h = first_step(still, before, constant(y), constant(slope), direction, order, rtol, atol, whole)
        h = np.minimum(h, whole)
    else:
        h = first * np.ones(())
    t = begin
    times = [t]
    states = [y]
    rejected = False
    running = True
    while running:
        least = 10 * np.spacing(np.abs(before))
        if not rejected:
            h = np.minimum(np.maximum(h, least), longest)
        there = before + h * direction
        last = (there - stop) * direction >= 0
        ahead = there
        if last:
            ahead = end
        new, _, new_slope, error = attempt(f, t, ahead - t, y, slope, 1)
        scale = atol + np.maximum(np.abs(constant(y)), np.abs(constant(new))) * rtol
        size = constant(error(scale))
        factor = SAFETY * np.maximum(size, 1e-300) ** (-1 / (order + 1))
        h = np.abs(constant(ahead) - before)
        if size < 1:
            factor = np.minimum(factor, LARGEST_FACTOR)
            if rejected:
                factor = np.minimum(factor, 1.0)
            h = h * factor
            t = ahead
            before = constant(ahead)
            y = new
            slope = new_slope
            times.append(t)
            states.append(y)
            rejected = False
            running = not last
        else:
            h = h * np.fmax(factor, SMALLEST_FACTOR)  # which is all that is left where the error is NaN
            rejected = True
            if h < least:
                raise ConvergenceError(
                    "scipy.integrate.solve_ivp has not converged, so there is no answer to differentiate: the step "
                    "size became too small",
                    remedy="the equation may be stiff (method='Radau'), or its solution may not exist that long",
                )
    return np.array(times), np.array(states)
