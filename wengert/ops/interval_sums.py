"""Enclosures of sums, products of matrices, and linear systems.

A sum of bounds is done by halves with Knuth's TwoSum; the errors of all these additions are numbers, whose sum is added
in the end. So short sums are as good as exact, and a sum of whole numbers is exact. Products of matrices are sums of
products where that is affordable. Larger ones go by midpoints and radii (Rump 1999), as products of plain matrices:
whatever the order in which BLAS adds, the error of a sum of k products is at most k·u/(1 − k·u) times the sum of their
magnitudes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ops.enclosures import stated
from wengert.ops.interval_arithmetic import multiply
from wengert.ops.op import Op
from wengert.ops.rounding import Bounds, V, choose, moved, step, sum_towards
from wengert.types import dtype_of, shape_of

_EXPANDED = 1 << 14
"""So many products at most are made one by one."""


def _epsilon(x: Any) -> float:
    return float(np.finfo(dtype_of(x)).eps)


# ---------------------------------------------------------------------------------------------------------------- sums


def total(x: Bounds, axis: Sequence[int] | None = None, keepdims: bool = False) -> Bounds:
    """The bounds of a sum over axes."""
    shape = shape_of(x.lo)
    axes = tuple(range(len(shape))) if axis is None else tuple(axis)
    if dtype_of(x.lo).kind != "f":
        return Bounds(*[V.sum(b, axis=axes, keepdims=keepdims) for b in x])
    lanes = [_first_axis(b, axes) for b in x]
    low, high = _total_towards(lanes[0], -1), _total_towards(lanes[1], 1)
    if keepdims:
        kept = tuple([1 if k in axes else n for k, n in enumerate(shape)])
        low, high = V.reshape(low, shape=kept), V.reshape(high, shape=kept)
    return Bounds(low, high)


def _first_axis(x: Any, axes: tuple[int, ...]) -> Any:
    """An array with the axes that are reduced as one, which is the first."""
    shape = shape_of(x)
    rest = [k for k in range(len(shape)) if k not in axes]
    moved_axes = V.transpose(x, axes=(*axes, *rest)) if len(shape) > 1 else x
    count = math.prod([shape[k] for k in axes])
    return V.reshape(moved_axes, shape=(count, *[shape[k] for k in rest]))


def _total_towards(v: Any, way: int) -> Any:
    n, rest = shape_of(v)[0], shape_of(v)[1:]
    if n == 0:
        return np.zeros(rest, dtype_of(v))
    empty = V.any(V.isnan(v), axis=(0,))
    error = size = None
    terms = 0
    while n > 1:
        half = n // 2
        a, b = (V.index(v, pattern=(slice(0, half),)), V.index(v, pattern=(slice(half, 2 * half),)))
        s = V.add(a, b)
        t = V.subtract(s, a)
        e = V.add(V.subtract(a, V.subtract(s, t)), V.subtract(b, t))
        e_sum, e_size = V.sum(e, axis=(0,), keepdims=False), V.sum(V.absolute(e), axis=(0,), keepdims=False)
        error, size = (e_sum, e_size) if error is None else (V.add(error, e_sum), V.add(size, e_size))
        v = V.concatenate(s, V.index(v, pattern=(slice(2 * half, n),)), axis=0) if n % 2 else s
        terms, n = terms + half, n - half
    s = V.index(v, pattern=(0,))
    if error is None:
        return s
    # The sum of errors has an error, too, of at most `terms` · u · Σ|e|.
    slack = V.multiply(size, way * 2 * (terms + 4) * _epsilon(s))
    whole = sum_towards(s, step(V.add(error, slack), count=way), way)
    found = choose(V.equal(size, 0), s, whole)
    found = choose(V.isnan(found), way * math.inf, found)  # bounds are infinite, or the sum leaves the range of numbers
    return choose(empty, math.nan, found)


def widened(sums: Sequence[Any], sizes: Sequence[Any], terms: int) -> Bounds:
    """Bounds of sums of so many terms each, moved by what rounding can do, given the sums of the terms' magnitudes."""
    c = (2 * terms + 4) * _epsilon(sums[0])
    low = moved(V.subtract(sums[0], V.multiply(sizes[0], c)), -2)
    high = moved(V.add(sums[1], V.multiply(sizes[1], c)), 2)
    return Bounds(choose(V.isnan(low), -math.inf, low), choose(V.isnan(high), math.inf, high))


def _cumsum(x: Bounds, axis: int) -> Bounds:
    if dtype_of(x.lo).kind != "f":
        return Bounds(*[V.cumsum(b, axis=axis) for b in x])
    sums = [V.cumsum(b, axis=axis) for b in x]
    sizes = [V.cumsum(V.absolute(b), axis=axis) for b in x]
    empty = V.greater(V.cumsum(V.astype(V.isnan(x.lo), dtype=np.dtype(float)), axis=axis), 0)
    y = widened(sums, sizes, shape_of(x.lo)[axis])
    return Bounds(choose(empty, math.nan, y.lo), choose(empty, math.nan, y.hi))


def _add_at(x: Bounds, v: Bounds, *arrays: Any, pattern: tuple) -> Bounds:
    put = {"pattern": pattern}
    if dtype_of(x.lo).kind != "f":
        return Bounds(V.add_at(x.lo, v.lo, *arrays, **put), V.add_at(x.hi, v.hi, *arrays, **put))
    if all(not shape_of(a) for a in arrays):  # no place twice
        here = [V.index(b, *arrays, **put) for b in x]
        low, high = sum_towards(here[0], v.lo, -1), sum_towards(here[1], v.hi, 1)
        return Bounds(V.store(x.lo, low, *arrays, **put), V.store(x.hi, high, *arrays, **put))
    terms = max([math.prod(shape_of(a)) for a in arrays]) + 1
    sums = [V.add_at(a, b, *arrays, **put) for a, b in zip(x, v, strict=True)]
    sizes = [V.add_at(V.absolute(a), V.absolute(b), *arrays, **put) for a, b in zip(x, v, strict=True)]
    y = widened(sums, sizes, terms)
    touched = V.greater(V.add_at(V.multiply(choose(V.isnan(x.lo), 0.0, x.lo), 0.0), 1.0, *arrays, **put), 0)
    touched = V.logical_or(touched, V.isnan(V.multiply(x.lo, 0.0)))
    return Bounds(choose(touched, y.lo, x.lo), choose(touched, y.hi, x.hi))


def add_parts(x: Any, *values: Any, patterns: tuple, cleared: tuple | None) -> Any:
    y = x if cleared is None else V.store(x, 0.0, pattern=cleared)
    for v, pattern in zip(values, patterns, strict=True):
        y = V.add_at(y, v, pattern=pattern)
    return y


SUM = stated(lambda x, axis=None, keepdims=False: total(x, axis, keepdims))
CUMSUM = stated(_cumsum)
ADD_AT = stated(_add_at)

# ------------------------------------------------------------------------------------------------------------ products


def _weighted_sum(c: Bounds, x: Bounds, axis: tuple[int, ...]) -> Bounds:
    return total(multiply(c, x), axis)


WEIGHTED_SUM = stated(_weighted_sum)


def midpoint(x: Bounds) -> Any:
    """A number close to the middle, without overflow."""
    return V.add(V.multiply(x.lo, 0.5), V.multiply(x.hi, 0.5))


def radius(x: Bounds, m: Any) -> Any:
    """By how much numbers of an interval differ from m at most."""
    if x.lo is x.hi:
        return V.multiply(V.absolute(m), 0.0)
    return V.maximum(moved(V.subtract(x.hi, m), 1), moved(V.subtract(m, x.lo), 1))


def by_midpoints(op: Op, x: Bounds, y: Bounds, terms: int, params: dict) -> Bounds:
    """A bilinear op by midpoints and radii: |xy − mₓm_y| ≤ |mₓ|·r_y + rₓ·(|m_y| + r_y)."""
    mx, my = midpoint(x), midpoint(y)
    rx, ry = radius(x, mx), radius(y, my)
    middle = op(mx, my, **params)
    size = op(V.absolute(mx), V.absolute(my), **params)
    spread = V.add(op(V.absolute(mx), ry, **params), op(rx, moved(V.add(V.absolute(my), ry), 1), **params))
    slack = V.multiply(V.add(size, spread), (4 * terms + 16) * _epsilon(middle))
    tiny = float(np.finfo(dtype_of(middle)).tiny)
    reach = moved(V.add(V.add(spread, slack), terms * tiny), 2)
    low, high = moved(V.subtract(middle, reach), -2), moved(V.add(middle, reach), 2)
    return Bounds(choose(V.isnan(low), -math.inf, low), choose(V.isnan(high), math.inf, high))


def matmul(x: Bounds, y: Bounds) -> Bounds:
    a, b = shape_of(x.lo), shape_of(y.lo)
    terms = a[-1]
    products_in_all = math.prod(np.broadcast_shapes(a[:-2], b[:-2])) * math.prod(a[-2:]) * (b[-1] if len(b) > 1 else 1)
    if products_in_all > _EXPANDED and dtype_of(x.lo).kind == dtype_of(y.lo).kind == "f":
        return by_midpoints(V.matmul, x, y, terms, {})
    left = [b_ if len(a) == 1 else V.reshape(b_, shape=(*a, 1)) for b_ in x]
    if len(b) == 1:
        right = [V.reshape(b_, shape=(*b, 1)) for b_ in y] if len(a) > 1 else list(y)
        products = multiply(Bounds(*left) if x.lo is not x.hi else Bounds(left[0], left[0]),
                            Bounds(*right) if y.lo is not y.hi else Bounds(right[0], right[0]))  # fmt: skip
        return total(products, (len(a) - 1,)) if len(a) == 1 else squeezed(total(products, (len(a) - 1,)))
    lead = b[:-2]
    wide = [V.reshape(b_, shape=(*lead, *(() if len(a) == 1 else (1,)), *b[-2:])) for b_ in y]
    if len(a) == 1:
        left = [V.reshape(b_, shape=(a[0], 1)) for b_ in x]
    products = multiply(Bounds(*left) if x.lo is not x.hi else Bounds(left[0], left[0]),
                        Bounds(*wide) if y.lo is not y.hi else Bounds(wide[0], wide[0]))  # fmt: skip
    return total(products, (len(shape_of(products.lo)) - 2,))


def squeezed(x: Bounds) -> Bounds:
    return Bounds(*[V.reshape(b, shape=shape_of(b)[:-1]) for b in x])


MATMUL = stated(matmul)


def einsum(*operands: Any, subscripts: str) -> Any:
    """Operands with all letters for axes, multiplied, and summed over those that the result does not have."""
    inputs, output = subscripts.split("->")
    terms = inputs.split(",")
    sizes: dict[str, int] = {}
    for letters, x in zip(terms, operands, strict=True):
        for c, n in zip(letters, shape_of(x), strict=True):
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    letters = output + "".join(sorted(c for c in sizes if c not in output))
    if math.prod(sizes.values()) > 64 * _EXPANDED:
        raise UnsupportedFunctionError(
            f"the enclosure of einsum {subscripts!r} would make {math.prod(sizes.values())} products one by one",
            remedy="write it with @, for which there is a way by midpoints and radii",
        )
    product = None
    for own, x in zip(terms, operands, strict=True):
        order = sorted(range(len(own)), key=lambda k: letters.index(own[k]))
        spread = V.transpose(x, axes=tuple(order)) if len(own) > 1 else x
        shape = tuple([shape_of(x)[own.index(c)] if c in own else 1 for c in letters])
        spread = V.reshape(spread, shape=shape)
        product = spread if product is None else V.multiply(product, spread)
    if len(letters) == len(output):
        return product
    return V.sum(product, axis=tuple(range(len(output), len(letters))), keepdims=False)


def convolve(a: Any, v: Any, mode: str, rank: int = 1) -> Any:
    """Each element of the one times the other, moved along the last axes."""
    own, other = shape_of(a)[len(shape_of(a)) - rank :], shape_of(v)[len(shape_of(v)) - rank :]
    lead = shape_of(v)[: len(shape_of(v)) - rank]
    shifted = []
    for place in itertools.product(*map(range, other)):
        factor = V.reshape(V.index(v, pattern=(..., *place)), shape=(*lead, *[1] * rank))
        term = V.multiply(a, factor)
        for k, (first, m) in enumerate(zip(place, other, strict=True)):
            axis = len(shape_of(term)) - rank + k
            sides = [np.zeros((*shape_of(term)[:axis], n, *shape_of(term)[axis + 1 :])) for n in (first, m - 1 - first)]
            term = V.concatenate(sides[0], term, sides[1], axis=axis)
        shifted.append(V.reshape(term, shape=(1, *shape_of(term))))
    full = V.sum(V.concatenate(*shifted, axis=0), axis=(0,), keepdims=False)
    inside = [slice(m - 1, n) for n, m in zip(own, other, strict=True)]
    return full if mode == "full" else V.index(full, pattern=(..., *inside))


def prod(x: Any, axis: tuple[int, ...]) -> Any:
    v = _first_axis(x, tuple(axis))
    n, rest = shape_of(v)[0], shape_of(v)[1:]
    if n == 0:
        return np.ones(rest, dtype_of(v))
    while n > 1:
        half = n // 2
        s = V.multiply(V.index(v, pattern=(slice(0, half),)), V.index(v, pattern=(slice(half, 2 * half),)))
        v = V.concatenate(s, V.index(v, pattern=(slice(2 * half, n),)), axis=0) if n % 2 else s
        n -= half
    return V.index(v, pattern=(0,))


def cumprod(x: Any) -> Any:
    return _scan(x, lambda before, here: V.multiply(before, here), x)


def linear_recurrence(a: Any, b: Any) -> Any:
    n = shape_of(b)[0]
    return _scan(b, lambda before, here, k: V.add(V.multiply(V.index(a, pattern=(k,)), before), here), b, n)


def _scan(x: Any, function: Any, first: Any, counted: int | None = None) -> Any:
    n = shape_of(x)[0]
    if n == 0:
        return x
    state = V.index(first, pattern=(0,))
    rows = [state]
    for k in range(1, n):
        here = V.index(x, pattern=(k,))
        state = function(state, here) if counted is None else function(state, here, k)
        rows.append(state)
    return V.concatenate(*[V.reshape(r, shape=(1, *shape_of(r))) for r in rows], axis=0)


def shares(y: Bounds, x: Bounds, axis: tuple[int, ...], least: int = 0) -> Bounds:
    """The share an element has of an extreme y: none if it cannot be the one, all if no other can, else any."""
    can = V.logical_and(V.less_equal(x.lo, y.hi), V.greater_equal(x.hi, y.lo))
    candidates = V.sum(V.astype(can, dtype=dtype_of(x.lo)), axis=axis, keepdims=True)
    high = V.astype(can, dtype=dtype_of(x.lo))
    return Bounds(V.where(V.equal(candidates, 1), high, V.multiply(high, 0.0)), high)


def shares_jump(y: Bounds, x: Bounds, axis: tuple[int, ...], least: int = 0) -> Any:
    """Where it is not certain which element is the extreme."""
    found = shares(y, x, axis, least)
    return V.not_equal(found.lo, found.hi)


def norm(x: Any, axis: tuple[int, ...]) -> Any:
    return V.sqrt(V.sum(V.square(x), axis=axis, keepdims=False))


def logsumexp(x: Any, axis: tuple[int, ...]) -> Any:
    top = V.max(x, axis=axis)
    shape = tuple([1 if k in axis else n for k, n in enumerate(shape_of(x))])
    away = V.subtract(x, V.reshape(top, shape=shape) if shape_of(top) else top)
    return V.add(V.log(V.sum(V.exp(away), axis=axis, keepdims=False)), top)


def softmax(x: Any, axis: tuple[int, ...]) -> Any:
    """exp(x − c)/Σexp(x − c), where c is any number."""
    shape = tuple([1 if k in axis else n for k, n in enumerate(shape_of(x))])
    top = logsumexp(x, axis)
    return V.minimum(V.exp(V.subtract(x, V.reshape(top, shape=shape))), 1.0)
