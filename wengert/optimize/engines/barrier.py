"""The barrier problem that an interior-point method solves for one μ after the other, and its Newton step.

    minimise  w f(x) + ½ Σ ζ (x − r)² + qᵀt − μ Σ log(distance to each bound)    with    C(x) + E t = 0

x are the program's own variables, fixed ones left out. The others, t, have a lower bound each and stand in one row
each, with the sign +1 or −1: slacks of inequalities (g(x) − t = 0), and in the restoration phase what is missing from
and what is too much in a row. So they are eliminated, and the system has an unknown for each variable and each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wengert.optimize.engines.kkt import DenseSystem, Singular, SparseSystem
from wengert.optimize.program import FlatProgram

LARGEST_SLOPE = 100.0
"""Objective and rows are scaled such that their slopes at the start are at most this."""
DAMPING = 1e-5
"""Times μ, the slope away from infinity of what has one bound only (3.7)."""

_FLAT = 1e-7
"""Curvature that is a smaller part of the largest second derivative is none."""
_SOLUTIONS = 20
_STILL = 1e-8
"""An unknown that has moved by less has not moved."""
_BESIDE = 0.05
"""How far beside a saddle point to start again, for unknowns of size one."""


# Small programs spend their time in calls: reductions are those of ufuncs, without what np.sum puts before them.


def inner(a: np.ndarray, b: np.ndarray) -> float:
    """aᵀb, without the threads of BLAS, which wait for each other where there is so little to do."""
    return float(np.add.reduce(a * b))


def total(a: np.ndarray) -> float:
    """Σ |aᵢ|."""
    return float(np.add.reduce(np.abs(a)))


def largest(a: np.ndarray) -> float:
    """max |aᵢ|, zero of none."""
    return float(np.maximum.reduce(np.abs(a), axis=None, initial=0.0))


class ScaledProgram:
    """The program with objective and rows scaled by their slopes at the start.

    `steepest` are the largest slopes of rows along each unknown.
    """

    def __init__(self, program: FlatProgram, given: np.ndarray, start: np.ndarray):
        self._program = program
        with np.errstate(all="ignore"):
            value, slope, rows, jacobian = program.first(given)
            if not (np.isfinite(value) and np.all(np.isfinite(slope)) and np.all(np.isfinite(rows))):
                _, slope, _, jacobian = program.first(start)  # the user's start may lie outside of the bounds
        self.objective = _factor(np.max(np.abs(slope), initial=0.0))
        largest, self.steepest = np.zeros(program.m), np.zeros(program.n)
        if program.m:
            magnitudes = abs(jacobian)
            largest, self.steepest = (_largest(magnitudes, axis) for axis in (1, 0))
        self.rows = np.array([_factor(size) for size in largest])
        self._scaling: np.ndarray | None = None

    def values(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, rows = self._program.values(x)
        return self.objective * value, self.rows * rows

    def first(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, Any]:
        value, slope, rows, jacobian = self._program.first(x)
        if self._program.is_sparse and self._program.m:
            if self._scaling is None:
                self._scaling = np.repeat(self.rows, np.diff(jacobian.indptr))
            jacobian = type(jacobian)(
                (jacobian.data * self._scaling, jacobian.indices, jacobian.indptr), jacobian.shape
            )
        elif self._program.m:
            jacobian = self.rows[:, None] * jacobian
        return self.objective * value, self.objective * slope, self.rows * rows, jacobian

    def second(self, x: np.ndarray, weight: float, y: np.ndarray) -> Any:
        return self._program.second(x, weight * self.objective, y * self.rows)


def _largest(magnitudes: Any, axis: int) -> np.ndarray:
    largest = magnitudes.max(axis=axis)
    return np.nan_to_num(np.asarray(largest.toarray() if hasattr(largest, "toarray") else largest).ravel())


def _factor(size: float) -> float:
    if not np.isfinite(size):
        return 1.0
    return float(max(LARGEST_SLOPE / size, 1e-8)) if size > LARGEST_SLOPE else 1.0


@dataclass(frozen=True)
class Extras:
    """The variables t: row, sign, cost and lower bound of each."""

    rows: np.ndarray
    signs: np.ndarray
    costs: np.ndarray
    lower: np.ndarray

    def joined(self, other: Extras) -> Extras:
        return Extras(*[np.concatenate([getattr(self, k), getattr(other, k)]) for k in self.__dataclass_fields__])


class Iterate(NamedTuple):
    """A point with its multipliers: y of the rows, z of the bounds (lower ones on x, upper ones on x, those on t)."""

    x: np.ndarray
    t: np.ndarray
    y: np.ndarray
    z: np.ndarray


class Evaluated(NamedTuple):
    """Value and slope of the objective (without barrier), rows C(x) + Et, and the Jacobian of C."""

    value: float
    slope: np.ndarray
    rows: np.ndarray
    jacobian: Any


class BarrierProblem:
    """The barrier problem over a program; `fixed` are places of variables that do not move."""

    def __init__(
        self,
        program: ScaledProgram,
        start: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        extras: Extras,
        m: int,
        is_sparse: bool,
    ):
        self._program, self._whole = program, start.copy()
        self.free = np.flatnonzero(lower < upper)
        self.n, self.m = self.free.size, m
        self.lower, self.upper = lower[self.free], upper[self.free]
        self.has_low, self.has_high = np.flatnonzero(self.lower > -np.inf), np.flatnonzero(self.upper < np.inf)
        self._near: tuple | None = None
        self._all_free = self.n == start.size
        one_sided = np.isfinite(self.lower) * 1.0 - np.isfinite(self.upper) * 1.0
        self.damping = DAMPING * one_sided
        self._take_extras(extras)
        self.weight, self.pull, self.centre = 1.0, np.zeros(self.n), np.zeros(self.n)
        self._system = SparseSystem(self.free, m) if is_sparse else DenseSystem(self.free, m)
        self._is_sparse = is_sparse
        self._last_shift = 0.0

    def restoring(self, extras: Extras, pull: np.ndarray, centre: np.ndarray) -> BarrierProblem:
        """The same variables and rows with other extras, and instead of the objective the distance to a centre."""
        other = object.__new__(BarrierProblem)
        other.__dict__.update(self.__dict__)
        other._take_extras(extras)
        other.weight, other.pull, other.centre = 0.0, pull, centre
        other._last_shift, other._near = 0.0, None
        return other

    def _take_extras(self, extras: Extras) -> None:
        """The variables t, and all bounds: the place of the variable in (x, t), the sign it counts with, its edge."""
        self.extras = extras
        k, upper = extras.rows.size, -self.upper[self.has_high]
        self._count = self.n + k
        self._place = np.concatenate([self.has_low, self.has_high, np.arange(self.n, self._count)])
        self._sign = np.concatenate([np.ones(self.has_low.size), -np.ones(self.has_high.size), np.ones(k)])
        self._edge = np.concatenate([self.lower[self.has_low], upper, extras.lower])

    # ------------------------------------------------------------------------------------------------- evaluation

    def whole(self, x: np.ndarray) -> np.ndarray:
        """All variables of the program, fixed ones among them."""
        if self._all_free:
            return x
        full = self._whole.copy()
        full[self.free] = x
        return full

    def with_extras(self, rows: np.ndarray, t: np.ndarray) -> np.ndarray:
        return rows + np.bincount(self.extras.rows, self.extras.signs * t, minlength=self.m)

    def values(self, x: np.ndarray, t: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective without barrier, and the rows."""
        value, rows = self._program.values(self.whole(x))
        return self._total(value, x, t), self.with_extras(rows, t)

    def first(self, x: np.ndarray, t: np.ndarray) -> Evaluated:
        value, slope, rows, jacobian = self._program.first(self.whole(x))
        slope = slope if self._all_free else slope[self.free]
        if self.weight != 1.0:
            slope = self.weight * slope + self.pull * (x - self.centre)
        return Evaluated(self._total(value, x, t), slope, self.with_extras(rows, t), jacobian)

    def _total(self, value: float, x: np.ndarray, t: np.ndarray) -> float:
        moved = inner(self.pull, (x - self.centre) ** 2) / 2 if not self.weight else 0.0
        return (value if self.weight else 0.0) + moved + inner(self.extras.costs, t)

    def distances(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """How far x and t are from their bounds; kept for the last point."""
        if self._near is None or self._near[0] is not x or self._near[1] is not t:
            self._near = x, t, self.towards(x, t) - self._edge
        return self._near[2]

    def towards(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """What a change of x and t is for each bound."""
        return self._sign * np.concatenate([x, t])[self._place]

    def barrier(self, x: np.ndarray, t: np.ndarray) -> float:
        """What μ is multiplied by: −Σ log of the distances, and a little for variables that could run away."""
        logs = np.add.reduce(np.log(self.distances(x, t)))
        return float(inner(self.damping, x) + DAMPING * np.add.reduce(t) - logs)

    def forces(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What bounds do to x and to t, each with its own z: away from the edge."""
        whole = np.bincount(self._place, self._sign * z, minlength=self._count)
        return whole[: self.n], whole[self.n :]

    def stiffness(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The second derivatives of bounds in x and in t."""
        whole = np.bincount(self._place, z, minlength=self._count)
        return whole[: self.n], whole[self.n :]

    def of_bounds_on_x(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of the lower and of the upper bounds on x."""
        low = self.has_low.size
        return z[:low], z[low : low + self.has_high.size]

    def pulled(self, jacobian: Any, y: np.ndarray) -> np.ndarray:
        """Jᵀy."""
        if not self.m:
            return np.zeros(self.n)
        return jacobian.T @ y if self._all_free else (jacobian.T @ y)[self.free]

    def pushed(self, jacobian: Any, x_dot: np.ndarray) -> np.ndarray:
        """J times a change of the variables."""
        if not self.m:
            return np.zeros(0)
        whole = np.zeros(self._whole.size)
        whole[self.free] = x_dot
        return jacobian @ whole

    def errors(self, at: Iterate, now: Evaluated) -> tuple[float, float, np.ndarray]:
        """The largest violation of stationarity and of the rows, and the products of complementarity."""
        force, force_t = self.forces(at.z)
        dual = now.slope + self.pulled(now.jacobian, at.y) - force
        dual_t = self.extras.costs + self.extras.signs * at.y[self.extras.rows] - force_t
        return max(largest(dual), largest(dual_t)), largest(now.rows), self.distances(at.x, at.t) * at.z

    # ------------------------------------------------------------------------------------------------- Newton's step

    def factored(self, at: Iterate, now: Evaluated, mu: float) -> NewtonStep | None:
        """Newton's system at a point, shifted until it has the inertia of a minimum (Wächter and Biegler 2006, IC)."""
        sigma, sigma_t = self.stiffness(at.z / self.distances(at.x, at.t))
        sigma = sigma + self.pull
        hessian = self._program.second(self.whole(at.x), self.weight, at.y)
        jacobian = now.jacobian
        shift, rank = 0.0, 0.0
        for _ in range(60):
            step = NewtonStep(self, at, now, hessian, sigma + shift, sigma_t + shift, mu)
            D = np.bincount(self.extras.rows, 1 / (sigma_t + shift), minlength=self.m) + rank
            positive, negative = self._system.factor(hessian, jacobian, sigma + shift, D)
            right = (positive, negative) == (self.n, self.m)
            if right or (positive == -1 and step.is_uphill_in_curvature()):
                try:
                    step.directions = step.solved(now.rows)
                    self._last_shift = shift or self._last_shift
                    return step
                except Singular:
                    pass
            if right or (positive != -1 and positive + negative < self.n + self.m):
                rank = 1e-8 * mu**0.25 if rank == 0 else min(rank * 10, 1e-4)
                if right and rank < 1e-4:
                    continue
            if shift == 0:
                shift = 1e-4 if self._last_shift == 0 else max(1e-20, self._last_shift / 3)
            else:
                shift *= 100 if self._last_shift == 0 else 8
            if shift > 1e40:
                break
        return None

    def beside_saddle(self, at: Iterate, now: Evaluated, mu: float, start: np.ndarray) -> np.ndarray | None:
        """A point beside a saddle point which the method could not leave, since it had no slope from the start.

        At a minimum the system has n positive and m negative eigenvalues. More negative ones mean a direction, along
        the rows, of negative curvature, which inverse iteration with the shifted matrix finds. If
        it is one of unknowns that have not moved, they were on a ridge all the way.
        """
        still = np.abs(at.x - start) <= _STILL * (1 + np.abs(start))
        if not np.any(still):
            return None
        sigma, sigma_t = self.stiffness(at.z / self.distances(at.x, at.t))
        hessian = self._program.second(self.whole(at.x), self.weight, at.y)
        D = np.bincount(self.extras.rows, 1 / sigma_t, minlength=self.m)
        noise = _FLAT * largest(hessian.data if hasattr(hessian, "indptr") else hessian)
        _, negative = self._system.factor(hessian, now.jacobian, sigma + noise, D + _FLAT)
        if negative <= self.m or self.factored(at, now, mu) is None:
            return None
        d, zeros = np.random.default_rng(0).normal(size=self.n), np.zeros(self.m)
        try:
            for _ in range(_SOLUTIONS):
                d = self._system.solve(np.concatenate([d / np.linalg.norm(d), zeros]))[: self.n]
        except Singular:
            return None
        if not np.linalg.norm(d[still]) > 0.9 * np.linalg.norm(d):
            return None
        d *= _BESIDE * (1 + np.max(np.abs(at.x))) / np.max(np.abs(d))
        return self.whole(at.x + (d if now.slope @ d < 0 else -d))

    def multipliers(self, at: Iterate, now: Evaluated) -> np.ndarray:
        """The y that fits best to the other multipliers, by least squares; zero where that is large."""
        if not self.m:
            return np.zeros(0)
        zero = self._program.second(self.whole(at.x), 0.0, np.zeros(self.m)) * 0.0
        D = np.bincount(self.extras.rows, np.ones(self.extras.rows.size), minlength=self.m)
        if self._system.factor(zero, now.jacobian, np.ones(self.n), D) != (self.n, self.m):
            return np.zeros(self.m)
        force, force_t = self.forces(at.z)
        side_t = self.extras.costs - force_t
        below = np.bincount(self.extras.rows, self.extras.signs * side_t, minlength=self.m)
        try:
            y = self._system.solve(np.concatenate([force - now.slope, below]))[self.n :]
        except Singular:
            return np.zeros(self.m)
        return y if np.max(np.abs(y)) <= 1e3 else np.zeros(self.m)

    def solve(self, side: np.ndarray) -> np.ndarray:
        return self._system.solve(side)


class NewtonStep:
    """Newton's directions from a point, for the matrix that was factored last."""

    def __init__(
        self,
        problem: BarrierProblem,
        at: Iterate,
        now: Evaluated,
        hessian: Any,
        sigma: np.ndarray,
        sigma_t: np.ndarray,
        mu: float,
    ):
        self._problem, self._at, self._now, self._mu = problem, at, now, mu
        self._hessian, self._sigma, self._sigma_t = hessian, sigma, sigma_t
        self._pressed = mu / problem.distances(at.x, at.t)
        force, force_t = problem.forces(self._pressed)
        self.slope = now.slope - force + mu * problem.damping
        self.slope_t = problem.extras.costs - force_t + mu * DAMPING
        self.directions: Iterate

    def solved(self, rows: np.ndarray) -> Iterate:
        """The directions that make the linearised rows zero, if they now are as given."""
        p, at, extras, mu = self._problem, self._at, self._problem.extras, self._mu
        residual_t = self.slope_t + extras.signs * at.y[extras.rows]
        top = -(self.slope + p.pulled(self._now.jacobian, at.y))
        below = -rows + np.bincount(extras.rows, extras.signs * residual_t / self._sigma_t, minlength=p.m)
        found = p.solve(np.concatenate([top, below]))
        x, y = found[: p.n], found[p.n :]
        t = -(residual_t + extras.signs * y[extras.rows]) / self._sigma_t
        z = self._pressed - at.z - at.z * self._pressed / mu * p.towards(x, t)
        return Iterate(x, t, y, z)

    def is_uphill_in_curvature(self) -> bool:
        """Whether the step has positive curvature, where the inertia is not known (Chiang and Zavala 2016)."""
        try:
            d = self.solved(self._now.rows)
        except Singular:
            return False
        whole = np.zeros(self._hessian.shape[0])
        whole[self._problem.free] = d.x
        curvature = whole @ (self._hessian @ whole) + d.x @ (self._sigma * d.x) + d.t @ (self._sigma_t * d.t)
        return bool(curvature >= 1e-10 * (d.x @ d.x + d.t @ d.t))


def moved(at: Iterate, d: Iterate, primal: float, dual: float) -> Iterate:
    """The point after a step."""
    return Iterate(
        at.x + primal * d.x,
        at.t + primal * d.t,
        at.y + primal * d.y,
        at.z + dual * d.z,
    )
