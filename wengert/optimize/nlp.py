"""`nlp`: nonlinear programs, with exact derivatives of objective and constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.api.grad import grad
from wengert.errors import NonFiniteError, UnsupportedFunctionError
from wengert.explain.nans import debug_nans
from wengert.optimize.engines import interior_point, ipopt, trust_constr
from wengert.optimize.limits import limits_of
from wengert.optimize.objective import Unknowns, demand_function, explains_tuples, started
from wengert.optimize.program import FEASIBLE, EngineResult, FlatProgram
from wengert.optimize.progress import ProgressBar
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener, Stopped
from wengert.solvers.parameters import depend_on_traced

_OWN = "interior-point"
ENGINES: dict[str, Callable[..., EngineResult]] = {
    "ipopt": ipopt.solve,
    _OWN: interior_point.solve,
    "trust-constr": trust_constr.solve,
}
KINDS = ("solved", "acceptable", "infeasible", "unbounded", "not finite", "stuck", "iterations", "stopped")
"""What can come out; `status` is the place in this list."""


@dataclass
class Multipliers:
    """How much the optimum goes up when a right-hand side does: ∇f = Σ multiplier · ∇constraint at the answer.

    `equalities` and `inequalities` have the form of what the functions return; those of inequalities are not negative.
    `lower` and `upper` have the containers of x and are not negative: ∇f = … + lower − upper.
    """

    equalities: Any
    inequalities: Any
    lower: Any
    upper: Any

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


@explains_tuples
def nlp(
    f: Callable[..., Any] | None,
    x0: Any,
    *,
    equalities: Any = None,
    inequalities: Any = None,
    bounds: Any = None,
    engine: str = "auto",
    args: tuple = (),
    jit: bool = True,
    tol: float = 1e-9,
    maxiter: int = 3000,
    progress: bool = False,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
) -> Solved:
    """A local minimum of `f(x, *args)` with equalities(x) = 0, inequalities(x) ≥ 0 and bounds.

    Args:
        f: returns one number. `None` asks for any point that satisfies the constraints.
        x0: where to start, in any container; it need not satisfy the constraints.
        equalities: a function of `(x, *args)` that returns what is to be zero, a number or arrays; or a list of such.
        inequalities: likewise, what is not to be negative.
        bounds: as for `minimize`. Variables with equal bounds are held there.
        engine: "ipopt" (the extra `wengert[ipopt]`), "interior-point" (our own, the same method), "trust-constr"
            (SciPy's), or "auto": our own for up to a hundred variables and constraints, and Ipopt, if it is installed,
            for more and for what ours cannot solve.
        tol: how far the conditions of optimality may be from holding, for scaled functions.
        maxiter: the largest number of iterations.
        jit, args, progress, callback: as for `minimize`.
        options: further options of the engine.

    Returns:
        SciPy's `OptimizeResult`: `.x` in the containers of `x0`, `.fun`, `.success`, `.message`, `.multipliers`
        (`Multipliers`), `.constr_violation`, `.optimality` (the largest violation of stationarity), `.nit`, `.method`.
        A problem without a feasible or without a lowest point, or with a value that is not a number, is said to be so:
        `success` is False then.

    The Jacobian of the constraints and the Hessian of the Lagrangian are exact and compiled, and sparse for more than a
    hundred variables and constraints.

    >>> import numpy as np
    >>> found = nlp(lambda p: p["x"] + p["y"], {"x": 1.0, "y": 1.0}, inequalities=lambda p: 2 - p["x"]**2 - p["y"]**2)
    >>> found.x["x"].round(6), found.multipliers.inequalities.round(6)
    (np.float64(-1.0), np.float64(0.5))
    """
    args = args if isinstance(args, tuple) else (args,)
    if f is not None:
        demand_function(f, "what is minimised")
    x0 = started(x0)
    if engine not in ("auto", *ENGINES):
        raise ValueError(f'engine is "auto" or one of {", ".join(ENGINES)}, not {engine!r}')
    if depend_on_traced((f, x0, equalities, inequalities, args)):
        raise UnsupportedFunctionError(
            "optimize.nlp of traced values: its answer has no derivative, and it is no part of a compiled program",
            remedy="optimize.Model has derivatives of its optimum (solution.sensitivity); wg.qp and wg.lp, and "
            "optimize.minimize without constraints, can be differentiated and compiled",
        )
    unknowns = Unknowns(x0)
    limits = limits_of(bounds, unknowns)
    if limits is None:
        limits = np.full(unknowns.size, -np.inf), np.full(unknowns.size, np.inf)
    program = FlatProgram(f, x0, equalities, inequalities, limits, args, jit)
    return solved_program(program, unknowns, engine, tol, maxiter, progress, callback, options or {})


def solved_program(
    program: FlatProgram,
    unknowns: Unknowns,
    engine: str,
    tol: float,
    maxiter: int,
    progress: bool,
    callback: Callable[..., Any] | None,
    options: dict[str, Any],
) -> Solved:
    """What an engine makes of a program, checked and in the user's containers.

    "auto" is Ipopt for sparse programs, if it is there. Small ones cost little more than the calls, of which our own
    engine needs fewer; what it cannot solve Ipopt tries.
    """
    if engine == "auto":
        if ipopt.is_there() and (program.is_sparse or options):  # which are Ipopt's: ours has none
            return solved_program(program, unknowns, "ipopt", tol, maxiter, progress, callback, options)
        own = solved_program(program, unknowns, _OWN, tol, maxiter, progress, callback, options)
        if own.success or own.status >= KINDS.index("iterations") or not ipopt.is_there():
            return own
        again = solved_program(program, unknowns, "ipopt", tol, maxiter, progress, callback, {})
        return again if again.success else own
    last = [program.x0]
    with ProgressBar(engine, maxiter, progress) as bar:
        listener = Listener(callback, bar, progress, unknowns.container)

        def watch(iteration: int, x: np.ndarray, value: float, primal: float, dual: float) -> None:
            last[0] = x.copy()
            listener.tell(iteration, x, value, max(primal, dual))

        try:
            found = ENGINES[engine](program, tol, maxiter, watch, options)
        except (KeyboardInterrupt, Stopped) as reason:
            zeros = np.zeros(program.n)
            kind = "interrupted" if isinstance(reason, KeyboardInterrupt) else "stopped"
            found = EngineResult(last[0], np.zeros(program.m), zeros, zeros, kind, 0)
    return _checked(program, unknowns, found, engine, tol)


def _checked(program: FlatProgram, unknowns: Unknowns, found: EngineResult, engine: str, tol: float) -> Solved:
    x = found.x
    with np.errstate(all="ignore"):
        value, slope, rows, jacobian = program.first(x)
    violations = program.violations(rows)
    worst = float(np.max(violations, initial=0.0))
    reduced = slope - (jacobian.T @ found.rows if program.m else 0.0)
    fixed = program.lower == program.upper
    low = np.where(fixed, np.maximum(reduced, 0), found.lower)
    high = np.where(fixed, np.maximum(-reduced, 0), found.upper)
    stationarity = float(np.max(np.abs(reduced - low + high), initial=0.0))
    kind = found.kind
    if kind in ("solved", "acceptable") and not program.is_feasible(rows, x):
        kind = "infeasible"
    result = Solved(
        x=unknowns.container(x),
        fun=value,
        success=kind in ("solved", "acceptable"),
        status=KINDS.index(kind) if kind in KINDS else len(KINDS),
        message=_message(kind, program, x, violations, tol, found.iterations),
        nit=found.iterations,
        nfev=program.counts["values"] + program.counts["first"],
        njev=program.counts["first"],
        nhev=program.counts["second"],
        constr_violation=worst,
        optimality=stationarity,
        multipliers=Multipliers(
            program.equalities.unravel(found.rows[: program.equal]),
            program.inequalities.unravel(found.rows[program.equal :]),
            unknowns.container(low),
            unknowns.container(high),
        ),
    )
    result.method = engine
    return result


def _message(
    kind: str, program: FlatProgram, x: np.ndarray, violations: np.ndarray, tol: float, iterations: int
) -> str:
    worst = ""
    if violations.size and np.max(violations) > FEASIBLE:
        k = int(np.argmax(violations))
        worst = f"; the worst is {program.row_name(k)}, violated by {violations[k]:.3g}"
    if kind == "not finite":
        return f"the objective, a constraint or a derivative is not finite. {_culprit(program, x)}".strip()
    return {
        "solved": f"optimal: the conditions hold to within {tol:g}",
        "acceptable": f"nearly optimal: the conditions hold to within 1e-06, and could not be met to within {tol:g}",
        "infeasible": f"no point near this one satisfies all constraints{worst}",
        "unbounded": "the objective has no lowest value here, or x runs away: bounds on x would tell",
        "stuck": f"no better point was found, and this one is not optimal{worst}",
        "iterations": f"not done after {iterations} iterations{worst}; maxiter= allows more",
        "stopped": "stopped by the callback",
    }.get(kind, "interrupted; this is the last point")


def _culprit(program: FlatProgram, x: np.ndarray) -> str:
    """Where a NaN arises, with its line."""
    try:
        with debug_nans(), np.errstate(all="ignore"):
            for weights in (np.zeros(program.m), np.ones(program.m)):
                grad(program.lagrangian)(x, 1.0, weights, *program.args)
    except NonFiniteError as problem:
        return str(problem)
    return ""
