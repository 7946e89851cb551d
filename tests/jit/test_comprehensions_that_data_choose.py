"""Comprehensions in which data decide what counts: items of any kind, conditions at any place, names they bind."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from jit.everywhere import agrees, close

import wengert as wg

X = np.array([0.3, -0.8, 1.4, 0.9, -0.35, 2.1])


class Point(NamedTuple):
    x: float
    y: float


def named(x):
    points = [Point(v, v * v) for v in x if v > 0]
    best = max(points, key=lambda p: p.y)
    return best.x + sum([p.y for p in points]) + points[-1].x


def pairs(x):
    chosen = [(k, v) for k, v in enumerate(x) if v > 0.5]
    return sum([k * v for k, v in chosen]) + chosen[-1][1] + len(chosen) + np.array(chosen)[:, 1].sum()


def largest_pairs(x):
    pairs = [(v, k) for k, v in enumerate(x) if v > 0.5]
    value, place = max(pairs)
    return value * place + min(pairs)[0] + min((abs(v), k) for k, v in enumerate(x) if v < 0.5)[0]


def rows(x):
    table = np.array([[v, v * v] for v in x if v > 0])
    return table.mean(axis=0) @ [1.0, 2.0] + np.vstack([r for r in x.reshape(3, 2) if r[0] > 0])[:, 1].sum()


def dicts(x):
    items = [d for d in [{"a": v, "b": 2.0 * v} for v in x] if d["a"] > 0.5]
    return items[0]["a"] + sum([d["b"] for d in items]) + len(items)


def not_none(x):
    found = [k for k in [k if v > 0 else None for k, v in enumerate(x)] if k is not None]
    return x[found[-1]] * len(found)


def appended_if_not_none(x):
    found = [0]
    for k, v in enumerate(x):
        place = k if v > 0 else None
        if place is not None:
            found.append(place)
            found.insert(0, place)
    return (
        x[found[-1]] * len(found)
        + x[found[0]] ** 2
        + sum([v for v in [a if a > 0 else None for a in x] if v is not None])
    )


def conditions_of_several(x):
    total = sum([a * b for a in x if a > 0 for b in x if a > b])
    total += sum(a * b for a in x if a > 0 for b in x if a > b)
    return total + [i for i in range(6) for j in range(i) if x[i] * x[j] > 0.5][-1]


def rows_that_count(x):
    return sum([v for r in x.reshape(3, 2) if r[0] > 0 for v in r]) + max(
        v for r in [x[:2], x[2:]] if r[0] > 0 for v in r
    )


def bound(x):
    total = sum([y for v in x if (y := v * v) > 0.3]) + sum(y for v in x if (y := v * v) > 0.3)
    total += sum([y for v in x if v > 0 and (y := math.log(v)) < 0.5])
    return total + [y for v in x if abs(y := v * v - 1.0) > 0.3][-1] + next(y for v in x if (y := 2.0 * v) > 0.7)


def lists_of_arrays(x):
    found = list(x[x > 0])
    return found[1] + sum(x[x > 0.5].tolist()) + len(found) + sum(x[i] for i in np.where(x > 0.5)[0].tolist())


def from_iterators(x):
    return np.fromiter((v * v for v in x if v > 0), float).sum() + sum([v for v in iter(x) if v > 1])


def known_conditions(x):
    squares = [y for k in range(6) if (y := k * k) > 3]
    return sum([x[k] for k in range(6) if k % 2]) * len(squares) + sum(squares)


@pytest.mark.parametrize(
    "f",
    [named, pairs, largest_pairs, rows, dicts, not_none, appended_if_not_none, conditions_of_several, rows_that_count,
     bound, lists_of_arrays, from_iterators, known_conditions],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_everywhere(f):
    agrees(f, X, batch=False)
    xs = np.stack([X, 1.1 * X, X + 0.05])
    close(wg.vmap(wg.jit(f))(xs), np.array([f(x) for x in xs]))


def test_a_name_that_is_read_later_is_bound():
    def f(x):
        found = [y for k in range(3) if (y := x[k]) is not None]
        return y * len(found)

    assert wg.jit(f)(X) == f(X) == X[2] * 3


def test_how_many_data_say():
    def f(x):
        n = int(x[5])
        return sum([x[i] * x[j] for i in range(n + 2) for j in range(i)])

    close(wg.jit(f)(X), f(X))
    close(wg.jit(wg.jvp)(f, (X,), (np.ones(6),)), wg.jvp(f, (X,), (np.ones(6),)))


def test_what_happens_until_it_is_known_that_data_choose_happens_once():
    def f(x):
        seen = []

        def noted(v):
            seen.append(v)
            return v > 0

        found = [(v, 1.0) for v in x if noted(v)]
        return sum([v for v, _ in found]) + len(seen)

    close(wg.jit(f)(X), f(X))


def test_an_iterator_is_used_up_once():
    def f(x):
        items = iter(list(x))
        first = next(items)
        return first + sum([v for v, _ in [(v, 1.0) for v in items if v > 0]])

    close(wg.jit(f)(X), f(X))


def test_loops_that_count_until_data_end_them():
    def halvings(x):
        for n in itertools.count(1):
            if x * 0.5**n < 0.1:
                break
        return n * x

    def first(x):
        return next(k for k in itertools.count() if x * 0.5**k < 0.2) * x

    agrees(halvings, 1.4)
    agrees(first, 1.4)


def test_too_few_items_raise():
    for f in (lambda x: np.fromiter(x, float, 9), wg.jit(lambda x: np.fromiter(x, float, 9).sum())):
        with pytest.raises(ValueError, match="iterator too short: Expected 9 but iterator had only 6 items"):
            f(X)
    with pytest.raises(ValueError, match="iterator too short"):
        wg.grad(lambda x: np.fromiter(x, float, 9).sum())(X)


def test_none_that_count_raise():
    for function in (max, min):

        def f(x, function=function):
            return function([(v, k) for k, v in enumerate(x) if v > 9.0])[0]

        with pytest.raises(ValueError, match=f"{function.__name__}\\(\\) iterable argument is empty"):
            wg.jit(f)(X)
