"""Rows for functions of whole matrices: Sylvester's equation, exponential, logarithm, square root, polar factors.

The derivative of a matrix function f in the direction e, its Fréchet derivative, is a block of f at a larger matrix
(Mathias 1996; Higham 2008, "Functions of Matrices", theorem 3.6):

    f([a e; 0 a]) = [f(a)  L(a, e); 0  f(a)]

L is linear in e, with the transpose L(aᵀ, ·), and its own derivative in a is, by the same theorem, a block of L at
[a e; 0 a]. So one row for f and one for L, which refer to each other, give all orders. They need no eigenvectors, and
are right for repeated eigenvalues and for matrices that cannot be diagonalised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.ops.derive import General, general, unfit
from wengert.ops.elementwise import absolute, divide, equal, logical_or, stop_gradient, where
from wengert.ops.linalg import solve
from wengert.ops.matrices import above, adjoint, batch_of_one, batch_of_stacks, beside, block, column, swapped
from wengert.ops.op import call
from wengert.ops.products import matmul
from wengert.ops.reduce import max
from wengert.ops.shape import astype, broadcast_to
from wengert.types import dtype_of, ndim_of, shape_of


def _each(function: Callable, *stacks: Any) -> Any:
    """A function of matrices, of each in stacks of the same or broadcastable shape."""
    lead = np.broadcast_shapes(*[x.shape[:-2] for x in stacks])
    if not lead:
        return function(*stacks)
    flat = [np.broadcast_to(x, (*lead, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in stacks]
    results = [function(*matrices) for matrices in zip(*flat, strict=True)]
    if results[0].__class__ is tuple:
        return tuple(np.stack(part).reshape(*lead, *part[0].shape) for part in zip(*results, strict=True))
    return np.stack(results).reshape(*lead, *results[0].shape)


def _in_precision_of(y: np.ndarray, *xs: Any) -> np.ndarray:
    """A result of SciPy, which may have computed in double precision, in the precision of the operands."""
    dtype = np.result_type(y.dtype.type(0), *xs)
    if all(dtype_of(x).char in "fF" for x in xs):
        dtype = np.dtype(np.complex64 if dtype.kind == "c" else np.float32)
    return y.astype(dtype, copy=False)


# ------------------------------------------------------------------------------------------------ Sylvester's equation


def _sylvester_transpose(ct: Any, a: Any, b: Any, q: Any) -> Any:
    return unfit(sylvester(swapped(a), swapped(b), ct), q.shape, q.dtype)


sylvester = general(
    "sylvester",
    lambda a, b, q: _each(lambda *abq: _in_precision_of(scipy.linalg.solve_sylvester(*abq), *abq), a, b, q),
    (
        lambda a_dot, x, a, b, q: -sylvester(a, b, matmul(a_dot, x)),
        lambda b_dot, x, a, b, q: -sylvester(a, b, matmul(x, b_dot)),
        lambda q_dot, x, a, b, q: sylvester(a, b, q_dot),
    ),
    transposes={2: _sylvester_transpose},
    batch=batch_of_stacks(lambda: sylvester),
    shape=lambda a, b, q: (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2]), *q.shape[-2:]),
)
"""The solution x of a x + x b = q."""

# -------------------------------------------------------------------------------------------------- matrix functions


def _doubled(a: Any, e: Any) -> Any:
    """[a e; 0 a]."""
    return above(beside(a, e), beside(np.zeros(shape_of(a), dtype_of(a)), a))


def _upper_right(x: Any) -> Any:
    n = shape_of(x)[-1] // 2
    return block(x, slice(0, n), slice(n, None))


def _scale(a: Any, e: Any) -> Any:
    """What to multiply e by to make it as large as a: a block that is much larger costs digits."""
    a_top, e_top = (_top(stop_gradient(x)) for x in (a, e))
    unclear = logical_or(equal(a_top, 0), equal(e_top, 0))
    return column(column(where(unclear, 1, divide(a_top, where(unclear, 1, e_top)))))


def _top(x: Any) -> Any:
    return max(absolute(x), axis=(ndim_of(x) - 2, ndim_of(x) - 1))


def matrix_function(name: str, impl: Callable, frechet_impl: Callable | None = None) -> tuple[General, General]:
    """Rows for a function of stacks of matrices and for its Fréchet derivative, (a, e) ↦ L(a, e)."""

    def compute_frechet(a: Any, e: Any) -> Any:
        if frechet_impl is not None and a.ndim == e.ndim == 2:
            return frechet_impl(a, e)
        shape, dtype = np.broadcast_shapes(a.shape, e.shape), np.result_type(a, e)
        a, e = (np.broadcast_to(x, shape).astype(dtype) for x in (a, e))
        c = _scale(a, e)
        return _upper_right(impl(_doubled(a, e * c))) / c

    def rule(a_dot: Any, y: Any, a: Any) -> Any:
        return frechet(a if dtype_of(a) == dtype_of(y) else astype(a, dtype=dtype_of(y)), a_dot)

    def rule_in_a(a_dot: Any, y: Any, a: Any, e: Any) -> Any:
        shape, dtype = shape_of(y), dtype_of(y)
        a, a_dot, e = (_as(x, shape, dtype) for x in (a, a_dot, e))
        c = _scale(a, e)
        return _upper_right(frechet(_doubled(a, e * c), _doubled(a_dot, np.zeros(shape, dtype)))) / c

    function = general(name, impl, (rule,), batch=batch_of_one(lambda: function), shape=lambda a: a.shape)
    frechet = general(
        name + "_frechet",
        compute_frechet,
        (rule_in_a, lambda e_dot, y, a, e: frechet(a, e_dot)),
        transposes={1: lambda ct, a, e: unfit(call(frechet, swapped(a), ct), e.shape, e.dtype)},
        batch=batch_of_stacks(lambda: frechet),
        shape=lambda a, e: np.broadcast_shapes(a.shape, e.shape),
    )
    return function, frechet


def _as(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype_of(x) != dtype:
        x = astype(x, dtype=dtype)
    return x if shape_of(x) == shape else broadcast_to(x, shape=shape)


def _expm_frechet(a: Any, e: Any) -> Any:
    return _in_precision_of(scipy.linalg.expm_frechet(a, e, compute_expm=False, check_finite=False), a, e)


def _logm(a: Any) -> Any:
    double = a.astype(np.result_type(a, np.float64))
    return _in_precision_of(_each(scipy.linalg.logm, double), a)


expm, expm_frechet = matrix_function("expm", lambda a: scipy.linalg.expm(a), _expm_frechet)
logm, logm_frechet = matrix_function("logm", _logm)

sqrtm = general(
    "sqrtm",
    lambda a: _in_precision_of(_each(scipy.linalg.sqrtm, a), a),
    (lambda a_dot, y, a: sylvester(y, y, a_dot),),
    batch=batch_of_one(lambda: sqrtm),
    shape=lambda a: a.shape,
)
"""The principal square root, y y = a, so y y_dot + y_dot y = a_dot."""

# ----------------------------------------------------------------------------------------------------- polar factors


def _polar_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any]:
    """p p = aᴴ a, and u p = a."""
    u, p = y
    x = matmul(adjoint(a), a_dot)
    p_dot = sylvester(p, p, x + adjoint(x))
    return swapped(solve(swapped(p), swapped(a_dot - matmul(u, p_dot)))), p_dot


polar = general(
    "polar",
    lambda a: _each(lambda x: tuple(scipy.linalg.polar(x)), a),
    (_polar_rule,),
    batch=batch_of_one(lambda: polar),
)
"""a = u p with orthonormal columns u and a positive p, for matrices of full rank with at least as many rows as columns.

Sylvester's equation has the sums of singular values in its denominators, never their differences.
"""
