"""Initial-value problems by Taylor series: steps as long as the last terms stay below the tolerance.

Orders and steps are chosen as by Jorba & Zou (2005), "A software package for the numerical integration of ODEs by means
of high-order Taylor methods". Steps are plain numbers: what is differentiated is the series that were added up.
"""

from __future__ import annotations

import numpy as np

from wengert.errors import ConvergenceError


def integrate(expand, y, times, constant, rtol, atol, most):
    """The solution at `times`, the first of which is the start.

    `expand(t, y)` has the Taylor coefficients of the solution through the vector y at t in its rows; `constant(x)` is
    x without its derivative.
    """
    out = np.zeros((times.shape[0], y.shape[0]), y.dtype)
    out[0] = y
    start = times[0]
    series = expand(start, y)
    reach = step(constant(series), rtol, atol)
    steps = 0
    for i in range(1, times.shape[0]):
        ahead = times[i] - start
        while not np.abs(ahead) <= reach:
            if not reach > 1e-15 * np.abs(start):
                raise ConvergenceError(
                    "wg.integrate_taylor: the series of the solution allows no step: it has a singularity there, or "
                    "the right-hand side is not finite",
                    remedy="stop before the singularity, or ask for less accuracy",
                )
            if steps >= most:
                raise ConvergenceError(
                    "wg.integrate_taylor: there were too many steps",
                    remedy="the equation may be stiff: use an implicit method for it, such as wg.odeint's Radau",
                )
            h = np.copysign(reach, constant(ahead))
            start = start + h
            series = expand(start, evaluated(series, h))
            reach = step(constant(series), rtol, atol)
            ahead = times[i] - start
            steps = steps + 1
        out[i] = evaluated(series, ahead)
    return out


def step(series, rtol, atol):
    """How far the last two terms stay below the tolerance; they stand for what is left out. NaN if unknown."""
    n = series.shape[0] - 1
    scale = atol + rtol * np.abs(series[0])
    reach = np.inf
    for k in (n - 1, n):
        size = np.max(np.abs(series[k]) / scale, initial=0.0)
        if size > 0:
            reach = np.minimum(reach, size ** (-1 / k))
        elif not size >= 0:
            reach = np.nan
    return reach * np.exp(-0.7 / (n - 1))


def evaluated(series, h):
    """The polynomial with these coefficients, by Horner's rule, in their type."""
    y = series[series.shape[0] - 1]
    for k in range(series.shape[0] - 2, -1, -1):
        y = (y * h + series[k]).astype(series.dtype)
    return y
