"""The LKJ distribution of correlation matrices, which SciPy does not have (Lewandowski, Kurowicka and Joe 2009).

The density of a correlation matrix R is proportional to det(R)^(η − 1): η = 1 is uniform, larger values prefer small
correlations. Partial correlations along a vine are independent, each of them a beta distribution on (−1, 1): that gives
the constant, and draws.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betaln


class LkjDistribution:
    """What `lkj` and `lkj_cholesky` return: a frozen distribution with `logpdf` and `rvs`."""

    def __init__(self, dim: int, eta: Any, factors: bool):
        self.dim, self.eta, self.factors = dim, eta, factors
        self.name = "lkj_cholesky" if factors else "lkj"

    def _log_constant(self) -> Any:
        """log ∫ det(R)^(η − 1) dR: those of partial correlations, n − k of them given k − 1 others, k = 1 … n − 1."""
        k = np.arange(1, self.dim)
        beta = self.eta + 0.5 * (self.dim - 1 - k)
        return np.sum((self.dim - k) * ((2 * beta - 1) * math.log(2) + betaln(beta, beta)))

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density, one number for each matrix along axes in front.

        Correlation matrices and factors are measured by their numbers below the diagonal.
        """
        if self.factors:
            logs = np.log(np.diagonal(x, axis1=-2, axis2=-1))
            powers = np.arange(self.dim - 1, -1, -1) + 2 * (self.eta - 1)
            return np.sum(powers * logs, axis=-1) - self._log_constant()
        return (self.eta - 1) * np.linalg.slogdet(x)[1] - self._log_constant()

    def rvs(self, size: Any = (), random_state: Any = None) -> np.ndarray:
        """Draws."""
        rng = np.random.default_rng(random_state)
        n = self.dim
        size = () if size is None else (int(size),) if np.ndim(size) == 0 else tuple(size)
        factor = np.zeros((*size, n, n))
        rest = np.ones((*size, n))
        for j in range(n):
            beta = self.eta + 0.5 * (n - 2 - j)
            for i in range(j + 1, n):
                z = 2 * rng.beta(beta, beta, size=size) - 1
                factor[..., i, j] = z * rest[..., i]
                rest[..., i] *= np.sqrt(1 - z * z)
            factor[..., j, j] = rest[..., j]
        return factor if self.factors else factor @ np.swapaxes(factor, -1, -2)


def lkj_cholesky(dim: int, eta: Any = 1.0) -> LkjDistribution:
    """The Cholesky factor of a correlation matrix with the LKJ distribution.

    Args:
        dim: the number of rows.
        eta: 1 is uniform over correlation matrices; larger values prefer small correlations.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from wengert import infer
    >>> def model(y):
    ...     L = infer.sample("L", infer.lkj_cholesky(2, 2.0))
    ...     scales = infer.sample("scales", stats.halfnorm(0, 1), shape=2)
    ...     D = scales[:, None] * L
    ...     infer.observe(y, stats.multivariate_normal(np.zeros(2), D @ D.T))
    >>> infer.posterior(model, np.eye(2)).size
    3
    """
    return LkjDistribution(int(dim), eta, True)


def lkj(dim: int, eta: Any = 1.0) -> LkjDistribution:
    """A correlation matrix with the LKJ distribution; arguments as `infer.lkj_cholesky`, which is better to sample.

    >>> from wengert import infer
    >>> infer.lkj(2, 1.0).logpdf([[1.0, 0.3], [0.3, 1.0]]).round(6)  # uniform between −1 and 1
    np.float64(-0.693147)
    """
    return LkjDistribution(int(dim), eta, False)
