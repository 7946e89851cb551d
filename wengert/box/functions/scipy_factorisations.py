"""scipy.linalg's less common factorisations, bases of subspaces and angles between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from wengert.box.dispatch import implements_blind
from wengert.box.functions import linalg
from wengert.box.functions.elementwise import is_complex
from wengert.box.functions.linalg import matrices, pseudo_inverse, squares, without_values_cut_off
from wengert.box.functions.operands import answer, common_answer, pick, unsupported_option
from wengert.box.functions.stacks import VECTOR_OR_MATRIX, over_stacks
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import linalg as l
from wengert.ops import matrices as m
from wengert.ops import matrix_functions as f
from wengert.ops import shape as s
from wengert.ops import spectra
from wengert.ops.index import index
from wengert.ops.ldl import ldl as unpivoted_ldl
from wengert.ops.products import matmul
from wengert.ops.subspaces import null_basis
from wengert.types import dtype_of, ndim_of, shape_of

# ---------------------------------------------------------------------------------------------------- factorisations


@implements_blind(scipy.linalg.rq)
@over_stacks(a=2)
def rq(a: Any, mode: str = "full") -> Any:
    """a = r q, from the factorisation q r of the matrix turned upside down and transposed."""
    a = matrices(a)
    rows, columns = shape_of(a)
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    if rows > columns or (mode == "full" and rows < columns):
        raise unsupported_option("scipy.linalg.rq", f"mode={mode!r} of this shape", "use qr, or mode='economic'")
    q, r = l.qr(m.adjoint(s.flip(a, axis=(0,))))
    q, r = s.flip(m.adjoint(q), axis=(0,)), s.flip(m.adjoint(r), axis=(0, 1))
    theirs = answer(lambda x: scipy.linalg.rq(x, mode="economic")[1], a)
    signs = answer(lambda ours, theirs: _phases(np.sum(np.conj(ours) * theirs, axis=1)), q, theirs)
    q, r = q * m.column(signs), r * np.conj(signs)
    if mode == "r":
        return r if rows == columns else m.beside(np.zeros((rows, columns - rows), dtype_of(a)), r)
    return r, q


def _phases(along: Any) -> Any:
    size = np.abs(along)
    return np.where(size > 0, along / np.where(size > 0, size, 1), 1)


@implements_blind(scipy.linalg.ldl)
@over_stacks(A=2)
def ldl(A: Any, lower: bool = True, hermitian: bool = True) -> Any:
    """With SciPy's permutation, which is locally constant; d must be diagonal."""
    A = squares(A)
    hermitian = hermitian or not is_complex(A)
    n = shape_of(A)[0]
    order = answer(lambda x: scipy.linalg.ldl(x, lower, hermitian)[2], A)
    off = ~np.eye(n, dtype=bool)
    if common_answer(lambda x: bool(np.any(scipy.linalg.ldl(x, lower, hermitian)[1][off])), A):
        raise UnsupportedFunctionError(
            "scipy.linalg.ldl of a matrix whose d has blocks of two rows",
            remedy="use np.linalg.solve, slogdet or eigh, which do not need the factors",
        )
    whole = m.symmetric_matrix(A, lower, hermitian)
    back = answer(lambda x: np.argsort(scipy.linalg.ldl(x, lower, hermitian)[2]), A)
    turned = pick(pick(whole, order, 0), order, 1)
    if not lower:  # an upper factor is a lower one, read backwards
        turned = s.flip(turned, axis=(0, 1))
    l_factor, diagonal = unpivoted_ldl(turned, hermitian=hermitian)
    if not lower:
        l_factor, diagonal = s.flip(l_factor, axis=(0, 1)), s.flip(diagonal, axis=(0,))
    return pick(l_factor, back, 0), m.row(diagonal) * np.eye(n, dtype=dtype_of(A)), order


@implements_blind(scipy.linalg.matrix_balance)
@over_stacks(A=2)
def matrix_balance(A: Any, permute: Any = True, scale: Any = True, separate: Any = False) -> Any:
    """The scales are powers of two and, as the permutation, locally constant: t⁻¹ a t with a constant t."""
    A = squares(A)
    t = answer(lambda x: scipy.linalg.matrix_balance(x, permute, scale)[1], A)
    given = answer(lambda x: scipy.linalg.matrix_balance(x, permute, scale, separate)[1], A)
    inverse = np.where(t.T != 0, 1 / np.where(t.T != 0, t.T, 1), 0)  # one element in each row and column
    return matmul(inverse, matmul(A, t)), given


@implements_blind(scipy.linalg.qr_multiply)
@over_stacks(a=2, c=VECTOR_OR_MATRIX)
def qr_multiply(a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False) -> Any:
    a, c = matrices(a), linalg.inexact(c)
    rows, columns = shape_of(a)
    if mode not in ("left", "right"):
        raise ValueError("Mode argument can only be 'left' or 'right' but not 'qr_multiply'")
    if pivoting or rows < columns:
        raise unsupported_option("scipy.linalg.qr_multiply", "pivoting=, or a wide matrix", "multiply with q of qr")
    q, r = l.qr(a)
    q = m.conj(q) if conjugate else q
    vector = ndim_of(c) == 1
    c = (m.column(c) if mode == "left" else m.row(c)) if vector else c
    if mode == "left":
        if shape_of(c)[0] != columns:
            raise unsupported_option("scipy.linalg.qr_multiply", "a matrix for the full q", "multiply with q of qr")
        product = matmul(q, c)
    else:
        product = matmul(c, q)
    return (s.reshape(product, shape=(-1 if 0 in shape_of(product) else max(shape_of(product)),)) if vector
            else product), r  # fmt: skip


@implements_blind(scipy.linalg.pinvh)
@over_stacks(a=2)
def pinvh(a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False) -> Any:
    a = squares(a)
    sizes = lambda x: np.abs(np.linalg.eigvalsh(x, "L" if lower else "U"))
    cutoff = shape_of(a)[-1] * float(np.finfo(dtype_of(a)).eps) if rtol is None else float(rtol)
    if atol:
        top = common_answer(lambda x: np.max(sizes(x), initial=0), a)
        cutoff += float(atol) / (top if top > 0 else 1)
    y = pseudo_inverse(m.symmetric_matrix(a, lower), cutoff, hermitian=True)
    rank = lambda x: int(np.sum(sizes(x) > cutoff * np.max(sizes(x), initial=0)))
    return (y, answer(rank, a)) if return_rank else y


# ---------------------------------------------------------------------------------------------------------- subspaces


def _rank(a: Any, rcond: Any) -> tuple[int, float]:
    rcond = float(np.finfo(dtype_of(a)).eps) * max(shape_of(a)) if rcond is None else float(rcond)

    def count(x: Any) -> int:
        values = np.linalg.svd(x, compute_uv=False)
        return int(np.sum(values > rcond * np.max(values, initial=0)))

    return common_answer(count, a), rcond


@implements_blind(scipy.linalg.null_space)
@over_stacks(A=2)
def null_space(A: Any, rcond: Any = None, *, lapack_driver: str = "gesdd") -> Any:
    """SciPy's basis; only what does not depend on the choice of basis has a derivative."""
    A = matrices(A)
    known = answer(lambda x: scipy.linalg.null_space(x, rcond, lapack_driver=lapack_driver), A)
    rcond = _rank(A, rcond)[1]
    return null_basis(without_values_cut_off(A, rcond), known, rcond=rcond)


@implements_blind(scipy.linalg.orth)
@over_stacks(A=2)
def orth(A: Any, rcond: Any = None) -> Any:
    """If the rank is deficient, only what does not depend on the choice of basis has a derivative."""
    A = matrices(A)
    rank, rcond = _rank(A, rcond)
    if rank == min(shape_of(A)):
        return index(spectra.svd(A)[0], pattern=(slice(None), slice(0, rank)))
    vectors, A = answer(lambda x: np.linalg.svd(x)[0], A), without_values_cut_off(A, rcond)
    rest = null_basis(m.adjoint(A), vectors[:, rank:], rcond=rcond)
    return null_basis(m.adjoint(rest), vectors[:, :rank], rcond=1e-8)


@implements_blind(scipy.linalg.subspace_angles)
@over_stacks(A=2, B=2)
def subspace_angles(A: Any, B: Any) -> Any:
    """From sines where angles are small, from cosines elsewhere, as SciPy (Knyazev & Argentati 2002)."""
    A, B = matrices(A), matrices(B)
    if shape_of(A)[0] != shape_of(B)[0]:
        raise ValueError("A and B must have the same number of rows")
    first, second = _any_basis(A), _any_basis(B)
    if shape_of(first)[1] < shape_of(second)[1]:
        first, second = second, first
    between = matmul(m.adjoint(first), second)
    cosines = spectra.svdvals(between)
    sines = spectra.svdvals(second - matmul(first, between))
    small = answer(lambda c: c**2 >= 0.5, cosines)
    backwards = s.flip(cosines, axis=(0,))
    # SciPy's mask belongs to cosines in descending order, its angles are descending, too.
    safe_sines = e.where(small, e.where(e.less(sines, 1), sines, 0.5), 0.5)
    safe_cosines = e.where(small, 0.5, e.where(e.less(backwards, 1), backwards, 0.5))
    return e.where(small, e.arcsin(safe_sines), e.arccos(safe_cosines))


def _any_basis(a: Any) -> Any:
    """Of the space of the columns: angles do not depend on the choice."""
    rows, columns = shape_of(a)
    return l.qr(a)[0] if rows >= columns and _rank(a, None)[0] == columns else orth(a)


@implements_blind(scipy.linalg.orthogonal_procrustes)
@over_stacks(A=2, B=2)
def orthogonal_procrustes(A: Any, B: Any) -> Any:
    """The polar factor of aᴴ b, which does not mind repeated singular values."""
    A, B = matrices(A), matrices(B)
    if shape_of(A) != shape_of(B):
        raise ValueError(f"the shapes of A and B differ ({shape_of(A)} vs {shape_of(B)})")
    product = matmul(m.adjoint(A), B)
    return f.polar(product)[0], s.sum(spectra.svdvals(product))
