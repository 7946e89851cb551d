"""`qp` and `lp`: optimisation as a layer. The answer is differentiated through the conditions that hold there.

The engine is an interior-point method of our own (`algorithms/quadratic.py`): plain NumPy, and so native under `jit`
and in batches, where matrices are dense. Sparse ones stay so (`sparse_quadratic.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from wengert.algorithms import quadratic
from wengert.algorithms.roots import demand_converged
from wengert.api.operators import operation
from wengert.api.vmap import vmap
from wengert.box.functions.operands import join
from wengert.box.functions.sparse_matrix import SparseMatrix, is_sparse, traced_matrix
from wengert.capture.hooks import instrument
from wengert.errors import ConvergenceError, MismatchError
from wengert.ops import elementwise as e
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.shape import transpose
from wengert.solvers.implicit import Equation, Implicit
from wengert.solvers.parameters import real
from wengert.solvers.sparse_quadratic import solved_sparsely
from wengert.types import ndim_of, shape_of

_RANKS = (2, 1, 2, 1, 2, 1)
"""How many axes P, q, G, h, A and b have."""
_TOLERANCE = 1e-10
_REMEDY = "look whether some x satisfies all constraints, and whether the objective is bounded there"


@operation
def qp(
    P: Any,
    q: Any,
    G: Any = None,
    h: Any = None,
    A: Any = None,
    b: Any = None,
    *,
    full: bool = False,
    maxiter: int = 100,
) -> Any:
    """The x that minimises ½ xᵀPx + qᵀx with Gx ≤ h and Ax = b; a quadratic program as a layer (OptNet).

    Args:
        P: positive semidefinite (of a matrix that is not symmetric, the symmetric part counts); the answer must be
            unique.
        q: the linear part.
        G, h: inequalities, or None.
        A, b: equalities, or None. If one of the matrices is of `scipy.sparse`, all are treated as sparse.
        full: whether to return `(x, z, y)` with the multipliers z ≥ 0 of the inequalities and y of the equalities, for
            which Px + q + Gᵀz + Aᵀy = 0.
        maxiter: the largest number of iterations; a `ConvergenceError` after that, for instance if nothing is feasible.

    Differentiable with respect to all of P, q, G, h, A and b, entries of sparse matrices included. Under `jit` one
    native loop where matrices are dense, a call of Python where they are sparse. Any of them that is not sparse may
    have one more axis in front: then there is an answer for each index of it, as with `vmap`.

    >>> import numpy as np, wengert as wg
    >>> nearest = lambda p: wg.qp(2 * np.eye(2), -2 * p, np.array([[1.0, 1.0]]), np.ones(1))
    >>> nearest(np.array([1.2, 0.7])).round(10)
    array([0.75, 0.25])
    >>> wg.jacobian(nearest)(np.array([1.2, 0.7])).round(10)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    return _program("wg.qp", (P, q, G, h, A, b), full, maxiter)


def _program(name: str, given: Sequence[Any], full: bool, maxiter: int) -> Any:
    batched = [k for k, x in enumerate(given) if x is not None and not is_sparse(x) and ndim_of(real(x)) > _RANKS[k]]
    if batched:

        def of_example(*examples: Any) -> Any:
            filled = list(given)
            for k, x in zip(batched, examples, strict=True):
                filled[k] = x
            return _program(name, filled, full, maxiter)

        return vmap(of_example)(*[given[k] for k in batched])
    P, q, G, h, A, b = given
    if (G is None) != (h is None) or (A is None) != (b is None):
        raise MismatchError(
            "constraints need both their matrix and their right-hand side", remedy="give G with h, A with b"
        )
    q = _vector(q)
    n = shape_of(q)[0]
    h, b = np.zeros(0) if h is None else _vector(h), np.zeros(0) if b is None else _vector(b)
    sparse = any(map(is_sparse, (P, G, A)))
    as_matrix = _sparse_matrix if sparse else _matrix
    P, G, A = [as_matrix(np.zeros((0, n)) if x is None else x) for x in (P, G, A)]
    for which, x, wanted in (("P", P, (n, n)), ("G", G, (shape_of(h)[0], n)), ("A", A, (shape_of(b)[0], n))):
        if shape_of(x) != wanted:
            raise MismatchError(
                f"{which} has the shape {shape_of(x)}, where {wanted} is wanted",
                remedy="give P as many rows and columns as q has numbers, G and A as many rows as h and b have",
            )
    if sparse:
        found = solved_sparsely(name, P, q, G, h, A, b, _TOLERANCE, maxiter, _REMEDY)
        return found if full else found[0]
    P = (P + transpose(P, axes=(1, 0))) / 2

    def solve(P: Any, q: Any, G: Any, h: Any, A: Any, b: Any) -> Any:
        if isinstance(P, Traced) or np.any(P):
            instrument(quadratic.demand_convex)(P)
        largest = np.max(np.abs(P), initial=0.0)
        means = quadratic.dense_kkt, np.linalg.solve, largest
        try:
            x, z, y, size, _ = instrument(quadratic.interior_point)(P, q, G, h, A, b, _TOLERANCE, maxiter, *means)
            instrument(demand_converged)(size, _TOLERANCE, name, _REMEDY)
            return instrument(quadratic.refined)(P, q, G, h, A, b, x, z, y)
        except np.linalg.LinAlgError:
            raise ConvergenceError(
                f"{name} has no answer, or no unique one: the equations of its conditions are singular",
                remedy="leave out constraints that say the same, or add a small quadratic part, which makes it unique",
            ) from None

    solve.__name__ = name
    found = Implicit(solve, Equation(_conditions), 1e-5, own=True, demand=_strict)(P, q, G, h, A, b)
    return found if full else found[0]


@operation
def lp(c: Any, G: Any = None, h: Any = None, A: Any = None, b: Any = None, *, full: bool = False) -> Any:
    """The x that minimises cᵀx with Gx ≤ h and Ax = b; variables are free. As `qp` without its quadratic part.

    >>> import numpy as np, wengert as wg
    >>> G, h = np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([2.0, 0.0, 0.0])
    >>> wg.lp(np.array([-1.0, -1.0]), G, h).round(8) + 0.0
    array([2., 0.])
    """
    n = shape_of(real(c))[-1]
    nothing = scipy.sparse.coo_array((n, n)) if is_sparse(G) or is_sparse(A) else np.zeros((n, n))
    return _program("wg.lp", (nothing, c, G, h, A, b), full, 100)


def _conditions(unknowns: Any, P: Any, q: Any, G: Any, h: Any, A: Any, b: Any) -> Any:
    x, z, y = unknowns
    stationary = matmul(P, x) + q + matmul(transpose(G, axes=(1, 0)), z) + matmul(transpose(A, axes=(1, 0)), y)
    return join([stationary, e.minimum(h - matmul(G, x), z), matmul(A, x) - b], 0)


def _strict(unknowns: Any, P: Any, q: Any, G: Any, h: Any, A: Any, b: Any) -> None:
    instrument(quadratic.demand_strict)(unknowns[0], unknowns[1], G, h)


def _sparse_matrix(x: Any) -> SparseMatrix:
    x = traced_matrix(x if is_sparse(x) else _matrix(x))
    return x.with_entries(real(x.entries)).without_duplicates()


def _matrix(x: Any) -> Any:
    x = real(x)
    if ndim_of(x) != 2:
        raise MismatchError(f"a matrix is wanted, not an array of shape {shape_of(x)}")
    return x


def _vector(x: Any) -> Any:
    x = real(x)
    if ndim_of(x) != 1:
        raise MismatchError(f"a vector is wanted, not an array of shape {shape_of(x)}")
    return x
