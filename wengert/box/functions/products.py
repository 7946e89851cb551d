"""Products of vectors, matrices and arrays of any rank: dot, matmul and relatives, tensordot, kron, cross, trace.

All come down to `matmul` (which is BLAS) and elementwise multiplication, with axes moved about before and after.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import if_present, implements
from wengert.box.functions.elementwise import is_complex
from wengert.box.functions.lengths import diagonal_length, diagonal_places
from wengert.box.functions.operands import cast, flat, join, operand, with_dtype
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.linalg import inv
from wengert.ops.products import matmul
from wengert.types import dtype_of, ndim_of, shape_of

# ----------------------------------------------------------------------------------------------- moving axes about


def conj(x: Any) -> Any:
    """The complex conjugate; a real value is its own."""
    return s.conjugate(x) if is_complex(x) else x


def move_axis(x: Any, source: int, target: int) -> Any:
    """One axis moved to another place, the others keeping their order."""
    n = ndim_of(x)
    source, target = normalize_axis_index(source, n), normalize_axis_index(target, n)
    if source == target:
        return x
    axes = [k for k in range(n) if k != source]
    axes.insert(target, source)
    return s.transpose(x, axes=tuple(axes))


def swap_last_axes(x: Any) -> Any:
    """The matrix transpose of the last two axes."""
    n = ndim_of(x)
    if n < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {n}")
    return s.transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def _with_axis(x: Any, axis: int) -> Any:
    """A new axis of size one; `axis` counts from the end of the result."""
    shape = shape_of(x)
    place = len(shape) + 1 + axis
    return s.reshape(x, shape=(*shape[:place], 1, *shape[place:]))


def diagonal_of(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as the last axis of the result: every (m+1)-th element of the flattened matrix."""
    ndim = ndim_of(x)
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = normalize_axis_index(axis1, ndim), normalize_axis_index(axis2, ndim)
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    offset = operator.index(offset)
    rest = [k for k in range(ndim) if k not in (axis1, axis2)]
    if [*rest, axis1, axis2] != list(range(ndim)):
        x = s.transpose(x, axes=(*rest, axis1, axis2))
    *lead, n, m = shape_of(x)
    count = diagonal_length(n, m, offset)
    if not n.__class__ is int is m.__class__:
        return index(x, *diagonal_places(count, offset), pattern=(*[slice(None)] * len(lead), ARRAY, ARRAY))
    start = offset if offset >= 0 else -offset * m
    places = slice(start, start + (count - 1) * (m + 1) + 1 if count else start, m + 1)
    return index(s.reshape(x, shape=(*lead, n * m)), pattern=(Ellipsis, places))


# ------------------------------------------------------------------------------------------------- vectors, matrices


@implements(np.dot)
def dot(a: Any, b: Any) -> Any:
    a, b = operand(a), operand(b)
    a_rank, b_rank = len(shape_of(a)), len(shape_of(b))
    if a_rank == 0 or b_rank == 0:
        return e.multiply(with_dtype(a), with_dtype(b))
    return matmul(a, b) if b_rank <= 2 else tensordot(a, b, axes=([-1], [-2]))


@implements(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    return matmul(operand(x1), operand(x2))


@implements(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    return matmul(conj(flat(operand(a))), flat(operand(b)))


@implements(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    a, b = operand(a), operand(b)
    a_rank, b_rank = ndim_of(a), ndim_of(b)
    if a_rank == 0 or b_rank == 0:
        return e.multiply(with_dtype(a), with_dtype(b))
    if b_rank <= 2:
        return matmul(a, b if b_rank == 1 else swap_last_axes(b))
    return tensordot(a, b, axes=([-1], [-1]))


@implements(np.outer)
def outer(a: Any, b: Any) -> Any:
    return e.multiply(_with_axis(flat(operand(a)), -1), flat(operand(b)))


@implements(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    x1, x2 = operand(x1), operand(x2)
    if ndim_of(x1) != 1 or ndim_of(x2) != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={ndim_of(x1)} and x2.ndim={ndim_of(x2)}."
        )
    return outer(x1, x2)


def _reject_options(name: str, options: dict) -> None:
    """What may be said to a ufunc with a signature and is not supported here."""
    for neutral in ("casting", "order", "subok"):
        options.pop(neutral, None)
    if options:
        raise UnsupportedFunctionError(
            f"{name} with {', '.join(options)}= on a traced value",
            remedy="move the axes with np.moveaxis before, and convert with x.astype after",
        )


def _demand_rank(name: str, which: int, x: Any, rank: int) -> None:
    if ndim_of(x) < rank:
        raise ValueError(
            f"{name}: Input operand {which} does not have enough dimensions (it has {ndim_of(x)}, "
            f"the signature requires {rank})"
        )


@implements(np.vecdot, np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, keepdims: bool = False, **options: Any) -> Any:
    _reject_options("np.vecdot", options)
    x1, x2 = operand(x1), operand(x2)
    _demand_rank("vecdot", 0, x1, 1)
    _demand_rank("vecdot", 1, x2, 1)
    x1, x2 = conj(move_axis(x1, axis, -1)), move_axis(x2, axis, -1)
    if shape_of(x1)[-1] != shape_of(x2)[-1]:
        raise ValueError(f"vecdot: vectors of {shape_of(x1)[-1]} and {shape_of(x2)[-1]} elements")
    if ndim_of(x1) == ndim_of(x2) == 1:
        y = matmul(x1, x2)
    else:
        z = e.multiply(x1, x2)
        y = s.sum(z, axis=(ndim_of(z) - 1,))
        y = y if dtype_of(y) == dtype_of(z) else cast(y, dtype_of(z))
    return move_axis(_with_axis(y, -1), -1, axis) if keepdims else y


@implements(if_present("matvec"))
def matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    _reject_options("np.matvec", options)
    x1, x2 = operand(x1), operand(x2)
    _demand_rank("matvec", 0, x1, 2)
    _demand_rank("matvec", 1, x2, 1)
    if ndim_of(x2) == 1:
        return matmul(x1, x2)
    return index(matmul(x1, _with_axis(x2, -1)), pattern=(Ellipsis, 0))


@implements(if_present("vecmat"))
def vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    _reject_options("np.vecmat", options)
    x1, x2 = conj(operand(x1)), operand(x2)
    _demand_rank("vecmat", 0, x1, 1)
    _demand_rank("vecmat", 1, x2, 2)
    if ndim_of(x1) == 1:
        return matmul(x1, x2)
    return index(matmul(_with_axis(x1, -2), x2), pattern=(Ellipsis, 0, slice(None)))


# ---------------------------------------------------------------------------------------------------------- any rank


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """One matmul, between reshapes: contracted axes last in `a` and first in `b`."""
    a, b = operand(a), operand(b)
    a_shape, b_shape = shape_of(a), shape_of(b)
    a_axes, b_axes = _contracted(axes, len(a_shape), len(b_shape))
    if [a_shape[k] for k in a_axes] != [b_shape[k] for k in b_axes]:
        raise ValueError("shape-mismatch for sum")
    a_rest = [k for k in range(len(a_shape)) if k not in a_axes]
    b_rest = [k for k in range(len(b_shape)) if k not in b_axes]
    n = math.prod(a_shape[k] for k in a_axes)
    rows, columns = [a_shape[k] for k in a_rest], [b_shape[k] for k in b_rest]
    left = s.reshape(s.transpose(a, axes=(*a_rest, *a_axes)), shape=(math.prod(rows), n))
    right = s.reshape(s.transpose(b, axes=(*b_axes, *b_rest)), shape=(n, math.prod(columns)))
    return s.reshape(matmul(left, right), shape=(*rows, *columns))


@implements(np.linalg.tensordot)
def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return tensordot(x1, x2, axes)


def _contracted(axes: Any, a_rank: int, b_rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    try:
        first, second = axes
    except TypeError:
        n = operator.index(axes)
        if n > a_rank or n > b_rank:
            raise ValueError(f"tensordot over {n} axes of arrays of rank {a_rank} and {b_rank}") from None
        first, second = range(a_rank - n, a_rank), range(n)
    first = normalize_axis_tuple(first if isinstance(first, int) else tuple(first), a_rank)
    second = normalize_axis_tuple(second if isinstance(second, int) else tuple(second), b_rank)
    if len(first) != len(second):
        raise ValueError("shape-mismatch for sum")
    return first, second


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    a, b = operand(a), operand(b)
    rank = max(ndim_of(a), ndim_of(b))
    a_shape = (1,) * (rank - ndim_of(a)) + shape_of(a)
    b_shape = (1,) * (rank - ndim_of(b)) + shape_of(b)
    spread_a = s.reshape(a, shape=tuple([n for size in a_shape for n in (size, 1)]))
    spread_b = s.reshape(b, shape=tuple([n for size in b_shape for n in (1, size)]))
    return s.reshape(
        e.multiply(spread_a, spread_b), shape=tuple([n * m for n, m in zip(a_shape, b_shape, strict=True)])
    )


_CROSSES_IN_THE_PLANE = np.lib.NumpyVersion(np.__version__) < "2.5.0"
"""Until then NumPy took vectors of two components, too."""


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = operand(a), operand(b)
    if ndim_of(a) < 1 or ndim_of(b) < 1:
        raise ValueError("At least one array has zero dimension")
    a, b = move_axis(a, axisa, -1), move_axis(b, axisb, -1)
    sizes = (shape_of(a)[-1], shape_of(b)[-1])
    if not set(sizes) <= {2, 3}:
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    if 2 in sizes and not _CROSSES_IN_THE_PLANE:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {sizes[0]} and {sizes[1]} dimensional instead."
        )
    a0, a1, *a2 = [index(a, pattern=(Ellipsis, k)) for k in range(sizes[0])]
    b0, b1, *b2 = [index(b, pattern=(Ellipsis, k)) for k in range(sizes[1])]
    last = a0 * b1 - a1 * b0
    if not a2 and not b2:
        return last
    # A vector of two components lies in the plane: its third is zero.
    if a2 and b2:
        parts = [a1 * b2[0] - a2[0] * b1, a2[0] * b0 - a0 * b2[0], last]
    elif a2:
        parts = [-(a2[0] * b1), a2[0] * b0, last]
    else:
        parts = [a1 * b2[0], -(a0 * b2[0]), last]
    return move_axis(join([_with_axis(part, -1) for part in parts], ndim_of(last)), -1, axisc)


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = operand(x1), operand(x2)
    if shape_of(x1)[axis] != 3 or shape_of(x2)[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {shape_of(x1)[axis]} and {shape_of(x2)[axis]} dimensional instead."
        )
    return cross(x1, x2, axis=axis)


# -------------------------------------------------------------------------------------------------- diagonals, traces


@implements(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    d = diagonal_of(operand(a), offset, axis1, axis2)
    if dtype is not None:
        d = cast(d, dtype)
    return s.sum(d, axis=(ndim_of(d) - 1,))


@implements(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


# ----------------------------------------------------------------------------------------------- several factors


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any]) -> Any:
    """A chain of matrix products, in the order of least work (Cormen et al., Introduction to Algorithms, §15.2)."""
    factors = [operand(a) for a in arrays]
    if len(factors) < 2:
        raise ValueError("Expecting at least two arrays.")
    shapes = [shape_of(a) for a in factors]
    for k, shape in enumerate(shapes):
        if len(shape) != 2 and not (len(shape) == 1 and k in (0, len(shapes) - 1)):
            raise np.linalg.LinAlgError(f"{len(shape)}-dimensional array given. Array must be two-dimensional")
    sizes = [shapes[0][0] if len(shapes[0]) == 2 else 1, *[x[0] for x in shapes[1:]]]
    sizes.append(shapes[-1][1] if len(shapes[-1]) == 2 else 1)

    @functools.cache
    def best(i: int, j: int) -> tuple[int, int]:
        """The least work for the product of factors i to j, and after which of them to split it."""
        if i == j:
            return 0, i
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Any:
        if i == j:
            return factors[i]
        k = best(i, j)[1]
        return matmul(product(i, k), product(k + 1, j))

    return product(0, len(factors) - 1)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """By repeated squaring."""
    n = operator.index(n)
    shape = shape_of(a)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        a, n = inv(a), -n
    if n == 0:
        return np.broadcast_to(np.eye(shape[-1], dtype=dtype_of(a)), shape).copy()
    power, result = a, None
    while n:
        if n & 1:
            result = power if result is None else matmul(result, power)
        n >>= 1
        if n:
            power = matmul(power, power)
    return result
