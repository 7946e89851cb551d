"""`sum`, `any`, `all` and `len` of comprehensions whose conditions only the running program can decide."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg

X = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 6.0, -7.0])


def some_of_the_items_before(x):
    s = 0.0
    for k in range(len(x)):
        s += sum(v for v in x[:k] if v < x[k])
    return s


FUNCTIONS = [
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


def test_names_that_stand_for_something_else():
    def shadowed(x, sum):
        return sum([v for v in (1.0, 2.0, 3.0) if v > 1]) * x

    assert wg.jit(lambda x: shadowed(x, len))(2.0) == 4.0

    def assigned(x):
        sum = max
        return sum([v for v in (1.0, 2.0, -3.0) if v < 1.5]) * x

    assert wg.jit(assigned)(2.0) == 2.0
    assert wg.jit(lambda x: sum([v for v in (1, 2, 3) if v > 1], 10) * x)(2.0) == 30.0
