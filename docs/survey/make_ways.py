"""Figure 2 of the survey: one program, and every way to its derivative, with the code that each way really gives.

The program is the fourth iterate of the logistic map. Symbolic code is SymPy's, the code of both modes is what
`wg.source` writes; the numbers are computed at x₀ = 0.2, where the derivative is 9.0660864 exactly.
"""

from __future__ import annotations

import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np
from drawing import QUIET, Block, arrow, block, picture, text
from functions import logistic_map
from writing import markdown, run

import wengert as wg

X0 = 0.2
PROGRAM = ["def f(x):", "    v = x", "    for _ in range(3):", "        v = 4 * v * (1 - v)", "    return v"]
QUOTIENT = ["def derivative(x):", "    h = 1e-6", "    return (f(x + h) - f(x)) / h"]
COEFFICIENTS = (1, -42, 504, -2640, 7040, -9984, 7168, -2048)  # of f′/64, from table 1


def exact(x: Fraction = Fraction(1, 5)) -> Fraction:
    """The derivative as a fraction, from the simplified polynomial."""
    return 64 * sum((c * x**k for k, c in enumerate(COEFFICIENTS)), Fraction(0))


def by_hand(x):
    """The chain rule on paper: each step multiplies by 4 (1 − 2v)."""
    v, slope = x, 1.0
    for _ in range(3):
        v, slope = 4 * v * (1 - v), 4 * (1 - 2 * v) * slope
    return slope


def by_difference(x, h=1e-6):
    """The quotient, with the survey's step."""
    return (logistic_map(x + h) - logistic_map(x)) / h


def values() -> dict[str, float]:
    """The derivative at x₀ by every way."""
    return {
        "by hand": by_hand(X0),
        "symbolic (SymPy)": float(wg.symbolic(logistic_map, X0).gradient(X0)),
        "numerical, h = 10⁻⁶": by_difference(X0),
        "numerical, complex step": float(wg.numerical.grad(logistic_map, method="complex-step")(X0)),
        "automatic, forward": float(wg.jvp(logistic_map, (X0,), (1.0,))[1]),
        "automatic, reverse": float(wg.grad(logistic_map)(X0)),
        "automatic, compiled": float(wg.jit(wg.grad(logistic_map))(X0)),
    }


def code_of(f, *args) -> list[str]:
    """The body of what `wg.source` writes, without import, docstring and remarks."""
    lines = wg.source(f, *args).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("def "))
    kept = [line.partition("  #")[0].rstrip() for line in lines[start:] if '"""' not in line]
    return [line.replace("np.float64(1.0)", "1.0") for line in kept if line.strip()]


def make(out: Path, quick: bool = False) -> None:
    """Write figure-2.svg and figure-2.md."""
    found = values()
    truth = float(exact())
    write_table(out, found, truth)
    symbolic = str(wg.symbolic(logistic_map, X0).derivative)
    width, gap, wide = 400.0, 120.0, 2 * 400.0 + 120.0 + 40
    edge, other = 20 + width, 20 + width + gap
    shown = lambda name: f"f′(0.2) = {found[name]:.10f}"
    mathematics = Block("The mathematics", ["l₁ = x", "lₙ₊₁ = 4 lₙ (1 − lₙ)", "f(x) = l₄"])
    hand = ["l′₁ = 1", "l′ₙ₊₁ = 4 (1 − 2 lₙ) l′ₙ", "f′(x) = l′₄"]
    rows = [
        (mathematics, Block("By hand", hand, shown("by hand") + "  exact", True)),
        (Block("The program", PROGRAM), Block("Symbolic: an expression", textwrap.wrap(symbolic, 52),
                                              shown("symbolic (SymPy)") + "  exact", True)),
    ]  # fmt: skip
    parts: list[str] = []
    y, spans = 20.0, []
    for a, b in rows:
        height = max(a.height, b.height)
        parts += block(a, 20, y, width, height) + block(b, other, y, width, height)
        spans.append((y, y + height))
        y += height + 54
    numerical = Block("Numerical: a quotient", QUOTIENT, shown("numerical, h = 10⁻⁶") + "  approximate", True)
    codes = code_of(forward_derivative, X0), code_of(reverse_derivative, X0)
    forward = Block("Automatic, forward mode", codes[0], shown("automatic, forward") + "  exact", True)
    reverse = Block("Automatic, reverse mode", codes[1], shown("automatic, reverse") + "  exact", True)
    low = y + numerical.height + 40
    bottom = max(y + forward.height, low + reverse.height)
    parts += block(numerical, other, y, width, numerical.height)
    parts += block(forward, 20, y, width, bottom - y) + block(reverse, other, low, width, bottom - low)
    first, second = spans
    parts += arrow(edge + 4, sum(first) / 2, other - 4, sum(first) / 2, "differentiate\non paper", "above")
    parts += arrow(edge + 4, sum(second) / 2, other - 4, sum(second) / 2, "symbolic\ndifferentiation", "above")
    parts += arrow(edge - 40, second[1] + 4, other - 4, y + 60, "")
    parts.append(text(edge + 50, second[1] + 24, "numerical differentiation", colour=QUIET, more='font-size="12"'))
    parts += arrow(edge + 4, (low + bottom) / 2, other - 4, (low + bottom) / 2, "linearise,\ntranspose", "above")
    parts += arrow(20 + width / 2, first[1] + 4, 20 + width / 2, second[0] - 4, "code it")
    parts += arrow(20 + width / 4, second[1] + 4, 20 + width / 4, y - 4, "automatic differentiation")
    title = "Ways to differentiate the truncated logistic map"
    (out / "figure-2.svg").write_text(picture(wide, bottom + 20, parts, title), encoding="utf-8")


def forward_derivative(x):
    """Value and derivative, forwards."""
    return wg.jvp(logistic_map, (x,), (1.0,))


def reverse_derivative(x):
    """Value and derivative, backwards."""
    return wg.value_and_grad(logistic_map)(x)


def write_table(out: Path, found: dict[str, float], truth: float) -> None:
    """The numbers of the figure, with their errors."""
    rows = [[name, f"{v:.13f}", f"{abs(v - truth) / truth:.0e}" if v != truth else "0"] for name, v in found.items()]
    rows.append(["*exactly*", f"{np.float64(truth):.13f}", ""])
    head = ["way", "f′(0.2)", "relative error"]
    (out / "figure-2.md").write_text(markdown(head, rows, right=(1, 2)), encoding="utf-8")


if __name__ == "__main__":
    run(make, __doc__)
