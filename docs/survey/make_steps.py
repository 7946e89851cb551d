"""Figure 3 of the survey: the error of difference quotients against the step, a valley between two evils."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from drawing import curves
from functions import logistic_map
from make_ways import X0, exact
from writing import markdown, run

import wengert as wg


def errors(steps: np.ndarray) -> dict[str, np.ndarray]:
    """Absolute errors, as the survey plots them, and those of two ways that it mentions."""
    f, truth = logistic_map, float(exact())
    quotients = {
        "forward": (f(X0 + steps) - f(X0)) / steps,
        "center": (f(X0 + steps) - f(X0 - steps)) / (2 * steps),
        "complex step": np.imag(f(X0 + 1j * steps)) / steps,
    }
    found = {name: np.abs(q - truth) for name, q in quotients.items()}
    found["AD, reverse"] = np.full(len(steps), abs(float(wg.grad(f)(X0)) - truth))
    return found


def make(out: Path, quick: bool = False) -> None:
    """Write figure-3.svg and figure-3.md."""
    steps = np.logspace(-17, -1, 65 if quick else 193)
    found = errors(steps)
    visible = {name: np.maximum(e, 1e-16) for name, e in found.items()}
    title = "Error of difference quotients against step size"
    svg = curves(list(steps), {k: list(v) for k, v in visible.items()}, "step size h", "absolute error", title)
    (out / "figure-3.svg").write_text(svg, encoding="utf-8")
    rows = []
    for name, e in found.items():
        k = int(np.argmin(e))
        best = {"AD, reverse": "none to choose", "complex step": "any below 1e-08"}.get(name, f"{steps[k]:.0e}")
        rows.append([name, best, f"{e[k]:.0e}"])
    head = ["formula", "best step", "error there"]
    (out / "figure-3.md").write_text(markdown(head, rows, right=(1, 2)), encoding="utf-8")


if __name__ == "__main__":
    run(make, __doc__)
