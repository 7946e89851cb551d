"""Enclosures of eigenvalues, singular values, pseudo-inverses and exponentials of interval matrices.

Eigenvalues of symmetric matrices: with approximate eigenvectors X of a midpoint, XᵀAX is nearly diagonal. Its
eigenvalues are those of A times numbers between the extreme eigenvalues of XᵀX (Ostrowski 1959), and not farther from
its diagonal, both in order, than the largest sum of what stands beside it in a row (Weyl). How far XᵀX is from the
identity is bounded in the same way. Singular values are eigenvalues of [0 A; Aᵀ 0].

Pseudo-inverses of matrices of full rank solve [I A; Aᵀ 0]·[r; x] = [b; 0], whose condition is not that of AᵀA (Rump
1999). Exponentials are Taylor polynomials of A/2ˢ with a bound of what is left out, squared s times.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops.enclosures import stated
from wengert.ops.index import ARRAY
from wengert.ops.interval_arithmetic import add, divide, multiply, subtract
from wengert.ops.interval_sums import matmul, midpoint, radius, total
from wengert.ops.interval_systems import of_stacks, solve
from wengert.ops.op import Traced
from wengert.ops.rounding import Bounds, V, moved
from wengert.types import dtype_of, shape_of

_DEGREE = 16
_SQUARINGS = 8
"""Of exponentials: the degree of the polynomial, and how often it is squared where the size of the matrix is known only
when the program runs."""


def _size(x: Bounds) -> Any:
    return V.maximum(V.absolute(x.lo), V.absolute(x.hi))


def _norm(size: Any) -> Any:
    """The largest sum of a row of a matrix of positive numbers, rounded up: no eigenvalue is larger."""
    return V.max(total(Bounds(size, size), (1,)).hi, axis=(0,))


def _diagonal(a: Any, n: int) -> Any:
    return V.sum(V.where(np.eye(n, dtype=bool), a, 0.0), axis=(1,))


def _ascending(x: Any) -> Any:
    return V.index(x, V.argsort(x, axis=0), pattern=(ARRAY,))


def _transposed(x: Bounds) -> Bounds:
    return Bounds(*[V.transpose(b, axes=(1, 0)) for b in x])


def _known(low: Any, high: Any, certain: Any) -> Bounds:
    """Bounds where they are certain, and numbers; all numbers elsewhere."""
    low, high = V.where(certain, low, -math.inf), V.where(certain, high, math.inf)
    return Bounds(V.where(V.isnan(low), -math.inf, low), V.where(V.isnan(high), math.inf, high))


def _near(a: Bounds, x: Any, n: int) -> Bounds:
    """Eigenvalues, in ascending order, of all symmetric matrices in a, with x for their eigenvectors."""
    vectors = Bounds(x, x)
    product = matmul(matmul(_transposed(vectors), a), vectors)
    beside = _norm(V.where(np.eye(n, dtype=bool), 0.0, _size(product)))
    low = moved(V.subtract(_ascending(_diagonal(product.lo, n)), beside), -1)
    high = moved(V.add(_ascending(_diagonal(product.hi, n)), beside), 1)
    eye = np.eye(n)
    gram = matmul(_transposed(vectors), vectors)
    off = _norm(_size(subtract(gram, Bounds(eye, eye))))
    scale = Bounds(moved(V.subtract(1.0, off), -1), moved(V.add(1.0, off), 1))
    certain = V.greater(scale.lo, 0)
    scale = Bounds(V.where(certain, scale.lo, 1.0), V.where(certain, scale.hi, 1.0))
    scale = Bounds(*[V.broadcast_to(b, shape=(n,)) for b in scale])
    found = divide(Bounds(low, high), scale)
    return _known(found.lo, found.hi, certain)


def _eigenvalues(a: Bounds) -> Bounds:
    """Of all symmetric matrices in a matrix that is symmetric itself: from their products with eigenvectors, and from
    the midpoint, from whose eigenvalues theirs differ by the norm of the radius at most (Weyl)."""
    n = shape_of(a.lo)[0]
    if n == 0:
        return Bounds(*[V.reshape(b, shape=(0,)) for b in a])
    middle = midpoint(a)
    usable = V.all(V.isfinite(middle), axis=(0, 1))
    middle = V.where(usable, middle, np.eye(n))
    x = V.eigh(middle, lower=True)[1]
    direct, centre = _near(a, x, n), _near(Bounds(middle, middle), x, n)
    away = _norm(radius(a, middle))
    low = V.maximum(direct.lo, moved(V.subtract(centre.lo, away), -1))
    high = V.minimum(direct.hi, moved(V.add(centre.hi, away), 1))
    return _known(low, high, usable)


def _mirrored(a: Bounds, lower: bool) -> Bounds:
    """The symmetric matrix that has one triangle of another."""
    inside = (np.tril if lower else np.triu)(np.ones(shape_of(a.lo), bool))
    return Bounds(*[V.where(inside, b, V.transpose(b, axes=(1, 0))) for b in a])


def eigvalsh(a: Bounds, lower: bool) -> Bounds:
    return _eigenvalues(_mirrored(a, lower))


def svdvals(a: Bounds) -> Bounds:
    m, n = shape_of(a.lo)
    count, dtype = min(m, n), dtype_of(a.lo)
    if count == 0:
        return Bounds(*[V.reshape(b, shape=(0,)) for b in a])

    def bordered(b: Any) -> Any:
        upper = V.concatenate(np.zeros((m, m), dtype), b, axis=1)
        return V.concatenate(upper, V.concatenate(V.transpose(b, axes=(1, 0)), np.zeros((n, n), dtype), axis=1), axis=0)

    values = _eigenvalues(Bounds(*[bordered(b) for b in a]))
    largest = [V.index(b, pattern=(slice(m + n - 1, m + n - 1 - count, -1),)) for b in values]
    return Bounds(*[V.maximum(b, 0.0) for b in largest])


def pinv(a: Bounds, rcond: float, hermitian: bool) -> Bounds:
    """Of matrices that are certainly of full rank, also in the eyes of NumPy, which takes small singular values for
    zero. Nothing is known of others: there the pseudo-inverse jumps."""
    m, n = shape_of(a.lo)
    if hermitian:
        a = _mirrored(a, lower=True)
    if m < n:
        return _transposed(pinv(_transposed(a), rcond, hermitian))
    if n == 0:
        return _transposed(a)
    dtype = dtype_of(a.lo)

    def bordered(b: Any) -> Any:
        upper = V.concatenate(np.eye(m, dtype=dtype), b, axis=1)
        return V.concatenate(upper, V.concatenate(V.transpose(b, axes=(1, 0)), np.zeros((n, n), dtype), axis=1), axis=0)

    right = np.concatenate([np.eye(m, dtype=dtype), np.zeros((n, m), dtype)])
    x = solve(Bounds(*[bordered(b) for b in a]), Bounds(right, right))
    values = svdvals(a)
    least, most = V.index(values.lo, pattern=(n - 1,)), V.index(values.hi, pattern=(0,))
    full = V.greater(least, moved(V.multiply(most, 2 * abs(float(rcond))), 1))
    low, high = [V.index(b, pattern=(slice(m, m + n), slice(None))) for b in x]
    return _known(low, high, full)


def expm(a: Bounds) -> Bounds:
    """Σₖ Aᵏ/k! up to the degree d; what is left out is not larger than ‖A‖ᵈ⁺¹/(d + 1)! · 1/(1 − ‖A‖/(d + 2))."""
    n = shape_of(a.lo)[0]
    if n == 0:
        return a
    norm = _norm(_size(a))
    squarings = _SQUARINGS
    if not isinstance(norm, Traced):
        squarings = max(0, math.ceil(math.log2(4 * norm))) if 0 < norm < 2.0**60 else 0
    scale = np.full((n, n), 0.5**squarings, dtype_of(a.lo))
    a = multiply(a, Bounds(scale, scale))
    norm = _norm(_size(a))
    eye = np.eye(n, dtype=dtype_of(a.lo))
    y = one = Bounds(eye, eye)
    for k in range(_DEGREE, 0, -1):
        product = matmul(a, y)
        y = add(divide(product, Bounds(*[np.full((n, n), k, dtype_of(a.lo))] * 2)), one)
    power = norm
    for k in range(2, _DEGREE + 2):
        power = moved(V.multiply(power, moved(V.divide(norm, float(k)), 1)), 1)
    left = moved(V.subtract(1.0, moved(V.divide(norm, _DEGREE + 2.0), 1)), -1)
    certain = V.greater(left, 0)
    rest = moved(V.divide(power, V.where(certain, left, 1.0)), 1)
    y = _known(moved(V.subtract(y.lo, rest), -1), moved(V.add(y.hi, rest), 1), certain)
    for _ in range(squarings):
        y = matmul(y, y)
    return y


EIGVALSH, SVDVALS, PINV, EXPM = [of_stacks(stated(rule)) for rule in (eigvalsh, svdvals, pinv, expm)]
