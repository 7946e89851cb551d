"""Interpolators that are piecewise cubic with slopes found locally: Hermite splines, pchip and Akima's.

The slopes at the knots are written in ops, so values have derivatives in the data and in the knots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.functions.operands import answer, demand, join, stacked
from wengert.box.functions.piecewise import Piecewise, column, double, piece_of
from wengert.box.functions.shapes import moveaxis
from wengert.ops import elementwise as e
from wengert.types import ndim_of, shape_of


def knots_and_data(x: Any, y: Any, axis: int) -> tuple[Any, Any, int]:
    """Knots, and data with their axis in front."""
    x, y = double(x), double(y)
    axis = axis % ndim_of(y)
    if ndim_of(x) != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if shape_of(x)[0] < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if shape_of(x)[0] != shape_of(y)[axis]:
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    demand(e.greater(steps(x), 0), "`x` must be strictly increasing sequence.")
    return x, moveaxis(y, axis, 0), axis


def steps(v: Any) -> Any:
    return piece_of(v, 1) - piece_of(v, 0, -1)


def cubic_pieces(x: Any, y: Any, slopes: Any, extrapolate: Any, axis: int) -> Piecewise:
    """The cubic pieces with these values and slopes at their ends."""
    h = column(steps(x), ndim_of(y))
    mean = steps(y) / h
    left, right = piece_of(slopes, 0, -1), piece_of(slopes, 1)
    t = (left + right - 2 * mean) / h
    return Piecewise(stacked([t / h, (mean - left) / h - t, left, piece_of(y, 0, -1)], 0), x, extrapolate, axis)


def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> Piecewise:
    dydx = moveaxis(double(dydx), axis, 0)
    x, y, axis = knots_and_data(x, y, axis)
    return cubic_pieces(x, y, dydx, extrapolate, axis)


# --------------------------------------------------------------------------------------------------- pchip and Akima


def pchip(x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> Piecewise:
    """Slopes are weighted harmonic means of those of the adjacent pieces, zero where these differ in sign."""
    x, y, axis = knots_and_data(x, y, axis)
    h = column(steps(x), ndim_of(y))
    m = steps(y) / h
    if shape_of(x)[0] == 2:
        return cubic_pieces(x, y, join([m, m], 0), extrapolate, axis)
    m0, m1, h0, h1 = piece_of(m, 0, -1), piece_of(m, 1), piece_of(h, 0, -1), piece_of(h, 1)
    flat = e.logical_or(e.not_equal(e.sign(m0), e.sign(m1)), e.logical_or(e.equal(m0, 0), e.equal(m1, 0)))
    w0, w1 = 2 * h1 + h0, h1 + 2 * h0
    means = (w0 / e.where(flat, 1.0, m0) + w1 / e.where(flat, 1.0, m1)) / (w0 + w1)
    inner = e.where(flat, 0.0, 1 / e.where(flat, 1.0, means))
    first = _pchip_end(piece_of(h, 0, 1), piece_of(h, 1, 2), piece_of(m, 0, 1), piece_of(m, 1, 2))
    last = _pchip_end(piece_of(h, -1), piece_of(h, -2, -1), piece_of(m, -1), piece_of(m, -2, -1))
    return cubic_pieces(x, y, join([first, inner, last], 0), extrapolate, axis)


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """A one-sided estimate that keeps the shape of the data."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turned = e.not_equal(e.sign(d), e.sign(m0))
    steep = e.logical_and(e.not_equal(e.sign(m0), e.sign(m1)), e.greater(e.absolute(d), 3 * e.absolute(m0)))
    return e.where(turned, 0.0, e.where(steep, 3 * m0, d))


def akima(x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> Piecewise:
    """Slopes are means of those of the adjacent pieces, weighted by how much the others change."""
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    x, y, axis = knots_and_data(x, y, axis)
    extrapolate = False if extrapolate is None else extrapolate
    m = steps(y) / column(steps(x), ndim_of(y))
    if shape_of(x)[0] == 2:
        return cubic_pieces(x, y, join([m, m], 0), extrapolate, axis)
    before = 2 * piece_of(m, 0, 1) - piece_of(m, 1, 2)
    after = 2 * piece_of(m, -1) - piece_of(m, -2, -1)
    m = join([2 * before - piece_of(m, 0, 1), before, m, after, 2 * after - piece_of(m, -1)], 0)
    change = e.absolute(steps(m))
    f1, f2 = piece_of(change, 2), piece_of(change, 0, -2)
    if method == "makima":
        size = e.absolute(piece_of(m, 1) + piece_of(m, 0, -1))
        f1, f2 = f1 + 0.5 * piece_of(size, 2), f2 + 0.5 * piece_of(size, 0, -2)
    both = f1 + f2
    known = answer(lambda f: f > 1e-9 * np.max(f, initial=-np.inf), both)
    share = f2 / e.where(known, both, 1.0)
    left, right = piece_of(m, 1, -2), piece_of(m, 2, -1)
    slopes = e.where(known, left + share * (right - left), 0.5 * (piece_of(m, 3) + piece_of(m, 0, -3)))
    return cubic_pieces(x, y, slopes, extrapolate, axis)
