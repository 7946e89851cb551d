"""The filling loop for autograd, which has no in-place writes: a list, made an array at the end."""

import autograd.numpy as np

NOTE = "a list, and `np.array` of it"


def objective(x):
    """Return the energy of a leaky integrator's states."""
    out = [x[0]]
    for i in range(1, len(x)):
        out.append(0.9 * out[-1] + np.tanh(x[i]))
    return np.sum(np.array(out) ** 2)
