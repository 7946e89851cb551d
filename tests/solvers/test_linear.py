"""`wg.linear_solve` and SciPy's iterative solvers: the same as with the matrix."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg as sl

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError

N = 12
B = np.sin(np.arange(N) + 1.0)


def along(u, k):
    """A map that is not symmetric."""
    return k * (2.5 * u - np.concatenate([u[1:], [0.0]]) - 0.6 * np.concatenate([[0.0], u[:-1]])) + 0.1 * u


def matrix(k):
    return np.stack([along(e, k) for e in np.eye(N)], 1)


by_matrix = lambda k, b: np.sum(np.linalg.solve(matrix(k), k * b) ** 3)


@pytest.mark.parametrize("method", ["auto", "gmres", "bicgstab", "direct"])
def test_functions(method):
    f = lambda k, b: np.sum(wg.linear_solve(lambda u: along(u, k), k * b, method=method) ** 3)
    for derive in (
        wg.grad,
        wg.jacfwd,
        lambda f: wg.jit(wg.grad(f)),
        lambda f: wg.grad(wg.grad(f)),
        lambda f: wg.jacfwd(wg.grad(f)),
        lambda f: wg.grad(f, 1),
        lambda f: wg.hessian(f, 1),
        lambda f: lambda k, b: wg.vmap(wg.grad(f), in_axes=(0, None))(np.array([k, 2 * k]), b),
    ):
        np.testing.assert_allclose(derive(f)(1.3, B), derive(by_matrix)(1.3, B), rtol=1e-7, atol=1e-9)


def test_symmetric_and_of_any_shape():
    poisson = lambda u: 4 * u - np.roll(u, 1, 0) - np.roll(u, -1, 0) - np.roll(u, 1, 1) - np.roll(u, -1, 1) + u
    b = np.random.default_rng(0).normal(size=(4, 5))
    x = wg.linear_solve(poisson, b, method="cg")
    np.testing.assert_allclose(poisson(x), b, atol=1e-10)
    slopes = wg.jacobian(lambda b: wg.linear_solve(poisson, b, method="cg"))(b).reshape(20, 20)
    np.testing.assert_allclose(slopes @ wg.jacobian(poisson)(b).reshape(20, 20), np.eye(20), atol=1e-9)


def test_matrices():
    A = matrix(1.3)
    for given in (A, scipy.sparse.csr_array(A)):
        np.testing.assert_allclose(
            wg.jacobian(lambda b, A=given: wg.linear_solve(A, b))(B), np.linalg.inv(A), atol=1e-10
        )


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
def test_scipy(name):
    solve = getattr(sl, name)
    S = matrix(1.0) @ matrix(1.0).T
    exact = lambda k: np.sum(np.linalg.solve(k * S, B) ** 2)
    dense = lambda k: np.sum(solve(k * S, B, rtol=1e-13)[0] ** 2)
    operator = lambda k: np.sum(
        solve(sl.LinearOperator((N, N), matvec=lambda v: k * (S @ v), dtype=float), B, rtol=1e-13)[0] ** 2
    )
    for f in (dense, operator):
        assert wg.grad(f)(1.3) == pytest.approx(wg.grad(exact)(1.3), rel=1e-7)
        assert wg.jit(wg.grad(f))(1.3) == pytest.approx(wg.grad(exact)(1.3), rel=1e-7)
    assert dense(1.3) == np.sum(solve(1.3 * S, B, rtol=1e-13)[0] ** 2)


def test_mistakes():
    with pytest.raises(ConvergenceError, match="has not converged"):
        wg.linear_solve(lambda u: along(u, 1.0), B, method="gmres", maxiter=1, tol=1e-15) + wg.linear_solve(
            lambda u: np.roll(u, 1), B, method="cg", maxiter=2
        )
    with pytest.raises(MismatchError, match="shape"):
        wg.linear_solve(lambda u: u[1:], B)
