"""All roots of a system in a box, each proved to be there and to be the only one around: `verified_roots`.

Krawczyk's operator: for a box X, a point m in it, and any matrix Y,

    K(X) = m − Y·f(m) + (I − Y·f′(X))·(X − m).

Roots in X are in K(X). If K(X) lies in the interior of X, there is exactly one root in X (Krawczyk 1969; Neumaier 1990,
Theorem 5.1.8). It holds for functions that are continuous on X with derivatives almost everywhere, if f′(X) encloses
all of them. Boxes in which neither holds are divided. What is discarded has no root: zero is not in the natural
enclosure of f, K(X) and X have nothing in common, or the box lies where a root that was found is the only one.
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

_BATCH = 256
"""So many boxes are looked at together."""


@dataclass(frozen=True)
class Roots:
    """What `verified_roots` found."""

    roots: list[Any]
    """Intervals, each around one root, which is the only one near."""
    undecided: list[Any]
    """Boxes in which there may be roots, or not: double ones, those on the boundary, or where f is not continuous."""
    boxes: int
    """How many boxes were looked at."""


@operation
def verified_roots(f: Callable, box: Any, tol: float = 1e-10, max_boxes: int = 20_000) -> Roots:
    """All roots of a function in a box, with proof.

    Args:
        f: a function of one number with one result; or of an array, or a container of numbers, with as many results.
        box: where to look: an interval, an array of intervals, or a container of them, as `f` takes it.
        tol: boxes that are as small as that, relative to their size beyond one, are not divided any more.
        max_boxes: after so many boxes what is left is undecided.

    Returns:
        An object with `roots`, a list of intervals like `box`: in each there is exactly one root, and `undecided`, a
        list of boxes. Outside of both there is no root in the box: none is lost.

    Cost: some evaluations of `f` and its Jacobian on intervals for each box, of which there may be many: exponentially
    so in the number of variables.

    >>> import numpy as np, wengert as wg
    >>> found = verified_roots(lambda x: x**3 - 2 * x + 0.5, wg.interval(-2.0, 2.0))
    >>> [round(float(r.mid), 9) for r in found.roots], found.undecided
    ([-1.525687121, 0.258652023, 1.267035098], [])
    """
    problem = OnBoxes(f, box, None)
    search = _Search(problem, tol, max_boxes)
    search.run()
    return Roots(
        [problem.container(make(*r)) for r in sorted(search.roots, key=lambda r: r[0].tolist())],
        [problem.container(make(*r)) for r in merged(search.undecided)],
        search.count,
    )


class _Search:
    def __init__(self, problem: OnBoxes, tol: float, max_boxes: int):
        self.problem, self.tol, self.max_boxes = problem, tol, max_boxes
        self.low, self.high = np.atleast_1d(problem.box.lo), np.atleast_1d(problem.box.hi)
        self.roots: list[tuple[np.ndarray, np.ndarray]] = []
        self.alone: list[tuple[np.ndarray, np.ndarray]] = []
        """For each root that was found, in the box or beside it, a box in which there is no other."""
        self.undecided: list[tuple[np.ndarray, np.ndarray]] = []
        self.count = 0

    def run(self) -> None:
        pending = [(self.low, self.high)]
        while pending:
            if self.count >= self.max_boxes:
                self.undecided += pending
                return
            taken, pending = pending[-_BATCH:], pending[:-_BATCH]
            low, high = np.array([b[0] for b in taken]), np.array([b[1] for b in taken])
            new = ~self._settled(low, high)
            if np.any(new):
                self.count += int(np.sum(new))
                pending += self._step(low[new], high[new])

    def _settled(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Which boxes lie where a root that was found is the only one."""
        if not self.alone:
            return np.zeros(len(low), bool)
        first, last = np.array([b[0] for b in self.alone]), np.array([b[1] for b in self.alone])
        return np.any(np.all((first <= low[:, None]) & (high[:, None] <= last), axis=2), axis=1)

    def _step(self, low: np.ndarray, high: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """What is left of some boxes."""
        y, broken = self.problem.on(self.problem.vector, make(low, high), watches=True)
        possible = np.all((y.lo <= 0) & (y.hi >= 0), axis=1)  # not where y is empty, either
        low, high, broken = low[possible], high[possible], broken[possible]
        if not len(low):
            return []
        image, regular = self._krawczyk(low, high)
        usable = ~broken
        inside = usable & np.all((image.lo > low) & (image.hi < high), axis=1)
        self._found(low[inside], high[inside], image.lo[inside], image.hi[inside])
        new_low, new_high = np.maximum(low, image.lo), np.minimum(high, image.hi)
        known = ~np.isnan(image.lo) & ~np.isnan(image.hi)
        new_low, new_high = np.where(known, new_low, low), np.where(known, new_high, high)
        none = usable & np.any(new_low > new_high, axis=1)
        left = ~inside & ~none
        near = np.flatnonzero(left & usable & regular)
        left[near] = ~self._around(new_low[near], new_high[near])
        narrowed = usable[:, None]
        low, high = np.where(narrowed, new_low, low)[left], np.where(narrowed, new_high, high)[left]
        return self._divided(low, high)

    def _divided(self, low: np.ndarray, high: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        if not len(low):
            return []
        with np.errstate(all="ignore"):
            width = high - low
            size = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
            least = self.tol * np.where(np.isfinite(size), size, 1.0)
            done = np.all((width <= least) | (np.nextafter(low, math.inf) >= high), axis=1)
        self.undecided += [(low[k], high[k]) for k in np.flatnonzero(done)]
        low, high = low[~done], high[~done]
        if not len(low):
            return []
        axis = np.argmax(np.minimum(high - low, 1e300) * self.tol / least[~done], axis=1)
        return list(zip(*bisected(low, high, axis), strict=True))

    def _krawczyk(self, low: np.ndarray, high: np.ndarray) -> tuple[Any, np.ndarray]:
        """K(X) for each box, and where at most one root can be."""
        problem, box = self.problem, make(low, high)
        value, _ = problem.on(problem.vector, point(np.asarray(box.mid)))
        slopes, _ = problem.on(problem.jacobian, box)
        with np.errstate(all="ignore"):
            central = np.asarray(slopes.mid)
        usable = np.all(np.isfinite(central) & np.isfinite(slopes.lo) & np.isfinite(slopes.hi), axis=(1, 2))
        image, rest = krawczyk(box, value, slopes, usable)
        size = np.maximum(np.abs(rest.lo), np.abs(rest.hi))
        regular = usable & (np.max(np.sum(size, axis=2), axis=1) < 0.9)
        lost = ~usable[:, None] | np.zeros_like(low, bool)
        return make(np.where(lost, np.nan, image.lo), np.where(lost, np.nan, image.hi)), regular

    def _around(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Look for one root in somewhat larger boxes, since it may lie on the boundary: in which one was found."""
        reach = 0.25 * (high - low) + 1e-15 * np.maximum(np.abs(low), np.abs(high)) + 1e-300
        low, high = low - reach, high + reach
        found = np.all(np.isfinite(low) & np.isfinite(high), axis=1)
        at = np.flatnonzero(found)
        if len(at):
            low, high = low[at], high[at]
            _, broken = self.problem.on(self.problem.vector, make(low, high), watches=True)
            image, _ = self._krawczyk(low, high)
            one = ~broken & np.all((image.lo > low) & (image.hi < high), axis=1)
            self._found(low[one], high[one], image.lo[one], image.hi[one])
            found[at] = one
        return found

    def _found(self, low: np.ndarray, high: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
        """There is exactly one root in each box, and it is between `first` and `last`."""
        first, last = self._narrowed(first, last)
        for k in range(len(low)):
            known = self._settled(first[k : k + 1], last[k : k + 1])[0]
            self.alone.append((low[k], high[k]))
            if not known:  # else it is one that was found before
                self._keep(low[k], high[k], first[k], last[k])

    def _narrowed(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intervals that contain one root each, made as narrow as Krawczyk's operator makes them."""
        first, last = first.copy(), last.copy()
        active = np.arange(len(first))
        for _ in range(20):
            if not len(active):
                break
            image, _ = self._krawczyk(first[active], last[active])
            a, b = np.maximum(first[active], image.lo), np.minimum(last[active], image.hi)
            better = np.all(a <= b, axis=1) & np.any((a != first[active]) | (b != last[active]), axis=1)
            active = active[better]
            first[active], last[active] = a[better], b[better]
        return first, last

    def _keep(self, low: np.ndarray, high: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
        """A root that was found: in the box, beside it, or so close to its boundary that nobody knows."""
        if np.any(last < self.low) or np.any(first > self.high):
            return
        if np.all(first >= self.low) and np.all(last <= self.high):
            self.roots.append(self._rounded_out(low, high, first, last))
            return
        near = np.clip(0.5 * first + 0.5 * last, self.low, self.high)
        for at in (near, np.round(near)):
            value, broken = self.problem.on(self.problem.vector, point(at[None]), watches=True)
            inside = np.all((self.low <= at) & (at <= self.high) & (first <= at) & (at <= last))
            if inside and not broken[0] and np.all((value.lo == 0) & (value.hi == 0)):
                self.roots.append(self._rounded_out(low, high, at, at))
                return
        self.undecided.append((np.maximum(first, self.low), np.minimum(last, self.high)))

    def _rounded_out(
        self, low: np.ndarray, high: np.ndarray, first: np.ndarray, last: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The interval of a root, not narrower than what numbers of its size are rounded by."""
        room = np.finfo(float).eps * np.maximum(1.0, np.maximum(np.abs(first), np.abs(last)))
        least, most = np.maximum(self.low, low), np.minimum(self.high, high)
        return np.minimum(first, np.maximum(first - room, least)), np.maximum(last, np.minimum(last + room, most))
