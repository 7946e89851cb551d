"""High derivatives by circles, against closed forms and mpmath, where recurrences and differences lose their digits."""

import math

import mpmath
import numpy as np
import pytest

from wengert.ops.circles import RADII, WITHIN, on_circles
from wengert.ops.op import TABLE, call


def test_closed_forms():
    x = np.linspace(0.1, 3.0, 150)
    for n in (0, 1, 7, 15):
        np.testing.assert_allclose(on_circles(lambda z, part: np.exp(z), x, n, RADII), np.exp(x), rtol=1e-12)
        wanted = (-1) ** n * math.factorial(n) / x ** (n + 1)
        np.testing.assert_allclose(on_circles(lambda z, part: 1 / z, x, n, WITHIN[:, None] * x), wanted, rtol=1e-10)


FUNCTIONS = {
    "dawsn": ((), lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)),
    "ive": ((2.0,), lambda x: mpmath.exp(-x) * mpmath.besseli(2, x)),
    "kve": ((1.5,), lambda x: mpmath.exp(x) * mpmath.besselk(mpmath.mpf(1.5), x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_rows(name):
    """In one call for numbers for which different ways are taken."""
    order, function = FUNCTIONS[name]
    x = np.array([0.5, 2.0, 8.0, 30.0])
    points, radius = 14, mpmath.mpf(10) ** -6  # so small that with many digits no other coefficient shows
    with mpmath.workdps(90):
        turns = [mpmath.expjpi(mpmath.mpf(2 * k) / points) for k in range(points)]
        values = [[function(v + radius * turn) for turn in turns] for v in x.tolist()]
    for n in (1, 2, 4, 9):
        with mpmath.workdps(90):
            sums = [sum(f / t**n for f, t in zip(row, turns, strict=True)) for row in values]
            wanted = [float(mpmath.re(y) / points / radius**n) * math.factorial(n) for y in sums]
        np.testing.assert_allclose(call(TABLE[name], *order, x, n=n), wanted, rtol=1e-11)
