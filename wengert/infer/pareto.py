"""How heavy the tail of importance weights is: Pareto's shape parameter k̂ (Vehtari et al. 2024)."""

from __future__ import annotations

import numpy as np


def tail_shape(log_weights: np.ndarray) -> float:
    """k̂ of importance weights, given their logarithms: up to 0.7 averages with these weights can be trusted.

    0 where the largest weights are all alike; ∞ where one of them is not a number.

    >>> float(tail_shape(np.zeros(1000)))
    0.0
    """
    log_weights = np.asarray(log_weights, float)
    n = log_weights.size
    if n < 25 or np.any(np.isnan(log_weights)) or np.any(log_weights == np.inf):
        return np.inf
    largest = int(np.ceil(min(0.2 * n, 3 * np.sqrt(n))))
    ordered = np.sort(log_weights)
    with np.errstate(under="ignore"):
        tail = np.exp(ordered[-largest:] - ordered[-1]) - np.exp(ordered[-largest - 1] - ordered[-1])
    if tail[-1] <= 1e-8:
        return 0.0
    return _pareto_shape(np.maximum(tail, np.finfo(float).tiny))


def _pareto_shape(x: np.ndarray) -> float:
    """The shape of a generalised Pareto distribution, of increasing numbers (Zhang, Stephens 2009), drawn towards ½."""
    n = x.size
    candidates = 30 + int(np.sqrt(n))
    quartile = x[int(n / 4 + 0.5) - 1]
    b = 1 / x[-1] + (1 - np.sqrt(candidates / (np.arange(1, candidates + 1) - 0.5))) / (3 * quartile)
    k = np.mean(np.log1p(-b[:, None] * x), axis=1)
    likelihood = n * (np.log(-b / k) - k - 1)
    weights = 1 / np.sum(np.exp(np.clip(likelihood - likelihood[:, None], -700, 700)), axis=1)
    chosen = np.sum(b * weights) / np.sum(weights)
    found = np.mean(np.log1p(-chosen * x))
    return float((n * found + 5) / (n + 10))
