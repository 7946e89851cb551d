"""To operators an interval is one value, alone and in containers, of which derivatives are taken; not two bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import wengert as wg

X, Y = wg.interval(1.0, 1.25), wg.interval(2.0, 2.5)
A = wg.interval(np.array([1.0, 2.0, -1.0]), np.array([1.25, 2.5, -0.5]))


def bounds(x):
    return (float(x.lo), float(x.hi))


def same(x, low, high):
    """As wide as it has to be, up to rounding."""
    assert x.lo <= low <= high <= x.hi
    np.testing.assert_allclose(bounds(x), (low, high), rtol=1e-14, atol=1e-300)


def product(x, y):
    return x * y


@pytest.mark.parametrize("around", [lambda f: f, wg.jit, wg.enclose], ids=["eager", "jit", "enclose"])
def test_gradients_with_respect_to_several(around):
    dx, dy = around(wg.grad(product, (0, 1)))(X, Y)
    same(dx, 2.0, 2.5)
    same(dy, 1.0, 1.25)
    found = around(wg.grad(lambda d: d["a"] * d["b"] ** 2))({"a": X, "b": Y})
    same(found["a"], 4.0, 6.25)
    same(found["b"], 4.0, 6.25)


def test_products_with_derivatives():
    value, dot = wg.jvp(product, (X, Y), (1.0, 0.0))
    same(value, 2.0, 3.125)
    same(dot, 2.0, 2.5)
    same(wg.jvp(product, (X, Y), (wg.interval(1.0, 2.0), Y))[1], 2.0 + 2.0, 5.0 + 3.125)
    value, pull = wg.vjp(product, X, Y)
    same(pull(1.0)[1], 1.0, 1.25)
    value, J = wg.linearize(product, X, Y)
    same((J @ np.array([0.0, 1.0]))[0], 1.0, 1.25)
    for mode in ("forward-reverse", "reverse-forward", "reverse-reverse"):
        same(wg.hvp(lambda x: x**3, mode=mode)(X, 1.0), 6.0, 7.5)


def test_series():
    y = wg.jet(product, [X, 1.0], [Y, 2.0])
    same(y[1], 2.0 + 2.0, 2.5 + 2.5)
    y = wg.jet(lambda d: d["a"] * d["b"], [{"a": X, "b": Y}, {"a": 0.0, "b": 1.0}])
    same(y[1], 1.0, 1.25)
    tensor = wg.derivative_tensor(lambda x: x[0] ** 2 * x[1], order=2)(wg.interval(np.array([1.0, 3.0])))
    exact = np.array([[6.0, 2.0], [2.0, 0.0]])
    assert np.all((tensor.lo <= exact) & (exact <= tensor.hi))
    assert np.max(tensor.width) < 1e-12


def test_series_of_a_differential_equation():
    """y′ = −y² has the coefficients (−1)ᵏ y₀ᵏ⁺¹, alone and in containers."""
    alone = wg.taylor_ode(lambda t, y: -y * y, X, 4)
    held = wg.taylor_ode(lambda t, d: {"y": -d["y"] * d["y"]}, {"y": X}, 4)
    for k in range(5):
        ends = sorted([(-1) ** k * 1.0, (-1) ** k * 1.25 ** (k + 1)])
        same(alone[k], *ends)
        same(held[k]["y"], *ends)


@pytest.mark.parametrize("order", [3, 21, 25, 30])
def test_derivatives_are_rounded_outward(order):
    """The n-th derivative is n! times a coefficient; from 23 on, n! is no float."""
    x = wg.interval(0.3)
    for found in (wg.derivatives(np.exp, order)(x)[order], wg.enclose(wg.derivative(np.exp, order))(x)):
        with mp.workdps(40):
            assert found.lo <= mp.exp(mpf(0.3)) <= found.hi
    y = wg.derivative(lambda x: x**order, order)(wg.interval(1.0))
    assert int(y.lo) <= math.factorial(order) <= int(y.hi)


def ring(x):
    return np.sin(x) * np.roll(x, 1)


RING = [[1, 0, 1], [1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize("local", [False, True])
def test_patterns(local):
    assert wg.sparsity(ring, local=local)(A).toarray().astype(int).tolist() == RING
    assert wg.sparsity(product, local=local)(np.ones(3), A).toarray().astype(int).tolist() == np.eye(3).tolist()
    energy = lambda x: np.sum(x[1:] * x[:-1])
    assert wg.sparsity(energy, order=2, local=local)(A).nnz == 4


@pytest.mark.parametrize("around", [lambda f: f, wg.jit, wg.enclose], ids=["eager", "jit", "enclose"])
def test_sparse_derivatives_are_dense_ones(around):
    dense = wg.jacobian(ring)(A)
    for sparse in (True, np.array(RING, bool)):
        found = around(wg.jacobian(ring, sparse=sparse))(A)
        assert found.shape == (3, 3)
        assert found.nnz == 6
        np.testing.assert_allclose(found.toarray().lo, dense.lo, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.toarray().hi, dense.hi, rtol=1e-12, atol=1e-14)
    second = around(wg.hessian(lambda x: np.sum(ring(x)), sparse=True))(A)
    want = wg.hessian(lambda x: np.sum(ring(x)))(A)
    np.testing.assert_allclose(second.toarray().lo, want.lo, rtol=1e-12, atol=1e-14)


def test_a_pattern_that_is_too_small_is_found_out():
    with pytest.raises(wg.errors.PatternError):
        wg.jacobian(ring, sparse=np.eye(3, dtype=bool))(wg.interval(A.lo))


def test_products_with_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    M = sparse.csr_array(np.array([[0.1, 0.0, 3.0], [0.0, -2.0, 0.0]]))
    y = wg.enclose(lambda x: M @ x)(A)
    want = wg.enclose(lambda x: M.toarray() @ x)(A)
    np.testing.assert_allclose(y.lo, want.lo, rtol=1e-14)
    np.testing.assert_allclose(y.hi, want.hi, rtol=1e-14)
    for x in np.random.default_rng(1).uniform(A.lo, A.hi, (20, 3)):
        assert M @ x in y


def test_what_a_function_of_python_numbers_gives_can_be_printed():
    assert str(wg.enclose(lambda x: math.fabs(x))(X)) == "interval(1.0, 1.25)"
