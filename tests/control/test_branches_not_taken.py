"""In a batch nothing of a branch that no example takes may raise; of one that some take, only they may raise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import wengert as wg

SINGULAR = np.array([[1.0, 0.0], [0.0, 0.0]])
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
TABLE = np.array([1.0, 2.0, 3.0])
ONES = np.ones(2)


def solved(x):
    return np.sum(np.linalg.solve(SINGULAR * x, ONES))


def triangular(x):
    return np.sum(scipy.linalg.solve_triangular(SINGULAR * x, ONES, lower=True))


def inverse(x):
    return np.sum(np.linalg.inv(SINGULAR * x))


def cholesky(x):
    return np.sum(np.linalg.cholesky(INDEFINITE * x))


def looked_up(x):
    return TABLE[int(wg.stop_gradient(x)) + 7] * x


def integer_power(x):
    k = int(wg.stop_gradient(x))
    return np.sum(np.array([2, 3]) ** -k) * x


RAISING = [solved, triangular, inverse, cholesky, looked_up, integer_power]
EACH = pytest.mark.parametrize("bad", RAISING, ids=lambda f: f.__name__)
X = np.array([1.5, 2.5])


def chosen(bad):
    def f(x):
        if x > 0:
            return x * x
        return bad(-x) * x

    return f


def in_a_loop(bad):
    def f(x):
        s = x
        for i in range(12):
            if x * i < -1:
                s = s + bad(-x)
            else:
                s = s * 1.1
        return s

    return f


@EACH
@pytest.mark.parametrize("around", [chosen, in_a_loop])
def test_a_branch_that_nobody_takes(bad, around):
    f = around(bad)
    want = [f(x) for x in X]
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(X), want, rtol=1e-13)
    np.testing.assert_allclose(wg.vmap(wg.jit(f))(X), want, rtol=1e-13)
    np.testing.assert_allclose(wg.vmap(f)(X), want, rtol=1e-13)


@EACH
def test_gradients_where_nobody_takes_it(bad):
    f = chosen(bad)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(X), 2 * X, rtol=1e-13)
    np.testing.assert_allclose(wg.vmap(wg.grad(wg.jit(f)))(X), 2 * X, rtol=1e-13)


def test_only_those_who_take_it():
    """The branch is fine for the example that takes it, and would raise for the others."""

    def f(x):
        if x > 2:
            return np.sum(np.linalg.solve(np.array([[1.0, 0.0], [0.0, 1.0]]) * (np.maximum(x, 2) - 2), ONES))
        return x

    want = [f(x) for x in X]
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(X), want)
    np.testing.assert_allclose(wg.vmap(f)(X), want)


@pytest.mark.parametrize(("bad", "error"), [(solved, np.linalg.LinAlgError), (looked_up, IndexError)])
def test_who_takes_it_raises(bad, error):
    f = chosen(bad)
    for g in (wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f)), wg.vmap(f)):
        with pytest.raises(error):
            g(np.array([1.0, -1.0]))
