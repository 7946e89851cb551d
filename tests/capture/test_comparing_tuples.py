"""Tuples and lists that are compared, of numbers that only a compiled program knows: first items that differ decide."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg


class Score(NamedTuple):
    distance: float
    number: int


def best_of_candidates(x):
    best = (math.inf, -1)
    for k in range(6):
        candidate = (abs(x - k), k)
        if candidate < best:
            best = candidate
    return best[0] * 2 + best[1] * x


def best_named(x):
    best = None
    for k in range(4):
        score = Score((x - k) ** 2, -k)
        if best is None or score <= best:
            best = score
    return best.distance + best.number * x


def walks_home(x):
    i, j, steps = 5, 3, 0
    while (i, j) != (0, 0):
        if x > i:
            j = max(j - 1, 0)
        i = max(i - 1, 0)
        if i == 0:
            j = max(j - 1, 0)
        steps += 1
    return x * steps


def same_lists(x):
    ends = [math.floor(x), 1]
    return x * 2 if ends == [1, 1] else x * 3 if ends != [2, 1] else x


def of_different_lengths(x):
    a, b = (x, 1.0), (1.7, 1.0, 2.0)
    return x * (4 * (a < b) + 2 * (a >= b) + (a == b))


def between(x):
    low, high = (1, 0.5), (2, 0.5)
    return x if low <= (math.floor(x), x - math.floor(x)) < high else -x


def texts_beside_numbers(x):
    p, q = ("a", x), ("a", 1.0)
    return x * x if p > q else x


def within_each_other(x):
    p, q = ((x, 1), "b"), ((1.7, 1), "c")
    return x * x if p < q else 3 * x


def place_of_a_pair(x):
    intervals = [(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)]
    found = intervals[0]
    for interval in intervals:
        if interval[0] < x:
            found = interval
    return (intervals.index(found) + 1) * x


def number_of_pairs(x):
    pairs = [[1, 2], [x, 2.0], [x, 2], [3, x, x]]
    return pairs.count([x, 2]) * x + pairs.index([3, x, x]) * x**2


PROGRAMS = [
    best_of_candidates, best_named, walks_home, same_lists, of_different_lengths, between, texts_beside_numbers,
    within_each_other, place_of_a_pair, number_of_pairs,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python_does(f):
    compiled, slope, of_all = wg.jit(f), wg.jit(wg.grad(f)), wg.jit(wg.vmap(f))
    points = (0.3, 1.7, 2.4)
    for x in points:
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-14)
        np.testing.assert_allclose(slope(x), wg.grad(f)(x), rtol=1e-14)
    np.testing.assert_allclose(of_all(np.array(points)), [f(x) for x in points], rtol=1e-14)


@pytest.mark.parametrize("f", [best_of_candidates, of_different_lengths, within_each_other])
def test_what_is_no_number_equals_nothing(f):
    np.testing.assert_equal(wg.jit(f)(math.nan), f(math.nan))


def test_items_that_are_not_reached_are_not_compared():
    def f(x):
        return 1.0 * x if (x, None) < (2.0, "a") else 2.0 * x

    assert wg.jit(f)(1.0) == 1.0
    assert wg.jit(f)(3.0) == 6.0
    with pytest.raises(TypeError):
        f(2.0)
    with pytest.raises(TypeError):
        wg.jit(f)(2.0)
