"""In a batch nothing of a branch that no example takes may raise; of one that some take, only they may raise."""

from __future__ import annotations

import math

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


# ----------------------------------------------------- infinite derivatives of what is computed before it is not used


def unit(x):
    n = math.sqrt(x[1] * x[1] + x[2] * x[2])
    if n < 1e-9:
        return x[0] * 2.0
    return x[0] * x[1] / n


def in_each_iteration(x):
    s = 0.0
    for i in range(30):
        r = math.sqrt(x[i % 3])
        s += r if r > 0 else x[0]
    return s


def in_the_next_iteration(x):
    s, c = 0.0, 0.3
    for i in range(31):
        if c > 0:
            s += c * x[0]
        c = math.sqrt(x[i % 3])
    return s


def in_a_loop_before(x):
    y = np.zeros(30)
    for i in range(30):
        y[i] = math.sqrt(x[1] * (i + 1))
    return np.sum(y) if x[1] > 0 else x[0] * 2.0


def loop_that_does_not_run(x):
    y, t, n = np.sqrt(x[1:]), 2.0 * x[0], 0.0
    while n > x[0]:
        t, n = t + y[0], n - 1
    return t


@wg.jit
def helper(a, b):
    return np.where(a > 0, b, 2 * a)


def in_a_compiled_function(x):
    return np.sum(helper(x, np.sqrt(x)))


def in_a_branch_within(x):
    d, s = math.sqrt(x[1]), 0.0
    for i in range(20):
        if x[0] > 0:
            for j in range(3):
                e = math.sqrt(x[1] * (i + j + 1))
                s += x[2] / e + d if e > 0 else x[0]
    return s


POINT = np.array([0.25, 0.0, 0.0])
SLOPES = {
    unit: 2,
    in_each_iteration: 10 / (2 * 0.5) + 20,
    in_the_next_iteration: 0.3 + 10 * 1.5 * 0.5,  # of x₀ √x₀
    in_a_loop_before: 2,
    loop_that_does_not_run: 2,
    in_a_branch_within: 60,
}


@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_infinite_derivatives_of_what_is_not_used(f):
    want = [SLOPES[f], 0, 0]
    with np.errstate(all="ignore"):
        for gradient in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jit(wg.jacfwd(f))):
            np.testing.assert_allclose(gradient(POINT), want, rtol=1e-14)
        np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(np.array([POINT, POINT + 1]))[0], want, rtol=1e-14)
        np.testing.assert_allclose(wg.jit(wg.hessian(f))(POINT), wg.hessian(f)(POINT), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(POINT + 0.5), wg.grad(f)(POINT + 0.5), rtol=1e-13)


def test_infinite_derivatives_of_what_a_compiled_function_does_not_use():
    with np.errstate(all="ignore"):
        for gradient in (wg.grad(in_a_compiled_function), wg.jit(wg.grad(in_a_compiled_function))):
            np.testing.assert_allclose(gradient(POINT), [1, 2, 2], rtol=1e-14)
