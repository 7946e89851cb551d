"""Automatic differentiation variational inference (Kucukelbir et al. 2017): the nearest member of a family.

Nearest is where E_q[log p − log q], the evidence lower bound, is largest. Its gradient is estimated from draws that are
functions of the parameters. The derivative of log q in its parameters, whose mean is zero, is left out (Roeder, Wu,
Duvenaud 2017): the estimate then has no variance at all where q is p. A flow must have an inverse for that (Vaitl et
al. 2022), which planar ones do not.

Note [When to stop]. Stochastic ascent with a fixed rate ends in a random walk around the optimum; that the bound has
stopped rising says little. So at each rate (after Welandawe et al. 2024) iterates go on until those of the last half
can be averaged: its two halves differ by no more than chance, and the error of the average, from the means of eight
parts, is below `tol`. Then the rate is lowered. When the average has not moved by more than `tol`, the search has
converged. All are measured by the symmetrised Kullback–Leibler divergence.
Flows go on at one rate in windows of steps as long as a window raises the bound, at the same few thousand draws before
and after it, by more than `tol`. Then the rate is lowered and windows get longer; three of them without a gain, one
after the other, are the end. Instead of the average of a window its last iterate is taken where it is better.
If that does not happen within `steps`, a warning says so, and the result has `converged=False`.

The search starts at the best normal distribution of Pathfinder, and is done in coordinates in which that is standard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms.variational import adam_ascent
from wengert.api.custom import stop_gradient
from wengert.api.grad import value_and_grad
from wengert.api.vmap import vmap
from wengert.errors import told, warn_user
from wengert.infer.approximation import Approximation
from wengert.infer.compiling import compiled, logs_of_rows, unless_it_raises
from wengert.infer.minibatches import MiniBatches
from wengert.infer.pathfinder import NotConvergedWarning, best_normal, raise_no_start, starts_of
from wengert.infer.posterior import Posterior, posterior
from wengert.infer.variational_families import FAMILIES

_BLOCK = 100
"""Steps that run natively before the criterion is looked at."""
_PARTS = 8
"""Into so many parts a path is cut to find the error of its mean."""
_PAIRED = 4000
"""Draws at which the bounds of flows are compared."""
_DENSE = 200
"""Up to so many unknowns the coordinates are whitened with a whole covariance."""


class Search:
    """The bound of a family as a compiled function of its parameters, and the ascent."""

    def __init__(
        self, target: Posterior, family: Any, shift: np.ndarray, scale: np.ndarray, importance: int, batches: Any
    ):
        self.target, self.family, self.batches = target, family, batches
        whitened = scale.ndim == 2
        log_scale = np.sum(np.log(np.abs(np.diag(scale) if whitened else scale)))

        def push(phi: Any, eps: Any) -> tuple[Any, Any]:
            y, log_jacobian = family.push(phi, eps)
            return shift + (scale @ y if whitened else scale * y), log_jacobian + log_scale

        def log_ratio(phi: Any, eps: Any, data: tuple) -> Any:
            """log p − log q of one draw, up to the constant of log q."""
            u, log_jacobian = push(phi, eps)
            log_p = target.log_density(u) if batches is None else batches.log_density(u, data)
            if importance > 1 or not (family.gaussian or hasattr(family, "pull")):
                return log_p + 0.5 * np.sum(eps * eps) + log_jacobian
            y = family.push(phi, eps)[0]
            if not family.gaussian:
                eps, log_jacobian = family.pull(stop_gradient(phi), y)
                return log_p + 0.5 * np.sum(eps * eps) + log_jacobian + log_scale
            path = y @ stop_gradient(family.score(phi, eps))
            return log_p + path + stop_gradient(0.5 * np.sum(eps * eps) + log_jacobian - path)

        def bound(phi: Any, noise: Any, data: tuple) -> Any:
            ratios = vmap(log_ratio, (None, 0, None))(phi, noise, data)
            if importance == 1:
                return np.mean(ratios)
            groups = np.reshape(ratios, (-1, importance))
            largest = stop_gradient(np.max(groups, axis=1))
            return np.mean(largest + np.log(np.mean(np.exp(groups - largest[:, None]), axis=1)))

        def steps(phi: Any, moments: Any, count: Any, rate: Any, noise: Any, rows: Any, data: tuple) -> Any:
            def estimate(phi: Any, step: Any) -> Any:
                k = step[0, 0].astype(int)
                part = tuple([a[rows[k]] for a in data]) if batches is not None else data
                return value_and_grad(bound)(phi, step[:, 1:], part)

            return adam_ascent(estimate, phi, moments, count, rate, noise)

        self.steps = compiled(steps)
        self.pushed = compiled(vmap(push, (None, 0)))
        constant = 0.5 * target.size * np.log(2 * np.pi)
        self.ratios = logs_of_rows(lambda phi, eps: _plain(target, push, phi, eps) + constant)

    def ascend(self, samples: int, steps: int, tol: float, rng: np.random.Generator, rate: float) -> tuple:
        """The best parameters, whether the search has converged, and the history of the bound."""
        if not self.family.gaussian:
            return self._ascend_flow(samples, steps, tol, rng, 0.1 * rate)
        best, history, done = self.family.start(rng), [], 0
        level, settled = 0, False
        while done < steps and not settled:
            phi, moments, count = best, np.zeros((2, best.size)), 0.0
            path, steady = [], False
            while done < steps and not steady and (len(path) * _BLOCK <= steps // 3 or level == 0):
                phi, moments, count, iterates, found = self._block(phi, moments, count, rate, samples, rng)
                path.append(iterates)
                history.append(found)
                done += _BLOCK
                half = np.concatenate(path[len(path) // 2 :])
                steady = len(path) >= 4 and self._is_steady(half, tol)
            before, best = best, half.mean(0)
            moments_of = self.family.moments
            settled = level > 0 and steady and divergence(moments_of(before), moments_of(best)) < 2 * tol
            level, rate = level + 1, 0.5 * rate
        return best, settled, np.concatenate(history)

    def _ascend_flow(self, samples: int, steps: int, tol: float, rng: np.random.Generator, rate: float) -> tuple:
        """Windows of steps, at a lower rate after each that has gained less than `tol`, until three in a row have."""
        dim, phi = self.target.size, self.family.start(rng)
        paired = rng.standard_normal((_PAIRED, dim))
        best, ratios = phi, self._ratios(phi, paired)
        history, done, blocks, settled = [], 0, 5, 0
        moments, count = np.zeros((2, phi.size)), 0.0
        while done < steps and settled < 3:
            path = []
            for _ in range(min(blocks, -(-(steps - done) // _BLOCK))):
                phi, moments, count, iterates, found = self._block(phi, moments, count, rate, samples, rng)
                path.append(iterates)
                history.append(found)
                done += _BLOCK
            gained = False
            for candidate in (phi, np.concatenate(path[len(path) // 2 :]).mean(0)):  # averages of networks may be poor
                now = self._ratios(candidate, paired)
                gain = now - ratios
                if np.mean(now) > np.mean(ratios):
                    gained = gained or bool(np.mean(gain) > tol)
                    best, ratios = candidate, now
            if gained:
                settled = 0
            elif len(path) == blocks:
                settled, rate, blocks, phi = settled + 1, 0.4 * rate, 2 * blocks, best
        return best, settled >= 3, np.concatenate(history)

    def _block(self, phi: Any, moments: Any, count: Any, rate: float, samples: int, rng: np.random.Generator) -> tuple:
        noise = rng.standard_normal((_BLOCK, samples, self.target.size + 1))
        noise[:, 0, 0] = np.arange(_BLOCK)
        rest = noise, *self._rows(rng)
        with np.errstate(all="ignore"):
            found = unless_it_raises(self.steps, None)(phi, moments, count, rate, *rest)
            return self._one_by_one(phi, moments, count, rate, *rest) if found is None else found

    def _one_by_one(self, phi: Any, moments: Any, count: Any, rate: float, noise: Any, *rest: Any) -> tuple:
        """The same steps, of which those are left out whose density raises at one of the draws."""
        path, bounds = np.empty((_BLOCK, phi.size)), np.full(_BLOCK, np.nan)
        for k in range(_BLOCK):
            found = unless_it_raises(self.steps, None)(phi, moments, count, rate, noise[k : k + 1], *rest)
            if found is not None:
                phi, moments, count = found[:3]
                bounds[k] = found[4][0]
            path[k] = phi
        return phi, moments, count, path, bounds

    def _ratios(self, phi: np.ndarray, eps: np.ndarray) -> np.ndarray:
        """log p − log q at the draws that the noise is pushed to; −∞ where that is not finite."""
        found = self.ratios(phi, eps)
        return np.where(np.isfinite(found), found, -np.inf)

    def _rows(self, rng: np.random.Generator) -> tuple:
        return (np.zeros((_BLOCK, 1), int), ()) if self.batches is None else self.batches.choose(_BLOCK, rng)

    def _is_steady(self, path: np.ndarray, tol: float) -> bool:
        """Whether iterates can be averaged: their halves differ by chance only, and the error of the mean is small."""
        moments = self.family.moments
        whole = moments(path.mean(0))
        parts = [divergence(moments(part.mean(0)), whole) for part in np.array_split(path, _PARTS)]
        error = sum(parts) / (_PARTS * (_PARTS - 1))
        first, second = np.array_split(path, 2)
        drift = divergence(moments(first.mean(0)), moments(second.mean(0)))
        return bool(error < tol / 2 and drift < tol / 2 + 12 * error)


def _plain(target: Posterior, push: Callable, phi: Any, eps: Any) -> Any:
    u, log_jacobian = push(phi, eps)
    return target.log_density(u) + 0.5 * np.sum(eps * eps) + log_jacobian


def divergence(p: tuple[np.ndarray, np.ndarray], q: tuple[np.ndarray, np.ndarray]) -> float:
    """KL(p‖q) + KL(q‖p) of two normal distributions, each given by its mean and a factor of its covariance.

    >>> divergence((np.zeros(1), np.eye(1)), (np.ones(1), np.eye(1)))
    1.0
    """
    forth, back = np.linalg.solve(q[1], p[1]), np.linalg.solve(p[1], q[1])
    apart = p[0] - q[0]
    ahead, behind = np.linalg.solve(q[1], apart), np.linalg.solve(p[1], apart)
    total = np.sum(forth**2) + np.sum(back**2) - 2 * len(apart) + ahead @ ahead + behind @ behind
    return float(0.5 * total)


@told
def advi(
    target: Callable,
    *args: Any,
    family: str = "mean-field",
    init: Any = None,
    support: Any = None,
    samples: int = 10,
    importance: int = 1,
    batch_size: int | None = None,
    steps: int | None = None,
    tol: float = 5e-3,
    rate: float = 0.1,
    seed: Any = 0,
) -> Approximation:
    """The member of a family of distributions that is nearest to a posterior, on the unconstrained scale.

    Args:
        target: a model with its arguments, or a log-density of one container (as for `infer.nuts`).
        family: "mean-field" (independent normal distributions), "full-rank" (a normal distribution with any
            covariance), "planar" or "real-nvp" (normalising flows).
        init: where to start; for a log-density also the form of a point.
        support: a container of `infer.transforms` for a log-density.
        samples: draws for each estimate of the gradient.
        importance: how many draws an importance-weighted bound averages over; 1 is the evidence lower bound.
        batch_size: take so many rows of the arguments of a model at each step (they are arrays of one length), and
            count their observations accordingly more.
        steps: the largest number of steps; 20,000 by default, for flows 50,000.
        tol: how far the average of the iterates may move when the rate is lowered (see `converged`).
        rate: the step size to begin with, relative to the standard deviations of the approximation it starts from.

    Returns an `Approximation`: `mean`, `sd`, `sample(n)`, `khat`, `elbo`, `converged`. Where the criterion is not met
    within `steps` there is a warning.

    >>> import numpy as np
    >>> from wengert import infer
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> fit = infer.advi(lambda x: -0.5 * (x - 1) @ A @ (x - 1), init=np.zeros(2), family="full-rank")
    >>> bool(np.allclose(fit.mean, 1.0, atol=1e-3)), bool(np.allclose(fit.sd**2, np.diag(np.linalg.inv(A)), atol=1e-3))
    (True, True)
    """
    if family not in FAMILIES:
        raise ValueError(f"family is one of {', '.join(FAMILIES)}, not {family!r}")
    if importance > 1 and samples % importance:
        samples = importance * -(-samples // importance)
    rng = np.random.default_rng(seed)
    found = posterior(target, *args, init=init, support=support)
    batches = None if batch_size is None else MiniBatches(found, batch_size)
    best = best_normal(found, rng, starts_of(found, init, rng, 2))
    if best is None:
        raise_no_start(found)
    shift, factor = best[0]
    scale = factor if family != "mean-field" and found.size <= _DENSE else np.sqrt(np.sum(factor**2, axis=1))
    search = Search(found, FAMILIES[family](found.size), shift, scale, importance, batches)
    if steps is None:
        steps = 20_000 if search.family.gaussian else 50_000
    phi, converged, history = search.ascend(samples, steps, tol, rng, rate)
    left_out = int(np.sum(np.isnan(history)))
    message = f"{len(history)} steps" + (f", {left_out} of them left out: not finite" if left_out else "")
    if not converged:
        message += "; the average of the iterates has not settled"
        warn_user(
            NotConvergedWarning(
                f"advi has not converged after {len(history)} steps: give it more (steps=), more draws for each step "
                "(samples=), or another parametrisation of the model"
            )
        )
    moments = None
    if search.family.gaussian:
        mean, inner = search.family.moments(phi)
        moments = (
            (shift + scale @ mean, scale @ inner) if scale.ndim == 2 else (shift + scale * mean, scale[:, None] * inner)
        )
    return Approximation(
        found, lambda eps: search.pushed(phi, eps), moments, converged=converged, message=message,
        history={"elbo": history},
    )  # fmt: skip
