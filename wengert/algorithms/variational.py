"""Stochastic ascent for variational bounds: Adam (Kingma, Ba 2015), with the path of the iterates."""

from __future__ import annotations

import numpy as np


def adam_ascent(bound_and_gradient, phi, moments, count, rate, noise):
    """As many steps of Adam as there are rows of `noise`; `bound_and_gradient(phi, noise[k])` is a random estimate.

    Returns the last iterate, the running means (of the gradient and of its square), the number of steps, the iterates,
    and the estimates of the bound. A step whose gradient is not finite is left out, and its bound is NaN.
    """
    steps = noise.shape[0]
    path = np.empty((steps, phi.shape[0]))
    bounds = np.empty(steps)
    mean = moments[0]
    square = moments[1]
    for k in range(steps):
        bound, gradient = bound_and_gradient(phi, noise[k])
        usable = np.all(np.isfinite(gradient)) and np.isfinite(bound)
        if usable:
            count = count + 1.0
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.99 * square + 0.01 * gradient * gradient
            phi = phi + rate * (mean / (1 - 0.9**count)) / (np.sqrt(square / (1 - 0.99**count)) + 1e-8)
            bounds[k] = bound
        else:
            bounds[k] = np.nan
        path[k] = phi
    return phi, np.stack([mean, square]), count, path, bounds
