"""Newton's method with a sparse Hessian, for many unknowns: what L-BFGS needs thousands of iterations for takes a few.

It is the interior-point method of `nlp` without constraints: a sparse factorisation whose pivots tell whether the
Hessian is positive definite, which is shifted until it is, and a line search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms.status import CONVERGED, INTERRUPTED, LIMIT, MESSAGES, NOT_FINITE, PRECISE, STUCK, VALLEY
from wengert.errors import MismatchError
from wengert.optimize.engines import interior_point
from wengert.optimize.objective import Objective, known_options
from wengert.optimize.program import FlatProgram
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener, Stopped

NAME = "sparse-newton"
_ITERATIONS = 1000
_TOLERANCE = 1e-8
_STATUS = {"solved": CONVERGED, "acceptable": PRECISE, "iterations": LIMIT, "not finite": NOT_FINITE,
           "unbounded": VALLEY}  # fmt: skip


def run(f: Callable, objective: Objective, x0: np.ndarray, limits: tuple | None, tol: float | None,
        options: dict[str, Any], listener: Listener, jit: bool) -> Solved:  # fmt: skip
    """The minimum, on vectors."""
    if limits is not None:  # barriers would leave gradients that are small only in comparison
        raise MismatchError(f'method "{NAME}" takes no bounds', remedy='use method "lbfgs", or optimize.nlp')
    known_options(NAME, options, ("gtol", "maxiter"))
    gtol = options.get("gtol", _TOLERANCE if tol is None else tol)
    n = len(x0)
    given = np.full(n, -np.inf), np.full(n, np.inf)
    start = objective.unknowns.container(x0)
    program = FlatProgram(f, start, None, None, given, objective.args, jit, sparse=objective.pattern is not None)
    last = [program.x0, 0]

    def watch(iteration: int, x: np.ndarray, value: float, primal: float, dual: float) -> None:
        last[:] = x.copy(), iteration
        listener.tell(iteration, x, value, dual)

    size = float(np.max(np.abs(program.first(program.x0)[1]), initial=0.0))
    # The engine scales the objective such that no slope is above 100 at the start.
    enough = gtol * min(1.0, 100 / size) if np.isfinite(size) and size > 0 else gtol
    try:
        found = interior_point.solve(program, max(enough, 1e-15), options.get("maxiter", _ITERATIONS), watch, {})
        x, status, count = found.x, _STATUS.get(found.kind, STUCK), found.iterations
    except (KeyboardInterrupt, Stopped) as stop:
        x, count = last  # type: ignore[assignment]
        status = INTERRUPTED if isinstance(stop, KeyboardInterrupt) else INTERRUPTED + 1
    with np.errstate(all="ignore"):
        value, slope, _, _ = program.first(x)
    message = MESSAGES.get(status, "the callback asked to stop")
    if status >= INTERRUPTED:
        message += "; x is the best point so far"
    elif status == NOT_FINITE:
        message = f"{message}\n{objective.fault(x)}".strip()
    elif status != CONVERGED:
        message += f"; the gradient's largest component is {np.max(np.abs(slope)):.2g}"
    return Solved(
        x=x, fun=value, jac=slope, nit=count, nfev=program.counts["values"] + program.counts["first"],
        nhev=program.counts["second"], status=status, success=status in (CONVERGED, PRECISE), message=message,
    )  # fmt: skip
