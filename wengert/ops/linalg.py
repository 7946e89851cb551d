"""Rows for linear systems and factorisations: solve, inv, det, cholesky, qr, lu, pinv.

Operands are stacks of matrices: matrices in the last two axes, any number of axes in front, which broadcast where there
are two operands. A right-hand side is a matrix too, one column per system.

Derivatives of solutions come from differentiating the equation they solve (Giles 2008, "Collected matrix derivative
results"); those of factorisations from the triangular parts of the transformed tangent. For `cholesky` see Note [One
triangle] in `matrices.py`.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from wengert.ops import axes, interval_spectra, interval_systems, library
from wengert.ops.derive import align, general, unfit, zero
from wengert.ops.elementwise import logical_not, not_equal, where
from wengert.ops.enclosures import refused
from wengert.ops.index import index
from wengert.ops.matrices import (
    above,
    adjoint,
    batch_of_columns,
    beside,
    block,
    column,
    constant_of_matrices,
    contracted,
    diagonal,
    identity_like,
    lower_part,
    masked,
    of_matrices,
    solution_shape,
    swapped,
    symmetric_tangent,
    take,
    upper_part,
)
from wengert.ops.op import enclosing
from wengert.ops.products import matmul
from wengert.ops.reduce import any
from wengert.ops.shape import broadcast_to, concatenate, imag, real, reshape, sum
from wengert.ops.traits import MORE, NEVER, VALUES, cubic
from wengert.types import demand_same_length, dtype_of, ndim_of, shape_of

# -------------------------------------------------------------------------------------------------- linear systems


def _solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve`; other libraries want stacks of equally many matrices on both sides."""
    if b.ndim > 1 and (library.is_foreign(a) or library.is_foreign(b)) and a.shape[:-2] != b.shape[:-2]:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b))
    return np.linalg.solve(a, b)


solve = general(
    "solve",
    _solve,
    (
        lambda a_dot, y, a, b: -solve(a, matmul(a_dot, y)),
        lambda b_dot, y, a, b: solve(a, b_dot),
    ),
    transposes={1: lambda ct, a, b: unfit(solve(swapped(a), ct), b.shape, b.dtype)},
    batch=batch_of_columns(lambda: solve),
    shape=solution_shape,
    raises=VALUES,
    failures={"LinAlgError": "Singular matrix"},
    cost=MORE,
    solves=True,
    flops=cubic(2 / 3),
    axes=axes.stacked,
    bounds=interval_systems.SOLVE,
)
"""a⁻¹ b."""


# For one large matrix, its factors are computed once and serve the solution and all its derivatives. They are an
# operand that is locally constant: derivatives in the matrix go through the matrix itself.

_FACTORS_PAY = 32
"""From this many rows on, factorising again costs more than one op more."""


def _factors(a: Any) -> Any:
    """The factors l and u in one square, and in a row below them the pivots."""
    *lead, _, n = shape_of(a)
    if a.__class__ is not np.ndarray or a.dtype.char not in "fdFD" or not a.size:
        return library.zeros((*lead, 0, n), float, a)
    if lead:
        return np.stack([_factors(matrix) for matrix in a.reshape(-1, n, n)]).reshape(*lead, n + 1, n)
    (getrf,) = lapack.get_lapack_funcs(("getrf",), (a,))
    lu, pivots, info = getrf(a)
    if info > 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return np.concatenate([lu, pivots[None].astype(a.dtype)])


factors = zero(
    "factors",
    _factors,
    raises=VALUES,
    cost=MORE,
    ordered=False,
    batch=lambda args, mapped, params: factors(args[0]),
)


def _solve_factored(a: Any, factors: Any, b: Any, transposed: bool) -> Any:
    if not factors.shape[-2] or b.__class__ is not np.ndarray or b.ndim < 2:
        return _solve(np.swapaxes(a, -1, -2) if transposed else a, b)
    lead = np.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    if lead:
        x = np.empty((*lead, *b.shape[-2:]), np.result_type(factors, b))
        factors, b = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (factors, b))
        for k in np.ndindex(lead):
            x[k] = _solve_factored(None, factors[k], b[k], transposed)
        return x
    (getrs,) = lapack.get_lapack_funcs(("getrs",), (factors, b))
    x, _ = getrs(factors[:-1], np.real(factors[-1]).astype(np.intc), b, trans=int(transposed))
    return x


def _batch_factored(args: Any, mapped: Any, params: dict) -> Any:
    a, known, b = args
    if not (mapped[0] or mapped[1]):
        return batch_of_columns(lambda: lambda a, b, **kw: solve_factored(a, known, b, **kw))(
            (a, b), (False, True), params
        )
    if mapped[0] and mapped[1]:
        return solve_factored(*align(args, mapped), **params)
    if not (mapped[0] or mapped[2]):
        return NotImplemented
    a = swapped(a) if params["transposed"] else a
    return batch_of_columns(lambda: solve)((a, b), (mapped[0], mapped[2]), {})


solve_factored = general(
    "solve_factored",
    _solve_factored,
    (
        lambda a_dot, y, a, factors, b, transposed: (
            -solve_factored(a, factors, matmul(swapped(a_dot) if transposed else a_dot, y), transposed=transposed)
        ),
        None,
        lambda b_dot, y, a, factors, b, transposed: solve_factored(a, factors, b_dot, transposed=transposed),
    ),
    transposes={
        2: lambda ct, a, factors, b, transposed: unfit(
            solve_factored(a, factors, ct, transposed=not transposed), b.shape, b.dtype
        )
    },
    batch=_batch_factored,
    shape=lambda a, factors, b, transposed: solution_shape(a, b),
    raises=VALUES,
    cost=MORE,
    solves=True,
)
"""a⁻¹ b, or a⁻ᵀ b if `transposed`, for matrices a of which the factors are known."""


def solve_once(a: Any, b: Any) -> Any:
    """a⁻¹ b, in the quickest way if derivatives are needed as well."""
    pays = ndim_of(a) == ndim_of(b) == 2 and _FACTORS_PAY <= shape_of(a)[0] == shape_of(b)[0]
    if pays and enclosing(a, b) is None:
        return solve_factored(a, factors(a), b, transposed=False)
    return solve(a, b)


def _solve_triangular(a: Any, b: Any, lower: bool, unit: bool) -> Any:
    if a.__class__ is b.__class__ is np.ndarray and a.ndim == b.ndim == 2 and a.size and b.size:
        return scipy.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit, check_finite=False)
    a = np.tril(a, -unit) if lower else np.triu(a, unit)
    return _solve(a + library.eye(a.shape[-1], a.dtype, a) if unit else a, b)


def _triangular_in_matrix(a_dot: Any, y: Any, a: Any, b: Any, lower: bool, unit: bool) -> Any:
    part = lower_part(a_dot, -unit) if lower else upper_part(a_dot, int(unit))
    return -solve_triangular(a, matmul(part, y), lower=lower, unit=unit)


solve_triangular = general(
    "solve_triangular",
    _solve_triangular,
    (
        _triangular_in_matrix,
        lambda b_dot, y, a, b, lower, unit: solve_triangular(a, b_dot, lower=lower, unit=unit),
    ),
    transposes={
        1: lambda ct, a, b, lower, unit: unfit(
            solve_triangular(swapped(a), ct, lower=not lower, unit=unit), b.shape, b.dtype
        )
    },
    batch=batch_of_columns(lambda: solve_triangular),
    shape=solution_shape,
    ordered=False,
    raises=VALUES,
    bounds=interval_systems.SOLVE_TRIANGULAR,
    cost=MORE,
    solves=True,
    flops=cubic(1),
    axes=axes.stacked,
)
"""a⁻¹ b for a triangular a, of which the other triangle is not read (nor, with `unit`, the diagonal, which is one)."""


def _inv(a: Any) -> Any:
    if a.__class__ is np.ndarray and a.ndim == 2 and a.dtype.char in "fdFD" and len(a) >= _FACTORS_PAY:
        return scipy.linalg.inv(a, check_finite=False)  # for one large matrix twice as quick as NumPy's
    return np.linalg.inv(a)


inv = of_matrices(
    "inv",
    _inv,
    lambda a_dot, y, a: -matmul(y, matmul(a_dot, y)),
    shape=lambda a: a.shape,
    raises=VALUES,
    failures={"LinAlgError": "Singular matrix"},
    flops=cubic(2),
    axes=axes.stacked,
    bounds=interval_systems.INV,
)


def _pinv_rule(a_dot: Any, y: Any, a: Any, rcond: float, hermitian: bool) -> Any:
    """Golub & Pereyra 1973, (4.12), for matrices of constant rank. At full rank one of the last terms is zero."""
    a_adj, y_adj = adjoint(a_dot), adjoint(y)
    residual = matmul(a_adj, library.eye(shape_of(a)[-2], dtype_of(a), a) - matmul(a, y))
    missed = matmul(library.eye(shape_of(a)[-1], dtype_of(a), a) - matmul(y, a), a_adj)
    return matmul(y, matmul(y_adj, residual)) + matmul(missed, matmul(y_adj, y)) - matmul(y, matmul(a_dot, y))


def _pinv(a: Any, rcond: float, hermitian: bool) -> Any:
    if not library.is_foreign(a):
        return np.linalg.pinv(a, rcond, hermitian=hermitian)
    u, s, v = np.linalg.svd(a, full_matrices=False)
    counts = s > rcond * np.max(s, axis=-1, keepdims=True)
    inverse = np.where(counts, 1 / np.where(counts, s, 1), 0).astype(s.dtype)
    u, v = (np.conj(np.swapaxes(x, -1, -2)) for x in (u, v))
    return np.matmul(v * inverse[..., None, :], u)


pinv = of_matrices(
    "pinv",
    _pinv,
    _pinv_rule,
    shape=lambda a, rcond, hermitian: (*a.shape[:-2], a.shape[-1], a.shape[-2]),
    raises=VALUES,
    flops=cubic(22),
    axes=axes.stacked,
    bounds=interval_spectra.PINV,
)
"""The pseudo-inverse; singular values below `rcond` times the largest count as zero."""

# ----------------------------------------------------------------------------------------------------- determinants
#
# Note [The determinant of a singular matrix]
#
# The gradient of det is the adjugate, a polynomial. For a regular matrix it is det(a) · a⁻¹. A matrix that is singular,
# or nearly so, is bordered with bases U₀, V₀ of the null spaces of aᴴ and a, held constant:
#
#     m = [ a    U₀ ]      which is regular, and by Jacobi's identity for complementary minors
#         [ V₀ᴴ  0  ]      det(a) = det(m) · det(w),   w = (m⁻¹)₂₂,
#
# with a small w of as many rows as a has singular values near zero. Both factors are smooth functions of a, and the
# determinant and adjugate of w come without division by data from the algorithm of Faddeev and LeVerrier. So
# derivatives of every order are right, also where the rank is deficient by more than one.
#
# In a captured program the number of columns must be known. There it is always the same; for a regular matrix they are
# zeros, with the identity in the corner, so that m and w do nothing to a. If more singular values are near zero than
# there are columns, as many derivatives as there are columns are zero.


def _is_regular(a: np.ndarray, tolerance: float) -> bool:
    """Whether all condition numbers (in the 1-norm) are below 1 / tolerance. Costs an LU factorisation."""
    if a.__class__ is np.ndarray and a.ndim == 2 and a.dtype.char in "fdFD" and a.size:
        getrf, gecon = lapack.get_lapack_funcs(("getrf", "gecon"), (a,))
        lu, _, info = getrf(a)
        return info == 0 and gecon(lu, np.linalg.norm(a, 1))[0] > tolerance
    try:
        return bool(np.all(np.linalg.cond(a, 1) * tolerance < 1))
    except np.linalg.LinAlgError:
        return False


def _borders(a: Any, count: int | None = None) -> Any:
    """U₀ and V₀ conjugated, stacked, for singular values near zero, or no columns where there are none.

    With `count` there are always so many columns. For regular matrices they are zeros, and also for those of which more
    singular values than that are near zero.
    """
    (*lead, n, _), dtype = shape_of(a), dtype_of(a)
    tolerance = float(np.finfo(dtype).eps) ** (2 / 3)
    if (a.__class__ is np.ndarray and not np.all(np.isfinite(a))) or _is_regular(a, tolerance):
        return library.zeros((*lead, 2, n, count or 0), dtype, a)
    u, s, vh = np.linalg.svd(a)
    scale = np.where(s[..., :1] > 0, s[..., :1], 1)
    missing = np.sum(s <= tolerance * scale, axis=-1)
    columns = (int(np.max(missing)) if missing.size else 0) if count is None else count
    both = np.stack([u, np.swapaxes(vh, -1, -2)], axis=-3)[..., n - columns :] * scale[..., None, None]
    if count is None:
        return both
    return np.where(((missing > 0) & (missing <= count))[..., None, None, None], both, 0).astype(dtype)


borders = constant_of_matrices("borders", _borders, raises=VALUES, cost=MORE)
"""What a matrix is bordered with to make it regular. See Note [The determinant of a singular matrix]."""


def _vanishes(a: Any, count: int) -> Any:
    tolerance = float(np.finfo(dtype_of(a)).eps) ** (2 / 3)
    if shape_of(a)[-1] <= count or not np.all(np.isfinite(a)) or _is_regular(a, tolerance):
        return np.zeros((*shape_of(a)[:-2], 1, 1), bool)
    s = np.linalg.svd(a, compute_uv=False)
    near = s <= tolerance * s[..., :1]
    return (np.sum(near, axis=-1) > count)[..., None, None]


vanishes = constant_of_matrices("vanishes", _vanishes, raises=VALUES, cost=MORE)
"""Whether more than `count` singular values of a matrix are near zero, in the shape (…, 1, 1). So many derivatives of
its determinant are zero."""


def _determinant_and_adjugate(w: Any) -> tuple[Any, Any]:
    """By the algorithm of Faddeev and LeVerrier: n products, no division but by 1, …, n."""
    n, eye = shape_of(w)[-1], identity_like(w)
    m: Any = broadcast_to(eye, shape=shape_of(w))
    for k in range(1, n + 1):
        wm = matmul(w, m)
        c = sum(diagonal(wm), axis=(ndim_of(w) - 2,)) * (-1 / k)
        if k < n:
            m = wm + column(column(c)) * eye
    sign = -1 if n % 2 else 1
    return c * sign, m * -sign


_BORDERS = 6
"""In a captured program, where it is not known how many are needed, matrices get so many columns more."""


def adjugate(a: Any, determinant: Any) -> Any:
    """The transposed matrix of cofactors, also of singular matrices."""
    n = shape_of(a)[-1]
    if n.__class__ is int and 0 < n <= 3:
        return _cofactors(a, n)
    around = borders(a)
    missing = shape_of(around)[-1]
    if missing.__class__ is int:
        if missing == 0:
            return column(column(determinant)) * inv(a)
        return _bordered(a, around, np.zeros((*shape_of(around)[:-3], missing, missing), dtype_of(a)))
    if n.__class__ is not int:
        return column(column(determinant)) * inv(a)
    count = builtins.min(n, _BORDERS)
    nothing = vanishes(a, count=count)
    a = where(nothing, identity_like(a), a)
    around = borders(a, count=count)
    is_regular = logical_not(any(not_equal(around, 0), axis=tuple(range(ndim_of(a) - 2, ndim_of(a) + 1))))
    corner = where(column(column(is_regular)), np.eye(count, dtype=dtype_of(a)), dtype_of(a).type(0))
    return where(nothing, 0, _bordered(a, around, corner))


def _cofactors(a: Any, n: int) -> Any:
    """Of small matrices, as the polynomials that they are."""
    entry = lambda i, j: index(a, pattern=(Ellipsis, i, j))
    if n == 1:
        flat = [entry(0, 0) * 0 + 1]
    elif n == 2:
        flat = [entry(1, 1), -entry(0, 1), -entry(1, 0), entry(0, 0)]
    else:
        flat = [
            entry((j + 1) % 3, (i + 1) % 3) * entry((j + 2) % 3, (i + 2) % 3)
            - entry((j + 1) % 3, (i + 2) % 3) * entry((j + 2) % 3, (i + 1) % 3)
            for i in range(3)
            for j in range(3)
        ]
    rows = concatenate(*[column(x) for x in flat], axis=ndim_of(a) - 2)
    return reshape(rows, shape=shape_of(a))


def _bordered(a: Any, around: Any, corner: Any) -> Any:
    """The adjugate of a matrix by way of a larger one, which is regular."""
    n, missing = shape_of(around)[-2:]
    left = index(around, pattern=(Ellipsis, 0, slice(None), slice(None)))
    right = swapped(index(around, pattern=(Ellipsis, 1, slice(None), slice(None))))
    m = above(beside(a, left), beside(right, corner))
    first, last = slice(0, n), slice(n, n + missing)
    x = inv(m)
    det_w, adj_w = _determinant_and_adjugate(block(x, last, last))
    outer = matmul(block(x, first, last), matmul(adj_w, block(x, last, first)))
    return column(column(det(m))) * (column(column(det_w)) * block(x, first, first) - outer)


det = of_matrices(
    "det",
    lambda a: np.linalg.det(a),
    lambda a_dot, y, a: contracted(adjugate(a, y), a_dot),
    shape=lambda a: a.shape[:-2],
    raises=NEVER,
    flops=cubic(2 / 3),
    axes=axes.stacked,
    bounds=interval_systems.DET,
)


def _slogdet_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any]:
    rate = contracted(inv(a), a_dot)
    if dtype_of(rate).kind != "c":
        return None, rate
    return y[0] * 1j * imag(rate), real(rate)


slogdet = of_matrices(
    "slogdet",
    lambda a: tuple(np.linalg.slogdet(a)),
    _slogdet_rule,
    raises=NEVER,
    flops=cubic(2 / 3),
    bounds=interval_systems.SLOGDET,
)
"""The sign of the determinant, and the logarithm of its absolute value."""

# --------------------------------------------------------------------------------------------------- factorisations


def right_solve(b: Any, a: Any, unit: bool = False) -> Any:
    """b a⁻¹ for an upper triangular a."""
    return swapped(solve_triangular(swapped(a), swapped(b), lower=True, unit=unit))


def _cholesky_rule(a_dot: Any, y: Any, a: Any) -> Any:
    """L_dot = L Φ(L⁻¹ a_dot L⁻ᴴ), where Φ takes the lower triangle and half the diagonal (Murray 2016, (8))."""
    middle = solve_triangular(y, symmetric_tangent(a_dot, a, lower=True), lower=True, unit=False)
    middle = right_solve(middle, adjoint(y))
    n = shape_of(a)[-1]
    half = library.tri(n, None, 0, dtype_of(a), a) - 0.5 * library.eye(n, dtype_of(a), a)
    return matmul(y, middle * half)


cholesky = of_matrices(
    "cholesky",
    lambda a: np.linalg.cholesky(a),
    _cholesky_rule,
    shape=lambda a: a.shape,
    raises=VALUES,
    failures={"LinAlgError": "Matrix is not positive definite"},
    flops=cubic(1 / 3),
    axes=axes.stacked,
    bounds=interval_systems.CHOLESKY,
)
"""The lower factor, of the lower triangle."""


def _qr_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any]:
    """a_dot r⁻¹ = q (Ω + T) + what is orthogonal to q, with Ω skew and T upper triangular (Walter & Lehmann 2018)."""
    q, r = y
    tangent = right_solve(a_dot, r)
    inside = matmul(adjoint(q), tangent)
    below = lower_part(inside, -1)
    skew = below - adjoint(below)
    if dtype_of(a).kind == "c":  # r has a real diagonal
        skew = skew + masked(inside - adjoint(inside), library.eye(shape_of(inside)[-1], bool, q)) * 0.5
    return matmul(q, skew - inside) + tangent, matmul(inside - skew, r)


qr = of_matrices(
    "qr",
    lambda a: tuple(np.linalg.qr(a)),
    _qr_rule,
    raises=NEVER,
    flops=cubic(4 / 3),
    bounds=refused("qr", "take np.linalg.cholesky(a.T @ a).T, which is r but for the signs of its rows"),
)
"""Of matrices with at least as many rows as columns: orthonormal columns q, square upper r."""


def _lu(a: Any) -> tuple[Any, Any, Any]:
    if ndim_of(a) == 2 or 0 in shape_of(a):
        return tuple(scipy.linalg.lu(a, check_finite=False))
    *lead, m, n = a.shape
    parts = zip(*[scipy.linalg.lu(x, check_finite=False) for x in a.reshape(-1, m, n)], strict=True)
    p, l, u = [np.stack(part).reshape(*lead, *part[0].shape) for part in parts]
    return p, l, u


def _lu_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any, Any]:
    """L⁻¹ a_dot U⁻¹ of the leading square; its triangles are the tangents. The rest solves what is left over.

    What is below its diagonal does not depend on the last pivot, which may be zero, as in generators of Markov chains.
    """
    p, l, u = y
    m, n = shape_of(a)[-2:]
    k = min(m, n)
    first, rest, every = slice(0, k), slice(k, None), slice(None)
    a_dot = matmul(swapped(p), a_dot)
    l1, u1 = block(l, first, every), block(u, every, first)
    middle = solve_triangular(l1, block(a_dot, first, first), lower=True, unit=True)
    below = middle
    if k > 1:
        solved = right_solve(block(middle, every, slice(0, k - 1)), block(u1, slice(0, k - 1), slice(0, k - 1)))
        below = beside(solved, block(middle, every, slice(k - 1, k)))
    below = lower_part(below, -1)
    l_dot, u_dot = matmul(l1, below), upper_part(middle - matmul(below, u1))
    if m > n:
        left_over = block(a_dot, rest, every) - matmul(block(l, rest, every), u_dot)
        l_dot = above(l_dot, right_solve(left_over, u1))
    if n > m:
        left_over = block(a_dot, every, rest) - matmul(l_dot, block(u, every, rest))
        u_dot = beside(u_dot, solve_triangular(l1, left_over, lower=True, unit=True))
    return None, l_dot, u_dot


lu = of_matrices(
    "lu",
    _lu,
    _lu_rule,
    raises=NEVER,
    flops=cubic(2 / 3),
    bounds=refused("lu, whose permutation jumps", "take np.linalg.solve and np.linalg.det, which have enclosures"),
)
"""a = p l u with a permutation p, which is locally constant, a unit lower l and an upper u."""

# ---------------------------------------------------------------------------------------------------------- banded
#
# A banded matrix is stored by diagonals, as LAPACK does: ab[u + i − j, j] = a[i, j], with `l` diagonals below.


def _along_rows(ab: Any, l: int, u: int) -> tuple[Any, np.ndarray]:
    """The diagonals aligned at rows: r[k, i] = a[i, i + k − l], zero outside; and the columns i + k − l, clipped."""
    n = shape_of(ab)[-1]
    columns = np.arange(n) + np.arange(-l, u + 1)[:, None]
    inside = (columns >= 0) & (columns < n)
    columns = np.clip(columns, 0, n - 1)
    diagonals = np.broadcast_to(np.arange(l + u, -1, -1)[:, None], columns.shape)
    flat = reshape(ab, shape=((l + u + 1) * n,))
    return where(inside, take(flat, diagonals * n + columns), 0), columns


def _banded_product(ab: Any, x: Any, l: int, u: int) -> Any:
    """a x."""
    rows, columns = _along_rows(ab, l, u)
    return sum(column(rows) * take(x, columns), axis=(0,))


def _banded_transpose(ct: Any, ab: Any, b: Any, l: int, u: int) -> Any:
    return unfit(solve_banded(_along_rows(ab, l, u)[0], ct, l=u, u=l), b.shape, b.dtype)


def _batch_banded(args: Any, mapped: Any, params: dict) -> Any:
    return NotImplemented if mapped[0] else batch_of_columns(lambda: solve_banded)(args, mapped, params)


def _banded_shape(ab: Any, b: Any, l: int, u: int) -> tuple[int, ...]:
    demand_same_length("solve_banded", "(k,m),(m,n)->(m,n)", ab.shape[-1], b.shape[0])
    return b.shape


solve_banded = general(
    "solve_banded",
    lambda ab, b, l, u: scipy.linalg.solve_banded((l, u), ab, b, check_finite=False),
    (
        lambda ab_dot, y, ab, b, l, u: -solve_banded(ab, _banded_product(ab_dot, y, l, u), l=l, u=u),
        lambda b_dot, y, ab, b, l, u: solve_banded(ab, b_dot, l=l, u=u),
    ),
    transposes={1: _banded_transpose},
    batch=_batch_banded,
    shape=_banded_shape,
    ordered=False,
    raises=VALUES,
    cost=MORE,
    solves=True,
    bounds=interval_systems.solve_banded,
)
"""a⁻¹ b for one banded matrix, in time proportional to its size."""
