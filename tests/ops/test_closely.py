"""Enclosures of cbrt and arccosh hold where libm's errors are the largest that are known, and are tight."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import wengert as wg

RNG = np.random.default_rng(0)
WORST_ROOTS = [float.fromhex("0x1.7a337e1ba1ec2p-257"), 5e-324, 1.7e308, -27.0]
WORST_LOGS = [float.fromhex("0x1.0001ff6afc4bap+0"), 1.0000304828829898, math.nextafter(1, 2), math.nextafter(2, 1)]
CASES = [
    (np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), [*WORST_ROOTS, *2.0 ** RNG.uniform(-1070, 1020, 300)]),
    (np.arccosh, mpmath.acosh, [*WORST_LOGS, *1 + 2.0 ** RNG.uniform(-50, 3, 300), 1e300]),
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("f", "exact", "points"), CASES, ids=["cbrt", "arccosh"])
def test_within_four_units_on_the_right_side(f, exact, points, compiled):
    enclosed = wg.jit(wg.enclose(f)) if compiled else f
    y = enclosed(wg.interval(np.array(points)))
    with mpmath.workprec(200):
        for x, low, high in zip(points, y.lo, y.hi, strict=True):
            value = exact(mpmath.mpf(x))
            unit = np.spacing(abs(float(value)))
            assert low <= value <= high
            assert value - low < 4 * unit
            assert high - value < 4 * unit


def test_ends():
    assert str(np.cbrt(wg.interval(-math.inf, 0.0))) == "interval(-inf, 0.0)"
    assert str(np.arccosh(wg.interval(0.0, 1.0))) == "interval(0.0, 0.0)"
    assert np.cbrt(wg.interval(np.float32(2.0))).lo.dtype == np.float32
