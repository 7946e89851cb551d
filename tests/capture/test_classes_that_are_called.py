"""Classes given to functions that call them, as in `map(float, row)`."""

import functools
import itertools
from collections import namedtuple

import numpy as np
import pytest

import wengert as wg

Point = namedtuple("Point", "x y")


class Weight:
    def __init__(self, value, factor=2.0):
        self.value = float(value) * factor


class Doubling(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.value *= 2
        return made


class Doubled(metaclass=Doubling):
    def __init__(self, value):
        self.value = np.sin(value)


def with_a_metaclass(x):
    return (
        Doubled(x).value
        * type.__call__(Doubled, x * x).value
        * Doubled.__call__(2 * x).value
        * Weight.__call__(x).value
    )


def rows_as_floats(x):
    return np.sum(np.array([tuple(map(float, row)) for row in [(x, 1), (2, x * x)]]) ** 2)


def sorted_as_floats(x):
    numbers = [3.0, x, x * x]
    numbers.sort(key=float)
    return numbers[0] * sorted([x, 1.0], key=float)[0] + max(numbers, key=np.float64)


def as_complex(x):
    return abs(sum(map(complex, [x, 2.0], [1.0, x])))


def objects(x):
    points = itertools.starmap(Point, [(x, x), (1.0, x)])
    return sum(w.value for w in map(Weight, [x, 1.0, x * x])) + sum(p.x * p.y for p in points)


def from_an_iterator(x):
    return np.sum(np.fromiter(map(float, [x, 2 * x]), float)) + functools.reduce(Weight, [x, x]).value


def type_of_elements(x):
    return np.sum(np.fromfunction(lambda i, j: i + x * j, (2, 3), dtype=float))


PROGRAMS = [
    *(rows_as_floats, sorted_as_floats, as_complex, objects, from_an_iterator, type_of_elements, with_a_metaclass),
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    x, h = 1.3, 1e-4
    slopes = [(f(x + s) - f(x - s)) / (2 * s) for s in (h, h / 2)]
    expected = (4 * slopes[1] - slopes[0]) / 3
    for found in (wg.grad(f)(x), wg.jvp(f, (x,), (1.0,))[1], wg.jit(wg.grad(f))(x)):
        assert found == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(wg.vmap(f)(np.array([x, x + h])), [f(x), f(x + h)], rtol=1e-14)
