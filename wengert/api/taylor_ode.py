"""Differential equations by Taylor series: `taylor_ode` expands a solution, `integrate_taylor` follows it.

The coefficients of the solution of y′ = f(t, y) come from each other: coefficient k of f(t, y) needs those of y up to k
only, and gives number k + 1. So f is run once, on series that are computed when they are asked for, and all
coefficients cost as much as one evaluation of f in series of that order.

Orders and steps of the integrator are chosen as by Jorba & Zou (2005), "A software package for the numerical
integration of ODEs by means of high-order Taylor methods".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import owned, result_like
from wengert.api.operators import operation
from wengert.api.taylor import checked_order
from wengert.box.box import Box, plain
from wengert.box.functions.operands import array
from wengert.box.writing import settled
from wengert.capture import hooks
from wengert.errors import ConvergenceError, MismatchError, NotDifferentiableInputError
from wengert.modes.coefficients import Coefficients
from wengert.modes.dual import check_not_inner
from wengert.modes.series import Series, SeriesTrace
from wengert.ops.shape import astype
from wengert.running import entered
from wengert.types import dtype_of, is_inexact, shape_of


@operation
def taylor_ode(f: Callable, y0: Any, order: int, *, t0: Any = 0.0, args: Sequence[Any] = ()) -> list[Any]:
    """The Taylor coefficients of the solution of y′ = f(t, y, *args), y(t0) = y0, in powers of t − t0.

    Args:
        f: the right-hand side; its result is like y.
        y0: the initial value: a number, an array, or a container of them.
        order: the highest power.

    Returns:
        The list [y₀, y₁, …, yₙ], each like y0.

    Cost: as one evaluation of `f` on series of this order. Compiled functions within `f` are run anew for each order.

    >>> taylor_ode(lambda t, y: -y, 1.0, 3)
    [1.0, -1.0, 0.5, -0.16666666666666666]
    """
    n = checked_order(order)
    leaves, structure = tree.flatten(y0)
    leaves = [_floating(x) for x in leaves]
    trace = SeriesTrace(n, lazy=True)
    unknown = [_Unknown(x) for x in leaves]
    with entered(trace):
        boxes = [Series(trace, x, c) for x, c in zip(leaves, unknown, strict=True)]
        t = np.float64(t0) if isinstance(t0, (int, float)) else t0
        time = Series(trace, t, Coefficients([t, dtype_of(t).type(1)]))
        rates, found = tree.flatten(hooks.resolve(f)(time, tree.unflatten(structure, boxes), *args))
        if len(leaves) == 1 and found != structure and len(shape_of(leaves[0])) == 1:
            rates, found = [array(rates)], structure  # a list of the components
        if found != structure:
            raise MismatchError(
                f"the right-hand side returns the containers {found}, and y has {structure}",
                remedy="return the derivative of y in the containers of y",
            )
        for x, c, rate in zip(leaves, unknown, map(settled, rates), strict=True):
            if shape_of(rate) != shape_of(x):
                raise MismatchError(
                    f"the right-hand side has the shape {shape_of(rate)}, and y has {shape_of(x)}",
                    remedy="return the derivative of y in the shape of y",
                )
            if not trace.owns(rate):
                check_not_inner(rate, trace.tag)
            c.rate = trace.coefficients_of(rate)
        trace.advance(n - 1)
        known = [[c[k] for k in range(n + 1)] for c in unknown]
    results = []
    for k in range(n + 1):
        parts = [result_like(x, c[k]) for x, c in zip(leaves, known, strict=True)]
        results.append(tree.unflatten(structure, owned(parts, leaves if k else ())))
    return results


def _floating(x: Any) -> Any:
    """An initial value; whole numbers are made floating-point ones."""
    x = settled(x)
    if x.__class__ in (int, bool):
        return float(x)
    try:
        kind = dtype_of(x).kind
    except (TypeError, ValueError):
        kind = "O"
    if kind in "iub":
        return np.asarray(x, float) if not isinstance(x, Box) else astype(x, dtype=np.dtype(float))
    if not is_inexact(dtype_of(x)):
        raise NotDifferentiableInputError(
            f"the initial value is a {type(x).__name__}, which has no derivative",
            remedy="pass floating-point numbers and arrays, and containers of them",
        )
    return x


class _Unknown(Coefficients):
    """The solution, whose derivative is known one order behind."""

    __slots__ = ("rate",)

    def __init__(self, y: Any):
        super().__init__([y])
        self.rate: Any = None

    def next(self, k: int) -> Any:
        x = self.rate[k - 1]
        if x is None or k == 1:
            return x if x is None else _as(x, self.known[0])
        return _as(x / k, self.known[0])


def _as(x: Any, y: Any) -> Any:
    return x if dtype_of(x) == dtype_of(y) else astype(x, dtype=dtype_of(y))


# -------------------------------------------------------------------------------------------------------- integrating

_STEPS = 100_000
"""After so many steps between two times something is wrong."""


@operation
def integrate_taylor(
    f: Callable,
    y0: Any,
    t: Any,
    *,
    args: Sequence[Any] = (),
    rtol: float = 1e-12,
    atol: float = 1e-12,
    order: int | None = None,
) -> Any:
    """The solution of y′ = f(t, y, *args) at given times, by Taylor series with steps that suit the series.

    Args:
        f: the right-hand side.
        y0: the value at t[0]: a number or an array.
        t: times, increasing or decreasing.
        rtol, atol: the error of each step is at most atol + rtol·|y|, component by component.
        order: that of the series; by default it follows from the tolerances.

    Returns:
        An array of shape `(len(t), *y0.shape)`; row 0 is y0.

    For smooth problems that are not stiff, and high accuracy. It can be differentiated in y0 and args: the derivative
    is that of the steps that were taken.

    >>> import numpy as np
    >>> integrate_taylor(lambda t, y: -y, 1.0, np.array([0.0, 1.0]))
    array([1.        , 0.36787944])
    """
    times = np.asarray(plain(t), float)
    if times.ndim != 1 or not times.size:
        raise MismatchError("t must be a sequence of times", remedy="pass the initial time and those that are wanted")
    ahead = np.diff(times)
    if not (np.all(ahead >= 0) or np.all(ahead <= 0)) or not np.all(np.isfinite(times)):
        raise MismatchError("times must be finite, and increase or decrease", remedy="sort them")
    y = _floating(y0 if not isinstance(y0, (list, tuple)) else array(y0))
    n = _order_for(rtol, atol) if order is None else max(2, checked_order(order))
    rows, now = [y + 0 * y], times[0]
    series, reach, start = None, 0.0, now
    for target in times[1:]:
        for _ in range(_STEPS):
            if series is not None and abs(target - start) <= reach:
                break
            if series is not None:
                now = start + math.copysign(reach, target - start)
                y, start = _evaluated(series, now - start), now
            series = taylor_ode(f, y, n, t0=now, args=args)
            reach, start = _step(series, rtol, atol), now
            if not reach > 4 * np.spacing(abs(now)) or not math.isfinite(reach):
                if not np.all(np.isfinite(plain(series[-1]))) or reach < math.inf:
                    raise ConvergenceError(
                        f"the series of the solution at t = {now:g} allows no step: it has a singularity there, or the "
                        "right-hand side is not finite",
                        remedy="stop before the singularity, or ask for less accuracy",
                    )
        else:
            raise ConvergenceError(
                f"more than {_STEPS} steps were taken up to t = {now:g}",
                remedy="the equation may be stiff: use an implicit method for it, such as SciPy's Radau",
            )
        rows.append(_evaluated(series, target - start))
    return np.stack(rows)


def _order_for(rtol: float, atol: float) -> int:
    """The order at which the work for a given accuracy is least: half the number of its digits, in units of e."""
    tolerance = max(min(x for x in (rtol, atol, 1.0) if x > 0), float(np.finfo(float).eps))
    return max(4, math.ceil(-0.5 * math.log(tolerance)) + 1)


def _step(series: Sequence[Any], rtol: float, atol: float) -> float:
    """How far the last two terms stay below the tolerance; they stand for what is left out."""
    scale = atol + rtol * np.abs(plain(series[0]))
    n = len(series) - 1
    reach = math.inf
    for k in (n - 1, n):
        with np.errstate(all="ignore"):
            size = float(np.max(np.abs(plain(series[k])) / scale, initial=0.0))
        if not math.isfinite(size):
            return math.nan if math.isnan(size) else 0.0
        if size > 0:
            reach = min(reach, size ** (-1 / k))
    return reach * math.exp(-0.7 / (n - 1))


def _evaluated(series: Sequence[Any], h: float) -> Any:
    y = series[-1]
    for c in series[-2::-1]:
        y = y * h + c
    return y
