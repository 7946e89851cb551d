"""An index outside of an array, in a `try` that catches that: compiled code does what Python does, in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.array([0.5, 1.5, 2.5])
PLACES = np.array([[0, 1], [2, 1], [3, 1], [-3, 2], [-4, 0], [1, 7]])
"""Two integers that only the running program knows."""


def reads(x, k):
    try:
        return x[k[0]] * 2.0
    except IndexError:
        return x[1] * 0.5


def writes(x, k):
    y = x * 1.0
    try:
        y[k[0]] = x[0] * 3.0
        y[k[1]] += x[1]
    except LookupError:
        y[0] = x[2]
    return np.sum(y * y)


def two_axes(x, k):
    try:
        return np.outer(x, x)[k[0], k[1]]
    except Exception:
        return x[0]


def gathers(x, k):
    try:
        return np.sum(x[k] ** 2)
    except IndexError:
        return x[0]


def of_a_list(x, k):
    v = [x[0], x[1] * x[2]]
    try:
        return v[k[0]]
    except IndexError:
        return x[2] * 7.0


def of_a_part(x, k):
    y = x[k[1] :]
    try:
        return y[0] + y[1] * 2.0
    except IndexError:
        return x[0] * 3.0


def each_turn(x, k):
    s = 0.0
    for i in range(4):
        try:
            s += x[i + k[0]] * x[i]
        except IndexError:
            s -= x[1]
    return s


def the_whole_loop(x, k):
    s = 0.0
    try:
        for i in range(4):
            s += x[i + k[0]] ** 2
    except IndexError:
        s = s * 2.0
    return s


def in_a_helper(x, k):
    def at(i):
        return x[i] * x[0]

    try:
        s = at(k[0])
        s = s + at(k[1])
    except IndexError:
        s = x[1]
    finally:
        x = x * 2.0
    return s + x[0]


PROGRAMS = [reads, writes, two_axes, gathers, of_a_list, of_a_part, each_turn, the_whole_loop, in_a_helper]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_places_outside_are_caught(f):
    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    forward = wg.jit(lambda x, k: wg.jvp(lambda x: f(x, k), (x,), (np.ones(3),))[1])
    for k in PLACES:
        expected = wg.grad(f)(X, k)  # without compilation: Python raises
        np.testing.assert_allclose(compiled(X, k), f(X, k), rtol=1e-12)
        np.testing.assert_allclose(gradient(X, k), expected, rtol=1e-12)
        np.testing.assert_allclose(forward(X, k), np.sum(expected), rtol=1e-12)
    both = [wg.jit(wg.vmap(wg.value_and_grad(f), (None, 0))), wg.vmap(wg.jit(wg.value_and_grad(f)), (None, 0))]
    for batched in both:
        values, gradients = batched(X, PLACES)
        np.testing.assert_allclose(values, [f(X, k) for k in PLACES], rtol=1e-12)
        np.testing.assert_allclose(gradients, [wg.grad(f)(X, k) for k in PLACES], rtol=1e-12)
