"""`odeint`: initial-value problems, the operator that users call."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from wengert.api.flat import demand_host
from wengert.api.operators import operation
from wengert.errors import MismatchError
from wengert.solvers.ode import DERIVATIVES, IMPLICIT, METHODS, trajectory
from wengert.types import ndim_of


@operation
def odeint(
    f: Callable,
    y0: Any,
    t: Any,
    *params: Any,
    method: str = "RK45",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    events: Any = None,
    mass: Any = None,
    derivative: str = "discrete",
    maxsteps: int = 100_000,
    maxevents: int = 100,
) -> Any:
    """The solution of y' = f(t, y, *params) with y(t[0]) = y0, at the times `t`.

    Args:
        f: the right-hand side; it returns what y0 is, numbers, arrays or containers of them.
        y0: the state at the first time.
        t: increasing or decreasing times.
        method: "RK23", "RK45" or "DOP853" (explicit, of order 3, 5 and 8); for stiff equations "Radau" (implicit) or
            "Rodas5P" (linearly implicit; quicker, above all where there are many unknowns), both of order 5, with
            exact Jacobians, which are sparse where most of their entries are zero.
        rtol, atol: the error of a step is kept below atol + rtol · |y|.
        events: functions `event(t, y, *params)` of a state that is a vector, with `terminal` and `direction`, as for
            `scipy.integrate.solve_ivp`; the result is an object like that function's, with `t_events` and `y_events`.
            The times of events have derivatives.
        mass: with implicit methods, a matrix M, dense or sparse, for M y' = f(t, y); it may be singular. Not with
            derivative="adjoint".
        derivative: "discrete" differentiates the steps that were taken, and is exact for them; "adjoint" integrates the
            adjoint equation backwards, with memory that does not grow with the number of steps; "forward" carries
            sensitivities along, for few parameters. Steps are chosen for the solution: where it rests they are long,
            and only the gradients of "adjoint", whose steps are its own, keep to the tolerance.
        maxsteps, maxevents: the largest number of steps, and of zeros of each event; a `ConvergenceError` after that.

    Returns the states with an axis for the times in front; the first is y0. Differentiable with respect to `y0`, `t`,
    `params` and what `f` closes over.

    >>> import numpy as np, wengert as wg
    >>> decay = lambda rate: wg.odeint(lambda t, y: -rate * y, 1.0, np.array([0.0, 2.0]))[-1]
    >>> decay(0.5).round(6), wg.grad(decay)(0.5).round(6)
    (np.float64(0.367879), np.float64(-0.735759))
    """
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    if derivative not in DERIVATIVES:
        raise ValueError(f"derivative is one of {', '.join(DERIVATIVES)}, not {derivative!r}")
    demand_host((y0, t, params))
    if mass is not None and method not in IMPLICIT:
        raise MismatchError("a mass matrix needs an implicit method", remedy='say method="Radau" or "Rodas5P"')
    if mass is not None and derivative == "adjoint":
        raise MismatchError(
            "the adjoint equation is not solved with a mass matrix",
            remedy="say derivative='discrete' or 'forward'; or divide the right-hand side by a regular matrix",
        )
    if events is not None:
        if derivative != "discrete":
            raise MismatchError("events go with derivative='discrete'")
        if not isinstance(y0, (list, tuple)) and (isinstance(y0, dict) or ndim_of(y0) != 1):
            raise MismatchError(
                "wg.odeint with events takes a state that is a vector",
                remedy="write np.array([y]) for a number, and join containers into one array",
            )
        watched = [events] if callable(events) else list(events)
        # (loaded only now, since its result is of one of SciPy's classes, and importing that takes long)
        events_of = importlib.import_module("wengert.solvers.ode_events").trajectory_with_events
        return events_of(
            f, y0, t, *params, events=watched, method=method, rtol=rtol, atol=atol, mass=mass, maxsteps=maxsteps,
            maxevents=maxevents,
        )  # fmt: skip
    return trajectory(
        f, y0, t, *params, method=method, rtol=rtol, atol=atol, mass=mass, derivative=derivative, maxsteps=maxsteps
    )
