"""What the linear part of a model tells, by linear programs: that no point satisfies it, or that there is a ray along
which the objective falls for ever.

A row is linear if its slopes are the same at all points that were looked at. A variable enters linearly if its slopes
are, in all rows and in the objective; along such variables alone all rows change at constant rates, whatever the
others do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

_SAME = 1e-12
"""Slopes that differ by no more than this part of their size are the same."""
_FALLS = 1e-7
"""The objective falls if it does so by this part of its largest slope, along a direction of entries up to one."""
_CONFLICT = 1e-7
_LARGEST = 100_000
"""Models with more rows or variables are not asked for what takes a linear program."""


class LinearPart(NamedTuple):
    """Slopes of objective and rows, and which of them are constant."""

    slope: np.ndarray
    matrix: sp.csr_array
    rows: np.ndarray
    columns: np.ndarray

    @staticmethod
    def of(program: Any, derivatives: list) -> LinearPart | None:
        """The linear part, from derivatives at several points; `None` if there are none at the first, or too many."""
        if max(program.n, program.m) > _LARGEST or len(derivatives) < 2:
            return None
        slopes = np.array([d[1] for d in derivatives])
        matrices = [sp.csr_array(d[3]) for d in derivatives]
        if not np.all(np.isfinite(slopes[0])) or not np.all(np.isfinite(matrices[0].data)):
            return None
        slopes = np.nan_to_num(slopes, nan=np.inf)
        for other in matrices[1:]:
            other.data = np.nan_to_num(other.data, nan=np.inf)
        slope, matrix = slopes[0], matrices[0]
        rows, columns = np.ones(program.m, bool), np.ptp(slopes, axis=0) <= _SAME * np.max(np.abs(slopes), axis=0)
        largest = matrix if not program.m else abs(matrix)
        for other in matrices[1:]:
            largest = largest.maximum(abs(other))
        for other in matrices[1:]:
            change = sp.coo_array(abs(other - matrix) - _SAME * largest)
            moved = change.data > 0
            rows[change.row[moved]] = columns[change.col[moved]] = False
        return LinearPart(slope, matrix, rows, columns)

    def falling(self, program: Any) -> np.ndarray:
        """Which variables move along a ray on which the objective falls for ever; none if there is no such ray."""
        lower = np.where(np.isfinite(program.lower) | ~self.columns, 0.0, -1.0)
        upper = np.where(np.isfinite(program.upper) | ~self.columns, 0.0, 1.0)
        size = np.max(np.abs(self.slope), initial=0.0)
        if size == 0:
            return np.zeros(program.n, bool)
        equal = program.equal
        A, still = self.matrix, np.zeros(program.m)
        found = linprog(self.slope / size, A_ub=-A[equal:], b_ub=still[equal:], A_eq=A[:equal], b_eq=still[:equal],
                        bounds=np.stack([lower, upper], axis=1))  # fmt: skip
        runs = found.status == 0 and found.fun < -_FALLS
        return np.abs(found.x) > _FALLS if runs else np.zeros(program.n, bool)

    def conflicting(self, program: Any, values: np.ndarray) -> np.ndarray:
        """Which rows contradict one another, or the bounds; none if some point satisfies all that are linear.

        By how much rows have to be violated at least is a linear program; those in conflict have multipliers there.
        """
        if not program.m:
            return np.zeros(0, int)
        largest = abs(self.matrix).max(axis=1).toarray().ravel()
        own = np.flatnonzero(self.rows & np.isfinite(values) & (largest > 0))
        sizes = largest[own]
        A, at = sp.diags_array(1 / sizes) @ self.matrix[own], values[own] / sizes
        equal = own < program.equal
        slack = sp.eye_array(own.size)
        found = linprog(
            np.concatenate([np.zeros(program.n), np.ones(2 * own.size)]),
            A_ub=-sp.hstack([A, slack, 0 * slack])[np.flatnonzero(~equal)], b_ub=at[~equal],
            A_eq=sp.hstack([A, slack, -slack])[np.flatnonzero(equal)], b_eq=-at[equal],
            bounds=np.concatenate([np.stack([program.lower - program.x0, program.upper - program.x0], 1),
                                   np.tile([0.0, np.inf], (2 * own.size, 1))]),
        )  # fmt: skip
        if found.status != 0 or found.fun <= _CONFLICT * (1 + np.max(np.abs(at), initial=0.0)):
            return own[:0]
        multipliers = np.zeros(own.size)
        multipliers[~equal], multipliers[equal] = found.ineqlin.marginals, found.eqlin.marginals
        return own[np.abs(multipliers) > _CONFLICT]
