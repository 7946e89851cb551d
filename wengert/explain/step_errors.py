"""The error of difference quotients against their step: truncation at large steps, rounding at small ones.

Figure 3 of the survey (Baydin et al. 2018): forward and center differences at steps from 1e-17 to 1e-1. The errors are
those against a derivative known to many digits, and of a gradient the largest of its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.explain import tables
from wengert.explain.pictures import Picture, curves


@dataclass(frozen=True)
class StepErrors:
    """Errors of forward and center differences at each of the `steps`; `svg` is the picture."""

    steps: np.ndarray
    forward: np.ndarray
    center: np.ndarray

    @property
    def best(self) -> dict[str, tuple[float, float]]:
        """For each formula the step with the smallest error, and that error."""
        found = {}
        for name, errors in (("forward", self.forward), ("center", self.center)):
            k = int(np.nanargmin(errors))
            found[name] = (float(self.steps[k]), float(errors[k]))
        return found

    @property
    def svg(self) -> Picture:
        """Error against step size, both logarithmic."""
        series: dict[str, Sequence[float]] = {"forward": list(self.forward), "center": list(self.center)}
        return curves(list(self.steps), series, "step size h", "error")

    def __str__(self) -> str:
        rows = [
            [f"{h:.0e}", f"{a:.1e}", f"{b:.1e}"] for h, a, b in zip(self.steps, self.forward, self.center, strict=True)
        ]
        return tables.as_text(["h", "forward", "center"], rows)

    def _repr_html_(self) -> str:
        return str(self.svg)


def step_errors(f: Callable[[np.ndarray], float], x: np.ndarray, exact: Callable[[np.ndarray], Any],
                steps: Sequence[float] | None = None) -> StepErrors:  # fmt: skip
    """Errors of both formulas for a function of a flat vector; `exact(d)` is the error of a gradient `d`."""
    hs = np.logspace(-17, -1, 65) if steps is None else np.asarray(steps, float)
    value = f(x)
    forward, center = [], []
    for h in hs:
        quotients = np.empty((2, x.size))
        for i in range(x.size):
            up, down = x.copy(), x.copy()
            up[i] += h
            down[i] -= h
            above, below = f(up), f(down)
            quotients[0, i] = (above - value) / h
            quotients[1, i] = (above - below) / (2 * h)
        forward.append(exact(quotients[0]))
        center.append(exact(quotients[1]))
    return StepErrors(hs, np.array(forward), np.array(center))
