"""Several parts of one array, taken together: only the rows that are used are computed."""

import numpy as np
import pytest

import wengert as wg
from wengert.ir.node import all_nodes

X = np.random.default_rng(0).normal(size=(40, 3))
W = np.random.default_rng(1).normal(size=(3, 5))
CORNERS = np.random.default_rng(2).integers(-40, 40, size=(8, 3))


def rows_computed(f, *args) -> set[int]:
    nodes = all_nodes(wg.jit(f).lower(*args).program.block)
    return {n.outs[0].type.shape[-2] for n in nodes if n.op.name == "matmul"}


def f(x, corners):
    y = np.tanh(x @ W)
    a, b, c = y[corners[:, 0]], y[corners[:, 1]], y[corners[:, 2]]
    return a * b - c


def test_parts_of_a_product():
    np.testing.assert_allclose(wg.jit(f)(X, CORNERS), f(X, CORNERS), rtol=1e-14)
    assert rows_computed(f, X, CORNERS) == {24}


def test_derivatives():
    J = wg.jacobian(f, mode="forward")
    np.testing.assert_allclose(wg.jit(J)(X, CORNERS), J(X, CORNERS), rtol=1e-13)

    def total(x):
        return np.sum(f(x, CORNERS) ** 2)

    np.testing.assert_allclose(wg.jit(wg.grad(total))(X), wg.grad(total)(X), rtol=1e-12)


def test_rows_that_do_not_exist_raise():
    bad = CORNERS.copy()
    bad[3, 1] = 40
    with pytest.raises(IndexError, match="40"):
        wg.jit(f)(X, bad)


def test_too_many_parts_or_other_uses_leave_the_whole():
    many = np.random.default_rng(2).integers(0, 40, size=(16, 3))
    np.testing.assert_allclose(wg.jit(f)(X, many), f(X, many), rtol=1e-14)
    assert rows_computed(f, X, many) == {40}

    def g(x, corners):
        y = np.tanh(x @ W)
        return y[corners[:, 0]] + y[corners[:, 1]], np.sum(y)

    for got, wanted in zip(wg.jit(g)(X, CORNERS), g(X, CORNERS), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13)
    assert rows_computed(g, X, CORNERS) == {40}


def test_rows_that_depend_on_other_parts():
    def g(x, corners):
        y = np.tanh(x @ W)
        a = y[corners[:, 0]]
        second = np.argmax(a, axis=1)
        return a + y[second]

    np.testing.assert_allclose(wg.jit(g)(X, CORNERS), g(X, CORNERS), rtol=1e-14)
