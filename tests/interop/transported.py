"""Functions that tests send to other processes."""

from __future__ import annotations

import numpy as np

import wengert as wg


@wg.jit
def decorated(x):
    """A compiled function whose name means the compiled one."""
    return np.sum(np.sin(x) ** 2)


def filled(x):
    """A function that writes in place."""
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return np.sum(out)


wrapped = wg.jit(filled)
