"""What a function computes and uses nowhere may raise: compiled, it raises too, and so do its derivatives."""

import math

import numpy as np
import pytest
import scipy.linalg

import wengert as wg

V = np.array([0.3, 0.5, 0.9])
INDEFINITE, SINGULAR = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 2.0], [2.0, 4.0]])


def cholesky(x):
    np.linalg.cholesky(INDEFINITE * x[0])
    return np.sum(x)


def inverse_that_is_used_for_nothing(x):
    B = np.linalg.inv(SINGULAR * x[0])
    C = B @ B + 1.0  # noqa: F841
    return np.sum(x)


def triangular(x):
    scipy.linalg.solve_triangular(np.outer(x, x - x[1]), x)
    return np.sum(x)


def element(x, i=7):
    x[int(x[2] * i)]
    return np.sum(x)


def places(x):
    y = x[np.floor(x * 7).astype(int)]  # noqa: F841
    return np.sum(x)


def store(x):
    y = np.zeros(2)
    y[int(x[2] * 7)] = 1.0
    return np.sum(x)


def length(x):
    x + np.zeros(int(x[2] * 5) - 2)
    return np.sum(x)


def maximum_of_nothing(x):
    np.max(x[: int(x[0])])
    return np.sum(x)


def integer(x):
    int(x[0] / (x[1] - 0.5))
    return np.sum(x)


def domain(x):
    math.log(x[0] - 1.0)
    return np.sum(x)


def in_a_branch(x):
    if x[0] < 1.0:
        np.linalg.solve(SINGULAR * x[0], x[:2])
    return np.sum(x)


def in_a_loop(x):
    s = x[0]
    for k in range(int(x[2] * 10)):
        np.linalg.inv(SINGULAR * x[0])
        s = s + k
    return s


def in_a_loop_that_nobody_needs(x):
    B = SINGULAR * x[0]
    for _ in range(int(x[2] * 10)):
        B = np.linalg.inv(B)
    return np.sum(x)


def in_a_helper(x):
    def helper(i):
        return x[i] * 2.0

    helper(int(x[2] * 7))
    return np.sum(x)


PROGRAMS = [cholesky, inverse_that_is_used_for_nothing, triangular, element, places, store, length, maximum_of_nothing,
            integer, domain, in_a_branch, in_a_loop, in_a_loop_that_nobody_needs, in_a_helper]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_raises_as_in_python(f):
    with np.errstate(all="ignore"):
        with pytest.raises(Exception) as expected:
            f(V)
        for compiled in (wg.jit(f), wg.jit(wg.grad(f))):
            with pytest.raises(expected.type):
                compiled(V)


def test_nothing_is_kept_where_what_is_needed_raises_as_well():
    def solved(b):
        return np.sum(np.linalg.solve(INDEFINITE, b))

    def gathered(x, places):
        return np.sum(3.0 * x[places])

    assert wg.jit(wg.grad(solved)).lower(V[:2]).ir.count("= solve(") == 1
    assert "require" not in wg.jit(wg.grad(gathered)).lower(V, np.array([0, 2, 2])).ir
