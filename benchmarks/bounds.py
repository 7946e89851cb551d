"""What guaranteed bounds cost: a function on intervals, eagerly and compiled, beside the function and Arb's balls.

    python benchmarks/bounds.py

Prints ratios to the plain function, all measured in this run. python-flint's `arb` (balls of 53 bits, one at a time)
takes part if it is installed; its balls are centred, ours have two bounds. The widths are compared as well.
"""

from __future__ import annotations

import timeit

import numpy as np

import wengert as wg

try:
    import flint
except ImportError:
    flint = None

CASES = {
    "polynomial": (lambda x: ((x - 2.0) * x + 0.5) * x - 1.0, lambda x: ((x - 2) * x + flint.arb("0.5")) * x - 1),
    "trigonometric": (
        lambda x: np.sin(3 * x) * np.exp(-x) + np.cos(x) / (2 + x * x),
        lambda x: (3 * x).sin() * (-x).exp() + x.cos() / (2 + x * x),
    ),
}
RADIUS = 1e-6


def seconds(run) -> float:
    """The least of several times of one call."""
    run()
    number = max(1, int(0.02 / max(timeit.timeit(run, number=1), 1e-7)))
    return min(timeit.repeat(run, number=number, repeat=5)) / number


def measured(name: str, f, of_balls, n: int) -> str:
    """One line: times of one function on n intervals, as multiples of the plain function's."""
    x = np.linspace(0.1, 2.0, n)
    box = wg.interval(x - RADIUS, x + RADIUS)
    enclosed, native = wg.enclose(f), wg.jit(wg.enclose(f))
    plain = seconds(lambda: f(x))
    found = {"eager": seconds(lambda: enclosed(box)), "compiled": seconds(lambda: native(box))}
    line = f"{name:14} n = {n:6}: NumPy {plain * 1e6:9.1f} µs"
    if flint is not None and n <= 100:
        balls = [flint.arb(float(v), RADIUS) for v in x]
        found["arb"] = seconds(lambda: [of_balls(b) for b in balls])
        ours, other = np.median(enclosed(box).width), np.median([2 * float(of_balls(b).rad()) for b in balls])
        line += f", width {ours:.2e}, arb's {other:.2e}"
    return line + "".join(f"; {way} {t / plain:6.1f} ×" for way, t in found.items())


def main() -> None:
    for name, (f, of_balls) in CASES.items():
        for n in (1, 100, 10_000):
            print(measured(name, f, of_balls, n))
    if flint is None:
        print("python-flint is not installed: no comparison with arb")


if __name__ == "__main__":
    main()
