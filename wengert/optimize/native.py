"""Methods of our own: whole in one compiled loop, with no Python between iterations.

The loop is left now and then, so that a bar can be drawn and Ctrl-C is heard; after each iteration only if there is a
callback. Where something is traced (in a `vmap`, a derivative, another compiled function) it is one program from the
start to the end, and the answer has the derivative of an answer (`traced.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.algorithms import descent, gauss_newton, lbfgs, loops, trust_region
from wengert.algorithms.status import (
    CONVERGED,
    FLAT,
    INTERRUPTED,
    LIMIT,
    MESSAGES,
    NOT_FINITE,
    PRECISE,
    RUNNING,
    SADDLE,
    VALLEY,
)
from wengert.api.flat import Layout
from wengert.api.grad import value_and_grad
from wengert.api.hessian import hessian, hvp
from wengert.api.jacobian import value_and_jacobian
from wengert.api.jit import jit
from wengert.errors import MismatchError, WengertError
from wengert.optimize import examination
from wengert.optimize.last_used import kept_with, made
from wengert.optimize.objective import Objective, known_options
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener, Stopped

TOLERANCE = 1e-8
"""How small the largest component of the gradient has to be."""
_MEMORY = 10
_SECONDS = 1.0
"""So long the compiled loop runs without being left."""
_SECONDS_WITH_BAR = 0.1
_ATTEMPTS = 4
"""So often a method is run at most, where it ends at points that turn out to be no minimum."""
_AGAIN = 20
"""A function that is minimised so often has its Hessian compiled too."""
LEFT_SADDLE = "the gradient is zero at a point beside which values are lower, from where it was gone on; "


class NativeMethod(NamedTuple):
    """A method: how it starts, what it starts from, how it goes on, with which functions."""

    start: Callable
    values: Callable[[Callable], Callable]
    advance: Callable
    functions: Callable[[Callable], list[Callable]]
    maxiter: int
    bounded: bool = False
    advance_within: Callable | None = None
    options: tuple[str, ...] = ()


def _residuals(f: Callable) -> Callable:
    """The residuals that a function returns, as a vector."""

    def residuals(x: Any, *args: Any) -> Any:
        found = f(x, *args)
        if not np.ndim(found):
            raise MismatchError(
                "gauss-newton needs residuals, and the function returns one number",
                remedy="return the array of residuals, whose squares are added, or use another method",
            )
        return np.reshape(found, (-1,))

    return residuals


METHODS = {
    "lbfgs": NativeMethod(lbfgs.start, value_and_grad, lbfgs.advance, lambda f: [value_and_grad(f)], 15_000,
                    advance_within=lbfgs.advance_within, options=("memory",)),
    "trust-ncg-native": NativeMethod(trust_region.start, value_and_grad, trust_region.advance,
                               lambda f: [value_and_grad(f), hvp(f)], 2_000),
    "cg-native": NativeMethod(descent.start_conjugate, value_and_grad, descent.advance_conjugate,
                        lambda f: [value_and_grad(f)], 50_000),
    "gradient-descent": NativeMethod(descent.start_descent, value_and_grad, descent.advance_descent,
                               lambda f: [value_and_grad(f)], 100_000, bounded=True),
    "gauss-newton": NativeMethod(gauss_newton.start, lambda f: value_and_jacobian(_residuals(f)), gauss_newton.advance,
                           lambda f: [_residuals(f), value_and_jacobian(_residuals(f))], 1_000),
}  # fmt: skip
"""The methods, by name. "gauss-newton" is for functions that return residuals."""


class Programs:
    """A method for a function: the first state, later states, and all in one."""

    def __init__(
        self,
        method: NativeMethod,
        flat: Callable,
        memory: int,
        within: bool,
        compile: bool,
        guard: Callable[[Callable], Callable] | None = None,
    ):
        wrap = (lambda g: jit(g, fallback=True)) if compile else lambda g: g
        settings = (memory,) if "memory" in method.options else ()
        advance = method.advance_within if within and method.advance_within else method.advance
        values, functions = method.values(flat), method.functions(flat)
        if guard is not None:  # functions that may raise are called from Python
            values, functions, wrap = wrap(values), [guard(wrap(f)) for f in functions], lambda g: g
        self.begin = wrap(loops.beginning(method.start, values, settings))
        self.proceed = wrap(loops.proceeding(advance, functions))
        self.solve = loops.whole(method.start, values, settings, advance, functions)
        self.answered: Callable | None = None
        self._examined = 0
        self._second: Callable | None = None

    def curvature(self, x: np.ndarray, objective: Objective, compile: bool) -> np.ndarray | None:
        """The Hessian; compiled for functions that are minimised again and again, `None` if there is none."""
        self._examined += 1
        if self._second is None or (compile and self._examined == _AGAIN):
            second = hessian(objective.of_one(x))
            self._second = jit(second, fallback=True) if compile and self._examined >= _AGAIN else second
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self._second(x, *objective.args))
        except (WengertError, ArithmeticError, ValueError):
            return None


def programs_for(f: Callable, name: str, flat: Callable, layout: Layout, memory: int, within: bool, compile: bool
                 ) -> Programs:  # fmt: skip
    """The programs of a method for a function, which keeps them."""
    kept = kept_with(f, layout.structure, tuple(layout.shapes))
    return made(kept, (name, memory, within, compile), lambda: Programs(METHODS[name], flat, memory, within, compile))


def turning_back(x0: np.ndarray) -> Callable[[Callable], Callable]:
    """A guard for functions: where one raises it gives NaN, from which methods turn back, as at x0 in its form."""

    def guard(g: Callable) -> Callable:
        def guarded(x: Any, *args: Any) -> Any:
            try:
                return g(x, *args)
            except (ArithmeticError, ValueError) as error:
                if isinstance(error, WengertError):
                    raise
                return tree.map(lambda leaf: leaf * np.nan, g(x0, *args))

        return guarded

    return guard


def limits_for(name: str, limits: tuple | None, n: int) -> tuple:
    """The bounds as the method's loop takes them."""
    method = METHODS[name]
    if limits is not None and not (method.bounded or method.advance_within):
        raise MismatchError(
            f'method "{name}" takes no bounds', remedy='use method "lbfgs", "gradient-descent" or "L-BFGS-B"'
        )
    if limits is None:
        return (np.full(n, -np.inf), np.full(n, np.inf)) if method.bounded else ()
    return limits


def settings_of(name: str, options: dict[str, Any], tol: float | None) -> tuple[int, float, int]:
    """The largest number of iterations, the tolerance and the memory."""
    method = METHODS[name]
    known_options(name, options, {"maxiter", "gtol", *method.options})
    gtol = options.get("gtol", TOLERANCE if tol is None else tol)
    return int(options.get("maxiter", method.maxiter)), float(gtol), int(options.get("memory", _MEMORY))


class Task(NamedTuple):
    """What is to be minimised, and how."""

    f: Callable
    objective: Objective
    method: str
    limits: tuple | None
    tol: float | None
    options: dict[str, Any]
    listener: Listener
    compile: bool


def run(task: Task, x0: np.ndarray) -> Solved:
    """The minimum that one of our methods finds, on vectors; where it ends is looked at more closely."""
    objective, limits = task.objective, task.limits
    start = x0 if limits is None else np.clip(x0, *limits)
    value = lambda x: _value(objective, x)
    note = ""
    for attempt in range(_ATTEMPTS):
        try:
            found, programs = _run(task, start)
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, WengertError) or not _computable(objective, start):
                raise
            found, programs = _run(task, start, turning_back(start))
        x = found.x
        if not found.success or len(x) > examination.FEW or getattr(task.f, "is_compiled", False):
            break  # each look at a sum over data is a pass through all of them
        which = examination.still(start, x, found.fun, found.jac)
        lower, changes = None, True
        if len(which):
            lower, changes = examination.lower_point(value, x, found.fun, which, limits)
            if not changes and len(which) == len(x):
                return _ended(found, FLAT)
        second = None
        if lower is None and len(x) <= examination.FEW_CURVED:
            second = programs.curvature(x, objective, task.compile)
            if second is not None:
                lower = examination.beside_saddle(value, x, found.fun, second, limits)
        if lower is None:
            far = -1 if second is None else examination.run_away(x0, x, found.fun, found.jac, second)
            if far >= 0:
                return _ended(found, VALLEY, f"; unknown {far} is {x[far]:.3g} already")
            break
        if attempt + 1 == _ATTEMPTS:
            return _ended(found, SADDLE)
        note = LEFT_SADDLE
        start = lower
    found.message = note + found.message
    return found


def _value(objective: Objective, x: np.ndarray) -> float:
    """The value at a point, of residuals the sum of their squares; from Python, for single points."""
    with np.errstate(all="ignore"):
        value = objective.flat(x, *objective.args)
    return float(np.sum(np.asarray(value) ** 2) if np.ndim(value) else value)


def _computable(objective: Objective, x: np.ndarray) -> bool:
    """Whether a function has a value at a point."""
    try:
        return bool(np.isfinite(_value(objective, x)))
    except (ArithmeticError, ValueError):
        return False


def _ended(found: Solved, status: int, more: str = "") -> Solved:
    found.success, found.status, found.message = False, status, MESSAGES[status] + more
    return found


def _run(task: Task, x0: np.ndarray, guard: Callable | None = None) -> tuple[Solved, Programs]:
    """The minimum that one run finds, and the programs that were run."""
    f, objective, name, limits, tol, options, listener, compile = task
    maxiter, gtol, memory = settings_of(name, options, tol)
    given = limits_for(name, limits, len(x0))
    if guard is None:
        programs = programs_for(f, name, objective.flat, objective.unknowns, memory, limits is not None, compile)
    else:
        programs = Programs(METHODS[name], objective.flat, memory, limits is not None, compile, guard)
        compile = False
    state: Any = None
    status = RUNNING
    try:
        began = time.perf_counter()
        state = uniform(programs.begin(x0, objective.args))
        seconds = time.perf_counter() - began
        count, chunk = 0, 1 if listener.is_called_back or not compile else _first(seconds)
        while status == RUNNING and count < maxiter:
            began = time.perf_counter()
            state = programs.proceed(state, min(count + chunk, maxiter), gtol, given, objective.args)
            count, status = int(state[3]), int(state[5])
            seconds = time.perf_counter() - began
            listener.tell(count, np.asarray(state[0]), float(state[1]), float(np.max(np.abs(state[2]), initial=0)))
            if not listener.is_called_back and compile:
                chunk = _next(chunk, seconds, _SECONDS_WITH_BAR if listener.listens else _SECONDS)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Stopped:
        status = INTERRUPTED + 1
    if state is None:
        return Solved(x=x0, fun=np.nan, success=False, status=status, message="interrupted before the first iteration",
                      nit=0, nfev=0), programs  # fmt: skip
    status = LIMIT if status == RUNNING else status
    x = np.asarray(state[0])
    return Solved(
        x=x, fun=float(state[1]), jac=np.asarray(state[2]), nit=int(state[3]), nfev=int(state[4]), status=status,
        success=status in (CONVERGED, PRECISE), message=_message(status, objective, x, float(np.max(np.abs(state[2])))),
    ), programs  # fmt: skip


def uniform(state: tuple) -> tuple:
    """A state with the types that compiled code returns, so that one program takes the first and all later ones."""
    return tuple([_OF_COMPILED[v.__class__](v) if v.__class__ in _OF_COMPILED else v for v in state])


_OF_COMPILED = {bool: np.bool_, int: np.int64, float: np.float64}


def _first(seconds: float) -> int:
    """How many iterations to do before the loop is left for the first time: one where an evaluation is expensive, since
    an iteration may need hundreds, and what is not done when somebody interrupts is lost."""
    return 100 if seconds < 2e-5 else 10 if seconds < 1e-4 else 1


def _next(chunk: int, seconds: float, target: float) -> int:
    if seconds < target / 4:
        return 4 * chunk
    return max(1, chunk // 2) if seconds > 2 * target else chunk


def _message(status: int, objective: Objective, x: np.ndarray, size: float) -> str:
    if status >= INTERRUPTED:
        who = "interrupted" if status == INTERRUPTED else "the callback asked to stop"
        return f"{who}; x is the best point so far"
    message = MESSAGES[status]
    if status == NOT_FINITE:
        reason = objective.fault(x)
        return f"{message}\n{reason}" if reason else message
    return message if status == CONVERGED else f"{message}; the gradient's largest component is {size:.2g}"
