"""Classical problems of global optimisation and of nonlinear systems with known answers: all are found, and proved.

Minima as in Jamil and Yang (2013), "A literature survey of benchmark functions"; systems as in Moré, Garbow and
Hillstrom (1981), or with roots in closed form.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg

PI = math.pi


def branin(x):
    return (x[1] - 5.1 / (4 * PI**2) * x[0] ** 2 + 5 / PI * x[0] - 6) ** 2 + 10 * (1 - 1 / (8 * PI)) * np.cos(x[0]) + 10


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def booth(x):
    return (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2


def matyas(x):
    return 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1]


def rastrigin(x):
    return 20 + np.sum(x**2 - 10 * np.cos(2 * PI * x))


def mccormick(x):
    return np.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1


def styblinski(x):
    return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


def levy(x):
    waves = 1 + np.sin(3 * PI * x[1]) ** 2, 1 + np.sin(2 * PI * x[1]) ** 2
    return np.sin(3 * PI * x[0]) ** 2 + (x[0] - 1) ** 2 * waves[0] + (x[1] - 1) ** 2 * waves[1]


LOWEST = 0.5 - PI / 3
MINIMA = {  # the box, the least value, and one of the places, of which there are so many
    branin: ([-5, 0], [10, 15], 5 / (4 * PI), (PI, 2.275), 3),
    himmelblau: ([-5, -5], [5, 5], 0.0, (3.0, 2.0), 4),
    booth: ([-10, -10], [10, 10], 0.0, (1.0, 3.0), 1),
    matyas: ([-10, -9], [10, 11], 0.0, (0.0, 0.0), 1),
    rastrigin: ([-5.12, -5], [5, 5.12], 0.0, (0.0, 0.0), 1),
    mccormick: ([-1.5, -3], [4, 4], -math.sqrt(3) / 2 - PI / 3, (LOWEST, LOWEST - 1), 1),
    styblinski: ([-5, -5], [5, 5], None, None, 1),
    levy: ([-10, -10], [10, 10], 0.0, (1.0, 1.0), 1),
}


@pytest.mark.parametrize("f", MINIMA, ids=lambda f: f.__name__)
def test_minima(f):
    low, high, value, place, count = MINIMA[f]
    if value is None:  # the least root of the derivative, 2x³ − 16x + 5/2
        least = min(np.roots([2, 0, -16, 2.5]).real)
        place, value = (least, least), f(np.array([least, least]))
    found = wg.verified_minimum(f, wg.interval(low, high))
    assert found.value.lo - 1e-13 <= value <= found.value.hi + 1e-13
    assert found.value.width < 1e-12
    assert len(found.boxes) == count
    assert sum(bool(np.all((b.lo - 1e-6 <= place) & (place <= b.hi + 1e-6))) for b in found.boxes) == 1


def freudenstein_roth(x):
    return np.array([-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]])


def circles(x):
    return np.array([x[0] ** 2 + x[1] ** 2 - 4, (x[0] - 1) ** 2 + x[1] ** 2 - 4])


def powell(x):
    return np.array([1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001])


def cubic(x):
    return np.array([x[0] ** 2 + x[1] ** 2 - 1, x[0] ** 3 - x[1]])


def chebyshev(x):
    return np.cos(8 * np.arccos(x))


def wilkinson(x):
    return (x - 1) * (x - 2) * (x - 3) * (x - 4) * (x - 5) * (x - 6)


def oscillating(x):
    return np.sin(1 / x)


def kepler(x):
    return x - 0.9 * np.sin(x) - (1 - 0.9 * math.sin(1.0))


def ferraris_tronconi(x):
    first = 0.5 * np.sin(x[0] * x[1]) - x[1] / (4 * PI) - x[0] / 2
    second = (1 - 1 / (4 * PI)) * (np.exp(2 * x[0]) - math.e) + math.e * x[1] / PI - 2 * math.e * x[0]
    return np.stack([first, second])


def brown(x):
    """Almost linear."""
    return np.concatenate([x[:-1] + np.sum(x) - 6.0, [np.prod(x) - 1.0]])


B = min(root.real for root in np.roots([5, -6, 0, 0, 0, 1]) if abs(root.imag) < 1e-9 and 0 < root.real < 0.99)
S = math.sqrt(np.max(np.roots([1, 0, 1, -1]).real))  # s⁶ + s² = 1
ROOTS = {
    freudenstein_roth: ([-60, -60], [60, 60], [[5.0, 4.0]]),
    circles: ([-3, -3], [3, 3], [[0.5, -math.sqrt(3.75)], [0.5, math.sqrt(3.75)]]),
    powell: ([0, 0], [1e-3, 10], [[1.0981593296998e-5, 9.106146739866]]),
    cubic: ([-2, -2], [2, 2], [[-S, -(S**3)], [S, S**3]]),
    chebyshev: (-0.99, 0.99, sorted(math.cos((2 * k + 1) * PI / 16) for k in range(8))),
    wilkinson: (0.5, 6.7, [1, 2, 3, 4, 5, 6]),
    oscillating: (0.05, 0.7, [1 / (k * PI) for k in range(6, 0, -1)]),
    kepler: (0.0, 4.0, [1.0]),
    ferraris_tronconi: ([0.25, 1.5], [1.0, 2 * PI], [[0.299448692495721, 2.83692777045894], [0.5, PI]]),
    brown: ([-2] * 5, [2] * 5, [[B, B, B, B, B**-4], [1.0] * 5]),
}


@pytest.mark.parametrize("f", ROOTS, ids=lambda f: f.__name__)
def test_roots(f):
    low, high, known = ROOTS[f]
    found = wg.verified_roots(f, wg.interval(low, high))
    assert not found.undecided
    assert len(found.roots) == len(known)
    for interval, root in zip(found.roots, known, strict=True):
        slack = 1e-11 * np.maximum(1.0, np.abs(root))
        assert np.all((interval.lo - slack <= root) & (root <= interval.hi + slack))
        assert np.all(interval.width < 1e-10)
