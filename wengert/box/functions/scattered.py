"""Interpolation of scattered data: radial basis functions, and linear interpolation on triangles.

A sum of radial functions around the data points, and a polynomial, goes through the data: coefficients solve a linear
system, written in ops, so values have derivatives in the data, in their places, in the points and in the settings.

Linear interpolation (`griddata`, `LinearNDInterpolator`) weighs the values at the corners of the triangle of Delaunay's
triangulation in which a point lies. Which triangle that is, is locally constant.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.operands import answer, array, cast, in_double, join, pick
from wengert.box.functions.piecewise import double
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.linalg import solve
from wengert.ops.products import matmul
from wengert.types import ndim_of, shape_of

# ---------------------------------------------------------------------------------------------- radial basis functions


def _root(q: Any) -> Any:
    """r = √q, whose derivative at zero counts as zero: the subgradient of least norm."""
    zero = e.equal(q, 0)
    return e.where(zero, 0.0, e.sqrt(e.where(zero, 1.0, q)))


def _thin_plate(q: Any) -> Any:
    zero = e.equal(q, 0)
    return 0.5 * q * e.log(e.where(zero, 1.0, q))


_KERNELS = {
    "linear": lambda q: -_root(q),
    "thin_plate_spline": _thin_plate,
    "cubic": lambda q: q * _root(q),
    "quintic": lambda q: -q * q * _root(q),
    "multiquadric": lambda q: -e.sqrt(1 + q),
    "inverse_multiquadric": lambda q: 1 / e.sqrt(1 + q),
    "inverse_quadratic": lambda q: 1 / (1 + q),
    "gaussian": lambda q: e.exp(-q),
}
"""Kernels as functions of (εr)²."""
_SCALE_INVARIANT = ("linear", "thin_plate_spline", "cubic", "quintic")
_LEAST_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}


def _kernel_matrix(name: str, epsilon: Any, x: Any, y: Any) -> Any:
    (m, n), count = shape_of(x), shape_of(y)[0]
    apart = s.reshape(x, shape=(m, 1, n)) - s.reshape(y, shape=(1, count, n))
    return _KERNELS[name](epsilon * epsilon * s.sum(apart * apart, axis=(2,)))


def _monomials(x: Any, powers: list[tuple[int, ...]]) -> Any:
    columns = []
    for power in powers:
        column: Any = np.ones(shape_of(x)[0])
        for axis, k in enumerate(power):
            for _ in range(k):
                column = column * index(x, pattern=(slice(None), axis))
        columns.append(s.reshape(column, shape=(shape_of(x)[0], 1)))
    return join(columns, 1)


class RadialInterpolator(Holder):
    """`RBFInterpolator`."""

    def __init__(
        self, y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0, kernel: str = "thin_plate_spline",
        epsilon: Any = None, degree: int | None = None,
    ):  # fmt: skip
        if neighbors is not None:
            raise UnsupportedFunctionError(
                "RBFInterpolator with neighbors= of traced data has no derivative rule", remedy="leave neighbors= out"
            )
        self.kernel = kernel.lower()
        if self.kernel not in _KERNELS:
            raise ValueError(f"`kernel` must be one of {sorted(_KERNELS)}.")
        if epsilon is None and self.kernel not in _SCALE_INVARIANT:
            raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {_SCALE_INVARIANT}.")
        self.epsilon = 1.0 if epsilon is None else epsilon
        self.y, d = double(y), double(d)
        if ndim_of(self.y) != 2:
            raise ValueError("`y` must be a 2-dimensional array.")
        count, rank = shape_of(self.y)
        if shape_of(d)[0] != count:
            raise ValueError(f"Expected the first axis of `d` to have length {count}.")
        degree = max(_LEAST_DEGREE.get(self.kernel, -1), 0) if degree is None else int(degree)
        self.powers = [p for p in itertools.product(range(degree + 1), repeat=rank) if degree >= 0 and sum(p) <= degree]
        if len(self.powers) > count:
            raise ValueError(f"At least {len(self.powers)} data points are required when `degree` is {degree}.")
        # The polynomial does not depend on where it is centred and how it is scaled, but the conditioning does.
        self.centre, self.scale = answer(_centre_and_scale, self.y)
        self.rest = shape_of(d)[1:]
        k = _kernel_matrix(self.kernel, self.epsilon, self.y, self.y)
        k = k + s.broadcast_to(array(smoothing), shape=(count,)) * np.eye(count)
        right = s.reshape(d, shape=(count, math.prod(self.rest)))
        if self.powers:
            p, extra = self._polynomial(self.y), len(self.powers)
            below = join([s.transpose(p, axes=(1, 0)), np.zeros((extra, extra))], 1)
            k = join([join([k, p], 1), below], 0)
            right = join([right, np.zeros((extra, shape_of(right)[1]))], 0)
        self.coefficients = solve(k, right)

    def _polynomial(self, x: Any) -> Any:
        return _monomials((x - self.centre) / self.scale, self.powers)

    def __call__(self, x: Any) -> Any:
        x = in_double(array(x))
        if ndim_of(x) != 2 or shape_of(x)[1] != shape_of(self.y)[1]:
            raise ValueError(f"`x` must be a 2-dimensional array whose second axis has length {shape_of(self.y)[1]}.")
        k = _kernel_matrix(self.kernel, self.epsilon, x, self.y)
        k = join([k, self._polynomial(x)], 1) if self.powers else k
        return s.reshape(matmul(k, self.coefficients), shape=(shape_of(x)[0], *self.rest))


def _centre_and_scale(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.min(y, axis=0), np.max(y, axis=0)
    return (low + high) / 2, np.where(high > low, (high - low) / 2, 1.0)


def radial_of(given: Any) -> RadialInterpolator:
    """One of SciPy's, of plain data."""
    d = np.reshape(given.d.view(given.d_dtype), (len(given.y), *given.d_shape))
    degree = int(np.max(np.sum(given.powers, axis=1), initial=-1)) if len(given.powers) else -1
    return RadialInterpolator(given.y, d, given.neighbors, given.smoothing, given.kernel, given.epsilon, degree)


# ------------------------------------------------------------------------------------------------------------ triangles


def _points_of(x: Any) -> Any:
    """Coordinates along the last axis; a tuple has one array for each."""
    if isinstance(x, tuple):
        parts = [array(v) for v in x]
        shape = np.broadcast_shapes(*[shape_of(v) for v in parts])
        return join([s.reshape(s.broadcast_to(v, shape=shape), shape=(*shape, 1)) for v in parts], len(shape))
    x = array(x)
    return s.reshape(x, shape=(*shape_of(x), 1)) if ndim_of(x) == 1 else x


def _corners(points: np.ndarray, x: np.ndarray, rescale: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each point the corners of the triangle around it, and whether there is one."""
    if rescale:
        offset, scale = np.mean(points, axis=0), np.ptp(points, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        points, x = (points - offset) / scale, (x - offset) / scale
    triangles = sys.modules["scipy.spatial"].Delaunay(points)
    found = triangles.find_simplex(x)
    return triangles.simplices[np.maximum(found, 0)], found >= 0


class LinearOnTriangles(Holder):
    """`LinearNDInterpolator`."""

    def __init__(self, points: Any, values: Any, fill_value: Any = math.nan, rescale: bool = False):
        self.points, self.values = double(_points_of(points)), double(values)
        self.fill_value, self.rescale = fill_value, rescale
        if ndim_of(self.points) != 2 or shape_of(self.points)[0] != shape_of(self.values)[0]:
            raise ValueError("different number of values and points")
        if shape_of(self.points)[1] < 2:
            raise ValueError("input data must be at least 2-D")

    def __call__(self, *args: Any) -> Any:
        x = cast(_points_of(args[0] if len(args) == 1 else args), np.float64)
        n = shape_of(self.points)[1]
        if shape_of(x)[-1] != n:
            raise ValueError("number of dimensions in xi does not match x")
        shape = shape_of(x)[:-1]
        x = s.reshape(x, shape=(math.prod(shape), n))
        corners, inside = answer(_corners, self.points, x, rescale=self.rescale)
        places = pick(self.points, corners)
        origin = index(places, pattern=(slice(None), n))
        sides = s.transpose(index(places, pattern=(slice(None), slice(0, n))) - s.reshape(
            origin, shape=(shape_of(x)[0], 1, n)
        ), axes=(0, 2, 1))  # fmt: skip
        shares = solve(sides, s.reshape(x - origin, shape=(*shape_of(x), 1)))
        shares = s.reshape(shares, shape=shape_of(x))
        last = 1 - s.sum(shares, axis=(1,), keepdims=True)
        values, rest = pick(self.values, corners), shape_of(self.values)[1:]
        weights = s.reshape(join([shares, last], 1), shape=(shape_of(x)[0], n + 1) + (1,) * len(rest))
        y = s.sum(values * weights, axis=(1,))
        y = e.where(s.reshape(inside, shape=shape_of(inside) + (1,) * len(rest)), y, self.fill_value)
        return s.reshape(y, shape=(*shape, *rest))


def linear_of(given: Any) -> LinearOnTriangles:
    """One of SciPy's, of plain data."""
    if given.scale is not None:
        raise UnsupportedFunctionError(
            "a LinearNDInterpolator with rescale=True at traced points", remedy="build it in the same function"
        )
    return LinearOnTriangles(given.points, given.values.reshape(-1, *given.values_shape), given.fill_value)


def griddata_with(interp1d: Any) -> Any:
    def griddata(
        points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = math.nan, rescale: bool = False
    ) -> Any:
        points = _points_of(points)
        if shape_of(points)[-1] == 1 and ndim_of(points) <= 2:
            x = xi[0] if isinstance(xi, tuple) else xi
            line = s.reshape(points, shape=(shape_of(points)[0],))
            fill_value = "extrapolate" if method == "nearest" else fill_value
            return interp1d(line, values, method, 0, bounds_error=False, fill_value=fill_value)(x)
        if method == "linear":
            return LinearOnTriangles(points, values, fill_value, rescale)(xi)
        if method == "nearest" and not rescale:
            x = _points_of(xi)
            nearest = answer(lambda p, v: np.argmin(_squares(p, v), axis=-1), points, x)
            return pick(double(values), nearest)
        raise UnsupportedFunctionError(
            f"griddata with method={method!r} of traced values has no derivative rule",
            remedy="use method='linear', or RBFInterpolator",
        )

    return griddata


def _squares(points: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.sum((x[..., None, :] - points) ** 2, axis=-1)
