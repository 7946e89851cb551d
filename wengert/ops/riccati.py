"""Rows for algebraic Riccati equations, whose solutions come from SciPy and whose derivatives from the equations.

With the feedback k and the closed loop c = a − b k of the solution x, the equations are

    continuous    cᴴ x + x c + kᴴ r k + q = 0        k = r⁻¹ bᴴ x
    discrete      cᴴ x c + kᴴ r k + q = x            k = (r + bᴴ x b)⁻¹ bᴴ x a

and k is where the left-hand side has its minimum, so it may be held while they are differentiated. What remains are the
equations of Lyapunov and Stein for x_dot. Functions of symmetric matrices symmetrise: q, r and x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.ops.derive import general
from wengert.ops.linalg import inv, solve
from wengert.ops.matrices import adjoint, batch_of_stacks, hermitian_part, identity_like
from wengert.ops.matrix_functions import each, in_precision_of, sylvester
from wengert.ops.products import matmul
from wengert.ops.traits import MORE, VALUES


def _by_scipy(solver: Callable) -> Callable:
    def solution(a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
        return each(lambda *abqr: in_precision_of(solver(*abqr, balanced=balanced), *abqr), a, b, q, r)

    return solution


def _solution_shape(a: Any, b: Any, q: Any, r: Any, balanced: bool) -> tuple[int, ...]:
    return (*np.broadcast_shapes(*[x.shape[:-2] for x in (a, b, q, r)]), *q.shape[-2:])


def _twice_hermitian(z: Any) -> Any:
    return z + adjoint(z)


def _quadratic(k: Any, r_dot: Any) -> Any:
    return matmul(adjoint(k), matmul(hermitian_part(r_dot), k))


# ---------------------------------------------------------------------------------------------------------- continuous


def _continuous(a: Any, b: Any, r: Any, x: Any) -> tuple[Any, Any]:
    k = solve(r, matmul(adjoint(b), x))
    return k, a - matmul(b, k)


def _lyapunov(c: Any, rest: Any) -> Any:
    """x_dot of cᴴ x_dot + x_dot c + rest = 0."""
    return sylvester(adjoint(c), c, -rest)


def _continuous_in_b(b_dot: Any, x: Any, a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    k, c = _continuous(a, b, r, x)
    return _lyapunov(c, -_twice_hermitian(matmul(x, matmul(b_dot, k))))


def _continuous_in_r(r_dot: Any, x: Any, a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    k, c = _continuous(a, b, r, x)
    return _lyapunov(c, _quadratic(k, r_dot))


continuous_riccati = general(
    "continuous_riccati",
    _by_scipy(scipy.linalg.solve_continuous_are),
    (
        lambda a_dot, x, a, b, q, r, balanced: _lyapunov(
            _continuous(a, b, r, x)[1], _twice_hermitian(matmul(x, a_dot))
        ),
        _continuous_in_b,
        lambda q_dot, x, a, b, q, r, balanced: _lyapunov(_continuous(a, b, r, x)[1], hermitian_part(q_dot)),
        _continuous_in_r,
    ),
    batch=batch_of_stacks(lambda: continuous_riccati),
    shape=_solution_shape,
    raises=VALUES,
    cost=MORE,
)
"""The stabilising solution of aᴴ x + x a − x b r⁻¹ bᴴ x + q = 0."""

# ------------------------------------------------------------------------------------------------------------ discrete


def _discrete(a: Any, b: Any, r: Any, x: Any) -> tuple[Any, Any]:
    turned = matmul(adjoint(b), x)
    k = solve(r + matmul(turned, b), matmul(turned, a))
    return k, a - matmul(b, k)


def _stein(c: Any, rest: Any) -> Any:
    """x_dot of cᴴ x_dot c + rest = x_dot: a bilinear transformation makes it Lyapunov's, since c is stable."""
    eye = identity_like(c)
    inverse = inv(c + eye)
    s = matmul(c - eye, inverse)
    return sylvester(adjoint(s), s, matmul(adjoint(inverse), matmul(rest, inverse)) * -2)


def _discrete_in_a(a_dot: Any, x: Any, a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    _, c = _discrete(a, b, r, x)
    return _stein(c, _twice_hermitian(matmul(adjoint(c), matmul(x, a_dot))))


def _discrete_in_b(b_dot: Any, x: Any, a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    k, c = _discrete(a, b, r, x)
    return _stein(c, -_twice_hermitian(matmul(adjoint(c), matmul(x, matmul(b_dot, k)))))


def _discrete_in_r(r_dot: Any, x: Any, a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    k, c = _discrete(a, b, r, x)
    return _stein(c, _quadratic(k, r_dot))


discrete_riccati = general(
    "discrete_riccati",
    _by_scipy(scipy.linalg.solve_discrete_are),
    (
        _discrete_in_a,
        _discrete_in_b,
        lambda q_dot, x, a, b, q, r, balanced: _stein(_discrete(a, b, r, x)[1], hermitian_part(q_dot)),
        _discrete_in_r,
    ),
    batch=batch_of_stacks(lambda: discrete_riccati),
    shape=_solution_shape,
    raises=VALUES,
    cost=MORE,
)
"""The stabilising solution of aᴴ x a − x − aᴴ x b (r + bᴴ x b)⁻¹ bᴴ x a + q = 0."""
