"""`copy.copy` and `copy.deepcopy` of what comes from outside, in compiled functions."""

import copy

import numpy as np
import pytest

import wengert as wg


class State:
    def __init__(self):
        self.w, self.k = np.ones(3), 2.0
        self.parts = [np.ones(2), {"a": np.zeros(2)}, (1.0, np.arange(2.0))]
        self.itself = self


class Own:
    def __init__(self):
        self.w = np.ones(2)

    def __deepcopy__(self, memo):
        new = Own()
        new.w = self.w * 2
        return new


def deep(s, x):
    t = copy.deepcopy(s)
    assert t is t.itself
    t.w += x
    t.k += 1
    t.parts[0][0] = x * x
    t.parts[1]["a"] += 5 * x
    t.parts.append(x)
    t.parts[2][1][1] *= x
    return np.sum(t.w) * t.k + np.sum(t.parts[0]) + np.sum(t.parts[1]["a"]) + len(t.parts) + np.sum(t.parts[2][1])


def shallow(s, x):
    t = copy.copy(s)
    t.w = t.w * x
    t.k += 1
    t.new = x
    parts = copy.copy(s.parts)
    parts[0] = parts[0] + x
    return np.sum(t.w) * t.k * t.new + np.sum(parts[0]) + np.sum(s.parts[0])


def in_a_loop(s, x):
    total = 0.0
    for _ in range(8):
        t = copy.deepcopy(s)
        t.w[0] += x
        total = total + np.sum(t.w**2) * x
    return total


@pytest.mark.parametrize("f", [deep, shallow, in_a_loop], ids=lambda f: f.__name__)
def test_copies_of_what_is_outside(f):
    s = State()
    value, slope = wg.jit(lambda x: f(s, x)), wg.jit(wg.grad(lambda x: f(s, x)))

    def agree(x):
        np.testing.assert_allclose(value(x), f(s, x), rtol=1e-14)
        np.testing.assert_allclose(slope(x), (f(s, x + 1e-6) - f(s, x - 1e-6)) / 2e-6, rtol=1e-7)

    agree(2.0)
    s.w[:] = 5.0  # copies are made of what is there at each call
    s.parts[0][:] = 7.0
    agree(2.0)
    s.k, s.w = 3.0, np.arange(3.0)
    agree(1.5)
    assert list(vars(s)) == ["w", "k", "parts", "itself"]
    assert len(s.parts) == 3


def test_a_class_with_a_way_of_its_own():
    s = Own()
    f = wg.jit(lambda x: np.sum(copy.deepcopy(s).w) * x)
    assert f(2.0) == 8.0
