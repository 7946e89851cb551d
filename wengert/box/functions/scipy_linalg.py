"""scipy.linalg, in ops. SciPy converts what it is given to plain arrays, so these are reached through instrumentation.

Options that concern memory and checks (`overwrite_a`, `check_finite`) stand nowhere: see `dispatch.meaning_of`.
For functions that read one triangle of a symmetric matrix, see Note [One triangle] in `ops/matrices.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from wengert.box.dispatch import implements_blind
from wengert.box.functions import linalg
from wengert.box.functions.elementwise import is_complex
from wengert.box.functions.linalg import by_columns, matrices, squares
from wengert.box.functions.norms import norm as _norm
from wengert.box.functions.operands import answer, array, cast, common_answer, inexact, join, pick, unsupported_option
from wengert.box.functions.stacks import VECTOR_OR_MATRIX, over_stacks
from wengert.ops import linalg as l
from wengert.ops import matrices as m
from wengert.ops import matrix_functions as f
from wengert.ops import shape as s
from wengert.ops import spectra
from wengert.ops.index import index
from wengert.ops.products import matmul
from wengert.types import dtype_of, ndim_of, shape_of

# ---------------------------------------------------------------------------------------------------- linear systems


def _structured(a: Any, assume_a: Any, lower: bool) -> Any:
    """The matrix that is meant, if SciPy is told to read a part of it only."""
    kind = assume_a or "general"
    if kind in ("sym", "symmetric", "her", "hermitian", "pos", "positive definite"):
        return m.symmetric_matrix(a, lower, hermitian=not kind.startswith("sym"))
    n = shape_of(a)[-1]
    below, above = np.tri(n, dtype=bool), np.tri(n, dtype=bool).T
    parts = {
        "diagonal": below & above,
        "tridiagonal": np.tri(n, k=1, dtype=bool) & np.tri(n, k=1, dtype=bool).T,
        "lower triangular": below,
        "upper triangular": above,
    }
    if kind in parts:
        return m.masked(a, parts[kind])
    if kind not in ("general", "gen", "banded"):
        raise ValueError(f"{kind} is not a recognized matrix structure")
    return a


@implements_blind(scipy.linalg.solve)
def solve(a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False) -> Any:
    a, b = _structured(squares(a), assume_a, lower), inexact(b)
    if transposed:
        if is_complex(a):
            raise NotImplementedError("scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex")
        a = m.swapped(a)
    if assume_a in ("pos", "positive definite"):
        factor = l.cholesky(a)
        return by_columns(lambda columns: _cho_solve(factor, columns), b)
    return by_columns(lambda columns: l.solve_once(a, columns), b)


@implements_blind(scipy.linalg.inv)
def inv(a: Any, *, assume_a: Any = None, lower: bool = False) -> Any:
    return l.inv(_structured(squares(a), assume_a, lower))


@implements_blind(scipy.linalg.det)
def det(a: Any) -> Any:
    return l.det(squares(a))


@implements_blind(scipy.linalg.solve_triangular)
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    a, b = squares(a), inexact(b)
    if trans in (1, "T", 2, "C"):
        a, lower = (m.swapped(a) if trans in (1, "T") else m.adjoint(a)), not lower
    return by_columns(lambda columns: _triangular(a, columns, lower, unit_diagonal), b)


def _triangular(a: Any, b: Any, lower: bool, unit: bool = False) -> Any:
    return l.solve_triangular(a, b, lower=bool(lower), unit=bool(unit))


@implements_blind(scipy.linalg.solve_banded)
@over_stacks(ab=2, b=VECTOR_OR_MATRIX)
def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Any:
    """In time proportional to the size of the matrix, the derivatives too."""
    below, above = (int(k) for k in l_and_u)
    ab, b = inexact(ab), inexact(b)
    if shape_of(ab)[-1] != shape_of(b)[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    if below + above + 1 != shape_of(ab)[0]:
        raise ValueError(f"invalid values for the number of lower and upper diagonals: l+u+1 ({below + above + 1})")
    return by_columns(lambda columns: l.solve_banded(ab, columns, l=below, u=above), b)


@implements_blind(scipy.linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any) -> Any:
    """By the whole matrix, in cubic time."""
    c, r = c_or_cr if c_or_cr.__class__ is tuple else (c_or_cr, None)
    matrix, b = toeplitz(c, r), inexact(b)
    columns = s.reshape(b, shape=(shape_of(b)[0], -1 if 0 in shape_of(b) else int(np.prod(shape_of(b)[1:]))))
    return s.reshape(l.solve(matrix, columns), shape=shape_of(b))


@implements_blind(scipy.linalg.pinv)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False) -> Any:
    a = matrices(a)
    if rtol is None:
        rtol = max(shape_of(a)[-2:]) * float(np.finfo(dtype_of(a)).eps)
    values = answer(lambda x: np.linalg.svd(x, compute_uv=False), a)
    if atol:
        top = np.max(values, axis=-1, initial=0)
        rtol = rtol + atol / np.where(top > 0, top, 1)
    y = linalg.pseudo_inverse(a, rtol)
    return (y, np.sum(values > rtol * np.max(values, initial=0))) if return_rank else y


@implements_blind(scipy.linalg.lstsq)
@over_stacks(a=2, b=VECTOR_OR_MATRIX)
def lstsq(a: Any, b: Any, cond: Any = None, lapack_driver: Any = None) -> Any:
    a, b = matrices(a), inexact(b)
    cutoff = float(np.finfo(dtype_of(a)).eps) if cond is None else float(cond)
    x, squared, rank, values = linalg.least_squares(a, b, cutoff, keep_axis=False)
    return x, squared, rank, None if lapack_driver == "gelsy" else values


# ---------------------------------------------------------------------------------------------------- factorisations


@implements_blind(scipy.linalg.cholesky)
def cholesky(a: Any, lower: bool = False) -> Any:
    return linalg.cholesky(a, upper=not lower)


@implements_blind(scipy.linalg.cho_factor)
def cho_factor(a: Any, lower: bool = False) -> Any:
    """The other triangle, in which SciPy leaves arbitrary numbers, is zero."""
    return cholesky(a, lower), lower


@implements_blind(scipy.linalg.cho_solve)
def cho_solve(c_and_lower: Any, b: Any) -> Any:
    c, lower = c_and_lower
    c = squares(c)
    factor = c if lower else m.adjoint(c)
    return by_columns(lambda columns: _cho_solve(factor, columns), inexact(b))


def _cho_solve(factor: Any, b: Any) -> Any:
    return _triangular(m.adjoint(factor), _triangular(factor, b, True), False)


@implements_blind(scipy.linalg.lu)
def lu(a: Any, permute_l: bool = False, p_indices: bool = False) -> Any:
    p, lower, upper = l.lu(matrices(a))
    if permute_l:
        return matmul(p, lower), upper
    return (answer(lambda x: np.argmax(x, axis=-1), p) if p_indices else p), lower, upper


@implements_blind(scipy.linalg.lu_factor)
def lu_factor(a: Any) -> Any:
    a = matrices(a)
    _, lower, upper = l.lu(a)
    rows, columns = shape_of(a)[-2:]
    lower = m.lower_part(lower, -1)
    if rows > columns:
        upper = m.above(upper, np.zeros((*shape_of(a)[:-2], rows - columns, columns), dtype_of(a)))
    elif columns > rows:
        lower = m.beside(lower, np.zeros((*shape_of(a)[:-2], rows, columns - rows), dtype_of(a)))
    return lower + upper, answer(lambda x: scipy.linalg.lu_factor(x, check_finite=False)[1], a)


def _order(pivots: np.ndarray) -> np.ndarray:
    """The order of rows after they have changed places one by one."""
    order = np.arange(len(pivots))
    for k, pivot in enumerate(pivots % max(len(pivots), 1)):
        order[[k, pivot]] = order[[pivot, k]]
    return order


@implements_blind(scipy.linalg.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0) -> Any:
    factors, pivots = lu_and_piv
    factors, b = squares(factors), inexact(b)
    if ndim_of(factors) > 2 or ndim_of(b) > 2:
        raise unsupported_option("scipy.linalg.lu_solve", "stacks of matrices", "use np.linalg.solve")
    if all(n.__class__ is int and n != shape_of(factors)[-1] for n in shape_of(b)[:1]):
        raise ValueError(f"Shapes of lu {shape_of(factors)} and b {shape_of(b)} are incompatible")
    order = answer(_order, pivots)

    def solver(columns: Any) -> Any:
        if trans == 0:
            return _triangular(factors, _triangular(factors, pick(columns, order), True, unit=True), False)
        turned = m.swapped(factors) if trans == 1 else m.adjoint(factors)
        back = answer(np.argsort, order)
        return pick(_triangular(turned, _triangular(turned, columns, True), False, unit=True), back)

    return by_columns(solver, b)


@implements_blind(scipy.linalg.qr)
def qr(a: Any, mode: str = "full", pivoting: bool = False) -> Any:
    a = matrices(a)
    rows, columns = shape_of(a)[-2:]
    if mode not in ("full", "r", "economic"):
        raise unsupported_option("scipy.linalg.qr", f"mode={mode!r}", "use mode='economic' or 'full'")
    order: tuple[Any, ...] = ()
    if pivoting:
        if ndim_of(a) > 2:
            raise unsupported_option("scipy.linalg.qr", "pivoting of stacks", "factorise one matrix after the other")
        order = (answer(lambda x: scipy.linalg.qr(x, mode="r", pivoting=True)[1], a),)
        a = pick(a, order[0], 1)
    q, r = linalg.reduced_qr(a)
    if mode == "r":
        if rows > columns:
            r = m.above(r, np.zeros((*shape_of(a)[:-2], rows - columns, columns), dtype_of(a)))
        return (r, *order)
    if mode == "full":
        q, r = linalg.completed_qr(q, r)
    return (q, r, *order)


@implements_blind(scipy.linalg.polar)
def polar(a: Any, side: str = "right") -> Any:
    """Of matrices of full rank, also with repeated singular values."""
    a = matrices(a)
    if side not in ("left", "right"):
        raise ValueError("`side` must be either 'right' or 'left'")
    rows, columns = shape_of(a)[-2:]
    if rows >= columns:
        u, p = f.polar(a)
        at_right = True
    else:
        u, p = f.polar(m.adjoint(a))
        u, at_right = m.adjoint(u), False
    if at_right != (side == "right"):  # u p = (u p uᴴ) u
        p = matmul(u, matmul(p, m.adjoint(u))) if at_right else matmul(m.adjoint(u), matmul(p, u))
    return u, p


# ------------------------------------------------------------------------------------ eigenvalues and singular values


@implements_blind(scipy.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return linalg.svd(a, full_matrices, compute_uv)


@implements_blind(scipy.linalg.svdvals)
def svdvals(a: Any) -> Any:
    return spectra.svdvals(matrices(a))


@implements_blind(scipy.linalg.eigh)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    a = squares(a)
    if b is not None and type != 1:
        w, v = _eigh_of_product(a, squares(b), bool(lower), type)
    elif b is not None:
        w, v = spectra.eigh_generalized(a, squares(b), lower=bool(lower))
    elif eigvals_only:
        w, v = spectra.eigvalsh(a, lower=bool(lower)), None
    else:
        w, v = spectra.eigh(a, lower=bool(lower), driver=driver or "evr")
    if subset_by_index is not None:
        first, last = subset_by_index
        chosen = (Ellipsis, slice(int(first), int(last) + 1))
        w, v = index(w, pattern=chosen), None if v is None else index(v, pattern=chosen)
    if subset_by_value is not None:
        low, high = subset_by_value
        if ndim_of(w) > 1:
            raise unsupported_option("scipy.linalg.eigh", "subset_by_value= of stacks", "take one after the other")
        chosen = (Ellipsis, inside_interval(w, low, high))
        w, v = index(w, pattern=chosen), None if v is None else index(v, pattern=chosen)
    return w if eigvals_only else (w, v)


def inside_interval(w: Any, low: Any, high: Any) -> slice:
    """Where ascending values lie in an interval that is open below and closed above."""
    first, last = (common_answer(lambda x, end=end: int(np.sum(x <= end)), w) for end in (low, high))
    return slice(first, max(first, last))


def _eigh_of_product(a: Any, b: Any, lower: bool, type: int) -> tuple[Any, Any]:
    """a b v = w v (type 2) or b a v = w v (type 3): with b = l lᴴ, both have the eigenvalues of lᴴ a l."""
    if type not in (2, 3):
        raise ValueError(f'"type" keyword only accepts 1, 2, and 3, not {type}')
    factor = l.cholesky(m.symmetric_matrix(b, lower))
    w, v = spectra.eigh(matmul(m.adjoint(factor), matmul(m.symmetric_matrix(a, lower), factor)), lower=True)
    if type == 3:
        return w, matmul(factor, v)
    return w, _triangular(m.adjoint(factor), v, False)


@implements_blind(scipy.linalg.eigvalsh)
def eigvalsh(a: Any, b: Any = None, **options: Any) -> Any:
    return eigh(a, b, eigvals_only=True, **options)


@implements_blind(scipy.linalg.eig)
def eig(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    homogeneous_eigvals: bool = False,
    *,
    is_complex: bool = False,
) -> Any:
    if b is not None or left or homogeneous_eigvals:
        raise unsupported_option("scipy.linalg.eig", "b=, left= or homogeneous_eigvals=", "use eig(inv(b) @ a)")
    if not right:
        return eigvals(a)
    w, v = spectra.eig(squares(a), is_complex=is_complex)
    return _complex(w), v


@implements_blind(scipy.linalg.eigvals)
def eigvals(a: Any, b: Any = None, homogeneous_eigvals: bool = False) -> Any:
    if b is not None or homogeneous_eigvals:
        raise unsupported_option("scipy.linalg.eigvals", "b= or homogeneous_eigvals=", "use eigvals(inv(b) @ a)")
    return spectra.eigvals(squares(a), is_complex=True)


def _complex(x: Any) -> Any:
    return cast(x, np.result_type(dtype_of(x), np.complex64))


@implements_blind(scipy.linalg.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return _norm(a, ord, axis, keepdims)


# -------------------------------------------------------------------------------------------------- matrix functions


@implements_blind(scipy.linalg.expm)
def expm(A: Any) -> Any:
    return f.expm(squares(A))


@implements_blind(scipy.linalg.logm)
def logm(A: Any, disp: Any = True) -> Any:
    _reject_disp("logm", disp)
    return f.logm(squares(A))


@implements_blind(scipy.linalg.sqrtm)
def sqrtm(A: Any, disp: Any = True, blocksize: Any = None) -> Any:
    _reject_disp("sqrtm", disp)
    return f.sqrtm(squares(A))


def _reject_disp(name: str, disp: Any) -> None:
    if disp is False:
        raise unsupported_option(f"scipy.linalg.{name}", "disp=False", "leave it out")


@implements_blind(scipy.linalg.expm_frechet)
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: bool = True) -> Any:
    A, E = squares(A), squares(E)
    derivative = f.expm_frechet(A, E)
    return (f.expm(A), derivative) if compute_expm else derivative


@implements_blind(scipy.linalg.solve_sylvester)
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    return f.sylvester(squares(a), squares(b), matrices(q))


@implements_blind(scipy.linalg.solve_continuous_lyapunov, scipy.linalg.solve_lyapunov)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    a = squares(a)
    return f.sylvester(a, m.adjoint(a), squares(q))


@implements_blind(scipy.linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Any:
    """x = a x aᴴ + q, by one linear system or by a bilinear transformation to the continuous equation, as in SciPy."""
    a, q = squares(a), squares(q)
    n = shape_of(a)[-1]
    if method is None:
        method = "direct" if n < 10 else "bilinear"
    eye = np.eye(n, dtype=dtype_of(a))
    if method == "direct":
        conj = m.conj(a)
        lead = shape_of(a)[:-2]
        spread = s.reshape(a, shape=(*lead, n, 1, n, 1)) * s.reshape(conj, shape=(*lead, 1, n, 1, n))
        system = np.eye(n * n, dtype=dtype_of(a)) - s.reshape(spread, shape=(*lead, n * n, n * n))
        x = l.solve(system, s.reshape(q, shape=(*shape_of(q)[:-2], n * n, 1)))
        return s.reshape(x, shape=(*shape_of(x)[:-2], n, n))
    if method != "bilinear":
        raise ValueError(f"Unknown solver {method}")
    turned = m.adjoint(a)
    inverse = l.inv(turned + eye)
    b = matmul(turned - eye, inverse)
    c = matmul(l.solve(a + eye, q), inverse) * 2
    return f.sylvester(m.adjoint(b), b, -c)


# ------------------------------------------------------------------------------------------------ matrices of a pattern


def _vector(x: Any) -> Any:
    x = array(x)
    return x if ndim_of(x) == 1 else s.reshape(x, shape=(int(np.prod(shape_of(x))),))


@implements_blind(scipy.linalg.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Any:
    return (_toeplitzes if _STACKS else _toeplitz)(c, r)


def _toeplitz(c: Any, r: Any = None) -> Any:
    c = _vector(c)
    r = m.conj(c) if r is None else _vector(r)
    rows, columns = shape_of(c)[0], shape_of(r)[0]
    along = join([s.flip(c, axis=(0,)), index(r, pattern=(slice(1, None),))], 0)
    return pick(along, rows - 1 - np.arange(rows)[:, None] + np.arange(columns))


_toeplitzes = over_stacks(c=1, r=1)(_toeplitz)
_STACKS = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
"""Whether SciPy takes arrays for stacks of sequences; before, it took them for one."""


@implements_blind(scipy.linalg.hankel)
def hankel(c: Any, r: Any = None) -> Any:
    c = _vector(c)
    r = np.zeros(shape_of(c), dtype_of(c)) if r is None else _vector(r)
    along = join([c, index(r, pattern=(slice(1, None),))], 0)
    return pick(along, np.arange(shape_of(c)[0])[:, None] + np.arange(shape_of(r)[0]))


@implements_blind(scipy.linalg.circulant)
def circulant(c: Any) -> Any:
    c = array(c)
    c = c if ndim_of(c) else _vector(c)
    n = shape_of(c)[-1]
    return pick(c, (np.arange(n)[:, None] - np.arange(n)) % n, ndim_of(c) - 1)


@implements_blind(scipy.linalg.block_diag)
def block_diag(*arrs: Any) -> Any:
    blocks = []
    for a in arrs:
        a = array(a)
        if ndim_of(a) > 2:
            raise unsupported_option(
                "scipy.linalg.block_diag", "stacks of matrices", "join one example after the other"
            )
        shape = shape_of(a)
        blocks.append(s.reshape(a, shape=(1,) * (2 - len(shape)) + shape))
    if not blocks:
        return scipy.linalg.block_diag()
    dtype = np.result_type(*[dtype_of(b) for b in blocks])
    width, start, rows = sum(shape_of(b)[1] for b in blocks), 0, []
    for b in blocks:
        height, stop = shape_of(b)[0], start + shape_of(b)[1]
        left, right = (np.zeros((height, k), dtype) for k in (start, width - stop))
        rows.append(join([left, b, right], 1))
        start = stop
    return join(rows, 0)
