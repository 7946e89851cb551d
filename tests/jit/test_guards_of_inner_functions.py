"""A compiled function that calls compiled functions depends on what these find outside."""

import dataclasses

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


@dataclasses.dataclass
class Layer:
    weight: np.ndarray

    def __call__(self, x):
        return x @ self.weight


def test_variables_of_the_function_itself_are_no_business_of_the_outside():
    """A training step with a function that closes over the model, whose name is bound anew: captured once."""

    @wg.jit
    def step(layer, x):
        slope = wg.grad(lambda factor: np.sum((layer(x) * factor) ** 2))(2.0)
        layer = Layer(layer.weight * 0.9 + 0.01 * slope)
        return layer

    layer, x = Layer(np.ones(3)), np.arange(3.0)
    for _ in range(4):
        layer = step(layer, x)
    assert [len(kept) for kept in step._versions.values()] == [1]


def test_variables_around_are_noticed_through_inner_functions():
    factor, items, array = 2.0, [1.0], np.ones(3)

    def change(to):
        nonlocal factor
        factor = to

    @wg.jit
    def f(x):
        g = lambda y: y * factor + items[0] * np.sum(array)
        return (lambda y: g(y) * factor)(x)

    assert f(1.0) == 2 * (2 + 3)
    change(3.0)
    assert f(1.0) == 3 * (3 + 3)
    items[0] = 2.0
    assert f(1.0) == 3 * (3 + 6)
    array[:] = 2
    assert f(1.0) == 3 * (3 + 12)
