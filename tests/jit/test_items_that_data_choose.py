"""Comprehensions whose conditions only the running program can decide: builtins of them, and lists of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 6.0, -7.0])


def some_of_the_items_before(x):
    s = 0.0
    for k in range(len(x)):
        s += sum(v for v in x[:k] if v < x[k])
    return s


def entropy(x):
    p = [v for v in x if v > 0]
    return -np.sum(p * np.log(p)) + np.log(p) @ p


def mean_of_the_near(x):
    total = 0.0
    for k in range(len(x)):
        near = [x[j] for j in range(len(x)) if abs(x[j] - x[k]) < 4 and j != k]
        if near:
            total += sum(near) / len(near) * x[k]
    return total


def first_and_last(x):
    above = [float(v) for v in x if v > 2]
    if not above:
        return x[0]
    below = [k for k, v in enumerate(x) if v < 0 if k > 1]
    product = 1.0
    for v in above[1:]:
        product *= v
    return above[0] / above[-1] * product + np.sum(x[below]) * np.concatenate([above, x]).mean()


FUNCTIONS = [
    lambda x: min(v for v in x if v > 0) * max([v * v for v in x if v < 0]),
    lambda x: x[1] if any(v > 5 for v in x if v > 0) and isinstance([v for v in x if v > 0], list) else x[0],
    entropy,
    mean_of_the_near,
    lambda x: sum(v**2 for v in x if v > 0),
    lambda x: sum([math.log(v) for v in x if v > 0]),  # which is asked of no other item
    lambda x: sum(v for v in x if v > 0 if v < 4),
    lambda x: sum(x[i] * x[j] for i in range(7) for j in range(7) if i < j and x[i] > x[j]),
    lambda x: len([v for v in x if v > 0]) * x[0],
    lambda x: 2 * x[0] if any(v > 5 for v in x if v > 0) else x[1],
    lambda x: x[2] if all(v < 7 for v in x if v > 0 and v != 3) else x[1],
    some_of_the_items_before,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    assert np.isclose(wg.jit(f)(X), f(X))
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), wg.grad(f)(X))
    batch = np.stack([X, -X, np.roll(X, 2)])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(batch), [wg.grad(f)(x) for x in batch])


def test_items_that_are_only_counted_are_made():
    def f(x):
        made = []
        count = len([made.append(v) for v in (1, 2, 3) if v > 1])
        return x * count + sum(made)

    assert wg.jit(f)(2.0) == f(2.0) == 9.0
    with pytest.raises(TypeError):
        wg.jit(lambda x: len(v for v in x if v > 0))(X)  # as Python's


def test_lists_of_several_lengths():
    f, gradient = wg.jit(first_and_last), wg.jit(wg.grad(first_and_last))
    for x in (X, -X, np.roll(X, 2), X - 5):
        assert np.isclose(f(x), first_and_last(x))
        np.testing.assert_allclose(gradient(x), wg.grad(first_and_last)(x))


def test_names_that_stand_for_something_else():
    def shadowed(x, sum):
        return sum([v for v in (1.0, 2.0, 3.0) if v > 1]) * x

    assert wg.jit(lambda x: shadowed(x, len))(2.0) == 4.0

    def assigned(x):
        sum = max
        return sum([v for v in (1.0, 2.0, -3.0) if v < 1.5]) * x

    assert wg.jit(assigned)(2.0) == 2.0
    assert wg.jit(lambda x: sum([v for v in (1, 2, 3) if v > 1], 10) * x)(2.0) == 30.0


LISTS = [
    lambda x: ([v for v in x if v > 0] + [1.0])[0],
    lambda x: np.sum([v for v in x if v > 0] * 2),
    lambda x: x[0] * (2.0 in [v for v in x if v > 0]),
    lambda x: [v for v in x if v > 0],
    lambda x: x[0] if type([v for v in x if v > 0]) is list else x[1],
    lambda x: [(v, v) for v in x if v > 0][-1][0],
]


@pytest.mark.parametrize("f", LISTS)
def test_such_a_list_is_a_list(f):
    for x in (X, -X, np.roll(X, 2)):
        np.testing.assert_allclose(wg.jit(f)(x), f(x))


REFUSED = [
    lambda x: [v for v in x if v > 0].count(1.0) * x[0],
]


@pytest.mark.parametrize("f", REFUSED)
def test_what_such_a_list_cannot_do_is_refused(f):
    with pytest.raises(StagingError):
        wg.jit(f)(X)


def test_none_that_count():
    for f in (lambda x: min(v for v in x if v > 9), lambda x: [v for v in x if v > 9][1]):
        for g in (f, wg.jit(f)):
            with pytest.raises((ValueError, IndexError)):
                g(X)
    assert wg.jit(lambda x: sum([v for v in x if v > 9]) + x[0])(X) == 1.0


COMPUTED = {
    "choose": lambda x, A, n: np.choose(n % 3, [x, np.sin(x), -x]),
    "choose of places": lambda x, A, n: np.choose((np.argsort(x) + n) % 2, [x, 2.0]),
    "choose of truth values": lambda x, A, n: np.choose(x > 0.4, [x, A[0] * n]),
    "choose, clipped": lambda x, A, n: np.choose(np.argsort(x) + n, [x, 2 * x], mode="clip"),
    "choose, wrapped": lambda x, A, n: np.choose(np.argsort(x) - n, [x, 2 * x], mode="wrap"),
    "tril": lambda x, A, n: np.tril(A, n), "triu": lambda x, A, n: np.triu(A * x, -n),
    "put": lambda x, A, n: put(x * 1.0, [n, -1], [A[0, 1], x[1]]),
    "put, clipped": lambda x, A, n: put(x * 1.0, n + 9, 2.0, mode="clip"),
}  # fmt: skip


def put(y, *args, **kwargs):
    np.put(y, *args, **kwargs)
    return y


@pytest.mark.parametrize("f", COMPUTED.values(), ids=COMPUTED)
def test_functions_of_places_that_are_computed(f):
    x, A = np.array([0.3, -0.5, 0.7, 0.9]), np.arange(12.0).reshape(3, 4) / 7
    loss = lambda x, A, n: np.sum(f(x, A, n) ** 2)
    for n in (0, 2):
        np.testing.assert_allclose(wg.jit(f)(x, A, np.int64(n)), f(x, A, n), rtol=1e-14)
        found = wg.jit(wg.grad(lambda x, A, k: loss(x, A, k[0]), (0, 1)))(x, A, np.array([n]))
        for got, wanted in zip(found, wg.grad(loss, (0, 1))(x, A, n), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13)
    together = wg.jit(wg.vmap(f, in_axes=(None, None, 0)))(x, A, np.array([0, 2, 1]))
    np.testing.assert_allclose(together, [f(x, A, n) for n in (0, 2, 1)], rtol=1e-14)


def test_places_that_do_not_exist_raise_when_the_program_runs():
    x = np.array([0.3, -0.5])
    with pytest.raises(ValueError, match="invalid entry in choice array"):
        wg.jit(lambda x, k: np.choose(k, [x, x]))(x, np.array([0, 2]))
    with pytest.raises(IndexError, match="out of bounds"):
        wg.jit(lambda x, k: put(x * 1.0, k, 1.0))(x, np.array([0, 2]))
