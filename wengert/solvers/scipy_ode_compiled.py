"""SciPy's `solve_ivp` and `odeint` in compiled functions, by the native loops of `wg.odeint`.

At given times the values are those of our integrator, with the same method (of the
same kind, where SciPy's is one of several steps) and the same tolerances: both are within these of the solution, and of
each other within twice as much. Without given times explicit methods take SciPy's own steps, as many as data decide
(`algorithms/ode_steps.py`). The steps of implicit methods come from SciPy itself, which compiled code calls back: the
values are SciPy's, and the derivatives those of our integrator at the same times, as outside of compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms import ode_steps
from wengert.box.functions.operands import array, cast, demand, join, part, stacked
from wengert.capture.hooks import instrument
from wengert.control.effects import called_back
from wengert.errors import UnsupportedFunctionError
from wengert.ir.infer import Found
from wengert.ir.node import Dyn
from wengert.ops import elementwise as e
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.ops.shape import transpose
from wengert.solvers.given import Given, not_converged
from wengert.solvers.ode import EXPLICIT, METHODS, Integrator, trajectory
from wengert.solvers.ode_switches import guarded
from wengert.solvers.parameters import Packing, Parameters, vector
from wengert.types import shape_of

_FEW = 100
"""Up to so many unknowns an implicit method solves for all its stages at once."""
_REACHED = "The solver successfully reached the end of the integration interval."


def _method(name: str, size: int) -> str:
    """The method of ours for one of SciPy's; one that turns to stiff ones by itself counts as stiff."""
    return name if name in METHODS else "Radau" if size <= _FEW else "Rodas5P"


def _refused(what: str, remedy: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(f"scipy.integrate.solve_ivp {what} in a compiled function", remedy=remedy)


def solved(given: Given, original: Callable, method: str, rtol: Any, atol: Any) -> Any:
    """What `solve_ivp`, the original, returns."""
    result = original.__globals__["OdeResult"]
    arguments = given.arguments
    begin, end = arguments["t_span"]
    if arguments["events"] or arguments["dense_output"]:
        raise _refused(
            "with events or dense output",
            "give the times, t_eval=[end] for the last state, or use wg.odeint, which has events, too",
        )
    longest = arguments.get("max_step", np.inf)
    if arguments["t_eval"] is None:
        if method in EXPLICIT:
            times, y = _after_all_steps(arguments, method, rtol, atol, longest)
        else:
            times, y = _called_back(given, original, method, rtol, atol)
        return _found(result, times, y)
    if isinstance(longest, Traced):
        raise _refused("with a computed max_step", "give it as a number, or call it outside of jit")
    times = vector(arguments["t_eval"])
    if not any(isinstance(t, Traced) for t in (times, begin, end)):
        _demand_times(np.asarray(times), float(begin), float(end))
    y0 = vector(array(arguments["y0"]))
    is_first = not isinstance(times, Traced) and not isinstance(begin, Traced) and np.size(times) and times[0] == begin
    every = times if is_first else join([vector(begin), times], 0)
    states = trajectory(
        arguments["fun"],
        y0,
        every,
        *arguments["args"],
        method=_method(method, shape_of(y0)[0]),
        rtol=rtol,
        atol=atol,
        longest=float(longest),
    )
    y = transpose(states if is_first else part(states, 0, slice(1, None)), axes=(1, 0))
    return _found(result, times, y)


def _found(result: Callable, times: Any, y: Any) -> Any:
    found = {"t": times, "y": y, "sol": None, "t_events": None, "y_events": None}
    return result(**found, status=0, message=_REACHED, success=True)


def _after_all_steps(arguments: dict[str, Any], method: str, rtol: Any, atol: Any, longest: Any) -> tuple[Any, Any]:
    """The times at which an explicit method stops by itself, and the states there."""
    begin, end = (cast(array(t), np.float64) for t in arguments["t_span"])
    if (first := arguments.get("first_step")) is not None:
        demand(e.greater(first, 0), "`first_step` must be positive.")
        demand(e.less_equal(first, e.absolute(end - begin)), "`first_step` exceeds bounds.")
    demand(e.greater(longest, 0), "`max_step` must be positive.")
    y0 = vector(array(arguments["y0"]))
    parameters = Parameters((instrument(arguments["fun"]), arguments["args"]))
    integrator = Integrator(Packing(y0), parameters, method, rtol, atol, 0, False)
    integrator.original = arguments["fun"], arguments["args"]
    y0, ends, values = guarded(integrator, y0, stacked([begin, end], 0), parameters.values, None)
    begin, end = part(ends, 0, 0), part(ends, 0, 1)
    attempt, _, _, order = integrator.steps(y0, None, values, None)
    slope = integrator.in_intervals(None, values)
    times, states = instrument(ode_steps.integrate_by_steps)(
        slope, y0, begin, end, stop_gradient, attempt, order, rtol, atol, first, longest
    )
    return times, transpose(states, axes=(1, 0))


def _called_back(given: Given, original: Callable, method: str, rtol: Any, atol: Any) -> tuple[Any, Any]:
    """The same by SciPy itself."""

    def run(*values: Any) -> np.ndarray:
        run = lambda plain: original(**given.passed(plain))
        found = given.parameters.run("scipy.integrate.solve_ivp", values, run)
        if not found.success:
            raise not_converged("scipy.integrate.solve_ivp", found.message)
        return np.concatenate([found.t[:, None], np.transpose(found.y)], axis=1)

    arguments = given.arguments
    begin, end = arguments["t_span"]
    y0 = vector(array(arguments["y0"]))
    size = shape_of(y0)[0]
    remedy = "give the times, t_eval=[end] for the last state: then the examples are solved by compiled code"
    what = f"scipy.integrate.solve_ivp by the method {method} without t_eval in a compiled batch"
    results = [Found((Dyn(None), 1 + size), np.dtype(np.float64))]
    (found,) = called_back(run, given.parameters.values, results, (what, remedy))
    times = part(found, 1, 0)
    if isinstance(begin, Traced) or isinstance(end, Traced):  # these have derivatives
        times = join([vector(begin), part(times, 0, slice(1, -1)), vector(end)], 0)
    longest = arguments.get("max_step", np.inf)
    near = trajectory(
        arguments["fun"], y0, times, *arguments["args"], method=_method(method, size), rtol=rtol, atol=atol,
        longest=np.inf if isinstance(longest, Traced) else float(longest),
    )  # fmt: skip
    states = near + (part(found, 1, slice(1, None)) - stop_gradient(near))
    return times, transpose(states, axes=(1, 0))


def _demand_times(times: np.ndarray, begin: float, end: float) -> None:
    """As SciPy does."""
    if np.any(times < min(begin, end)) or np.any(times > max(begin, end)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    steps = np.diff(times)
    if (end > begin and np.any(steps <= 0)) or (end < begin and np.any(steps >= 0)):
        raise ValueError("Values in `t_eval` are not properly sorted.")


def states_at(f: Callable, y0: Any, times: Any, args: tuple, rtol: Any, atol: Any, longest: float) -> Any:
    """What `odeint` returns."""
    method = _method("LSODA", shape_of(y0)[0])
    return trajectory(f, y0, times, *args, method=method, rtol=rtol, atol=atol, longest=longest)
