"""Rows for functions of whole matrices: Sylvester's equation, exponential, logarithm, square root, polar factors.

None needs eigenvectors, so all are right for repeated eigenvalues and for matrices that cannot be diagonalised.

The derivative of the exponential in the direction e, its Fréchet derivative L, is a block of the exponential of a
larger matrix (Mathias 1996; Higham 2008, "Functions of Matrices", theorem 3.6):

    exp [a e; 0 a] = [exp a  L(a, e); 0  exp a]

L is linear in e, with the transpose L(aᵀ, ·), and its own derivative in a is, by the same theorem, a block of L at
[a e; 0 a]. So a row for exp and one for L, which refer to each other, give all orders. They do so with matrices twice
as large for each order; Taylor coefficients are all found by one exponential, of x₀ … xₙ in a block Toeplitz matrix.
The square root solves a quadratic equation, whose derivative is Sylvester's equation; the logarithm comes from square
roots.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from wengert.ops import axes, interval_spectra, interval_systems, library
from wengert.ops.derive import general, unfit
from wengert.ops.elementwise import absolute, divide, equal, logical_or, maximum, minimum, power, stop_gradient, where
from wengert.ops.enclosures import composed
from wengert.ops.linalg import inv, solve
from wengert.ops.matrices import (
    above,
    adjoint,
    batch_of_stacks,
    beside,
    block,
    column,
    constant_of_matrices,
    identity_like,
    of_matrices,
    swapped,
)
from wengert.ops.products import matmul
from wengert.ops.reduce import max
from wengert.ops.shape import astype, broadcast_to, concatenate
from wengert.ops.traits import MORE, VALUES, cubic
from wengert.types import dtype_of, ndim_of, shape_of


def each(function: Callable, *stacks: Any) -> Any:
    """A function of matrices, of each in stacks of the same or broadcastable shape."""
    lead = np.broadcast_shapes(*[x.shape[:-2] for x in stacks])
    if not lead:
        return function(*stacks)
    flat = [np.broadcast_to(x, (*lead, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in stacks]
    results = [function(*matrices) for matrices in zip(*flat, strict=True)]
    if results[0].__class__ is tuple:
        return tuple(np.stack(part).reshape(*lead, *part[0].shape) for part in zip(*results, strict=True))
    return np.stack(results).reshape(*lead, *results[0].shape)


def in_precision_of(y: np.ndarray, *xs: Any) -> np.ndarray:
    """A result of SciPy, which may have computed in double precision, in the precision of the operands."""
    dtype = np.result_type(y.dtype.type(0), *xs)
    if all(dtype_of(x).char in "fF" for x in xs):
        dtype = np.dtype(np.complex64 if dtype.kind == "c" else np.float32)
    return y.astype(dtype, copy=False)


# ------------------------------------------------------------------------------------------------ Sylvester's equation


sylvester = general(
    "sylvester",
    lambda a, b, q: each(lambda *abq: in_precision_of(scipy.linalg.solve_sylvester(*abq), *abq), a, b, q),
    (
        lambda a_dot, x, a, b, q: -sylvester(a, b, matmul(a_dot, x)),
        lambda b_dot, x, a, b, q: -sylvester(a, b, matmul(x, b_dot)),
        lambda q_dot, x, a, b, q: sylvester(a, b, q_dot),
    ),
    transposes={2: lambda ct, a, b, q: unfit(sylvester(swapped(a), swapped(b), ct), q.shape, q.dtype)},
    batch=batch_of_stacks(lambda: sylvester),
    shape=lambda a, b, q: (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2]), *q.shape[-2:]),
    raises=VALUES,
    cost=MORE,
    solves=True,
    bounds=interval_systems.SYLVESTER,
)
"""The solution x of a x + x b = q."""

# ------------------------------------------------------------------------------------------------------- exponential


def _doubled(a: Any, e: Any) -> Any:
    """[a e; 0 a]."""
    return above(beside(a, e), beside(library.zeros(shape_of(a), dtype_of(a), a), a))


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


def _as(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype_of(x) != dtype:
        x = astype(x, dtype=dtype)
    return x if shape_of(x) == shape else broadcast_to(x, shape=shape)


def _expm(a: Any) -> Any:
    if not library.is_foreign(a):
        return scipy.linalg.expm(a)
    if a.ndim == 2:
        found = library.by_companion(scipy.linalg.expm, (a,), {})
        return scipy.linalg.expm(a) if found is NotImplemented else found  # which says that it cannot
    return np.stack([_expm(x) for x in a.reshape(-1, *a.shape[-2:])]).reshape(a.shape)


def _expm_frechet(a: Any, e: Any) -> Any:
    if a.ndim == e.ndim == 2 and not library.is_foreign(a):
        return in_precision_of(scipy.linalg.expm_frechet(a, e, compute_expm=False, check_finite=False), a, e)
    shape, dtype = np.broadcast_shapes(a.shape, e.shape), np.result_type(a, e)
    a, e = (_as(x, shape, dtype) for x in (a, e))
    c = _scale(a, e)
    return _upper_right(_expm(_doubled(a, e * c))) / c


def _frechet_in_matrix(a_dot: Any, y: Any, a: Any, e: Any) -> Any:
    shape, dtype = shape_of(y), dtype_of(y)
    a, a_dot, e = (_as(x, shape, dtype) for x in (a, a_dot, e))
    c = _scale(a, e)
    return _upper_right(expm_frechet(_doubled(a, e * c), _doubled(a_dot, library.zeros(shape, dtype, a)))) / c


def _expm_series(xs: Sequence[Any]) -> list[Any]:
    """The coefficients of exp x(t), of those of x(t): the blocks of the first row of

        exp [x₀ x₁ x₂; 0 x₀ x₁; 0 0 x₀]

    That is right as a whole, but the blocks yₖ become small as 1/k! does. So it is the exponential of x(c t)/16, where
    c makes the blocks as large as can be without exceeding one, or the first of them. This is squared four times:
    products are right for each diagonal of blocks by itself, and the last ones follow from the first.
    """
    a, count = xs[0], len(xs)
    shape, dtype, n = shape_of(a), dtype_of(a), shape_of(a)[-1]
    nothing = library.zeros(shape, dtype, a)
    xs = [nothing if x is None else _as(x, shape, dtype) for x in xs]
    squarings = 4 + builtins.max(math.ceil(math.log2(count / 31)), 0)
    top = maximum(_top(stop_gradient(a)), 2.0**squarings)
    c: Any = None
    for k, x in enumerate(xs[1:], 1):
        own = _top(stop_gradient(x))
        most = where(equal(own, 0), math.inf, power(divide(top, where(equal(own, 0), 1, own)), 1 / k))
        c = most if c is None else minimum(c, most)
    c = column(column(astype(where(equal(c, math.inf), 1, c), dtype=dtype)))
    powers = [c**k for k in range(1, count)]
    scaled = [x / 2**squarings for x in (a, *[x * p for x, p in zip(xs[1:], powers, strict=True)])]
    last = ndim_of(a) - 1
    rows = [concatenate(*[nothing] * k, *scaled[: count - k], axis=last) for k in range(count)]
    y = expm(concatenate(*rows, axis=last - 1))
    for _ in range(squarings):
        y = matmul(y, y)
    found = [block(y, slice(0, n), slice(k * n, (k + 1) * n)) for k in range(count)]
    return [found[0], *[part / p for part, p in zip(found[1:], powers, strict=True)]]


expm = of_matrices(
    "expm",
    _expm,
    lambda a_dot, y, a: expm_frechet(a, a_dot),
    shape=lambda a: a.shape,
    raises=VALUES,
    flops=cubic(20),
    axes=axes.stacked,
    series=_expm_series,
    bounds=interval_spectra.EXPM,
)

expm_frechet = general(
    "expm_frechet",
    _expm_frechet,
    (_frechet_in_matrix, lambda e_dot, y, a, e: expm_frechet(a, e_dot)),
    transposes={1: lambda ct, a, e: unfit(expm_frechet(swapped(a), ct), e.shape, e.dtype)},
    batch=batch_of_stacks(lambda: expm_frechet),
    shape=lambda a, e: np.broadcast_shapes(a.shape, e.shape),
    ordered=False,
    raises=VALUES,
    cost=MORE,
    bounds=interval_systems.of_stacks(composed(lambda a, e: _upper_right(expm(_doubled(a, e)))), 2),
)
"""The derivative of the exponential at a in the direction e."""

# ------------------------------------------------------------------------------------------ square root and logarithm

sqrtm = of_matrices(
    "sqrtm",
    lambda a: in_precision_of(each(scipy.linalg.sqrtm, a), a),
    lambda a_dot, y, a: sylvester(y, y, a_dot),
    shape=lambda a: a.shape,
    raises=VALUES,
    flops=cubic(25),
    axes=axes.stacked,
)
"""The principal square root, y y = a, so y y_dot + y_dot y = a_dot."""

_NODES, _WEIGHTS = (x.tolist() for x in np.polynomial.legendre.leggauss(9))


def _halvings(y: Any) -> Any:
    """As many zeros as a logarithm has to be halved times to have a norm of 1/4 at most."""
    top = float(np.max(np.linalg.norm(y, 1, axis=(-2, -1)), initial=0))
    count = builtins.max(0, math.ceil(math.log2(4 * top))) if 0 < top < math.inf else 0
    return np.zeros((*shape_of(y)[:-2], count))


halvings = constant_of_matrices("halvings", _halvings, raises=VALUES, cost=MORE)


def _logm(a: Any) -> Any:
    double = a.astype(np.result_type(a, np.float64))
    return in_precision_of(each(scipy.linalg.logm, double), a)


def _logm_rule(a_dot: Any, y: Any, a: Any) -> Any:
    """Inverse scaling and squaring (Al-Mohy, Higham & Relton 2013), the tangent going along with the square roots.

    Near the identity log x = ∫₀¹ (x − 1) (1 + t (x − 1))⁻¹ dt, by Gauss–Legendre quadrature. The theorem on blocks
    would ask for logarithms of matrices that cannot be diagonalised, close to the branch cut.
    """
    x = a if dtype_of(a) == dtype_of(y) else astype(a, dtype=dtype_of(y))
    count = shape_of(halvings(y))[-1]
    for _ in range(count):
        x = sqrtm(x)
        a_dot = sylvester(x, x, a_dot)
    eye = identity_like(x)
    total: Any = 0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        t = (node + 1) / 2
        inverse = inv(eye * (1 - t) + x * t)
        total = total + matmul(inverse, matmul(a_dot, inverse)) * (weight / 2)
    return total * 2**count


logm = of_matrices(
    "logm",
    _logm,
    _logm_rule,
    shape=lambda a: a.shape,
    raises=VALUES,
    flops=cubic(30),
    axes=axes.stacked,
)
"""The principal logarithm."""

# ----------------------------------------------------------------------------------------------------- polar factors


def _polar_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any]:
    """p p = aᴴ a, and u p = a."""
    u, p = y
    x = matmul(adjoint(a), a_dot)
    p_dot = sylvester(p, p, x + adjoint(x))
    return swapped(solve(swapped(p), swapped(a_dot - matmul(u, p_dot)))), p_dot


polar = of_matrices(
    "polar",
    lambda a: each(lambda x: tuple(scipy.linalg.polar(x)), a),
    _polar_rule,
    raises=VALUES,
)
"""a = u p with orthonormal columns u and a positive p, for matrices of full rank with at least as many rows as columns.

Sylvester's equation has the sums of singular values in its denominators, never their differences.
"""
