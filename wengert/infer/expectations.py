"""Gradients of expectations: ∇ E[f(x)], x drawn from a distribution that depends on parameters.

Every estimator is stated as a *surrogate*: a function of the parameters that gives one number for each draw, and whose
derivative is the estimate from that draw. Differentiating it is left to the ordinary operators. With a bar over what
counts as constant, and x(θ) a draw as a function of the parameters:

    score                 (f(x̄) − baseline)‾ · log p(x̄; θ)             any f, supports that stay
    reparameterization    f(x(θ)),  x(θ) = F⁻¹(u; θ)                      differentiable f
    implicit              f(x(θ)),  x(θ) = x̄ − (F(x̄; θ) − F̄)/p̄(x̄)       the same, no inverse (Figurnov et al. 2018)
    gumbel-softmax        f(softmax((log p(θ) + g)/τ))                    biased (Jang et al.; Maddison et al. 2017)
    straight-through      f(x̄ + E[x](θ) − Ē)                              biased (Bengio et al. 2013)
    rebar, relax          score, less a relaxed control variate           `relaxations.py`
    measure-valued        Σ (c·(f(x⁺) − f(x⁻)))‾ · η(θ)                   `weak_derivatives.py`
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from wengert import tree
from wengert.api.custom import stop_gradient
from wengert.api.grad import grad
from wengert.api.jacobian import jacobian
from wengert.api.products import jvp
from wengert.api.vmap import vmap
from wengert.errors import EstimatorError, UnsupportedFunctionError, told
from wengert.infer import relaxations, weak_derivatives
from wengert.infer.families import FrozenFamily, family_of
from wengert.infer.jumps import jump_of

_LOOKS = 16
"""At so many draws f is asked whether it has a period."""
_ZERO = 1e-8
"""What rounding makes of zero, at ends of supports."""


class Expectation:
    """What is asked: f, the distribution, the parameters, and a source of random numbers."""

    def __init__(self, f: Callable, dist: Callable, params: Any, samples: int, seed: Any, temperature: float):
        self.f, self.dist, self.params, self.samples, self.temperature = f, dist, params, samples, temperature
        self.rng = np.random.default_rng(seed)
        self.family: FrozenFamily = family_of(dist(params))
        self.takes_parameters = _takes_two(f)

    def values(self, x: Any, params: Any) -> Any:
        """f of each draw along a leading axis. What f does with the parameters themselves is differentiated as well."""
        found = vmap(self.f, (0, None))(x, params) if self.takes_parameters else vmap(self.f)(x)
        if np.shape(found) != (np.shape(x)[0],):
            raise EstimatorError(
                f"f must give one number for a draw of shape {self.family.event}, and gave an array of shape "
                f"{np.shape(found)[1:]}",
                remedy="write f for one draw, and sum its components in f",
            )
        return found

    def log_density(self, x: Any, params: Any) -> Any:
        return self.family.log_density(self.dist(params), x)

    def parameters(self, params: Any) -> dict[str, Any]:
        """The distribution's own parameters."""
        return self.family.parameters(self.dist(params))

    def active(self) -> set[str]:
        """Which of the distribution's own parameters depend on the parameters."""

        def real(params: Any) -> dict[str, Any]:
            return {name: 1.0 * value for name, value in self.parameters(params).items()}

        slopes = jacobian(real)(self.params)
        return {name for name, slope in slopes.items() if any(np.any(leaf != 0) for leaf in tree.leaves(slope))}

    def moves_its_ends(self) -> bool:
        """Whether an end of the support at which the density is not zero depends on the parameters.

        Then ∇∫ f p has a term at that end, which ∫ f ∇p, all that ∇log p knows of, leaves out.
        """
        # Where a component of a mixture ends the density jumps.
        parts: Callable = lambda dist: getattr(dist, "components", dist)
        frozen: Any = parts(self.family.frozen)
        if self.family.joint or self.family.discrete or not hasattr(type(frozen), "support"):
            return False
        for k, end in enumerate(frozen.support()):
            with np.errstate(all="ignore"):
                counts = np.isfinite(end) & (frozen.pdf(end) > _ZERO * frozen.pdf(frozen.median()))
            if not np.any(counts):
                continue
            slopes = jacobian(lambda params, k=k: parts(self.dist(params)).support()[k] + 0.0 * frozen.median())(
                self.params
            )
            for slope in tree.leaves(slopes):
                moves = np.any(np.abs(np.reshape(slope, (np.size(counts), -1))) > _ZERO, axis=1)
                if np.any(moves & np.ravel(counts)):
                    return True
        return False

    def has(self, method: str, *args: Any) -> bool:
        """Whether the distribution has a method with a derivative."""
        if not hasattr(type(self.family.frozen), method):
            return False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # where it is tried the result may be constant
                grad(lambda params: np.sum(getattr(self.dist(params), method)(*args)))(self.params)
        except UnsupportedFunctionError:
            return False
        return True


def _takes_two(f: Callable) -> bool:
    """Whether f wants the parameters beside the draw."""
    try:
        asked = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in asked) == 2


# ---------------------------------------------------------------------------------------------------------- estimators


def _score(problem: Expectation) -> Callable:
    """The baseline of a draw is the mean of f over the others, which are independent of it (Kool et al. 2019)."""
    n = problem.samples
    x = problem.family.draw(n, problem.rng)
    values = problem.values(x, problem.params)
    weights = n / (n - 1) * (values - np.mean(values)) if n > 1 else values

    def surrogate(params: Any) -> Any:
        found = weights * problem.log_density(x, params)
        return found + problem.values(x, params) if problem.takes_parameters else found

    return surrogate


def _reparameterized(problem: Expectation) -> Callable:
    draw = problem.family.name in _TRANSFORMED and _TRANSFORMED[problem.family.name](problem, _by_inverse)
    return _moved(problem, draw or _by_inverse(problem, lambda params: problem.dist(params), problem.family.event))


def _implicit(problem: Expectation) -> Callable:
    made = {**_TRANSFORMED, "vonmises": _von_mises}
    draw = problem.family.name in made and made[problem.family.name](problem, _by_cumulative)
    return _moved(problem, draw or _by_cumulative(problem, lambda params: problem.dist(params), problem.family.event))


def _moved(problem: Expectation, draw: Callable) -> Callable:
    """f of draws that move with the parameters; raise where it jumps on their way."""
    params, some = problem.params, np.random.default_rng(0)
    x, velocities = jvp(draw, (params,), (tree.map(lambda p: some.standard_normal(np.shape(p))[()], params),))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        place = jump_of(lambda x: problem.values(x, params), x, velocities != 0)
    if place is not None:
        raise EstimatorError(
            f"f jumps, near {np.array2string(place, precision=6)}: what a draw gains that moves across is in no "
            "derivative of f",
            remedy='take the estimator "score", or "measure-valued", which need none',
        )
    return lambda params: problem.values(draw(params), params)


def _by_inverse(problem: Expectation, frozen: Callable, event: tuple[int, ...]) -> Callable:
    """Draws as a function of the parameters: the inverse of the cumulative distribution, of uniform numbers."""
    u = np.maximum(problem.rng.random((problem.samples, *event)), 2.0**-54)
    return lambda params: frozen(params).ppf(u)


def _by_cumulative(problem: Expectation, frozen: Callable, event: tuple[int, ...]) -> Callable:
    """Draws whose derivative is that of a quantile: F(x(θ); θ) is constant."""
    fixed = frozen(problem.params)
    x = fixed.rvs(size=(problem.samples, *event), random_state=problem.rng)
    density = fixed.pdf(x)

    def draw(params: Any) -> Any:
        cumulative = frozen(params).cdf(x)
        return x - (cumulative - stop_gradient(cumulative)) / density

    return draw


# Vectors, made of numbers that can be drawn one by one.


def _normal(problem: Expectation, draws: Callable) -> Callable:
    dim = problem.family.frozen.dim
    z = problem.rng.standard_normal((problem.samples, dim))

    def draw(params: Any) -> Any:
        given = problem.parameters(params)
        return _shifted(problem, given["mean"], z @ _factor(given["cov"], dim).T)

    return draw


def _student(problem: Expectation, draws: Callable) -> Callable:
    dim = problem.family.frozen.dim
    z = problem.rng.standard_normal((problem.samples, dim))
    chi2 = draws(problem, lambda params: stats.chi2(problem.parameters(params)["df"]), ())

    def draw(params: Any) -> Any:
        given = problem.parameters(params)
        scaled = z / np.sqrt(chi2(params) / given["df"])[:, None]
        return _shifted(problem, given["loc"], scaled @ _factor(given["shape"], dim).T)

    return draw


def _dirichlet(problem: Expectation, draws: Callable) -> Callable:
    gammas = draws(problem, lambda params: stats.gamma(problem.parameters(params)["alpha"]), problem.family.event)

    def draw(params: Any) -> Any:
        g = gammas(params)
        return g / np.sum(g, axis=1)[:, None]

    return draw


_NODES, _WEIGHTS = (0.5 * (np.polynomial.legendre.leggauss(50)[0] + 1), 0.5 * np.polynomial.legendre.leggauss(50)[1])


def _von_mises(problem: Expectation, draws: Callable) -> Callable:
    """Angles, for an f of period 2π: F(x) − ½ is the integral of the density from 0 to x, by Gauss's rule.

    Beyond 9/√κ it does not grow any more; up to there the integrand is smooth on the scale of the interval.
    """
    given = problem.parameters(problem.params)
    x = problem.family.draw(problem.samples, problem.rng)
    if "loc" in problem.active() or np.any(np.sin(given["loc"] / 2) != 0):  # else nothing passes the cut, at π
        _demand_period(problem, x[:_LOOKS])
    kappa = given["kappa"]
    angle = np.arctan2(np.sin(x - given["loc"]), np.cos(x - given["loc"]))
    end = np.clip(angle, -9 / np.sqrt(np.maximum(kappa, 1.0)), 9 / np.sqrt(np.maximum(kappa, 1.0)))
    cosines = np.cos(end[..., None] * _NODES) - 1

    def cumulative(kappa: Any) -> Any:
        inner = np.sum(_WEIGHTS * np.exp(kappa[..., None] * cosines), axis=-1)
        return end * inner / (2 * np.pi * special.i0e(kappa))

    density = np.exp(kappa * (np.cos(angle) - 1)) / (2 * np.pi * special.i0e(kappa))

    def draw(params: Any) -> Any:
        moved = problem.parameters(params)
        below = cumulative(moved["kappa"])
        return x + (moved["loc"] - stop_gradient(moved["loc"])) - (below - stop_gradient(below)) / density

    return draw


def _demand_period(problem: Expectation, x: np.ndarray) -> None:
    """Raise where f is not the same after a turn: it jumps where the circle is cut open then."""
    with np.errstate(all="ignore"):
        here, after_a_turn = (np.asarray(problem.values(at, problem.params), float) for at in (x, x + 2 * np.pi))
    if not np.allclose(here, after_a_turn, rtol=1e-6, atol=1e-9 * np.max(np.abs(here), initial=1.0)):
        raise EstimatorError(
            'the estimator "implicit" needs an f of period 2π for vonmises: this one jumps where the circle is cut '
            "open, which the derivative of f does not show",
            remedy='write f with sines and cosines of the angle, or take the estimator "score"',
        )


def _shifted(problem: Expectation, loc: Any, scaled: Any) -> Any:
    return loc + (scaled if problem.family.event else scaled[:, 0])


def _factor(covariance: Any, dim: int) -> Any:
    """The Cholesky factor of what SciPy takes for a covariance: a number, variances or a matrix."""
    if np.ndim(covariance) == 2:
        return np.linalg.cholesky(covariance)
    return np.sqrt(covariance) * np.eye(dim)


_TRANSFORMED = {"multivariate_normal": _normal, "multivariate_t": _student, "dirichlet": _dirichlet}


def _straight_through(problem: Expectation) -> Callable:
    x = problem.family.draw(problem.samples, problem.rng).astype(float)

    def surrogate(params: Any) -> Any:
        mean = problem.dist(params).mean()
        return problem.values(x + (mean - stop_gradient(mean)), params)

    return surrogate


# ------------------------------------------------------------------------------------------------------------- the door


def _continuous_with(method: str, *args: Any) -> Callable[[Expectation], bool]:
    def fits(problem: Expectation) -> bool:
        if problem.family.name in _TRANSFORMED:
            return True
        return not problem.family.discrete and problem.has(method, *args)

    return fits


def _has_no_scale(problem: Expectation) -> bool:
    """Of angles: stretched, they are no angles any more."""
    return bool(np.all(problem.parameters(problem.params)["scale"] == 1)) and "scale" not in problem.active()


_ESTIMATORS: dict[str, tuple[Callable[[Expectation], Callable], Callable[[Expectation], bool], str]] = {
    "score": (
        _score,
        lambda problem: not problem.moves_its_ends(),
        "an end of its support, where the density is not zero, depends on the parameters, and what happens at that end "
        "is not in the derivative of the log-density",
    ),
    "reparameterization": (
        _reparameterized,
        _continuous_with("ppf", 0.5),
        "a draw must be a differentiable function of the parameters: a continuous distribution with an inverse "
        "cumulative distribution function",
    ),
    "implicit": (
        _implicit,
        lambda problem: (
            (problem.family.name == "vonmises" and _has_no_scale(problem)) or _continuous_with("cdf", 0.5)(problem)
        ),
        "a draw must move smoothly with the parameters: a continuous distribution with a differentiable cdf",
    ),
    "gumbel-softmax": (relaxations.softened, lambda problem: bool(problem.family.relaxes), relaxations.NEEDS),
    "straight-through": (
        _straight_through,
        lambda problem: problem.family.discrete and (problem.family.joint or problem.has("mean")),
        "it is meant for discrete distributions",
    ),
    "rebar": (relaxations.rebar, lambda problem: bool(problem.family.relaxes), relaxations.NEEDS),
    "relax": (relaxations.relax, lambda problem: bool(problem.family.relaxes), relaxations.NEEDS),
    "measure-valued": (
        weak_derivatives.measure_valued,
        weak_derivatives.fits,
        "no decomposition of its derivative into two distributions is known here",
    ),
}


@told
def expectation_grad(
    f: Callable,
    dist: Callable,
    params: Any,
    *,
    estimator: str,
    samples: int = 1000,
    seed: Any = 0,
    per_sample: bool = False,
    temperature: float = 0.5,
) -> Any:
    """An estimate of the gradient of E[f(x)] with respect to `params`, where x is drawn from `dist(params)`.

    Args:
        f: a function of one draw that returns a number; or of one draw and the parameters, whose own derivative is
            then part of the result.
        dist: a function of the parameters that returns a frozen SciPy distribution (or `infer.mixture`). One of several
            numbers, such as `stats.norm(means, 1.0)`, has independent ones, and `f` gets them all.
        params: a container of real numbers and arrays.
        estimator: "score" (any f, and any distribution whose support does not depend on the parameters; the baseline is
            the mean of f over the other draws),
            "reparameterization" (by the inverse cumulative distribution), "implicit" (by the cumulative distribution
            itself), "measure-valued" (differences of f at two draws), "rebar" and "relax" (0/1 and one-hot draws), all
            of them unbiased; "gumbel-softmax" and "straight-through" are biased.
        samples: how many draws.
        per_sample: return the estimates from single draws, with the draws along a leading axis of each leaf.
        temperature: of the relaxed draws in "gumbel-softmax", "rebar" and "relax".

    Returns the gradient in the container of `params`. An estimator that does not fit the distribution is an
    `EstimatorError` that names those that do. "reparameterization" and "implicit" differentiate `f`: one that jumps
    between draws is an error (on the circle, for `stats.vonmises`, one that has not the period 2π).

    >>> from scipy import special, stats
    >>> from wengert import infer
    >>> infer.expectation_grad(lambda x: x**2, lambda m: stats.norm(m, 1.0), 3.0,
    ...                        estimator="reparameterization", samples=4000).round(1)
    np.float64(6.0)
    """
    if estimator not in _ESTIMATORS:
        raise ValueError(f"estimator is one of {', '.join(_ESTIMATORS)}, not {estimator!r}")
    if samples < 1:
        raise ValueError(f"samples must be at least 1, not {samples}")
    problem = Expectation(f, dist, params, int(samples), seed, temperature)
    make, fits, reason = _ESTIMATORS[estimator]
    if not fits(problem):
        others = [name for name, (_, suits, _) in _ESTIMATORS.items() if suits(problem)]
        raise EstimatorError(
            f'the estimator "{estimator}" does not work for {problem.family.name}: {reason}',
            remedy="estimators that do: " + ", ".join(f'"{name}"' for name in others)
            if others
            else "no estimator does; write the draw as a function of standard ones, and take their distribution",
        )
    surrogate = make(problem)
    if per_sample:
        return jacobian(surrogate)(params)
    return grad(lambda params: np.mean(surrogate(params)))(params)
