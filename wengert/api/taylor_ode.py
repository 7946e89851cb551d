"""The Taylor series of the solution of a differential equation: `taylor_ode`; `solvers/taylor.py` takes steps with it.

The coefficients of the solution of y′ = f(t, y) come from each other: coefficient k of f(t, y) needs those of y up to k
only, and gives number k + 1. So f is run once, on series that are computed when they are asked for, and all
coefficients cost as much as one evaluation of f in series of that order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import number_like, owned, result_like
from wengert.api.operators import operation
from wengert.api.taylor import checked_order
from wengert.box.box import Box
from wengert.box.functions.operands import array
from wengert.box.writing import settled
from wengert.capture import hooks
from wengert.errors import MismatchError, NotDifferentiableInputError
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
    leaves, structure = tree.flatten_values(y0)
    leaves = [floating(x) for x in leaves]
    trace = SeriesTrace(n, lazy=True)
    unknown = [_Unknown(x) for x in leaves]
    with entered(trace):
        boxes = [Series(trace, x, c) for x, c in zip(leaves, unknown, strict=True)]
        t = np.float64(t0) if isinstance(t0, (int, float)) else t0
        time = Series(trace, t, Coefficients([t, dtype_of(t).type(1)]))
        rates, found = tree.flatten_values(hooks.resolve(f)(time, tree.unflatten(structure, boxes), *args))
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
            if dtype_of(rate).kind == "c" and dtype_of(x).kind != "c":
                raise MismatchError(
                    "the right-hand side is complex, and y is real", remedy="pass a complex initial value: y0 + 0j"
                )
            if not trace.owns(rate):
                check_not_inner(rate, trace.tag)
            c.rate = trace.coefficients_of(rate)
        trace.advance(n - 1)
        known = [[c[k] for k in range(n + 1)] for c in unknown]
    results = []
    for k in range(n + 1):
        parts = [number_like(x, result_like(x, c[k])) for x, c in zip(leaves, known, strict=True)]
        results.append(tree.unflatten(structure, owned(parts, leaves if k else ())))
    return results


def floating(x: Any) -> Any:
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
