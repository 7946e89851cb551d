"""A compiled function that calls compiled functions depends on what these find outside."""

import numpy as np
import pytest

import wengert as wg

RATE, WEIGHTS = 2.0, np.ones(3)


@wg.jit
def inner(x):
    return RATE * np.sum(WEIGHTS * x)


@wg.jit
def counting(x):
    WEIGHTS[1] += x
    return np.sum(WEIGHTS) * x


WAYS = {
    "jit": wg.jit,
    "jit(grad)": lambda f: wg.jit(wg.grad(f)),
    "jit(jvp)": lambda f: wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[1]),
    "jit(jit)": lambda f: wg.jit(lambda x: wg.jit(f)(x)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_changes_outside(way):
    global RATE, WEIGHTS
    RATE, WEIGHTS = 2.0, np.ones(3)
    g = WAYS[way](lambda x: inner(x) * 5)
    assert g(1.0) == 30
    RATE = 3.0
    assert g(1.0) == 45
    WEIGHTS[0] = 2.0
    assert g(1.0) == 60
    WEIGHTS = np.zeros(4)
    assert g(1.0) == 0


def test_what_the_inner_function_writes():
    global WEIGHTS
    WEIGHTS = np.ones(3)
    f = wg.jit(lambda x: counting(x) + WEIGHTS[1])
    assert [f(1.0), f(2.0)] == [6.0, 16.0]
    np.testing.assert_array_equal(WEIGHTS, [1.0, 4.0, 1.0])
