"""Enclosures of linear systems, determinants and Cholesky factors of interval matrices.

Linear systems are preconditioned by an approximate inverse (Krawczyk's method, in Rump's form). A determinant is that
of L·P·a·U ≈ I, where L and U are approximate inverses of the factors of midpoints, divided by theirs: elimination of
a matrix close to the identity loses little (Neumaier 1990, chapter 4). Cholesky factors are computed column by column.

All are for one matrix; `of_stacks` makes enclosures of stacks of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ops.enclosures import Enclosure, stated
from wengert.ops.index import ARRAY
from wengert.ops.interval_sums import matmul, midpoint, squeezed, total
from wengert.ops.op import Op
from wengert.ops.rounding import Bounds, V, moved, sum_towards
from wengert.ops.sizes import raise_unless
from wengert.types import shape_of


def of_stacks(enclosure: Enclosure, count: int = 1) -> Enclosure:
    """An enclosure of a function of so many matrices, made one of stacks of them: one after the other."""

    def of_all(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        shapes = [shape_of(a) for a in args[:count]]
        lead = np.broadcast_shapes(*[shape[:-2] for shape in shapes])
        if not lead:
            return enclosure(mode, op, args, params)
        size = math.prod(lead)
        if size == 0:
            raise UnsupportedFunctionError(f"the enclosure of {op.name} of no matrices", remedy="pass at least one")
        stacks = [  # the right-hand side of all systems may be one vector
            V.reshape(V.broadcast_to(a, shape=(*lead, *s[-2:])), shape=(size, *s[-2:])) if len(s) > 1 else None
            for a, s in zip(args, shapes, strict=False)
        ]
        found = []
        for k in range(size):
            one = [a if x is None else V.index(x, pattern=(k,)) for a, x in zip(args, stacks, strict=False)]
            found.append(enclosure(mode, op, (*one, *args[count:]), params))
        if found[0].__class__ is tuple:
            return tuple([_stacked(part, lead) for part in zip(*found, strict=True)])
        return _stacked(found, lead)

    return of_all


def _stacked(values: Sequence[Any], lead: tuple[int, ...]) -> Any:
    shape = shape_of(values[0])
    joined = V.concatenate(*[V.reshape(y, shape=(1, *shape)) for y in values], axis=0)
    return V.reshape(joined, shape=(*lead, *shape))


def solve(a: Bounds, b: Bounds) -> Bounds:
    """The solutions of all systems in an interval matrix and an interval right-hand side.

    With R ≈ mid(a)⁻¹ and x̃ = R·mid(b): the solution is x̃ + e, where e = R(b − a·x̃) + (I − R·a)·e. If C = |I − R·a|
    has a norm below one, no matrix in a is singular, and |e| ≤ |z| + C·(‖z‖/(1 − ‖C‖)) for z = R(b − a·x̃) (Rump 1983).
    """
    n = shape_of(a.lo)[-1]
    single = len(shape_of(b.lo)) == 1
    if single:
        b = Bounds(*[V.reshape(v, shape=(n, 1)) for v in b])
    m = midpoint(a)
    usable = V.all(V.isfinite(m), axis=(0, 1))
    try:
        r = V.inv(V.where(usable, m, np.eye(n)))
    except np.linalg.LinAlgError:
        return Bounds(np.full(shape_of(b.lo)[: 1 if single else 2], -math.inf), np.full(
            shape_of(b.lo)[: 1 if single else 2], math.inf))  # fmt: skip
    found = V.matmul(r, midpoint(b))
    minus = Bounds(V.negative(found), V.negative(found))
    ax = matmul(a, minus)
    rest = Bounds(sum_towards(b.lo, ax.lo, -1), sum_towards(b.hi, ax.hi, 1))
    z = matmul(Bounds(r, r), rest)
    ra = matmul(Bounds(r, r), a)
    eye = np.eye(n)
    c = Bounds(sum_towards(eye, V.negative(ra.hi), -1), sum_towards(eye, V.negative(ra.lo), 1))
    c_size = V.maximum(V.absolute(c.lo), V.absolute(c.hi))
    z_size = V.maximum(V.absolute(z.lo), V.absolute(z.hi))
    rows = total(Bounds(c_size, c_size), (1,)).hi
    contraction = V.max(rows, axis=(0,))
    left = moved(V.subtract(1.0, contraction), -1)
    reach = moved(V.divide(V.max(z_size, axis=(0,)), left), 1)
    spread = V.reshape(moved(V.multiply(V.reshape(rows, shape=(n, 1)), V.reshape(reach, shape=(1, shape_of(reach)[0]))),
                       1), shape=shape_of(z_size))  # fmt: skip
    e = moved(V.add(z_size, spread), 1)
    safe = V.logical_and(usable, V.greater(left, 0))
    low, high = moved(V.subtract(found, e), -1), moved(V.add(found, e), 1)
    low, high = V.where(safe, low, -math.inf), V.where(safe, high, math.inf)
    y = Bounds(V.where(V.isnan(low), -math.inf, low), V.where(V.isnan(high), math.inf, high))
    return squeezed(y) if single else y


def inv(a: Bounds) -> Bounds:
    eye = np.eye(shape_of(a.lo)[-1])
    return solve(a, Bounds(eye, eye))


def solve_triangular(a: Bounds, b: Bounds, lower: bool, unit: bool) -> Bounds:
    n = shape_of(a.lo)[-1]
    inside = (np.tril if lower else np.triu)(np.ones((n, n), bool), (-1 if lower else 1) if unit else 0)
    others = np.eye(n) if unit else np.zeros((n, n))
    return solve(Bounds(*[V.where(inside, v, others) for v in a]), b)


# ---------------------------------------------------------------------------------- systems that are stored otherwise
#
# They are solved as dense ones.

_MOST = 1500
"""So many unknowns at most."""


def _square(op: Op, entries: Any, rows: np.ndarray, columns: np.ndarray, n: int) -> Any:
    """The matrix that has these entries, those at one place added."""
    if n > _MOST:
        raise UnsupportedFunctionError(
            f"no enclosure is known of {op.name} of more than {_MOST} unknowns", remedy="solve a smaller system"
        )
    flat = V.scatter(entries, rows.astype(np.int64) * n + columns, patterns=((ARRAY,),), shape=(n * n,))
    return V.reshape(flat, shape=(n, n))


def sparse_solve(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    entries, b = args
    return V.solve(_square(op, entries, params["rows"], params["columns"], shape_of(b)[0]), b)


def solve_banded(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """ab[u + i − j, j] is a[i, j]."""
    (ab, b), u = args, params["u"]
    k, n = shape_of(ab)
    diagonals, columns = np.divmod(np.arange(k * n), n)
    rows = columns + diagonals - u
    inside = (rows >= 0) & (rows < n)
    entries = V.index(V.reshape(ab, shape=(k * n,)), np.flatnonzero(inside), pattern=(ARRAY,))
    return V.solve(_square(op, entries, rows[inside], columns[inside], n), b)


def sylvester(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """a x + x b = q, of which the rows of x, one after the other, are the unknowns: (a ⊗ I + I ⊗ bᵀ) x = q."""
    a, b, q = args
    n, m = shape_of(q)
    if n * m > _MOST:
        raise UnsupportedFunctionError(
            f"no enclosure is known of {op.name} of more than {_MOST} unknowns", remedy="solve a smaller system"
        )
    left = V.multiply(V.reshape(a, shape=(n, 1, n, 1)), np.eye(m).reshape(1, m, 1, m))
    right = V.multiply(np.eye(n).reshape(n, 1, n, 1), V.reshape(V.transpose(b, axes=(1, 0)), shape=(1, m, 1, m)))
    matrix = V.reshape(V.add(left, right), shape=(n * m, n * m))
    return V.reshape(V.solve(matrix, V.reshape(q, shape=(n * m,))), shape=(n, m))


def recursive_filter(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """a[0]·y[i] + a[1]·y[i − 1] + … = x[i]: a triangular system for each lane, all with one matrix."""
    a, x = args
    shape = shape_of(x)
    n = shape[-1]
    if len(shape_of(a)) > 1 or not math.prod(shape):
        raise UnsupportedFunctionError(
            f"no enclosure is known of {op.name} of several filters at once", remedy="filter one after the other"
        )
    columns, lag = np.divmod(np.arange(n * shape_of(a)[0]), shape_of(a)[0])
    inside = columns + lag < n
    entries = V.index(a, lag[inside], pattern=(ARRAY,))
    matrix = _square(op, entries, (columns + lag)[inside], columns[inside], n)
    lanes = V.transpose(V.reshape(x, shape=(math.prod(shape[:-1]), n)), axes=(1, 0))
    return V.reshape(V.transpose(V.solve(matrix, lanes), axes=(1, 0)), shape=shape)


def _part(a: Any, rows: Any, columns: Any) -> Any:
    return V.index(a, pattern=(rows, columns))


def cholesky(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """Column by column, of the lower triangle; where a matrix is not positive definite, its factor is not defined."""
    a = args[0]
    n = shape_of(a)[0]
    columns, rest = [], a
    for j in range(n):
        end = n - j
        if mode.tag:
            raise_unless(V.greater(_part(rest, 0, 0), 0), "LinAlgError", op.failures["LinAlgError"] or "")
        pivot = V.sqrt(V.reshape(_part(rest, 0, 0), shape=(1,)))
        column = V.divide(_part(rest, slice(1, end), 0), pivot)
        columns.append(V.reshape(V.concatenate(np.zeros(j), pivot, column, axis=0), shape=(n, 1)))
        rows, across = V.reshape(column, shape=(end - 1, 1)), V.reshape(column, shape=(1, end - 1))
        rest = V.subtract(_part(rest, slice(1, end), slice(1, end)), V.multiply(rows, across))
    return V.concatenate(*columns, axis=1)


def _pivots(mode: Any, a: Any) -> tuple[list[Any], Any]:
    """Numbers whose product is the determinant, up to one that is 1 or −1, which comes second."""
    n = shape_of(a)[0]
    x = mode.bounds(a)
    middle = midpoint(x)
    middle = V.where(V.all(V.isfinite(middle), axis=(0, 1)), middle, np.eye(n))
    p, l, u = V.lu(middle)
    diagonal = V.multiply(u, np.eye(n))
    u = V.add(u, V.where(V.logical_and(np.eye(n, dtype=bool), V.equal(diagonal, 0.0)), 1.0, 0.0))  # any number does
    left = V.where(np.tril(np.ones((n, n), bool)), V.solve_triangular(l, np.eye(n), lower=True, unit=True), 0.0)
    right = V.where(np.triu(np.ones((n, n), bool)), V.solve_triangular(u, np.eye(n), lower=False, unit=False), 0.0)
    permuted = matmul(Bounds(*[V.transpose(p, axes=(1, 0))] * 2), x)
    rest = mode.enclosed(matmul(matmul(Bounds(left, left), permuted), Bounds(right, right)))
    found = []
    for j in range(n):
        end = n - j
        pivot = _part(rest, 0, 0)
        known = mode.bounds(
            V.multiply(_part(left, j, j), mode.enclosed(Bounds(_part(right, j, j), _part(right, j, j))))
        )
        found.append(V.divide(pivot, mode.enclosed(known)))
        below = V.divide(_part(rest, slice(1, end), slice(0, 1)), pivot)
        rest = V.subtract(
            _part(rest, slice(1, end), slice(1, end)), V.multiply(below, _part(rest, slice(0, 1), slice(1, end)))
        )
    return found, V.sign(V.det(p))


def _regular(mode: Any, pivots: list[Any]) -> Any:
    """Whether no pivot can be zero: otherwise nothing is known."""
    certain: Any = True
    for pivot in pivots:
        low, high = mode.bounds(pivot)
        certain = V.logical_and(certain, V.logical_or(V.greater(low, 0), V.less(high, 0)))
    return certain


def _if_regular(mode: Any, certain: Any, y: Any) -> Any:
    low, high = mode.bounds(y)
    return mode.enclosed(Bounds(V.where(certain, low, -math.inf), V.where(certain, high, math.inf)))


def det(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """Of up to three rows: the formula."""
    (a,) = args
    n = shape_of(a)[-1]
    if not 1 <= n <= 3:
        pivots, sign = _pivots(mode, a)
        product: Any = sign
        for pivot in pivots:
            product = V.multiply(product, pivot)
        return _if_regular(mode, _regular(mode, pivots), product) if pivots else sign
    x = [[_part(a, i, j) for j in range(n)] for i in range(n)]
    if n == 1:
        return x[0][0]

    def minor(i: int, j: int, k: int, m: int) -> Any:
        return V.subtract(V.multiply(x[i][k], x[j][m]), V.multiply(x[i][m], x[j][k]))

    if n == 2:
        return minor(0, 1, 0, 1)
    terms = [V.multiply(x[0][k], minor(1, 2, *[c for c in range(3) if c != k])) for k in range(3)]
    return V.add(V.subtract(terms[0], terms[1]), terms[2])


def slogdet(mode: Any, op: Op, args: tuple, params: dict) -> tuple[Any, Any]:
    pivots, sign = _pivots(mode, args[0])
    certain = _regular(mode, pivots)
    total_log: Any = 0.0
    for pivot in pivots:
        total_log = V.add(total_log, V.log(V.absolute(pivot)))
        sign = V.multiply(sign, V.where(V.less(mode.bounds(pivot).hi, 0), -1.0, 1.0))
    signs = mode.enclosed(Bounds(V.where(certain, sign, -1.0), V.where(certain, sign, 1.0)))
    return signs, _if_regular(mode, certain, total_log)


SOLVE, SOLVE_TRIANGULAR = of_stacks(stated(solve), 2), of_stacks(stated(solve_triangular), 2)
SYLVESTER = of_stacks(sylvester, 3)
INV, CHOLESKY, DET, SLOGDET = [of_stacks(one) for one in (stated(inv), cholesky, det, slogdet)]
