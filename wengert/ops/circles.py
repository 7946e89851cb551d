"""High derivatives of analytic functions, by Cauchy's integral over circles.

    f⁽ⁿ⁾(x) = n!/rⁿ · mean over θ of f(x + r·exp(iθ))·exp(−inθ)

The trapezoidal rule converges geometrically. What rounding does is that of the largest value on the circle, over rⁿ,
and the least of these over all radii bounds the derivative itself (Cauchy; Lyness and Moler 1967; Bornemann 2011): with
the best of a few radii hardly anything is lost, where recurrences and differences lose more with every order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_POINTS, _CHUNK = 192, 64
"""Points on half a circle (functions are real on the real axis), and how many circles at once."""

RADII = 0.25 * 2.0 ** (np.arange(13) / 2)
"""Of circles around points of functions that have no singularities: 16 is enough for all orders up to thirty of those
that grow as exp(2z) or quicker."""
WITHIN = np.array([0.4, 0.85])
"""Of circles around points at a distance of one from the nearest singularity."""


def on_circles(f: Callable, x: np.ndarray, n: int, radii: np.ndarray) -> np.ndarray:
    """The n-th derivative of `f(z, part)` at the numbers x, of which z surrounds those in `part`. Radii are for all, or
    along a second axis, for each of them."""
    count = _POINTS + n  # higher ones than the n-th must not look like it
    angles = math.pi * (np.arange(count) + 0.5) / count
    turn, weights = np.exp(1j * angles)[:, None], np.exp(-1j * n * angles)[:, None] / count
    found = np.full(x.shape, math.nan)
    radii = np.broadcast_to(radii.reshape(len(radii), -1), (len(radii), x.size))
    for start in range(0, x.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        best = np.full(x[part].size, math.inf)
        for r in radii[:, part]:
            with np.errstate(all="ignore"):
                values = f(x[part] + r * turn, part)
                size = np.max(np.abs(values), axis=0) / r**n
                better = size < best  # not where there is NaN
                total = np.sum((values * weights).real, axis=0) / r**n
            found[part] = np.where(better, total, found[part])
            best = np.where(better, size, best)
    return found * float(math.factorial(n))
