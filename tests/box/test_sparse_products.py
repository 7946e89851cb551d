"""Sparse matrices: constants in products, matrices of traced entries, linear systems."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from harness import check

import wengert as wg
from wengert.capture.hooks import instrument
from wengert.errors import UnsupportedFunctionError

RNG = np.random.default_rng(3)
D = np.array([[0.5, 0.0, -1.0], [2.0, 0.3, 0.0], [0.0, 0.0, 1.5], [0.1, -0.4, 0.0]])
X, Y, XX = RNG.normal(size=3), RNG.normal(size=4), RNG.normal(size=(3, 2))


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_products_with_constant_matrices(form, kind):
    A = getattr(sp, f"{form}_{kind}")(D)
    for f, x in (
        (lambda x: A @ x, X),
        (lambda x: A @ x, XX),
        (lambda y: A.T @ y, Y),
        (lambda y: y @ A, Y),
        (instrument(lambda x: A.dot(x)), X),
    ):
        J = wg.jacobian(f)(x)
        np.testing.assert_allclose(np.tensordot(J, x, x.ndim), f(x), rtol=1e-13)
        np.testing.assert_allclose(wg.jacfwd(f)(x), J)
    np.testing.assert_array_equal(wg.jacobian(lambda x: A @ x)(X), D)
    if kind == "matrix":
        np.testing.assert_array_equal(wg.jacobian(lambda x: A * x)(X), D)


def test_products_to_second_order():
    A = sp.csr_array(D)
    check(lambda x: np.sin(A @ x), X)
    check(lambda x: (A @ x) ** 2, XX)
    check(lambda y: y * (y @ A)[0], Y)
    np.testing.assert_allclose(wg.vmap(lambda x: A @ x)(XX.T), (D @ XX).T)


def test_other_operators():
    A = sp.csr_array(D)
    check(lambda c: (c * A) @ X, 0.7)
    check(lambda Z: A + Z * Z, RNG.normal(size=(4, 3)))
    check(lambda Z: Z * Z - A, RNG.normal(size=(4, 3)))
    check(lambda Z: (Z * A) @ X, RNG.normal(size=(4, 3)))
    with pytest.raises(UnsupportedFunctionError, match="toarray"):
        wg.grad(lambda x: np.sum(x**A))(X)
    with pytest.raises(ValueError, match="mismatch"):
        wg.grad(lambda y: np.sum(A @ y))(Y)


def test_systems_with_constant_matrices():
    C = sp.csc_matrix(np.diag([2.0, 3.0, 1.0]) + 0.1)
    check(instrument(lambda b: sl.spsolve(C, b)), X, reference=lambda args, vs: sl.spsolve(C, vs[0]))
    check(instrument(lambda b: sl.spsolve(C, b) ** 2), XX)


def test_systems_with_traced_entries():
    def f(data, b):
        A = sp.csr_matrix((data, np.array([0, 1, 1, 2, 2, 3, 3]), np.array([0, 2, 4, 6, 7])), shape=(4, 4))
        return sl.spsolve(A, b)

    check(instrument(f), RNG.uniform(1, 2, size=7), Y)


def test_a_heat_equation():
    """An implicit step with a conductivity per cell: tridiagonal, built from diagonals."""

    def step(k, u):
        A = sp.diags([-k[1:], 1 + 2 * k, -k[:-1]], [-1, 0, 1], format="csc")
        return sl.spsolve(A, u)

    k, u = RNG.uniform(0.1, 0.5, size=6), RNG.normal(size=6)
    check(instrument(step), k, u)
    dense = np.diag(1 + 2 * k) - np.diag(k[1:], -1) - np.diag(k[:-1], 1)
    np.testing.assert_allclose(wg.jacobian(step, argnums=1)(k, u), np.linalg.inv(dense), rtol=1e-12)


def test_matrices_of_traced_entries():
    def f(k, x):
        A = sp.coo_array((k, (np.array([0, 1, 0, 2]), np.array([0, 1, 0, 3]))), shape=(3, 4))
        B = sp.csc_array((k, np.array([0, 2, 1, 2]), np.array([0, 1, 2, 4, 4])), shape=(3, 4))
        return A @ x + x[:3] * (B.T @ x[:3])[:3] + (2 * A - B / 3.0).toarray()[0, :3] + (A + sp.csr_array(D.T)).dot(x)

    check(instrument(f), RNG.normal(size=4), Y)


def test_batched_systems():
    C = sp.csc_matrix(np.diag([2.0, 3.0, 1.0]) + 0.1)
    np.testing.assert_allclose(wg.vmap(lambda b: sl.spsolve(C, b))(XX.T), np.linalg.solve(C.toarray(), XX).T)
