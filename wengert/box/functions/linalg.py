"""numpy.linalg beyond products and norms, of stacks of matrices.

Rows of their own are `solve`, `inv`, `pinv`, `det`, `slogdet` and the factorisations (`ops/linalg.py`), eigenvalues and
singular values (`ops/spectra.py`); the rest is composed of them. For functions that read one triangle of a symmetric
matrix (`cholesky`, `eigh`, `eigvalsh`), see Note [One triangle] in `ops/matrices.py`.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements
from wengert.box.functions.elementwise import absolute
from wengert.box.functions.lengths import agree, known, most, refuse_if
from wengert.box.functions.norms import matrix_norm
from wengert.box.functions.operands import answer, common_answer, inexact, unsupported_option
from wengert.box.writing import plain
from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import linalg as l
from wengert.ops import matrices as m
from wengert.ops import shape as s
from wengert.ops import spectra
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.reduce import argsort
from wengert.ops.reduce import max as maximum
from wengert.ops.sizes import padded
from wengert.ops.spectral_functions import ReciprocalBeyond, matrix_function
from wengert.ops.subspaces import null_basis, reflecting
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of

# NumPy's named results, of which it does not publish the classes.
_EigResult: Any = type(np.linalg.eig(np.eye(1)))
_EighResult: Any = type(np.linalg.eigh(np.eye(1)))
_QRResult: Any = type(np.linalg.qr(np.eye(1)))
_SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))
_SVDResult: Any = type(np.linalg.svd(np.eye(1)))
_NOT_GIVEN = object()


def matrices(x: Any) -> Any:
    """A stack of matrices."""
    x = inexact(x)
    if ndim_of(x) < 2:
        raise np.linalg.LinAlgError(f"{ndim_of(x)}-dimensional array given. Array must be at least two-dimensional")
    return x


def squares(x: Any) -> Any:
    """A stack of square matrices."""
    x = matrices(x)
    if shape_of(x)[-1] != shape_of(x)[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return x


# ---------------------------------------------------------------------------------------------------- linear systems


def by_columns(solver: Any, b: Any) -> Any:
    """A solver of matrices of right-hand sides, of one right-hand side or a matrix of them."""
    if ndim_of(b) == 1:
        return index(solver(m.column(b)), pattern=(Ellipsis, 0))
    return solver(b)


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    a, b = squares(a), inexact(b)
    if ndim_of(b) == 0:
        raise ValueError("solve: Input operand 1 does not have enough dimensions")
    return by_columns(lambda columns: l.solve_once(a, columns), b)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    return l.inv(squares(a))


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = inexact(a), inexact(b)
    if axes is not None:
        rest = [k for k in range(ndim_of(a)) if k not in axes]
        a = s.transpose(a, axes=(*rest, *axes))
    shape = shape_of(a)[-(ndim_of(a) - ndim_of(b)) :]
    n = math.prod(shape)
    if math.prod(shape_of(a)) != n * n:
        raise np.linalg.LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(b.shape)")
    x = solve(s.reshape(a, shape=(n, n)), s.reshape(b, shape=(n,)))
    return s.reshape(x, shape=shape)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    a = inexact(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = shape_of(a)
    n = math.prod(shape[ind:])
    return s.reshape(inv(s.reshape(a, shape=(math.prod(shape) // n, n))), shape=shape[ind:] + shape[:ind])


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NOT_GIVEN) -> Any:
    a = matrices(a)
    if rcond is None:
        rcond = 1e-15 if rtol is _NOT_GIVEN else rtol
    elif rtol is not _NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = max(shape_of(a)[-2:]) * float(np.finfo(dtype_of(a)).eps)
    if hermitian:  # one triangle is read
        return pseudo_inverse(m.symmetric_matrix(squares(a), lower=True), rcond, hermitian=True)
    return pseudo_inverse(a, rcond)


def pseudo_inverse(a: Any, rcond: Any, hermitian: bool = False) -> Any:
    """Singular values that are cut off stay so.

    Where they are not zero, the row of `pinv` is not for them: it is of matrices of one rank. What it is then is the
    reciprocal, of the others only, of the matrix [[0, a], [aᴴ, 0]], whose eigenvalues are ± the singular values.
    """
    if not _cuts(a, rcond):
        return l.pinv(a, rcond=rcond, hermitian=hermitian)
    rcond = np.unique(rcond)
    if len(rcond) > 1:
        raise unsupported_option("np.linalg.pinv", "a cut-off for each matrix of a stack", "take one after the other")
    rows, columns = shape_of(a)[-2:]
    lead = shape_of(a)[:-2]
    above, below = [np.zeros((*lead, n, n), dtype_of(a)) for n in (rows, columns)]
    both = m.above(m.beside(above, a), m.beside(m.adjoint(a), below))
    y = matrix_function(both, function=ReciprocalBeyond(float(rcond[0])))
    return index(y, pattern=(..., slice(rows, None), slice(0, rows)))


def _cuts(a: Any, rcond: Any) -> bool:
    """Whether singular values are cut off that are more than the rounding of a zero. (A program cannot know.)"""
    noise = 16 * max(shape_of(a)[-2:], default=0) * float(np.finfo(dtype_of(a)).eps)
    if np.all(np.asarray(rcond) <= noise):
        return False
    if running.state.capture is not None and isinstance(a, Traced):
        return True

    def among(x: Any) -> Any:
        values = np.linalg.svd(x, compute_uv=False)
        top = np.max(values, axis=-1, keepdims=True, initial=0)
        return np.any((values > noise * top) & (values <= np.asarray(rcond)[..., None] * top))

    return bool(np.any(plain(answer(among, a))))


def without_values_cut_off(a: Any, rcond: float) -> Any:
    """The matrix of lower rank that is left."""
    return matmul(a, matmul(pseudo_inverse(a, rcond), a)) if _cuts(a, rcond) else a


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    a, b = matrices(a), inexact(b)
    rows, columns = shape_of(a)
    if rcond is None:
        rcond = float(np.finfo(dtype_of(a)).eps) * max(most(rows), columns)
    return least_squares(a, b, float(rcond), keep_axis=True)


def least_squares(a: Any, b: Any, rcond: float, keep_axis: bool) -> tuple[Any, Any, int, Any]:
    """Solution of least norm, sums of squares (for a vector NumPy's have an axis), rank, singular values."""
    rows, columns = shape_of(a)
    agree(shape_of(b)[:1], (rows,), np.linalg.LinAlgError, "Incompatible dimensions")
    enough: Any = True
    if rows.__class__ is not int:  # zeros below change nothing
        given, rows = known(rows), max(most(rows), columns + 1)
        enough, a, b = e.greater(given, columns), _with_zeros(a, given, rows), _with_zeros(b, given, rows)
    rcond = rcond if 0 < rcond < 1 else float(np.finfo(dtype_of(a)).eps)  # as LAPACK has it
    x = matmul(pseudo_inverse(a, rcond), b)
    values = spectra.svdvals(a)
    rank: Any = 0
    if min(rows, columns):
        counts = e.greater(values, e.multiply(rcond, maximum(values, axis=(0,))))
        rank = s.sum(e.where(counts, 1, 0), axis=(0,))  # (a question might raise, which a `try` would have to know)
        rank = rank if isinstance(rank, Traced) else int(rank)
    if rows <= columns:
        return x, np.empty(0, dtype_of(s.real(b))), rank, values
    size = absolute(b - matmul(a, x))
    squared = s.sum(size * size, axis=(0,), keepdims=keep_axis and ndim_of(b) == 1)
    is_full = e.equal(rank, columns)
    return x, _if_of_full_rank(squared, is_full if enough is True else e.logical_and(is_full, enough)), rank, values


def _with_zeros(x: Any, given: Any, rows: int) -> Any:
    """An array with as many rows, of which those behind the given ones are zero."""
    rest = shape_of(x)[1:]
    is_given = s.reshape(e.less(np.arange(rows), given), shape=(rows, *[1] * len(rest)))
    return e.where(is_given, padded(x, shape=(rows, *rest)), dtype_of(x).type(0))


def _if_of_full_rank(squared: Any, is_full: Any) -> Any:
    """Sums of squares, none if the matrix is not of full rank. Of one that only the running program knows it must be,
    except where their number can be left to it as well."""
    if not isinstance(plain(is_full), Traced):
        return squared if common_answer(bool, is_full) else np.empty(0, dtype_of(squared))
    if shape_of(squared):
        with contextlib.suppress(ConcretizationError):  # not in a batch
            return squared[s.broadcast_to(is_full, shape=shape_of(squared))]
    message = "least squares of deficient rank in a compiled program: use np.linalg.lstsq, without vmap"
    refuse_if(e.logical_not(is_full), UnsupportedFunctionError, message)  # no handler of the user's is meant for that
    return squared


# ------------------------------------------------------------------------------------------------------ determinants


@implements(np.linalg.det)
def det(a: Any) -> Any:
    return l.det(squares(a))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    return _SlogdetResult(*l.slogdet(squares(a)))


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    x = matrices(x)
    if p in (None, 2, -2):
        values = spectra.svdvals(x)
        largest, smallest = (index(values, pattern=(Ellipsis, k)) for k in (0, -1))
        return e.divide(smallest, largest) if p == -2 else e.divide(largest, smallest)
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """An integer, which is locally constant."""
    return answer(lambda x: np.linalg.matrix_rank(x, tol, hermitian, rtol=rtol), A)


# ---------------------------------------------------------------------------------------------------- factorisations


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    a = squares(a)
    return m.adjoint(l.cholesky(m.adjoint(a))) if upper else l.cholesky(a)


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    a = matrices(a)
    if mode not in ("reduced", "complete", "r"):
        raise unsupported_option("np.linalg.qr", f"mode={mode!r}", "use mode='reduced' or 'complete'")
    q, r = reduced_qr(a)
    if mode == "complete":
        q, r = completed_qr(q, r)
    return r if mode == "r" else _QRResult(q, r)


def completed_qr(q: Any, r: Any) -> tuple[Any, Any]:
    """The square q of which the reduced q has the first columns, and r with zeros below.

    LAPACK's q is a product of reflections, q = 1 − y t yᴴ with y unit lower trapezoidal (Schreiber & Van Loan 1989), so
    its last columns are a function of its first ones: q₂ = e₂ + w w₁⁻ᴴ w₂ᴴ with w = q₁ − e₁, w₁ and w₂ being the upper
    square and the rest of w. A reflection that was left out, because its column had nothing to reflect, leaves w₁
    singular; there the factor jumps.
    """
    rows, columns = shape_of(q)[-2:]
    if rows == columns:
        return q, r
    lead, dtype = shape_of(q)[:-2], dtype_of(q)
    w = q - np.eye(rows, columns, dtype=dtype)
    every = slice(None)
    square, rest = m.block(w, slice(0, columns), every), m.block(w, slice(columns, None), every)
    square = e.where(reflecting(square), square, 0)
    last = matmul(w, l.solve(m.adjoint(square), m.adjoint(rest))) + np.eye(rows, dtype=dtype)[:, columns:]
    below = np.zeros((*lead, rows - columns, shape_of(r)[-1]), dtype)
    return m.beside(q, last), m.above(r, below)


def reduced_qr(a: Any) -> tuple[Any, Any]:
    """If there are more columns than rows, the first columns determine q, and the others are qᴴ a."""
    rows, columns = shape_of(a)[-2:]
    if rows >= columns:
        return l.qr(a)
    every = slice(None)
    q, r = l.qr(m.block(a, every, slice(0, rows)))
    return q, m.beside(r, matmul(m.adjoint(q), m.block(a, every, slice(rows, None))))


# ------------------------------------------------------------------------------------ eigenvalues and singular values


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """NumPy reads one triangle; the derivative is that of `eigh((a + aᴴ) / 2)`."""
    return _EighResult(*spectra.eigh(squares(a), lower=_is_lower(UPLO)))


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """NumPy reads one triangle; the derivative is that of `eigvalsh((a + aᴴ) / 2)`."""
    return spectra.eigvalsh(squares(a), lower=_is_lower(UPLO))


def _is_lower(triangle: str) -> bool:
    if triangle.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return triangle.upper() == "L"


ALWAYS_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
"""Whether NumPy gives complex eigenvalues also where all of them are real."""


@implements(np.linalg.eig)
def eig(a: Any, is_complex: bool = ALWAYS_COMPLEX) -> Any:
    return _EigResult(*spectra.eig(squares(a), is_complex=is_complex))


@implements(np.linalg.eigvals)
def eigvals(a: Any, is_complex: bool = ALWAYS_COMPLEX) -> Any:
    return spectra.eigvals(squares(a), is_complex=is_complex)


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    a = matrices(a)
    if hermitian:
        return _svd_of_hermitian(squares(a), compute_uv)
    if not compute_uv:
        return spectra.svdvals(a)
    u, values, vh = spectra.svd(a)
    rows, columns = shape_of(a)[-2:]
    if full_matrices and rows != columns:
        u, vh = _completed_svd(a, u, vh)
    return _SVDResult(u, values, vh)


def _completed_svd(a: Any, u: Any, vh: Any) -> tuple[Any, Any]:
    """The other vectors are any basis of the space that is left: only what does not depend on it has a derivative."""
    if shape_of(a)[-2] > shape_of(a)[-1]:
        return m.beside(u, _complement(lambda x: np.linalg.svd(x)[0], a, m.adjoint(u))), vh
    right = lambda x: np.conj(np.swapaxes(np.linalg.svd(x)[2], -1, -2))
    return u, m.above(vh, m.adjoint(_complement(right, a, vh)))


def _complement(all_vectors: Any, a: Any, rows: Any) -> Any:
    """NumPy's vectors besides those of which the adjoints are rows, or others if null vectors were chosen in turn."""

    def known(x: Any, rows: Any) -> Any:
        rest = all_vectors(x)[..., shape_of(rows)[-2] :]
        if np.all(np.abs(rows @ rest) < 1e-6):
            return rest
        return np.conj(np.swapaxes(np.linalg.svd(rows)[2], -1, -2))[..., shape_of(rows)[-2] :]

    return null_basis(rows, answer(known, a, rows), rcond=1e-8)


def _svd_of_hermitian(a: Any, compute_uv: bool) -> Any:
    """Singular values are the sizes of eigenvalues; their signs go to the right."""
    along = FUNCTIONS[np.take_along_axis]
    if not compute_uv:
        w = spectra.eigvalsh(a, lower=True)
        return absolute(along(w, argsort(-absolute(w), axis=-1), -1))
    w, v = spectra.eigh(a, lower=True)
    order = argsort(-absolute(w), axis=-1)
    w, v = along(w, order, -1), along(v, order[..., None, :], -1)
    return _SVDResult(v, absolute(w), m.adjoint(v * m.row(e.sign(w))))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return spectra.svdvals(matrices(x))
