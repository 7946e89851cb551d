"""Equations with loops and branches of their own: all placements of jit give the derivative of the answer."""

import numpy as np
import pytest

import wengert as wg


def _with_a_loop(x, a):
    y = x
    for _ in range(5):
        y = y + 0.1 * np.sin(y * a)
    return y - a


def _with_a_while(x, a):
    y, s = x, 0.0
    while s < 3.0:
        y, s = y + 0.1 * np.sin(y * a), s + 1.0
    return y - a


def _with_a_branch(x, a):
    return (x**3 if x > 0.5 else x) - a


def _root(equation):
    return lambda a: wg.root(equation, 1.0, a)


def _time_of_fall(g):
    """An event by hand: the time at which a trajectory comes to the ground."""
    height = lambda t: wg.odeint(lambda t, y: np.stack([y[1], -g]), np.array([2.0, 1.0]), np.stack([0.0, t]))[-1][0]
    return wg.root(height, 0.8)


@pytest.mark.parametrize("equation", [_with_a_loop, _with_a_while, _with_a_branch])
def test_placements(equation):
    f = _root(equation)
    at, step = 1.3, 1e-5
    slope = (f(at + step) - f(at - step)) / (2 * step)
    bend = (wg.grad(f)(at + step) - wg.grad(f)(at - step)) / (2 * step)
    for derive in (wg.grad, wg.derivative):
        for placed in (derive(f), wg.jit(derive(f)), derive(wg.jit(f))):
            assert placed(at) == pytest.approx(slope, rel=1e-7)
    assert wg.jit(wg.grad(wg.grad(f)))(at) == pytest.approx(bend, rel=1e-6)


@pytest.mark.slow
def test_the_time_of_an_event_in_compiled_code():
    exact = lambda g: (1 + np.sqrt(1 + 4 * g)) / g
    assert wg.jit(wg.grad(_time_of_fall))(9.81) == pytest.approx(wg.grad(exact)(9.81))
