"""The global minimum of a function on a box, with proof: `verified_minimum`.

Branch and bound (Hansen and Walster 2004): boxes are divided, the most promising first. The value at any point is an
upper bound of the minimum; boxes whose lower bound is greater are discarded, and so are those inside of which the
function only rises or falls in some variable (the monotonicity test), or has no stationary point (Krawczyk's operator
of the gradient). At the boundary of the box such a variable is held at its end instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.api.operators import operation
from wengert.api.subdivision import OnBoxes, bisected, krawczyk, merged, point
from wengert.modes.interval import make

_BATCH = 128
"""So many boxes are looked at together."""
_FEW = 12
"""Up to so many variables the Hessian is used."""


@dataclass(frozen=True)
class Minimum:
    """What `verified_minimum` found."""

    value: Any
    """An interval that contains the minimum."""
    boxes: list[Any]
    """Boxes that contain all points at which it is taken."""
    count: int
    """How many boxes were looked at."""


@operation
def verified_minimum(f: Callable, box: Any, tol: float = 1e-9, max_boxes: int = 20_000) -> Minimum:
    """The least value of a function on a box, and where it is taken, with proof.

    Args:
        f: a function of a number, an array, or a container of them, with one number as its result.
        box: an interval, an array of intervals, or a container of them, as `f` takes it.
        tol: a box is not divided any more if the function varies by less than that in it, relative to its size beyond
            one, or if it is as small as that itself.
        max_boxes: after so many boxes the bounds are what they are.

    Returns:
        An object with `value`, an interval that contains the minimum, and `boxes`, a list of boxes like `box` outside
        of which the function is greater.

    Cost: an evaluation of `f`, its gradient and its Hessian on intervals for each box, of which there may be many.

    >>> import numpy as np, wengert as wg
    >>> found = verified_minimum(lambda x: x**4 - 4 * x**2 + x, wg.interval(-3.0, 3.0))
    >>> round(float(found.value.mid), 6), found.value.width < 1e-8, [round(float(b.mid), 4) for b in found.boxes]
    (-5.444192, np.True_, [-1.473])
    """
    problem = OnBoxes(f, box, 1)
    search = _Search(problem, tol, max_boxes)
    search.run()
    search.look_once_more()
    boxes = [(low, high) for bound, low, high in search.done if bound <= search.upper]
    least = min([bound for bound, _, _ in search.done], default=math.nan)
    return Minimum(
        make(np.float64(min(least, search.upper)), np.float64(search.upper)),
        [problem.container(make(*b)) for b in merged(boxes)],
        search.count,
    )


class _Search:
    def __init__(self, problem: OnBoxes, tol: float, max_boxes: int):
        self.problem, self.tol, self.max_boxes = problem, tol, max_boxes
        self.low, self.high = np.atleast_1d(problem.box.lo), np.atleast_1d(problem.box.hi)
        self.upper = math.inf
        self.done: list[tuple[float, np.ndarray, np.ndarray]] = []
        """Boxes that are not divided any more, each with a lower bound of the function in it."""
        self.count = 0

    def run(self) -> None:
        pending = [(-math.inf, self.low, self.high)]
        while pending:
            pending = [b for b in pending if b[0] <= self.upper]
            if self.count >= self.max_boxes:
                self.done += pending
                return
            pending.sort(key=lambda b: b[0])
            taken, pending = pending[:_BATCH], pending[_BATCH:]
            if taken:
                self.count += len(taken)
                pending += self._step(np.array([b[1] for b in taken]), np.array([b[2] for b in taken]))

    def _step(self, low: np.ndarray, high: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray]]:
        problem = self.problem
        y, broken = problem.on(problem.vector, make(low, high), watches=True)
        bound = y.lo[:, 0]
        left = ~np.isnan(bound) & (bound <= self.upper)  # where it is NaN, the function is defined nowhere
        low, high, bound, top, broken = low[left], high[left], bound[left], y.hi[left, 0], broken[left]
        if not len(low):
            return []
        slopes, _ = problem.on(problem.jacobian, make(low, high))
        down, up = slopes.lo[:, 0, :], slopes.hi[:, 0, :]
        usable = ~broken[:, None] & ~np.isnan(down)
        rises, falls = usable & (down > 0), usable & (up < 0)
        gone = np.any(rises & (low > self.low) & (high > low), axis=1)
        gone |= np.any(falls & (high < self.high) & (high > low), axis=1)
        high = np.where(rises & (low == self.low), low, high)
        low = np.where(falls & (high == self.high) & ~rises, high, low)
        bound = np.maximum(bound, self._centred_bounds(low, high, slopes, broken))
        low, high, gone = self._without_stationary_points(low, high, broken, gone)
        left = ~gone & (bound <= self.upper)
        return self._divided(low[left], high[left], bound[left], top[left])

    def _try(self, points: np.ndarray) -> Any:
        """Values at points are upper bounds."""
        value, _ = self.problem.on(self.problem.vector, point(points))
        found = value.hi[:, 0]
        best = np.nanmin(found) if np.any(~np.isnan(found)) else math.inf
        self.upper = min(self.upper, float(best))
        return value

    def look_once_more(self) -> None:
        """Values and bounds in the boxes that are left: some were narrowed after their bounds had been found."""
        found = []
        for k in range(0, len(self.done), _BATCH):
            ends = self.done[k : k + _BATCH]
            box = make(np.array([b[1] for b in ends]), np.array([b[2] for b in ends]))
            y, broken = self.problem.on(self.problem.vector, box, watches=True)
            slopes, _ = self.problem.on(self.problem.jacobian, box)
            bounds = np.fmax(y.lo[:, 0], self._centred_bounds(box.lo, box.hi, slopes, broken))
            found += [(max(b[0], float(bound)), b[1], b[2]) for b, bound in zip(ends, bounds, strict=True)]
        self.done = found

    def _centred_bounds(self, low: np.ndarray, high: np.ndarray, slopes: Any, broken: np.ndarray) -> np.ndarray:
        """Lower bounds by the mean value form."""
        box = make(low, high)
        middle = np.asarray(box.mid)
        value = self._try(middle)
        y = value[:, 0] + np.sum(slopes[:, 0, :] * (box - point(middle)), axis=1)
        return np.where(broken | np.isnan(y.lo), -math.inf, y.lo)

    def _without_stationary_points(
        self, low: np.ndarray, high: np.ndarray, broken: np.ndarray, gone: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Boxes narrowed to where the gradient can be zero, if they lie inside: Krawczyk's operator of the gradient."""
        problem, n = self.problem, self.problem.size
        inner = ~gone & ~broken & np.all((low > self.low) & (high < self.high), axis=1)
        k = np.flatnonzero(inner)
        if n > _FEW or not len(k):
            return low, high, gone
        box = make(low[k], high[k])
        _, jumps = problem.on(lambda z: problem.jacobian(z)[0], box, watches=True)
        value, _ = problem.on(lambda z: problem.jacobian(z)[0], point(np.asarray(box.mid)))
        curvature, _ = problem.on(problem.hessian, box)
        usable = ~jumps & np.all(np.isfinite(curvature.lo) & np.isfinite(curvature.hi), axis=(1, 2))
        image, _ = krawczyk(box, value, curvature, usable)
        usable &= ~np.any(np.isnan(image.lo) | np.isnan(image.hi), axis=1)
        first, last = np.maximum(low[k], image.lo), np.minimum(high[k], image.hi)
        nowhere = usable & np.any(first > last, axis=1)
        low, high, gone = low.copy(), high.copy(), gone.copy()
        narrowed = (usable & ~nowhere)[:, None]
        low[k], high[k] = np.where(narrowed, first, low[k]), np.where(narrowed, last, high[k])
        gone[k] |= nowhere
        return low, high, gone

    def _divided(self, low: np.ndarray, high: np.ndarray, bound: np.ndarray, top: np.ndarray) -> list:
        if not len(low):
            return []
        with np.errstate(all="ignore"):
            size = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
            size = np.where(np.isfinite(size), size, 1.0)
            least = self.tol * size
            small = np.all((high - low <= least) | (np.nextafter(low, math.inf) >= high), axis=1)
            flat = (self.upper - bound <= self.tol * max(1.0, abs(self.upper))) & np.all(
                high - low <= math.sqrt(self.tol) * size, axis=1
            )
        done = small | flat
        self.done += [(float(bound[k]), low[k], high[k]) for k in np.flatnonzero(done)]
        low, high, bound = low[~done], high[~done], bound[~done]
        if not len(low):
            return []
        width = np.minimum(high - low, np.finfo(float).max)
        a, b = bisected(low, high, np.argmax(width, axis=1))
        return list(zip([*bound, *bound], a, b, strict=True))
