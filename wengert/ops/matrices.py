"""The words that rules of linear algebra are written in: transposes, triangles, diagonals and blocks of matrices.

None is a row: all are compositions of rows, for stacks of matrices (the last two axes), and linear in what they are
given, so that they may be applied to tangents. Batch rules that these ops have in common stand here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import library
from wengert.ops.derive import General, Zero, align, general, zero
from wengert.ops.elementwise import absolute, less_equal, stop_gradient, where
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Op, Traced, call
from wengert.ops.reduce import all
from wengert.ops.shape import concatenate, conjugate, reshape, sum, transpose
from wengert.ops.traits import MORE
from wengert.types import demand_same_length, dtype_of, ndim_of, shape_of


def swapped(x: Any) -> Any:
    """The transpose of each matrix."""
    n = ndim_of(x)
    return transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def conj(x: Any) -> Any:
    """The complex conjugate; a real value is its own."""
    return conjugate(x) if dtype_of(x).kind == "c" else x


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    return conj(swapped(x))


def hermitian_part(x: Any) -> Any:
    """(x + xᴴ) / 2."""
    return (x + adjoint(x)) * 0.5


# Note [One triangle]
#
# LAPACK reads one triangle of a symmetric matrix. Where both agree, a function of it is taken to be a function of
# symmetric matrices: its derivative is that of f((a + aᴴ) / 2), and gradients are symmetric. Where they do not (only
# one half is filled), the derivative is that of what is computed, and the other triangle has none. Which of the two it
# is, is decided by value, for each matrix: elements that are opposite each other must be equal, to their own rounding.
# Both are sums x + xᴴ, with x = weights ∘ a_dot; the weights are ½ everywhere, or 1, ½ and 0 below, on and above the
# diagonal.

_ROUNDING = 64


def are_symmetric(a: Any, hermitian: bool = True) -> Any:
    """Whether the triangles of each matrix agree, in the shape (…, 1, 1)."""
    a = stop_gradient(a)
    turned = adjoint(a) if hermitian else swapped(a)
    scale = float(np.finfo(dtype_of(a)).eps) * _ROUNDING
    agree = less_equal(absolute(a - turned), (absolute(a) + absolute(turned)) * scale)
    n = ndim_of(a)
    return reshape(all(agree, axis=(n - 2, n - 1)), shape=(*shape_of(a)[:-2], 1, 1))


def _weights(a: Any, lower: bool, hermitian: bool) -> Any:
    symmetric, n, dtype = are_symmetric(a, hermitian), shape_of(a)[-1], np.finfo(dtype_of(a)).dtype
    triangle = library.tri(n, None, 0, dtype, a) - library.eye(n, dtype, a) / 2
    return where(symmetric, dtype.type(0.5), triangle if lower else triangle.T)


def symmetric_tangent(a_dot: Any, a: Any, lower: bool, hermitian: bool = True) -> Any:
    """The tangent of the symmetric matrix of which a triangle is read. See Note [One triangle]."""
    x = a_dot * _weights(a, lower, hermitian)
    return x + (adjoint(x) if hermitian else swapped(x))


def symmetric_matrix(a: Any, lower: bool, hermitian: bool = True) -> Any:
    """The symmetric matrix of which a triangle is read: it has that triangle, and this tangent."""
    turned = adjoint if hermitian else swapped
    encloses = isinstance(a, Traced) and a._owner.encloses
    constant = a if encloses else stop_gradient(a)
    triangle = library.tri(shape_of(a)[-1], None, 0, bool, a)
    found = where(triangle if lower else triangle.T, constant, turned(constant))
    if encloses:
        return found  # the difference below is not zero for intervals
    whole = symmetric_tangent(a, a, lower, hermitian)
    return whole + (found - stop_gradient(whole))


def masked(x: Any, mask: np.ndarray) -> Any:
    """The elements of each matrix where the mask holds, and zeros."""
    return where(mask, x, 0)


def _triangle(x: Any, k: int) -> np.ndarray:
    rows, columns = shape_of(x)[-2:]
    return library.tri(rows, columns, k, bool, x)


def lower_part(x: Any, k: int = 0) -> Any:
    """What is on and below the k-th diagonal of each matrix."""
    return masked(x, _triangle(x, k))


def upper_part(x: Any, k: int = 0) -> Any:
    """What is on and above the k-th diagonal of each matrix."""
    return masked(x, ~_triangle(x, k - 1))


def diagonal(x: Any) -> Any:
    """The diagonals of square matrices."""
    n = shape_of(x)[-1]
    return sum(masked(x, library.eye(n, bool, x)), axis=(ndim_of(x) - 1,))


def column(x: Any) -> Any:
    """Vectors as matrices of one column."""
    return reshape(x, shape=(*shape_of(x), 1))


def row(x: Any) -> Any:
    """Vectors as matrices of one row."""
    shape = shape_of(x)
    return reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def block(x: Any, rows: slice, columns: slice) -> Any:
    """A part of each matrix."""
    return index(x, pattern=(Ellipsis, rows, columns))


def beside(x: Any, y: Any) -> Any:
    """Matrices side by side."""
    return concatenate(x, y, axis=ndim_of(x) - 1)


def above(x: Any, y: Any) -> Any:
    """Matrices on top of each other."""
    return concatenate(x, y, axis=ndim_of(x) - 2)


def contracted(x: Any, y: Any) -> Any:
    """tr(x · y) of each pair of matrices, without the product."""
    z = swapped(x) * y
    return sum(z, axis=(ndim_of(z) - 2, ndim_of(z) - 1))


def identity_like(x: Any) -> np.ndarray:
    """The identity of the size and precision of a matrix."""
    return library.eye(shape_of(x)[-1], dtype_of(x), x)


def take(x: Any, positions: np.ndarray) -> Any:
    """The elements, or rows, at constant positions along the first axis."""
    return index(x, positions, pattern=(ARRAY,))


def of_matrices(name: str, impl: Callable, tangent: Callable, **stated: Any) -> General:
    """A row for a function of one stack of matrices or vectors: in a batch there is one more axis in front."""
    op = general(name, impl, (tangent,), batch=_of_one(lambda: op), **{"cost": MORE, **stated})
    return op


def constant_of_matrices(name: str, impl: Callable, **stated: Any) -> Zero:
    """The same for a function that is locally constant."""
    op = zero(name, impl, batch=_of_one(lambda: op), **stated)
    return op


def _of_one(op_getter: Callable[[], Op]) -> Callable:
    return lambda args, mapped, params: call(op_getter(), args[0], **params)


def batch_of_stacks(op_getter: Any) -> Any:
    """The batch rule of an op of several stacks, whose axes in front broadcast."""
    return lambda args, mapped, params: call(op_getter(), *align(args, mapped), **params)


def batch_of_columns(op_getter: Any) -> Any:
    """The batch rule of a solve: many right-hand sides for one matrix are more columns, so it is factorised once."""

    def rule(args: Any, mapped: Any, params: dict) -> Any:
        (a, b), op = args, op_getter()
        if mapped == (False, True) and shape_of(a)[:-2] == shape_of(b)[1:-2]:
            size, *lead, n, k = shape_of(b)
            axes = tuple(range(1, len(lead) + 2))
            columns = reshape(transpose(b, axes=(*axes, 0, len(lead) + 2)), shape=(*lead, n, size * k))
            y = reshape(op(a, columns, **params), shape=(*lead, n, size, k))
            return transpose(y, axes=(len(lead) + 1, *range(len(lead) + 1), len(lead) + 2))
        return op(*align(args, mapped), **params)

    return rule


def solution_shape(a: Any, b: Any, **params: Any) -> tuple[int, ...]:
    """The shape of a⁻¹ b."""
    demand_same_length("solve", "(m,m),(m,n)->(m,n)", a.shape[-1], b.shape[-2:][0])
    return (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
