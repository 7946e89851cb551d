"""An approximate posterior: draws, means and standard deviations, and how far to trust it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from wengert import tree
from wengert.api.vmap import vmap
from wengert.infer.pareto import tail_shape
from wengert.infer.posterior import Posterior

_POINTS = 4096
"""How many points means and standard deviations are computed from."""
_BLOCKS, _DRAWS = 5, 1000
"""The bound is computed from so many blocks of so many draws; k̂ is the median of theirs. One k̂ of all of them would
look further out, where weights that are nearly alike in the bulk have tails of any shape."""


class Approximation:
    """An approximate posterior, as `advi`, `laplace` and `pathfinder` return it.

    `mean` and `sd` are containers in the form of a point (for a model a dict of sites and records), `sample(n)` draws.
    `khat` says how well importance weights can correct the approximation: below 0.5 it is close, above 0.7 it is not to
    be trusted. `elbo` is the evidence lower bound, `elbo_error` its standard error; `converged` whether the search for
    the best approximation has ended by its own criterion, and `message` what happened.
    """

    def __init__(
        self,
        posterior: Posterior,
        push: Callable,
        moments: tuple[np.ndarray, np.ndarray] | None,
        *,
        converged: bool = True,
        message: str = "",
        history: dict[str, np.ndarray] | None = None,
    ):
        self.posterior, self.converged, self.message = posterior, converged, message
        self.history = {} if history is None else history
        self.moments = moments
        """Mean and factor of the covariance of the unconstrained numbers, where they are normal."""
        self._push = push

    def unconstrained(self, eps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points for rows of standard normal numbers, and log q there."""
        u, log_jacobian = self._push(eps)
        normal = -0.5 * np.sum(eps * eps, axis=1) - 0.5 * eps.shape[1] * np.log(2 * np.pi)
        return u, normal - log_jacobian

    def log_ratios(self, samples: int, seed: Any = 1) -> tuple[np.ndarray, np.ndarray]:
        """Unconstrained draws, and log p − log q there; a density that is NaN or raises counts as zero."""
        rng = np.random.default_rng(seed)
        u, log_q = self.unconstrained(rng.standard_normal((samples, self.posterior.size)))
        return u, self.posterior.log_densities(u) - log_q

    @functools.cached_property
    def _ratios(self) -> np.ndarray:
        return self.log_ratios(_BLOCKS * _DRAWS)[1]

    @property
    def khat(self) -> float:
        """Pareto's k̂ of the importance weights."""
        return float(np.median([tail_shape(block) for block in np.split(self._ratios, _BLOCKS)]))

    @property
    def elbo(self) -> float:
        """E[log p − log q], a lower bound of the logarithm of the evidence."""
        return float(np.mean(self._ratios))

    @property
    def elbo_error(self) -> float:
        """The standard error of `elbo`, which is a mean over draws."""
        return float(np.std(self._ratios) / np.sqrt(_BLOCKS * _DRAWS))

    def importance_bound(self, k: int, samples: int = 1000, seed: Any = 2) -> float:
        """The importance-weighted bound E[log (1/k) Σ p/q] (Burda et al. 2016); it rises with k, to the evidence.

        >>> import numpy as np
        >>> from wengert import infer
        >>> fit = infer.laplace(lambda x: -np.sum(np.cosh(x)), init=np.zeros(1))
        >>> fit.elbo < fit.importance_bound(100)
        True
        """
        ratios = self.log_ratios(samples * k, seed)[1].reshape(samples, k)
        return float(np.mean(special.logsumexp(ratios, axis=1) - np.log(k)))

    def sample(self, n: int, seed: Any = 0) -> Any:
        """Independent draws, in the container of a point, along a leading axis."""
        rng = np.random.default_rng(seed)
        return self._constrained(self.unconstrained(rng.standard_normal((n, self.posterior.size)))[0])

    def resample(self, n: int, seed: Any = 0) -> Any:
        """Draws chosen by their importance weights, from 20 times as many (at least 4096): closer to the posterior."""
        rng = np.random.default_rng(seed)
        u, ratios = self.log_ratios(max(20 * n, _POINTS), rng)
        weights = np.exp(ratios - np.max(ratios))
        return self._constrained(u[rng.choice(len(u), n, p=weights / np.sum(weights))])

    def _constrained(self, u: np.ndarray) -> Any:
        return vmap(self.posterior.values_at)(u)

    @functools.cached_property
    def _points(self) -> Any:
        """Points for moments. Normal ones are shifted and mixed such that theirs are exact: so are those of sites
        without a transform, and of linear functions of them."""
        dim = self.posterior.size
        sobol = stats.qmc.Sobol(dim, seed=0) if dim <= stats.qmc.Sobol.MAXDIM else None
        if self.moments is None or sobol is None or dim > _POINTS // 4:
            return self.sample(_POINTS, seed=3)
        eps = special.ndtri(np.clip(sobol.random(_POINTS), 1e-12, 1 - 1e-12))
        eps = eps - eps.mean(0)
        eps = np.linalg.solve(np.linalg.cholesky(eps.T @ eps / _POINTS), eps.T).T
        return self._constrained(self.moments[0] + eps @ self.moments[1].T)

    @property
    def mean(self) -> Any:
        """The mean, in the container of a point."""
        return tree.map(lambda x: np.mean(x, axis=0), self._points)

    @property
    def sd(self) -> Any:
        """The standard deviation, in the container of a point."""
        return tree.map(lambda x: np.std(x, axis=0), self._points)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"<{state} approximation: elbo {self.elbo:.4g}, khat {self.khat:.2f}>"
