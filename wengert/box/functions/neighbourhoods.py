"""Functions of scipy.ndimage of what is around an element: derivatives of images, and filters by rank.

Derivatives are composed of the filters in `images.py`. A filter by rank (maximum, median) gathers the neighbourhood of
each element and picks from it: the derivative goes to the element that was picked, ties share it as in `np.max`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import FUNCTIONS
from wengert.box.functions.images import axes_of, continued, correlate1d, gaussian_filter, register_all, sequence
from wengert.box.functions.operands import cast, stacked
from wengert.box.functions.reductions import deviation
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops.filters import spline_filter
from wengert.ops.index import index
from wengert.ops.reduce import max as maximum_of
from wengert.ops.reduce import min as minimum_of
from wengert.types import dtype_of, ndim_of, shape_of

# -------------------------------------------------------------------------------------------------------- derivatives


def _edges(smooth: list[float]) -> Callable:
    def implementation(x: Any, axis: int = -1, mode: Any = "reflect", cval: Any = 0.0) -> Any:
        axis = normalize_axis_index(axis, ndim_of(x))
        modes = sequence(mode, ndim_of(x))
        x = correlate1d(x, [-1.0, 0.0, 1.0], axis, modes[axis], cval)
        for k in range(ndim_of(x)):
            if k != axis:
                x = correlate1d(x, smooth, k, modes[k], cval)
        return x

    return implementation


def laplace(x: Any, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    along = axes_of(x, axes)
    y: Any = x * 0.0
    for k, one in zip(along, sequence(mode, len(along)), strict=True):
        y = y + correlate1d(x, [1.0, -2.0, 1.0], k, one, cval)
    return y


def _each_order(x: Any, sigma: Any, order: int, mode: Any, cval: Any, axes: Any, options: dict) -> list[Any]:
    """Gaussian filters that differentiate in each of the axes."""
    along = axes_of(x, axes)
    orders = [[order if j == k else 0 for j in range(len(along))] for k in range(len(along))]
    return [gaussian_filter(x, sigma, o, mode, cval, axes=along, **options) for o in orders]


def gaussian_laplace(
    x: Any, sigma: Any, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **kwargs: Any
) -> Any:
    parts = _each_order(x, sigma, 2, mode, cval, axes, kwargs)
    return sum(parts[1:], parts[0])


def gaussian_gradient_magnitude(
    x: Any, sigma: Any, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **kwargs: Any
) -> Any:
    squares = [p * p for p in _each_order(x, sigma, 1, mode, cval, axes, kwargs)]
    total = sum(squares[1:], squares[0])
    return deviation(total, e.equal(total, 0))


def spline_filter1d(x: Any, order: int = 3, axis: int = -1, mode: str = "mirror") -> Any:
    axis = normalize_axis_index(axis, ndim_of(x))
    x = cast(x, np.complex128 if dtype_of(x).kind == "c" else np.float64)
    return x if order in (0, 1) or shape_of(x)[axis] == 1 else spline_filter(x, axis=axis, order=order, mode=mode)


def spline_filter_nd(x: Any, order: int = 3, mode: str = "mirror") -> Any:
    for k in range(ndim_of(x)):
        x = spline_filter1d(x, order, k, mode)
    return x


# ------------------------------------------------------------------------------------------------------------- ranks


def neighbourhoods(x: Any, footprint: Any, mode: Any, cval: Any, origins: list[int], axes: tuple[int, ...]) -> Any:
    """What lies under the footprint around each element, along a last axis."""
    widths, n = [(0, 0)] * ndim_of(x), shape_of(x)
    for k, m, origin in zip(axes, footprint.shape, origins, strict=True):
        if not -(m // 2) <= origin <= (m - 1) // 2:
            raise ValueError("invalid origin")
        widths[k] = (m // 2 + origin, m - m // 2 - 1 - origin)
    modes = sequence(mode, len(axes))
    y = x
    for k, one in zip(axes, modes, strict=True):
        y = continued(y, [widths[j] if j == k else (0, 0) for j in range(len(n))], one, cval)
    found = []
    for place in itertools.product(*map(range, footprint.shape)):
        if footprint[place]:
            start = dict(zip(axes, place, strict=True))
            found.append(index(y, pattern=tuple(slice(start.get(k, 0), start.get(k, 0) + m) for k, m in enumerate(n))))
    return stacked(found, -1)


def footprint_of(size: Any, footprint: Any, count: int) -> Any:
    if footprint is not None:
        return np.asarray(footprint, bool)
    if size is None:
        raise RuntimeError("no footprint or filter size provided")
    return np.ones([int(m) for m in sequence(size, count)], bool)


def _ranked(pick: Callable) -> Callable:
    """A filter; `pick(neighbours, count)` chooses along the last axis."""

    def implementation(
        x: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
        axes: Any = None,
    ) -> Any:  # fmt: skip
        along = axes_of(x, axes)
        shape = footprint_of(size, footprint, len(along))
        return pick(neighbourhoods(x, shape, mode, cval, sequence(origin, len(along)), along))

    return implementation


def _ranked1d(pick: Callable) -> Callable:
    def implementation(
        x: Any, size: int, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
    ) -> Any:
        axis = normalize_axis_index(axis, ndim_of(x))
        return pick(neighbourhoods(x, np.ones(int(size), bool), mode, cval, [origin], (axis,)))

    return implementation


def _largest(near: Any) -> Any:
    return maximum_of(near, axis=(ndim_of(near) - 1,))


def _smallest(near: Any) -> Any:
    return minimum_of(near, axis=(ndim_of(near) - 1,))


def _at_rank(near: Any, rank: int) -> Any:
    return index(FUNCTIONS[np.sort](near, axis=-1), pattern=(..., rank))


def _median(near: Any) -> Any:
    return _at_rank(near, shape_of(near)[-1] // 2)


def rank_filter(x: Any, rank: int, *args: Any, **options: Any) -> Any:
    return _ranked(lambda near: _at_rank(near, rank))(x, *args, **options)


def percentile_filter(x: Any, percentile: float, *args: Any, **options: Any) -> Any:
    def pick(near: Any) -> Any:
        count, p = shape_of(near)[-1], percentile + 100 if percentile < 0 else percentile
        return _at_rank(near, count - 1 if p == 100 else int(float(count) * p / 100.0))

    return _ranked(pick)(x, *args, **options)


@when_imported("scipy.ndimage")
def _ndimage(module: Any) -> None:
    register_all(module, {
        "sobel": _edges([1.0, 2.0, 1.0]), "prewitt": _edges([1.0, 1.0, 1.0]), "laplace": laplace,
        "gaussian_laplace": gaussian_laplace, "gaussian_gradient_magnitude": gaussian_gradient_magnitude,
        "spline_filter1d": spline_filter1d, "spline_filter": spline_filter_nd, "maximum_filter": _ranked(_largest),
        "minimum_filter": _ranked(_smallest), "maximum_filter1d": _ranked1d(_largest),
        "minimum_filter1d": _ranked1d(_smallest), "median_filter": _ranked(_median), "rank_filter": rank_filter,
        "percentile_filter": percentile_filter,
    })  # fmt: skip
