"""A primal-dual interior-point method with a filter line search: Wächter and Biegler, Math. Program. 106 (2006).

Numbers in comments are those of its sections and equations. The linear algebra is in `kkt.py`, the barrier problem in
`barrier.py`; here are the choice of μ, the filter, the line search with second-order corrections, and the restoration
phase, which is the same method on the problem of violating the rows as little as possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from wengert.optimize.engines.barrier import (
    BarrierProblem,
    Evaluated,
    Extras,
    Iterate,
    NewtonStep,
    ScaledProgram,
    inner,
    largest,
    moved,
    total,
)
from wengert.optimize.engines.kkt import Singular
from wengert.optimize.objective import known_options
from wengert.optimize.program import EngineResult, FlatProgram, Watch

_RELAXED = 1e-9
"""How much bounds are widened, so that there is an interior where two bounds or constraints meet."""
_HARDLY = 1e-21
"""The same where that changes the optimum: constraints whose slopes vanish have multipliers without limit."""
_CHANGED = 1e-7
"""A change of the optimum, relative to it, that is one."""
_ACCEPTABLE = 1e-6
_FAR = 1e20
_SHORT, _CRAWLS = 0.1, 6
"""After so many steps in a row that bounds make so short, μ is raised."""
_RAISES, _LARGE = 5, 1e-3
"""How often that is done at most, and for which μ it is not."""
_PENALTY = 1000.0
_EPS = float(np.finfo(float).eps)
_LOWER = 1e-8
"""By so much, relatively, a second solution has to be lower than the first."""


class Filter:
    """Pairs of violation and objective: a new point must be better in one of them than each."""

    def __init__(self, most: float):
        self._most = most
        self._pairs: list[tuple[float, float]] = []

    def accepts(self, violation: float, value: float) -> bool:
        if violation > self._most:
            return False
        return all(violation < v or value < f for v, f in self._pairs)

    def add(self, violation: float, value: float) -> None:
        v, f = (1 - 1e-5) * violation, value - 1e-8 * violation
        self._pairs = [p for p in self._pairs if p[0] < v or p[1] < f] + [(v, f)]

    def clear(self) -> None:
        self._pairs = []


class InteriorPoint:
    """The method on one barrier problem. `run` gives a kind of outcome; `at` is the point then."""

    def __init__(self, problem: BarrierProblem, at: Iterate, mu: float, tol: float, maxiter: int):
        self.problem, self.at, self.mu = problem, at, mu
        self._tol, self._maxiter = tol, maxiter
        self.iterations = 0
        self.now = problem.first(at.x, at.t)
        start = self._violation(self.now.rows)
        self._least = 1e-4 * max(1.0, start)
        self._filter = Filter(1e4 * max(1.0, start))
        self._acceptable = self._short = self._raised = 0
        self.best: tuple[float, Iterate, Evaluated] | None = None
        self._told: tuple | None = None
        """The point whose errors are known, and these: they are asked for with several μ."""

    def run(
        self,
        stop: Callable[[Iterate], bool] | None = None,
        watch: Callable[[InteriorPoint], None] | None = None,
        restores: bool = True,
    ) -> str:
        while True:
            error = self.error(0.0)
            if not math.isfinite(error + self.now.value):
                return "not finite"
            if self.best is None or error < self.best[0]:
                self.best = (error, self.at, self.now)
            if error <= self._tol:
                return "solved"
            self._acceptable = self._acceptable + 1 if error <= _ACCEPTABLE else 0
            if self._acceptable >= 15:
                return "acceptable"
            if max(largest(self.at.x), largest(self.at.t)) > _FAR:
                return "unbounded"
            if self.iterations >= self._maxiter:
                return "iterations"
            self._lower_mu()
            self._raise_mu()
            step = self.problem.factored(self.at, self.now, self.mu)
            if (step is None or not self._search(step)) and not self._rescue(restores):
                return self._failure(restores)
            self.iterations += 1
            if watch is not None:
                watch(self)
            if stop is not None and stop(self.at):
                return "stopped"

    def _failure(self, restores: bool) -> str:
        if self.best is not None and self.best[0] <= _ACCEPTABLE:
            _, self.at, self.now = self.best
            return "acceptable"
        if not restores:
            return "stuck"
        if self.now.value < -_FAR:
            return "unbounded"
        return "infeasible" if largest(self.now.rows) > 1e-6 else "stuck"

    # ------------------------------------------------------------------------------------------------ errors and μ

    def error(self, mu: float) -> float:
        """How far the conditions of optimality are from holding, (5)."""
        _, _, dual, primal, products, of_dual, of_products = self.errors()
        return max(dual / of_dual, primal, largest(products - mu) / of_products)

    def errors(self) -> tuple:
        """The point and its errors: stationarity, rows, products of complementarity; and the scales of these."""
        at, now = self.at, self.now
        if self._told is None or self._told[0] is not at or self._told[1] is not now:
            bounds, count = total(at.z), at.z.size
            of_dual = max(100.0, (total(at.y) + bounds) / max(at.y.size + count, 1)) / 100
            self._told = at, now, *self.problem.errors(at, now), of_dual, max(100.0, bounds / max(count, 1)) / 100
        return self._told

    def _lower_mu(self) -> None:
        while self.mu > self._tol / 11 and self.error(self.mu) <= 10 * self.mu:
            self.mu = max(self._tol / 11, min(0.2 * self.mu, self.mu**1.5))  # (7)
            self._filter.clear()

    def _raise_mu(self) -> None:
        """Where bounds are in the way of step after step, go on further inside of them.

        Near a saddle point all slopes are small, so that μ has become small far from the minimum.
        """
        if self._short < _CRAWLS or self._raised >= _RAISES or self.mu >= _LARGE:
            return
        self.mu *= 100
        self._short = 0
        self._raised += 1
        self._filter.clear()
        distances = self.problem.distances(self.at.x, self.at.t)
        self.at = self.at._replace(z=np.maximum(self.at.z, self.mu / distances))

    @property
    def _nearly(self) -> float:
        return max(0.99, 1 - self.mu)

    def _violation(self, rows: np.ndarray) -> float:
        return total(rows)

    def _objective(self, value: float, x: np.ndarray, t: np.ndarray) -> float:
        return value + self.mu * self.problem.barrier(x, t)

    # --------------------------------------------------------------------------------------------- the line search

    def _longest(self, d: Iterate) -> tuple[float, float]:
        """The longest primal and dual steps that stay away from the bounds, (15)."""
        p, at = self.problem, self.at
        primal = _fraction(p.distances(at.x, at.t), p.towards(d.x, d.t), self._nearly)
        return primal, _fraction(at.z, d.z, self._nearly)

    def _search(self, step: NewtonStep) -> bool:
        d, at, now = step.directions, self.at, self.now
        violation, value = self._violation(now.rows), self._objective(now.value, at.x, at.t)
        slope = inner(step.slope, d.x) + inner(step.slope_t, d.t)
        primal, dual = self._longest(d)
        self._short = self._short + 1 if primal < _SHORT else 0
        if self._is_tiny(d):
            return self._take(moved(at, d, primal, dual))
        smallest = self._smallest_step(violation, slope)
        alpha, first = primal, True
        while alpha >= smallest:
            switching = slope < 0 and alpha * (-slope) ** 2.3 > violation**1.1  # (19), δ = 1
            new = moved(at, d, alpha, dual)
            tried = self._tried(new.x, new.t)
            if tried is not None:
                if self._passes(tried, violation, value, alpha * slope, switching):
                    return self._accept(new, tried, violation, value, alpha * slope, switching)
                if first and tried[0] >= violation > 0:
                    corrected = self._corrected(step, alpha, dual, tried, violation, value, slope)
                    if corrected:
                        return True
            first = False
            alpha /= 2
        return False

    def _is_tiny(self, d: Iterate) -> bool:
        at = self.at
        size = max(largest(d.x / (1 + np.abs(at.x))), largest(d.t / (1 + np.abs(at.t))))
        return size < 10 * _EPS and self._violation(self.now.rows) < 1e-6

    def _smallest_step(self, violation: float, slope: float) -> float:
        """(23)"""
        least = 1e-5
        if slope < 0:
            least = min(least, 1e-8 * violation / -slope)
            if violation <= self._least:
                least = min(least, violation**1.1 / (-slope) ** 2.3)
        return max(0.05 * least, 1e-13)

    def _tried(self, x: np.ndarray, t: np.ndarray) -> tuple[float, float] | None:
        """Violation and objective at a point; None where they are not finite, which counts as too far."""
        with np.errstate(all="ignore"):
            value, rows = self.problem.values(x, t)
            violation, value = self._violation(rows), self._objective(value, x, t)
        return (violation, value) if math.isfinite(violation) and math.isfinite(value) else None

    def _passes(
        self, tried: tuple[float, float], violation: float, value: float, expected: float, switching: bool
    ) -> bool:
        noise = 10 * _EPS * abs(value)
        if not self._filter.accepts(*tried):
            return False
        if switching and violation <= self._least:
            return bool(tried[1] - value <= 1e-8 * expected + noise)  # (20), Armijo
        return bool(tried[0] <= (1 - 1e-5) * violation or tried[1] - value <= -1e-8 * violation + noise)  # (18)

    def _accept(
        self,
        new: Iterate,
        tried: tuple[float, float],
        violation: float,
        value: float,
        expected: float,
        switching: bool,
    ) -> bool:
        noise = 10 * _EPS * abs(value)
        if not (switching and tried[1] - value <= 1e-8 * expected + noise):
            self._filter.add(violation, value)
        return self._take(new)

    def _corrected(
        self, step: NewtonStep, alpha: float, dual: float, tried: tuple[float, float], violation: float, value: float,
        slope: float,
    ) -> bool:  # fmt: skip
        """Second-order corrections: steps that look at how the rows bend (2.4)."""
        at, before = self.at, violation
        d, rows = step.directions, alpha * self.now.rows
        length = alpha
        for _ in range(4):
            with np.errstate(all="ignore"):
                _, there = self.problem.values(at.x + length * d.x, at.t + length * d.t)
            if not np.all(np.isfinite(there)):
                return False
            rows = rows + there
            try:
                d = step.solved(rows)
            except Singular:
                return False
            length, own_dual = self._longest(d)
            found = self._tried(at.x + length * d.x, at.t + length * d.t)
            if found is None:
                return False
            switching = slope < 0 and alpha * (-slope) ** 2.3 > violation**1.1
            if self._passes(found, violation, value, alpha * slope, switching):
                return self._accept(moved(at, d, length, own_dual), found, violation, value, alpha * slope, switching)
            if found[0] > 0.99 * before:
                return False
            before = found[0]
            rows = length * rows
        return False

    def _take(self, new: Iterate) -> bool:
        """Go to a point; multipliers of bounds stay near μ over the distance, (16)."""
        p = self.problem
        ideal = self.mu / p.distances(new.x, new.t)
        self.at = new._replace(z=np.minimum(np.maximum(new.z, 1e-10 * ideal), 1e10 * ideal))
        self.now = p.first(new.x, new.t)
        return True

    # ----------------------------------------------------------------------------------------------- restoration

    def _rescue(self, restores: bool) -> bool:
        """Go to a point that violates the rows less and is acceptable to the filter (3.3)."""
        p, at = self.problem, self.at
        violation, value = self._violation(self.now.rows), self._objective(self.now.value, at.x, at.t)
        if not restores or violation < 1e-12 or not p.m:
            return False
        self._filter.add(violation, value)
        mu = max(self.mu, float(np.max(np.abs(self.now.rows))))
        c = self.now.rows
        half = (mu - _PENALTY * c) / (2 * _PENALTY)
        less = half + np.sqrt(half**2 + mu * c / (2 * _PENALTY))
        more = c + less
        own, every = at.t.size, np.arange(p.m)
        extras = p.extras.joined(
            Extras(
                np.concatenate([every, every]),
                np.concatenate([-np.ones(p.m), np.ones(p.m)]),
                np.full(2 * p.m, _PENALTY),
                np.zeros(2 * p.m),
            )
        )
        both = np.concatenate([more, less])
        pull = np.sqrt(mu) / np.maximum(1.0, np.abs(at.x)) ** 2
        start = Iterate(
            at.x,
            np.concatenate([at.t, both]),
            np.zeros(p.m),
            np.concatenate([np.minimum(at.z, _PENALTY), mu / both]),
        )

        def is_enough(point: Iterate) -> bool:
            found = self._tried(point.x, point.t[:own])
            return found is not None and found[0] <= 0.9 * violation and self._filter.accepts(*found)

        inner = InteriorPoint(p.restoring(extras, pull, at.x), start, mu, self._tol, self._maxiter - self.iterations)
        kind = inner.run(is_enough, None, restores=False)
        self.iterations += inner.iterations
        found = inner.at
        if kind != "stopped":
            here = at._replace(x=found.x, t=found.t[:own])
            if is_enough(here):
                kind = "stopped"
            elif self._tried(here.x, here.t) is not None and np.isfinite(inner.error(0.0)):
                self.at, self.now = here, p.first(here.x, here.t)
        if kind != "stopped":
            return False
        new = at._replace(x=found.x, t=found.t[:own], z=found.z[: at.z.size])
        if largest(new.z) > 1e3:
            new = new._replace(z=np.ones_like(new.z))
        self._take(new)
        self.at = self.at._replace(y=p.multipliers(self.at, self.now))
        return True


def _fraction(distances: np.ndarray, changes: np.ndarray, nearly: float) -> float:
    """The longest step, at most 1, after which a part 1 − nearly of each distance is left."""
    part = float(np.fmin.reduce(changes / distances, initial=0.0))
    return min(1.0, -nearly / part) if part < 0 else 1.0


def _inside(x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A point a little inside of its bounds (3.6)."""
    width = np.where(np.isfinite(lower) & np.isfinite(upper), upper - lower, np.inf)
    with np.errstate(invalid="ignore"):
        low = lower + np.minimum(1e-2 * np.maximum(1, np.abs(lower)), 1e-2 * width)
        high = upper - np.minimum(1e-2 * np.maximum(1, np.abs(upper)), 1e-2 * width)
    low, high = np.where(lower > -np.inf, low, -np.inf), np.where(upper < np.inf, high, np.inf)
    return np.where(lower < upper, np.clip(x, low, high), lower)


def solve(program: FlatProgram, tol: float, maxiter: int, watch: Watch | None, options: dict[str, Any]) -> EngineResult:
    """The program's solution from its start, or from beside where that is on a ridge."""
    known_options("interior-point", options, ())
    found, beside = _solved(program, program.x0, tol, maxiter, watch)
    if found.kind == "solved" and found.iterations < maxiter and _widening_shows(program, found):
        again, aside = _solved(program, program.x0, max(1e-3 * tol, 1e-13), maxiter - found.iterations, watch, _HARDLY)
        if again.kind in ("solved", "acceptable"):
            found, beside = replace(again, iterations=found.iterations + again.iterations), aside
    if beside is not None and found.iterations < maxiter:
        again, _ = _solved(program, beside, tol, maxiter - found.iterations, watch)
        before, after = program.values(found.x)[0], program.values(again.x)[0]
        if again.kind in ("solved", "acceptable") and after < before - _LOWER * (1 + abs(before)):
            return replace(again, iterations=found.iterations + again.iterations)
    return found


def _widening_shows(program: FlatProgram, found: EngineResult) -> bool:
    """Whether bounds that are a little wider lower the optimum by more than its digits, as multipliers tell."""
    multipliers = (found.rows[program.equal :], found.lower, found.upper)
    fall = _RELAXED * sum(float(np.sum(np.abs(part))) for part in multipliers)
    return fall > _CHANGED * max(1.0, abs(program.values(found.x)[0]))


def _solved(
    program: FlatProgram, x0: np.ndarray, tol: float, maxiter: int, watch: Watch | None, relaxed: float = _RELAXED
) -> tuple[EngineResult, np.ndarray | None]:
    """The solution from a start and, if it is a saddle point that was not left, a point beside it."""
    start = _inside(x0, program.lower, program.upper)
    scaled = ScaledProgram(program, x0, start)
    is_free = program.lower < program.upper
    little = relaxed / np.maximum(1, scaled.steepest)  # no row is violated by more, once x is back within its bounds
    lower = np.where(is_free, program.lower - little * np.maximum(1, np.abs(program.lower)), program.lower)
    upper = np.where(is_free, program.upper + little * np.maximum(1, np.abs(program.upper)), program.upper)
    rows = np.arange(program.equal, program.m)
    k = rows.size
    slacks = Extras(rows, -np.ones(k), np.zeros(k), -relaxed * scaled.rows[rows])
    problem = BarrierProblem(scaled, start, lower, upper, slacks, program.m, program.is_sparse)
    x = start[problem.free]
    _, given = scaled.values(start)
    t = np.maximum(given[rows], 1e-2)
    zeros = np.zeros(program.m)
    at = Iterate(x, t, zeros, np.ones(problem.has_low.size + problem.has_high.size + k))
    method = InteriorPoint(problem, at, 0.1, tol, maxiter)
    if np.isfinite(method.error(0.0)):
        method.at = at._replace(y=problem.multipliers(at, method.now))
    look = None
    if watch is not None:
        told = watch

        def look(method: InteriorPoint) -> None:
            _, _, dual, primal, *_ = method.errors()
            told(method.iterations, problem.whole(method.at.x), method.now.value / scaled.objective, primal, dual)

    kind = method.run(None, look)
    beside = None
    if kind in ("solved", "acceptable"):
        beside = problem.beside_saddle(method.at, method.now, method.mu, x)
    return _outcome(program, scaled, problem, method, kind), beside


def _outcome(
    program: FlatProgram, scaled: ScaledProgram, problem: BarrierProblem, method: InteriorPoint, kind: str
) -> EngineResult:
    at = method.at
    x = np.clip(problem.whole(at.x), program.lower, program.upper)
    low, high = np.zeros(program.n), np.zeros(program.n)
    of_low, of_high = problem.of_bounds_on_x(at.z)
    low[problem.free[problem.has_low]] = of_low / scaled.objective
    high[problem.free[problem.has_high]] = of_high / scaled.objective
    return EngineResult(x, -at.y * scaled.rows / scaled.objective, low, high, kind, method.iterations)
