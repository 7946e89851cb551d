"""The Gaussian mixture for autograd, which has no in-place writes: L is gathered and masked instead."""

import autograd.numpy as np
from scipy.special import multigammaln

NOTE = "the triangular matrices by a gather and a mask"


def logsumexp(x):
    """Return the logarithm of the sum of exponentials along the last axis."""
    highest = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - highest), axis=-1)) + highest[..., 0]


def objective(parameters, points, gamma, m):
    """Return the logarithm of the posterior."""
    weights, means, factors = parameters
    n, d = points.shape
    k = len(weights)
    logs = factors[:, :d]
    columns, rows = np.triu_indices(d, 1)
    places, mask = np.zeros((d, d), int), np.zeros((d, d))
    places[rows, columns], mask[rows, columns] = d + np.arange(len(rows)), 1.0
    L = factors[:, places] * mask + np.exp(logs)[:, :, None] * np.eye(d)
    scaled = np.einsum("kij,nkj->nki", L, points[:, None] - means)
    inner = weights + np.sum(logs, axis=1) - 0.5 * np.sum(scaled**2, axis=2)
    degrees = d + m + 1
    constant = degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - multigammaln(0.5 * degrees, d)
    prior = 0.5 * gamma**2 * np.sum(L**2) - m * np.sum(logs) - k * constant
    return np.sum(logsumexp(inner)) - n * logsumexp(weights) - 0.5 * n * d * np.log(2 * np.pi) + prior
