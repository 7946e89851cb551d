"""scipy.interpolate: splines and interpolators whose data, knots or points are traced.

What an interpolator computes from its data (slopes at the knots, coefficients of B-splines) is written in ops, so
values have derivatives in the data and mostly in the knots too; it is evaluated as a piecewise polynomial.
Interpolators that SciPy built from plain data, called at traced points, are taken over with the coefficients they have.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.box.dispatch import CALLABLES, implements_blind, when_imported
from wengert.box.functions.grids import grid_interpolator, interpn, interpolator_of
from wengert.box.functions.hermite import akima, cubic_hermite_spline, cubic_pieces, knots_and_data, pchip, steps
from wengert.box.functions.operands import answer, array, holds_traced, join, pick, stacked
from wengert.box.functions.piecewise import (
    Piecewise,
    Spline,
    collocated,
    column,
    double,
    from_bspline,
    piece_of,
    solved,
    spline_through,
)
from wengert.box.functions.shapes import moveaxis
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.types import ndim_of, shape_of


# ------------------------------------------------------------------------------------------------------ cubic splines


def _condition(bc: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(bc, str):
        if bc in ("clamped", "natural"):
            return (1 if bc == "clamped" else 2, np.zeros(shape))
        if bc in ("not-a-knot", "periodic"):
            return bc
        raise ValueError(f"bc_type={bc} is not allowed.")
    order, value = bc
    value = double(value)
    if order not in (1, 2):
        raise ValueError("The specified derivative order must be 1 or 2.")
    if shape_of(value) != shape:
        raise ValueError(f"`deriv_value` shape {shape_of(value)} is not the expected one {shape}.")
    return order, value


def cubic_spline(x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Piecewise:
    x, y, axis = knots_and_data(x, y, axis)
    if isinstance(bc_type, str):
        bc_type = (bc_type, bc_type)
    elif len(bc_type) != 2:
        raise ValueError("`bc_type` must contain 2 elements to specify start and end conditions.")
    elif any(isinstance(bc, str) and bc == "periodic" for bc in bc_type):
        raise ValueError("'periodic' `bc_type` is defined for both curve ends and cannot be used with other ones.")
    start, end = (_condition(bc, shape_of(y)[1:]) for bc in bc_type)
    if start == "periodic" and not np.all(answer(lambda v: np.allclose(v[0], v[-1], rtol=1e-15, atol=1e-15), y)):
        raise ValueError("The first and last `y` point must be identical when bc_type='periodic'.")
    if extrapolate is None:
        extrapolate = "periodic" if start == "periodic" else True
    return cubic_pieces(x, y, _spline_slopes(x, y, start, end), extrapolate, axis)


def _spline_slopes(x: Any, y: Any, start: Any, end: Any) -> Any:
    """The slopes at the knots that make the second derivative continuous: a system with three diagonals."""
    n, rank = shape_of(x)[0], ndim_of(y)
    dx = steps(x)
    h = column(dx, rank)
    mean = steps(y) / h

    def row(v: Any, k: int) -> Any:
        return index(v, pattern=(slice(k, k + 1 if k != -1 else None),))

    if n == 2:
        start, end = ((1, mean[0]) if bc in ("not-a-knot", "periodic") else bc for bc in (start, end))
    if n == 3 and start == "periodic":
        slope = s.sum(mean / h, axis=(0,)) / s.sum(1 / h, axis=(0,))
        return s.broadcast_to(s.reshape(slope, shape=(1, *shape_of(y)[1:])), shape=shape_of(y))
    before, after = piece_of(dx, 0, -1), piece_of(dx, 1)
    inner = 3 * (piece_of(h, 1) * piece_of(mean, 0, -1) + piece_of(h, 0, -1) * piece_of(mean, 1))
    i = np.arange(1, n - 1)
    data: list[Any] = [after, 2 * (before + after), before]
    rows: list[Any] = [i, i, i]
    columns: list[Any] = [i - 1, i, i + 1]
    if start == "periodic":
        data += [2 * (row(dx, -1) + row(dx, 0)), row(dx, -1), row(dx, 0)]
        rows, columns = [*rows, [0], [0], [0]], [*columns, [0], [1], [n - 2]]
        right = join([3 * (row(h, 0) * row(mean, -1) + row(h, -1) * row(mean, 0)), inner], 0)
        wrapped = np.concatenate(columns) % (n - 1)
        found = solved(join(data, 0), right, np.concatenate(rows), wrapped)
        return join([found, row(found, 0)], 0)
    ends = []
    for bc, k, k2, sign in ((start, 0, 1, -0.5), (end, -1, -2, 0.5)):
        place, neighbour = k % n, k2 % n
        if bc == "not-a-knot" and n == 3 and start == end:  # both say the same: a parabola
            data += [row(dx, 0) * 0.0 + 1.0] * 2
            right = 2 * row(mean, k)
        elif bc == "not-a-knot":
            width = row(dx, k) + row(dx, k2)
            data += [row(dx, k2), width]
            d, a, b = (column(v, rank) for v in (width, row(dx, k), row(dx, k2)))
            right = ((a + 2 * d) * b * row(mean, k) + a * a * row(mean, k2)) / d
        elif bc[0] == 1:
            data += [row(dx, 0) * 0.0 + 1.0, row(dx, 0) * 0.0]
            right = s.reshape(bc[1], shape=(1, *shape_of(y)[1:]))
        else:
            data += [2 * row(dx, k), row(dx, k)]
            curvature = s.reshape(bc[1], shape=(1, *shape_of(y)[1:]))
            step = row(h, k)
            right = sign * curvature * step * step + 3 * row(mean, k) * step
        rows, columns = [*rows, [place], [place]], [*columns, [place], [neighbour]]
        ends.append(right)
    return solved(join(data, 0), join([ends[0], inner, ends[1]], 0), np.concatenate(rows), np.concatenate(columns))


# ----------------------------------------------------------------------------------------------------------- B-splines


def bspline(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Piecewise:
    return from_bspline(array(t), moveaxis(double(c), axis, 0), k, extrapolate, axis)


def interpolating_spline(
    original: Any, x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: int = 0,
    check_finite: bool = True,
) -> Piecewise:  # fmt: skip
    """`make_interp_spline`."""
    if holds_traced(bc_type) or (k is None and bc_type is None):
        raise _not_yet("make_interp_spline with traced derivatives at the ends", "use CubicSpline")
    k = {"linear": 1, "quadratic": 2, "cubic": 3, "quintic": 5}.get(k, k) if isinstance(k, str) else int(k)
    axis = axis % ndim_of(array(y))
    y = moveaxis(double(y), axis, 0)
    if not isinstance(x, Traced) and not isinstance(t, Traced) and not holds_traced(x):
        if bc_type == "periodic":
            raise _not_yet("make_interp_spline with bc_type='periodic' of traced data", "use CubicSpline")
        # SciPy says where the knots are and, where derivatives at the ends are given, solves for unit vectors.
        x = np.asarray(x, float)
        n = len(x)
        origin = original(x, np.zeros(shape_of(y)), k, t, bc_type, check_finite=False)
        if bc_type in (None, "not-a-knot") and k > 0:
            return from_bspline(origin.t, collocated(origin.t, x, y, k), k, True, axis)
        if not isinstance(bc_type, str) and bc_type is not None:
            bc_type = tuple(
                end if end is None or isinstance(end, str) else [(order, np.zeros(n)) for order, _ in end]
                for end in bc_type
            )
        matrix = original(x, np.eye(n), k, t, bc_type, check_finite=False).c
        lanes = s.reshape(y, shape=(n, math.prod(shape_of(y)[1:])))
        c = s.reshape(matrix @ lanes, shape=origin.c.shape) + origin.c
        return from_bspline(origin.t, c, k, True, axis)
    x = double(x)
    if bc_type not in (None, "not-a-knot") or k < 1:
        raise _not_yet("make_interp_spline of traced knots with boundary conditions", "use CubicSpline")
    return from_bspline(*spline_through(x, y, k, t), k, True, axis)


def _not_yet(what: str, remedy: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(f"{what} has no derivative rule", remedy=remedy)


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    if not isinstance(tck, (tuple, list)):
        return from_bspline(tck.t, tck.c, tck.k, tck.extrapolate, tck.axis)(x, der)
    t, c, k = tck
    if ext not in (0, 2):
        raise _not_yet("splev with ext=1 or 3 at traced points", "clip the points first")
    if isinstance(c, (list, tuple)):
        return [splev(x, (t, lane, k), der, ext) for lane in c]
    y = from_bspline(t, piece_of(array(c), 0, shape_of(array(t))[0] - k - 1), k)(x, der)
    if ext == 2 and np.any(answer(lambda v, knots: np.any((v < knots[k]) | (v > knots[-k - 1])), array(x), array(t))):
        raise ValueError("Point not in the interpolation domain.")
    return y


# ------------------------------------------------------------------------------------------------------------ interp1d


class Interp1d:
    """`interp1d` of traced data, or at traced points."""

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True, bounds_error: Any = None,
        fill_value: Any = math.nan, assume_sorted: bool = False,
    ):  # fmt: skip
        x, y = double(x), double(y)
        self.axis = axis % ndim_of(y)
        y = moveaxis(y, self.axis, 0)
        if not assume_sorted:
            order = r.argsort(x, axis=0, kind="mergesort")
            x, y = pick(x, order), pick(y, order)
        self.x, self.y, self.kind = x, y, kind
        self.extrapolates = isinstance(fill_value, str)
        self.fill_value = fill_value
        no_fill = (
            not isinstance(fill_value, (str, tuple, Traced)) and np.ndim(fill_value) == 0 and fill_value != fill_value
        )
        self.bounds_error = (no_fill and not self.extrapolates) if bounds_error is None else bounds_error
        degrees = {"linear": 1, "slinear": 1, "quadratic": 2, "cubic": 3}
        degree = kind if isinstance(kind, int) else degrees.get(kind)
        if degree == 1:
            slopes = steps(y) / column(steps(x), ndim_of(y))
            self._pieces: Any = Piecewise(stacked([slopes, piece_of(y, 0, -1)], 0), x, True, self.axis)
        elif degree is not None and degree > 1:
            self._pieces = from_bspline(*spline_through(x, y, degree, None), degree, True, self.axis)
        elif kind not in ("zero", "nearest", "nearest-up", "previous", "next") and kind != 0:
            raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")
        else:
            self._pieces = None

    def _picked(self, t: Any) -> Any:
        n, kind = shape_of(self.x)[0], self.kind

        def places(x: np.ndarray, v: np.ndarray) -> Any:
            if kind in ("nearest", "nearest-up"):
                found = np.searchsorted(x[1:] / 2 + x[:-1] / 2, v, side="left" if kind == "nearest" else "right")
            elif kind == "next":
                found = np.searchsorted(x, v, side="left")
            else:
                found = np.searchsorted(x, v, side="right") - 1
            return np.clip(found, 0, n - 1)

        return pick(self.y, answer(places, self.x, t))

    def __call__(self, x: Any) -> Any:
        points = array(x)
        shape = shape_of(points)
        t = s.reshape(points, shape=(math.prod(shape),))
        below, above = (e.less(t, index(self.x, pattern=(0,))), e.greater(t, index(self.x, pattern=(-1,))))
        y = self._pieces._at(t, 0) if self._pieces is not None else self._picked(t)
        pair = (math.nan if self.kind == "previous" else None, math.nan if self.kind == "next" else None)
        if not self.extrapolates:
            if self.bounds_error and np.any(answer(lambda a, b: np.any(a | b), below, above)):
                raise ValueError("A value in x_new is outside the interpolation range.")
            pair = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value, self.fill_value)
        for mask, value in zip((below, above), pair, strict=True):
            if value is not None:
                y = e.where(s.reshape(mask, shape=shape_of(t) + (1,) * (ndim_of(y) - 1)), value, y)
        return Piecewise._arranged(self, y, shape)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- registration


def taken_over(make: Any) -> Any:
    """What is called for an interpolator of SciPy's: ours, made from it, if an argument is traced."""

    def instead(instance: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(a, Traced) or holds_traced(a) for a in (*args, *kwargs.values())):
                return make(instance)(*args, **kwargs)
            return instance(*args, **kwargs)

        return called

    return instead


@when_imported("scipy.interpolate")
def _interpolate(module: Any) -> None:
    constructors: dict[str, Any] = {
        "CubicHermiteSpline": cubic_hermite_spline, "CubicSpline": cubic_spline, "PchipInterpolator": pchip,
        "Akima1DInterpolator": akima, "PPoly": Piecewise,
    }  # fmt: skip

    def pieces(p: Any) -> Piecewise:
        return Piecewise(p.c, p.x, p.extrapolate, p.axis)

    for name, constructor in constructors.items():
        implements_blind(getattr(module, name))(constructor)
        CALLABLES[getattr(module, name)] = taken_over(pieces)
    implements_blind(module.PPoly.integrate)(lambda p, a, b, extrapolate=None: pieces(p).integrate(a, b, extrapolate))

    def spline(b: Any) -> Piecewise:
        return from_bspline(b.t, b.c, b.k, b.extrapolate, b.axis)

    implements_blind(module.BSpline)(bspline)
    CALLABLES[module.BSpline] = taken_over(spline)
    implements_blind(module.BSpline.integrate)(lambda b, a, z, extrapolate=None: spline(b).integrate(a, z, extrapolate))
    original = module.make_interp_spline
    implements_blind(original)(lambda x, y, *args, **kwargs: interpolating_spline(original, x, y, *args, **kwargs))
    implements_blind(module.splev)(splev)

    def univariate(u: Any) -> Any:
        if u.ext not in (0, "extrapolate"):
            raise _not_yet("a UnivariateSpline with ext other than 0 at traced points", "use BSpline or CubicSpline")
        t, c, k = u._eval_args
        return from_bspline(t, c[: len(t) - k - 1], k)

    for name in ("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline"):
        CALLABLES[getattr(module, name)] = taken_over(univariate)
    implements_blind(module.UnivariateSpline.integral)(lambda u, a, b: _clipping(univariate(u)).integrate(a, b, False))

    implements_blind(module.interp1d)(Interp1d)

    def interpolant(f: Any) -> Interp1d:
        kind = f._spline.k if f._kind == "spline" else f._kind
        return Interp1d(f.x, f.y, kind, f.axis, True, f.bounds_error, f.fill_value, True)

    CALLABLES[module.interp1d] = taken_over(interpolant)
    implements_blind(module.RegularGridInterpolator)(grid_interpolator)
    CALLABLES[module.RegularGridInterpolator] = taken_over(interpolator_of)
    implements_blind(module.interpn)(interpn)


def _clipping(p: Piecewise) -> Piecewise:
    return Spline(p.c, p.x, p.extrapolate, p.axis)
