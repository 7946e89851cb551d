"""ADBench: the logarithm of a sum of exponentials."""

import numpy as np

SIZES = (8_000, 80_000, 800_000)


def title(n):
    """Name the case in tables."""
    return f"logsumexp, n = {n}"


def inputs(n):
    """Return the exponents."""
    return (np.random.default_rng(n).normal(size=n),)


def objective(x):
    """Return the logarithm of the sum of exponentials."""
    highest = np.max(x)
    return np.log(np.sum(np.exp(x - highest))) + highest
