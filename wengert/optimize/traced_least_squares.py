"""`least_squares` in programs that are differentiated, batched or compiled: one native loop, and the derivative of the
answer (`solvers/fitting.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.flat import Layout
from wengert.errors import MismatchError
from wengert.optimize.fit import Fit
from wengert.optimize.residuals import DAMPING, KINDS, Residuals
from wengert.solvers.fitting import fitted


def traced_least_squares(coordinates: Any, r: Callable, x0: Any, args: tuple, f_scale: Any, unknowns: Layout,
                         limits: Any, method: str, tolerances: list[float], maxiter: int, loss: Any
) -> Fit:  # fmt: skip
    """In programs that are differentiated, batched or compiled: one native loop, and the derivative of the answer."""
    if method not in KINDS:
        raise MismatchError(
            f"SciPy's {method} does not run in a function that is differentiated, batched or compiled",
            remedy='use method="lm", or scipy.optimize.least_squares itself',
        )
    n = coordinates.size
    unbounded = np.full(n, -np.inf), np.full(n, np.inf)
    lower, upper = unbounded if limits is None else (coordinates.state(limit) for limit in limits)

    def given(r: Callable) -> Residuals:
        return Residuals(r, unknowns, coordinates, loss)

    def find(r: Callable, x0: Any, args: tuple, scale: Any) -> Any:
        start = unknowns.ravel(x0) * 1.0
        if limits is not None:
            start = np.minimum(np.maximum(start, limits[0]), limits[1])
        state, status, count = given(r).whole(
            coordinates.state(start), start, scale, args, lower, upper, limits is not None, KINDS[method],
            DAMPING[method], True, 0.0, tolerances, maxiter)  # fmt: skip
        return np.concatenate((state, np.stack((status * 1.0, count * 1.0))))

    def cost(y: Any, r: Callable, x0: Any, args: tuple, scale: Any) -> Any:
        return given(r).cost(y, unknowns.ravel(x0) * 1.0, scale, args)

    ends = None if limits is None else (lower, upper)
    found = fitted(find, _refused_on_manifolds if coordinates.curved else cost, (r, x0, args, f_scale), ends)
    state, status, count = found[:-2], found[-2], found[-1]
    start = unknowns.ravel(x0) * 1.0
    value, f, jacobian = given(r).evaluate(state, start, f_scale, args)
    raw = f if loss is None else given(r).of_state(state, start, args)
    return Fit(
        x=unknowns.unravel(coordinates.point(state, start)), cost=value, fun=raw, jac=jacobian, grad=jacobian.T @ f,
        nit=count, status=status, success=(status > 0) & (status < 5), message="found in a compiled loop",
        method=method)  # fmt: skip


def _refused_on_manifolds(*_: Any) -> Any:
    raise MismatchError(
        "the answer of least_squares on a manifold has no derivative here",
        remedy="write the unknowns in coordinates of their own (a rotation as a rotation vector, say)",
    )
