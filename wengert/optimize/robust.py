"""The losses that `least_squares` knows by name, and those of users.

A user's loss is a function ρ(z) of the squares of residuals, scaled; its derivatives are taken here. Or it returns ρ,
ρ′ and ρ″ as the rows of an array, as SciPy wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms import losses
from wengert.api.products import jvp
from wengert.solvers.fitting import followed

NAMED: dict[str, Callable[[Any], Any]] = {
    "huber": losses.huber,
    "soft_l1": losses.soft_l1,
    "cauchy": losses.cauchy,
    "arctan": losses.arctan,
    "tukey": losses.tukey,
}


def loss_of(given: Any) -> Callable[[Any], Any] | None:
    """ρ, ρ′ and ρ″ of z for what the user said; `None` for plain least squares."""
    if given is None or (isinstance(given, str) and given == "linear"):
        return None
    if isinstance(given, str):
        if given not in NAMED:
            raise ValueError(f"loss is linear, {', '.join(NAMED)}, or a function of z, not {given!r}")
        return NAMED[given]
    if not callable(given):
        raise ValueError(f"loss is a name or a function of z, not {given!r}")

    def values(z: Any) -> Any:
        found = followed(given)(z)
        if np.shape(found) == (3, *np.shape(z)):
            return found[0], found[1], found[2]
        ones = np.ones(np.shape(z))
        slope = lambda z: jvp(given, (z,), (ones,))[1]
        return (found, *jvp(slope, (z,), (ones,)))

    return values


def scaled(loss: Callable[[Any], Any] | None, f: Any, scale: Any) -> tuple[Any, Any, Any]:
    """The cost, the residuals of an equivalent least-squares problem, and by what rows of the Jacobian are
    multiplied."""
    if loss is None:
        return np.sum(f * f) / 2, f, None
    z = (f / scale) ** 2
    values = loss(z)
    of_residuals, of_rows = losses.weights(values, z)
    return np.sum(values[0] * scale**2) / 2, f * of_residuals, of_rows
