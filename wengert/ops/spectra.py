"""Rows for eigenvalues and singular values, and their vectors.

With x = v⁻¹ a_dot v, eigenvalues have the tangent diag x, and eigenvectors v·(f ∘ x) with fᵢⱼ = 1 / (wⱼ − wᵢ) (Giles
2008; Townsend 2016 for the singular value decomposition). `eigh` reads one triangle: see Note [One triangle] in
`matrices.py`.

Where values coincide, vectors are not determined: see Note [Repeated eigenvalues] in `repeated.py`. For that case
`eigh` and `svd` have second rows, with an operand more that says which vectors to choose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from wengert.errors import RepeatedValuesError
from wengert.ops import axes, interval_spectra, library
from wengert.ops.derive import general
from wengert.ops.elementwise import logical_and, logical_not, reciprocal, where
from wengert.ops.enclosures import refused
from wengert.ops.levels import is_unknown, levels
from wengert.ops.linalg import cholesky, solve, solve_triangular
from wengert.ops.matrices import (
    above,
    adjoint,
    batch_of_stacks,
    block,
    column,
    conj,
    constant_of_matrices,
    diagonal,
    masked,
    of_matrices,
    row,
    symmetric_matrix,
    symmetric_tangent,
)
from wengert.ops.products import matmul
from wengert.ops.repeated import (
    are_distinct,
    equal_cotangents,
    first_order_only,
    forward_only,
    gaps_are_safe,
    groups,
    is_null,
    may_coincide,
    null_mask,
    refusal,
    same_group,
    tilt_of,
    zero_cotangents,
    zero_rotation,
)
from wengert.ops.shape import astype, imag, real, sum
from wengert.ops.traits import MORE, NEVER, VALUES, Dtype, cubic
from wengert.types import dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------------------- gaps


def safe_inverse(x: Any, bad: Any) -> Any:
    """1 / x, and zero where it is bad."""
    return where(bad, 0, reciprocal(where(bad, 1, x)))


def inverse_gaps(w: Any) -> Any:
    """fᵢⱼ = 1 / (wⱼ − wᵢ), and zero where they are equal."""
    n = shape_of(w)[-1]
    gaps_are_safe(w, size=n, kind="eigen")
    return safe_inverse(row(w) - column(w), groups(w, size=n))


def _real(x: Any) -> Any:
    return real(x) if dtype_of(x).kind == "c" else x


def _off_diagonal(together: Any, n: int) -> Any:
    return logical_and(together, ~library.eye(n, bool, together))


def _shared(d: Any, together: Any) -> Any:
    """The mean over each group of equal values: ties share a derivative equally, in reverse mode.

    Forwards each has its own, which second derivatives need.
    """
    weights = astype(where(together, 1.0, 0.0), dtype=dtype_of(d))
    total = sum(weights, axis=(ndim_of(weights) - 1,), keepdims=True)
    return sum(weights / total * row(d), axis=(ndim_of(weights) - 1,))


_NOT_SYMMETRIC = refused("eigenvalues of matrices that need not be symmetric", "take np.linalg.eigvalsh, if they are")

# ------------------------------------------------------------------------------------------------ Hermitian matrices


def _eigh(a: Any, lower: bool, driver: str | None = None) -> tuple[Any, Any]:
    """SciPy uses other routines of LAPACK than NumPy, which may choose other signs."""
    if driver is None:
        w, v = np.linalg.eigh(a, "L" if lower else "U")
        return w, v
    n = shape_of(a)[-1]
    pairs = [scipy.linalg.eigh(x, lower=lower, driver=driver, check_finite=False) for x in a.reshape(-1, n, n)]
    w, v = (np.stack(part) for part in zip(*pairs, strict=True))
    return w.reshape(a.shape[:-1]), v.reshape(a.shape)


def _eigh_rule(a_dot: Any, y: Any, a: Any, lower: bool, driver: str | None = None) -> tuple[Any, Any]:
    w, v = y
    x = matmul(adjoint(v), matmul(symmetric_tangent(a_dot, a, lower), v))
    return _real(diagonal(x)), matmul(v, inverse_gaps(w) * x)


eigh_distinct = of_matrices(
    "eigh",
    _eigh,
    _eigh_rule,
    ordered=False,
    raises=VALUES,
    flops=cubic(9),
    bounds=refused(
        "the vectors of eigh, which derivatives of eigenvalues need as well",
        'take np.linalg.eigvalsh, which has one by method="natural"',
    ),
)
"""Of matrices with different eigenvalues."""


def _turned(a: Any, tilt: Any, values: Any, vectors: tuple, turn: Any) -> tuple:
    """Vectors (the last of each stack) turned within each group of equal values: turn(tilt, first, last, *vectors)."""
    lead = np.broadcast_shapes(shape_of(values)[:-1], shape_of(tilt)[:-2])
    n = shape_of(values)[-1]
    values = np.broadcast_to(values, (*lead, n)).copy()
    tilt = np.broadcast_to(tilt, (*lead, *shape_of(tilt)[-2:]))
    vectors = tuple([np.broadcast_to(v, (*lead, *v.shape[-2:])).copy() for v in vectors])
    together = same_group(values, max(shape_of(a)[-2:]))
    for k in np.ndindex(*lead):
        first = 0
        while first < n:
            last = first + int(np.sum(together[k][first, first:]))
            turn(tilt[k], values[k], first, last, *[v[k] for v in vectors])
            first = last
    return values, *vectors


def _eigh_repeated(a: Any, tilt: Any, lower: bool, driver: str | None = None) -> tuple[Any, Any]:
    def turn(t: Any, w: Any, first: int, last: int, v: Any) -> None:
        if last - first > 1:
            x = v[:, first:last].conj().T @ t @ v[:, first:last]
            v[:, first:last] = v[:, first:last] @ np.linalg.eigh((x + x.conj().T) / 2)[1]

    w, v = _eigh(a, lower, driver)
    if tilt.ndim == 2 and are_distinct(w, shape_of(w)[-1]):
        return w, v
    w, v = _turned(a, tilt, w, (v,), turn)
    return w, v


def _eigh_repeated_rule(a_dot: Any, y: Any, a: Any, tilt: Any, lower: bool, driver: Any = None) -> tuple[Any, Any]:
    w, v = y
    n = shape_of(w)[-1]
    v = first_order_only(v, w, n, "eigen")
    together = groups(w, size=n)
    x = matmul(adjoint(v), matmul(symmetric_tangent(a_dot, a, lower), v))
    turn = safe_inverse(row(w) - column(w), together) * x + zero_rotation(
        x, _off_diagonal(together, n), kind="eigen", skew=True
    )
    return equal_cotangents(_real(diagonal(x)), together, kind="eigen"), matmul(v, turn)


eigh_repeated = general(
    "eigh_repeated",
    _eigh_repeated,
    (_eigh_repeated_rule, None),
    batch=batch_of_stacks(lambda: eigh_repeated),
    ordered=False,
    raises=VALUES,
    cost=MORE,
)
"""Of any matrices; where eigenvalues are equal, with those vectors between which `tilt` has no elements."""


def eigh(a: Any, lower: bool, driver: str | None = None, along: Any = None) -> tuple[Any, Any]:
    """Eigenvalues in ascending order, and orthonormal eigenvectors, of one triangle.

    `along` is a tangent that vectors are used with, if `a` itself is not differentiated.
    """
    w, v = eigh_distinct(a, lower=lower, driver=driver)
    if not may_coincide(w, shape_of(w)[-1]):
        return w, v
    return eigh_repeated(a, symmetric_tangent(tilt_of(a, along), a, lower), lower=lower, driver=driver)


def _eigvalsh_rule(a_dot: Any, y: Any, a: Any, lower: bool) -> Any:
    v = eigh(a, lower=lower, along=a_dot)[1]
    special_case = may_coincide(y, shape_of(y)[-1])
    outer = levels(a)
    if special_case:
        v = forward_only(v, y, outer, shape_of(y)[-1], "eigen")
    d = _real(sum(conj(v) * matmul(symmetric_tangent(a_dot, a, lower), v), axis=(ndim_of(a) - 2,)))
    if special_case and is_unknown(a_dot) and not outer.directions:
        return _shared(d, groups(y, size=shape_of(y)[-1]))
    return d


eigvalsh = of_matrices(
    "eigvalsh",
    lambda a, lower: np.linalg.eigvalsh(a, "L" if lower else "U"),
    _eigvalsh_rule,
    shape=lambda a, lower: a.shape[:-1],
    raises=VALUES,
    flops=cubic(4),
    axes=axes.stacked,
    dtype=Dtype.REAL,
    bounds=interval_spectra.EIGVALSH,
)
"""Eigenvalues in ascending order. A row of its own, since it needs no differences of eigenvalues."""


def _eigh_generalized(a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    if ndim_of(a) == ndim_of(b) == 2:
        return tuple(scipy.linalg.eigh(a, b, lower=lower, check_finite=False))
    lead = np.broadcast_shapes(shape_of(a)[:-2], shape_of(b)[:-2])
    n = shape_of(a)[-1]
    stacks = [np.broadcast_to(x, (*lead, n, n)).reshape(-1, n, n) for x in (a, b)]
    pairs = [scipy.linalg.eigh(*pair, lower=lower, check_finite=False) for pair in zip(*stacks, strict=True)]
    w, v = (np.stack(part) for part in zip(*pairs, strict=True))
    return w.reshape(*lead, n), v.reshape(*lead, n, n)


def _generalized_in_b(b_dot: Any, y: Any, a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    """As for a, with −b_dot w; and vᴴ b v stays the identity."""
    w, v = y
    x = matmul(adjoint(v), matmul(symmetric_tangent(b_dot, b, lower), v))
    turned = -inverse_gaps(w) * row(w) * x - masked(x, library.eye(shape_of(w)[-1], bool, w)) * 0.5
    return -w * _real(diagonal(x)), matmul(v, turned)


generalized_distinct = general(
    "eigh_generalized",
    _eigh_generalized,
    (lambda a_dot, y, a, b, lower: _eigh_rule(a_dot, y, a, lower), _generalized_in_b),
    batch=batch_of_stacks(lambda: generalized_distinct),
    ordered=False,
    raises=VALUES,
    cost=MORE,
)
"""Of matrices with different eigenvalues."""


def eigh_generalized(a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    """Of a v = b v w with a positive definite b, and vᴴ b v = 1."""
    w, v = generalized_distinct(a, b, lower=lower)
    if not may_coincide(w, shape_of(w)[-1]):
        return w, v
    factor = cholesky(b if lower else adjoint(b))  # b = l lᴴ, so l⁻¹ a l⁻ᴴ has the same eigenvalues, and vectors lᴴ v
    half = solve_triangular(factor, symmetric_matrix(a, lower), lower=True, unit=False)
    w, v = eigh(solve_triangular(factor, adjoint(half), lower=True, unit=False), lower=True)
    return w, solve_triangular(adjoint(factor), v, lower=False, unit=False)


# -------------------------------------------------------------------------------------------------- general matrices


def _eig_rule(a_dot: Any, y: Any, a: Any, is_complex: bool) -> tuple[Any, Any]:
    """LAPACK scales vectors to length one, with a largest component that is real; so that must stay."""
    w, v = y
    x = _similar(v, a_dot)
    turned = matmul(v, safe_inverse(row(w) - column(w), require_distinct(w)) * x)
    along = sum(conj(v) * turned, axis=(ndim_of(v) - 2,))
    drift = _real(along)
    if dtype_of(v).kind == "c":
        top = one_hot_argmax(v)
        places = (ndim_of(v) - 2,)
        drift = drift + 1j * imag(sum(top * turned, axis=places)) * reciprocal(real(sum(top * v, axis=places)))
    return diagonal(x), turned - v * row(drift)


def _similar(v: Any, a_dot: Any) -> Any:
    """v⁻¹ a_dot v."""
    v = where(independent(v), v, 0)
    return solve(v, matmul(a_dot, v))


def _independent(v: Any) -> Any:
    values = np.linalg.svd(v, compute_uv=False)
    if np.any(values[..., -1:] <= values[..., :1] * float(np.finfo(dtype_of(v)).eps) ** (2 / 3)):
        raise RepeatedValuesError(
            "eigenvalues of a matrix that cannot be diagonalised, or nearly so, have no derivative",
            remedy="use functions of the matrix itself: expm, logm, sqrtm, det, trace, np.poly",
        )
    return library.ones(shape_of(v), bool, v)


independent = constant_of_matrices("independent", _independent, raises=VALUES, cost=MORE)
"""True for each element of eigenvectors that form a basis; or an error."""


def _one_hot_argmax(v: Any) -> Any:
    size = np.abs(v)
    return np.equal(library.arange(0, shape_of(v)[-2], v)[:, None], np.argmax(size, axis=-2)[..., None, :]).astype(
        size.dtype
    )


one_hot_argmax = constant_of_matrices("one_hot_argmax", _one_hot_argmax, raises=NEVER, cost=MORE)
"""One where the element of largest size stands in each column, and zeros."""


def _require_distinct(w: Any) -> Any:
    n = shape_of(w)[-1]
    top = library.largest(np.abs(w), -1)[..., None]
    close = np.abs(w[..., None, :] - w[..., :, None]) <= top * (n * float(np.finfo(dtype_of(w)).eps))
    if np.sum(close) > w.size:
        raise refusal("eigenvectors of a matrix that is not symmetric have no derivative there (eigvals has)", "eigen")
    return close


require_distinct = constant_of_matrices("require_distinct", _require_distinct, raises=VALUES, cost=MORE)
"""Which eigenvalue is equal to which: each to itself; or an error."""


def widened(x: Any, is_complex: bool) -> Any:
    """As complex numbers, if these are asked for whatever the values are."""
    return x.astype(np.result_type(x.dtype, np.complex64)) if is_complex else x


def _type_of_values(dtype: np.dtype, is_complex: bool) -> np.dtype | None:
    if dtype.kind not in "fc":
        return None
    return np.result_type(dtype, np.complex64) if is_complex else dtype


def _eig(a: Any, is_complex: bool) -> tuple[Any, Any]:
    """NumPy's, real if all eigenvalues are: since 2.5 NumPy itself gives complex ones in any case."""
    w, v = np.linalg.eig(a)
    if a.dtype.kind != "c" and w.dtype.kind == "c" and not is_complex and not np.any(w.imag):
        return w.real, v.real
    return widened(w, is_complex), widened(v, is_complex)


eig = of_matrices(
    "eig",
    _eig,
    _eig_rule,
    raises=VALUES,
    flops=cubic(25),
    bounds=_NOT_SYMMETRIC,
)
"""Eigenvalues and right eigenvectors; real if all eigenvalues are, unless they are to be complex."""


eigvals = of_matrices(
    "eigvals",
    # in the order of the vectors that the rule needs
    lambda a, is_complex: _eig(a, is_complex)[0],
    lambda a_dot, y, a, is_complex: _eigvals_tangent(a_dot, eig(a, is_complex=is_complex)[1]),
    shape=lambda a, is_complex: a.shape[:-1],
    dtype=lambda a, is_complex: _type_of_values(dtype_of(a), is_complex),
    raises=VALUES,
    flops=cubic(10),
    axes=axes.stacked,
    bounds=_NOT_SYMMETRIC,
)
"""Eigenvalues alone, which need no differences of eigenvalues."""


def _eigvals_tangent(a_dot: Any, v: Any) -> Any:
    return diagonal(_similar(v, a_dot))


# --------------------------------------------------------------------------------------------------- singular values
#
# Pairs of singular vectors turn by u (p + q) and v (p − q), where p comes from the Hermitian part of x = uᴴ a_dot v
# with the differences of singular values, q from the rest with their sums. So u vᴴ, in which p cancels, does not mind
# if singular values are equal, but for those that are zero.


def _svd_parts(a_dot: Any, y: Any) -> tuple[Any, ...]:
    u, s, vh = y
    v = adjoint(vh)
    right = matmul(a_dot, v)
    x = matmul(adjoint(u), right)
    turned = adjoint(x)
    return u, s, v, right, x, (x + turned) * 0.5, (x - turned) * 0.5


def _svd_result(a_dot: Any, parts: tuple, apart: Any, together: Any, inverse: Any) -> tuple[Any, Any, Any]:
    """From the turning (`apart`) that is common to u and v, and 1 / (sᵢ + sⱼ) and 1 / s, made safe."""
    u, s, v, right, x, _, skew = parts
    m, n = shape_of(u)[-2], shape_of(v)[-2]
    eye = library.eye(shape_of(s)[-1], bool, s)
    other = together * masked(skew, ~eye)
    u_turn, v_turn = apart + other, apart - other
    if dtype_of(u).kind == "c":  # the common phase of a pair of vectors is free; it goes to u
        u_turn = u_turn + masked(skew, eye) * row(inverse)
    u_dot, v_dot = matmul(u, u_turn), matmul(v, v_turn)
    if m > n:
        u_dot = u_dot + (right - matmul(u, x)) * row(inverse)
    elif n > m:
        v_dot = v_dot + (matmul(adjoint(a_dot), u) - matmul(v, adjoint(x))) * row(inverse)
    return u_dot, _real(diagonal(x)), adjoint(v_dot)


def _svd_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any, Any]:
    parts = _svd_parts(a_dot, y)
    s, symmetric = parts[1], parts[5]
    gaps_are_safe(s, size=max(shape_of(a)[-2:]), kind="singular")
    nothing = null_mask(s, size=max(shape_of(a)[-2:]))
    both = logical_and(_row_of(nothing), _column_of(nothing))
    apart = safe_inverse(row(s) - column(s), groups(s, size=max(shape_of(a)[-2:]))) * symmetric
    return _svd_result(a_dot, parts, apart, safe_inverse(row(s) + column(s), both), safe_inverse(s, nothing))


svd_distinct = of_matrices(
    "svd",
    lambda a: tuple(np.linalg.svd(a, full_matrices=False)),
    _svd_rule,
    raises=VALUES,
    flops=cubic(20),
    bounds=refused(
        "the vectors of svd, which derivatives of singular values need as well",
        'take np.linalg.svd(a, compute_uv=False), which has one by method="natural"',
    ),
)
"""Of matrices with different singular values, none of them zero."""


def _svd_repeated(a: Any, tilt: Any) -> tuple[Any, Any, Any]:
    size, k = max(shape_of(a)[-2:]), min(shape_of(a)[-2:])

    def turn(t: Any, s: Any, first: int, last: int, u: Any, v: Any) -> None:
        if is_null(s, size)[first]:  # the null spaces of a and aᴴ, which have nothing to do with each other
            p, _, q = np.linalg.svd(u[:, first:].conj().T @ t @ v[:, first:])
            u[:, first:], v[:, first:] = u[:, first:] @ p, v[:, first:] @ q.conj().T
        elif last - first > 1:
            x = u[:, first:last].conj().T @ t @ v[:, first:last]
            q = np.linalg.eigh((x + x.conj().T) / 2)[1][:, ::-1]
            u[:, first:last], v[:, first:last] = u[:, first:last] @ q, v[:, first:last] @ q

    u, s, vh = np.linalg.svd(a)
    if tilt.ndim == 2 and are_distinct(s, size) and not np.any(is_null(s, size)):
        return u[..., :k], s, vh[..., :k, :]
    s, u, v = _turned(a, tilt, s, (u, np.conj(np.swapaxes(vh, -1, -2))), turn)
    return u[..., :k], s, np.conj(np.swapaxes(v[..., :k], -1, -2))


def _svd_repeated_rule(a_dot: Any, y: Any, a: Any, tilt: Any) -> tuple[Any, Any, Any]:
    m, n = shape_of(a)[-2:]
    y = (first_order_only(y[0], y[1], max(m, n), "singular"), y[1], y[2])
    parts = _svd_parts(a_dot, y)
    u, s, v, right, x, symmetric, _ = parts
    k = shape_of(s)[-1]
    nothing, together = null_mask(s, size=max(m, n)), groups(s, size=max(m, n))
    both = logical_and(_row_of(nothing), _column_of(nothing))
    pairs = _off_diagonal(together, k)
    common = zero_rotation(symmetric, logical_and(pairs, logical_not(both)), kind="singular", skew=True)
    apart = safe_inverse(row(s) - column(s), together) * symmetric + common
    u_dot, s_dot, vh_dot = _svd_result(
        a_dot, parts, apart, safe_inverse(row(s) + column(s), both), safe_inverse(s, nothing)
    )
    # In null spaces, u and v turn independently; of those that are not square, one has vectors that u or v lacks.
    missing = logical_and(pairs, both)
    u_dot = u_dot + matmul(u, zero_rotation(x, missing, kind="singular", skew=True))
    v_dot = matmul(v, zero_rotation(x, missing, kind="singular", skew=True))
    columns = _row_of(nothing)
    if m > n:
        u_dot = u_dot + _outside(right - matmul(u, x), x, columns)
    elif n > m:
        v_dot = v_dot + _outside(matmul(adjoint(a_dot), u) - matmul(v, adjoint(x)), adjoint(x), columns)
    if m == n:  # a single pair of null vectors is determined
        single = sum(astype(where(nothing, 1.0, 0.0), dtype=dtype_of(s)), axis=(ndim_of(s) - 1,), keepdims=True)
        nothing = logical_and(nothing, single > 1.5)
    return u_dot, zero_cotangents(equal_cotangents(s_dot, together, kind="singular"), nothing), vh_dot + adjoint(v_dot)


def _row_of(mask: Any) -> Any:
    return mask[..., None, :]


def _column_of(mask: Any) -> Any:
    return mask[..., :, None]


def _outside(rest: Any, x: Any, columns: Any) -> Any:
    """Zero, for what turns null vectors out of the space of all vectors that are given."""
    rows, k = shape_of(rest)[-2], shape_of(x)[-2]
    whole = above(rest, x)
    here = (library.arange(0, rows + k, x) < rows)[:, None]
    return block(
        zero_rotation(whole, logical_and(columns, here), kind="singular", skew=False), slice(0, rows), slice(None)
    )


svd_repeated = general(
    "svd_repeated",
    _svd_repeated,
    (_svd_repeated_rule, None),
    batch=batch_of_stacks(lambda: svd_repeated),
    raises=VALUES,
    cost=MORE,
)
"""Of any matrices; where singular values are equal or zero, with those vectors between which `tilt` has no elements."""


def svd(a: Any, along: Any = None) -> tuple[Any, Any, Any]:
    """a = u s vh with as many singular values, in descending order, as the smaller side has. `along` as for `eigh`."""
    u, s, vh = svd_distinct(a)
    if not may_coincide(s, max(shape_of(a)[-2:]), zeros=True):
        return u, s, vh
    return svd_repeated(a, tilt_of(a, along))


def _svdvals_rule(a_dot: Any, y: Any, a: Any) -> Any:
    u, _, vh = svd(a, along=a_dot)
    size = max(shape_of(a)[-2:])
    special_case = may_coincide(y, size, zeros=True)
    outer = levels(a)
    if special_case:
        u = forward_only(u, y, outer, size, "singular")
    d = _real(sum(conj(u) * matmul(a_dot, adjoint(vh)), axis=(ndim_of(a) - 2,)))
    if special_case and is_unknown(a_dot) and not outer.directions:
        return _shared(where(null_mask(y, size=size), 0, d), groups(y, size=size))
    return d


svdvals = of_matrices(
    "svdvals",
    lambda a: np.linalg.svd(a, compute_uv=False),
    _svdvals_rule,
    shape=lambda a: (*a.shape[:-2], min(a.shape[-2:])),
    raises=VALUES,
    flops=cubic(4),
    axes=axes.stacked,
    dtype=Dtype.REAL,
    bounds=interval_spectra.SVDVALS,
)
"""Singular values in descending order."""
