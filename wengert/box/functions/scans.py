"""Functions along one axis that keep it: cumulative sums and products, differences, slopes, integrals.

All are compositions: scans of `ops`, slices and arithmetic. `gradient` and `trapezoid` have derivatives in the places
of the samples as well as in the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import if_present, implements
from wengert.box.functions.lengths import refuse_if
from wengert.box.functions.operands import array, cast, flat, flat_if_none, join, operand, part
from wengert.box.functions.reductions import NOTHING, as_asked, cast_if
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.types import dtype_of, ndim_of, shape_of


def along(v: Any, axis: int, ndim: int) -> Any:
    """A vector as an array of `ndim` axes that runs along one of them."""
    return s.reshape(v, shape=(1,) * axis + shape_of(v) + (1,) * (ndim - axis - 1))


# ------------------------------------------------------------------------------------------------------------- scans


def _product_along(a: Any, axis: int) -> Any:
    """The op `cumprod` runs along the first axis."""
    if axis == 0:
        return r.cumprod(a)
    order = (axis, *[k for k in range(ndim_of(a)) if k != axis])
    back = tuple(np.argsort(order).tolist())
    return s.transpose(r.cumprod(s.transpose(a, axes=order)), axes=back)


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    a, k = flat_if_none(a, axis)
    return as_asked(r.cumsum(cast_if(a, dtype), axis=k), dtype)


@implements(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    a, k = flat_if_none(a, axis)
    return as_asked(_product_along(cast_if(a, dtype), k), dtype)


def _with_initial(name: str, scan: Callable[[Any, int], Any], first: float) -> Callable:
    """A scan that may begin with the value before the first element."""

    def implementation(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
        if axis is None and ndim_of(x) >= 2:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        x, k = flat_if_none(x, axis)
        y = scan(cast_if(x, dtype), k)
        if not include_initial:
            return y
        shape = shape_of(y)
        return join([np.full((*shape[:k], 1, *shape[k + 1 :]), first, dtype_of(y)), y], k)

    return implementation


implements(if_present("cumulative_sum"))(_with_initial("np.cumulative_sum", lambda a, k: r.cumsum(a, axis=k), 0))
implements(if_present("cumulative_prod"))(_with_initial("np.cumulative_prod", _product_along, 1))


# -------------------------------------------------------------------------------------------------------- differences


def _step(a: Any, axis: int) -> Any:
    later, earlier = part(a, axis, slice(1, None)), part(a, axis, slice(None, -1))
    return e.not_equal(later, earlier) if dtype_of(a).kind == "b" else e.subtract(later, earlier)


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NOTHING, append: Any = NOTHING) -> Any:
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = array(a)
    ndim = ndim_of(a)
    if ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    k = normalize_axis_index(axis, ndim)
    ends = []
    for end in (prepend, append):
        if end is not NOTHING:
            end = array(end)
            if ndim_of(end) == 0:
                shape = list(shape_of(a))
                shape[k] = 1
                end = s.broadcast_to(end, shape=tuple(shape))
        ends.append(end)
    pieces = [x for x in (ends[0], a, ends[1]) if x is not NOTHING]
    a = join(pieces, k)
    for _ in range(n):
        a = _step(a, k)
    return a


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    ary = array(ary)
    dtype = dtype_of(ary)
    pieces = [_step(flat(ary), 0)]
    for name, end in (("to_begin", to_begin), ("to_end", to_end)):
        if end is None:
            continue
        end = array(end)
        if not np.can_cast(dtype_of(end), dtype, casting="same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        end = cast(flat(end), dtype)
        pieces.insert(0, end) if name == "to_begin" else pieces.append(end)
    return join(pieces, 0)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    p = array(p)
    k = normalize_axis_index(axis, ndim_of(p))
    # What is added is a multiple of the period, constant in p.
    step = _step(e.stop_gradient(p), k)
    high = period / 2
    turned = e.remainder(step + high, period) - high
    turned = e.where(e.logical_and(e.equal(turned, -high), e.greater(step, 0)), high, turned)
    correction = e.where(e.less(e.absolute(step), high if discont is None else discont), 0, turned - step)
    rest = part(p, k, slice(1, None)) + r.cumsum(correction, axis=k)
    return join([part(p, k, slice(None, 1)), rest], k)


# ----------------------------------------------------------------------------------------------- integrals and slopes


@implements(np.trapezoid, if_present("trapz"))
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = array(y)
    k = normalize_axis_index(axis, ndim_of(y))
    if x is None:
        width = dx
    else:
        x = array(x)
        width = along(_step(x, 0), k, ndim_of(y)) if ndim_of(x) == 1 else diff(x, axis=axis)
    pairs = e.add(part(y, k, slice(1, None)), part(y, k, slice(None, -1)))
    areas = e.multiply(width, pairs) / 2.0
    return s.sum(areas, axis=(ndim_of(areas) - ndim_of(y) + k,))


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = array(f)
    shape = shape_of(f)
    axes = tuple(range(len(shape))) if axis is None else normalize_axis_tuple(axis, len(shape))
    steps = _steps(varargs, shape, axes)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if dtype_of(f).kind not in "fc":
        f = cast(f, np.float64)
    slopes = []
    for k, step in zip(axes, steps, strict=True):
        refuse_if(
            shape[k] < edge_order + 1,
            ValueError,
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required.",
        )
        slopes.append(cast(_slope(f, step, k, edge_order), dtype_of(f)))
    return slopes[0] if len(axes) == 1 else tuple(slopes)


def _steps(varargs: tuple, shape: tuple[int, ...], axes: tuple[int, ...]) -> list:
    """For each axis the distance between samples: one number, or an array of them."""
    if not varargs:
        return [1.0] * len(axes)
    places = [operand(x) for x in varargs]
    if len(places) == 1 and ndim_of(places[0]) == 0:
        return places * len(axes)
    if len(places) != len(axes):
        raise TypeError("invalid number of arguments")
    steps = []
    for x, k in zip(places, axes, strict=True):
        if ndim_of(x) > 1:
            raise ValueError("distances must be either scalars or 1d")
        if ndim_of(x) == 1:
            if shape_of(x)[0] != shape[k]:
                raise ValueError("when 1d, distances must match the length of the corresponding dimension")
            x = _step(cast(x, np.float64) if dtype_of(x).kind in "iu" else x, 0)
            # As NumPy, but only where the places are constants: equal distances are one number.
            if not isinstance(x, Traced) and len(x) and np.all(x == x[0]):
                x = x[0]
        steps.append(x)
    return steps


def _slope(f: Any, step: Any, k: int, edge_order: int) -> Any:
    """Central differences inside, one-sided ones at the two edges: the formulas of `np.gradient`."""
    uniform = ndim_of(step) == 0

    def f_at(i: int) -> Any:
        return part(f, k, slice(i, i + 1 if i != -1 else None))

    if uniform:
        middle = (part(f, k, slice(2, None)) - part(f, k, slice(None, -2))) / (2.0 * step)
    else:
        h1, h2 = part(step, 0, slice(None, -1)), part(step, 0, slice(1, None))
        a, b, c = -h2 / (h1 * (h1 + h2)), (h2 - h1) / (h1 * h2), h1 / (h2 * (h1 + h2))
        a, b, c = (along(w, k, ndim_of(f)) for w in (a, b, c))
        middle = a * part(f, k, slice(None, -2)) + b * part(f, k, slice(1, -1)) + c * part(f, k, slice(2, None))

    if edge_order == 1:
        first = (f_at(1) - f_at(0)) / (step if uniform else step[0])
        last = (f_at(-1) - f_at(-2)) / (step if uniform else step[-1])
    else:
        if uniform:
            left = (-1.5 / step, 2.0 / step, -0.5 / step)
            right = (0.5 / step, -2.0 / step, 1.5 / step)
        else:
            h1, h2 = step[0], step[1]
            left = (-(2.0 * h1 + h2) / (h1 * (h1 + h2)), (h1 + h2) / (h1 * h2), -h1 / (h2 * (h1 + h2)))
            h1, h2 = step[-2], step[-1]
            right = (h2 / (h1 * (h1 + h2)), -(h2 + h1) / (h1 * h2), (2.0 * h2 + h1) / (h2 * (h1 + h2)))
        first = left[0] * f_at(0) + left[1] * f_at(1) + left[2] * f_at(2)
        last = right[0] * f_at(-3) + right[1] * f_at(-2) + right[2] * f_at(-1)
    return join([first, middle, last], k)
