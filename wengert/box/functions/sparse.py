"""Matrices of scipy.sparse: constant ones in products, and ones whose entries are traced.

A constant sparse matrix that meets a traced value in `A @ x`, `x @ A`, `A.dot(x)` or `c * A` hands over to the traced
value (`Box.__array__` and the table `OPERANDS` in `dispatch.py` see to that); the product is the op `sparse_matmul`.

A matrix that is built from traced entries is a `SparseMatrix`: rows, columns and entries, with the operations that
differentiated functions need. `spsolve` takes both kinds.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse

from wengert.box.dispatch import CALLERS, DEFERRING, OPERANDS, implements_blind
from wengert.box.functions.operands import array, cast, join
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.sparse import product, sparse_matmul, sparse_solve
from wengert.types import dtype_of, ndim_of, shape_of


class SparseMatrix:
    """A sparse matrix with traced entries, in coordinate form; entries at one place add up."""

    __array_priority__ = 1001.0
    __array_ufunc__ = None

    def __init__(self, data: Any, rows: Any, columns: Any, shape: Any, star_is_matmul: bool = False):
        self.data = data
        self.rows = np.asarray(rows)
        self.columns = np.asarray(columns)
        self.shape = (int(shape[0]), int(shape[1]))
        self.star_is_matmul = star_is_matmul
        """Of classes `…_matrix`; of classes `…_array`, * is elementwise."""

    ndim = 2

    def __repr__(self) -> str:
        kind = type(self.data).__name__
        return f"<sparse matrix of shape {self.shape} with {self.nnz} entries, which are in .data: {kind}>"

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.data)

    @property
    def nnz(self) -> int:
        return len(self.rows)

    @property
    def T(self) -> SparseMatrix:
        return SparseMatrix(self.data, self.columns, self.rows, self.shape[::-1], self.star_is_matmul)

    def transpose(self) -> SparseMatrix:
        return self.T

    def toarray(self) -> Any:
        """The matrix as a dense array."""
        return scatter(self.data, self.rows, self.columns, patterns=((ARRAY, ARRAY),), shape=self.shape)

    todense = toarray

    def tocsr(self, copy: bool = False) -> SparseMatrix:
        return self

    tocsc = tocoo = tocsr

    def diagonal(self) -> Any:
        """The entries on the diagonal."""
        on = np.flatnonzero(self.rows == self.columns)
        values = index(self.data, on, pattern=(ARRAY,))
        return scatter(values, self.rows[on], patterns=((ARRAY,),), shape=(min(self.shape),))

    def _with(self, data: Any) -> SparseMatrix:
        return SparseMatrix(data, self.rows, self.columns, self.shape, self.star_is_matmul)

    def __matmul__(self, other: Any) -> Any:
        if scipy.sparse.issparse(other) or isinstance(other, SparseMatrix):
            raise _not_supported("the product of two sparse matrices, one of them traced,")
        other = array(other)
        if not 1 <= ndim_of(other) <= 2 or shape_of(other)[0] != self.shape[1]:
            raise ValueError(f"matmul: dimension mismatch with shapes {self.shape} and {shape_of(other)}")
        return product(self.data, other, self.rows, self.columns, self.shape[0])

    def __rmatmul__(self, other: Any) -> Any:
        return _transposed(self.T @ _transposed(array(other)))

    def dot(self, other: Any) -> Any:
        """The product with a vector or a dense matrix."""
        return self @ other

    def __mul__(self, other: Any) -> Any:
        if ndim_of(other) == 0:
            return self._with(self.data * other)
        if self.star_is_matmul:
            return self @ other
        return self._with(self.data * _entries(other, self.rows, self.columns, self.shape))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if ndim_of(other):
            raise _not_supported("a sparse matrix divided by an array")
        return self._with(self.data / other)

    def __neg__(self) -> Any:
        return self._with(-self.data)

    def __add__(self, other: Any) -> Any:
        if not scipy.sparse.issparse(other) and not isinstance(other, SparseMatrix):
            return self.toarray() + other
        other = traced_matrix(other)
        if other.shape != self.shape:
            raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}")
        rows, columns = np.concatenate([self.rows, other.rows]), np.concatenate([self.columns, other.columns])
        return SparseMatrix(join([self.data, other.data], 0), rows, columns, self.shape, self.star_is_matmul)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other


def _not_supported(what: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"{what} has no derivative rule", remedy="multiply from right to left, A @ (B @ x), or use A.toarray()"
    )


def _entries(x: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    return index(s.broadcast_to(array(x), shape=shape), rows, columns, pattern=(ARRAY, ARRAY))


def traced_matrix(a: Any) -> SparseMatrix:
    """A sparse matrix of either kind in coordinate form."""
    if isinstance(a, SparseMatrix):
        return a
    coo = a.tocoo()
    return SparseMatrix(coo.data, coo.row, coo.col, coo.shape, isinstance(a, scipy.sparse.spmatrix))


def _transposed(x: Any) -> Any:
    return s.transpose(x, axes=(1, 0)) if ndim_of(x) == 2 else x


# --------------------------------------------------------------------------------------- constant matrices as operands


def _times(a: Any, x: Any) -> Any:
    """A @ x."""
    if ndim_of(a) != 2 or not 1 <= ndim_of(x) <= 2 or shape_of(x)[0] != a.shape[1]:
        raise ValueError(f"matmul: dimension mismatch with shapes {a.shape} and {shape_of(x)}")
    return sparse_matmul(x, matrix=a)


def operate(op: Any, x: Any, y: Any) -> Any:
    """An operator between a traced value and a constant sparse matrix, on either side."""
    reflected = scipy.sparse.issparse(x)
    a, other = (x, y) if reflected else (y, x)
    if op is e.multiply and ndim_of(other) and isinstance(a, scipy.sparse.spmatrix):
        op = matmul
    if op is matmul:
        return _times(a, other) if reflected else _transposed(_times(a.T, _transposed(other)))
    if op is e.multiply:
        return traced_matrix(a) * other
    if op is e.divide and reflected:
        return traced_matrix(a) / other
    if op is e.add or op is e.subtract:
        dense = a.toarray()
        return op(dense, other) if reflected else op(other, dense)
    raise UnsupportedFunctionError(
        f"the operator {getattr(op, 'name', op)} between a sparse matrix and a traced value",
        remedy="convert it with A.toarray()",
    )


_FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
for _format in _FORMATS:
    for _kind in ("array", "matrix"):
        _class = getattr(scipy.sparse, f"{_format}_{_kind}")
        OPERANDS[_class] = operate
        DEFERRING.add(_class._matmul_dispatch.__code__)
        implements_blind(_class.dot)(lambda a, other: a @ other)
OPERANDS[SparseMatrix] = lambda op, x, y: NotImplemented  # it has operators of its own


# ----------------------------------------------------------------------------------------- matrices of traced entries


def _constructor(original: Any) -> Any:
    def construct(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, **options: Any) -> Any:
        if isinstance(arg1, SparseMatrix):
            return arg1
        if isinstance(arg1, Traced):
            if ndim_of(arg1) != 2:
                raise _not_supported(f"scipy.sparse.{original.__name__} of a traced array that is not a matrix")
            rows, columns = np.indices(shape_of(arg1)).reshape(2, -1)
            data, size = s.reshape(arg1, shape=rows.shape), shape_of(arg1)
        else:
            data, *place = arg1
            data = array(data)
            # The structure is checked and read off by SciPy, which is given positions for entries.
            own = (place[0],) if len(place) == 1 else tuple(place)
            pattern = original((np.arange(1, shape_of(data)[0] + 1), *own), shape=shape)
            if pattern.format == "coo":
                rows, columns, size = pattern.row, pattern.col, pattern.shape
            else:
                counts = np.repeat(np.arange(len(pattern.indptr) - 1), np.diff(pattern.indptr))
                rows, columns = (counts, pattern.indices) if pattern.format == "csr" else (pattern.indices, counts)
                size = pattern.shape
        data = data if dtype is None else cast(data, dtype)
        return SparseMatrix(data, rows, columns, size, issubclass(original, scipy.sparse.spmatrix))

    return construct


for _format in ("csr", "csc", "coo"):
    for _kind in ("array", "matrix"):
        _class = getattr(scipy.sparse, f"{_format}_{_kind}")
        implements_blind(_class)(_constructor(_class))


def _diags(star_is_matmul: bool) -> Any:
    def diags(
        diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
    ) -> SparseMatrix:
        lanes = (
            [array(diagonals)] if np.ndim(offsets) == 0 and _is_one_lane(diagonals) else [array(d) for d in diagonals]
        )
        places = np.atleast_1d(offsets).tolist()
        if len(lanes) != len(places):
            raise ValueError("Different number of diagonals and offsets.")
        if shape is None:
            n = shape_of(lanes[0])[0] + abs(places[0])
            shape = (n, n)
        data, rows, columns = [], [], []
        for lane, k in zip(lanes, places, strict=True):
            count = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
            if ndim_of(lane) == 0:
                lane = s.reshape(lane, shape=(1,))
            if shape_of(lane)[0] not in (1, count):
                raise ValueError(f"Diagonal length (at offset {k}: {shape_of(lane)[0]}) does not fit {shape}.")
            data.append(s.broadcast_to(lane, shape=(count,)))
            rows.append(np.arange(count) - min(k, 0))
            columns.append(np.arange(count) + max(k, 0))
        whole = join(data, 0) if dtype is None else cast(join(data, 0), dtype)
        return SparseMatrix(whole, np.concatenate(rows), np.concatenate(columns), shape, star_is_matmul)

    return diags


def _is_one_lane(diagonals: Any) -> bool:
    return ndim_of(diagonals) == 1 if hasattr(diagonals, "shape") else all(ndim_of(d) == 0 for d in diagonals)


implements_blind(scipy.sparse.diags)(_diags(True))
implements_blind(scipy.sparse.diags_array)(
    lambda diagonals, /, *, offsets=0, shape=None, format=None, dtype=None: _diags(False)(
        diagonals, offsets, shape, format, dtype
    )
)


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    if not isinstance(A, SparseMatrix) and not isinstance(b, Traced):
        return sys.modules["scipy.sparse.linalg"].spsolve(A, b, permc_spec, use_umfpack)
    if scipy.sparse.issparse(b) or isinstance(b, SparseMatrix):
        raise _not_supported("spsolve with a sparse right-hand side")
    a, b = traced_matrix(A), array(b)
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"matrix must be square (has shape {a.shape})")
    if shape_of(b)[0] != a.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({a.shape} - {shape_of(b)[0]})")
    if ndim_of(b) == 2 and shape_of(b)[1] == 1:
        b = s.reshape(b, shape=(a.shape[0],))
    b = cast(b, np.result_type(b.dtype, np.float32 if b.dtype.kind in "fc" else np.float64))
    return sparse_solve(a.data, b, rows=a.rows, columns=a.columns)


@when_imported("scipy.sparse.linalg")
def _linalg(module: Any) -> None:
    CALLERS[module.spsolve] = spsolve
