"""Interpolation on rectangular grids: scipy.interpolate.RegularGridInterpolator and interpn.

The cell in which a point lies is locally constant; there the value is a mean of the values at the corners of the cell,
weighted by products of distances, which carry the derivatives in the point, in the values and in the grid. Splines are
in `tensor_splines.py`; SciPy solves for their coefficients by iteration, to a tolerance, and here that is done exactly.
The method "pchip" is not linear in the values: it is applied along one axis after the other, to the values of each
point.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.hermite import pchip
from wengert.box.functions.operands import answer, array, cast, demand, in_double, interval_in, part, stacked
from wengert.box.functions.piecewise import Piecewise
from wengert.box.functions.tensor_splines import tensor_spline
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of


class GridInterpolator(Holder):
    """Values on a grid; call it with points whose last axis holds the coordinates."""

    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = math.nan,
        *, solver: Any = None, solver_args: Any = None,
    ):  # fmt: skip
        self.grid = [in_double(array(p)) for p in points]
        values = array(values)
        self.values = values if dtype_of(values).kind in "fc" else cast(values, np.float64)
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        for k, p in enumerate(self.grid):
            if ndim_of(p) != 1 or shape_of(p)[0] != shape_of(self.values)[k]:
                raise ValueError(
                    f"There are {shape_of(p)} points and {shape_of(self.values)[k]} values on dimension {k}"
                )
            if running.state.capture is None and answer(lambda v: bool(np.all(np.diff(v) < 0)), p):
                p = self.grid[k] = s.flip(p, axis=(0,))
                self.values = s.flip(self.values, axis=(k,))
            gaps = part(p, 0, slice(1, None)) - part(p, 0, slice(0, -1))
            message = f"The points in dimension {k} must be strictly ascending or descending"
            compiled = message.replace(" or descending", ": in a compiled function")
            demand(e.greater(gaps, 0), message if running.state.capture is None else compiled)

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        method = self.method if method is None else method
        if method not in ("linear", "nearest", "pchip") and method not in _DEGREES:
            raise UnsupportedFunctionError(
                f"interpolation on a grid by method {method!r} with traced values has no derivative rule",
                remedy="use 'linear', 'nearest', 'pchip', 'slinear', 'cubic' or 'quintic'",
            )
        if nu is not None and method not in _DEGREES:
            raise ValueError(f"Can only compute derivatives for methods {list(_DEGREES)}, got method = {method!r}.")
        n = len(self.grid)
        if isinstance(xi, tuple):
            parts = np.broadcast_shapes(*[shape_of(array(x)) for x in xi])
            points = stacked([s.broadcast_to(array(x), shape=parts) for x in xi], -1)
        else:
            points = array(xi)
            if ndim_of(points) == 1:
                points = s.reshape(points, shape=(1, n) if n > 1 else (*shape_of(points), 1))
        shape = shape_of(points)
        if shape[-1] != n:
            raise ValueError(f"The requested sample points xi have dimension {shape[-1]} but this interpolator has {n}")
        points = cast(s.reshape(points, shape=(math.prod(shape[:-1]), n)), np.float64)
        y = self._at(points, method, nu)
        return s.reshape(y, shape=(*shape[:-1], *shape_of(y)[1:]))

    def _at(self, points: Any, method: str, nu: Any) -> Any:
        rest = ndim_of(self.values) - len(self.grid)
        cells, shares, outside = [], [], np.False_
        for k, grid in enumerate(self.grid):
            x, m = index(points, pattern=(slice(None), k)), shape_of(grid)[0]
            out = e.logical_or(e.less(x, index(grid, pattern=(0,))), e.greater(x, index(grid, pattern=(-1,))))
            outside = e.logical_or(outside, out)
            cell = interval_in(grid, x, 0, max(m - 2, 0))
            left = index(grid, cell, pattern=(ARRAY,))
            if m == 1:
                share = x * 0.0
            else:
                share = (x - left) / (index(grid, cell + 1, pattern=(ARRAY,)) - left)
            cells.append(cell)
            shares.append(share)
        if self.bounds_error:
            demand(e.logical_not(outside), "One of the requested xi is out of bounds")
        if method in _DEGREES:
            y = self._by_splines(_DEGREES[method], points, nu)
        elif method == "pchip":
            y = self._by_pchip(points)
        elif method == "nearest":
            nearest = [c + answer(lambda v: (v > 0.5).astype(int), t) for c, t in zip(cells, shares, strict=True)]
            y = index(self.values, *nearest, pattern=(ARRAY,) * len(nearest))
        else:
            y = self._mixed(cells, shares, rest)
        if not self.bounds_error and self.fill_value is not None:
            y = e.where(s.reshape(outside, shape=shape_of(outside) + (1,) * rest), self.fill_value, y)
        return y

    def _mixed(self, cells: list, shares: list, rest: int) -> Any:
        y: Any = None
        sides = [(0, 1) if shape_of(g)[0] > 1 else (0,) for g in self.grid]
        for corner in itertools.product(*sides):
            weight: Any = None
            for side, share in zip(corner, shares, strict=True):
                factor = share if side else 1 - share
                weight = factor if weight is None else weight * factor
            places = [c + side for c, side in zip(cells, corner, strict=True)]
            value = index(self.values, *places, pattern=(ARRAY,) * len(places))
            term = value * s.reshape(weight, shape=shape_of(weight) + (1,) * rest)
            y = term if y is None else y + term
        return y

    def _by_splines(self, k: int, points: Any, nu: Any) -> Any:
        self._need(k + 1)
        spline = tensor_spline(self.grid, self.values, [k] * len(self.grid))
        spline = spline if nu is None else spline.derivative([int(n) for n in np.ravel(nu)])
        return spline.at([index(points, pattern=(slice(None), axis)) for axis in range(len(self.grid))])

    def _by_pchip(self, points: Any) -> Any:
        self._need(4)
        n = len(self.grid)
        y = pchip(self.grid[-1], self.values, n - 1)._at(index(points, pattern=(slice(None), n - 1)), 0)
        for axis in range(n - 2, -1, -1):
            # The first axis of y holds the points, each with its own values; the last of the others is interpolated.
            pieces = pchip(self.grid[axis], y, axis + 1)
            y = _one_by_one(pieces, index(points, pattern=(slice(None), axis)))
        return y

    def _need(self, count: int) -> None:
        for axis, p in enumerate(self.grid):
            if shape_of(p)[0] < count:
                raise ValueError(f"There are {shape_of(p)[0]} points in dimension {axis}, but {count} are needed.")


_DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5, "slinear_legacy": 1, "cubic_legacy": 3, "quintic_legacy": 5}


def _one_by_one(pieces: Piecewise, t: Any) -> Any:
    """Piecewise polynomials, one for each place along their second axis, at one point each."""
    order, count = shape_of(pieces.c)[0], shape_of(pieces.c)[1]
    piece = interval_in(pieces.x, t, 0, count - 1)
    distance = t - index(pieces.x, piece, pattern=(ARRAY,))
    own = np.arange(shape_of(t)[0])
    y: Any = None
    for j in range(order):
        c = index(pieces.c, piece, own, pattern=(j, ARRAY, ARRAY))
        step = s.reshape(distance, shape=shape_of(distance) + (1,) * (ndim_of(c) - 1))
        y = c if y is None else y * step + c
    return y


grid_interpolator = GridInterpolator


def interpolator_of(given: Any) -> GridInterpolator:
    """One of SciPy's."""
    return GridInterpolator(given.grid, given.values, given.method, given.bounds_error, given.fill_value)


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = math.nan
) -> Any:
    if method == "splinef2d":
        raise UnsupportedFunctionError(
            "interpn with method='splinef2d' of traced values has no derivative rule", remedy="use method='cubic'"
        )
    return GridInterpolator(points, values, method, bounds_error, fill_value)(xi)
