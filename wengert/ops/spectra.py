"""Rows for eigenvalues and singular values, and their vectors.

With x = v⁻¹ a_dot v, eigenvalues have the tangent diag x, and eigenvectors v·(f ∘ x) with fᵢⱼ = 1 / (wⱼ − wᵢ) (Giles
2008; Townsend 2016 for the singular value decomposition). `eigh` follows the convention that a function of symmetric
matrices symmetrises its argument, as `cholesky` does.

Note [Repeated eigenvalues]

Where eigenvalues are equal, vectors are determined only up to a rotation among them, and the rotation that a
perturbation causes is not a linear function of it. Here fᵢⱼ = 0: vectors do not rotate within an eigenspace. That is
right for all functions of the values alone at first order (Σ f(w), norms), and for functions of the vectors that do not
see such rotations (traces, projections onto whole eigenspaces). It is not right for others, among them v f(w) vᴴ, and
second derivatives of functions of the values: there the quotient (f(wⱼ) − f(wᵢ)) / (wⱼ − wᵢ) would be needed, which no
rule for v alone can give. So this is never done silently: it raises a RuntimeWarning. Values count as equal if they
cannot be told apart in the precision of the matrix.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg

from wengert.ops.derive import general, zero
from wengert.ops.elementwise import reciprocal, where
from wengert.ops.linalg import solve
from wengert.ops.matrices import (
    adjoint,
    batch_of_one,
    batch_of_stacks,
    column,
    conj,
    diagonal,
    hermitian_part,
    masked,
    row,
)
from wengert.ops.products import matmul
from wengert.ops.shape import imag, real, sum
from wengert.types import dtype_of, ndim_of, shape_of

_REPEATED = (
    "derivatives through {vectors} of repeated {values}: they are assumed not to rotate among each other, which is "
    "right for traces and whatever else does not see their choice, but not for matrix functions and second "
    "derivatives; {better}"
)
_WORDS = {
    "eigen": {
        "vectors": "eigenvectors",
        "values": "eigenvalues",
        "better": "for functions of eigenvalues use eigvalsh, for matrix functions scipy.linalg.expm, logm, sqrtm",
    },
    "singular": {
        "vectors": "singular vectors",
        "values": "or vanishing singular values",
        "better": "for functions of singular values use svdvals, for polar factors scipy.linalg.polar",
    },
}

# ------------------------------------------------------------------------------------------------------------- gaps


def _equal_pairs(w: Any, size: int) -> Any:
    """Which values cannot be told apart from which, each being equal to itself."""
    n = shape_of(w)[-1]
    top = np.max(np.abs(w), axis=-1, keepdims=True, initial=0)[..., None]
    return np.abs(w[..., None, :] - w[..., :, None]) <= top * (size * float(np.finfo(dtype_of(w)).eps)) if n else w


def _repeated(w: Any, size: int, kind: str) -> Any:
    pairs = _equal_pairs(w, size)
    if np.sum(pairs) > w.size:
        warnings.warn(_REPEATED.format(**_WORDS[kind]), RuntimeWarning, stacklevel=2)
    return pairs


repeated = zero("repeated", _repeated, batch=batch_of_one(lambda: repeated))
"""The pairs of values that are equal; see Note [Repeated eigenvalues]. `size` is that of the matrix."""


def _vanishing(s: Any, size: int, warn: bool) -> Any:
    none = s <= np.max(s, axis=-1, keepdims=True, initial=0) * (size * float(np.finfo(dtype_of(s)).eps))
    if warn and np.any(none):
        warnings.warn(_REPEATED.format(**_WORDS["singular"]), RuntimeWarning, stacklevel=2)
    return none


vanishing = zero("vanishing", _vanishing, batch=batch_of_one(lambda: vanishing))
"""The singular values that cannot be told from zero."""


def safe_inverse(x: Any, bad: Any) -> Any:
    """1 / x, and zero where it is bad."""
    return where(bad, 0, reciprocal(where(bad, 1, x)))


def inverse_gaps(w: Any) -> Any:
    """fᵢⱼ = 1 / (wⱼ − wᵢ), and zero where they are equal."""
    return safe_inverse(row(w) - column(w), repeated(w, size=shape_of(w)[-1], kind="eigen"))


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
    x = matmul(adjoint(v), matmul(hermitian_part(a_dot), v))
    return _real(diagonal(x)), matmul(v, inverse_gaps(w) * x)


def _real(x: Any) -> Any:
    return real(x) if dtype_of(x).kind == "c" else x


eigh = general(
    "eigh",
    _eigh,
    (_eigh_rule,),
    batch=batch_of_one(lambda: eigh),
)
"""Eigenvalues in ascending order, and orthonormal eigenvectors. The derivative is as if `a` were symmetrised first."""


def _eigvalsh_rule(a_dot: Any, y: Any, a: Any, lower: bool) -> Any:
    v = eigh(a, lower=lower)[1]
    return _real(sum(conj(v) * matmul(hermitian_part(a_dot), v), axis=(ndim_of(a) - 2,)))


eigvalsh = general(
    "eigvalsh",
    lambda a, lower: np.linalg.eigvalsh(a, "L" if lower else "U"),
    (_eigvalsh_rule,),
    batch=batch_of_one(lambda: eigvalsh),
    shape=lambda a, lower: a.shape[:-1],
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
    x = matmul(adjoint(v), matmul(hermitian_part(b_dot), v))
    turned = -inverse_gaps(w) * row(w) * x - masked(x, np.eye(shape_of(w)[-1], dtype=bool)) * 0.5
    return -w * _real(diagonal(x)), matmul(v, turned)


eigh_generalized = general(
    "eigh_generalized",
    _eigh_generalized,
    (lambda a_dot, y, a, b, lower: _eigh_rule(a_dot, y, a, lower), _generalized_in_b),
    batch=batch_of_stacks(lambda: eigh_generalized),
)
"""Of a v = b v w with a positive definite b, and vᴴ b v = 1."""

# -------------------------------------------------------------------------------------------------- general matrices


def _eig_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any]:
    """LAPACK scales vectors to length one, with a largest component that is real; so that must stay."""
    w, v = y
    x = solve(v, matmul(a_dot, v))
    turned = matmul(v, inverse_gaps(w) * x)
    along = sum(conj(v) * turned, axis=(ndim_of(v) - 2,))
    drift = _real(along)
    if dtype_of(v).kind == "c":
        top = largest(v)
        places = (ndim_of(v) - 2,)
        drift = drift + 1j * imag(sum(top * turned, axis=places)) * reciprocal(real(sum(top * v, axis=places)))
    return diagonal(x), turned - v * row(drift)


def _largest(v: Any) -> Any:
    size = np.abs(v)
    return np.equal(np.arange(shape_of(v)[-2])[:, None], np.argmax(size, axis=-2)[..., None, :]).astype(size.dtype)


largest = zero("largest", _largest, batch=batch_of_one(lambda: largest))
"""One where the element of largest size stands in each column, and zeros."""

eig = general("eig", lambda a: tuple(np.linalg.eig(a)), (_eig_rule,), batch=batch_of_one(lambda: eig))
"""Eigenvalues and right eigenvectors; real if all eigenvalues are, as NumPy has it."""


eigvals = general(
    "eigvals",
    lambda a: np.linalg.eig(a)[0],  # in the order of the vectors that the rule needs
    (lambda a_dot, y, a: _eigvals_tangent(a_dot, eig(a)[1]),),
    batch=batch_of_one(lambda: eigvals),
    shape=lambda a: a.shape[:-1],
)
"""Eigenvalues alone, which need no differences of eigenvalues."""


def _eigvals_tangent(a_dot: Any, v: Any) -> Any:
    return diagonal(solve(v, matmul(a_dot, v)))


# --------------------------------------------------------------------------------------------------- singular values


def _svd_rule(a_dot: Any, y: Any, a: Any) -> tuple[Any, Any, Any]:
    u, s, vh = y
    v = adjoint(vh)
    m, n = shape_of(a)[-2:]
    size = max(m, n)
    right = matmul(a_dot, v)
    x = matmul(adjoint(u), right)
    f = safe_inverse((row(s) - column(s)) * (row(s) + column(s)), repeated(s, size=size, kind="singular"))
    xs, sx = x * row(s), column(s) * x
    u_turn, v_turn = f * (xs + adjoint(xs)), f * (sx + adjoint(sx))
    if dtype_of(a).kind == "c":  # the common phase of a pair of vectors is free; it goes to u
        skew = masked(x - adjoint(x), np.eye(shape_of(s)[-1], dtype=bool))
        u_turn = u_turn + skew * row(safe_inverse(s, vanishing(s, size=size, warn=False))) * 0.5
    u_dot, v_dot = matmul(u, u_turn), matmul(v, v_turn)
    if m != n:
        inverse = row(safe_inverse(s, vanishing(s, size=size, warn=True)))
        if m > n:
            u_dot = u_dot + (right - matmul(u, x)) * inverse
        else:
            v_dot = v_dot + (matmul(adjoint(a_dot), u) - matmul(v, adjoint(x))) * inverse
    return u_dot, _real(diagonal(x)), adjoint(v_dot)


svd = general(
    "svd",
    lambda a: tuple(np.linalg.svd(a, full_matrices=False)),
    (_svd_rule,),
    batch=batch_of_one(lambda: svd),
)
"""a = u s vh with as many singular values, in descending order, as the smaller side has."""


def _svdvals_rule(a_dot: Any, y: Any, a: Any) -> Any:
    u, _, vh = svd(a)
    return _real(sum(conj(u) * matmul(a_dot, adjoint(vh)), axis=(ndim_of(a) - 2,)))


svdvals = general(
    "svdvals",
    lambda a: np.linalg.svd(a, compute_uv=False),
    (_svdvals_rule,),
    batch=batch_of_one(lambda: svdvals),
    shape=lambda a: (*a.shape[:-2], min(a.shape[-2:])),
)
"""Singular values in descending order."""
