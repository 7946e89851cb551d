"""scipy.linalg's systems with a structure: symmetric bands, circulant matrices, Riccati's equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from wengert.box.dispatch import implements_blind
from wengert.box.functions.elementwise import is_complex
from wengert.box.functions.linalg import by_columns, cholesky, pseudo_inverse, squares
from wengert.box.functions.operands import answer, inexact, join, pick, unsupported_option
from wengert.box.functions.scipy_linalg import circulant, inside_interval
from wengert.box.functions.stacks import VECTOR_OR_MATRIX, over_stacks
from wengert.ops import linalg as l
from wengert.ops import matrices as m
from wengert.ops import riccati, spectra
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.products import matmul
from wengert.types import dtype_of, ndim_of, shape_of

# --------------------------------------------------------------------------------------------------- symmetric bands


def _positions(u: int, n: int, lower: bool) -> np.ndarray:
    """Where in a band of u + 1 diagonals, seen as a sequence, elements of the matrix stand; elsewhere its length."""
    i, j = np.indices((n, n))
    distance = i - j if lower else j - i
    found = (distance if lower else u - distance) * n + j
    return np.where((distance >= 0) & (distance <= u), found, (u + 1) * n)


def _from_band(ab: Any, lower: bool) -> Any:
    """The matrix of which a band is given; the other triangle is its conjugate."""
    ab = inexact(ab)
    rows, n = shape_of(ab)
    flat = join([s.reshape(ab, shape=(rows * n,)), np.zeros(1, dtype_of(ab))], 0)
    triangle = pick(flat, _positions(rows - 1, n, lower))
    strict = m.lower_part(triangle, -1) if lower else m.upper_part(triangle, 1)
    diagonal = m.masked(triangle, np.eye(n, dtype=bool))
    if is_complex(ab):
        diagonal = m.hermitian_part(diagonal)
    return strict + m.adjoint(strict) + diagonal


def _to_band(a: Any, u: int, lower: bool) -> Any:
    """The diagonals of a triangle; zeros where the band leaves the matrix."""
    n = shape_of(a)[0]
    k, j = np.indices((u + 1, n))
    i = j + k if lower else j + k - u
    inside = (i >= 0) & (i < n)
    flat = join([s.reshape(a, shape=(n * n,)), np.zeros(1, dtype_of(a))], 0)
    return pick(flat, np.where(inside, np.clip(i, 0, n - 1) * n + j, n * n))


@implements_blind(scipy.linalg.cholesky_banded)
@over_stacks(ab=2)
def cholesky_banded(ab: Any, lower: bool = False) -> Any:
    """By the whole matrix, in cubic time. Outside of the matrix, where SciPy leaves what it was given, are zeros."""
    ab = inexact(ab)
    factor = cholesky(_from_band(ab, lower), upper=not lower)
    outside = _to_band(np.ones((shape_of(ab)[1],) * 2), shape_of(ab)[0] - 1, lower) == 0
    return _to_band(factor, shape_of(ab)[0] - 1, lower) + m.masked(ab, outside)


def _with_both_triangles(ab: Any, lower: bool) -> Any:
    """A symmetric band as one with as many diagonals below as above."""
    u, n = shape_of(ab)[0] - 1, shape_of(ab)[1]
    k, j = np.indices((2 * u + 1, n))
    i = j + k - u  # a[i, j] stands at [u + i − j, j]
    given = (i >= j) if lower else (i <= j)
    row, col = np.where(given, i, j), np.where(given, j, i)
    inside = (i >= 0) & (i < n)
    place = np.where(inside, (row - col if lower else u + row - col) * n + col, (u + 1) * n)
    flat = join([s.reshape(ab, shape=((u + 1) * n,)), np.zeros(1, dtype_of(ab))], 0)
    band = pick(flat, place)
    if not is_complex(ab):
        return band
    other = m.conj(band)
    return m.masked(band, given & (i != j)) + m.masked(other, ~given) + m.masked((band + other) * 0.5, i == j)


@implements_blind(scipy.linalg.solveh_banded)
@over_stacks(ab=2, b=VECTOR_OR_MATRIX)
def solveh_banded(ab: Any, b: Any, lower: bool = False) -> Any:
    """In time proportional to the size of the matrix, the derivatives too."""
    ab, b = inexact(ab), inexact(b)
    u = shape_of(ab)[0] - 1
    whole = _with_both_triangles(ab, lower)
    return by_columns(lambda columns: l.solve_banded(whole, columns, l=u, u=u), b)


@implements_blind(scipy.linalg.cho_solve_banded)
def cho_solve_banded(cb_and_lower: Any, b: Any) -> Any:
    cb, lower = cb_and_lower
    cb, b = inexact(cb), inexact(b)
    u, n = shape_of(cb)[0] - 1, shape_of(cb)[1]
    flat = join([s.reshape(cb, shape=((u + 1) * n,)), np.zeros(1, dtype_of(cb))], 0)
    k, j = np.indices((u + 1, n))
    i = (
        j + k - u if lower else j + k
    )  # rows of the adjoint, whose band lies on the other side: there stands conj [j, i]
    inside = (i >= 0) & (i < n)
    place = (j - i if lower else u + j - i) * n + i
    own, turned = cb, m.conj(pick(flat, np.where(inside, place, (u + 1) * n)))
    first, second = (own, turned) if lower else (turned, own)

    def solver(columns: Any) -> Any:
        y = l.solve_banded(first, columns, l=u, u=0)
        return l.solve_banded(second, y, l=0, u=u)

    return by_columns(solver, b)


# ------------------------------------------------------------------------------------------- spectra of symmetric bands


def _selected(w: Any, v: Any, select: Any, select_range: Any) -> tuple[Any, Any]:
    if select in ("a", "all", 0):
        return w, v
    if select in ("i", "index", 2):
        first, last = (int(k) for k in select_range)
        chosen = slice(first, last + 1)
    elif select in ("v", "value", 1):
        chosen = inside_interval(w, *select_range)
    else:
        raise ValueError("invalid argument for select")
    return index(w, pattern=(chosen,)), None if v is None else index(v, pattern=(slice(None), chosen))


def aligned(v: Any, reference: Any) -> Any:
    """Vectors with the signs (or phases) of others that are the same but for these; the factors are constants."""

    def factors(ours: Any, theirs: Any) -> Any:
        along = np.sum(np.conj(ours) * theirs, axis=-2, keepdims=True)
        size = np.abs(along)
        return np.where(size > 0.5, along / np.where(size > 0, size, 1), 1)

    return v * answer(factors, v, reference)


def _spectrum(a: Any, only_values: bool, theirs: Any, select: Any, select_range: Any, *operands: Any) -> Any:
    if only_values:
        return _selected(spectra.eigvalsh(a, lower=True), None, select, select_range)[0]
    w, v = _selected(*spectra.eigh(a, lower=True), select, select_range)
    return w, aligned(v, answer(theirs, *operands))


@implements_blind(scipy.linalg.eigh_tridiagonal)
@over_stacks(d=1, e=1)
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: bool = False,
    select: Any = "a",
    select_range: Any = None,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """By the whole matrix, in cubic time."""
    d, e = inexact(d), inexact(e)
    n = shape_of(d)[0]
    band = join([s.reshape(d, shape=(1, n)), s.reshape(join([e, np.zeros(1, dtype_of(e))], 0), shape=(1, n))], 0)
    theirs = lambda d, e: scipy.linalg.eigh_tridiagonal(d, e, False, select, select_range, lapack_driver=lapack_driver)[
        1
    ]
    return _spectrum(_from_band(band, True), eigvals_only, theirs, select, select_range, d, e)


@implements_blind(scipy.linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, *args: Any, **options: Any
) -> Any:
    return eigh_tridiagonal(d, e, True, select, select_range)


@implements_blind(scipy.linalg.eig_banded)
@over_stacks(a_band=2)
def eig_banded(
    a_band: Any,
    lower: bool = False,
    eigvals_only: bool = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: int = 0,
) -> Any:
    """By the whole matrix, in cubic time."""
    theirs = lambda a: scipy.linalg.eig_banded(a, lower, False, False, select, select_range, max_ev)[1]
    return _spectrum(_from_band(a_band, lower), eigvals_only, theirs, select, select_range, a_band)


@implements_blind(scipy.linalg.eigvals_banded)
def eigvals_banded(a_band: Any, lower: bool = False, select: Any = "a", select_range: Any = None) -> Any:
    return eig_banded(a_band, lower, True, select, select_range)


# ------------------------------------------------------------------------------------------------- circulant matrices


@implements_blind(scipy.linalg.solve_circulant)
def solve_circulant(
    c: Any,
    b: Any,
    singular: str = "raise",
    tol: Any = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> Any:
    c, b = inexact(c), inexact(b)
    if ndim_of(c) != 1 or (baxis, outaxis) != (0, 0):
        raise unsupported_option("scipy.linalg.solve_circulant", "stacks, caxis=, baxis=, outaxis=", "use moveaxis")
    matrix = circulant(c)
    n = shape_of(c)[0]
    columns = s.reshape(b, shape=(n, int(np.prod(shape_of(b)[1:]))))
    if singular == "lstsq":
        rcond = float(np.finfo(dtype_of(c)).eps) * n if tol is None else float(tol)
        x = matmul(pseudo_inverse(matrix, rcond), columns)
    else:
        x = l.solve(matrix, columns)
    return s.reshape(x, shape=shape_of(b))


# ------------------------------------------------------------------------------------------------- Riccati's equations


def _riccati(row: Any, original: Any, a: Any, b: Any, q: Any, r: Any, e: Any, cross: Any, balanced: bool) -> Any:
    if e is not None:
        raise unsupported_option(
            f"scipy.linalg.{original.__name__}", "e=", "give it inv(e) @ a and inv(e) @ b, and multiply the solution"
        )
    a, b, q, r = squares(a), inexact(b), squares(q), squares(r)
    if cross is not None:  # the cross term goes into a and q
        cross = inexact(cross)
        turned = l.solve(r, m.adjoint(cross))
        a, q = a - matmul(b, turned), m.hermitian_part(q - matmul(cross, turned))
    return row(a, b, q, r, balanced=bool(balanced))


@implements_blind(scipy.linalg.solve_continuous_are)
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    return _riccati(riccati.continuous_riccati, scipy.linalg.solve_continuous_are, a, b, q, r, e, s, balanced)


@implements_blind(scipy.linalg.solve_discrete_are)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    return _riccati(riccati.discrete_riccati, scipy.linalg.solve_discrete_are, a, b, q, r, e, s, balanced)
