"""Norms of vectors and matrices.

The 2-norm is an op of its own. At zero, where no norm is differentiable, the derivative is zero, the subgradient of
least norm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import implements
from wengert.box.functions.elementwise import absolute, is_complex
from wengert.box.functions.operands import flat, inexact, join
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops import spectra
from wengert.ops.products import norm as euclidean
from wengert.ops.repeated import null_mask
from wengert.types import dtype_of, ndim_of, shape_of

Axes = tuple[int, ...]


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = inexact(x)
    if axis is None:
        axes: Axes = tuple(range(ndim_of(x)))
        if ord is None:
            return _kept(_euclidean(flat(x), (0,)), x, axes, keepdims)
        if len(axes) not in (1, 2):
            raise ValueError("Improper number of dimensions to norm.")
    else:
        axes = normalize_axis_tuple(axis, ndim_of(x))
    if len(axes) == 1:
        y = _vector_norm(x, 2 if ord is None else ord, axes)
    elif len(axes) == 2:
        y = _matrix_norm(x, "fro" if ord is None else ord, axes)
    else:
        raise ValueError("Improper number of dimensions to norm.")
    return _kept(y, x, axes, keepdims)


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = inexact(x)
    axes = tuple(range(ndim_of(x))) if axis is None else normalize_axis_tuple(axis, ndim_of(x))
    return _kept(_vector_norm(x, ord, axes), x, axes, keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    x = inexact(x)
    n = ndim_of(x)
    axes = (normalize_axis_index(-2, n), normalize_axis_index(-1, n))
    return _kept(_matrix_norm(x, ord, axes), x, axes, keepdims)


def _kept(y: Any, x: Any, axes: Axes, keepdims: bool) -> Any:
    if not keepdims:
        return y
    return s.reshape(y, shape=tuple([1 if k in axes else n for k, n in enumerate(shape_of(x))]))


def _euclidean(x: Any, axes: Axes) -> Any:
    """Of complex numbers as pairs of real ones: √Σ|z|² is smooth where one of several z is zero, |z| is not."""
    if not axes:
        return absolute(x)
    if is_complex(x):
        x = join([s.real(x), s.imag(x)], axes[0])
    return euclidean(x, axis=axes)


def hypotenuse(x: Any, axes: Axes) -> Any:
    """√Σx² of real numbers, without overflow, as `math.hypot` has it: of large and of tiny ones it is that of their
    ratios. (Two at a time, as `np.hypot` takes them, has a kink where the first ones are zero.)"""
    if 0 in [shape_of(x)[k] for k in axes]:
        return euclidean(x, axis=axes)
    top = e.stop_gradient(r.max(absolute(x), axis=axes))
    limits = np.finfo(dtype_of(x))
    least, most = limits.tiny**0.5 / limits.eps, limits.max**0.5 * limits.eps
    extreme = e.logical_or(e.logical_and(e.greater(top, 0), e.less(top, least)),
                           e.logical_and(e.greater(top, most), e.less(top, math.inf)))  # fmt: skip
    scale = e.where(extreme, top, 1)
    return euclidean(x / _kept(scale, x, axes, True), axis=axes) * scale


def _vector_norm(x: Any, ord: Any, axes: Axes) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return _euclidean(x, axes)
    if ord == 0:
        return r.count_nonzero(x, axis=axes).astype(dtype_of(s.real(x)))
    size = absolute(x)
    if ord == math.inf:
        return r.max(size, axis=axes)
    if ord == -math.inf:
        return r.min(size, axis=axes)
    if ord == 1:
        return s.sum(size, axis=axes)
    total = s.sum(e.power(size, ord), axis=axes)
    nothing = e.equal(total, 0)
    return e.where(nothing, 0, e.power(e.where(nothing, 1, total), 1 / ord))


def _matrix_norm(x: Any, ord: Any, axes: Axes) -> Any:
    rows, columns = axes
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord in ("fro", "f", None):
        return _euclidean(x, axes)
    if ord in (2, -2, "nuc"):
        return _by_singular_values(x, ord, axes)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    added, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
    totals = s.sum(absolute(x), axis=(added,))
    return (r.max if ord > 0 else r.min)(totals, axis=(chosen - (chosen > added),))


def _by_singular_values(x: Any, ord: Any, axes: Axes) -> Any:
    """The largest, the least, or their sum. Where one vanishes it has no derivative, and is taken as constant."""
    rest = [k for k in range(ndim_of(x)) if k not in axes]
    x = s.transpose(x, axes=(*rest, *axes))
    values = spectra.svdvals(x)
    none = null_mask(values, size=max(shape_of(x)[-2:]))
    values = e.where(none, e.stop_gradient(values), values)
    last = (ndim_of(values) - 1,)
    if ord == "nuc":
        return s.sum(values, axis=last)
    return (r.max if ord > 0 else r.min)(values, axis=last)
