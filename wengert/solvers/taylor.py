"""`integrate_taylor`: differential equations by Taylor series (`api/taylor_ode.py`), step by step.

The steps (`algorithms/taylor.py`) are plain NumPy: eagerly they run one by one, under `jit` as one native loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.algorithms import taylor as steps
from wengert.api.operators import operation
from wengert.api.taylor import checked_order
from wengert.api.taylor_ode import floating, taylor_ode
from wengert.box.functions.operands import array, cast, stacked
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.ops.shape import reshape
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
        y0: the value at t[0]: a number or an array.
        t: times, increasing or decreasing.
        rtol, atol: the error of each step is at most atol + rtol·|y|, component by component.
        order: that of the series; by default it follows from the tolerances.

    Returns:
        An array of shape `(len(t), *y0.shape)`; row 0 is y0.

    For smooth problems that are not stiff, and high accuracy. It can be differentiated in y0, t and args: the
    derivative is that of the steps that were taken. Under `jit` it is a native loop.

    >>> import numpy as np
    >>> integrate_taylor(lambda t, y: -y, 1.0, np.array([0.0, 1.0]))
    array([1.        , 0.36787944])
    """
    times = settled(array(t))
    if len(shape_of(times)) != 1 or not shape_of(times)[0]:
        raise MismatchError("t must be a sequence of times", remedy="pass the initial time and those that are wanted")
    times = times if dtype_of(times).kind == "f" else cast(times, np.float64)
    known = stop_gradient(times)
    if not isinstance(known, Traced):
        ahead = np.diff(known)
        if not (np.all(ahead >= 0) or np.all(ahead <= 0)) or not np.all(np.isfinite(known)):
            raise MismatchError("times must be finite, and increase or decrease", remedy="sort them")
    y = floating(array(y0) if isinstance(y0, (list, tuple)) else y0)
    shape, dtype = shape_of(y), dtype_of(y)
    size = math.prod(shape)
    n = _order_for(rtol, atol) if order is None else max(2, checked_order(order))
    right_hand_side = instrument(f)

    def vector(y: Any) -> Any:
        return reshape(cast(y, dtype), shape=(size,))

    def expand(t: Any, y: Any) -> Any:
        y = reshape(y, shape=shape)
        return stacked([vector(c) for c in taylor_ode(right_hand_side, y, n, t0=t, args=args)], 0)

    out = instrument(steps.integrate)(expand, vector(y), times, stop_gradient, rtol, atol, _STEPS)
    return reshape(out, shape=(shape_of(times)[0], *shape))


def _order_for(rtol: float, atol: float) -> int:
    """The order at which the work for a given accuracy is least: half the number of its digits, in units of e."""
    tolerance = max(min(x for x in (rtol, atol, 1.0) if x > 0), float(np.finfo(float).eps))
    return max(4, math.ceil(-0.5 * math.log(tolerance)) + 1)
