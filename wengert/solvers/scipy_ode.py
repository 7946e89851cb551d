"""Differential equations that SciPy solves: `solve_ivp` with all its methods, events and dense output, and `odeint`.

The values are SciPy's own. The derivatives are those of `wg.odeint` with the same method (of the same kind, where
SciPy's is one of several steps) and the same tolerances, at the same times. The time of an event is an answer
(`implicit.py`) of the event's own equation.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.lifted import Lifted
from wengert.box.functions.operands import answer, array, cast, flat, join, part, stacked
from wengert.box.writing import plain
from wengert.capture.hooks import instrument
from wengert.errors import ConvergenceError, UnsupportedFunctionError
from wengert.ops import shape as s
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.ops.shape import transpose
from wengert.running import running
from wengert.solvers.given import Given, not_converged, solver
from wengert.solvers.implicit import Equation, Implicit
from wengert.solvers.ode import METHODS, trajectory
from wengert.solvers.parameters import vector
from wengert.solvers.scipy_ode_compiled import solved, states_at
from wengert.solvers.told import Told
from wengert.types import dtype_of, shape_of

_MOST = 5000
"""So many steps an explicit method may take for an equation of which nothing is known before it counts as stiff."""

_FEW = 100
"""Up to so many unknowns an implicit method may solve for all its stages at once."""

_APART, _TOLERANCES = 0.1, 1e3
"""Two solutions are different ones if they are so far apart, as a part of their size, and by so many tolerances."""


def _solution(f: Callable, y0: Any, times: Any, args: Sequence[Any], method: str, **steps: Any) -> Any:
    """The solution by our own integrator, of the kind that SciPy's method is; `steps` says how long steps are."""
    if method in METHODS:
        return trajectory(f, y0, times, *args, method=method, **steps)
    stiff = "Radau" if shape_of(y0)[0] <= _FEW else "Rodas5P"
    if method == "BDF":
        return trajectory(f, y0, times, *args, method=stiff, **steps)
    try:
        return trajectory(f, y0, times, *args, method="DOP853", maxsteps=_MOST, **steps)
    except ConvergenceError:
        return trajectory(f, y0, times, *args, method=stiff, **steps)


def _steps(rtol: Any, atol: Any, longest: Any) -> dict[str, Any]:
    """How SciPy's steps are chosen, for `_solution`; derivatives of the longest step are none."""
    return {"rtol": rtol, "atol": atol, "longest": float(plain(longest))}


def _with_values(values: Any, traced: Any) -> Any:
    """These values, with the derivatives of others that are nearly the same."""
    return traced + (values - stop_gradient(traced))


def _of_the_same(values: Any, states: Any, name: str, rtol: Any, atol: Any) -> Any:
    """These values of states, with the derivatives of ours, and a warning if those are of another solution."""
    theirs, ours = np.asarray(plain(values)), np.asarray(plain(states))
    size = np.max(np.abs(theirs), axis=0)
    allowed = _APART * size + _TOLERANCES * (np.max(np.abs(plain(rtol))) * size + np.abs(plain(atol)))
    if not np.all(np.abs(theirs - ours) <= allowed):
        warnings.warn(
            f"{name}: the derivative is that of a solution which differs by {np.max(np.abs(theirs - ours)):.2g} from "
            "SciPy's, so that it may be wrong: the steps of one may have missed something, such as a short pulse, or "
            "the solution is chaotic; give smaller tolerances, or a max_step that is shorter than what happens quickly",
            RuntimeWarning,
            stacklevel=2,
        )
    return _with_values(values, states)


class _States:
    """States as our integrators take them, vectors of real numbers: of complex ones, the real parts and then the
    imaginary parts."""

    def __init__(self, y0: Any):
        self.are_complex = dtype_of(array(y0)).kind == "c"

    def real(self, y: Any) -> Any:
        if not self.are_complex:
            return vector(y)
        y = flat(array(y))
        return join([cast(s.real(y), np.float64), cast(s.imag(y), np.float64)], 0)

    def given(self, y: Any) -> Any:
        """As the user's functions take them; they may be rows of an array."""
        if not self.are_complex:
            return y
        axis = len(shape_of(y)) - 1
        half = shape_of(y)[axis] // 2
        return part(y, axis, slice(0, half)) + 1j * part(y, axis, slice(half, None))

    def within(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a solver, with functions of such vectors."""
        if not self.are_complex:
            return arguments

        def around(f: Callable, result: Callable) -> Callable:
            f = instrument(f)
            return lambda t, y, *args: result(f(t, self.given(y), *args))

        events = arguments["events"] or ()
        events = [around(f, lambda x: x) for f in ((events,) if callable(events) else events)]
        return {**arguments, "fun": around(arguments["fun"], self.real), "events": events}


class _Dense(Holder):
    """The solution as a function of time."""

    def __init__(self, at: Callable[[Any], Any], plain: Any):
        self._at = at
        self._plain = plain
        self.t_min, self.t_max = plain.t_min, plain.t_max

    def __call__(self, t: Any) -> Any:
        if not isinstance(t, Traced) and not Lifted(self._at).values:  # a solver runs a function that asks for a state
            return self._plain(t)
        times = vector(t)
        order = answer(np.argsort, times)
        states = self._at(times[order])[np.argsort(order)]
        values = np.transpose(self._plain(np.asarray(answer(lambda t: t, times))))
        states = _with_values(values, states)
        return transpose(states, axes=(1, 0)) if shape_of(t) else part(states, 0, 0)


@solver("scipy.integrate", "solve_ivp")
def _solve_ivp(given: Given) -> Any:
    method = given["method"] if isinstance(given["method"], str) else given["method"].__name__
    rtol, atol = given.arguments.get("rtol", 1e-3), given.arguments.get("atol", 1e-6)
    if running.state.capture is not None:
        return solved(given, given.original, method, rtol, atol)
    values = given.parameters.values
    told = Told("scipy.integrate.solve_ivp", values)
    states = _States(given["y0"])
    given.is_complex = states.are_complex

    def run(*values: Any) -> np.ndarray:
        found = given.parameters.run(
            "scipy.integrate.solve_ivp", values, lambda plain: given.original(**given.passed(plain))
        )
        if not found.success:
            raise not_converged("scipy.integrate.solve_ivp", found.message)
        told.note(found)
        return np.transpose(found.y)

    values_of_scipy = answer(run, *values)
    at_known_times = given["t_eval"] is not None and not given["events"] and not given["dense_output"]
    found = told.runs[-1] if at_known_times else told.the_one("the times")
    begin, end = given["t_span"]
    y0 = states.real(given["y0"])
    arguments = states.within(given.arguments)
    steps = _steps(rtol, atol, arguments.get("max_step", np.inf))

    def at(times: Any) -> Any:
        """States at times of which the first is the beginning."""
        return _solution(arguments["fun"], y0, times, arguments["args"], method, **steps)

    def after(times: Any) -> Any:
        """States at times after the beginning."""
        return part(at(join([vector(begin), vector(times)], 0)), 0, slice(1, None))

    events = given["events"]
    events = [events] if callable(events) else list(events or ())
    t_events: Any = None
    y_events: Any = None
    if events:
        here = _states_at_events(found.t_events, after, bool(found.t[-1] < found.t[0]))
        times = [[_time_of(given, states, k, t, y) for t, y in zip(ts, ys, strict=True)]
                 for k, (ts, ys) in enumerate(zip(found.t_events, here, strict=True))]  # fmt: skip
        t_events = [stacked(ts, 0) if ts else np.zeros(0) for ts in times]
        # The event that ended it is the one whose time is the last: others may come after it in the list.
        ended = [t for ts, plain_ts in zip(times, found.t_events, strict=True)
                 for t, known in zip(ts, plain_ts, strict=True) if known == found.t[-1]]  # fmt: skip
        soon = lambda ts: [_soon(arguments, *moment) for moment in zip(*ts, strict=True)]
        y_events = [states.given(stacked(soon(each), 0)) if each[1] else np.zeros(0)
                    for each in zip(found.t_events, times, here, strict=True)]  # fmt: skip
    count = len(found.t)
    if given["t_eval"] is not None:
        wanted = part(vector(given["t_eval"]), 0, slice(0, count))
    else:
        wanted = found.t
        last = ended[0] if found.status == 1 else end
        if isinstance(begin, Traced) or isinstance(last, Traced):
            middle = [vector(begin), found.t[1:-1], vector(last)]
            wanted = join(middle, 0)
    y = states.given(at(wanted) if answer(np.equal, begin, found.t[0]) else after(wanted))
    y = _of_the_same(values_of_scipy, y, "scipy.integrate.solve_ivp", rtol, atol)
    dense = None if found.sol is None else _Dense(lambda times: states.given(after(times)), found.sol)
    more = {"t": wanted, "y": transpose(y, axes=(1, 0)), "sol": dense}
    return told.result({**more, "t_events": t_events, "y_events": y_events}, type(found))


def _states_at_events(t_events: Sequence[np.ndarray], after: Callable, backwards: bool) -> list[list[Any]]:
    """The states at the times of all events, which are numbers, by one integration."""
    known = np.concatenate(t_events)
    order = np.argsort(-known if backwards else known, kind="stable")
    states = after(known[order]) if len(known) else None
    rows = iter([part(states, 0, int(k)) for k in np.argsort(order)])
    return [[next(rows) for _ in ts] for ts in t_events]


def _soon(arguments: dict[str, Any], known: float, t: Any, y: Any) -> Any:
    """The state at a time t which has the value `known`, where the state is y, but has derivatives of its own.

    It is a step of length zero, whose derivatives are those of the solution up to the order of the method, eight.
    """
    of: Any = importlib.import_module("scipy.integrate").DOP853
    f, h, K = instrument(arguments["fun"]), t - known, []

    def moved(weights: np.ndarray) -> Any:
        used = [(w, k) for w, k in zip(weights, K, strict=False) if w]
        return y + h * sum([w * k for w, k in used[1:]], used[0][0] * used[0][1]) if used else y

    for stage in range(len(of.C)):
        K.append(vector(array(f(known + of.C[stage] * h, moved(of.A[stage]), *arguments["args"]))))
    return moved(of.B)


def _time_of(given: Given, states: _States, k: int, time: float, y: Any) -> Any:
    """The time of an event, which satisfies the event's equation; y is the state at that moment."""

    def satisfied(t: Any, values: Any) -> Any:
        arguments = states.within(given.put(values[:-1]))
        events = arguments["events"]
        event = events if callable(events) else events[k]
        return event(t, _soon(arguments, time, t, values[-1]), *arguments["args"])

    return Implicit(lambda values: time, Equation(satisfied), 1e-2)([*given.parameters.values, y])


@solver("scipy.integrate", "odeint")
def _odeint(given: Given) -> Any:
    rtol = 1.49e-8 if given["rtol"] is None else given["rtol"]
    atol = 1.49e-8 if given["atol"] is None else given["atol"]
    arguments, func = given.arguments, given["func"]
    first = given["tfirst"]
    f = (lambda t, y, *args: vector(func(t, y, *args))) if first else lambda t, y, *args: vector(func(y, t, *args))
    y0 = vector(array(given["y0"]))
    longest = given.arguments.get("hmax")
    longest = np.inf if longest is None or not plain(longest) else float(plain(longest))
    if running.state.capture is not None:
        if given["full_output"]:
            raise UnsupportedFunctionError(
                "scipy.integrate.odeint with full_output=True in a compiled function", remedy="leave it out"
            )
        return states_at(f, y0, given["t"], arguments["args"], rtol, atol, longest)
    told = Told("scipy.integrate.odeint", given.parameters.values)

    def find(*values: Any) -> Any:
        run = lambda plain: given.original(**{**given.passed(plain), "full_output": True})
        found, info = given.parameters.run("scipy.integrate.odeint", values, run)
        if "successful" not in info["message"]:  # it only warns
            raise not_converged("scipy.integrate.odeint", info["message"])
        told.note(info)
        return found

    values = answer(find, *given.parameters.values)
    states = _solution(f, y0, given["t"], arguments["args"], "LSODA", **_steps(rtol, atol, longest))
    states = _of_the_same(values, states, "scipy.integrate.odeint", rtol, atol)
    return (states, {key: told.field(key) for key in told.runs[-1]}) if given["full_output"] else states
