"""Amortised inference: a network that is trained once and then gives the posterior of any data at once.

Parameters and data are drawn from the model; the network takes data to a normal distribution of the unconstrained
parameters, and is trained to give large log-densities to the parameters that the data came from (Papamakarios, Murray
2016). No log-density of the model is needed for that, but `khat` of the result says for given data how good it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms.variational import adam_ascent
from wengert.api.grad import value_and_grad
from wengert.errors import told
from wengert.infer.approximation import Approximation
from wengert.infer.compiling import compiled
from wengert.infer.handlers import ModelError
from wengert.infer.pathfinder import NotConvergedWarning
from wengert.infer.posterior import ModelPosterior
from wengert.infer.simulate import OtherDataPosterior, simulated
from wengert.infer.variational_families import FullRank

_BATCH = 100
_BLOCK = 200


class Encoder:
    """A network with two hidden layers; from numbers to the parameters of a normal distribution."""

    def __init__(self, inputs: int, hidden: int, family: FullRank):
        self.shapes = [(hidden, inputs + 1), (hidden, hidden + 1), (family.size, hidden + 1)]
        self.size = sum(a * b for a, b in self.shapes)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        layers = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in self.shapes]
        layers[-1] *= 0.1
        return np.concatenate([np.ravel(layer) for layer in layers])

    def forward(self, phi: Any, x: Any) -> Any:
        """The outputs for rows of inputs."""
        at = 0
        for k, (rows, columns) in enumerate(self.shapes):
            layer = np.reshape(phi[at : at + rows * columns], (rows, columns))
            at += rows * columns
            x = x @ layer[:, :-1].T + layer[:, -1]
            if k < 2:
                x = np.tanh(x)
        return x


class Amortized:
    """A trained encoder. `posterior(data)` is the approximate posterior of other data of the same shape.

    `loss` is the mean of −log q of held-out simulations, `losses` what it was in the course of training; `converged`
    says whether training has ended by itself.
    """

    def __init__(self, model: Callable, args: tuple, read: Callable, names: list[str], losses: list[float], done: bool):
        self.model, self.args, self._read, self._names = model, args, read, names
        self.losses, self.converged = losses, done

    @property
    def loss(self) -> float:
        """Mean −log q of the parameters of held-out simulations."""
        return min(self.losses)

    def posterior(self, data: Any) -> Approximation:
        """The approximate posterior of data: what is observed, or a dict of that if several things are."""
        given = data if isinstance(data, dict) else {self._names[0]: data}
        if set(given) != set(self._names):
            raise ModelError(
                f"the model observes {', '.join(self._names)}, and data was given for {', '.join(given)}",
                remedy="give a dict with an array for each; infer.observe(…, name=…) names them",
            )
        target = OtherDataPosterior(self.model, self.args, given)
        mean, factor = self._read(np.concatenate([np.ravel(given[name]) for name in self._names]).astype(float))
        log_jacobian = np.sum(np.log(np.abs(np.diag(factor))))
        return Approximation(
            target, lambda eps: (mean + eps @ factor.T, np.full(len(eps), log_jacobian)), (mean, factor),
            converged=self.converged, message="what the encoder says",
        )  # fmt: skip


@told
def amortized(
    model: Callable, *args: Any, simulations: int = 4000, hidden: int = 64, steps: int = 20_000, seed: Any = 0
) -> Amortized:
    """Train an encoder on draws from a model; it gives the posterior of any data of that shape at once.

    Args:
        model: a model that can be drawn from, with its arguments; of what it observes only the shapes count.
        simulations: how many draws of parameters and data to train with; a fifth of them is held out.
        hidden: the size of the hidden layers.
        steps: the largest number of steps of Adam; training ends before when the held-out loss does not fall any more.

    Returns an `Amortized`, whose `posterior(data)` is an `Approximation`. Look at its `khat`.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 1)), 1.0))
    >>> encoder = infer.amortized(model, np.zeros(3), simulations=1000, hidden=16)
    >>> y = np.array([0.5, 1.5, 1.0])
    >>> bool(abs(encoder.posterior(y).mean["mu"] - y.sum() / 4) < 0.2)  # the exact posterior mean
    True
    """
    rng = np.random.default_rng(seed)
    target = ModelPosterior(model, args)
    drawn = [simulated(model, args, rng) for _ in range(simulations)]
    names = list(drawn[0].observed)
    if not names:
        raise ModelError("the model observes nothing", remedy="mark the data: infer.observe(y, stats.norm(mu, 1.0))")
    u = np.stack([target.unconstrain(d.sites) for d in drawn])
    y = np.stack([np.concatenate([np.ravel(d.observed[name]) for name in names]) for d in drawn]).astype(float)
    # Far-away draws of heavy-tailed priors must not set the scale: logarithms of large numbers, then quartiles.
    inner, spread = _standard(u)
    centre, scale = _standard(_tamed(y))
    x, z = (_tamed(y) - centre) / scale, (u - inner) / spread

    family = FullRank(target.size)
    encoder = Encoder(x.shape[1], hidden, family)
    held = simulations // 5

    def log_q(phi: Any, x: Any, z: Any) -> Any:
        """Mean log-density of rows of parameters given rows of data; the factor here is that of the precision."""
        found = encoder.forward(phi, x)
        n = family.dim
        below = found[:, family.places] * family.below
        apart = z - found[:, :n]
        logs = found[:, family.diagonal]
        eps = np.exp(logs) * apart + np.sum(below * apart[:, None, :], axis=2)
        return np.mean(np.sum(logs, axis=1) - 0.5 * np.sum(eps * eps, axis=1)) - 0.5 * n * np.log(2 * np.pi)

    def train(phi: Any, moments: Any, count: Any, rate: Any, rows: Any) -> Any:
        def estimate(phi: Any, chosen: Any) -> Any:
            at = chosen.astype(int)
            return value_and_grad(log_q)(phi, x[at], z[at])

        return adam_ascent(estimate, phi, moments, count, rate, rows)

    run, loss = compiled(train), compiled(lambda phi: -log_q(phi, x[:held], z[:held]))
    phi, moments, count = encoder.start(rng), np.zeros((2, encoder.size)), 0.0
    best, losses, waited, rate = phi, [float(loss(phi))], 0, 3e-3
    for _ in range(steps // _BLOCK):
        rows = rng.integers(held, simulations, (_BLOCK, _BATCH)).astype(float)
        phi, moments, count, _, _ = run(phi, moments, count, rate, rows)
        losses.append(float(loss(phi)))
        if losses[-1] < min(losses[:-1]) - 1e-4:
            best, waited = phi, 0
        else:
            waited += 1
        if waited and waited % 4 == 0:
            phi, rate, moments, count = best, 0.5 * rate, np.zeros((2, encoder.size)), 0.0
        if waited == 16:
            break
    if waited < 16:
        warnings.warn(
            f"the encoder was still learning after {steps} steps: give it more (steps=)", NotConvergedWarning, 2
        )

    def read(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = encoder.forward(best, ((_tamed(y) - centre) / scale)[None, :])[0]
        precision = family.factor(found)
        return inner + spread * found[: family.dim], spread[:, None] * np.linalg.inv(precision)

    return Amortized(model, args, read, names, losses, waited >= 16)


def _tamed(y: np.ndarray) -> np.ndarray:
    return np.arcsinh(y)


def _standard(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A centre and a scale of columns, which a few large numbers do not move."""
    low, centre, high = np.quantile(x, [0.1, 0.5, 0.9], axis=0)
    spread = (high - low) / 2.56
    return centre, np.where(spread > 0, spread, np.where(np.std(x, axis=0) > 0, np.std(x, axis=0), 1.0))
