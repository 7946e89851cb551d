"""Matrices of scipy.sparse: constant ones in products, and ones whose entries are traced.

A constant sparse matrix that meets a traced value in `A @ x`, `x @ A`, `A.dot(x)` or `c * A` hands over to the traced
value (`Box.__array__` and the table `OPERANDS` in `dispatch.py` see to that); the product is the op `sparse_matmul`.

A matrix that is built from traced entries, or made of others that are, is a `SparseMatrix` (`sparse_matrix.py`).
`spsolve` and the functions that put matrices together take both kinds.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import scipy.sparse

from wengert.box.dispatch import CALLERS, DEFERRING, FUNCTIONS, OPERANDS, implements_blind
from wengert.box.foreign import put_into_sparse
from wengert.box.functions.operands import array, cast, join
from wengert.box.functions.sparse_matrix import (
    SparseMatrix,
    is_sparse,
    kron,
    moved,
    not_supported,
    traced_matrix,
    transposed,
)
from wengert.box.writing import settled
from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.sparse import sparse_matmul, sparse_solve
from wengert.types import ndim_of, shape_of

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
        return _times(a, other) if reflected else transposed(_times(a.T, transposed(other)))
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


def _refused_diagonal(*args: Any, **kwargs: Any) -> None:
    raise put_into_sparse()


_CLASSES = [getattr(scipy.sparse, f"{format}_{kind}") for format in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
            for kind in ("array", "matrix")]  # fmt: skip
_ASKING = ("_matmul_dispatch", "_mul_dispatch", "multiply", "_multiply_2d_with_broadcasting", "_divide")
"""Methods of SciPy's that ask an operand they do not know for an array, and leave it to the operand if it has none."""
for _class in _CLASSES:
    OPERANDS[_class] = operate
    DEFERRING.update([getattr(_class, name).__code__ for name in _ASKING if hasattr(_class, name)])
    implements_blind(_class.dot)(lambda a, other: a @ other)
    implements_blind(_class.multiply)(lambda a, other: traced_matrix(a).multiply(other))
    implements_blind(_class.setdiag)(_refused_diagonal)
OPERANDS[SparseMatrix] = lambda op, x, y: NotImplemented  # it has operators of its own


# ----------------------------------------------------------------------------------------- matrices of traced entries


def _constructor(original: Any) -> Any:
    def construct(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, **options: Any) -> Any:
        if not _holds_entries(arg1):
            return original(arg1, shape, dtype, copy, **options)
        is_matrix, format = issubclass(original, scipy.sparse.spmatrix), original.__name__.partition("_")[0]
        is_in_order: bool | None = None
        if isinstance(arg1, (Traced, SparseMatrix)):
            if ndim_of(arg1) != 2:
                raise not_supported(f"scipy.sparse.{original.__name__} of a traced array that is not a matrix")
            whole = traced_matrix(arg1)
            if isinstance(arg1, SparseMatrix):
                whole = whole.asformat(format)
                is_in_order = whole._is_in_order
            data, rows, columns, size = whole.entries, whole.rows, whole.columns, whole.shape
        else:
            data, *place = arg1
            data, place = array(data), _plain_places(place)
            if format in (
                "coo",
                "csr",
                "csc",
            ):  # as given; but compressed ones add up what is given by rows and columns
                is_in_order = format == "coo" or len(place) == 2
            rows, columns, which, size = _places(original, shape_of(data), place, shape)
            data = s.reshape(data, shape=(math.prod(shape_of(data)),)) if ndim_of(data) != 1 else data
            data = data if which is None else index(data, which, pattern=(ARRAY,))
        data = data if dtype is None else cast(data, np.dtype(dtype))
        return SparseMatrix(data, rows, columns, size, is_matrix, format, is_in_order)

    return construct


def _plain_places(place: Any) -> Any:
    """Rows, columns or pointers, which are structure: integers, also where an array of floats holds them."""
    if place.__class__ in (list, tuple) and any(_holds_entries(p) for p in place):
        return place.__class__([_plain_places(p) for p in place])
    if not isinstance(place, Traced):
        return place
    found = settled(cast(place, np.dtype(np.intp)))
    if isinstance(found, Traced):
        raise ConcretizationError(
            "where the entries of a sparse matrix stand depends on a value that is known only when the compiled "
            "program runs",
            remedy="pass rows and columns as static arguments (static_argnums), or make them outside of the function",
        )
    return found


def _places(original: Any, entries: tuple[int, ...], place: Any, shape: Any) -> tuple[Any, Any, Any, Any]:
    """Rows and columns of entries, which of those given they are (`None`: all), and the shape of the matrix.

    Arguments are checked and read by SciPy. It is given numbers of entries in their place; but entries at one place it
    adds up, so where places are given as rows and columns, they are taken as they are.
    """
    if len(place) == 1 and original not in (scipy.sparse.dia_array, scipy.sparse.dia_matrix):
        checked = original((np.ones(entries), place[0]), shape=shape)
        rows, columns = place[0]
        return np.asarray(rows), np.asarray(columns), None, checked.shape
    numbers = np.arange(1, math.prod(entries) + 1).reshape(entries)
    coo = original((numbers, *place), shape=shape).tocoo()
    return coo.row, coo.col, coo.data - 1, coo.shape


for _class in _CLASSES:
    CALLERS[_class] = _constructor(_class)


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
        return SparseMatrix(
            whole, np.concatenate(rows), np.concatenate(columns), shape, star_is_matmul, format or "dia"
        )

    return diags


def _is_one_lane(diagonals: Any) -> bool:
    return ndim_of(diagonals) == 1 if hasattr(diagonals, "shape") else all(ndim_of(d) == 0 for d in diagonals)


implements_blind(scipy.sparse.diags)(_diags(True))
implements_blind(scipy.sparse.diags_array)(
    lambda diagonals, /, *, offsets=0, shape=None, format=None, dtype=None: _diags(False)(
        diagonals, offsets, shape, format, dtype
    )
)


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> SparseMatrix:
    """Diagonals by the columns that their elements stand in."""
    size = m if n is None and m is not None else (m, n)
    size = (shape_of(data)[-1],) * 2 if m is None else size
    data = s.reshape(array(data), shape=(1, *shape_of(data))) if ndim_of(data) == 1 else data
    return _constructor(scipy.sparse.dia_matrix)((data, np.atleast_1d(diags)), shape=size)


implements_blind(scipy.sparse.spdiags)(spdiags)


# -------------------------------------------------------------------------------------------- matrices made of others


def _holds_entries(x: Any) -> bool:
    return any(map(_holds_entries, x)) if x.__class__ in (list, tuple) else isinstance(x, (SparseMatrix, Traced))


def _moving(original: Any) -> Any:
    """A function that puts matrices together, or takes parts of one."""

    def function(first: Any, *args: Any, **kwargs: Any) -> Any:
        if not _holds_entries(first):
            return original(first, *args, **kwargs)
        dtype = kwargs.pop("dtype", None)
        matrices: list[SparseMatrix] = []

        def numbered(x: Any) -> Any:
            """The place of a block in the list of matrices, whatever holds it."""
            if x is None:
                return None
            if x.__class__ in (list, tuple) and _holds_blocks(x):
                return [numbered(item) for item in x]
            matrices.append(traced_matrix(array(x) if x.__class__ in (list, tuple) else x))
            return len(matrices) - 1

        if original is scipy.sparse.block_diag and first.__class__ is not list:
            first = list(first)  # which it goes through
        blocks = numbered(first)

        def put(x: Any, positions: Any) -> Any:
            return [put(item, positions) for item in x] if x.__class__ is list else x if x is None else positions[x]

        whole = moved(lambda *positions: original(put(blocks, positions), *args, **kwargs), matrices)
        return whole if dtype is None else whole.astype(dtype)

    return function


def _holds_blocks(x: Any) -> bool:
    """Whether a list holds matrices, and is not one itself."""
    return any(item is None or is_sparse(item) or ndim_of(item) == 2 or _holds_entries(item) for item in x)


for _name in ("vstack", "hstack", "block_array", "bmat", "block_diag", "tril", "triu"):
    if hasattr(scipy.sparse, _name):
        CALLERS[getattr(scipy.sparse, _name)] = _moving(getattr(scipy.sparse, _name))


def _kron(A: Any, B: Any, format: Any = None) -> Any:
    if not _holds_entries([A, B]):
        return scipy.sparse.kron(A, B, format)
    found = kron(traced_matrix(A), traced_matrix(B))
    is_dense = 2 * len(traced_matrix(B).rows) >= math.prod(shape_of(B))  # as SciPy decides
    return found.asformat(format or ("bsr" if is_dense else "coo"))


def _kronsum(A: Any, B: Any, format: Any = None) -> Any:
    if not _holds_entries([A, B]):
        return scipy.sparse.kronsum(A, B, format)
    m, n = shape_of(A)[0], shape_of(B)[0]
    unit = scipy.sparse.identity if getattr(A, "star_is_matmul", isinstance(A, scipy.sparse.spmatrix)) else None
    unit = unit or scipy.sparse.eye_array
    return kron(traced_matrix(unit(n)), traced_matrix(A)) + kron(traced_matrix(B), traced_matrix(unit(m)))


CALLERS[scipy.sparse.kron] = _kron
CALLERS[scipy.sparse.kronsum] = _kronsum
CALLERS[scipy.sparse.issparse] = is_sparse
CALLERS[scipy.sparse.isspmatrix] = lambda x: (
    x.star_is_matmul if isinstance(x, SparseMatrix) else scipy.sparse.isspmatrix(x)
)


# ------------------------------------------------------------------------------------------------------------- systems


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    if not isinstance(A, SparseMatrix) and not isinstance(b, Traced):
        return sys.modules["scipy.sparse.linalg"].spsolve(A, b, permc_spec, use_umfpack)
    if scipy.sparse.issparse(b) or isinstance(b, SparseMatrix):
        raise not_supported("spsolve with a sparse right-hand side")
    a, b = traced_matrix(A), array(b)
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"matrix must be square (has shape {a.shape})")
    if shape_of(b)[0] != a.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({a.shape} - {shape_of(b)[0]})")
    if ndim_of(b) == 2 and shape_of(b)[1] == 1:
        b = s.reshape(b, shape=(a.shape[0],))
    b = cast(b, np.result_type(b.dtype, np.float32 if b.dtype.kind in "fc" else np.float64))
    return sparse_solve(a.entries, b, rows=a.rows, columns=a.columns)


@when_imported("scipy.sparse.linalg")
def _linalg(module: Any) -> None:
    CALLERS[module.spsolve] = spsolve
    CALLERS[module.spsolve_triangular] = _spsolve_triangular
    CALLERS[module.norm] = _norm


def _spsolve_triangular(A: Any, b: Any, lower: bool = True, *args: Any, **options: Any) -> Any:
    if not isinstance(A, SparseMatrix) and not isinstance(b, Traced):
        return sys.modules["scipy.sparse.linalg"].spsolve_triangular(A, b, lower, *args, **options)
    a = traced_matrix(A)
    if np.any(a.rows < a.columns) if lower else np.any(a.rows > a.columns):
        raise ValueError("A is not triangular: an entry lies on the other side of the diagonal")
    if options.get("unit_diagonal"):
        off = np.flatnonzero(a.rows != a.columns)
        part = SparseMatrix(index(a.entries, off, pattern=(ARRAY,)), a.rows[off], a.columns[off], a.shape)
        a = part + scipy.sparse.eye_array(a.shape[0])
    return spsolve(a, b)


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    if not isinstance(x, SparseMatrix):
        return sys.modules["scipy.sparse.linalg"].norm(x, ord, axis)
    norm, whole = FUNCTIONS[np.linalg.norm], x.without_duplicates()
    if axis is None and ord in (None, "fro", "f"):
        return norm(whole.entries)
    if ord in (2, -2) and axis is None:
        raise not_supported("the spectral norm of a sparse matrix with traced entries")
    return norm(whole.toarray(), ord, axis)
