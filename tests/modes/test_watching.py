"""Looking on changes nothing: the same numbers in every sweep, and everything that is done is told."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import SCENARIOS

import wengert as wg
from wengert.modes.watching import Watch, looking_on
from wengert.ops.choice import choice

every = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)


@every
def test_derivatives_are_the_same_to_the_last_bit(scenario):
    operators = [wg.grad, wg.jacfwd, lambda f: lambda x: wg.vjp(f, x)[1](1.0)[0]]
    for operator in operators:
        expected = scenario.ravel(operator(scenario.f)(scenario.x))
        with looking_on(Watch()):
            found = scenario.ravel(operator(scenario.f)(scenario.x))
        np.testing.assert_array_equal(found, expected)


def test_nested_derivatives_are_the_same():
    f = lambda x: np.sum(np.exp(np.sin(x)) * x**3) + np.linalg.norm(x)
    x = np.array([0.3, 0.7, 1.1])
    expected = wg.hessian(f)(x), wg.jacrev(wg.grad(f))(x)
    with looking_on(Watch()):
        found = wg.hessian(f)(x), wg.jacrev(wg.grad(f))(x)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


class Listing(Watch):
    def __init__(self):
        self.forwards, self.backwards = [], []

    def operation(self, step, args, apply):
        self.forwards.append((step.name, step.place.line))
        return apply()

    def passed(self, step, ct, parts):
        self.backwards.append((step.name, step.place.line))


def test_both_sweeps_are_told_with_their_lines():
    def f(x):
        y = np.sin(x)
        return y * x

    first = f.__code__.co_firstlineno
    watch = Listing()
    with looking_on(watch):
        wg.grad(f)(1.0)
    told = [("sin", first + 1), ("multiply", first + 2)]
    assert watch.forwards == told
    assert watch.backwards == told[::-1]


def test_nobody_looks_on_afterwards_even_if_it_fails():
    with pytest.raises(ZeroDivisionError), looking_on(Watch()):
        1 / 0
    assert choice.is_default()
    watch = Listing()
    with looking_on(watch):
        pass
    wg.grad(np.sin)(1.0)
    assert watch.forwards == []


def test_a_compiled_function_is_compiled_again_afterwards():
    f = wg.jit(lambda x: np.sum(x**2))
    x = np.arange(3.0)
    f(x)
    f(x)
    with looking_on(Watch()):
        assert f(x) == 5.0
    assert f(x) == 5.0
