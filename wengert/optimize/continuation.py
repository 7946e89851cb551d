"""`continue_solution`: a root followed along a parameter, through folds, by pseudo-arclength continuation.

The curve F(x, λ) = 0 is followed by its length s, not by λ, so that it may turn back (Keller 1977). A tangent
t = (ẋ, λ̇) solves ∂F/∂x ẋ + ∂F/∂λ λ̇ = 0; from y + h t Newton's method comes back to the curve in the plane through that
point which is orthogonal to t. Steps grow where that is quick and the curve straight. At a fold λ̇ changes its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.flat import of_vector
from wengert.api.jacobian import value_and_jacobian
from wengert.api.jit import jit as compiled
from wengert.errors import ConvergenceError, MismatchError, told
from wengert.optimize.objective import Unknowns, started
from wengert.optimize.result import Solved
from wengert.optimize.solve import solve

_ITERATIONS = 8
"""Newton's method has so many to come back to the curve."""
_WHY = "it ends there, branches, or F is not smooth"
_ROUNDING = 1e-9
"""Where λ̇ is smaller on both sides, its sign says nothing."""
_TURN = 0.95
"""The cosine of the largest angle between successive tangents."""


@told
def continue_solution(
    F: Callable[..., Any],
    x0: Any,
    parameters: tuple[float, float],
    *,
    args: tuple = (),
    step: float | None = None,
    max_step: float | None = None,
    max_points: int = 1000,
    tol: float = 1e-10,
    jit: bool = True,
) -> Solved:
    """The roots of `F(x, λ, *args)` along a curve, from λ = parameters[0] on, through folds.

    Args:
        F: returns as many numbers as x has.
        x0: a guess of the root at the first λ: a number, an array or a container.
        parameters: λ at the start, and the other end; the curve is followed until λ leaves the interval between them.
        args: further arguments of `F`.
        step: the first step along the curve; a hundredth of the interval if left out.
        max_step: the longest step; a tenth of the interval if left out.
        max_points: after so many points it is given up.
        tol: the size of the last Newton step relative to 1 + |x|.
        jit: compile `F` and its Jacobian.

    Returns:
        `.parameter` (the values of λ, one for each point), `.x` (the roots, in the containers of x0, with a first axis
        for the points), `.folds` (a list of pairs (λ, x) where the curve turns back), `.success` (whether an end of the
        interval was reached) and `.message`.

    >>> import numpy as np
    >>> found = continue_solution(lambda x, p: p + x - x**3 / 3, -2.5, (-3.0, 3.0))
    >>> [round(float(p), 6) for p, _ in found.folds]
    [0.666667, -0.666667]
    >>> found.parameter[-1], bool(abs(found.parameter[-1] + found.x[-1] - found.x[-1] ** 3 / 3) < 1e-9)
    (np.float64(3.0), True)
    """
    args = args if isinstance(args, tuple) else (args,)
    first, last = float(parameters[0]), float(parameters[1])
    if first == last or not np.isfinite(last - first):
        raise MismatchError(
            f"the parameter goes from {first:g} to {last:g}", remedy="give two different, finite values: (0.0, 1.0)"
        )
    x0 = started(x0)
    unknowns = Unknowns(x0)
    n = unknowns.size
    inner = of_vector(F, unknowns)

    def flat(y: Any) -> Any:
        leaves = [np.reshape(leaf, (-1,)) for leaf in tree.leaves(inner(y[:n], y[n], *args))]
        return leaves[0] if len(leaves) == 1 else np.concatenate(leaves)

    both = value_and_jacobian(flat)
    curve = _Curve(compiled(both, fallback=True) if jit else both, n, tol)
    begun = solve(F, x0, args=(first, *args), method="newton", tol=tol, jit=jit)
    if not begun.success:
        raise ConvergenceError(
            f"there is no root to start from at the parameter {first:g}: {begun.message}",
            remedy="give a better x0, or start at another parameter",
        )
    y = np.append(unknowns.vector(begun.x), first)
    span = abs(last - first)
    h, longest = step or span / 100, max_step or span / 10
    points, folds, message = curve.follow(y, np.sign(last - first), min(first, last), max(first, last), h, longest,
                                          max_points)  # fmt: skip
    found = np.array(points)
    rows = [unknowns.container(p[:n]) for p in found]
    stacked = [np.stack(column) for column in zip(*[tree.leaves(row) for row in rows], strict=True)]
    return Solved(
        x=tree.unflatten(unknowns.structure, stacked), parameter=found[:, n], success=not message,
        folds=[(float(p[n]), unknowns.container(p[:n])) for p in folds], message=message or "an end was reached",
        nit=len(points), method="pseudo-arclength",
    )  # fmt: skip


class _Curve:
    """A curve of roots: tangents, and the way back to it."""

    def __init__(self, both: Callable, n: int, tol: float):
        self._both, self._n, self._tol = both, n, tol

    def tangent(self, y: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The unit tangent that points as `along` does."""
        _, matrix = self._both(y)
        _, _, vt = np.linalg.svd(np.asarray(matrix))
        t = vt[-1]
        return t if t @ along > 0 else -t

    def correct(self, y: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, int] | None:
        """The point of the curve in the plane through y that is orthogonal to `normal`; `None` if it is not found."""
        origin = y
        for k in range(_ITERATIONS):
            r, matrix = self._both(y)
            system = np.vstack([np.asarray(matrix), normal])
            try:
                step = np.linalg.solve(system, np.append(np.asarray(r), normal @ (y - origin)))
            except np.linalg.LinAlgError:
                return None
            y = y - step
            if not np.all(np.isfinite(y)):
                return None
            if np.max(np.abs(step)) <= self._tol * (1 + np.max(np.abs(y))):
                return y, k + 1
        return None

    def at_parameter(self, y: np.ndarray, value: float) -> np.ndarray | None:
        """The point with this parameter near y."""
        normal = np.zeros(self._n + 1)
        normal[-1] = 1.0
        found = self.correct(np.append(y[:-1], value), normal)
        return None if found is None else np.append(found[0][:-1], value)

    def fold(self, y: np.ndarray, t: np.ndarray, h: float) -> np.ndarray:
        """The point within a step where the curve turns back: λ̇ = 0, by bisection of the step."""
        low, high, best = 0.0, h, y
        for _ in range(60):
            middle = (low + high) / 2
            found = self.correct(y + middle * t, t)
            if found is None:
                break
            best = found[0]
            if self.tangent(best, t)[-1] * t[-1] > 0:
                low = middle
            else:
                high = middle
            if high - low <= 1e-10 * h:
                break
        return best

    def follow(self, y: np.ndarray, sign: float, lower: float, upper: float, h: float, longest: float, most: int
               ) -> tuple[list, list, str]:  # fmt: skip
        """Points, folds, and what went wrong."""
        along = np.zeros(self._n + 1)
        along[-1] = sign
        t = self.tangent(y, along)
        points, folds = [y], []
        shortest = 1e-10 * longest
        while len(points) < most:
            found = self.correct(y + h * t, t)
            new_t = None if found is None else self.tangent(found[0], t)
            if found is None or new_t is None or new_t @ t < _TURN:
                h /= 2
                if h < shortest:
                    return points, folds, f"the curve cannot be followed beyond the parameter {y[-1]:g}: {_WHY}"
                continue
            new, iterations = found
            if not lower <= new[-1] <= upper:
                end = upper if new[-1] > upper else lower
                part = (end - y[-1]) / (new[-1] - y[-1])
                final = self.at_parameter(y + part * (new - y), end)
                if final is None:
                    h /= 2
                    continue
                return [*points, final], folds, ""
            if new_t[-1] * t[-1] < 0 and max(abs(new_t[-1]), abs(t[-1])) > _ROUNDING:
                folds.append(self.fold(y, t, h))
            y, t = new, new_t
            points.append(y)
            if iterations <= 3:
                h = min(1.5 * h, longest)
        return points, folds, f"after {most} points no end was reached (max_points=)"
