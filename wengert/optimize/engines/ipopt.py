"""Ipopt, where the package `ipyopt` is installed (the extra `ipopt`): it gets compiled sparse derivatives.

Ipopt asks for objective, gradient, constraints and Jacobian one by one, mostly at the same point: all are computed at
once and kept for the point.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from wengert.errors import MissingPackageError
from wengert.optimize.program import EngineResult, FlatProgram, Watch

_INFINITE = 2e19
_KINDS = {
    0: "solved",
    1: "acceptable",
    2: "infeasible",
    3: "stuck",  # the search direction is too small
    4: "unbounded",
    5: "stopped",
    6: "solved",  # a feasible point of a square problem
    -1: "iterations",
    -2: "stuck",  # restoration failed
    -3: "stuck",
    -10: "stuck",  # too few degrees of freedom
    -13: "not finite",
}

_RELAXED = (1e-9, 1e-11)
"""How far Ipopt moves bounds out, which programs without an interior need, and how far in a second attempt. It moves
those of scaled constraints, and scales may be 1e-3: one that is moved by 1e-9 is violated by 1e-6 then."""


@functools.cache
def is_there() -> bool:
    """Whether the package is installed."""
    return importlib.util.find_spec("ipyopt") is not None


class _Point:
    """What the program is at the last point that was asked for."""

    def __init__(self, program: FlatProgram):
        self._program = program
        self.last: np.ndarray | None = None
        self._first: tuple | None = None
        self._values: tuple | None = None

    def _at(self, x: np.ndarray) -> None:
        if self.last is None or not np.array_equal(self.last, x):
            self.last, self._first, self._values = x.copy(), None, None

    def values(self, x: np.ndarray) -> tuple:
        self._at(x)
        if self._first is not None:
            return self._first[0], self._first[2]
        if self._values is None:
            self._values = self._program.values(x)
        return self._values

    def first(self, x: np.ndarray) -> tuple:
        self._at(x)
        if self._first is None:
            self._first = self._program.first(x)
        return self._first


def solve(program: FlatProgram, tol: float, maxiter: int, watch: Watch | None, options: dict[str, Any]) -> EngineResult:
    """The program's solution from its start."""
    if not is_there():
        raise MissingPackageError(
            'engine="ipopt" needs the package ipyopt, which is not installed',
            remedy='pip install "wengert[ipopt]", or leave the engine to nlp, which has one of its own',
        )
    ipyopt = importlib.import_module("ipyopt")
    point = _Point(program)
    _, _, _, jacobian = point.first(program.x0)
    hessian = program.second(program.x0, 1.0, np.ones(program.m))
    jac_rows, jac_cols, jac_entries = _entries(jacobian, lambda row, col: np.ones(row.size, bool))
    hess_rows, hess_cols, hess_entries = _entries(hessian, lambda row, col: row >= col)
    state = {"iterations": 0}
    problems: list[BaseException] = []

    def guarded(function: Callable) -> Callable:
        """Exceptions of the user's functions are raised when Ipopt has come back."""

        def run(*given: Any) -> Any:
            try:
                return function(*given)
            except BaseException as problem:  # KeyboardInterrupt too
                problems.append(problem)
                raise

        return run

    def gradient(x: np.ndarray, out: np.ndarray) -> None:
        out[:] = point.first(x)[1]

    def rows(x: np.ndarray, out: np.ndarray) -> None:
        out[:] = point.values(x)[1]

    def of_rows(x: np.ndarray, out: np.ndarray) -> None:
        out[:] = jac_entries(point.first(x)[3])

    def second(x: np.ndarray, y: np.ndarray, weight: float, out: np.ndarray) -> None:
        out[:] = hess_entries(program.second(x, weight, y))

    def each(mode: int, iteration: int, value: float, primal: float, dual: float, *_: Any) -> bool:
        state["iterations"] = iteration
        if watch is not None and point.last is not None:
            watch(iteration, point.last, value, primal, dual)
        return True

    problem = ipyopt.Problem(
        program.n,
        np.maximum(program.lower, -_INFINITE),
        np.minimum(program.upper, _INFINITE),
        program.m,
        np.zeros(program.m),
        np.concatenate([np.zeros(program.equal), np.full(program.unequal, _INFINITE)]),
        (jac_rows, jac_cols),
        (hess_rows, hess_cols),
        guarded(lambda x: point.values(x)[0]),
        guarded(gradient),
        guarded(rows),
        guarded(of_rows),
        guarded(second),
        intermediate_callback=guarded(each),
    )
    settings = {"tol": tol, "max_iter": maxiter, "print_level": 0, "sb": "yes"}

    def attempt(relaxed: float) -> EngineResult:
        problem.set(**(settings | {"bound_relax_factor": relaxed} | options))
        y, low, high = np.zeros(program.m), np.zeros(program.n), np.zeros(program.n)
        try:
            x, _, status = problem.solve(program.x0.copy(), mult_g=y, mult_x_L=low, mult_x_U=high)
        except BaseException as problem_of_ipopt:
            if problems:
                raise problems[0] from None
            raise problem_of_ipopt
        x = np.clip(x, program.lower, program.upper)
        return EngineResult(x, -y, low, high, _KINDS.get(status, "stuck"), state["iterations"])

    found = attempt(_RELAXED[0])
    if found.kind == "solved" and not program.is_feasible(point.values(found.x)[1], found.x):
        again = attempt(_RELAXED[1])
        return again if again.kind == "solved" else found
    return found


def _entries(matrix: Any, wanted: Callable) -> tuple[np.ndarray, np.ndarray, Callable]:
    """Rows and columns of the entries that are wanted, and a function that takes them out of such a matrix."""
    if sp.issparse(matrix):
        found = sp.coo_array(matrix)
        row, col = found.row, found.col
    else:
        row, col = (k.ravel() for k in np.indices(matrix.shape))
    kept = np.flatnonzero(wanted(row, col))
    read = (lambda m: m.data[kept]) if sp.issparse(matrix) else (lambda m: m.ravel()[kept])
    return row[kept].astype(np.int64), col[kept].astype(np.int64), read
