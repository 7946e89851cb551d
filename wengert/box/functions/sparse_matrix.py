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

from wengert import tree
from wengert.box.functions.operands import array, cast, holds_traced, join
from wengert.box.writing import settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.op import Traced
from wengert.ops.sparse import product
from wengert.types import dtype_of, ndim_of, shape_of


class Places:
    """Where the entries of a sparse matrix stand, and which of SciPy's it is: the matrix without its entries."""

    def __init__(self, matrix: SparseMatrix):
        self._known = (matrix.shape, matrix.star_is_matmul, matrix.format, matrix._is_in_order)
        self._rows, self._columns = matrix.rows, matrix.columns

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places) and self._known == other._known and all(
            map(np.array_equal, (self._rows, self._columns), (other._rows, other._columns)))  # fmt: skip

    def __hash__(self) -> int:
        return hash((self._known, len(self._rows)))

    def filled(self, entries: Any) -> Any:
        """The matrix with these entries: of SciPy, or one whose entries are traced."""
        shape, star_is_matmul, format, _ = self._known
        if not is_plain(entries):
            return SparseMatrix(entries, self._rows, self._columns, *self._known)
        kind = scipy.sparse.coo_matrix if star_is_matmul else scipy.sparse.coo_array
        return kind((entries, (self._rows.copy(), self._columns.copy())), shape=shape).asformat(format)


def is_plain(entries: Any) -> bool:
    """Whether these are the entries of a matrix of SciPy's; and not what is traced, or stands for entries."""
    if not isinstance(entries, np.ndarray):
        return False
    if entries.ndim > 1:
        raise UnsupportedFunctionError(
            "a batch of sparse matrices (vmap of a function that returns one, or a Jacobian of one)",
            remedy="return the entries, J.data, or take one example after the other",
        )
    return True


class SparseMatrix:
    """A sparse matrix with traced entries, in coordinate form; entries at one place add up."""

    __array_priority__ = 1001.0

    def __init__(self, entries: Any, rows: Any, columns: Any, shape: Any, star_is_matmul: bool = False,
                 format: str = "coo", is_in_order: bool | None = None, template: Any = None):  # fmt: skip
        self.entries = entries
        self.rows = np.asarray(rows)
        self.columns = np.asarray(columns)
        self.shape = (int(shape[0]), int(shape[1]))
        self.star_is_matmul = star_is_matmul
        """Of classes `…_matrix`; of classes `…_array`, * is elementwise."""
        self.format = format
        """That of SciPy's matrix. How entries lie here has nothing to do with it, but where `data` is asked for."""
        self._is_in_order = is_in_order
        """Whether entries are those of SciPy's `data`, in its order. Where they are not, they can be put into it, which
        sums up what stands at one place; `None` says that SciPy's order is not known."""
        self.template = template
        """What makes a matrix of these places of other entries, if there is something better than `Places`."""

    ndim = 2

    def __repr__(self) -> str:
        kind = type(self.entries).__name__
        return f"<sparse matrix of shape {self.shape} with {len(self.rows)} traced entries, which are in .data: {kind}>"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(scipy.sparse.csr_matrix, name):
            raise not_supported(f"the attribute {name} of a sparse matrix with traced entries")
        raise AttributeError(name)

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.entries)

    @property
    def data(self) -> Any:
        """The entries as SciPy's matrix holds them: in compressed formats one at a place, by rows or by columns.

        Where values say which entries SciPy keeps, as in sums, or where its order is its own affair, as in products,
        they are refused.
        """
        self._put_in_order("data")
        return self.entries

    @data.setter
    def data(self, entries: Any) -> None:
        self._put_in_order("data")
        entries = array(entries)
        if shape_of(entries) != self.rows.shape:
            raise ValueError(f"{shape_of(entries)} entries for a matrix of {len(self.rows)}")
        self.entries = entries

    @property
    def nnz(self) -> int:
        self._put_in_order("nnz")
        return len(self.rows)

    size = nnz

    def getnnz(self) -> int:
        return self.nnz

    @property
    def row(self) -> np.ndarray:
        """The row of each entry, in coordinate form; structure, which is known."""
        if self.format != "coo":
            raise AttributeError("row")
        self._put_in_order("row")
        return self.rows.copy()

    @property
    def col(self) -> np.ndarray:
        return self.T.row

    @property
    def indices(self) -> np.ndarray:
        """The column of each entry, or of a matrix by columns its row."""
        if self.format not in ("csr", "csc"):
            raise AttributeError("indices")
        self._put_in_order("indices")
        return (self.columns if self.format == "csr" else self.rows).copy()

    @property
    def indptr(self) -> np.ndarray:
        """Where each row, or column, begins among the entries."""
        self.indices  # noqa: B018
        lanes, count = (self.rows, self.shape[0]) if self.format == "csr" else (self.columns, self.shape[1])
        return np.searchsorted(lanes, np.arange(count + 1)).astype(lanes.dtype)

    def _put_in_order(self, name: str) -> None:
        if self._is_in_order is None:
            raise not_supported(
                f"the attribute {name} of a sparse matrix with traced entries that was computed, or has the format "
                f"{self.format},"
            )
        if not self._is_in_order:
            self.sum_duplicates()

    @property
    def T(self) -> SparseMatrix:
        format = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return SparseMatrix(
            self.entries, self.columns, self.rows, self.shape[::-1], self.star_is_matmul, format, self._is_in_order
        )

    def transpose(self) -> SparseMatrix:
        return self.T

    def toarray(self) -> Any:
        """The matrix as a dense array."""
        return scatter(self.entries, self.rows, self.columns, patterns=((ARRAY, ARRAY),), shape=self.shape)

    todense = toarray

    def copy(self) -> SparseMatrix:
        return self.with_entries(s.copy(self.entries))

    def asformat(self, format: Any, copy: bool = False) -> SparseMatrix:
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format == "coo" and self._is_in_order is False:
            self._put_in_order("data")  # SciPy takes the entries as they lie
        known = self._is_in_order is not None and format in ("coo", "csr", "csc")
        in_order = (format == "coo" and self._is_in_order) if known else None
        return SparseMatrix(self.entries, self.rows, self.columns, self.shape, self.star_is_matmul, format, in_order)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> SparseMatrix:
        return self.with_entries(cast(self.entries, np.dtype(dtype)))

    def diagonal(self, k: int = 0) -> Any:
        """The entries on a diagonal."""
        on = np.flatnonzero(self.columns - self.rows == k)
        values = index(self.entries, on, pattern=(ARRAY,))
        size = max(0, min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)))
        return scatter(values, self.rows[on] + min(k, 0), patterns=((ARRAY,),), shape=(size,))

    def trace(self, offset: int = 0) -> Any:
        return r.sum(self.diagonal(offset))

    def sum(self, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        """The sum of all entries, or of each row or column; of classes `…_matrix` it keeps two axes."""
        data = self.entries if dtype is None else cast(self.entries, np.dtype(dtype))
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
        return self.with_entries(s.real(self.entries))

    @property
    def imag(self) -> SparseMatrix:
        return self.with_entries(s.imag(self.entries))

    def sum_duplicates(self) -> None:
        """In place. (In which order SciPy leaves the entries of coordinates depends on its version.)"""
        whole = self.T.without_duplicates(True).T if self.format == "csc" else self.without_duplicates(True)
        self.entries, self.rows, self.columns = whole.entries, whole.rows, whole.columns
        self._is_in_order = None if self._is_in_order is None or self.format == "coo" else True

    def plain(self) -> Any:
        """A matrix of SciPy's, where the entries are plain numbers."""
        return scipy.sparse.csr_array((self.entries, (self.rows, self.columns)), shape=self.shape)

    def plain_if_known(self) -> Any:
        """A matrix of SciPy's, unless entries are traced: an array that one has just made may be written to as well."""
        entries = settled(self.entries)
        if isinstance(entries, Traced):
            return self
        return self.with_entries(np.asarray(entries)).plain().asformat(self.format)

    def places(self) -> np.ndarray:
        """Where entries stand in the ravelled matrix."""
        return self.rows.astype(np.int64) * self.shape[1] + self.columns

    def without_duplicates(self, is_sorted: bool = False) -> SparseMatrix:
        """The same matrix with one entry at a place, in the order of rows and columns if need be."""
        given = self.places()
        if is_sorted and np.all(given[1:] > given[:-1]):
            return self
        places, which = np.unique(given, return_inverse=True)
        if len(places) == len(self.rows) and not is_sorted:
            return self
        data = scatter(self.entries, which, patterns=((ARRAY,),), shape=(len(places),))
        rows, columns = np.divmod(places, max(self.shape[1], 1))
        in_order = False if self._is_in_order is not None and self.format in ("csr", "csc") else None
        return SparseMatrix(data, rows, columns, self.shape, self.star_is_matmul, self.format, in_order)

    def with_entries(self, entries: Any) -> SparseMatrix:
        """A matrix of the same places with these entries."""
        return SparseMatrix(
            entries, self.rows, self.columns, self.shape, self.star_is_matmul, self.format, self._is_in_order
        )

    def _each(self, function: Callable[[Any], Any]) -> SparseMatrix:
        """A function that is zero at zero, of each entry."""
        if self._is_in_order is not None and self.format != "coo":
            self._put_in_order("data")
            return self.with_entries(function(self.entries))
        whole = self.without_duplicates()
        return whole._computed(function(whole.entries), "csr" if self.format in ("lil", "dok") else self.format)

    def _computed(self, entries: Any, format: str) -> SparseMatrix:
        """The same of which SciPy's order is not known."""
        return SparseMatrix(entries, self.rows, self.columns, self.shape, self.star_is_matmul, format)

    def _with_dense(self, entries: Any) -> SparseMatrix:
        """What SciPy makes of this matrix and a dense one."""
        return self._computed(entries, "dia" if self.format == "dia" else "coo")

    def _picked(self, which: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: Any) -> SparseMatrix:
        entries = index(self.entries, which, pattern=(ARRAY,))
        return SparseMatrix(entries, rows, columns, shape, self.star_is_matmul, self.format, self._is_in_order)

    # ------------------------------------------------------------------------------------------------------- products

    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return _sparse_product(self, traced_matrix(other))
        other = array(other)
        if not 1 <= ndim_of(other) <= 2 or shape_of(other)[0] != self.shape[1]:
            raise ValueError(f"matmul: dimension mismatch with shapes {self.shape} and {shape_of(other)}")
        return product(self.entries, other, self.rows, self.columns, self.shape[0])

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
            return self.with_entries(self.entries * other)
        return self._with_dense(self.entries * self._elements(other))

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
        if ndim_of(other):
            return self._with_dense(self.entries / self._elements(other))
        return self.with_entries(self.entries / other)

    def __rtruediv__(self, other: Any) -> Any:
        raise not_supported("a number or an array divided by a sparse matrix")

    def __rpow__(self, n: Any) -> Any:
        raise not_supported("a power of something with a sparse matrix as exponent")

    def __pow__(self, n: Any) -> Any:
        if not self.star_is_matmul:
            return self.power(n)
        if isinstance(n, Traced) or int(n) != n or n < 1:
            raise not_supported("a power of a sparse matrix other than a positive integer")
        return self if n == 1 else self @ self ** (n - 1)

    def __neg__(self) -> Any:
        return self.with_entries(-self.entries)

    def __abs__(self) -> Any:
        return self._each(abs)

    def __add__(self, other: Any) -> Any:
        if not is_sparse(other):
            return self.toarray() + other
        other = traced_matrix(other)
        if other.shape != self.shape:
            raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}")
        rows, columns = np.concatenate([self.rows, other.rows]), np.concatenate([self.columns, other.columns])
        leads = other if self.format == "dia" and other.format != "dia" else self
        entries, is_matmul = join([self.entries, other.entries], 0), leads.star_is_matmul
        return SparseMatrix(entries, rows, columns, self.shape, is_matmul, _format_of(leads, other))

    def __radd__(self, other: Any) -> Any:
        return traced_matrix(other) + self if is_sparse(other) else self + other

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self).__radd__(other)

    def _elements(self, x: Any) -> Any:
        """The elements of a dense array, broadcast to this matrix, that stand where it has entries."""
        return index(s.broadcast_to(array(x), shape=self.shape), self.rows, self.columns, pattern=(ARRAY, ARRAY))

    # -------------------------------------------------------------------------------------------------------- elements

    def _compared(self, other: Any) -> Any:
        raise not_supported("a comparison of a sparse matrix with traced entries")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    def __getitem__(self, key: Any) -> Any:
        if holds_traced(key if isinstance(key, tuple) else (key,)):
            raise not_supported("a sparse matrix with traced entries, read at traced places,")
        found = moved(lambda m: (m if hasattr(m, "__getitem__") else m.tocsr())[key], [self])
        if found.__class__ is SparseMatrix or isinstance(found, Traced):
            return found
        raise not_supported("a row or other part of a sparse array that has one axis")

    def getrow(self, i: int) -> Any:
        return self[[i], :]

    def getcol(self, j: int) -> Any:
        return self[:, [j]]

    def reshape(self, *shape: Any, **options: Any) -> SparseMatrix:
        return moved(lambda matrix: matrix.reshape(*shape, **options), [self])


def _to(format: str) -> Any:
    return lambda self, copy=False, **options: self.asformat(format, copy)


for _name in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
    setattr(SparseMatrix, f"to{_name}", _to(_name))


def _elementwise_of_entries(name: str) -> Any:
    return lambda self: self._each(getattr(np, name))


for _name in ("sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "sqrt", "expm1", "log1p",
              "deg2rad", "rad2deg"):  # fmt: skip
    setattr(SparseMatrix, _name, _elementwise_of_entries(_name))


_OPERATORS = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "truediv", np.matmul: "matmul", np.power: "pow",
}  # fmt: skip

# Among the results of a function it is a container of one leaf, its entries.
tree.register(
    SparseMatrix,
    lambda m: ((m.entries,), m.template or Places(m), ("data",)),
    lambda template, parts: template.filled(*parts),
)


def not_supported(what: str) -> UnsupportedFunctionError:
    """The error for what has no rule on matrices of traced entries."""
    return UnsupportedFunctionError(
        f"{what} has no derivative rule", remedy="multiply from right to left, A @ (B @ x), or use A.toarray()"
    )


def is_sparse(x: Any) -> bool:
    """Whether something is a sparse matrix of either kind."""
    return isinstance(x, SparseMatrix) or bool(scipy.sparse.issparse(x))


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
    is_known = scipy.sparse.issparse(a) and a.format in ("coo", "csr", "csc")
    return SparseMatrix(
        coo.data, coo.row, coo.col, coo.shape, isinstance(a, scipy.sparse.spmatrix),
        a.format if scipy.sparse.issparse(a) else "coo", True if is_known else None,
    )  # fmt: skip


def moved(function: Callable, matrices: Sequence[SparseMatrix]) -> Any:
    """What a function of SciPy's that only moves entries makes of these matrices."""
    matrices = [matrix.without_duplicates() for matrix in matrices]
    positions, first = [], 1
    for matrix in matrices:
        numbers = np.arange(first, first + len(matrix.rows))
        format = "coo" if matrix.format in ("dia", "bsr") else matrix.format
        kind = scipy.sparse.coo_matrix if matrix.star_is_matmul else scipy.sparse.coo_array
        positions.append(kind((numbers, (matrix.rows, matrix.columns)), shape=matrix.shape).asformat(format))
        first += len(matrix.rows)
    data = join([matrix.entries for matrix in matrices], 0) if len(matrices) > 1 else matrices[0].entries
    found = function(*positions)
    if not scipy.sparse.issparse(found):  # positions themselves, zero where there is no entry
        padded = join([np.zeros(1, dtype_of(data)), data], 0)
        at = np.asarray(found)
        return index(padded, at, pattern=(ARRAY,)) if at.shape else index(padded, pattern=(int(at),))
    if found.ndim != 2:
        return found
    coo = found.tocoo()
    known = found.format in ("coo", "csr", "csc") and all(m._is_in_order is not None for m in matrices)
    whole = SparseMatrix(
        data, [], [], coo.shape, isinstance(found, scipy.sparse.spmatrix), found.format, True if known else None
    )
    return whole._picked(coo.data.astype(np.int64) - 1, coo.row, coo.col, coo.shape)


def _sparse_product(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """A @ B, of all pairs of an entry of A in column k and one of B in row k."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch with shapes {a.shape} and {b.shape}")
    by_row = np.argsort(b.rows, kind="stable")
    starts = np.searchsorted(b.rows[by_row], np.arange(b.shape[0] + 1))
    counts = np.diff(starts)[a.columns]
    of_a = np.repeat(np.arange(len(a.rows)), counts)
    within = np.arange(len(of_a)) - np.repeat(np.cumsum(counts) - counts, counts)
    of_b = by_row[starts[a.columns[of_a]] + within]
    data = index(a.entries, of_a, pattern=(ARRAY,)) * index(b.entries, of_b, pattern=(ARRAY,))
    shape = (a.shape[0], b.shape[1])
    whole = SparseMatrix(data, a.rows[of_a], b.columns[of_b], shape, a.star_is_matmul, _format_of(a, b))
    return whole.without_duplicates()


def _format_of(a: SparseMatrix, b: SparseMatrix) -> str:
    """The format of what SciPy makes of two matrices."""
    if a.format == b.format == "dia":
        return "dia"
    return a.format if a.format in ("csr", "csc", "bsr") else "csr"


def _elementwise_product(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    if a.shape != b.shape:
        raise not_supported("the product of the elements of sparse matrices of different shapes")
    a, b = a.without_duplicates(), b.without_duplicates()
    _, of_a, of_b = np.intersect1d(a.places(), b.places(), assume_unique=True, return_indices=True)
    data = index(a.entries, of_a, pattern=(ARRAY,)) * index(b.entries, of_b, pattern=(ARRAY,))
    return SparseMatrix(data, a.rows[of_a], a.columns[of_a], a.shape, a.star_is_matmul, _format_of(a, b))


def kron(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """The Kronecker product: each entry of A times the matrix B."""
    data = s.reshape(a.entries, shape=(len(a.rows), 1)) * b.entries
    rows = (a.rows.astype(np.int64)[:, None] * b.shape[0] + b.rows).ravel()
    columns = (a.columns.astype(np.int64)[:, None] * b.shape[1] + b.columns).ravel()
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    return SparseMatrix(
        s.reshape(data, shape=(len(rows),)), rows, columns, shape, a.star_is_matmul and b.star_is_matmul
    )
