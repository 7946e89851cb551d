"""Polynomials through data: scipy.interpolate.BarycentricInterpolator, KroghInterpolator and their functions.

They are all the same polynomial, computed here from divided differences (Newton's form), which holds at the nodes too.
Nodes are taken in Leja's order, which keeps it stable; the order is locally constant.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.operands import answer, array, demand, flat, in_double, pick, stacked
from wengert.box.functions.piecewise import Piecewise, double, piece_of
from wengert.box.functions.shapes import moveaxis
from wengert.box.writing import own_array
from wengert.errors import UnsupportedFunctionError
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import ndim_of, shape_of


def _leja(x: np.ndarray) -> np.ndarray:
    """Each next node is the one with the largest product of distances from those before."""
    order, logs = [int(np.argmax(np.abs(x - np.mean(x))))], np.zeros(len(x))
    with np.errstate(divide="ignore"):
        for _ in range(len(x) - 1):
            logs = logs + np.log(np.abs(x - x[order[-1]]))
            order.append(int(np.argmax(logs)))
    return np.array(order)


class Polynomial(Holder):
    """The polynomial through data, which lie along `axis`."""

    def __init__(self, xi: Any, yi: Any, axis: int = 0):
        x, y = double(xi), double(yi)
        self.axis = axis % ndim_of(y)
        y = moveaxis(y, self.axis, 0)
        n = shape_of(x)[0]
        if shape_of(y)[0] != n:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        are_distinct = answer(lambda v: len(np.unique(v)) == len(v), x)
        if running.state.capture is not None:
            demand(are_distinct, "interpolation with repeated nodes: use CubicHermiteSpline")
        elif not are_distinct:
            raise UnsupportedFunctionError(
                "interpolation with repeated nodes, where derivatives are given, of traced data",
                remedy="use CubicHermiteSpline, or nodes that are distinct",
            )
        order = answer(_leja, x)
        self.nodes, y = pick(x, order), pick(y, order)
        self.differences = [index(y, pattern=(0,))]
        for k in range(1, n):
            step = piece_of(self.nodes, k) - piece_of(self.nodes, 0, n - k)
            y = (piece_of(y, 1) - piece_of(y, 0, -1)) / s.reshape(step, shape=(n - k,) + (1,) * (ndim_of(y) - 1))
            self.differences.append(index(y, pattern=(0,)))

    def derivatives(self, x: Any, der: int | None = None) -> Any:
        """The value and the first derivatives, `der` in all: as many as there are nodes by default."""
        points = in_double(array(x))
        shape, t = shape_of(points), flat(points)
        rest = shape_of(self.differences[0])
        count = len(self.differences) if der is None else der
        found: list[Any] = [np.zeros((*shape_of(t), *rest)) for _ in range(count)]
        for k in range(len(self.differences) - 1, -1, -1):
            distance = s.reshape(t - index(self.nodes, pattern=(k,)), shape=shape_of(t) + (1,) * len(rest))
            for j in range(count - 1, 0, -1):
                found[j] = found[j] * distance + found[j - 1]
            found[0] = found[0] * distance + self.differences[k]
        arranged = [Piecewise._arranged(self, y * float(math.factorial(j)), shape) for j, y in enumerate(found)]  # type: ignore[arg-type]
        return stacked(arranged, 0)

    def derivative(self, x: Any, der: int = 1) -> Any:
        y = index(self.derivatives(x, der + 1), pattern=(der,))
        return own_array(y) if isinstance(y, Traced) and not shape_of(y) else y

    def __call__(self, x: Any) -> Any:
        return self.derivative(x, 0)


def barycentric_interpolator(xi: Any, yi: Any = None, axis: int = 0, *, wi: Any = None, rng: Any = None) -> Polynomial:
    if yi is None or wi is not None:
        raise UnsupportedFunctionError(
            "BarycentricInterpolator of traced nodes without values, or with weights", remedy="give xi and yi only"
        )
    return Polynomial(xi, yi, axis)


def _several(polynomial: Polynomial, x: Any, der: Any) -> Any:
    if np.ndim(der) == 0:
        return polynomial.derivative(x, int(der))
    whole = polynomial.derivatives(x, int(np.max(der)) + 1)
    return pick(whole, np.asarray(der, int))


def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: int = 0, *, der: Any = 0, rng: Any = None) -> Any:
    return _several(Polynomial(xi, yi, axis), x, der)


def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    return _several(Polynomial(xi, yi, axis), x, der)


def polynomial_of(given: Any) -> Polynomial:
    """One of SciPy's, of plain data."""
    y = np.reshape(given.yi, (given.n, *given._y_extra_shape))
    return Polynomial(given.xi, np.moveaxis(y, 0, given._y_axis), given._y_axis)
