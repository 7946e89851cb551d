"""SciPy's `solve_ivp` and `odeint` in compiled functions: at given times, by the native loop of `wg.odeint`.

There SciPy's own code cannot run, so the values are those of our integrator, with the same method (of the same kind,
where SciPy's is one of several steps) and the same tolerances: both are within these of the solution, and of each other
within twice as much. At which times a solver stops by itself is known only when the program runs, so the times must be
given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.functions.operands import array, join, part
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.ops.shape import transpose
from wengert.solvers.given import Given
from wengert.solvers.ode import METHODS, trajectory
from wengert.solvers.parameters import vector
from wengert.types import shape_of

_FEW = 100
"""Up to so many unknowns an implicit method solves for all its stages at once."""
_REACHED = "The solver successfully reached the end of the integration interval."


def _method(name: str, size: int) -> str:
    """The method of ours for one of SciPy's; one that turns to stiff ones by itself counts as stiff."""
    return name if name in METHODS else "Radau" if size <= _FEW else "Rodas5P"


def _refused(what: str, remedy: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(f"scipy.integrate.solve_ivp {what} in a compiled function", remedy=remedy)


def solved_at(given: Given, method: str, rtol: Any, atol: Any, result: Callable) -> Any:
    """What `solve_ivp` returns, with t_eval."""
    arguments = given.arguments
    begin, end = arguments["t_span"]
    if arguments["t_eval"] is None or arguments["events"] or arguments["dense_output"]:
        what = "with events or dense output" if arguments["events"] or arguments["dense_output"] else "without t_eval"
        remedy = "give the times, t_eval=[end] for the last state, or use wg.odeint, which has events, too"
        raise _refused(what, remedy)
    if not isinstance(step := arguments.get("max_step", np.inf), Traced) and step < np.inf:
        raise _refused("with max_step", "give more times in t_eval, at which steps end, or call it outside of jit")
    times = vector(arguments["t_eval"])
    if not any(isinstance(t, Traced) for t in (times, begin, end)):
        _demand_times(np.asarray(times), float(begin), float(end))
    y0 = vector(array(arguments["y0"]))
    is_first = not isinstance(times, Traced) and not isinstance(begin, Traced) and np.size(times) and times[0] == begin
    every = times if is_first else join([vector(begin), times], 0)
    states = trajectory(
        arguments["fun"], y0, every, *arguments["args"], method=_method(method, shape_of(y0)[0]), rtol=rtol, atol=atol
    )
    y = transpose(states if is_first else part(states, 0, slice(1, None)), axes=(1, 0))
    found = {"t": times, "y": y, "sol": None, "t_events": None, "y_events": None}
    return result(**found, status=0, message=_REACHED, success=True)


def _demand_times(times: np.ndarray, begin: float, end: float) -> None:
    """As SciPy does."""
    if np.any(times < min(begin, end)) or np.any(times > max(begin, end)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    steps = np.diff(times)
    if (end > begin and np.any(steps <= 0)) or (end < begin and np.any(steps >= 0)):
        raise ValueError("Values in `t_eval` are not properly sorted.")


def states_at(f: Callable, y0: Any, times: Any, args: tuple, rtol: Any, atol: Any) -> Any:
    """What `odeint` returns."""
    return trajectory(f, y0, times, *args, method=_method("LSODA", shape_of(y0)[0]), rtol=rtol, atol=atol)
