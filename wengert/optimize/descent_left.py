"""Whether a point where a method with constraints has ended can be left downhill: gradients alone do not say so.

At a minimum the gradient is a sum of those of the active constraints, with signs that say on which side they are (the
conditions of Karush, Kuhn and Tucker). What the best such sum leaves over points downhill along the constraints. By
itself that proves little: multipliers need not exist where constraints are degenerate. So a step that way is taken and
brought back onto the constraints; a point there with a clearly lower value is proof that the method has stopped too
early, as SLSQP does where equations depend on each other.

A maximum or a saddle along the constraints satisfies these conditions, too, and is where a method stays that starts
there. So steps are also taken where the Lagrangian function bends down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse

from wengert.optimize.examination import FEW

_CLEARLY = 1e-3
"""By so much, relative to the value or to one, another point must be lower."""
_LOWER = 1e-6
"""The same where the Lagrangian function bends down, so that values fall with the square of the step."""
_ACTIVE = 1e-6
"""A constraint counts as active that is so near to its limit."""
_LENGTHS = (0.3, 0.1, 1e-2, 1e-3)
_CORRECTIONS = 5
_FEW_WAYS = 10
"""In so many directions that constraints leave open curvature is looked at, by differences of gradients."""
_BENT = 1e-4
"""A curvature, relative to the largest, that is negative, and not by rounding."""


class RowsBetweenLimits:
    """Constraints in SciPy's forms, on vectors and with derivatives, as rows between limits; bounds are rows, too."""

    def __init__(self, constraints: Sequence[Any], limits: tuple[np.ndarray, np.ndarray] | None):
        self._constraints = constraints
        self.limits = limits

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values, Jacobian, lower and upper limits."""
        parts = [_rows(c, x) for c in self._constraints]
        if self.limits is not None:
            parts.append((x, np.eye(len(x)), *self.limits))
        values, jacobians, lower, upper = zip(*parts, strict=True)
        return np.concatenate(values), np.concatenate(jacobians), np.concatenate(lower), np.concatenate(upper)


def _rows(c: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    if isinstance(c, dict):
        value, jacobian = c["fun"](x), c["jac"](x)
        lower, upper = 0.0, 0.0 if c["type"] == "eq" else np.inf
    elif hasattr(c, "A"):
        jacobian, lower, upper = c.A, c.lb, c.ub
        value = jacobian @ x
    else:
        value, jacobian, lower, upper = c.fun(x), c.jac(x), c.lb, c.ub
    value = np.atleast_1d(np.asarray(value, float))
    dense = jacobian.toarray() if scipy.sparse.issparse(jacobian) else np.asarray(jacobian, float)
    spread = [np.broadcast_to(np.asarray(limit, float), value.shape) for limit in (lower, upper)]
    return value, dense.reshape(len(value), len(x)), spread[0], spread[1]


def _outside(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """How far rows are beyond their limits."""
    return np.minimum(values - lower, 0.0) + np.maximum(values - upper, 0.0)


def _downhill(gradient: np.ndarray, rows: tuple[np.ndarray, ...]) -> np.ndarray:
    """What is left of the direction downhill where active constraints are in the way."""
    values, jacobian, lower, upper = rows
    near = _ACTIVE * (1 + np.abs(values))
    at_lower, at_upper = values - lower <= near, upper - values <= near
    normals = np.concatenate([jacobian[at_lower], -jacobian[at_upper]])  # an equation has both
    length = np.sqrt(np.sum(normals**2, axis=1))
    normals = normals[length > 0] / length[length > 0, None]
    if not len(normals):
        return -gradient
    multipliers, _ = scipy.optimize.nnls(normals.T, gradient, maxiter=30 * sum(normals.shape))
    return normals.T @ multipliers - gradient


def _brought_back(x: np.ndarray, rows: RowsBetweenLimits) -> np.ndarray:
    """A point near x at which constraints hold, by steps of Gauss and Newton."""
    for _ in range(_CORRECTIONS):
        values, jacobian, lower, upper = rows.at(x)
        beyond = _outside(values, lower, upper)
        if not np.any(beyond):
            break
        held = (beyond != 0) | (lower == upper)
        x = x - np.linalg.lstsq(jacobian[held], beyond[held])[0]
        x = x if rows.limits is None else np.clip(x, *rows.limits)
    return x


def _bent_down(slope: Callable, x: np.ndarray, rows: RowsBetweenLimits) -> np.ndarray | None:
    """A direction along the active constraints in which the Lagrangian function has negative curvature."""
    values, jacobian, lower, upper = rows.at(x)
    near = _ACTIVE * (1 + np.abs(values))
    active = (values - lower <= near) | (upper - values <= near)
    ways = scipy.linalg.null_space(jacobian[active]) if np.any(active) else np.eye(len(x))
    if not 0 < ways.shape[1] <= _FEW_WAYS:
        return None
    multipliers = np.linalg.lstsq(jacobian[active].T, slope(x))[0]

    def along(at: np.ndarray) -> np.ndarray:
        return ways.T @ (slope(at) - rows.at(at)[1][active].T @ multipliers)

    step = 1e-5 * max(1.0, float(np.linalg.norm(x)))
    bent = np.array([along(x + step * way) - along(x - step * way) for way in ways.T])
    if not np.all(np.isfinite(bent)):
        return None
    w, v = np.linalg.eigh((bent + bent.T) / 2)
    return ways @ v[:, 0] if w[0] < -_BENT * np.max(np.abs(w)) else None


def lower_point(
    f: Callable, slope: Callable, x: np.ndarray, value: float, rows: RowsBetweenLimits
) -> np.ndarray | None:
    """A point that satisfies the constraints as well as x does and has a clearly lower value, if one is found.

    `f` and `slope` give the value and the gradient of what is minimised.
    """
    gradient = slope(x)
    if len(x) > FEW or not np.all(np.isfinite(gradient)):
        return None
    here = rows.at(x)
    allowed = max(float(np.max(np.abs(_outside(here[0], *here[2:])), initial=0.0)), 1e-13)
    size = max(1.0, float(np.linalg.norm(x)))

    def lower(direction: np.ndarray, lengths: Sequence[float], clearly: float) -> np.ndarray | None:
        for length in lengths:
            at = _brought_back(x + length * size * direction, rows)
            there = rows.at(at)
            violation = float(np.max(np.abs(_outside(there[0], *there[2:])), initial=0.0))
            if violation <= allowed and f(at) < value - clearly * max(1.0, abs(value)):
                return at
        return None

    downhill = _downhill(gradient, here)
    left = float(np.linalg.norm(downhill))
    if left > 1e-6 * float(np.linalg.norm(gradient)):
        return lower(downhill / left, _LENGTHS, _CLEARLY)
    bent = _bent_down(slope, x, rows)
    both_ways = [sign * length for length in _LENGTHS for sign in (1, -1)]
    return None if bent is None else lower(bent, both_ways, _LOWER)
