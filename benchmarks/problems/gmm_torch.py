"""The Gaussian mixture in PyTorch, with its own `logsumexp`."""

import numpy as np
import torch
from scipy.special import multigammaln


def objective(parameters, points, gamma, m):
    """Return the logarithm of the posterior."""
    weights, means, factors = parameters
    n, d = points.shape
    k = len(weights)
    logs, below = factors[:, :d], factors[:, d:]
    columns, rows = np.triu_indices(d, 1)
    L = torch.zeros((k, d, d), dtype=torch.float64)
    L[:, rows, columns] = below
    L[:, np.arange(d), np.arange(d)] = torch.exp(logs)
    scaled = torch.einsum("kij,nkj->nki", L, points[:, None] - means)
    inner = weights + torch.sum(logs, 1) - 0.5 * torch.sum(scaled**2, 2)
    degrees = d + m + 1
    constant = degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - multigammaln(0.5 * degrees, d)
    prior = 0.5 * gamma**2 * torch.sum(L**2) - m * torch.sum(logs) - k * constant
    normal = torch.sum(torch.logsumexp(inner, 1)) - n * torch.logsumexp(weights, 0)
    return normal - 0.5 * n * d * np.log(2 * np.pi) + prior
