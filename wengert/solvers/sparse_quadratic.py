"""Quadratic programs whose matrices are sparse: the same method, on the entries alone.

A step of the interior-point method solves with the quasidefinite matrix

    [ P + δ    Aᵀ        Gᵀ     ]
    [ A       −δ                ]
    [ G               −S/Z      ]

which is as sparse as the program, where P + Gᵀ(Z/S)G, of which the dense method is made, may be full. The answer and
its multipliers satisfy equations whose Jacobian is sparse too, so derivatives, of any order, cost a few sparse factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from wengert.algorithms import quadratic
from wengert.algorithms.roots import demand_converged
from wengert.box.functions.operands import join, part
from wengert.box.functions.sparse_matrix import SparseMatrix
from wengert.errors import ConvergenceError
from wengert.ops import elementwise as e
from wengert.ops.op import Traced
from wengert.solvers.answer import Problem, solved
from wengert.types import shape_of

_FLAT = 1e-10
"""How far below zero an eigenvalue of P may be, relative to the largest entry: it counts as rounding."""

_CHANGES = 30
"""So often constraints may become active, or cease to be, while an answer is refined."""
_EXACT = 1e-9
"""How well the conditions must hold, for which constraints are active to be certain."""


class QuadraticProgram(NamedTuple):
    """Minimise ½ xᵀPx + qᵀx with Gx ≤ h and Ax = b."""

    P: Any
    q: Any
    G: Any
    h: Any
    A: Any
    b: Any

    def plain(self) -> QuadraticProgram:
        """With matrices of SciPy's."""
        return QuadraticProgram(self.P.plain(), self.q, self.G.plain(), self.h, self.A.plain(), self.b)

    def conditions(self, x: Any, z: Any, y: Any) -> list[Any]:
        """What is zero at the answer x with the multipliers z and y."""
        stationary = self.P @ x + self.q + self.G.T @ z + self.A.T @ y
        return [stationary, e.minimum(self.h - self.G @ x, z), self.A @ x - self.b]

    def missed(self, x: Any, z: Any, y: Any) -> float:
        """By how much these conditions do not hold, of plain numbers."""
        return float(np.max(np.abs(np.concatenate(self.conditions(x, z, y))), initial=0.0))

    def scale(self, x: Any, z: Any, y: Any) -> float:
        """What rounding errors of these conditions are relative to."""
        return 1 + max([float(np.max(np.abs(v), initial=0.0)) for v in (self.q, self.h, self.b, z, y)])


def solved_sparsely(
    name: str, P: SparseMatrix, q: Any, G: SparseMatrix, h: Any, A: SparseMatrix, b: Any, tol: float, maxiter: int,
    remedy: str,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The answer x and the multipliers z and y; all of them may be traced."""
    P = ((P + P.T) / 2).without_duplicates()
    n, m, p = shape_of(q)[0], shape_of(h)[0], shape_of(b)[0]

    def filled(values: Sequence[Any]) -> QuadraticProgram:
        of_p, q, of_g, h, of_a, b = values
        return QuadraticProgram(P.with_entries(of_p), q, G.with_entries(of_g), h, A.with_entries(of_a), b)

    def find(values: Sequence[Any]) -> np.ndarray:
        program = filled(values).plain()
        demand_convex(program.P)
        largest = np.max(np.abs(program.P.data), initial=0.0)
        with np.errstate(all="ignore"):
            x, z, y, size, _ = quadratic.interior_point(
                *program, tol=tol, maxiter=maxiter, kkt=kkt_factors, solve=_solve, largest=largest
            )
            if size > quadratic.CLOSE:
                demand_converged(size, tol, name, remedy)
            found = refined(program, x, z, y)
            if size > tol:  # its steps are rounding errors, which those of the active constraints are not
                demand_converged(program.missed(*found) / program.scale(*found), _EXACT, name, remedy)
            return np.concatenate(found)

    def residual(unknowns: Any, *values: Any) -> Any:
        return join(filled(values).conditions(*_parts(unknowns, n, m)), 0)

    def demand(unknowns: np.ndarray, values: Sequence[Any]) -> None:
        program = filled(values).plain()
        x, z, y = _parts(unknowns, n, m)
        demand_converged(program.missed(x, z, y) / program.scale(x, z, y), _EXACT, name, remedy)
        quadratic.demand_strict(x, z, program.G, program.h)

    values = [P.entries, q, G.entries, h, A.entries, b]
    if not any(isinstance(x, Traced) for x in values):
        return _parts(find(values), n, m)
    size = n + m + p
    return _parts(solved(Problem(name, find, residual, size, size, demand), values, (size,)), n, m)


def _parts(unknowns: Any, n: int, m: int) -> tuple[Any, Any, Any]:
    x, z, y = [part(unknowns, 0, place) for place in (slice(0, n), slice(n, n + m), slice(n + m, None))]
    return x, z, y


def kkt_factors(P: Any, G: Any, weights: np.ndarray, A: Any, shift: float) -> Any:
    """Factors of the matrix of a step; `None` if it is singular, or not a number."""
    return _factors(P, A, G, shift, -1 / weights)


def _factors(P: Any, A: Any, G: Any, shift: float, last: np.ndarray) -> Any:
    n, p, m = P.shape[0], A.shape[0], G.shape[0]
    P, A, G = P.tocoo(), A.tocoo(), G.tocoo()
    diagonal = np.concatenate([np.full(n, shift), np.full(p, -shift), last])
    whole = np.arange(n + p + m)
    rows = [P.row, n + A.row, A.col, n + p + G.row, G.col, whole]
    columns = [P.col, A.col, n + A.row, G.col, n + p + G.row, whole]
    entries = np.concatenate([P.data, A.data, A.data, G.data, G.data, diagonal])
    if not np.all(np.isfinite(entries)):
        return None
    places = np.concatenate(rows), np.concatenate(columns)
    try:
        matrix = scipy.sparse.csc_array((entries, places), shape=(n + p + m,) * 2)
        return scipy.sparse.linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A")
    except RuntimeError:
        return None


def refined(program: QuadraticProgram, x: Any, z: Any, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer from the equations of the constraints that are active, which may change on the way (Hintermüller, Ito
    and Kunisch 2002); as it was where that does not help."""
    P, q, G, h, A, b = program
    n, p = len(x), len(y)
    best, smallest, before = (x, z, y), program.missed(x, z, y), None
    for _ in range(_CHANGES):
        slack = h - G @ x
        active = np.flatnonzero(z > slack)
        factors = _factors(P, A, G[active], 1e-15, np.full(len(active), -1e-15))
        held = np.zeros(len(z))
        held[active] = z[active]
        stationary = P @ x + q + G.T @ held + A.T @ y
        step = _solve(factors, np.concatenate([stationary, A @ x - b, -slack[active]]))
        held[active] -= step[n + p :]
        x, y, z = x - step[:n], y - step[n : n + p], held
        size = program.missed(x, z, y)
        if size < smallest:
            best, smallest = (x, z, y), size
        if not np.isfinite(size) or (before is not None and np.array_equal(before, active)):
            break
        before = active
    return best


def _solve(factors: Any, side: np.ndarray) -> np.ndarray:
    if factors is None:
        return np.full(len(side), np.nan)
    eliminated = np.zeros(factors.shape[0] - len(side))
    return factors.solve(np.concatenate([side, eliminated]))[: len(side)]


def demand_convex(P: Any) -> None:
    """Raise if a symmetric matrix has a negative eigenvalue.

    Where all pivots are from the diagonal, as many of them are negative as eigenvalues are (Sylvester).
    """
    largest = np.max(np.abs(P.data), initial=0.0)
    convex = bool(np.isfinite(largest))
    if convex and largest > 0:
        moved = (P + _FLAT * (1 + largest) * scipy.sparse.eye_array(P.shape[0])).tocsc()
        try:
            factors = scipy.sparse.linalg.splu(
                moved, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
            convex = np.array_equal(factors.perm_r, factors.perm_c) and bool(np.all(factors.U.diagonal() > 0))
        except RuntimeError:
            convex = False
    if not convex:
        raise ConvergenceError(
            "wg.qp: P has a negative eigenvalue, or is not finite, so that the objective is not convex",
            remedy="P must be positive semidefinite; for other objectives use wengert.optimize.nlp",
        )
