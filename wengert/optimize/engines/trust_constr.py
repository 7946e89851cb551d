"""SciPy's trust-constr on a flat program, with exact derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, minimize

from wengert.optimize.program import EngineResult, FlatProgram, Watch


def solve(program: FlatProgram, tol: float, maxiter: int, watch: Watch | None, options: dict[str, Any]) -> EngineResult:
    """The program's solution from its start."""
    m = program.m
    value, slope, rows, _ = program.first(program.x0)
    if not (np.isfinite(value) and np.all(np.isfinite(slope)) and np.all(np.isfinite(rows))):
        zeros = np.zeros(program.n)
        return EngineResult(program.x0, np.zeros(m), zeros, zeros, "not finite", 0)
    rows = NonlinearConstraint(
        lambda x: program.values(x)[1],
        np.zeros(m),
        np.concatenate([np.zeros(program.equal), np.full(program.unequal, np.inf)]),
        jac=lambda x: program.first(x)[3],
        hess=lambda x, y: program.second(x, 0.0, np.asarray(y, float)),
    )

    def each(x: np.ndarray, state: Any) -> bool:
        if watch is not None:
            watch(state.nit, x, state.fun, state.constr_violation, state.optimality)
        return False

    # With a barrier, its gradient may be small while the barrier is not.
    walls = program.unequal or np.any(np.isfinite(program.lower) | np.isfinite(program.upper))
    gtol = 0.0 if walls else tol
    found = minimize(
        lambda x: program.values(x)[0],
        program.x0,
        jac=lambda x: program.first(x)[1],
        hess=lambda x: program.second(x, 1.0, np.zeros(m)),
        method="trust-constr",
        bounds=Bounds(program.lower, program.upper, keep_feasible=False),
        constraints=[rows] if m else [],
        callback=each,
        options={"gtol": gtol, "xtol": 1e-12, "barrier_tol": tol, "maxiter": maxiter} | options,
    )
    y = -np.asarray(found.v[0]) if m else np.zeros(0)
    of_bounds = np.asarray(found.v[-1]) if len(found.v) > bool(m) else np.zeros(program.n)
    kind = {0: "iterations", 1: "solved", 2: "solved", 3: "stopped"}.get(found.status, "stuck")
    if kind == "solved" and found.constr_violation > 1e-6:
        kind = "infeasible"
    x = np.clip(found.x, program.lower, program.upper)
    return EngineResult(x, y, np.maximum(-of_bounds, 0), np.maximum(of_bounds, 0), kind, int(found.nit))
