"""`integrate_taylor`: differential equations by Taylor series (`api/taylor_ode.py`), step by step.

The steps (`algorithms/taylor.py`) are plain NumPy: eagerly they run one by one, under `jit` as one native loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.algorithms import taylor as steps
from wengert.api.operators import operation
from wengert.api.taylor import checked_order
from wengert.api.taylor_ode import floating, taylor_ode
from wengert.box.functions.operands import array, cast, stacked
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.ops.shape import concatenate, reshape
from wengert.solvers.parameters import demand_tolerances
from wengert.types import dtype_of, shape_of

_STEPS = 100_000
"""After so many steps something is wrong."""


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
        y0: the value at t[0]: a number, an array, or a container of them; a list or a tuple is an array.
        t: times, increasing or decreasing.
        rtol, atol: the error of each step is at most atol + rtol·|y|, component by component.
        order: that of the series; by default it follows from the tolerances.

    Returns:
        An array of shape `(len(t), *y0.shape)`, or such arrays in the containers of y0; row 0 is y0.

    For smooth problems that are not stiff, and high accuracy; kinks and jumps of `f` cost many short steps. It can be
    differentiated in y0, t and args: the derivative is that of the steps that were taken. Under `jit` it is a native
    loop.

    >>> import numpy as np
    >>> integrate_taylor(lambda t, y: -y, 1.0, np.array([0.0, 1.0]))
    array([1.        , 0.36787944])
    """
    demand_tolerances("wg.integrate_taylor", rtol=rtol, atol=atol)
    times = settled(array(t))
    if len(shape_of(times)) != 1 or not shape_of(times)[0]:
        raise MismatchError("t must be a sequence of times", remedy="pass the initial time and those that are wanted")
    times = times if dtype_of(times).kind == "f" else cast(times, np.float64)
    known = stop_gradient(times)
    if not isinstance(known, Traced):
        ahead = np.diff(known)
        if not (np.all(ahead >= 0) or np.all(ahead <= 0)) or not np.all(np.isfinite(known)):
            raise MismatchError("times must be finite, and increase or decrease", remedy="sort them")
    leaves, structure = tree.flatten(array(y0) if y0.__class__ in (list, tuple) else y0)
    leaves = [floating(x) for x in leaves]
    if not leaves:
        raise MismatchError(
            "the initial value has no numbers", remedy="pass a number, an array, or a container of them"
        )
    shapes, dtype = [shape_of(x) for x in leaves], np.result_type(*[dtype_of(x) for x in leaves])
    n = _order_for(rtol, atol) if order is None else max(2, checked_order(order))
    right_hand_side = instrument(f)

    def vector(leaves: Sequence[Any]) -> Any:
        parts = [reshape(cast(x, dtype), shape=(math.prod(shape_of(x)),)) for x in leaves]
        return parts[0] if len(parts) == 1 else concatenate(*parts, axis=0)

    def container(rows: Any, lead: tuple[int, ...]) -> Any:
        found, start = [], 0
        for shape in shapes:
            end = start + math.prod(shape)
            part = index(rows, pattern=(Ellipsis, slice(start, end))) if len(shapes) > 1 else rows
            found.append(reshape(part, shape=(*lead, *shape)))
            start = end
        return tree.unflatten(structure, found)

    def expand(t: Any, y: Any) -> Any:
        series = taylor_ode(right_hand_side, container(y, ()), n, t0=t, args=args)
        return stacked([vector(tree.leaves(c)) for c in series], 0)

    def rate(t: Any, y: Any) -> Any:
        series = taylor_ode(right_hand_side, container(y, ()), 1, t0=t, args=args)
        return stop_gradient(vector(tree.leaves(series[1])))

    out = instrument(steps.integrate)(expand, rate, vector(leaves), times, stop_gradient, rtol, atol, _STEPS)
    return container(out, (shape_of(times)[0],))


def _order_for(rtol: float, atol: float) -> int:
    """The order at which the work for a given accuracy is least: half the number of its digits, in units of e."""
    tolerance = max(min(x for x in (rtol, atol, 1.0) if x > 0), float(np.finfo(float).eps))
    return max(4, math.ceil(-0.5 * math.log(tolerance)) + 1)
