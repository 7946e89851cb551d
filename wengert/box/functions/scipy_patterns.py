"""scipy.linalg's matrices of a pattern, made of sequences: companion matrices, Leslie's, Fiedler's, convolutions.

Most are `pick`: elements of a sequence, zeros and ones put into their places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from wengert.box.dispatch import implements_blind
from wengert.box.functions.elementwise import absolute
from wengert.box.functions.operands import array, common_answer, inexact, join, part, pick, unsupported_option
from wengert.box.functions.scipy_linalg import toeplitz
from wengert.box.functions.stacks import over_stacks
from wengert.ops import matrices as m
from wengert.ops import shape as s
from wengert.ops.products import matmul
from wengert.types import dtype_of, ndim_of, shape_of


def _sequence(x: Any) -> Any:
    x = inexact(x)
    return s.reshape(x, shape=(1,)) if ndim_of(x) == 0 else x


def _placed(x: Any, places: np.ndarray) -> Any:
    """The elements of a sequence, with 0 and 1 appended to it, at places; −1 is a one and −2 a zero."""
    extended = join([x, np.array([0.0, 1.0], dtype_of(x))], 0)
    return pick(extended, places % (shape_of(x)[0] + 2))


@implements_blind(scipy.linalg.companion)
@over_stacks(a=1)
def companion(a: Any) -> Any:
    a = _sequence(a)
    n = shape_of(a)[0]
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if common_answer(lambda x: bool(x[0] == 0), a):
        raise ValueError("The first coefficient(s) of `a` (i.e. elements of `a[..., 0]`) must not be zero.")
    row = part(a, 0, slice(1, None)) / -part(a, 0, slice(0, 1))
    places = np.full((n - 1, n - 1), -2)
    places[0] = np.arange(n - 1)
    places[np.arange(1, n - 1), np.arange(n - 2)] = -1
    return _placed(row, places)


@implements_blind(scipy.linalg.fiedler_companion)
@over_stacks(a=1)
def fiedler_companion(a: Any) -> Any:
    a = _sequence(a)
    n = shape_of(a)[0] - 1
    if n < 1:
        return np.array([], dtype_of(a))
    if common_answer(lambda x: bool(x[0] == 0), a):
        raise ValueError("Leading coefficient is zero.")
    coefficients = a / -part(a, 0, slice(0, 1))
    if n == 1:
        return s.reshape(part(coefficients, 0, slice(1, 2)), shape=(1, 1))
    places = np.full((n, n), -2)
    places[range(3, n, 2), range(1, n - 2, 2)] = -1
    places[range(2, n, 2), range(1, n - 1, 2)] = np.arange(3, n + 1, 2)
    places[range(0, n - 2, 2), range(2, n, 2)] = -1
    places[range(0, n - 1, 2), range(1, n, 2)] = np.arange(2, n + 1, 2)
    places[[0, 1], 0] = [1, -1]
    return _placed(coefficients, places)


@implements_blind(scipy.linalg.leslie)
@over_stacks(f=1, s=1)
def leslie(f: Any, s: Any) -> Any:
    f, s = _sequence(f), _sequence(s)
    n = shape_of(f)[0]
    if n != shape_of(s)[0] + 1:
        raise ValueError("The length of s along the last axis must be one less than the length of f.")
    if n < 2:
        raise ValueError("The length of s must be at least 1.")
    places = np.full((n, n), -2)
    places[0] = np.arange(n)
    places[np.arange(1, n), np.arange(n - 1)] = np.arange(n, 2 * n - 1)
    return _placed(join([f, s], 0), places)


@implements_blind(scipy.linalg.fiedler)
@over_stacks(a=1)
def fiedler(a: Any) -> Any:
    a = _sequence(a)
    return absolute(m.column(a) - m.row(a))


@implements_blind(scipy.linalg.convolution_matrix)
@over_stacks(a=1)
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    a = _sequence(a)
    length = shape_of(a)[0]
    # SciPy rearranges the positions, counted from one, and puts zeros between them.
    places = scipy.linalg.convolution_matrix(np.arange(1, length + 1), n, mode)
    return _placed(a, places - 1 - (places == 0))


@implements_blind(scipy.linalg.diagsvd)
@over_stacks(s=1)
def diagsvd(s: Any, M: int, N: int) -> Any:
    s = _sequence(s)
    k = shape_of(s)[0]
    if k not in (M, N):
        raise ValueError("Length of s must be M or N.")
    places = np.full((M, N), -2)
    places[np.arange(k), np.arange(k)] = np.arange(k)
    return _placed(s, places)


@implements_blind(scipy.linalg.khatri_rao)
@over_stacks(a=2, b=2)
def khatri_rao(a: Any, b: Any) -> Any:
    a, b = array(a), array(b)
    if ndim_of(a) != 2 or ndim_of(b) != 2:
        raise ValueError("The both arrays should be 2-dimensional.")
    (rows, columns), (others, same) = shape_of(a), shape_of(b)
    if columns != same:
        raise ValueError("The number of columns for both arrays should be equal.")
    product = s.reshape(a, shape=(rows, 1, columns)) * s.reshape(b, shape=(1, others, columns))
    return s.reshape(product, shape=(rows * others, columns))


@implements_blind(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr: Any, x: Any) -> Any:
    """By the whole matrix, in quadratic time."""
    c, r = c_or_cr if c_or_cr.__class__ is tuple else (c_or_cr, None)
    x = inexact(x)
    if ndim_of(x) > 2:
        raise unsupported_option("scipy.linalg.matmul_toeplitz", "stacks of matrices", "take one after the other")
    return matmul(toeplitz(c, r), x)
