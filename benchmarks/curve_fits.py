"""A batch of curve fits beside `scipy.optimize.curve_fit` in a loop, in one run.

`python benchmarks/curve_fits.py` fits a e^(−kt) + c to 10,000 curves of 100 points each, all in one compiled call, and
to the first hundred of them by `curve_fit`, with its differences and with the Jacobian written by hand; that is scaled
up. The answers are compared. Reported are ratios of times; compilation is told, not counted.

--count, --samples choose the number of curves and of points.
"""

import argparse
import time

import numpy as np
import scipy.optimize

import wengert as wg
from wengert import optimize

START = np.array([2.0, 1.0, 0.0])
THEIRS = 100
"""So many curves are fitted by SciPy."""


def decay(p, t, y):
    """The residuals of one curve."""
    return p[0] * np.exp(-p[1] * t) + p[2] - y


def curves(count: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Times, and noisy curves with parameters that differ by a tenth."""
    random = np.random.default_rng(0)
    t = np.linspace(0, 4, samples)
    a, k, c = (np.array([2.5, 1.3, 0.5]) * (1 + 0.1 * random.normal(size=(count, 3)))).T[:, :, None]
    return t, a * np.exp(-k * t) + c + 0.05 * random.normal(size=(count, samples))


def best_of(repetitions: int, f, *args) -> float:
    """The least time of several calls; that of the processor, since machines are busy."""
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        f(*args)
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=100)
    chosen = parser.parse_args()
    t, y = curves(chosen.count, chosen.samples)

    fit = wg.jit(wg.vmap(lambda t, y: optimize.least_squares(decay, START, args=(t, y)).x, (None, 0)))
    start = time.perf_counter()
    found = fit(t, y)
    compiling = time.perf_counter() - start
    ours = best_of(5, fit, t, y)
    compiling -= ours

    model = lambda t, a, k, c: a * np.exp(-k * t) + c
    slopes = lambda t, a, k, c: np.stack([np.exp(-k * t), -a * t * np.exp(-k * t), np.ones_like(t)], axis=1)

    def theirs(jacobian):
        return [scipy.optimize.curve_fit(model, t, one, START, jac=jacobian)[0] for one in y[:THEIRS]]

    few = min(THEIRS, chosen.count)
    apart = np.max(np.abs(np.array(theirs(None)) - found[:few]))
    scale = chosen.count / few
    differences, by_hand = (scale * best_of(3, theirs, jacobian) for jacobian in (None, slopes))
    print(
        f"{chosen.count} fits of {chosen.samples} points: {ours * 1e3:.0f} ms, {ours / chosen.count * 1e6:.1f} µs each"
    )
    print(f"compiling took {compiling:.1f} s; largest distance from SciPy's answers {apart:.1e}")
    print(f"curve_fit, differences ÷ ours: {differences / ours:.0f}")
    print(f"curve_fit, Jacobian by hand ÷ ours: {by_hand / ours:.0f}")


if __name__ == "__main__":
    main()
