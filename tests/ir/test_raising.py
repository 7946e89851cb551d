"""What might raise is not run where the program would not have run it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import wengert as wg

X = np.array([1.0, 2.0, 3.0])
B = np.array([[1.0, 2.0], [3.0, 4.0]])


def largest(x, k):
    return np.max(x[:k])


def at_smallest(x, k):
    return x[np.argmin(x[:k])]


def log_of_sum(x, k):
    return np.log(np.sum(np.exp(x[:k] - np.max(x[:k]))))


def divided(x, k):
    return x[10 // k]


@pytest.mark.parametrize("step", [largest, at_smallest, log_of_sum, divided])
def test_nothing_that_raises_moves_out_of_a_loop_without_iterations(step):
    def f(x, k, n):
        s = 0.0
        for _ in range(n):
            s = s + step(x, k)
        return s

    compiled = wg.jit(f)
    assert compiled(X, 0, 0) == 0
    with pytest.raises((ValueError, ZeroDivisionError, IndexError)):
        f(X, 0, 1)
    with pytest.raises((ValueError, ZeroDivisionError, IndexError)):
        compiled(X, 0, 1)


def triangular(x):
    if x > 0:
        return np.sum(scipy.linalg.solve_triangular(np.array([1.0, 2.0]) * x * np.eye(2), np.ones(2), lower=True))
    return x


def singular_values(x):
    if x > 0:
        return np.sum(np.linalg.svd(B * np.log(x))[1])
    return x


def pseudo_inverse(x):
    if x > 0:
        return np.sum(np.linalg.pinv(B * np.log(x)) ** 2)
    return x


def eigenvalues(x):
    if x > 0:
        return np.sum(np.linalg.eig(B * np.log(x))[0]).real
    return x


def integer_power(x):
    k = int(x)
    if k >= 0:
        return 2**k * x
    return x


def first_few(x):
    if x > 0:
        return np.max(np.arange(5.0)[: int(x)]) * x
    return x


@pytest.mark.parametrize("f", [triangular, singular_values, pseudo_inverse, eigenvalues, integer_power, first_few])
def test_branches_that_are_not_taken_do_not_raise_in_a_batch(f):
    xs = np.array([2.0, 0.0, -1.0, 3.0])
    values = [f(x) for x in xs]
    slopes = [wg.grad(wg.jit(f))(x) for x in xs]
    with np.errstate(all="ignore"):
        assert wg.vmap(wg.jit(f))(xs) == pytest.approx(values)
        assert wg.jit(wg.vmap(f))(xs) == pytest.approx(values)
        assert wg.vmap(wg.grad(wg.jit(f)))(xs) == pytest.approx(slopes)
