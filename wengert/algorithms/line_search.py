"""Line searches: a step length at which a function has fallen enough and its slope has become flatter (Wolfe).

One evaluation of value and gradient for each trial. The interval is widened until it contains a good step, then
narrowed by cubic interpolation (Nocedal and Wright, Numerical Optimization, §3.5). Near a minimum, where differences of
values are rounding errors, slopes decide instead (Hager and Zhang 2005, "approximate Wolfe conditions").
"""

from __future__ import annotations

import numpy as np

FALL = 1e-4
"""A value must fall by at least this part of what the slope promises."""
LEVEL = 1e-12
"""Values that differ by less than this, relatively, count as equal."""
MOST_TRIALS = 40


def wolfe(f_and_gradient, x, direction, value, slope, first, flatter):
    """A step along a direction: the new point, value, gradient, the number of evaluations, and whether it is good.

    `slope` is the derivative along the direction at x, `first` the step that is tried first; the slope at a good step
    is at least `flatter` times that at x.
    """
    low = 0.0
    low_value = value
    low_slope = slope
    high = np.inf
    high_value = value
    high_slope = slope
    step = first
    last = first
    trials = 0
    good = False
    new = x
    after = value
    gradient = np.zeros_like(x)
    while not good and trials < MOST_TRIALS:
        last = step
        new = x + step * direction
        after, gradient = f_and_gradient(new)
        after_slope = gradient @ direction
        trials = trials + 1
        falls = after <= value + FALL * step * slope
        levels = after <= value + LEVEL * np.abs(value) and after_slope <= (2 * FALL - 1) * slope
        if not (falls or levels):
            high = step
            high_value = after
            high_slope = after_slope
        elif not after_slope >= flatter * slope:
            low = step
            low_value = after
            low_slope = after_slope
        else:
            good = True
        if not good:
            if high == np.inf:
                step = 4 * step
            elif trials == MOST_TRIALS - 1:  # the last trial: at least this has fallen
                step = low
            else:
                step = between(low, low_value, low_slope, high, high_value, high_slope)
    if not good:
        good = last == low and low > 0 and after < value
    return new, after, gradient, trials, good


def between(a, value_a, slope_a, b, value_b, slope_b):
    """Where the cubic through two points with these slopes is smallest, kept away from both."""
    width = b - a
    d = slope_a + slope_b - 3 * (value_b - value_a) / width
    root = np.sqrt(np.maximum(d * d - slope_a * slope_b, 0.0))
    part = 1 - (slope_b + root - d) / (slope_b - slope_a + 2 * root)
    if not np.isfinite(part):
        part = 0.1
    return a + np.minimum(np.maximum(part, 0.1), 0.9) * width


def backtrack(f_and_gradient, x, direction, value, gradient, reference, lower, upper):
    """Shorter and shorter steps, projected into bounds, until the value is below `reference` by enough (Armijo).

    The new point, its value and gradient, the number of evaluations, and whether it is good.
    """
    step = 1.0
    trials = 0
    good = False
    new = x
    after = value
    new_gradient = gradient
    while not good and trials < MOST_TRIALS:
        new = np.minimum(np.maximum(x + step * direction, lower), upper)
        after, new_gradient = f_and_gradient(new)
        trials = trials + 1
        promised = gradient @ (new - x)
        good = after <= reference + FALL * promised
        if not good:
            fitted = -promised * step / (2 * (after - value - promised))
            if np.isfinite(fitted):
                step = np.minimum(np.maximum(fitted, 0.1 * step), 0.5 * step)
            else:
                step = 0.1 * step
    return new, after, new_gradient, trials, good and np.max(np.abs(new - x)) > 0
