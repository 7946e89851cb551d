"""ADBench: the log-posterior of a Gaussian mixture with a Wishart prior, and its gradient.

A component's inverse covariance is LᵀL, with L lower triangular: the logarithms of its diagonal are given, then what is
below it, column by column.
"""

import adbench
import numpy as np
from scipy.special import multigammaln

SIZES = ("d2_K5", "d2_K200", "d10_K25", "d10_K100", "d32_K10", "d64_K5", "d64_K25")
POINTS = 1000
STATIC = (2, 3)


def title(n):
    """Name the case in tables."""
    return f"GMM, {n.replace('_', ' ')}"


def inputs(n):
    """Return (weights, means, factors), the points, and gamma and m of the prior."""
    d, k = (int(part[1:]) for part in n.split("_"))
    shapes = (k,), (k, d), (k, d * (d + 1) // 2), (POINTS, d), (2,)
    given = adbench.numbers(f"gmm/gmm_{n}.txt")
    if given is None:
        random = np.random.default_rng(d * k)
        given = np.concatenate([[d, k, POINTS], random.normal(size=sum(map(np.prod, shapes)) - 2), [1.0, 0.0]])
    weights, means, factors, points, (gamma, m) = adbench.taken(given[3:], *shapes)
    return (weights, means, factors), points, float(gamma), int(m)


def golden(n):
    """Return the suite's value and gradient, if they are known."""
    found = adbench.golden(f"gmm_1k_{n}")
    return None if found is None else (found["F"], found["J"])


def logsumexp(x):
    """Return the logarithm of the sum of exponentials along the last axis."""
    highest = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - highest), axis=-1)) + highest[..., 0]


def objective(parameters, points, gamma, m):
    """Return the logarithm of the posterior."""
    weights, means, factors = parameters
    n, d = points.shape
    k = len(weights)
    logs, below = factors[:, :d], factors[:, d:]
    columns, rows = np.triu_indices(d, 1)
    L = np.zeros((k, d, d), factors.dtype)
    L[:, rows, columns] = below
    L[:, np.arange(d), np.arange(d)] = np.exp(logs)
    scaled = np.einsum("kij,nkj->nki", L, points[:, None] - means)
    inner = weights + np.sum(logs, axis=1) - 0.5 * np.sum(scaled**2, axis=2)
    degrees = d + m + 1
    constant = degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - multigammaln(0.5 * degrees, d)
    prior = 0.5 * gamma**2 * np.sum(L**2) - m * np.sum(logs) - k * constant
    return np.sum(logsumexp(inner)) - n * logsumexp(weights) - 0.5 * n * d * np.log(2 * np.pi) + prior
