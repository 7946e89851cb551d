"""Linear systems with the Jacobian of what an answer satisfies, solved by its structure.

With few unknowns the matrix is dense. With many it is looked for zeros that hold for all values (`api/sparsity.py`):
where most entries are zero the others are computed by few products, and factorised as a sparse matrix. Where they are
not, or where the pattern cannot be found, the matrix is dense up to a size at which it would fill the memory; beyond
that there is no matrix, and the system is solved by products (GMRES).

Everything is written with operators of this package: what is linearised may be traced by any outer mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from wengert.api.jacobian import jacobian, value_and_jacobian
from wengert.api.products import jvp
from wengert.api.sparsity import sparsity
from wengert.box.functions.linalg import solve
from wengert.box.functions.sparse import spsolve, traced_matrix
from wengert.errors import ConvergenceError
from wengert.modes.cuts import attempted
from wengert.ops.op import Traced
from wengert.ops.solution import linear_solution
from wengert.solvers.linear import System, iterated
from wengert.types import dtype_of, shape_of

_FEW = 150
"""Up to so many unknowns nobody looks for zeros."""
_LARGEST = 3000
"""Up to so many unknowns a matrix may be dense."""
_SPARSE = 0.1
"""The largest share of entries of a matrix that is worth being treated as sparse."""
_SINGULAR = 1e14
"""The condition number from which on a Jacobian counts as singular."""


class ImplicitEquations:
    """F(y, *parameters) of vectors, and its Jacobian with respect to y, of which the pattern may be known."""

    def __init__(self, residual: Callable, pattern: Any = None):
        self.residual = residual
        self._pattern = pattern
        self._structure = "" if pattern is None else "sparse"

    def linearised(self, y: Any, parameters: Sequence[Any]) -> tuple[Any, Slopes]:
        """F and its Jacobian at a point."""
        if not self._structure:
            self._structure = self._found_structure(y, parameters)
        with attempted(False):  # nobody has asked for this derivative: that it is zero is not worth a warning
            if self._structure == "dense":
                r, matrix = value_and_jacobian(lambda y: self.residual(y, *parameters))(y)
                return r, DenseSlopes(matrix)
            if self._structure == "sparse":
                r, matrix = value_and_jacobian(self.residual, sparse=self._pattern)(y, *parameters)
                return r, SparseSlopes(matrix)
        return self.residual(y, *parameters), SlopeProducts(self.residual, y, parameters)

    def matrix(self, y: Any, parameters: Sequence[Any]) -> Slopes:
        """The Jacobian alone."""
        if not self._structure:
            self._structure = self._found_structure(y, parameters)
        if self._structure == "dense":
            with attempted(False):
                return DenseSlopes(jacobian(lambda y: self.residual(y, *parameters))(y))
        return self.linearised(y, parameters)[1]

    def pattern(self, y: Any, parameters: Sequence[Any]) -> Any:
        """Where the Jacobian may have entries, if it is to be treated as sparse; otherwise it is dense."""
        if not self._structure:
            self._structure = self._found_structure(y, parameters)
        if self._structure != "sparse":
            self.treat_as_dense()
        return self._pattern

    def treat_as_dense(self) -> None:
        """Whatever the structure is."""
        self._structure, self._pattern = "dense", None

    def _found_structure(self, y: Any, parameters: Sequence[Any]) -> str:
        n = shape_of(y)[0]
        if n <= _FEW:
            return "dense"
        # The pattern is that for all values: any will do, if the function can be followed at all.
        values = [np.ones(shape_of(v), dtype_of(v)) if isinstance(v, Traced) else v for v in (y, *parameters)]
        try:
            pattern = sparsity(self.residual)(*values)
        except Exception:  # it cannot be followed on these values: then nothing is known of its structure
            pattern = None
        if pattern is not None and pattern.nnz <= _SPARSE * n * n:
            self._pattern = pattern
            return "sparse"
        return "dense" if n <= _LARGEST else "products"


class Slopes:
    """A Jacobian: `entries` are operands that determine it, `plain(entries)` is what it is at plain numbers."""

    entries: list[Any]

    def solve(self, b: Any) -> Any:
        """The x with A x = b, for traced entries and right-hand sides."""
        raise NotImplementedError

    def plain(self, entries: Sequence[Any]) -> Any:
        raise NotImplementedError


class DenseSlopes(Slopes):
    """An array."""

    def __init__(self, matrix: Any):
        self.entries = [matrix]

    def solve(self, b: Any) -> Any:
        return solve(self.entries[0], b)

    def plain(self, entries: Sequence[Any]) -> Any:
        return np.asarray(entries[0])


class SparseSlopes(Slopes):
    """A sparse matrix, factorised when it is used."""

    def __init__(self, matrix: Any):
        self._matrix = traced_matrix(matrix)
        self.entries = [self._matrix.data]

    def solve(self, b: Any) -> Any:
        return spsolve(self._matrix, b)

    def plain(self, entries: Sequence[Any]) -> Any:
        places = self._matrix.rows, self._matrix.columns
        return scipy.sparse.csc_array((np.asarray(entries[0]), places), shape=self._matrix.shape)


class SlopeProducts(Slopes):
    """No matrix: products of it with vectors."""

    def __init__(self, residual: Callable, y: Any, parameters: Sequence[Any]):
        self._residual = residual
        self.entries = [y, *parameters]

    def solve(self, b: Any) -> Any:
        find = lambda operator, b, _: iterated("an implicit function", operator, b, "gmres", 1e-13, None)
        return linear_solution(b, *self.entries, system=System("an implicit function", self._times, find))

    def _times(self, v: Any, entries: Sequence[Any]) -> Any:
        return jvp(lambda y: self._residual(y, *entries[1:]), [entries[0]], [v])[1]

    def plain(self, entries: Sequence[Any]) -> Any:
        n = len(entries[0])
        times = lambda v: np.asarray(self._times(np.ravel(v), entries))
        return scipy.sparse.linalg.LinearOperator((n, n), matvec=times, dtype=float)


def checked_solver(name: str, matrix: Any, b: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Solutions at plain numbers, of a matrix in any of these forms, if they are determined. b is one of the right-hand
    sides."""
    if isinstance(matrix, scipy.sparse.linalg.LinearOperator):
        return lambda b: iterated(name, matrix, b, "gmres", 1e-12, None)
    entries = matrix.data if scipy.sparse.issparse(matrix) else matrix
    if not (np.all(np.isfinite(entries)) and np.all(np.isfinite(b))):
        raise ConvergenceError(
            f"the answer of {name} has no derivative: its equation, or the Jacobian of that, is not finite there",
            remedy="look at the equation at the answer; a bound or another start may lead to another answer",
        )
    if not scipy.sparse.issparse(matrix):
        if len(b) and np.linalg.cond(matrix, 1) > _SINGULAR:
            raise _is_singular(name)
        return lambda b: np.linalg.solve(matrix, b)
    try:
        factors = scipy.sparse.linalg.splu(matrix)
    except RuntimeError:
        raise _is_singular(name) from None
    inverse = scipy.sparse.linalg.LinearOperator(
        matrix.shape, factors.solve, lambda v: factors.solve(v, "T"), dtype=float
    )
    if scipy.sparse.linalg.onenormest(inverse) * scipy.sparse.linalg.norm(matrix, 1) > _SINGULAR:
        raise _is_singular(name)
    return factors.solve


def _is_singular(name: str) -> ConvergenceError:
    return ConvergenceError(
        f"the answer of {name} has no derivative: the Jacobian of what it satisfies is singular there",
        remedy="the answer is not isolated, or several come together: add an equation or a regularisation that "
        "makes it unique",
    )
