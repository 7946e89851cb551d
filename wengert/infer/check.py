"""`infer.check`: is a model what its author thinks it is, before any time is spent on sampling it?

Four questions, each asked at draws from the prior (or at random points, where that cannot be drawn from): is the
log-density finite, and if not, which site makes it so; is its gradient that of differences; are the unknowns of one
scale; is there a direction in which the log-density does not change?
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.api.hessian import hessian
from wengert.errors import told
from wengert.infer.compiling import compiled, is_of_the_point, unless_it_raises
from wengert.infer.coordinates import coordinate_names
from wengert.infer.culprits import culprit
from wengert.infer.handlers import ModelError
from wengert.infer.pathfinder import best_normal, starts_of
from wengert.infer.posterior import ModelPosterior, Posterior, posterior
from wengert.infer.simulate import simulated

_LARGE = 1e3
"""Scales that differ by more than this make sampling slow."""
_FLAT = 1e-8
"""A curvature relative to the others that counts as none."""


class CheckReport:
    """What `infer.check` has found: `problems`, `notes`, and whether it is `ok`; shown as text."""

    def __init__(self, problems: list[str], notes: list[str]):
        self.problems, self.notes = problems, notes

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def __repr__(self) -> str:
        lines = [f"problem: {text}" for text in self.problems] or ["no problem was found"]
        return "\n".join(lines + [f"note: {text}" for text in self.notes])


@told
def check(
    target: Callable, *args: Any, init: Any = None, support: Any = None, draws: int = 20, seed: Any = 0
) -> CheckReport:
    """Look at a model, or a log-density, at draws from its prior: densities, gradients, scales, directions.

    Args:
        target: a model with its arguments, or a log-density of one container (as for `infer.nuts`).
        draws: at how many points to look.

    Returns a `CheckReport` with `problems` and `notes`, which is shown as text.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     a, b = infer.sample("a", infer.flat()), infer.sample("b", infer.flat())
    ...     infer.observe(y, stats.norm(a + b, 1.0))
    >>> print(infer.check(model, np.array([1.0, 2.0])).problems[0])
    the log-density does not change along a − b: that direction is not identified. Give one of them a prior, or leave \
one out
    """
    rng = np.random.default_rng(seed)
    found = posterior(target, *args, init=init, support=support)
    problems: list[str] = []
    notes: list[str] = []
    points = _points(found, draws, rng, notes)
    density = found.value_and_gradient
    usable = _finite(found, points, density, problems)
    if usable:
        _gradients(found, usable[:5], density, rng, problems)
        _scales(found, rng, problems, notes)
    return CheckReport(problems, notes)


def _points(target: Posterior, draws: int, rng: np.random.Generator, notes: list[str]) -> list[np.ndarray]:
    """Unconstrained points, from the prior if it can be drawn from."""
    if isinstance(target, ModelPosterior):
        try:
            return [
                target.unconstrain(simulated(target.model, target.args, rng, target.names).sites) for _ in range(draws)
            ]
        except ModelError as error:
            reason = str(error).split("\n")[0]
            notes.append(f"the prior cannot be drawn from, so random points were looked at: {reason}")
    return [target.start(rng) for _ in range(draws)]


def _finite(target: Posterior, points: list[np.ndarray], density: Callable, problems: list[str]) -> list[np.ndarray]:
    """The points where the log-density and its gradient are finite; says which site is to blame for the others."""
    usable, blamed, without_gradient = [], {}, []
    names = coordinate_names(target)
    raised: list[tuple[str, np.ndarray]] = []
    for u in points:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value, gradient = density(u)
        except Exception as error:
            if not is_of_the_point(error):
                raise
            raised.append((f"{type(error).__name__}: {error}".split("\n")[0], u))
            continue
        if not np.isfinite(value):
            blamed.setdefault(culprit(target, u), []).append(u)
        elif not np.all(np.isfinite(gradient)):
            without_gradient.append(names[int(np.argmin(np.isfinite(gradient)))])
        else:
            usable.append(u)
    if raised:
        said, u = raised[0]
        problems.append(
            f"the log-density raises at {len(raised)} of {len(points)} points ({said}), for instance at "
            f"{_short(target.sites_at(u))}; samplers reject such points"
        )
    for (term, what), at in blamed.items():
        example = _short(target.sites_at(at[0]))
        problems.append(
            f"the log-density is {what} at {len(at)} of {len(points)} points, because of {term}; for instance at "
            f"{example}. Does the support of a parameter fit: a scale must be positive, a probability between 0 and 1?"
        )
    if without_gradient:
        problems.append(
            f"the gradient is not finite at {len(without_gradient)} of {len(points)} points, first with respect to "
            f"{without_gradient[0]}; wg.debug_nans finds the operation"
        )
    return usable


def _short(point: Any) -> str:
    with np.printoptions(precision=3, threshold=4, edgeitems=1):
        return str(point)


def _gradients(
    target: Posterior, points: list[np.ndarray], density: Callable, rng: np.random.Generator, problems: list[str]
) -> None:
    """Directional derivatives against differences of the function as plain Python runs it."""
    for u in points:
        direction = rng.choice([-1.0, 1.0], target.size)
        with np.errstate(all="ignore"):
            value, gradient = density(u)
            plain = float(target.log_density(u))
        if not np.isclose(value, plain, rtol=1e-8, atol=1e-8):
            problems.append(
                f"the log-density gives {plain:.10g} and, compiled, {float(value):.10g}: does it draw random numbers, "
                "or change something outside?"
            )
            return
        along = lambda t, u=u, d=direction: float(target.log_density(u + t * d))
        slope, error = _difference(unless_it_raises(along, np.nan))
        if abs(gradient @ direction - slope) > 1e-4 * abs(slope) + 10 * error + 1e-6:
            problems.append(
                f"the gradient is not that of differences: {gradient @ direction:.6g} against {slope:.6g} along a "
                f"direction at {_short(target.sites_at(u))}. Does the density jump, or has it a rule (custom_jvp, "
                "custom_vjp) that is wrong?"
            )
            return


def _difference(f: Callable) -> tuple[float, float]:
    """A derivative at 0 by central differences, extrapolated twice (Richardson), and an estimate of its error."""
    with np.errstate(all="ignore"):
        first = [(f(h) - f(-h)) / (2 * h) for h in (4e-3, 2e-3, 1e-3)]
        second = [(4 * b - a) / 3 for a, b in itertools.pairwise(first)]
        slope = (16 * second[1] - second[0]) / 15
        rounding = 1e-12 * abs(f(0.0))
    return slope, abs(slope - second[1]) + rounding


def _scales(target: Posterior, rng: np.random.Generator, problems: list[str], notes: list[str]) -> None:
    """The mean curvature over a normal approximation: its scales, and directions in which there is none."""
    best = best_normal(target, rng, starts_of(target, None, rng, 2))
    if best is None:
        notes.append("no mode was found on the way uphill, so scales and directions were not looked at")
        return
    curvature = unless_it_raises(compiled(hessian(target.log_density)), np.nan)
    found = []
    for _ in range(8):
        with np.errstate(all="ignore"):
            h = -np.asarray(curvature(best[0].mean + 0.5 * best[0].factor @ rng.standard_normal(target.size)))
        if np.all(np.isfinite(h)):
            found.append(h)
    if not found:
        notes.append("the Hessian is not finite around the mode, so scales and directions were not looked at")
        return
    names = coordinate_names(target)
    mean = np.mean(found, axis=0)
    size = np.sqrt(np.mean([np.diag(h) ** 2 for h in found], axis=0)) ** 0.5
    alive = size > 0
    for k in np.nonzero(~alive)[0]:
        problems.append(f"the log-density does not depend on {names[k]}: the posterior is improper")
    if not np.any(alive):
        return
    scaled = (mean / np.outer(np.where(alive, size, 1), np.where(alive, size, 1)))[np.ix_(alive, alive)]
    values, vectors = scipy.linalg.eigh(scaled)
    kept = [name for name, counts in zip(names, alive, strict=True) if counts]
    for value, vector in zip(values, vectors.T, strict=True):
        flat = all(abs(_along(h, size, alive, vector)) < _FLAT * values[-1] for h in found)
        if abs(value) < _FLAT * values[-1] and flat:
            problems.append(
                f"the log-density does not change along {_combination(vector / size[alive], kept)}: that direction is "
                "not identified. Give one of them a prior, or leave one out"
            )
    if np.max(size[alive]) > _LARGE * np.min(size[alive]):
        low, high = int(np.argmax(np.where(alive, size, -1))), int(np.argmin(np.where(alive, size, np.inf)))
        notes.append(
            f"scales differ by a factor of {size[low] / size[high]:.0e}: {names[low]} varies by about "
            f"{1 / size[low]:.1e}, {names[high]} by {1 / size[high]:.1e}. Sampling adapts to that, but starts better "
            "with parameters near one"
        )


def _along(h: np.ndarray, size: np.ndarray, alive: np.ndarray, vector: np.ndarray) -> float:
    v = np.zeros(len(size))
    v[alive] = vector / size[alive]
    return float(v @ h @ v)


def _combination(vector: np.ndarray, names: list[str]) -> str:
    """A direction, as a sum of the unknowns that change most in it."""
    vector = vector / np.max(np.abs(vector))
    large = [k for k in np.argsort(-np.abs(vector)) if abs(vector[k]) > 0.1][:4]
    if vector[large[0]] < 0:
        vector = -vector
    terms = [(vector[k], f"{abs(vector[k]):.2g}·{names[k]}".removeprefix("1·")) for k in large]
    return " ".join(f"{'+' if sign > 0 else '−'} {term}" for sign, term in terms).removeprefix("+ ")
