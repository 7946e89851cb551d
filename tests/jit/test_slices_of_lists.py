"""Slices of lists and tuples between places that only the compiled program knows, and assignments to several names."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import WengertError

DEMAND = [90, 120, 80, 70]


def powers(x):
    return [x, x * 2, x**3, x**2]


def spline(x, n):
    points = [(0.0, 0.0), (1.0, x), (2.0, 0.5), (3.0, 1.0), (4.0, x * x), (5.0, 0.0), (6.0, 1.0)]
    k = int(n)
    p0, p1, p2, p3 = points[k : k + 4]
    u = n - k
    a, b = (0.5 * (2 * b + (c - a) * u + (d - a) * u**3) for a, b, c, d in zip(p0, p1, p2, p3, strict=True))
    return a * b


def replaced(x, n):
    items = powers(x)
    rest = items[int(n) :]
    rest[0] = 7.0
    return rest[0] * items[-1] + sum(items)


PROGRAMS = {
    "spline": spline,
    "constants": lambda x, n: x * np.sum(DEMAND[int(n) : int(n) + 2]) + len(DEMAND[int(n) :]) * x,
    "sum": lambda x, n: sum(powers(x)[int(n) :]) * len(powers(x)[: int(n)]),
    "largest": lambda x, n: max(powers(x)[: int(n) + 1]) + min(powers(x)[int(n) : 9]),
    "backwards": lambda x, n: powers(x)[-int(n) - 1 :][0] * powers(x)[: -int(n) - 1][-1],
    "tuple": lambda x, n: sum(v * v for v in tuple(powers(x))[int(n) :]),
    "joined": lambda x, n: (powers(x)[: int(n)] + [x**4] + powers(x)[int(n) :])[2],
    "comprehension": lambda x, n: sum([v**2 for v in powers(x)[int(n) : int(n) + 3]]),
    "indices": lambda x, n: sum((np.arange(4.0) * x)[j] ** 2 for j in [0, 1, 2, 3][int(n) :]),
    "pairs": lambda x, n: [(x, 1), (2 * x, 2), (x * x, 3)][int(n) :][0][0] * [(x, 1), (x * x, 3)][int(n) // 3 :][-1][1],
    "written to": replaced,
}
COMPOSITIONS = [
    lambda f: wg.jit(wg.grad(f)),
    lambda f: wg.grad(wg.jit(f)),
    lambda f: lambda x, n: wg.jvp(wg.jit(f), (x, n), (1.0, 0.0))[1],
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_slices(name):
    f = PROGRAMS[name]
    compiled, composed = wg.jit(f), [c(f) for c in COMPOSITIONS]
    for x, n in ((0.4, 0.3), (0.9, 1.3), (1.3, 2.6)):
        assert np.isclose(compiled(x, n), f(x, n))
        slope = (f(x + 1e-6, n) - f(x - 1e-6, n)) / 2e-6
        assert np.allclose([g(x, n) for g in (wg.grad(f), *composed)], slope, rtol=1e-6)
    slopes = wg.jit(wg.vmap(wg.grad(f)))(np.array([0.9, 0.9]), np.array([1.3, 1.3]))
    assert np.allclose(slopes, wg.grad(f)(0.9, 1.3))


def two(x, n):
    a, b = powers(x)[int(n) :]
    return a * b


def test_assignments_to_several_names():
    compiled = wg.jit(two)
    assert compiled(1.5, 2) == two(1.5, 2) == 1.5**5
    for n, words in ((1, "too many"), (3, "not enough")):
        for f in (two, compiled, wg.grad(compiled)):
            with pytest.raises(ValueError, match=f"{words} values to unpack"):
                f(1.5, float(n))

    def doubled(x):
        found = []
        while x < 10:
            found.append((x, x * x))
            x = x * 2
        first, second, third = found
        return first[0] * second[1] + third[1]

    assert wg.jit(doubled)(1.5) == doubled(1.5)
    assert wg.jit(wg.grad(doubled))(1.5) == wg.grad(doubled)(1.5) == 75.0


@pytest.mark.parametrize("items", [lambda x: [np.array([x, 1.0]), np.array([x, x])], lambda x: [[x], [x, x]]])
def test_items_that_others_hold_are_refused(items):
    """What is written to them would have to be seen in the list."""

    def f(x, n):
        them = items(x)
        them[int(n) :][0][0] = 9.0
        return them[1][0] * x

    assert f(2.0, 1.0) == 18.0
    with pytest.raises(WengertError):
        wg.jit(f)(2.0, 1.0)
