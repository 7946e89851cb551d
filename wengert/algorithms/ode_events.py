"""Initial-value problems with events: zeros of functions of the solution, which may end it.

The steps are those of `ode.py`. After each of them the signs of all events at its two ends are compared, and where one
has changed the time is found inside the step, on the interpolant, as SciPy's `solve_ivp` does.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.ode import (
    demand_ordered,
    demand_progress,
    factor_after,
    first_step,
    shortened,
    without_derivative,
)
from wengert.errors import ConvergenceError


def integrate_to_events(
    f, y, times, constant, attempt, interpolate, order, rtol, atol, most, event, directions, counts, locate, room
):
    """The solution at `times`, until an event ends it, and the events on the way.

    `event(k, t, y)` is the k-th function, of plain numbers; of its zeros those count where it rises, falls or both
    (`directions[k]` 1, −1, 0), and the `counts[k]`-th ends the solution (0: none does). A zero in a step lies at
    `locate(k, t, h, y, new, stages)`, between 0 and 1, with its derivative. There is `room` for so many of each.

    Returns times, states (an axis for time comes last), times and states of events, and 1 if one ended it.
    """
    count = times.shape[0]
    n = y.shape[0]
    kinds = tuple(range(len(directions)))  # of which each has code of its own
    plain = constant(times)
    demand_ordered(count, plain[1:] - plain[:-1])
    out = np.zeros((count, n))
    out[0] = y
    filled = 1
    event_times = np.zeros((len(kinds), room))
    event_states = np.zeros((len(kinds), room, n))
    seen = np.zeros(len(kinds), dtype=int)
    status = 0
    t = times[0]
    end = plain[count - 1]
    direction = np.where(end < plain[0], -1.0, 1.0)
    slope = f(t, y, 1)
    still = without_derivative(f, constant)
    h = direction * first_step(still, constant(t), constant(y), constant(slope), direction, order, rtol, atol)
    before = np.zeros(len(kinds))
    for k in kinds:
        before[k] = event(k, constant(t), constant(y))
    steps = 0
    running = plain[0] != end
    while running:
        rest = end - constant(t)
        last = np.abs(rest) <= np.abs(h)
        used = np.where(last, rest, h)
        new, K, new_slope, error = attempt(f, t, used, y, slope, 1)
        scale = atol + np.maximum(np.abs(constant(y)), np.abs(constant(new))) * rtol
        size = constant(error(scale))
        factor = factor_after(size, order)
        if size < 1:
            after = np.zeros(len(kinds))
            places = np.full(len(kinds), 2.0)
            reach = 1.0
            for k in kinds:
                after[k] = event(k, constant(t) + used, constant(new))
                rises = before[k] <= 0 <= after[k]
                falls = before[k] >= 0 >= after[k]
                if (rises and directions[k] >= 0) or (falls and directions[k] <= 0):
                    places[k] = locate(k, t, used, y, new, K)
                    if counts[k] > 0 and seen[k] + 1 >= counts[k]:
                        reach = np.minimum(reach, constant(places[k]))
                        status = 1
            for k in kinds:
                if constant(places[k]) <= reach:
                    if seen[k] >= room:
                        raise ConvergenceError(
                            "wg.odeint: there are more events than there is room for",
                            remedy="give it more (maxevents=), or let an event end the solution (terminal)",
                        )
                    event_times[k, seen[k]] = t + places[k] * used
                    event_states[k, seen[k]] = interpolate(f, t, used, y, new, K, places[k], 1)
                    seen[k] += 1
            stop = constant(t) + reach * used
            if last and reach == 1.0:
                stop = end
            while filled < count and (plain[np.minimum(filled, count - 1)] - stop) * direction <= 0:
                out[filled] = interpolate(f, t, used, y, new, K, (times[filled] - t) / used, 1)
                filled = filled + 1
            t = t + used
            y = new
            slope = new_slope
            before = after
            h = used * factor
            running = status == 0 and not last
        else:
            h = shortened(used, size, factor)
        steps = steps + 1
        demand_progress(h, constant(t), steps, most)
    at = [event_times[k][: seen[k]] for k in kinds]
    there = [event_states[k][: seen[k]] for k in kinds]
    return times[:filled], out[:filled].T, at, there, status


def zero_inside(g, low, high):
    """The zero of g in [low, high], where its signs differ: regula falsi that halves a value which stays (Illinois),
    and bisection where that is slow."""
    left = g(low)
    right = g(high)
    count = 0
    side = 0
    while high - low > 4e-16 and left != 0 and right != 0 and count < 200:
        middle = (low * right - high * left) / (right - left)
        if count % 4 == 3 or not (low < middle < high):
            middle = 0.5 * (low + high)
        value = g(middle)
        if value * right > 0:
            high = middle
            right = value
            if side == 1:
                left = 0.5 * left
            side = 1
        elif value * left > 0:
            low = middle
            left = value
            if side == -1:
                right = 0.5 * right
            side = -1
        else:
            low = middle
            high = middle
        count = count + 1
    return np.where(left == 0, low, np.where(right == 0, high, 0.5 * (low + high)))


def demand_crossing(slope):
    """Raise where an event's function is zero without crossing zero at once: the time of the zero has no derivative."""
    if slope == 0:
        raise ConvergenceError(
            "the time of an event of wg.odeint has no derivative: the slope of the event's function is zero there",
            remedy="state the event by a function that crosses zero with a slope",
        )
