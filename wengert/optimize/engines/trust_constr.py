"""SciPy's trust-constr on a flat program, with exact derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, minimize

from wengert.optimize.program import EngineResult, FlatProgram, Watch

_OPTIMAL = 1e-5
"""How large the gradient of the Lagrangian may be at an answer, beside that of the objective."""


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
    given: dict[str, Any] = {"gtol": 0.0 if walls else tol, "xtol": 1e-12, "barrier_tol": tol, "maxiter": maxiter}
    if program.equal > program.n:  # for the rows of which others are consequences
        given["factorization_method"] = "SVDFactorization"
    found = minimize(
        lambda x: program.values(x)[0],
        program.x0,
        jac=lambda x: program.first(x)[1],
        hess=lambda x: program.second(x, 1.0, np.zeros(m)),
        method="trust-constr",
        bounds=Bounds(program.lower, program.upper, keep_feasible=False),
        constraints=[rows] if m else [],
        callback=each,
        options=given | options,
    )
    y = -np.asarray(found.v[0]) if m else np.zeros(0)
    of_bounds = np.asarray(found.v[-1]) if len(found.v) > bool(m) else np.zeros(program.n)
    kind = {0: "iterations", 1: "solved", 2: "solved", 3: "stopped"}.get(found.status, "stuck")
    if kind == "solved" and found.constr_violation > 1e-6:
        kind = "infeasible"
    elif kind == "solved" and found.optimality > _OPTIMAL * max(1.0, np.max(np.abs(found.grad))):
        kind = "stuck"  # its steps have become short, for another reason than that there is nothing to gain
    x = np.clip(found.x, program.lower, program.upper)
    return EngineResult(x, y, np.maximum(-of_bounds, 0), np.maximum(of_bounds, 0), kind, int(found.nit))
