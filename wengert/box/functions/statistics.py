"""Statistics that are not plain reductions: covariance and correlation, weighted counts, log-sum-exp."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert.box.dispatch import implements
from wengert.box.functions.lengths import agree, known
from wengert.box.functions.operands import answer, array, cast, in_double, join
from wengert.box.functions.reductions import average, count_of, kept_shape, reduced_axes
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.store import add_at
from wengert.types import broadcast_shapes, dtype_of, is_inexact, ndim_of, shape_of


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    if isinstance(x, Traced):
        if dtype_of(x).kind not in "biu":
            raise TypeError("np.bincount counts integers; traced values are not: use wg.stop_gradient(x).astype(int)")
        counts = answer(np.bincount, x, minlength=minlength)
        if weights is None:
            return counts
        weights = array(weights)
        agree(shape_of(x), shape_of(weights), ValueError, "The weights and list don't have the same length.")
        return add_at(counts * 0.0, in_double(weights), x, pattern=(ARRAY,))
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError("object of too small depth for desired array" if x.ndim == 0 else "object too deep for array")
    if weights is None:
        return np.bincount(x, minlength=minlength)
    weights = array(weights)
    if shape_of(weights) != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    counted = np.bincount(x, minlength=minlength)  # NumPy's own checks, and the length of the result
    # As NumPy, which adds up in double precision whatever the weights are.
    return scatter(in_double(weights), x.astype(np.intp), patterns=((ARRAY,),), shape=counted.shape)


# ------------------------------------------------------------------------------------------ covariance, correlation


def _rows(x: Any, rowvar: bool, dtype: Any, keep_one_row: bool) -> Any:
    """Data as a matrix with a variable in each row."""
    x = cast(x, dtype)
    shape = shape_of(x)
    if len(shape) < 2:
        x = s.reshape(x, shape=(1, math.prod(shape)))
    if not rowvar and not keep_one_row:
        x = s.transpose(x, axes=(1, 0))
    return x


def _sample_weights(weights: Any, name: str, samples: int) -> Any:
    weights = array(weights)
    if ndim_of(weights) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    agree(shape_of(weights)[:1], (samples,), RuntimeError, f"incompatible numbers of samples and {name}")
    negative = e.less(weights, 0)
    if not isinstance(negative, Traced) and np.any(negative):
        raise ValueError(f"{name} cannot be negative")
    return cast(weights, np.float64)


def _both_weights(fweights: Any, aweights: Any, samples: int) -> tuple[Any, Any]:
    """The product of both kinds of weights, and those of the second kind; `None` where there are none."""
    if fweights is not None:
        fweights = _sample_weights(fweights, "fweights", samples)
        if not isinstance(fweights, Traced) and not np.all(fweights == np.round(fweights)):
            raise TypeError("fweights must be integer")
    if aweights is not None:
        aweights = _sample_weights(aweights, "aweights", samples)
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights, aweights
    return fweights * aweights, aweights


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = array(m)
    given = [m] if y is None else [m, array(y)]
    for name, x in zip("my", given, strict=False):
        if ndim_of(x) > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(np.float64, *[dtype_of(x) for x in given])
    x = _rows(m, rowvar, dtype, keep_one_row=ndim_of(m) == 1)
    if shape_of(x)[0] == 0:
        return np.array([]).reshape(0, 0)
    if y is not None:
        second = _rows(given[1], rowvar, dtype, keep_one_row=ndim_of(given[1]) < 2 or shape_of(given[1])[0] == 1)
        x = join([x, second], 0)
    samples = shape_of(x)[1]
    if ddof is None:
        ddof = 0 if bias else 1

    w, aweights = _both_weights(fweights, aweights, samples)
    if w is None:
        center, freedom = average(x, axis=1), known(samples) - ddof
    else:
        center, total = average(x, axis=1, weights=w, returned=True)
        total = index(total, pattern=(0,)) if ndim_of(total) else total
    if w is None:
        pass
    elif ddof == 0:
        freedom = total
    elif aweights is None:
        freedom = total - ddof
    else:
        freedom = total - ddof * s.sum(w * aweights) / total
    if isinstance(freedom, Traced):  # compiled code warns of nothing
        freedom = e.maximum(freedom, 0.0)
    elif freedom <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        freedom = np.float64(0.0)
    away = x - s.reshape(center, shape=(*shape_of(center), 1))
    other = s.transpose(away if w is None else away * w, axes=(1, 0))
    if dtype_of(other).kind == "c":
        other = s.conjugate(other)
    c = matmul(away, other) * e.divide(1, freedom)
    return s.reshape(c, shape=tuple(n for n in shape_of(c) if n != 1))


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    if ndim_of(c) == 0:
        return c / c
    n = shape_of(c)[0]
    diagonal = np.arange(n)
    d = index(c, diagonal, diagonal, pattern=(ARRAY, ARRAY))
    deviation = e.sqrt(s.real(d) if dtype_of(d).kind == "c" else d)
    c = c / s.reshape(deviation, shape=(n, 1)) / s.reshape(deviation, shape=(1, n))
    # Only rounding carries a coefficient past ±1. What is taken off is a constant: clipping would also take off the
    # second derivative at an extremum.
    fixed = e.stop_gradient(c)
    if dtype_of(c).kind == "c":
        re, im = s.real(fixed), s.imag(fixed)
        return c - (_beyond_one(re) + 1j * _beyond_one(im))
    return c - _beyond_one(fixed)


def _beyond_one(c: Any) -> Any:
    return c - e.maximum(e.minimum(c, 1), -1)


# --------------------------------------------------------------------------------------------------------- logsumexp


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False) -> Any:
    """log Σ b·exp(a) over the given axes, without overflow: `scipy.special.logsumexp` on ordinary and traced values.

    Arguments: `a`, an array; `axis`, an int, a tuple of ints, or None for all; `b`, factors that broadcast against
    `a` (the result is NaN where their weighted sum is negative); `keepdims`, whether reduced axes stay with length 1.

    The cost is that of one pass of `exp`. The derivative in `a` is the softmax, and does not overflow either.

    >>> import wengert as wg
    >>> float(wg.logsumexp(np.array([1000.0, 1000.0])))
    1000.6931471805599
    >>> wg.grad(wg.logsumexp)(np.array([1000.0, 1000.0, -1000.0]))
    array([0.5, 0.5, 0. ])
    >>> bool(np.isclose(wg.logsumexp(np.log([1.0, 2.0]), b=np.array([3.0, 4.0])), np.log(3 * 1 + 4 * 2)))
    True
    """
    a = array(a)
    if not is_inexact(dtype_of(a)):
        a = cast(a, np.float64)
    if b is not None:
        b = array(b)
        shape = broadcast_shapes([shape_of(a), shape_of(b)])
        a = a if shape_of(a) == shape else s.broadcast_to(a, shape=shape)
    shape = shape_of(a)
    axes = reduced_axes(axis, len(shape))
    left = kept_shape(shape, axes) if keepdims else tuple([n for k, n in enumerate(shape) if k not in axes])
    count = count_of(shape, axes)
    if count.__class__ is int and count == 0:
        return np.full(left, -np.inf, dtype_of(a))[()]
    if b is None:
        if dtype_of(a).kind != "c":
            y = r.logsumexp(a, axis=axes)
            return s.reshape(y, shape=left) if keepdims else y
        b = 1.0
    counts = e.not_equal(b, 0)
    if not isinstance(b, Traced):
        a = e.where(counts, a, -np.inf)  # 0 · exp(∞) is 0 here, as in SciPy
    size = e.stop_gradient(s.real(a) if dtype_of(a).kind == "c" else a)
    top = r.max(e.where(counts, size, -np.inf), axis=axes)
    top = s.reshape(e.where(e.isfinite(top), top, 0), shape=kept_shape(shape, axes))
    total = s.sum(e.multiply(b, e.exp(a - top)), axis=axes)
    y = e.log(total) + s.sum(top, axis=axes)  # the sum of one element each: the axes go
    return s.reshape(y, shape=left) if keepdims else y
