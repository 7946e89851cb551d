"""Piecewise polynomials: what every spline and interpolator in one variable is evaluated as.

The piece in which a point lies is locally constant; there the value is a polynomial of the distance from the left end
of the piece, which has derivatives in the point, in the coefficients and in the breakpoints. At a breakpoint the
derivative is that of the piece to its right (at the last one, to its left).

A B-spline becomes a piecewise polynomial by its derivatives at the knots, which follow from its coefficients by
differences (de Boor, A Practical Guide to Splines, X (15)) and from the basis (ibid., X: the recurrence of Cox and de
Boor); both are differentiable in the knots.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.operands import answer, array, cast, flat, in_double, interval_in, join, pick, stacked
from wengert.box.writing import own_array
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.linalg import solve
from wengert.ops.op import Traced
from wengert.ops.sparse import sparse_solve
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of


def double(x: Any) -> Any:
    """An operand in double precision, real or complex: what SciPy's interpolators compute in."""
    x = array(x)
    return cast(x, np.complex128 if dtype_of(x).kind == "c" else np.float64)


def piece_of(x: Any, start: Any, stop: Any = None) -> Any:
    """x[start:stop] along the first axis."""
    return index(x, pattern=(slice(start, stop),))


def column(v: Any, ndim: int) -> Any:
    """A vector along the first of `ndim` axes."""
    return s.reshape(v, shape=shape_of(v) + (1,) * (ndim - 1))


class Piecewise(Holder):
    """A piecewise polynomial with coefficients `c`, highest power first, and breakpoints `x`, as SciPy's `PPoly`."""

    clips = False
    """Whether an integral that does not extrapolate ends at the ends (of a B-spline), or is NaN."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = True, axis: int = 0):
        self.c = c
        self.x = x
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = axis

    # ------------------------------------------------------------------------------------------------- evaluation

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        points = cast(array(x), np.float64)
        shape, t = shape_of(points), flat(points)
        first, last = index(self.x, pattern=(0,)), index(self.x, pattern=(-1,))
        if extrapolate == "periodic":
            t = first + e.remainder(t - first, last - first)
        y = self._at(t, nu)
        if not extrapolate:
            outside = e.logical_or(e.less(t, first), e.greater(t, last))
            y = e.where(s.reshape(outside, shape=shape_of(t) + (1,) * (ndim_of(y) - 1)), math.nan, y)
        return self._arranged(y, shape)

    def _at(self, t: Any, nu: int) -> Any:
        """At points in a row: the polynomial of each one's piece, by Horner's rule."""
        order, pieces, *rest = shape_of(self.c)
        if nu < 0:
            raise ValueError("Order of derivative cannot be negative")
        piece = interval_in(self.x, t, 0, pieces - 1)
        distance = column(t - pick(self.x, piece), 1 + len(rest))
        y: Any = None
        for j in range(max(order - nu, 0)):
            power = order - 1 - j
            term = index(self.c, piece, pattern=(j, ARRAY)) * float(math.perm(power, nu))
            y = term if y is None else y * distance + term
        if y is None:
            return distance * np.zeros((1, *rest))
        return y

    def _arranged(self, y: Any, shape: tuple[int, ...]) -> Any:
        """Points in their shape, at the place of the axis along which the data were; a single one is an array, too."""
        rest, n, k = shape_of(y)[1:], len(shape), self.axis
        y = s.reshape(y, shape=(*shape, *rest))
        if k and rest:
            y = s.transpose(y, axes=(*range(n, n + k), *range(n), *range(n + k, n + len(rest))))
        return own_array(y) if isinstance(y, Traced) and not shape_of(y) else y

    # ------------------------------------------------------------------------------- derivatives and antiderivatives

    def derivative(self, nu: int = 1) -> Piecewise:
        if nu < 0:
            return self.antiderivative(-nu)
        order = shape_of(self.c)[0]
        if nu >= order:
            return Piecewise(piece_of(self.c, 0, 1) * 0.0, self.x, self.extrapolate, self.axis)
        factors = np.array([math.perm(order - 1 - j, nu) for j in range(order - nu)], float)
        kept = piece_of(self.c, 0, order - nu)
        return Piecewise(kept * column(factors, ndim_of(self.c)), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Piecewise:
        if nu <= 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            order, rank = shape_of(c)[0], ndim_of(c)
            c = c / column(np.arange(order, 0, -1.0), rank)
            widths = column(piece_of(self.x, 1) - piece_of(self.x, 0, -1), rank - 1)
            gain: Any = 0.0
            for j in range(order):
                gain = (gain + index(c, pattern=(j,))) * widths
            before = join([piece_of(gain, 0, 1) * 0.0, piece_of(gain, 0, -1)], 0)
            c = join([c, s.reshape(r.cumsum(before, axis=0), shape=(1, *shape_of(before)))], 0)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return Piecewise(c, self.x, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        whole = self.antiderivative()
        a, b = (in_double(array(v)) for v in (a, b))
        first, last = index(self.x, pattern=(0,)), index(self.x, pattern=(-1,))
        if extrapolate == "periodic":
            period = last - first
            turn = whole._at(s.reshape(last, shape=(1,)), 0)[0]
            turns = e.floor((b - first) / period) - e.floor((a - first) / period)
            a, b = (first + e.remainder(v - first, period) for v in (a, b))
        elif not extrapolate and self.clips:
            a, b = (e.minimum(e.maximum(v, first), last) for v in (a, b))
        ends = stacked([a, b], 0)
        values = whole._at(ends, 0)
        if not extrapolate and not self.clips:
            outside = e.logical_or(e.less(ends, first), e.greater(ends, last))
            values = e.where(column(outside, ndim_of(values)), math.nan, values)
        y = index(values, pattern=(1,)) - index(values, pattern=(0,))
        return y + turns * turn if extrapolate == "periodic" else y

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedFunctionError(
            f"{name} of a spline with traced data", remedy="use its values, .derivative, .antiderivative or .integrate"
        )


# ----------------------------------------------------------------------------------------------------------- B-splines


def basis(t: Any, k: int, interval: Any, x: Any) -> list[Any]:
    """The k + 1 B-splines of degree k that are not zero on the intervals, at points in them."""
    found: list[Any] = [x * 0.0 + 1.0]
    for j in range(1, k + 1):
        carried: Any = 0.0
        longer = []
        for m in range(j):
            right, left = pick(t, interval + (m + 1)), pick(t, interval + (1 - j + m))
            share = found[m] / (right - left)
            longer.append(carried + (right - x) * share)
            carried = (x - left) * share
        found = [*longer, carried]
    return found


def from_bspline(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Piecewise:
    """The piecewise polynomial that a B-spline is. Its coefficients run along the first axis of `c`."""
    n = shape_of(t)[0] - k - 1
    t, c = double(t), piece_of(double(c), 0, n)
    rank = ndim_of(c)
    interval = answer(lambda knots: np.flatnonzero(np.diff(knots[k : n + 1]) > 0) + k, t)
    start = pick(t, interval)
    rows = []
    for m in range(k + 1):
        # The m-th derivative is a spline of degree k − m on the knots without m at either end.
        knots = piece_of(t, m, shape_of(t)[0] - m)
        value: Any = 0.0
        for j, b in enumerate(basis(knots, k - m, interval - m, start)):
            value = value + column(b, rank) * pick(c, interval - k + j)
        rows.append(value / float(math.factorial(m)))
        if m < k:
            step = piece_of(knots, k - m + 1, -1) - piece_of(knots, 1, -(k - m) - 1)
            empty = e.equal(step, 0)
            slope = column(e.where(empty, 0.0, (k - m) / e.where(empty, 1.0, step)), rank)
            c = (piece_of(c, 1) - piece_of(c, 0, -1)) * slope
    ends = join([start, piece_of(t, n, n + 1)], 0)
    spline = Spline(stacked(rows[::-1], 0), ends, extrapolate, axis)
    return spline


class Spline(Piecewise):
    """A B-spline."""

    clips = True


# ------------------------------------------------------------------------------------------------- splines through data


def solved(data: Any, right: Any, rows: Any, columns: Any) -> Any:
    """The solution of a sparse system for each lane of the right-hand side."""
    shape = shape_of(right)
    lanes = s.reshape(right, shape=(shape[0], math.prod(shape[1:])))
    return s.reshape(sparse_solve(data, lanes, rows=rows, columns=columns), shape=shape)


def spline_through(x: Any, y: Any, k: int, t: Any = None) -> tuple[Any, Any]:
    """Knots (by default as in `make_interp_spline`) and coefficients of the B-spline through data."""
    if t is None:
        if k == 1:
            inner = piece_of(x, 1, -1)
        elif k % 2:
            inner = piece_of(x, (k + 1) // 2, -((k + 1) // 2))
        else:
            inner = piece_of((piece_of(x, 1) + piece_of(x, 0, -1)) / 2, k // 2, -(k // 2))
        t = join([piece_of(x, 0, 1)] * (k + 1) + [inner] + [piece_of(x, -1)] * (k + 1), 0)
    t = double(t)
    return t, collocated(t, x, y, k)


def collocated(t: Any, x: Any, y: Any, k: int) -> Any:
    """Coefficients with which a B-spline goes through the data."""
    n = shape_of(x)[0]
    interval = interval_in(t, x, k, n - 1)
    if running.state.capture is not None or isinstance(
        interval, Traced
    ):  # entries are elsewhere at each run, or example
        places = s.reshape(interval, shape=(n, 1)) - k
        rows = [s.reshape(b, shape=(n, 1)) for b in basis(t, k, interval, x)]
        terms = [e.where(e.equal(places + j, np.arange(n)), row, 0.0) for j, row in enumerate(rows)]
        lanes = s.reshape(y, shape=(n, math.prod(shape_of(y)[1:])))
        return s.reshape(solve(functools.reduce(e.add, terms), lanes), shape=shape_of(y))
    data = join(basis(t, k, interval, x), 0)
    columns = answer(lambda i: np.concatenate([i - k + j for j in range(k + 1)]), interval)
    return solved(data, y, np.tile(np.arange(n), k + 1), columns)
