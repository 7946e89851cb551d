"""Rows for sparse matrices: products with a constant one, and linear systems.

`sparse_matmul(x, matrix=A)` is A·x for a matrix of scipy.sparse that is constant, so it is linear, and its transpose is
the product with Aᵀ. `sparse_solve(data, b, rows=…, columns=…)` solves A·x = b where `data` are the entries of A at
(rows, columns), entries at one place adding up; the places are structure, the entries have derivatives:

    x_dot = A⁻¹ (b_dot − A_dot · x)
"""

from __future__ import annotations

import importlib
import math
import threading
import warnings
from typing import Any

import numpy as np
import scipy.sparse

from wengert.errors import UnsupportedFunctionError
from wengert.ops import interval_systems
from wengert.ops.derive import general, linear, unfit
from wengert.ops.enclosures import composed
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.library import is_foreign
from wengert.ops.shape import broadcast_to, concatenate, reshape, transpose
from wengert.ops.traits import MORE, NEVER
from wengert.types import dtype_of, ndim_of, shape_of


def _swapped(x: Any) -> Any:
    """The hidden axis in front of a vector or matrix moved behind its rows, and back."""
    return transpose(x, axes=(1, 0, *range(2, ndim_of(x))))


def _as_columns(op: Any, x: Any) -> Any:
    """An operator on the first axis applied to all examples at once: they are more columns."""
    shape = shape_of(x)
    columns = reshape(_swapped(x), shape=(shape[1], math.prod(shape[:1] + shape[2:])))
    y = op(columns)
    return _swapped(reshape(y, shape=(shape_of(y)[0], shape[0], *shape[2:])))


# ----------------------------------------------------------------------------------------------------------- products


_SMALL = 1 << 20
"""Constant matrices of so many entries at most are written out for arrays of other libraries."""


def _sparse_matmul(x: Any, matrix: Any) -> Any:
    if is_foreign(x) and math.prod(matrix.shape) <= _SMALL:
        return np.matmul(np.asarray(matrix.toarray(), like=x), x)
    if not isinstance(x, (np.ndarray, np.generic)):
        raise UnsupportedFunctionError(
            f"a sparse matrix times a {type(x).__name__}", remedy="use NumPy arrays with scipy.sparse matrices"
        )
    return np.asarray(matrix @ x)


def _sparse_matmul_links(active: Any, args: tuple, shape: tuple, params: dict) -> tuple:
    entries = params["matrix"].tocoo()
    columns = math.prod(shape[1:])
    each = np.arange(columns)
    return tuple([(places[:, None].astype(np.int64) * columns + each).ravel() for places in (entries.row, entries.col)])


def _entry_by_entry(x: Any, matrix: Any) -> Any:
    entries = matrix.tocoo()
    return product(entries.data, x, entries.row, entries.col, matrix.shape[0])


sparse_matmul = linear(
    "sparse_matmul",
    _sparse_matmul,
    lambda ct, x, matrix: unfit(sparse_matmul(ct, matrix=matrix.T), x.shape, x.dtype),
    batch=lambda args, mapped, params: _as_columns(lambda x: sparse_matmul(x, **params), args[0]),
    shape=lambda x, matrix: (matrix.shape[0], *x.shape[1:]),
    dtype=lambda x, matrix: np.result_type(matrix.dtype, dtype_of(x)),
    raises=NEVER,
    cost=MORE,
    links=_sparse_matmul_links,
    bounds=composed(_entry_by_entry),
)

# ------------------------------------------------------------------------------------------------------------- systems


class _Factors(threading.local):
    """The factors of the matrix that was used last in a thread: Newton's method, the stages of an implicit step and
    their derivatives solve several systems with one matrix, or its transpose, one after the other."""

    key: tuple[np.ndarray, ...] = ()
    factors: Any = None


_last = _Factors()


def _same(xs: tuple, ys: tuple) -> bool:
    """The same bytes, so that neither signs of zeros nor NaNs matter."""
    return len(xs) == len(ys) and all(
        x is y or (x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes())
        for x, y in zip(xs, ys, strict=True)
    )


def _factors(data: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: int) -> tuple[Any, str]:
    """Factors of a matrix or of its transpose, and which of them."""
    if _last.factors is not None and _last.factors.shape[0] == n:
        for key, which in (((data, rows, columns), "N"), ((data, columns, rows), "T")):
            if _same(_last.key, key):
                return _last.factors, which
    _last.key, _last.factors = (), None  # two at once may be more than fits into memory
    matrix = scipy.sparse.csc_matrix((data, (rows, columns)), shape=(n, n))
    # Minimum degree on the pattern itself fills in less than on that of AᵀA, where little is gained by other pivots.
    pattern = scipy.sparse.csc_matrix((np.ones(matrix.nnz, bool), matrix.indices, matrix.indptr), shape=(n, n))
    order = "COLAMD" if (pattern != pattern.T).nnz else "MMD_AT_PLUS_A"
    factors = importlib.import_module("scipy.sparse.linalg").splu(matrix, permc_spec=order)
    _last.key, _last.factors = (data.copy(), rows, columns), factors
    return factors, "N"


def _sparse_solve(data: Any, b: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    dtype = np.result_type(data, b, np.float32)
    try:
        factors, which = _factors(np.asarray(data, dtype), rows, columns, shape_of(b)[0])
    except RuntimeError:  # as spsolve does
        category = importlib.import_module("scipy.sparse.linalg").MatrixRankWarning
        warnings.warn("Matrix is exactly singular", category, stacklevel=2)
        return np.full(shape_of(b), np.nan, dtype)
    return factors.solve(np.asarray(b, dtype), which)


def product(data: Any, x: Any, rows: np.ndarray, columns: np.ndarray, size: int) -> Any:
    """The product of a matrix with these entries, and `size` rows, with a vector or the columns of a matrix."""
    picked = index(x, columns, pattern=(ARRAY,))
    if ndim_of(x) == 2:
        data = reshape(data, shape=(*shape_of(data), 1))
    return scatter(data * picked, rows, patterns=((ARRAY,),), shape=(size, *shape_of(x)[1:]))


def _solve_in_data(data_dot: Any, x: Any, data: Any, b: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    return sparse_solve(data, -product(data_dot, x, rows, columns, shape_of(x)[0]), rows=rows, columns=columns)


def _solve_transposed(ct: Any, data: Any, b: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    return unfit(sparse_solve(data, ct, rows=columns, columns=rows), b.shape, b.dtype)


def _batch_solve(args: Any, mapped: Any, params: dict) -> Any:
    data, b = args
    if not mapped[0]:
        return _as_columns(lambda columns: sparse_solve(data, columns, **params), b)
    size = shape_of(data)[0]
    if not mapped[1]:
        b = broadcast_to(b, shape=(size, *shape_of(b)))
    one_by_one = [sparse_solve(index(data, pattern=(k,)), index(b, pattern=(k,)), **params)[None] for k in range(size)]
    return concatenate(*one_by_one, axis=0)


sparse_solve = general(
    "sparse_solve",
    _sparse_solve,
    (
        _solve_in_data,
        lambda b_dot, x, data, b, rows, columns: sparse_solve(data, b_dot, rows=rows, columns=columns),
    ),
    transposes={1: _solve_transposed},
    batch=_batch_solve,
    shape=lambda data, b, rows, columns: b.shape,
    ordered=False,
    raises=NEVER,
    cost=MORE,
    solves=True,
    bounds=interval_systems.sparse_solve,
)
