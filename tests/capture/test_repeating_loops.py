"""Loops of plain Python within a budget: the same derivatives, and the number of iterations that the schedule has."""

import itertools
import json
import math
import random
import re
import tracemalloc
from pathlib import Path
from types import CellType

import numpy as np
import pytest

import wengert as wg
from wengert.capture import lowered
from wengert.capture.instrument import LOOPED

DATA = Path(__file__).parents[3] / "shared" / "testdata" / "checkpointing" / "revolve.json"
X = np.linspace(0.2, 1.3, 5)


# -------------------------------------------------------------------------------------------------------- how often


def calls(turns, checkpoints, known=True):
    """How often the suite of a loop is run for its gradient, and the gradient."""
    counter = itertools.count()

    def known_before(x):
        y = x
        for _ in range(turns):
            next(counter)
            y = np.sin(y) * 1.1
        return y

    def known_afterwards(x):
        y, k = x, 0
        while k < turns:
            k += 1
            next(counter)
            y = np.sin(y) * 1.1
        return y

    gradient = wg.grad(known_before if known else known_afterwards, checkpoints=checkpoints)(0.7)
    return next(counter), gradient


def by_hand(turns):
    y, dy = 0.7, 1.0
    for _ in range(turns):
        y, dy = np.sin(y) * 1.1, np.cos(y) * 1.1 * dy
    return dy


def test_published_counts():
    rows = [[2, 1, 1, 1], [5, 2, 2, 6], [20, 3, 3, 45], [50, 8, 3, 95]]
    if DATA.exists():
        rows = [row for row in json.loads(DATA.read_text())["rows"] if row[3] < 250]
    for turns, checkpoints, _, evaluations in rows:
        count, gradient = calls(turns, checkpoints)
        assert count == evaluations + turns == wg.checkpoint_schedule(turns, checkpoints).evaluations + turns
        np.testing.assert_allclose(gradient, by_hand(turns), rtol=1e-12)


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 5, 8])
def test_unknown_length(checkpoints):
    for turns in (1, 2, 3, 5, 11, 21, 34):
        count, gradient = calls(turns, checkpoints, known=False)
        r = next(r for r in range(turns + 1) if math.comb(checkpoints + r, r) >= turns)
        assert count - turns <= r * turns
        np.testing.assert_allclose(gradient, by_hand(turns), rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------- programs


def nested(x):
    y = x
    for k in range(7):
        z = y * 1.0
        for j in range(5):
            z = np.sin(z) * x + 0.1 * j
        y = y * 0.5 + z * 0.3 * np.cos(k * y)
    return np.sum(y)


def writing(x):
    u = np.zeros(8)
    u[:5] = x
    inside, again = u[1:-1], u
    for k in range(12):
        inside += 0.1 * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
        u[k % 8] += 0.1 * x[0] * u[k % 8]
    return np.sum(again**2) + np.sum(inside)


def leaving(x):
    y = x
    for k in itertools.count():
        y = np.sin(y) * x
        if k % 3 == 1:
            continue
        if np.sum(y) < 1.75:
            return np.sum(y * y) * k
    return None


def with_walrus(x):
    y, n = x, 0
    while (n := n + 1) < 9 and y[0] > 0.01:
        y = y * np.cos(0.3 * y * x)
    return np.sum(y) * n


class Oscillator:
    def __init__(self, x):
        self.position, self.velocity, self.path = x, 0.1 * x, []
        self.steps = 0

    def step(self, dt):
        self.velocity = self.velocity - dt * np.sin(self.position)
        self.position = self.position + dt * self.velocity
        self.steps += 1
        if self.steps % 4 == 0:
            self.path.append(self.position)


def with_an_object(x):
    oscillator = Oscillator(x)
    for _ in range(17):
        oscillator.step(0.1)
    assert oscillator.steps == 17
    assert len(oscillator.path) == 4
    return np.sum(oscillator.position) + sum(k * np.sum(p) for k, p in enumerate(oscillator.path))


def with_containers(x):
    state = {"a": x, "b": [0.5 * x, 2.0]}
    weights = [x[k] for k in range(5)] + [np.float64(0.3)] * 6
    for k, w in enumerate(weights):
        a = state["a"]
        state["a"] = np.cos(a) * w + state["b"][0]
        state["b"][0] = a * 0.9
        state["b"].append(k * 1.0)
    return np.sum(state["a"]) + np.sum(state["b"][0]) + state["b"][-1]


def over_an_iterator(x):
    y = x
    for k, shift in ((k, np.full(5, 0.1 * k)) for k in range(9)):
        y = np.sin(y) * x + 0.1 * k + shift
    for w in map(float, range(7)):
        y = np.cos(y) + 0.1 * w * y
    return np.sum(y)


def over_rows(x):
    table = np.outer(x, x)
    total = 0.0
    for row in table:
        total = total + np.sum(np.sin(row) * total) + row[0]
    return total


def held_elsewhere(x):
    y = x * 1.0
    first = y
    for _ in range(6):
        y[1] = y[1] * y[0] * 0.5
        y = np.sin(y) + x
    return np.sum(first * x) + np.sum(y)


def recursive(x, depth=3):
    y = x
    for _ in range(3):
        y = np.sin(y) * 1.2 if depth == 0 else recursive(y, depth - 1) * x
    return y if depth < 3 else np.sum(y)


def caught(x):
    y = x
    for k in range(10):
        try:
            if k % 3 == 0:
                raise ValueError
            y = np.sin(y) * x
        except ValueError:
            y = y + 0.1 * x
        finally:
            y = y * 1.05
    return np.sum(y)


def with_comprehensions(x):
    rows, found = [[], []], {"u": x * 1.0}
    for k in range(6):
        rows[k % 2].append(np.sum(found["u"]) * 0.1)
        found = {name: np.sin(value) * x for name, value in found.items() if k != 3}
        found = found or {letter: x * len(letter) for letter in {c.lower() for c in "Uu" if c != "x"}}
    return np.sum(found["u"]) + sum(rows[0]) * rows[1][-1]


PROGRAMS = [nested, writing, leaving, with_walrus, with_an_object, with_containers, over_an_iterator, over_rows,
            held_elsewhere, recursive, caught, with_comprehensions]  # fmt: skip


def test_all_hooks_are_there():
    """But those that functions call which call themselves: here they do so in Python's way."""
    missing = {name for name, cell in LOOPED.hooks.items() if cell == CellType()}
    assert missing == {lowered.RECURSED, lowered.DEFAULT_OF}


@pytest.mark.parametrize("f", PROGRAMS)
def test_same_gradient(f):
    expected = wg.grad(f)(X)
    for budget in ({"checkpoints": 1}, {"checkpoints": 3}, {"memory": "20kB"}, {"memory": "2kB"}):
        np.testing.assert_allclose(wg.grad(f, **budget)(X), expected, rtol=1e-12)


@pytest.mark.parametrize("f", [nested, writing, with_an_object])
def test_every_operator(f):
    v = X[::-1].copy()
    hv = wg.hvp(f)(X, v)
    for mode in ("forward-reverse", "reverse-forward", "reverse-reverse"):
        np.testing.assert_allclose(wg.hvp(f, checkpoints=2, mode=mode)(X, v), hv, rtol=1e-10)
    for budget in ({"checkpoints": 2}, {"memory": "1GB"}):
        y, pull = wg.vjp(f, X, **budget)
        np.testing.assert_allclose(y, f(X), rtol=1e-14)
        for ct in (1.0, 3.0):  # as often as one likes
            np.testing.assert_allclose(pull(np.float64(ct))[0], ct * wg.grad(f)(X), rtol=1e-12)
    g = lambda x: f(x) * x
    np.testing.assert_allclose(wg.jacrev(g, checkpoints=2)(X), wg.jacobian(g)(X), rtol=1e-12)
    tall = lambda x: np.concatenate([g(x), g(2 * x)])  # more results than arguments: the linear map is pushed
    np.testing.assert_allclose(wg.jacobian(tall, checkpoints=2)(X), wg.jacobian(tall)(X), rtol=1e-12)
    both = np.stack([X, 0.9 * X])
    each = np.stack([wg.grad(f)(x) for x in both])
    np.testing.assert_allclose(wg.vmap(wg.grad(f, checkpoints=3))(both), each, rtol=1e-12)


def test_random_numbers():
    def f(x, rng):
        y = x
        for _ in range(9):
            y = np.sin(y) * x + 0.1 * rng.normal(size=5) * y * random.random() * np.random.standard_normal()  # noqa: NPY002
        return np.sum(y)

    def run(g):
        random.seed(3)
        np.random.seed(4)  # noqa: NPY002
        rng = np.random.default_rng(5)
        return g(X, rng), (rng.random(), random.random(), np.random.standard_normal())  # noqa: NPY002

    expected, after = run(wg.grad(f))
    found, then = run(wg.grad(f, checkpoints=2))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert then == after


def test_what_was_changed_outside_is_changed_once():
    seen, total = [], {"calls": 0}

    def f(x):
        y = x
        for k in range(6):
            y = np.sin(y)
            seen.append(k)
            total["calls"] += 1
        return np.sum(y)

    wg.grad(f, checkpoints=2)(X)
    assert seen == [0, 1, 2, 3, 4, 5]
    assert total == {"calls": 6}


# ------------------------------------------------------------------------------------------------------ what is refused


def test_numbers_that_do_not_come_again():
    numbers = iter(np.linspace(0, 1, 1000))

    def f(x):
        y = x
        for _ in range(8):
            y = np.sin(y) + next(numbers)
        return np.sum(y)

    with pytest.raises(wg.errors.UnsupportedFunctionError, match="gave other numbers when it was run again"):
        wg.grad(f, checkpoints=2)(X)


def test_arrays_from_outside():
    outside = np.zeros(3)

    def f(x):
        y = x
        for k in range(8):
            outside[0] = k
            y = np.sin(y) + outside[0]
        return np.sum(y)

    with pytest.raises((wg.errors.UnsupportedFunctionError, wg.errors.InPlaceError)):
        wg.grad(f, checkpoints=2)(X)


def test_least_memory():
    def f(x):
        y = x
        for _ in range(20):
            y = np.sin(y) * x
        return np.sum(y)

    with pytest.raises(wg.errors.BudgetError, match="least possible") as error:
        wg.grad(f, memory="1B")(X)
    least = str(error.value).partition('memory="')[2].partition('"')[0]
    np.testing.assert_allclose(wg.grad(f, memory=least)(X), wg.grad(f)(X), rtol=1e-12)


def test_states_do_not_hold_what_iterations_recorded():
    """Of 60 iterations 20 states of 0.4 MB may be kept, and of one iteration what it recorded."""

    def f(u):
        for _ in range(60):
            u = u + 0.01 * np.exp(np.sin(u))
        return np.sum(u)

    u = np.linspace(0, 1, 50_000)
    wg.grad(f, checkpoints=20)(u[:10])
    tracemalloc.start()
    wg.grad(f, checkpoints=20)(u)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * u.nbytes


def test_what_loops_inside_keep_counts():
    """An iteration that holds a loop keeps a state of that, and what one of its iterations keeps."""

    def f(u):
        for _ in range(5):
            v = u
            for _ in range(6):
                v = np.tanh(v * 1.1) + 0.1 * u
            u = u + v * 0.1
        return np.sum(u**2)

    u = np.linspace(0.1, 1.0, 8)
    with pytest.raises(wg.errors.BudgetError, match="least possible") as caught:
        wg.grad(f, memory="100B")(u)
    least = re.search(r'memory="(\d+)B"', str(caught.value))[1]
    assert int(least) >= 3 * u.nbytes
    np.testing.assert_allclose(wg.grad(f, memory=int(least))(u), wg.grad(f)(u), rtol=1e-12)


def test_what_a_loop_has_changed_is_used_after_it_has_raised():
    def f(x):
        s, kept = 0.0, []
        try:
            for i in range(len(x) + 2):
                s = np.tanh(s + x[i])
                kept.append(s)
        except IndexError:
            s = s + len(kept)
        while True:
            s = s * 0.5
            if s < 1:
                break
        return s * kept[1]

    x = np.array([0.4, -0.3, 0.8, 0.1])
    expected = wg.grad(f)(x)
    np.testing.assert_allclose(wg.grad(f, checkpoints=2)(x), expected, rtol=1e-14)
    np.testing.assert_allclose(wg.grad(f, memory=10**5)(x), expected, rtol=1e-14)


def _numbered(x):
    y = x.copy()
    total = 0.0
    for i, v in enumerate(y):  # an element that the loop has written is seen as it is when its turn comes
        y[(i + 1) % 4] = y[(i + 1) % 4] * v + np.sin(v)
        total = total + i * v * v
    return total


def _together(x):
    pairs, y = zip(x, x[1:], np.arange(4.0), OUTSIDE, strict=False), x
    for a, b, c, d in pairs:
        y = y + a * b * (c + d) * np.sin(y)
    return np.sum(y) + len(list(pairs))


def _rows(x):
    y, first = x, iter(np.outer(x, x))
    start = next(first)
    for i, (row, k) in enumerate(zip(first, [1, 2, 3], strict=True), 3):
        y = np.sin(y) * i * k + row * start
    return np.sum(y)


def _resumed(x):
    items, y = enumerate([1.0, 2.0, 3.0, 4.0]), x
    for _, v in items:
        y = y + v * np.sin(y)
        if v >= 2:
            break
    for i, v in items:
        y = y + i * v * y
    return np.sum(y)


OUTSIDE = np.array([0.5, 0.25, 2.0, 1.0])


@pytest.mark.parametrize("f", [_numbered, _together, _rows, _resumed])
@pytest.mark.parametrize("checkpoints", [1, 3])
def test_iterators(f, checkpoints):
    """`enumerate` and `zip` of traced arrays are run again, and an iterator goes on where a loop was left."""
    x = np.linspace(0.1, 0.9, 4)
    np.testing.assert_allclose(wg.grad(f, checkpoints=checkpoints)(x), wg.grad(f)(x), rtol=1e-13)
