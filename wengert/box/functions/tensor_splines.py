"""Splines in several variables that are sums of products of B-splines, on rectangular grids.

Coefficients are found by interpolation along one axis after the other. At a point, the (k+1)ᵈ coefficients around it
are gathered and weighed with products of the B-splines that do not vanish there: derivatives in the points, in the data
and in the grid follow.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.operands import answer, array, cast, flat
from wengert.box.functions.piecewise import basis, double, piece_of, spline_through
from wengert.box.functions.shapes import moveaxis
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.types import ndim_of, shape_of


class TensorSpline(Holder):
    """Knots and degrees for each of the first axes of the coefficients."""

    def __init__(self, knots: list[Any], coefficients: Any, degrees: list[int]):
        self.knots = knots
        self.coefficients = coefficients
        self.degrees = degrees

    def derivative(self, orders: Any) -> TensorSpline:
        """Differentiated in the variables (de Boor, A Practical Guide to Splines, X (15))."""
        knots, degrees, c = list(self.knots), list(self.degrees), self.coefficients
        for axis, order in enumerate(orders):
            for _ in range(order):
                t, k = knots[axis], degrees[axis]
                if k == 0:
                    return TensorSpline(knots, c * 0.0, degrees)
                c = moveaxis(c, axis, 0)
                width = piece_of(t, k + 1, -1) - piece_of(t, 1, -k - 1)
                empty = e.equal(width, 0)
                slope = e.where(empty, 0.0, k / e.where(empty, 1.0, width))
                slope = s.reshape(slope, shape=shape_of(slope) + (1,) * (ndim_of(c) - 1))
                c = moveaxis((piece_of(c, 1) - piece_of(c, 0, -1)) * slope, 0, axis)
                knots[axis], degrees[axis] = piece_of(t, 1, -1), k - 1
        return TensorSpline(knots, c, degrees)

    def at(self, points: list[Any]) -> Any:
        """Values at points in a row, given by their coordinates."""
        c, places, weights = self.coefficients, [], []
        rest = ndim_of(c) - len(self.knots)
        for axis, (t, k, x) in enumerate(zip(self.knots, self.degrees, points, strict=True)):
            n = shape_of(c)[axis]
            interval = answer(_interval, t, x, k=k, n=n)
            places.append([interval - k + j for j in range(k + 1)])
            weights.append(basis(t, k, interval, x))
        y: Any = None
        for choice in itertools.product(*[range(k + 1) for k in self.degrees]):
            weight: Any = None
            for own, j in zip(weights, choice, strict=True):
                weight = own[j] if weight is None else weight * own[j]
            near = index(c, *[own[j] for own, j in zip(places, choice, strict=True)], pattern=(ARRAY,) * len(choice))
            term = near * s.reshape(weight, shape=shape_of(weight) + (1,) * rest)
            y = term if y is None else y + term
        return y


def _interval(knots: Any, x: Any, k: int, n: int) -> Any:
    """Which of the intervals that are not empty a point lies in, or is nearest to."""
    found = np.clip(np.searchsorted(knots, x, side="right") - 1, k, n - 1)
    last = np.searchsorted(knots[k : n + 1], knots[n], side="left") + k - 1  # the last interval that is not empty
    return np.minimum(found, max(last, k))


def tensor_spline(grid: list[Any], values: Any, degrees: list[int]) -> TensorSpline:
    """The spline through values on a grid, with the knots of `make_interp_spline` along each axis."""
    knots, c = [], values
    for axis, (x, k) in enumerate(zip(grid, degrees, strict=True)):
        t, c = spline_through(double(x), moveaxis(c, axis, 0), k)
        knots.append(t)
        c = moveaxis(c, 0, axis)
    return TensorSpline(knots, c, degrees)


# --------------------------------------------------------------------------------------------------- bivariate splines


class Surface(Holder):
    """What a bivariate spline of SciPy's is called as."""

    def __init__(self, spline: TensorSpline):
        self.spline = spline

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        x, y = (cast(array(v), np.float64) for v in (x, y))
        if grid:
            x, y = flat(x), flat(y)
            shape = (shape_of(x)[0], shape_of(y)[0])
            x, y = s.reshape(x, shape=(shape[0], 1)), s.reshape(y, shape=(1, shape[1]))
        else:
            shape = np.broadcast_shapes(shape_of(x), shape_of(y))
        points = []
        for v, t, k in zip((x, y), self.spline.knots, self.spline.degrees, strict=True):
            first, last = index(t, pattern=(k,)), index(t, pattern=(-k - 1,))
            # Outside, FITPACK takes the nearest point inside.
            points.append(flat(s.broadcast_to(e.minimum(e.maximum(v, first), last), shape=shape)))
        spline = self.spline.derivative((dx, dy)) if dx or dy else self.spline
        return s.reshape(spline.at(points), shape=shape)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        return self(xi, yi, dx, dy, grid=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedFunctionError(
            f"{name} of a bivariate spline with traced data", remedy="use its values: spline(x, y) or spline.ev(x, y)"
        )


def rect_bivariate_spline(
    x: Any, y: Any, z: Any, bbox: Any = (None, None, None, None), kx: int = 3, ky: int = 3, s: float = 0,
    maxit: int = 20,
) -> Surface:  # fmt: skip
    if s or any(b is not None for b in bbox):
        raise UnsupportedFunctionError(
            "RectBivariateSpline with s= or bbox= of traced data has no derivative rule", remedy="leave them out"
        )
    x, y, z = (double(v) for v in (x, y, z))
    if shape_of(z) != (shape_of(x)[0], shape_of(y)[0]):
        raise ValueError("x and y dimensions of z must have same number of elements")
    return Surface(tensor_spline([x, y], z, [kx, ky]))


def surface_of(given: Any) -> Surface:
    """One of SciPy's bivariate splines."""
    tx, ty, c = given.tck[:3]
    kx, ky = given.degrees
    return Surface(TensorSpline([tx, ty], np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1)), [kx, ky]))
