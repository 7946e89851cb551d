"""`derivative_tensor`: all partial derivatives of an order, from Taylor series in one variable.

Along a direction s, coefficient d of t ↦ f(x + t·s) is a combination of all partial derivatives of order d. Enough
directions determine them: one for each multi-index j of order d, with s = j. The combination can be inverted once and
for all (Griewank, Utke & Walther 2000, "Evaluating higher derivative tensors by forward propagation of univariate
Taylor series", (13)):

    ∂ⁱf = Σⱼ γᵢⱼ cⱼ,   γᵢⱼ = Σ_{0<k≤i} (−1)^|i−k| · C(i, k) · C(d·k/|k|, j) · (|k|/d)ᵈ

where γᵢⱼ vanishes unless j is zero wherever i is. Entries that symmetry makes equal are computed once.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse

from wengert.api.arguments import Prepared
from wengert.api.operators import operation, result_of
from wengert.api.taylor import checked_order
from wengert.errors import MismatchError, UnsupportedFunctionError
from wengert.modes.batch import BatchTrace
from wengert.ops.index import ARRAY, index
from wengert.ops.op import enclosing
from wengert.ops.shape import concatenate, reshape, transpose
from wengert.ops.sparse import sparse_matmul
from wengert.types import aval_of, dtype_of, shape_of

_CHUNK = 256
"""So many directions at once: enough to use the hardware, few enough to bound memory."""


@operation
def derivative_tensor(f: Callable, order: int, argnums: int = 0) -> Callable:
    """All partial derivatives of an order: an array of shape `f(x).shape + order * x.shape`.

    Args:
        f: a function of an array, or a number, whose result is a number, an array, or a container of them.
        order: how often to differentiate. 1 is the Jacobian, 2 the Hessian.
        argnums: which positional argument is the array.

    Returns:
        A function with the arguments of `f` that returns the full, symmetric tensor.

    Cost: series of the given order along as many directions as there are different entries, C(n + d − 1, d) for n
    numbers and order d. Some digits are lost in combining them, about one for every two orders.

    >>> import numpy as np
    >>> derivative_tensor(lambda x: x[0] ** 2 * x[1], order=3)(np.array([5.0, 7.0])).round(12)
    array([[[0., 2.],
            [2., 0.]],
    <BLANKLINE>
           [[2., 0.],
            [0., 0.]]])
    """
    d = checked_order(order)

    @result_of("derivative_tensor", f)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(f, argnums, args, kwargs, False)
        if len(prepared.leaves) != 1:
            raise MismatchError(
                "derivative_tensor of a function of a container",
                remedy="make it a function of one array, which it takes apart",
            )
        (x,) = prepared.leaves
        shape, dtype = aval_of(x)
        n = math.prod(shape)
        if d == 0 or n == 0:
            found = prepared.expand([[x]], 0)
            return prepared.outputs([_empty(y[0], shape, d) for y in found])
        indices = list(itertools.combinations_with_replacement(range(n), d))
        columns: list[list[Any]] = []
        for start in range(0, len(indices), _CHUNK):
            chosen = indices[start : start + _CHUNK]
            batch = BatchTrace(len(chosen))
            directions = _exponents(chosen, n).astype(dtype).reshape(len(chosen), *shape)
            found = prepared.expand([[x, batch.wrap(directions)]], d)
            values = [y[0] for y in found]
            columns.append([_stacked(batch, y[0], y[d]) for y in found])
        wanted = combinations(n, d)
        places = _places(n, d)
        return prepared.outputs(
            [_tensor(y, list(parts), wanted, places, shape, d)
             for y, parts in zip(values, zip(*columns, strict=True), strict=True)]
        )  # fmt: skip

    return differentiated


def _empty(y: Any, shape: tuple[int, ...], d: int) -> Any:
    return y if d == 0 else np.zeros((*shape_of(y), *shape * d), dtype_of(y))


def _stacked(batch: BatchTrace, y: Any, coefficient: Any) -> Any:
    """The last coefficient along each direction, as rows."""
    if batch.owns(y):
        y = index(batch.unwrap(y), pattern=(0,))
    size = math.prod(shape_of(y))
    if coefficient is None:
        return np.zeros((batch.size, size), dtype_of(y))
    return reshape(batch.unwrap(coefficient), shape=(batch.size, size))


def _tensor(y: Any, parts: list[Any], wanted: Any, places: np.ndarray, shape: tuple[int, ...], d: int) -> Any:
    rows = parts[0] if len(parts) == 1 else concatenate(*parts, axis=0)
    matrix, divisor = wanted
    if divisor is None and enclosing(rows) is not None:
        raise UnsupportedFunctionError(
            f"no enclosure is known of derivative_tensor of order {d}, whose combinations of coefficients are rounded",
            remedy="nest wg.jacobian",
        )
    distinct = sparse_matmul(rows, matrix=matrix.astype(dtype_of(rows)))
    distinct = distinct if divisor is None else distinct / divisor
    own = math.prod(shape_of(rows)[1:])
    whole = index(distinct, places, pattern=(ARRAY,))
    whole = transpose(reshape(whole, shape=(places.size, own)), axes=(1, 0))
    return reshape(whole, shape=(*shape_of(y), *shape * d))


def _exponents(indices: Sequence[tuple[int, ...]], n: int) -> np.ndarray:
    """The multi-index of each tuple of variables."""
    found = np.zeros((len(indices), n))
    for row, chosen in enumerate(indices):
        for k in chosen:
            found[row, k] += 1
    return found


@functools.lru_cache(maxsize=32)
def _places(n: int, d: int) -> np.ndarray:
    """For each entry of the full tensor the number of the one that symmetry makes equal to it."""
    number = {chosen: k for k, chosen in enumerate(itertools.combinations_with_replacement(range(n), d))}
    return np.array([number[tuple(sorted(chosen))] for chosen in itertools.product(range(n), repeat=d)])


@functools.lru_cache(maxsize=32)
def combinations(n: int, d: int) -> tuple[scipy.sparse.csr_array, float | None]:
    """The matrix γ: whole numbers and their common divisor; where these are no floats, rounded quotients and None."""
    indices = list(itertools.combinations_with_replacement(range(n), d))
    number = {chosen: k for k, chosen in enumerate(indices)}
    rows, columns, values = [], [], []
    for row, chosen in enumerate(indices):
        support = sorted(set(chosen))
        i = tuple([chosen.count(k) for k in support])
        for others in itertools.combinations_with_replacement(support, d):
            c = _gamma(i, tuple([others.count(k) for k in support]))
            if c:
                rows.append(row)
                columns.append(number[others])
                values.append(c)
    divisor = math.lcm(*[c.denominator for c in values])
    whole = [int(c * divisor) for c in values]
    is_exact = max(divisor, *map(abs, whole)) < 2**53
    entries = [float(c) for c in (whole if is_exact else values)]
    matrix = scipy.sparse.csr_array((entries, (rows, columns)), shape=(len(indices), len(indices)))
    return matrix, float(divisor) if is_exact else None


@functools.cache
def _gamma(i: tuple[int, ...], j: tuple[int, ...]) -> Fraction:
    d, total = sum(i), Fraction(0)
    for k in itertools.product(*[range(m + 1) for m in i]):
        size = sum(k)
        if size:
            c = Fraction((-1) ** (d - size) * size**d, d**d)
            for a, b, e in zip(i, k, j, strict=True):
                c *= math.comb(a, b) * _binomial(Fraction(d * b, size), e)
            total += c
    return total


def _binomial(z: Fraction, k: int) -> Fraction:
    found = Fraction(1)
    for l in range(k):
        found *= (z - l) / (l + 1)
    return found
