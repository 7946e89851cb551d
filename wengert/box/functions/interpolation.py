"""scipy.interpolate: splines and interpolators whose data, knots or points are traced.

What an interpolator computes from its data (slopes at the knots, coefficients of B-splines) is written in ops, so
values have derivatives in the data and mostly in the knots too; it is evaluated as a piecewise polynomial.
Interpolators that SciPy built from plain data, called at traced points, are taken over with the coefficients they have.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.dispatch import CALLABLES, FUNCTIONS, implements_blind
from wengert.box.functions import newton, scattered
from wengert.box.functions.fits import lagrange
from wengert.box.functions.grids import grid_interpolator, interpn, interpolator_of
from wengert.box.functions.hermite import akima, cubic_hermite_spline, cubic_pieces, knots_and_data, pchip, steps
from wengert.box.functions.operands import answer, array, demand, holds_traced, interval_in, join, part, pick, stacked
from wengert.box.functions.piecewise import (
    Piecewise,
    Spline,
    basis,
    column,
    double,
    from_bspline,
    piece_of,
    solved,
    spline_through,
)
from wengert.box.functions.shapes import moveaxis
from wengert.box.functions.tensor_splines import rect_bivariate_spline, surface_of
from wengert.box.writing import settled
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.ops.products import matmul
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
    if start == "periodic":
        same = e.less_equal(e.absolute(y[0] - y[-1]), 1e-15 + 1e-15 * e.absolute(y[-1]))
        demand(same, "The first and last `y` point must be identical when bc_type='periodic'.")
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
) -> Piecewise:  # fmt: skip
    """`make_interp_spline`."""
    k = {"linear": 1, "quadratic": 2, "cubic": 3, "quintic": 5}.get(k, k) if isinstance(k, str) else int(k)
    axis = axis % ndim_of(array(y))
    y = moveaxis(double(y), axis, 0)
    if isinstance(bc_type, str) and bc_type == "periodic":
        return _periodic(original, x, y, k, t, axis)
    plain = bc_type is None or (isinstance(bc_type, str) and bc_type == "not-a-knot")
    if k == 0 or (k == 1 and t is None):
        if not plain:
            raise ValueError(f"Too much info for k={k}: bc_type can only be None.")
        if k == 0:
            x = double(x)
            return from_bspline(join([x, piece_of(x, -1)], 0), y, 0, True, axis)
    if plain:
        return from_bspline(*spline_through(double(x), y, k, t), k, True, axis)
    left, right = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    ends = [_given(c, shape_of(y)[1:]) for c in (left, right)]
    return from_bspline(*_with_conditions(double(x), y, k, t, *ends), k, True, axis)


def _given(conditions: Any, shape: tuple[int, ...]) -> list[tuple[int, Any]]:
    """Derivatives at an end of the data: their orders and values."""
    if conditions is None or (isinstance(conditions, str) and conditions == "not-a-knot"):
        return []
    if isinstance(conditions, str):
        if conditions not in ("clamped", "natural"):
            raise ValueError(f"Unknown boundary condition : {conditions}")
        conditions = [(1 if conditions == "clamped" else 2, np.zeros(shape))]
    return [(int(order), s.broadcast_to(double(value), shape=shape)) for order, value in conditions]


def _with_conditions(x: Any, y: Any, k: int, t: Any, left: list, right: list) -> tuple[Any, Any]:
    """Knots and coefficients of the spline through data with given derivatives at the ends."""
    if t is None:
        t = join([piece_of(x, 0, 1)] * k + [x] + [piece_of(x, -1)] * k, 0)
    t = double(t)
    n, count = shape_of(x)[0], shape_of(t)[0] - k - 1
    if count - n != len(left) + len(right):
        given = f"{len(left)}+{len(right)}"
        raise ValueError(f"The number of derivatives at boundaries does not match: expected {count - n}, got {given}")
    interval = interval_in(t, x, k, count - 1)
    data = [join(basis(t, k, interval, x), 0)]
    rows = [np.tile(np.arange(n) + len(left), k + 1)]
    columns = [answer(lambda i: np.concatenate([i - k + j for j in range(k + 1)]), interval)]
    place = 0
    for conditions, point, first in ((left, piece_of(x, 0, 1), 0), (right, piece_of(x, -1), count - k - 1)):
        # The derivatives of the k + 1 basis functions that do not vanish at the end.
        own = from_bspline(t, np.eye(count)[:, first : first + k + 1], k)
        for order, _ in conditions:
            data.append(s.reshape(own._at(point, order), shape=(k + 1,)))
            rows.append(np.full(k + 1, place))
            columns.append(np.arange(first, first + k + 1))
            place += 1
        place = max(place, len(left) + n)
    values = [s.reshape(v, shape=(1, *shape_of(y)[1:])) for _, v in left]
    values += [y, *[s.reshape(v, shape=(1, *shape_of(y)[1:])) for _, v in right]]
    return t, solved(join(data, 0), join(values, 0), np.concatenate(rows), np.concatenate(columns))


def _periodic(original: Any, x: Any, y: Any, k: int, t: Any, axis: int) -> Piecewise:
    """A periodic spline is linear in the data: SciPy finds its coefficients for unit vectors."""
    x, y = settled(x), array(y)
    if isinstance(x, Traced) or holds_traced(x) or t is not None:
        raise _not_yet("make_interp_spline of traced knots with bc_type='periodic'", "use CubicSpline")
    same = e.less_equal(e.absolute(y[0] - y[-1]), 1e-15 + 1e-5 * e.absolute(y[-1]))
    demand(same, "First and last points does not match while periodic case expected")
    x = np.asarray(x, float)
    n = len(x)
    closed = np.concatenate([np.eye(n - 1), np.eye(1, n - 1)])  # the last value is the first
    units = original(x, closed, k, None, "periodic")
    kept = piece_of(y, 0, n - 1)
    lanes = s.reshape(kept, shape=(n - 1, math.prod(shape_of(y)[1:])))
    c = s.reshape(matmul(units.c, lanes), shape=(units.c.shape[0], *shape_of(y)[1:]))
    return from_bspline(units.t, c, k, "periodic", axis)


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0, s: Any = None,
    t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """The interpolating spline; SciPy's coefficients have k + 1 zeros behind them."""
    ends = (xb is None, xe is None)
    if w is not None or task or (s is not None and s != 0) or t is not None or per or full_output or not all(ends):
        raise _not_yet("splrep of traced data that smooths, or with t=, per=, xb= or xe=", "use make_interp_spline")
    knots, c = spline_through(double(x), double(y), k)
    return knots, join([c, np.zeros(k + 1)], 0), k


def _linear_in_data(original: Any, name: str, x: Any, y: Any, *args: Any, **kwargs: Any) -> Piecewise:
    """A spline that is fitted to data is linear in them: SciPy finds its coefficients for unit vectors."""
    if len(args) < 2 and kwargs.get("lam") is None:
        raise _not_yet("make_smoothing_spline of traced data that looks for lam", "give lam=")
    x, args, kwargs = settled(x), tuple(map(settled, args)), {k: settled(v) for k, v in kwargs.items()}
    if any(isinstance(v, Traced) or holds_traced(v) for v in (x, *args, *kwargs.values())):
        raise _not_yet(
            f"{name} in a compiled function, or with traced points, knots or weights",
            "let only the data depend on what is traced, outside of jit",
        )
    y = double(y)
    if ndim_of(y) != 1:
        raise _not_yet(f"{name} of traced data with more than one axis", "take one column after the other")
    fits = [original(x, unit, *args, **kwargs) for unit in np.eye(shape_of(y)[0])]
    return from_bspline(fits[0].t, matmul(np.stack([fit.c for fit in fits], 1), y), fits[0].k, True, 0)


def univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None, ext: Any = 0,
) -> Piecewise:  # fmt: skip
    """The spline through data, as FITPACK has it where nothing is smoothed."""
    if w is not None or any(b is not None for b in bbox) or s != 0 or ext != 0:
        raise _not_yet("a UnivariateSpline of traced data that smooths, or with w=, bbox= or ext=", "say s=0")
    return from_bspline(*spline_through(double(x), double(y), k), k, True, 0)


def lsq_spline(x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0, **options: Any) -> Piecewise:
    """The spline with given knots that is nearest to data: a linear least-squares problem for its coefficients."""
    x, y, t = double(x), moveaxis(double(y), axis, 0), double(t)
    n, count = shape_of(x)[0], shape_of(t)[0] - k - 1
    design = from_bspline(t, np.eye(count), k)(x)
    lanes = s.reshape(y, shape=(n, math.prod(shape_of(y)[1:])))
    if w is not None:
        weights = s.reshape(double(w), shape=(n, 1))
        design, lanes = design * weights, lanes * weights
    c = FUNCTIONS[np.linalg.lstsq](design, lanes)[0]
    return from_bspline(t, s.reshape(c, shape=(count, *shape_of(y)[1:])), k, True, axis)


def lsq_univariate_spline(
    x: Any, y: Any, t: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0
) -> Piecewise:
    if ext not in (0, "extrapolate"):
        raise _not_yet("an LSQUnivariateSpline of traced data with ext other than 0", "leave ext out")
    x = double(x)
    low, high = (part(x, 0, place) if end is None else end for end, place in zip(bbox, (0, -1), strict=True))
    ends = [s.broadcast_to(double(end), shape=(k + 1,)) for end in (low, high)]
    return lsq_spline(x, y, join([ends[0], double(t), ends[1]], 0), k, w)


def interpolated_univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0
) -> Piecewise:
    return univariate_spline(x, y, w, bbox, k, 0, ext)


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
    if ext == 2:
        v, knots = array(x), array(t)
        inside = e.logical_and(e.greater_equal(v, part(knots, 0, k)), e.less_equal(v, part(knots, 0, -k - 1)))
        demand(inside, "Point not in the interpolation domain.")
    return y


# ------------------------------------------------------------------------------------------------------------ interp1d


class Interp1d(Holder):
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
            if self.bounds_error:
                outside = e.logical_or(below, above)
                demand(e.logical_not(outside), "A value in x_new is outside the interpolation range.")
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
    implements_blind(module.make_lsq_spline)(lsq_spline)
    smoothing = module.make_smoothing_spline
    implements_blind(smoothing)(functools.partial(_linear_in_data, smoothing, "make_smoothing_spline"))
    implements_blind(module.splev)(splev)
    implements_blind(module.splrep)(splrep)
    implements_blind(module.pchip_interpolate)(lambda xi, yi, x, der=0, axis=0: pchip(xi, yi, axis)(x, der))

    def univariate(u: Any) -> Any:
        if u.ext not in (0, "extrapolate"):
            raise _not_yet("a UnivariateSpline with ext other than 0 at traced points", "use BSpline or CubicSpline")
        t, c, k = u._eval_args
        return from_bspline(t, c[: len(t) - k - 1], k)

    implements_blind(module.UnivariateSpline)(univariate_spline)
    implements_blind(module.InterpolatedUnivariateSpline)(interpolated_univariate_spline)
    implements_blind(module.LSQUnivariateSpline)(lsq_univariate_spline)
    for name in ("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline"):
        CALLABLES[getattr(module, name)] = taken_over(univariate)
    implements_blind(module.UnivariateSpline.integral)(lambda u, a, b: _clipping(univariate(u)).integrate(a, b, False))

    implements_blind(module.interp1d)(Interp1d)

    def interpolant(f: Any) -> Interp1d:
        kind = f._spline.k if f._kind == "spline" else f._kind
        return Interp1d(f.x, f.y, kind, f.axis, True, f.bounds_error, f.fill_value, True)

    CALLABLES[module.interp1d] = taken_over(interpolant)
    taking_over: dict[str, tuple[Any, Any]] = {
        "RegularGridInterpolator": (grid_interpolator, interpolator_of),
        "RectBivariateSpline": (rect_bivariate_spline, surface_of),
        "BarycentricInterpolator": (newton.barycentric_interpolator, newton.polynomial_of),
        "KroghInterpolator": (newton.Polynomial, newton.polynomial_of),
        "RBFInterpolator": (scattered.RadialInterpolator, scattered.radial_of),
        "LinearNDInterpolator": (scattered.LinearOnTriangles, scattered.linear_of),
    }
    for name, (constructor, of_scipys) in taking_over.items():
        implements_blind(getattr(module, name))(constructor)
        CALLABLES[getattr(module, name)] = taken_over(of_scipys)
    for name in ("BivariateSpline", "SmoothBivariateSpline", "LSQBivariateSpline"):
        CALLABLES[getattr(module, name)] = taken_over(surface_of)
    implements_blind(module.BivariateSpline.ev)(lambda b, xi, yi, dx=0, dy=0: surface_of(b).ev(xi, yi, dx, dy))
    implements_blind(module.interpn)(interpn)
    implements_blind(module.barycentric_interpolate)(newton.barycentric_interpolate)
    implements_blind(module.krogh_interpolate)(newton.krogh_interpolate)
    implements_blind(module.lagrange)(lagrange)
    implements_blind(module.griddata)(scattered.griddata_with(Interp1d))


def _clipping(p: Piecewise) -> Piecewise:
    return Spline(p.c, p.x, p.extrapolate, p.axis)
