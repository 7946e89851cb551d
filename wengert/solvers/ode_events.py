"""Events of `odeint`: their times are answers, with the derivative of an answer, found inside the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.optimize

from wengert.algorithms import ode_events
from wengert.api.products import jvp
from wengert.box.functions.operands import array, part
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError
from wengert.ops.elementwise import stop_gradient
from wengert.solvers.implicit import Equation, Implicit
from wengert.solvers.ode import Integrator
from wengert.solvers.ode_switches import guarded
from wengert.solvers.parameters import Packing, Parameters, vector
from wengert.types import shape_of

MESSAGES = ("The solver successfully reached the end of the integration interval.", "A termination event occurred.")


class OdeResult(scipy.optimize.OptimizeResult):
    """What `odeint` returns where there are events: `t`, `y`, `t_events`, `y_events`, as SciPy's `solve_ivp`."""


def trajectory_with_events(
    f: Callable,
    y0: Any,
    t: Any,
    *params: Any,
    events: Sequence[Callable],
    method: str,
    rtol: float,
    atol: float,
    mass: Any,
    maxsteps: int,
    maxevents: int,
) -> OdeResult:
    """Arguments as for `odeint`, the state a vector."""
    times = vector(t)
    if shape_of(times)[0] < 2:
        raise MismatchError("wg.odeint with events needs a first and a last time", remedy="give at least two times")
    directions = [int(np.sign(getattr(event, "direction", 0))) for event in events]
    counts = [int(getattr(event, "terminal", 0) or 0) for event in events]
    parameters = Parameters((instrument(f), params, [instrument(event) for event in events]))
    start = vector(array(y0))
    integrator = _WithEvents(Packing(start), parameters, method, rtol, atol, maxsteps, False)
    integrator.sparse_mass = mass
    integrator.original = f, params, list(events)
    start, times, values = guarded(integrator, start, times, parameters.values, mass)
    found = integrator.run(start, times, values, directions, counts, maxevents)
    reached, states, event_times, event_states, status = found
    return OdeResult(
        t=reached,
        y=states,
        sol=None,
        t_events=event_times,
        y_events=event_states,
        status=status,
        message=MESSAGES[status] if isinstance(status, int) else "The solver reached the end, or an event.",
        success=True,
    )


class _WithEvents(Integrator):
    """An integrator whose right-hand side is one of several functions that depend on parameters."""

    def slope(self, t: Any, y: Any, values: Sequence[Any]) -> Any:
        f, params, _ = self.parameters.put(values)
        return self.slope_of(f, params, t, y)

    def event(self, k: int, t: Any, y: Any, values: Sequence[Any]) -> Any:
        """The k-th event's function, a number."""
        _, params, events = self.parameters.put(values)
        return part(vector(events[k](t, y, *params)), 0, 0)

    def run(self, y: Any, times: Any, values: Sequence[Any], directions: list, counts: list, room: int) -> Any:
        """All that `integrate_to_events` finds."""
        attempt, interpolate, _, order = self.steps(y, times, values, self.sparse_mass)
        plain = [stop_gradient(v) for v in values]

        def value(k: int, place: Any, t: Any, h: Any, y: Any, new: Any, stages: Any, values: Any) -> Any:
            state = interpolate(self.in_intervals(times, values), t, h, y, new, stages, place, 1)
            return self.event(k, t + place * h, state, values)

        def located(k: int) -> Callable:
            def solve(t: Any, h: Any, y: Any, new: Any, stages: Any, values: Any) -> Any:
                return instrument(ode_events.zero_inside)(
                    lambda place: value(k, place, t, h, y, new, stages, values), 0.0, 1.0
                )

            def satisfied(place: Any, *args: Any) -> Any:
                return value(k, place, *args)

            def demand(place: Any, *args: Any) -> None:
                slope = jvp(lambda place: value(k, place, *args), (place,), (1.0,))[1]
                instrument(ode_events.demand_crossing)(slope)

            solve.__name__ = "an event of wg.odeint"
            return Implicit(solve, Equation(satisfied), 1e-3, own=True, demand=demand)

        searches = [located(k) for k in range(len(directions))]

        def locate(k: int, t: Any, h: Any, y: Any, new: Any, stages: Any) -> Any:
            return searches[k](t, h, y, new, stages, list(values))

        f = self.in_intervals(times, values)
        return instrument(ode_events.integrate_to_events)(
            f, y, times, stop_gradient, attempt, interpolate, order, self.rtol, self.atol,
            self.maxsteps, lambda k, t, y: self.event(k, t, y, plain), directions, counts, locate, room,
        )  # fmt: skip
