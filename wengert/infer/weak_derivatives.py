"""Measure-valued derivatives: the derivative of a density is a constant times the difference of two densities,

    ∂p(x; η)/∂η = c·(p⁺(x) − p⁻(x)),      so      ∂E[f]/∂η = c·(E⁺[f] − E⁻[f])

for any f, differentiable or not (Pflug 1989; Heidergott et al. 2008; Mohamed et al. 2020, section 6). Each entry of the
table gives c and draws from p⁺ and p⁻, coupled where it is possible: with the same random numbers the difference of f
has a small variance. Draws of several independent numbers are replaced one number at a time.

Where p⁺ and p⁻ have no name, as in the shape of a gamma distribution, ∂p/∂a = p·(log x − E log x) is positive above
x* = exp(E log x) and negative below. With y = x/x*, log y ≤ y^δ/(e·δ), and p·y^δ is again of the family: draws are
found by rejection. c is −∂F/∂a at x*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.api.grad import grad

Pair = tuple[Any, Any, Any]
"""c, and draws from p⁺ and p⁻, all of one shape with the draws along the leading axis."""


def _normal_loc(p: dict, shape: tuple, rng: Any) -> Pair:
    step = p["scale"] * np.sqrt(2 * rng.standard_exponential(shape))
    return 1 / (p["scale"] * np.sqrt(2 * np.pi)), p["loc"] + step, p["loc"] - step


def _normal_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    """A two-sided Maxwell distribution; times a uniform number it is normal."""
    z = rng.choice([-1.0, 1.0], shape) * np.sqrt(rng.chisquare(3, shape))
    return 1 / p["scale"], p["loc"] + p["scale"] * z, p["loc"] + p["scale"] * z * rng.random(shape)


def _lognormal_shape(p: dict, shape: tuple, rng: Any) -> Pair:
    c, above, below = _normal_scale({"loc": 0.0, "scale": p["s"]}, shape, rng)
    return c, p["loc"] + p["scale"] * np.exp(above), p["loc"] + p["scale"] * np.exp(below)


def _lognormal_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    c, above, below = _normal_loc({"loc": 0.0, "scale": p["s"]}, shape, rng)
    return c / p["scale"], p["loc"] + p["scale"] * np.exp(above), p["loc"] + p["scale"] * np.exp(below)


def _exponential_loc(p: dict, shape: tuple, rng: Any) -> Pair:
    return 1 / p["scale"], p["loc"] + p["scale"] * rng.standard_exponential(shape), p["loc"] + np.zeros(shape)


def _gamma_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    a = p.get("a", 1.0)
    z = p["scale"] * rng.standard_gamma(np.broadcast_to(a + 1, shape))
    return a / p["scale"], p["loc"] + z, p["loc"] + z * rng.random(shape) ** (1 / a)


def _weibull_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    e = rng.standard_gamma(2.0, shape)
    above, below = p["scale"] * e ** (1 / p["c"]), p["scale"] * (e * rng.random(shape)) ** (1 / p["c"])
    return p["c"] / p["scale"], p["loc"] + above, p["loc"] + below


def _laplace_loc(p: dict, shape: tuple, rng: Any) -> Pair:
    step = p["scale"] * rng.standard_exponential(shape)
    return 0.5 / p["scale"], p["loc"] + step, p["loc"] - step


def _laplace_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    z = p["scale"] * rng.choice([-1.0, 1.0], shape) * rng.standard_gamma(2.0, shape)
    return 1 / p["scale"], p["loc"] + z, p["loc"] + z * rng.random(shape)


def _uniform_loc(p: dict, shape: tuple, rng: Any) -> Pair:
    return 1 / p["scale"], p["loc"] + p["scale"] + np.zeros(shape), p["loc"] + np.zeros(shape)


def _uniform_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    return 1 / p["scale"], p["loc"] + p["scale"] + np.zeros(shape), p["loc"] + p["scale"] * rng.random(shape)


def _gamma_shape(p: dict, shape: tuple, rng: Any) -> Pair:
    a = np.broadcast_to(p["a"], shape)
    centre = np.exp(sc.digamma(a))
    propose = lambda where, shift: rng.standard_gamma(a[where] + shift[where])
    above, below = _sides(rng, propose, centre, 1 / np.sqrt(a), 0.5 * a)
    c = -_slope(sc.gammainc, np.broadcast_to(p["a"], shape[1:]), np.exp(sc.digamma(p["a"])))
    return c, p["loc"] + p["scale"] * above, p["loc"] + p["scale"] * below


def _chi2_shape(p: dict, shape: tuple, rng: Any) -> Pair:
    c, above, below = _gamma_shape({"a": 0.5 * p["df"], "loc": 0.0, "scale": 2.0}, shape, rng)
    return 0.5 * c, p["loc"] + p["scale"] * above, p["loc"] + p["scale"] * below


def _chi2_scale(p: dict, shape: tuple, rng: Any) -> Pair:
    c, above, below = _gamma_scale({"a": 0.5 * p["df"], "loc": 0.0, "scale": 2 * p["scale"]}, shape, rng)
    return 2 * c, p["loc"] + above, p["loc"] + below


def _beta_a(p: dict, shape: tuple, rng: Any) -> Pair:
    a, b = np.broadcast_to(p["a"], shape), np.broadcast_to(p["b"], shape)
    centre = np.exp(sc.digamma(a) - sc.digamma(a + b))
    propose = lambda where, shift: rng.beta(a[where] + shift[where], b[where])
    above, below = _sides(rng, propose, centre, 1 / np.sqrt(a), 0.5 * a)
    mean = np.exp(sc.digamma(p["a"]) - sc.digamma(p["a"] + p["b"]))
    c = -_slope(sc.betainc, np.broadcast_to(p["a"], shape[1:]), p["b"], mean)
    return c, p["loc"] + p["scale"] * above, p["loc"] + p["scale"] * below


def _beta_b(p: dict, shape: tuple, rng: Any) -> Pair:
    c, above, below = _beta_a({"a": p["b"], "b": p["a"], "loc": 0.0, "scale": 1.0}, shape, rng)
    return c, p["loc"] + p["scale"] * (1 - above), p["loc"] + p["scale"] * (1 - below)


def _sides(rng: Any, propose: Callable, centre: Any, up: Any, down: Any) -> tuple[Any, Any]:
    """Draws from the densities that are proportional to p·log y above one and −p·log y below, y = x/centre.

    `propose(where, shift)` draws from p·y^shift.
    """
    found = []
    for shift in (up, -down):
        draws, missing = np.empty(centre.shape), np.ones(centre.shape, bool)
        while np.any(missing):
            where = np.nonzero(missing)
            x, delta = propose(where, shift), shift[where]
            with np.errstate(all="ignore"):
                log_y = np.log(x / centre[where])
                accepted = np.log(np.e * delta * log_y) - delta * log_y
            taken = np.log(rng.random(x.shape)) <= accepted
            draws[tuple(axis[taken] for axis in where)] = x[taken]
            missing[tuple(axis[taken] for axis in where)] = False
        found.append(draws)
    return found[0], found[1]


def _slope(cumulative: Callable, a: Any, *rest: Any) -> Any:
    """∂F/∂a, element by element."""
    return grad(lambda a: np.sum(cumulative(a, *rest)))(np.array(a, float))


def _poisson(p: dict, shape: tuple, rng: Any) -> Pair:
    x = rng.poisson(p["mu"], shape)
    return 1.0, p["loc"] + x + 1, p["loc"] + x


def _bernoulli(p: dict, shape: tuple, rng: Any) -> Pair:
    return 1.0, p["loc"] + np.ones(shape, int), p["loc"] + np.zeros(shape, int)


def _binomial(p: dict, shape: tuple, rng: Any) -> Pair:
    x = rng.binomial(np.broadcast_to(p["n"], shape).astype(int) - 1, p["p"])
    return p["n"], p["loc"] + x + 1, p["loc"] + x


def _geometric(p: dict, shape: tuple, rng: Any) -> Pair:
    x = rng.geometric(p["p"], shape)
    return 1 / p["p"], p["loc"] + x, p["loc"] + x + rng.geometric(p["p"], shape)


def _negative_binomial(p: dict, shape: tuple, rng: Any) -> Pair:
    x = rng.negative_binomial(p["n"], p["p"], shape)
    return p["n"] / p["p"], p["loc"] + x, p["loc"] + x + rng.geometric(p["p"], shape)


_PAIRS: dict[str, dict[str, Callable[[dict, tuple, Any], Pair]]] = {
    "norm": {"loc": _normal_loc, "scale": _normal_scale},
    "lognorm": {"s": _lognormal_shape, "scale": _lognormal_scale},
    "expon": {"loc": _exponential_loc, "scale": _gamma_scale},
    "gamma": {"a": _gamma_shape, "scale": _gamma_scale},
    "chi2": {"df": _chi2_shape, "scale": _chi2_scale},
    "beta": {"a": _beta_a, "b": _beta_b},
    "weibull_min": {"scale": _weibull_scale},
    "laplace": {"loc": _laplace_loc, "scale": _laplace_scale},
    "uniform": {"loc": _uniform_loc, "scale": _uniform_scale},
    "poisson": {"mu": _poisson},
    "bernoulli": {"p": _bernoulli},
    "binom": {"p": _binomial},
    "geom": {"p": _geometric},
    "nbinom": {"p": _negative_binomial},
}


def fits(problem: Any) -> bool:
    """Whether the derivative in each parameter that matters is known."""
    family = problem.family
    if family.relaxes == "categorical":
        return True
    return family.name in _PAIRS and problem.active() <= _PAIRS[family.name].keys()


def measure_valued(problem: Any) -> Callable:
    """Σ over the distribution's parameters of (c·(f(x⁺) − f(x⁻)))‾·η(θ)."""
    n, family, rng = problem.samples, problem.family, problem.rng
    numbers = problem.parameters(problem.params)
    if family.relaxes == "categorical":
        k = family.event[0]
        weights = {"p": np.broadcast_to(problem.values(np.eye(k, dtype=int), problem.params), (n, k))}
    else:
        weights = {name: _differences(problem, _PAIRS[family.name][name], numbers) for name in sorted(problem.active())}
    x = family.draw(n, rng) if problem.takes_parameters else None

    def surrogate(params: Any) -> Any:
        given = problem.parameters(params)
        total = np.zeros(n) if x is None else problem.values(x, params)
        for name, weight in weights.items():
            total = total + np.sum(np.reshape(weight * given[name], (n, -1)), axis=1)
        return total

    return surrogate


def _differences(problem: Any, pair: Callable, numbers: dict) -> np.ndarray:
    """c·(f(x⁺) − f(x⁻)) for each draw and each of its independent numbers."""
    n, event = problem.samples, problem.family.event
    c, above, below = pair(numbers, (n, *event), problem.rng)
    c = np.broadcast_to(c, event)
    x = problem.family.draw(n, problem.rng)
    found = np.empty((n, *event))
    for place in np.ndindex(*event):
        at = (slice(None), *place)
        sides = []
        for side in (above, below):
            replaced = x.copy() if event else side
            if event:
                replaced[at] = side[at]
            sides.append(problem.values(replaced, problem.params))
        found[at] = c[place] * (sides[0] - sides[1])
    return found
