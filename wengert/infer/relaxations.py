"""Draws of zeros and ones, relaxed to real numbers: Gumbel-softmax, REBAR and RELAX.

A one-hot draw is where z = log p + g is largest, with g independent Gumbel numbers; a draw of 0 or 1 is whether
z = logit p + logit u is positive, with u uniform. softmax(z/τ), or σ(z/τ), is a smooth neighbour of it.

Let x be the draw, z̃ a second latent given x, drawn by a smooth function of the parameters as well, and c any function.
Then

    c(z̃)‾·∇log p(x) − ∇c(z) + ∇c(z̃)      has mean zero,

since E[c(z̃)|x] is differentiated by the first and third term together, and ∇E[c(z)] = ∇E[E[c(z̃)|x]]. REBAR (Tucker et
al. 2017) subtracts from the score estimate a multiple of that for c = f∘relaxation (and a constant baseline). RELAX
(Grathwohl et al. 2018) takes a c with parameters, and those that give the least variance; ours is a linear combination,
for which least squares find them. Either is fitted to draws of its own, so that the estimate stays unbiased.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.jacobian import jacobian

NEEDS = "draws must be zeros and ones (bernoulli) or one-hot (multinomial with n=1), which are relaxed to real numbers"
_PILOT = 400
"""How many draws the control variates are fitted to."""


def softened(problem: Any) -> Callable:
    """f of relaxed draws: biased, the less the smaller the temperature, at the price of variance."""
    latent = LatentDraws(problem, problem.samples)
    return lambda params: problem.values(latent.relaxed(latent.z(params)), params)


def rebar(problem: Any) -> Callable:
    """The score with a baseline, less the best multiple of one control variate, f of the relaxed draw."""

    def features(latent: LatentDraws) -> Callable:
        relaxed_f = _relaxed_f(problem, latent)
        return lambda z: np.concatenate([relaxed_f(z), np.ones((z.shape[0], 1))], axis=1)

    return _controlled(problem, features)


def relax(problem: Any) -> Callable:
    """The score, less the best combination of many: f of the relaxed draw, and features of the latent."""
    count = int(np.prod(problem.family.event, initial=1))
    mix = problem.rng.standard_normal((count, 16)) / np.sqrt(count)
    shift = problem.rng.standard_normal(16)
    use_f = _works(lambda: _relaxed_f(problem, LatentDraws(problem, 2))(LatentDraws(problem, 2).z(problem.params)))

    def features(latent: LatentDraws) -> Callable:
        first = _relaxed_f(problem, latent) if use_f else None

        def of(z: Any) -> Any:
            flat = np.reshape(latent.relaxed(z), (z.shape[0], -1))
            columns = [np.ones((z.shape[0], 1)), flat, np.tanh(2 * (flat - 0.5) @ mix + shift)]
            return np.concatenate(columns if first is None else [first(z), *columns], axis=1)

        return of

    return _controlled(problem, features)


def _relaxed_f(problem: Any, latent: LatentDraws) -> Callable:
    return lambda z: problem.values(latent.relaxed(z), problem.params)[:, None]


def _works(compute: Callable) -> bool:
    """Whether f is defined for relaxed draws; the control variates of RELAX are not in need of it."""
    try:
        return bool(np.all(np.isfinite(compute())))
    except Exception:  # a function of discrete draws may raise anything for others
        return False


class LatentDraws:
    """Random numbers from which draws, their relaxations and the second latent are made."""

    def __init__(self, problem: Any, samples: int):
        self.problem, self.binary = problem, problem.family.relaxes == "bernoulli"
        shape = (samples, *problem.family.event)
        self.u, self.v = np.clip(problem.rng.random((2, *shape)), 1e-300, 1 - 2.0**-53)
        z = self.z(problem.params)
        one_hot = lambda z: z == np.max(z, axis=-1, keepdims=True)
        self.x = (z > 0 if self.binary else one_hot(z)).astype(float)
        self.offset = problem.parameters(problem.params)["loc"] if self.binary else 0.0

    @property
    def draw(self) -> np.ndarray:
        """What the distribution itself would give."""
        return (self.x + self.offset).astype(int)

    def z(self, params: Any) -> Any:
        p = self.problem.parameters(params)["p"]
        if self.binary:
            return np.log(p) - np.log1p(-p) + np.log(self.u) - np.log1p(-self.u)
        return np.log(p) - np.log(-np.log(self.u))

    def z_given_draw(self, params: Any) -> Any:
        """The second latent, distributed as the first is among those with the same draw."""
        p, v, x = self.problem.parameters(params)["p"], self.v, self.x
        if self.binary:
            u = v * np.where(x == 1, p, 1 - p)
            rest = np.where(x == 1, (1 - v) * p, p + (1 - v) * (1 - p))
            u = np.where(x == 1, u + (1 - p), u)
            return np.log(p) - np.log1p(-p) + np.log(u) - np.log(rest)
        top = -np.log(np.sum(v * x, axis=-1, keepdims=True))
        other = np.where(x == 1, 1.0, -np.log(v) / p)
        return np.where(x == 1, -np.log(top), -np.log(other + top))

    def relaxed(self, z: Any) -> Any:
        """The smooth neighbour of a draw."""
        z = z / self.problem.temperature
        if self.binary:
            return self.offset + 0.5 * (1 + np.tanh(0.5 * z))
        e = np.exp(z - np.max(z, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)


def _controlled(problem: Any, features: Callable[[LatentDraws], Callable]) -> Callable:
    """The score estimate with the combination of control variates that has the least variance on draws of their own."""
    pilot = LatentDraws(problem, _PILOT)
    plain = _rows(jacobian(_scores(problem, pilot))(problem.params))
    controls = _rows(jacobian(_control_variates(problem, pilot, features(pilot)))(problem.params), 2)
    k = controls.shape[1]
    # One row for each draw and parameter; means are taken out, since only the variance counts.
    system = np.moveaxis(controls - controls.mean(0), 1, 2).reshape(-1, k)
    coefficients = -np.linalg.lstsq(system, (plain - plain.mean(0)).reshape(-1), rcond=1e-8)[0]

    latent = LatentDraws(problem, problem.samples)
    score, variates = _scores(problem, latent), _control_variates(problem, latent, features(latent))
    return lambda params: score(params) + variates(params) @ coefficients


def _scores(problem: Any, latent: LatentDraws) -> Callable:
    values = problem.values(latent.draw, problem.params)

    def surrogate(params: Any) -> Any:
        found = values * problem.log_density(latent.draw, params)
        return found + problem.values(latent.draw, params) if problem.takes_parameters else found

    return surrogate


def _control_variates(problem: Any, latent: LatentDraws, features: Callable) -> Callable:
    constant = features(latent.z_given_draw(problem.params))

    def surrogate(params: Any) -> Any:
        logs = problem.log_density(latent.draw, params)
        return features(latent.z(params)) - features(latent.z_given_draw(params)) - constant * logs[:, None]

    return surrogate


def _rows(jacobians: Any, axes: int = 1) -> np.ndarray:
    """The leaves of a Jacobian side by side, behind the axes of the function's value."""
    leaves = tree.leaves(jacobians)
    return np.concatenate([np.reshape(leaf, (*leaf.shape[:axes], -1)) for leaf in leaves], axis=-1)
