"""A sparse matrix with traced entries: rows, columns and entries, with the operations that SciPy's matrices have.

Where entries stand is structure, known when a program is traced; the entries are values like any others. So whatever
only moves entries (a slice, a stack of blocks, a triangle) is left to SciPy, on a matrix that holds the *positions* of
the entries in place of their values: `moved` reads off the result which entry went where. Sums and products are written
in ops on the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from wengert.box.functions.operands import array, cast, holds_traced, join
from wengert.errors import UnsupportedFunctionError
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.op import Traced
from wengert.ops.sparse import product
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
    format = "coo"

    def __repr__(self) -> str:
        kind = type(self.data).__name__
        return f"<sparse matrix of shape {self.shape} with {self.nnz} entries, which are in .data: {kind}>"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(scipy.sparse.csr_matrix, name):
            raise not_supported(f"the attribute {name} of a sparse matrix with traced entries")
        raise AttributeError(name)

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

    def copy(self) -> SparseMatrix:
        return self

    def tocsr(self, copy: bool = False) -> SparseMatrix:
        return self

    tocsc = tocoo = tobsr = todia = tolil = todok = tocsr

    def asformat(self, format: Any, copy: bool = False) -> SparseMatrix:
        return self

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> SparseMatrix:
        return self.with_data(cast(self.data, np.dtype(dtype)))

    def diagonal(self, k: int = 0) -> Any:
        """The entries on a diagonal."""
        on = np.flatnonzero(self.columns - self.rows == k)
        values = index(self.data, on, pattern=(ARRAY,))
        size = max(0, min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)))
        return scatter(values, self.rows[on] + min(k, 0), patterns=((ARRAY,),), shape=(size,))

    def trace(self, offset: int = 0) -> Any:
        return r.sum(self.diagonal(offset))

    def sum(self, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        """The sum of all entries, or of each row or column; of classes `…_matrix` it keeps two axes."""
        data = self.data if dtype is None else cast(self.data, np.dtype(dtype))
        if axis is None or axis in ((0, 1), (1, 0)):
            return r.sum(data)
        axis = int(axis) % 2
        kept, size = (self.rows, self.shape[0]) if axis else (self.columns, self.shape[1])
        sums = scatter(data, kept, patterns=((ARRAY,),), shape=(size,))
        if not self.star_is_matmul:
            return sums
        return s.reshape(sums, shape=(size, 1) if axis else (1, size))

    def mean(self, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[int(axis)]
        return self.sum(axis, dtype) / count

    def power(self, n: Any, dtype: Any = None) -> SparseMatrix:
        """Powers of the entries."""
        return self._each(lambda data: data**n)

    def conjugate(self, copy: bool = True) -> SparseMatrix:
        return self._each(np.conj)

    conj = conjugate

    @property
    def H(self) -> SparseMatrix:
        return self.conjugate().T

    @property
    def real(self) -> SparseMatrix:
        return self.with_data(s.real(self.data))

    @property
    def imag(self) -> SparseMatrix:
        return self.with_data(s.imag(self.data))

    def sum_duplicates(self) -> None:
        whole = self.without_duplicates()
        self.data, self.rows, self.columns = whole.data, whole.rows, whole.columns

    def plain(self) -> Any:
        """A matrix of SciPy's, where the entries are plain numbers."""
        return scipy.sparse.csr_array((self.data, (self.rows, self.columns)), shape=self.shape)

    def places(self) -> np.ndarray:
        """Where entries stand in the ravelled matrix."""
        return self.rows.astype(np.int64) * self.shape[1] + self.columns

    def without_duplicates(self) -> SparseMatrix:
        """The same matrix with one entry at a place, in the order of rows and columns."""
        places, which = np.unique(self.places(), return_inverse=True)
        if len(places) == self.nnz:
            return self
        data = scatter(self.data, which, patterns=((ARRAY,),), shape=(len(places),))
        rows, columns = np.divmod(places, max(self.shape[1], 1))
        return SparseMatrix(data, rows, columns, self.shape, self.star_is_matmul)

    def with_data(self, data: Any) -> SparseMatrix:
        """A matrix of the same places with these entries."""
        return SparseMatrix(data, self.rows, self.columns, self.shape, self.star_is_matmul)

    def _each(self, function: Callable[[Any], Any]) -> SparseMatrix:
        """A function that is zero at zero, of each entry."""
        whole = self.without_duplicates()
        return whole.with_data(function(whole.data))

    def _picked(self, which: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: Any) -> SparseMatrix:
        return SparseMatrix(index(self.data, which, pattern=(ARRAY,)), rows, columns, shape, self.star_is_matmul)

    # ------------------------------------------------------------------------------------------------------- products

    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return _sparse_product(self, traced_matrix(other))
        other = array(other)
        if not 1 <= ndim_of(other) <= 2 or shape_of(other)[0] != self.shape[1]:
            raise ValueError(f"matmul: dimension mismatch with shapes {self.shape} and {shape_of(other)}")
        return product(self.data, other, self.rows, self.columns, self.shape[0])

    def __rmatmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return traced_matrix(other) @ self
        return transposed(self.T @ transposed(array(other)))

    def dot(self, other: Any) -> Any:
        """The product with a vector or a matrix, or with a number."""
        return self @ other if is_sparse(other) or ndim_of(other) else self * other

    def multiply(self, other: Any) -> Any:
        """The product of the elements, with those of a sparse or a dense matrix, or with a number."""
        if is_sparse(other):
            return _elementwise_product(self, traced_matrix(other))
        if ndim_of(other) == 0:
            return self.with_data(self.data * other)
        return self.with_data(self.data * self._entries(other))

    def __mul__(self, other: Any) -> Any:
        if self.star_is_matmul and (is_sparse(other) or ndim_of(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if self.star_is_matmul and (is_sparse(other) or ndim_of(other)):
            return other @ self
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other):
            raise not_supported("a sparse matrix divided by another")
        return self.with_data(self.data / (self._entries(other) if ndim_of(other) else other))

    def __pow__(self, n: Any) -> Any:
        if not self.star_is_matmul:
            return self.power(n)
        if isinstance(n, Traced) or int(n) != n or n < 1:
            raise not_supported("a power of a sparse matrix other than a positive integer")
        return self if n == 1 else self @ self ** (n - 1)

    def __neg__(self) -> Any:
        return self.with_data(-self.data)

    def __abs__(self) -> Any:
        return self._each(abs)

    def __add__(self, other: Any) -> Any:
        if not is_sparse(other):
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

    def _entries(self, x: Any) -> Any:
        """The elements of a dense array, broadcast to this matrix, that stand where it has entries."""
        return index(s.broadcast_to(array(x), shape=self.shape), self.rows, self.columns, pattern=(ARRAY, ARRAY))

    # -------------------------------------------------------------------------------------------------------- elements

    def __getitem__(self, key: Any) -> Any:
        if holds_traced(key if isinstance(key, tuple) else (key,)):
            raise not_supported("a sparse matrix with traced entries, read at traced places,")
        found = moved(lambda matrix: matrix.tocsr()[key], [self])
        if found.__class__ is SparseMatrix or isinstance(found, Traced):
            return found
        raise not_supported("a row or other part of a sparse array that has one axis")

    def getrow(self, i: int) -> Any:
        return self[[i], :]

    def getcol(self, j: int) -> Any:
        return self[:, [j]]

    def reshape(self, *shape: Any, **options: Any) -> SparseMatrix:
        return moved(lambda matrix: matrix.reshape(*shape, **options), [self])


def _elementwise_of_entries(name: str) -> Any:
    return lambda self: self._each(getattr(np, name))


for _name in ("sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "sqrt", "expm1", "log1p",
              "deg2rad", "rad2deg"):  # fmt: skip
    setattr(SparseMatrix, _name, _elementwise_of_entries(_name))


def not_supported(what: str) -> UnsupportedFunctionError:
    """The error for what has no rule on matrices of traced entries."""
    return UnsupportedFunctionError(
        f"{what} has no derivative rule", remedy="multiply from right to left, A @ (B @ x), or use A.toarray()"
    )


def is_sparse(x: Any) -> bool:
    """Whether something is a sparse matrix of either kind."""
    return x.__class__ is SparseMatrix or bool(scipy.sparse.issparse(x))


def transposed(x: Any) -> Any:
    """A dense matrix transposed, a vector as it is."""
    return s.transpose(x, axes=(1, 0)) if ndim_of(x) == 2 else x


def traced_matrix(a: Any) -> SparseMatrix:
    """A matrix of any kind in coordinate form; all elements of a traced array are entries."""
    if isinstance(a, SparseMatrix):
        return a
    if isinstance(a, Traced):
        shape = (1,) * (2 - ndim_of(a)) + shape_of(a)
        rows, columns = np.indices(shape).reshape(2, -1)
        return SparseMatrix(s.reshape(a, shape=rows.shape), rows, columns, shape)
    coo = a.tocoo() if scipy.sparse.issparse(a) else scipy.sparse.coo_array(np.atleast_2d(a))
    return SparseMatrix(coo.data, coo.row, coo.col, coo.shape, isinstance(a, scipy.sparse.spmatrix))


def moved(function: Callable, matrices: Sequence[SparseMatrix]) -> Any:
    """What a function of SciPy's that only moves entries makes of these matrices."""
    matrices = [matrix.without_duplicates() for matrix in matrices]
    positions, first = [], 1
    for matrix in matrices:
        numbers = np.arange(first, first + matrix.nnz)
        kind = scipy.sparse.coo_matrix if matrix.star_is_matmul else scipy.sparse.coo_array
        positions.append(kind((numbers, (matrix.rows, matrix.columns)), shape=matrix.shape))
        first += matrix.nnz
    data = join([matrix.data for matrix in matrices], 0) if len(matrices) > 1 else matrices[0].data
    found = function(*positions)
    if not scipy.sparse.issparse(found):  # positions themselves, zero where there is no entry
        padded = join([np.zeros(1, dtype_of(data)), data], 0)
        at = np.asarray(found)
        return index(padded, at, pattern=(ARRAY,)) if at.shape else index(padded, pattern=(int(at),))
    if found.ndim != 2:
        return found
    coo = found.tocoo()
    whole = SparseMatrix(data, [], [], coo.shape, isinstance(found, scipy.sparse.spmatrix))
    return whole._picked(coo.data.astype(np.int64) - 1, coo.row, coo.col, coo.shape)


def _sparse_product(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """A @ B, of all pairs of an entry of A in column k and one of B in row k."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch with shapes {a.shape} and {b.shape}")
    by_row = np.argsort(b.rows, kind="stable")
    starts = np.searchsorted(b.rows[by_row], np.arange(b.shape[0] + 1))
    counts = np.diff(starts)[a.columns]
    of_a = np.repeat(np.arange(a.nnz), counts)
    within = np.arange(len(of_a)) - np.repeat(np.cumsum(counts) - counts, counts)
    of_b = by_row[starts[a.columns[of_a]] + within]
    data = index(a.data, of_a, pattern=(ARRAY,)) * index(b.data, of_b, pattern=(ARRAY,))
    whole = SparseMatrix(data, a.rows[of_a], b.columns[of_b], (a.shape[0], b.shape[1]), a.star_is_matmul)
    return whole.without_duplicates()


def _elementwise_product(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    if a.shape != b.shape:
        raise not_supported("the product of the elements of sparse matrices of different shapes")
    a, b = a.without_duplicates(), b.without_duplicates()
    _, of_a, of_b = np.intersect1d(a.places(), b.places(), assume_unique=True, return_indices=True)
    data = index(a.data, of_a, pattern=(ARRAY,)) * index(b.data, of_b, pattern=(ARRAY,))
    return SparseMatrix(data, a.rows[of_a], a.columns[of_a], a.shape, a.star_is_matmul)


def kron(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """The Kronecker product: each entry of A times the matrix B."""
    data = s.reshape(a.data, shape=(a.nnz, 1)) * b.data
    rows = (a.rows.astype(np.int64)[:, None] * b.shape[0] + b.rows).ravel()
    columns = (a.columns.astype(np.int64)[:, None] * b.shape[1] + b.columns).ravel()
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    return SparseMatrix(s.reshape(data, shape=(len(rows),)), rows, columns, shape, a.star_is_matmul)
