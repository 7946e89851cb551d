"""The Gaussian mixture for JAX: `.at[…].set` in place of writes, and its own `logsumexp`."""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from scipy.special import multigammaln

NOTE = "`.at[…].set` in place of writes"


def objective(parameters, points, gamma, m):
    """Return the logarithm of the posterior."""
    weights, means, factors = parameters
    n, d = points.shape
    k = len(weights)
    logs, below = factors[:, :d], factors[:, d:]
    columns, rows = np.triu_indices(d, 1)
    L = jnp.zeros((k, d, d)).at[:, rows, columns].set(below)
    L = L.at[:, np.arange(d), np.arange(d)].set(jnp.exp(logs))
    scaled = jnp.einsum("kij,nkj->nki", L, points[:, None] - means)
    inner = weights + jnp.sum(logs, axis=1) - 0.5 * jnp.sum(scaled**2, axis=2)
    degrees = d + m + 1
    constant = degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - multigammaln(0.5 * degrees, d)
    prior = 0.5 * gamma**2 * jnp.sum(L**2) - m * jnp.sum(logs) - k * constant
    return jnp.sum(logsumexp(inner, axis=1)) - n * logsumexp(weights) - 0.5 * n * d * np.log(2 * np.pi) + prior
