"""The row for a = l d lᴴ with a unit lower triangular l and a diagonal d, of symmetric matrices of any sign.

With x = l⁻¹ a_dot l⁻ᴴ the diagonal of x is d_dot, and l_dot = l · (what is below the diagonal of x d⁻¹).
"""

from __future__ import annotations

from typing import Any

from wengert.ops import library
from wengert.ops.elementwise import reciprocal
from wengert.ops.linalg import right_solve, solve_triangular
from wengert.ops.matrices import adjoint, diagonal, lower_part, of_matrices, row, swapped, symmetric_tangent
from wengert.ops.matrix_functions import each
from wengert.ops.products import matmul
from wengert.ops.traits import VALUES
from wengert.types import shape_of


def _ldl_of_one(a: Any, hermitian: bool) -> tuple[Any, Any]:
    n = shape_of(a)[-1]
    l, d = library.eye(n, a.dtype, a), library.zeros((n,), a.dtype, a)
    rest = a.copy()
    for k in range(n):
        d[k] = rest[k, k]
        l[k + 1 :, k] = rest[k + 1 :, k] / d[k]
        other = l[k + 1 :, k].conj() if hermitian else l[k + 1 :, k]
        rest[k + 1 :, k + 1 :] -= d[k] * l[k + 1 :, k, None] * other
    return l, d.real.astype(a.dtype) if hermitian else d


def _ldl_rule(a_dot: Any, y: Any, a: Any, hermitian: bool) -> tuple[Any, Any]:
    l, d = y
    whole = symmetric_tangent(a_dot, a, lower=True, hermitian=hermitian)
    x = solve_triangular(l, whole, lower=True, unit=True)
    x = right_solve(x, adjoint(l) if hermitian else swapped(l), unit=True)
    return matmul(l, lower_part(x * row(reciprocal(d)), -1)), diagonal(x)


ldl = of_matrices(
    "ldl",
    lambda a, hermitian: each(lambda x: _ldl_of_one(x, hermitian), a),
    _ldl_rule,
    raises=VALUES,
)
"""Without a permutation: rows and columns stand in an order in which it exists. `d` is a vector."""
