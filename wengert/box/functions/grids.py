"""Interpolation on rectangular grids: scipy.interpolate.RegularGridInterpolator and interpn, linear and nearest.

The cell in which a point lies is locally constant; there the value is a mean of the values at the corners of the cell,
weighted by products of distances, which carry the derivatives in the point, in the values and in the grid.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.box.functions.operands import answer, array, cast, stacked
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.types import dtype_of, ndim_of, shape_of


class GridInterpolator:
    """Values on a grid; call it with points whose last axis holds the coordinates."""

    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = math.nan,
        *, solver: Any = None, solver_args: Any = None,
    ):  # fmt: skip
        self.grid = [cast(array(p), np.float64) for p in points]
        values = array(values)
        self.values = values if dtype_of(values).kind in "fc" else cast(values, np.float64)
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        for k, p in enumerate(self.grid):
            if ndim_of(p) != 1 or shape_of(p)[0] != shape_of(self.values)[k]:
                raise ValueError(
                    f"There are {shape_of(p)} points and {shape_of(self.values)[k]} values on dimension {k}"
                )
            if answer(lambda v: bool(np.all(np.diff(v) < 0)), p):
                self.grid[k] = s.flip(p, axis=(0,))
                self.values = s.flip(self.values, axis=(k,))
            elif not answer(lambda v: bool(np.all(np.diff(v) > 0)), p):
                raise ValueError(f"The points in dimension {k} must be strictly ascending or descending")

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        method = self.method if method is None else method
        if method not in ("linear", "nearest") or nu is not None:
            raise UnsupportedFunctionError(
                f"interpolation on a grid by method {method!r} with traced values has no derivative rule",
                remedy="use method='linear' or 'nearest', or scipy.ndimage.map_coordinates",
            )
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
        y = self._at(points, method)
        return s.reshape(y, shape=(*shape[:-1], *shape_of(y)[1:]))

    def _at(self, points: Any, method: str) -> Any:
        rest = ndim_of(self.values) - len(self.grid)
        cells, shares, outside = [], [], np.False_
        for k, grid in enumerate(self.grid):
            x, m = index(points, pattern=(slice(None), k)), shape_of(grid)[0]
            out = e.logical_or(e.less(x, index(grid, pattern=(0,))), e.greater(x, index(grid, pattern=(-1,))))
            outside = e.logical_or(outside, out)
            cell = answer(lambda g, v: np.clip(np.searchsorted(g, v, side="right") - 1, 0, max(len(g) - 2, 0)), grid, x)
            left = index(grid, cell, pattern=(ARRAY,))
            if m == 1:
                share = x * 0.0
            else:
                share = (x - left) / (index(grid, cell + 1, pattern=(ARRAY,)) - left)
            cells.append(cell)
            shares.append(share)
        if self.bounds_error and np.any(answer(np.any, outside)):
            raise ValueError("One of the requested xi is out of bounds")
        if method == "nearest":
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


grid_interpolator = GridInterpolator


def interpolator_of(given: Any) -> GridInterpolator:
    """One of SciPy's."""
    return GridInterpolator(given.grid, given.values, given.method, given.bounds_error, given.fill_value)


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = math.nan
) -> Any:
    return GridInterpolator(points, values, method, bounds_error, fill_value)(xi)
