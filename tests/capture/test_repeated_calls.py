"""Calls of functions as units of `memory=`: kept while there is room, otherwise run again in the reverse sweep."""

import functools
import itertools
import tracemalloc

import numpy as np
import pytest

import wengert as wg
from wengert.errors import BudgetError, UnsupportedFunctionError

N = 2000
X = np.linspace(0.1, 1.0, N)
MB = 8 * N / 1e6  # an array, in megabytes
DATA = 3 * np.ones(N)
calls = itertools.count()


def layer(x, k):
    next(calls)
    y = np.sin(x * k)
    return x + 0.1 * np.tanh(y * np.exp(-y * y))


def block(x, k):
    x = layer(x, k)
    x = layer(x, k=k + 0.1)
    return layer(x, k + 0.2)


def chain(x):
    x = block(x, 1.0)
    x = block(x, 1.5)
    x = block(x, 2.0)
    return np.sum(x**2)


def halves(x, depth):
    return x + 0.01 * np.sin(x * x) if depth == 0 else halves(halves(x, depth - 1), depth - 1)


class Cell:
    """State, counters and generators that functions change."""

    def __init__(self, w):
        self.w, self.h, self.steps, self.seen = w, 0.0, 0, []

    def step(self, x):
        self.steps += 1
        self.h = np.tanh(self.w * x + self.h * self.steps)
        self.seen.append(np.sum(self.h))
        return self.h


def with_objects(x):
    cell = Cell(2 * x)
    y = cell.step(x) * cell.step(x * 2)
    cell.step(y)
    return np.sum(cell.h * y) + cell.seen[0] * cell.seen[2] + cell.steps


def with_writes(x):
    out = np.zeros((3, N))

    def write(row, value):
        out[row] = np.sin(value) * value
        out[row] *= 2.0

    total = 0.0

    def add(value):
        nonlocal total
        total = total + np.sum(value * value)
        return lambda y: y * value

    write(0, x)
    write(1, out[0] * x)
    scaled = add(out[1])
    write(0, scaled(x))
    add(out[0] * out[1])
    return total + np.sum(out)


def with_random_numbers(x):
    rng = np.random.default_rng(3)
    draw = lambda y: y * rng.normal(size=N) + rng.normal() * np.sin(y)
    return np.sum(draw(draw(draw(x))) ** 2)


def with_everything_else(x):
    """Loops in calls, calls in loops, errors that are caught, generators, derivatives, compiled functions."""

    def simulate(y):
        for k in range(4):
            y = layer(y, 1 + k / 10)
        return y

    trials = []

    def fails(y):
        trials.append(np.sin(y))
        return deeper(y)

    def deeper(y):
        raise ValueError(np.sum(layer(y, 3.0)))

    scaled = functools.partial(lambda k, y: np.sin(k * y), 1.5)

    def rows(y):
        for k in range(2):
            yield np.sin(y * k)

    y = simulate(x) + scaled(compiled(x))
    try:
        y = fails(y)
    except ValueError as error:
        y = y * np.cos(y) + error.args[0]
    slope = lambda v: wg.grad(lambda u: np.sum(np.sin(u) * u))(v)
    return np.sum(slope(y)) + np.sum(trials[0]) * len(trials) + sum(np.sum(row) for row in rows(y))


compiled = wg.jit(lambda x: np.sin(x) * np.exp(-x))

PROGRAMS = [
    chain,
    lambda x: np.sum(halves(x, 4)),
    with_objects,
    with_writes,
    with_random_numbers,
    with_everything_else,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_same_gradients(f):
    expected, budget, tried = wg.grad(f)(X), int(40e6 * MB), 0
    while budget > 1e6 * MB:
        try:
            np.testing.assert_allclose(wg.grad(f, memory=budget)(X), expected, rtol=1e-12)
        except BudgetError:
            break
        tried, budget = tried + 1, int(budget / 1.7)
    assert tried >= 2
    value, pull = wg.vjp(f, X, memory=int(30e6 * MB))
    for _ in range(2):
        np.testing.assert_allclose(pull(2.0)[0], 2 * expected, rtol=1e-12)
    assert value == pytest.approx(f(X))


def test_less_memory_for_more_calls():
    """What a budget saves, and what it costs: never more than one more run for each level of calls."""
    x, size = np.linspace(0.1, 1.0, 20 * N), 20 * MB * 1e6
    peaks, counts = [], []
    for budget in (None, 40, 24, 14):
        global calls
        calls = itertools.count()
        derive = wg.grad(chain, memory=None if budget is None else int(budget * size))
        tracemalloc.start()
        derive(x)
        peaks.append(tracemalloc.get_traced_memory()[1] / size)
        tracemalloc.stop()
        counts.append(next(calls))
    assert counts[0] == 9
    assert counts == sorted(counts)
    assert counts[-1] <= 27
    assert peaks[2] < 24 + 6  # the values, cotangents and results of one function besides
    assert peaks[3] < 14 + 6


def test_what_cannot_be_divided():
    """The error names what to wrap, and how much is needed, which is enough."""

    def straight(x):
        y = np.sin(x)
        z = np.exp(y * x)
        return np.sum(z * np.tanh(z * y))

    for f, name in ((straight, "the function"), (lambda x: straight(2 * x), "straight"), (chain, "block")):
        text, budget = "", 1
        for _ in range(6):
            try:
                found = wg.grad(f, memory=budget)(X)
                break
            except BudgetError as error:
                text = str(error)
                budget = int(text.partition('memory="')[2].partition("B")[0])
        assert name in text
        assert "functions of their own" in text
        np.testing.assert_allclose(found, wg.grad(f)(X), rtol=1e-12)


def test_an_iterator_that_has_moved_on():
    def f(x):
        numbers = iter([1.0, 2.0, 3.0])
        step = lambda y: np.sin(y * next(numbers)) * y
        return np.sum(step(step(step(x))))

    np.testing.assert_allclose(wg.grad(f, memory=int(20e6 * MB))(X), wg.grad(f)(X), rtol=1e-12)
    with pytest.raises(UnsupportedFunctionError, match="raised StopIteration when it was run again"):
        wg.grad(f, memory=int(6e6 * MB))(X)


def test_arguments_are_not_counted():
    f = lambda x, y: np.sum(x * y * DATA)
    np.testing.assert_allclose(wg.grad(f, memory="10B")(X, 2 * X), 6 * X)
    with pytest.raises(BudgetError):
        wg.grad(lambda x, y: f(x * x, y), memory="10kB")(X, 2 * X)
