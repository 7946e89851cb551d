"""Initial-value problems by Taylor series: steps as long as the last terms stay below the tolerance.

Orders and steps are chosen as by Jorba & Zou (2005), "A software package for the numerical integration of ODEs by means
of high-order Taylor methods". A series knows nothing of a kink or a jump that lies ahead, so the right-hand side is
asked once more at the end of each step: where it is not the slope of the polynomial, the step is shorter. Steps are
plain numbers: what is differentiated is the series that were added up.
"""

from __future__ import annotations

import numpy as np

from wengert.errors import ConvergenceError


def integrate(expand, rate, y, times, constant, rtol, atol, most):
    """The solution at `times`, the first of which is the start.

    `expand(t, y)` has the Taylor coefficients of the solution through the vector y at t in its rows, `rate(t, y)` is
    the right-hand side; `constant(x)` is x without its derivative.
    """
    end = constant(times[times.shape[0] - 1])
    out = np.zeros((times.shape[0], y.shape[0]), y.dtype)
    out[0] = y
    start = times[0]
    series = expand(start, y)
    reach = trusted(rate, constant(series), constant(start), end, rtol, atol)
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
            reach = trusted(rate, constant(series), constant(start), end, rtol, atol)
            ahead = times[i] - start
            steps = steps + 1
        out[i] = evaluated(series, ahead)
    return out


def trusted(rate, series, start, end, rtol, atol):
    """How far the series is the solution: as far as `step` says, if the right-hand side agrees there."""
    scale = atol + rtol * np.abs(series[0])
    rest = end - start
    reach = np.minimum(step(series, rtol, atol), np.abs(rest))
    slopes = series[1:] * np.arange(1, series.shape[0]).reshape(-1, 1)
    least = 1e-14 * np.abs(start)
    agrees = np.bool_(not reach > least)
    while not agrees:
        h = np.copysign(reach, rest)
        slope = evaluated(slopes, h)
        found = rate(start + h, evaluated(series, h))
        size = np.abs(series[0]) + reach * (np.abs(slope) + np.abs(found))
        allowed = _MARGIN * (scale + 10 * np.finfo(series.dtype).eps * size)
        agrees = np.all(np.abs(found - slope) * reach <= allowed) or reach <= least
        if not agrees:
            reach = 0.5 * reach
    return reach


_MARGIN = 10
"""By how much the slope of a good series may be off at the end of a step, in tolerances: what is left out, times n."""


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
