"""Pathfinder (Zhang, Carpenter, Gelman, Vehtari 2022): normal approximations along the path of an optimiser.

The inverse Hessian that L-BFGS builds on its way to the mode is a covariance; each point of the path gives a normal
distribution, and the one with the best bound is taken. It costs little more than finding the mode, and stops before it
where the mode says nothing about the bulk of the distribution, as in hierarchical models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

from wengert.errors import told, warn_user
from wengert.infer.approximation import Approximation
from wengert.infer.compiling import unless_it_raises
from wengert.infer.posterior import Posterior, posterior

_MEMORY = 6
BARRIER = 1e100
_TRIALS = 50
_DRAWS = 40
"""Draws for the bound at each point of the path."""


class NotConvergedWarning(UserWarning):
    """An approximation that has not met the criterion for being the best of its family."""


class NormalOnPath(NamedTuple):
    """A normal distribution: mean, and a factor of the covariance."""

    mean: np.ndarray
    factor: np.ndarray


def finite_or_barrier(density: Callable) -> Callable:
    """−log p and its gradient, for an optimiser: where the density is zero, not a number or raises, a large value."""
    density = unless_it_raises(density, (-np.inf, 0.0))

    def negative(u: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(all="ignore"):
            value, gradient = density(u)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return BARRIER, np.zeros_like(u)
        return -float(value), -np.asarray(gradient, float)

    return negative


def path_to_mode(density: Callable, u: np.ndarray, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and gradients of log p along the path of L-BFGS."""
    points, seen = [u], {}
    negative = finite_or_barrier(density)
    highest = negative(u)[0]

    def asked(u: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal highest
        value, slope = seen[u.tobytes()] = negative(u)
        highest = max(highest, value) if value < BARRIER else highest
        return min(value, highest + 10.0), slope  # a line search that interpolates needs a wall that is not too high

    scipy.optimize.minimize(
        asked, u, jac=True, method="L-BFGS-B", callback=lambda x: points.append(x.copy()),
        options={"maxiter": iterations, "maxcor": _MEMORY, "ftol": 1e-12, "gtol": 1e-8},
    )  # fmt: skip
    gradients = [-(seen.get(x.tobytes()) or negative(x))[1] for x in points]
    return np.array(points), np.array(gradients)


def normals_on_path(points: np.ndarray, gradients: np.ndarray) -> list[NormalOnPath]:
    """The normal distribution at each point after the first: the inverse Hessian of L-BFGS, and one Newton step.

    The update of Gilbert and Lemaréchal (1989) keeps the diagonal; pairs that would make the matrix indefinite are
    left out (Zhang et al. 2022, Algorithm 3).
    """
    dim = points.shape[1]
    diagonal = np.ones(dim)
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    found = []
    for k in range(1, len(points)):
        s, y = points[k] - points[k - 1], gradients[k - 1] - gradients[k]
        sy, yy = s @ y, y @ y
        if sy > 1e-12 * yy:
            a, b = y @ (diagonal * y), y @ s
            c = s @ (s / diagonal)
            diagonal = 1 / (a / (b * diagonal) + y * y / b - a * s * s / (b * c * diagonal**2))
            diagonal = np.clip(diagonal, 1e-300, 1e300)
            pairs = [*pairs, (s, y)][-_MEMORY:]
        inverse = np.diag(diagonal)
        for s, y in pairs:
            rho = 1 / (s @ y)
            hy = inverse @ y
            inverse = inverse - rho * (np.outer(s, hy) + np.outer(hy, s)) + rho * (rho * (y @ hy) + 1) * np.outer(s, s)
        try:
            factor = np.linalg.cholesky(0.5 * (inverse + inverse.T))
        except np.linalg.LinAlgError:
            continue
        found.append(NormalOnPath(points[k] + inverse @ gradients[k], factor))
    return found


def best_normal(target: Posterior, rng: np.random.Generator, starts: list[np.ndarray], iterations: int = 200) -> Any:
    """The normal distribution on any of the paths with the best bound, and that bound; `None` if there is none."""
    eps = rng.standard_normal((_DRAWS, target.size))
    log_normal = -0.5 * np.sum(eps * eps, axis=1) - 0.5 * target.size * np.log(2 * np.pi)
    best = None
    for start in starts:
        for normal in normals_on_path(*path_to_mode(target.value_and_gradient, start, iterations)):
            log_p = target.log_densities(normal.mean + eps @ normal.factor.T)
            bound = np.mean(log_p - log_normal) + np.sum(np.log(np.diag(normal.factor)))
            if np.isfinite(bound) and (best is None or bound > best[1]):
                best = normal, float(bound)
    return best


def starts_of(target: Posterior, init: Any, rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Where to start: from `init`, if it is given, and from random points at which there is a density."""
    first = [] if init is None else [target.unconstrain(init)]
    return first + [_random_start(target, rng) for _ in range(count - len(first))]


def _random_start(target: Posterior, rng: np.random.Generator) -> np.ndarray:
    negative = finite_or_barrier(target.value_and_gradient)
    for k in range(_TRIALS):
        u = 2.0 ** -(k // 10) * target.start(rng)
        if negative(u)[0] < BARRIER:
            break
    return u


@told
def pathfinder(
    target: Callable, *args: Any, init: Any = None, support: Any = None, paths: int = 4, seed: Any = 0
) -> Approximation:
    """The best normal approximation on the way of an optimiser to the mode, of several ways.

    Args:
        target: a model with its arguments, or a log-density of one container (as for `infer.nuts`).
        init: where to start; for a log-density also the form of a point.
        support: a container of `infer.transforms` for a log-density.
        paths: how many optimisers run, from random points.

    >>> import numpy as np
    >>> from wengert import infer
    >>> fit = infer.pathfinder(lambda x: -0.5 * np.sum((x - 3.0) ** 2 / 4), init=np.zeros(2))
    >>> fit.mean.round(3), fit.sd.round(3)
    (array([3., 3.]), array([2., 2.]))
    """
    rng = np.random.default_rng(seed)
    found = posterior(target, *args, init=init, support=support)
    best = best_normal(found, rng, starts_of(found, init, rng, paths))
    if best is None:
        raise_no_start(found)
    mean, factor = best[0]
    log_jacobian = np.sum(np.log(np.diag(factor)))
    fit = Approximation(
        found, lambda eps: (mean + eps @ factor.T, np.full(len(eps), log_jacobian)), (mean, factor),
        message="the best of the normal distributions on the paths",
    )  # fmt: skip
    if fit.khat > 0.7:
        warn_user(
            NotConvergedWarning(
                f"khat is {fit.khat:.2f}: no normal distribution on the paths is close to the posterior; sample it "
                "with infer.nuts, or use the approximation to start from"
            )
        )
    return fit


def raise_no_start(target: Posterior) -> Any:
    raise ValueError(
        "the log-density is not finite, or does not change, around the points where the search started; give a point "
        "where it is, init=…, and look at it with infer.check"
    )
