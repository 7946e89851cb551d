"""`with` statements whose managers keep exceptions to themselves: compiled code does what Python does, or refuses."""

from __future__ import annotations

import contextlib
from contextlib import suppress

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


class Counting:
    """Swallows nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = True


@contextlib.contextmanager
def quiet():
    try:
        yield
    except (IndexError, ValueError):
        pass


def suppressing(x, n):
    """What was done before the exception stays done."""
    s, w = 0.0, x * 1.0
    with contextlib.suppress(IndexError, ValueError), Counting():
        s = s + x[n]
        w[0] = 7.0 * s
        if s > 0.6:
            raise ValueError("large")
        s = s + 10 * x[n + 1]
    return s + w[0]


def returning(x, n):
    with Counting(), suppress(IndexError):
        return x[n]
    return 3 * x[0]


def in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        with suppress(ValueError):
            if x[i % 4] < 0:
                raise ValueError
            s = np.tanh(s + x[i % 4])
        s = s + 0.1
    return s


def not_ours(x, n):
    """The name alone says nothing."""
    suppress = lambda *_: Counting()
    with suppress(IndexError):
        return x[n]


@pytest.mark.parametrize("f", [suppressing, returning, in_a_loop])
def test_suppressed_exceptions_are_jumps(f):
    x = np.array([0.5, -0.3, 0.2, 0.7])
    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    for n in (0, 2, 3, 9):
        assert compiled(x, n) == pytest.approx(f(x, n), rel=1e-14)
        wanted = [(f(x + e, n) - f(x - e, n)) / 2e-6 for e in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(gradient(x, n), wanted, atol=1e-8)


def test_what_is_called_so_may_be_something_else():
    compiled = wg.jit(not_ours)
    assert compiled(np.ones(4), 2) == 1.0
    with pytest.raises(IndexError):
        compiled(np.ones(4), 9)


@pytest.mark.parametrize("manager", [Quiet, quiet, lambda: contextlib.suppress(IndexError)])
def test_other_managers_that_swallow_are_refused(manager):
    def loop(x):
        s = 0.0
        with manager():
            for i in range(7):
                s = np.tanh(s + x[i])
        return s

    def branch(x):
        with manager():
            if x[0] > 0:
                raise IndexError
        return x[0]

    for f in (loop, branch):
        with pytest.raises(StagingError, match="try around|swallows"):
            wg.jit(f)(np.ones(4))


def test_managers_that_swallow_nothing_do_not_matter():
    def f(x, n):
        with Counting(), np.errstate(all="ignore"), contextlib.nullcontext(), quiet():
            y = np.sin(x)
        with Counting():
            y = y + x[n]
        return np.sum(y)

    assert wg.jit(f)(np.ones(4), 1) == f(np.ones(4), 1)
    with pytest.raises(IndexError):
        wg.jit(f)(np.ones(4), 9)
