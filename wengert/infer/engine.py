"""Transitions of a sampler on one density, many in a native loop; in Python where the density cannot be compiled.

Where the density raises, compiled code stops. Nothing is lost: the transitions of that block are run once more, one by
one, and the one that raises is run in Python, with the density taken to be zero there. All ways give the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.algorithms.chains import chain_block
from wengert.api.grad import grad, value_and_grad
from wengert.api.hessian import hessian, value_grad_and_hessian
from wengert.api.jit import jit
from wengert.errors import warn_user
from wengert.infer.compiling import NotCompiledWarning
from wengert.infer.posterior import Posterior

BLOCK = 50
"""So many transitions at most in one call."""


class Density(NamedTuple):
    """What is compiled of a log-density: value and derivatives, those of third order; and values where it raises."""

    evaluate: Callable
    third: Callable | None
    failed: tuple


def first_order(posterior: Posterior) -> Density:
    """Value and gradient."""
    return Density(value_and_grad(posterior.log_density), None, (np.float64(-np.inf), np.zeros(posterior.size)))


def value_only(posterior: Posterior) -> Density:
    """The value, and zeros for the gradient."""
    size = posterior.size
    return Density(lambda x: (posterior.log_density(x), np.zeros(size)), None, (np.float64(-np.inf), np.zeros(size)))


def third_order(posterior: Posterior) -> Density:
    """Value, gradient and Hessian; and the gradient of a sum of the Hessian's elements with given weights."""
    derivatives, curvature = value_grad_and_hessian(posterior.log_density), hessian(posterior.log_density)
    slope = grad(lambda x, weights: np.sum(weights * curvature(x)))
    nothing = np.float64(-np.inf), np.zeros(posterior.size), np.eye(posterior.size)
    return Density(derivatives, slope, nothing)


class Engine:
    """Runs blocks of transitions; `transition` is one of `algorithms/`, with density, velocity and kick in front."""

    def __init__(self, posterior: Posterior, transition: Callable, velocity: Callable, kick: Callable, order: Callable):
        self.posterior = posterior
        self.recipe = (posterior, transition, velocity, kick, order)
        """What an engine like this is made of, elsewhere (`made_of`)."""
        density = order(posterior)
        self._transition, self._velocity, self._kick = transition, velocity, kick
        self._density = density
        self._compiled_density = Density(jit(density.evaluate), density.third and jit(density.third), density.failed)
        one = jit(self._with(self._compiled_density))

        def block(metric, x, lp, g, averaging, target, normals, seeds, count, limit):
            return chain_block(one, metric, x, lp, g, averaging, target, normals, seeds, count, limit)

        self._block: Any = jit(block)
        self._native: Any = None
        self.is_compiled = True
        self.failures = 0
        """How many evaluations of the density raised."""

    def _with(self, density: Density) -> Callable:
        transition, velocity, kick = self._transition, self._velocity, self._kick

        given = density.evaluate if density.third is None else (density.evaluate, density.third)

        def one(metric, x, lp, g, z, step, seed, limit):
            return transition(given, velocity, kick, metric, x, lp, g, z, step, seed, limit)

        return one

    def prepare(self, metric: tuple, point: np.ndarray) -> None:
        """Compile, before anything is timed or run in threads."""
        size = len(point)
        nothing = (np.zeros(5), -1.0, np.zeros((BLOCK, size)), np.zeros(BLOCK, np.uint64), 0, 1)
        try:
            self._native = self._block.lower(metric, point, np.float64(0.0), np.zeros(size), *nothing).fixed()
        except Exception as error:
            self.is_compiled = False
            self._density.evaluate(point)  # raises what eager code raises, if it does
            reason = str(self._why_not_compiled(point) or error).strip()
            warn_user(
                NotCompiledWarning(
                    f"the density runs as ordinary Python, which takes long, since it cannot be compiled: {reason}"
                )
            )

    def _why_not_compiled(self, point: np.ndarray) -> Exception | None:
        """Why the density itself cannot be compiled, if it cannot; of all transitions the error says less."""
        try:
            jit(self._density.evaluate).lower(point)
        except Exception as error:
            return error
        return None

    def run(self, metric, state, averaging, target, normals, seeds, count, limit):
        """`count` transitions from a state (x, lp, g)."""
        if not self.is_compiled:
            return self._in_python(metric, state, averaging, target, normals, seeds, count, limit)
        try:
            return self._native(metric, *state, averaging, target, normals, seeds, count, limit)
        except Exception:  # what the density raises at one of the points; Python counts these as points of no density
            return self._one_by_one(metric, state, averaging, target, normals, seeds, count, limit)

    def _one_by_one(self, metric, state, averaging, target, normals, seeds, count, limit):
        found = []
        for i in range(count):
            z, seed = np.roll(normals, -i, axis=0), np.roll(seeds, -i)
            try:
                y = self._native(metric, *state, averaging, target, z, seed, 1, limit)
            except Exception:
                y = self._in_python(metric, state, averaging, target, z, seed, 1, limit)
            state, averaging = y[:3], y[3]
            found.append(y)
        rows = [np.concatenate([y[k][:1] for y in found] + [found[0][k][count:]]) for k in (4, 5, 6)]
        return (*state, averaging, *rows, *found[-1][7:])

    def _in_python(self, metric, state, averaging, target, normals, seeds, count, limit):
        density = self._compiled_density if self.is_compiled else self._density

        def guarded(f, failed):
            def call(*args):
                try:
                    return f(*args)
                except MemoryError:
                    raise
                except Exception:  # as a point outside of the support; `failures` are told
                    self.failures += 1
                    return failed

            return call

        third = density.third and guarded(density.third, np.full(len(state[0]), np.nan))
        one = self._with(density._replace(evaluate=guarded(density.evaluate, density.failed), third=third))
        x, lp, g = state
        with np.errstate(all="ignore"):
            found = chain_block(one, metric, x, lp, g, averaging, target, normals, seeds, count, limit)
        x, lp, g, *rest, last_lp, last_g = found
        return np.asarray(x), np.float64(lp), np.asarray(g), *rest, np.float64(last_lp), np.asarray(last_g)


def made_of(recipe: tuple) -> Engine:
    """An engine with compiled code of its own."""
    return Engine(*recipe)
