"""The Jacobian as a linear operator: what SciPy expects of one, and differentiation through its products.

The function is x ↦ sin(A x) with A 4×3, whose Jacobian diag(cos(A x)) A is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, gmres, lsmr, lsqr, svds

import wengert as wg


@pytest.fixture
def case(rng: np.random.Generator) -> Any:
    A, x = rng.normal(size=(4, 3)), rng.normal(size=3)
    y, J = wg.linearize(lambda x: np.sin(A @ x), x)
    np.testing.assert_allclose(y, np.sin(A @ x))
    return J, np.cos(A @ x)[:, None] * A


def test_products(case, rng):
    J, M = case
    v, r = rng.normal(size=3), rng.normal(size=4)
    V, R = rng.normal(size=(3, 2)), rng.normal(size=(4, 5))
    assert isinstance(J, LinearOperator)
    assert J.shape == (4, 3)
    assert J.dtype == np.float64
    np.testing.assert_allclose(J.dense(), M)
    np.testing.assert_allclose(J.T.dense(), M.T)
    for got, expected in [
        (J @ v, M @ v), (J * v, M @ v), (J(v), M @ v), (J.dot(v), M @ v), (J.matvec(v), M @ v),
        (J.matvec(v[:, None]), (M @ v)[:, None]), (J @ V, M @ V), (J.matmat(V), M @ V), (J.dot(V), M @ V),
        (J.T @ r, M.T @ r), (J.H @ r, M.T @ r), (J.rmatvec(r), M.T @ r), (J.adjoint() @ r, M.T @ r),
        (J.T @ R, M.T @ R), (J.H @ R, M.T @ R), (J.rmatmat(R), M.T @ R), (J.transpose() @ r, M.T @ r),
        (J.T.T @ v, M @ v), (J.H.H @ v, M @ v), (J.T.rmatvec(v), M @ v), (J.T.rmatmat(V), M @ V),
        (J @ V[:, :0], np.zeros((4, 0))), (J @ [1.0, 2.0, 3.0], M @ [1, 2, 3]),
        (J @ np.array([1, 2, 3]), M @ [1, 2, 3]),
    ]:  # fmt: skip
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_complex_vectors(case, rng):
    """A real operator acts on real and imaginary parts; SciPy's eigenvalue solvers rely on that."""
    J, M = case
    v, R = rng.normal(size=3) + 1j * rng.normal(size=3), rng.normal(size=(4, 2)) + 1j
    np.testing.assert_allclose(J @ v, M @ v)
    np.testing.assert_allclose(J.T @ R, M.T @ R)


def test_arithmetic_of_operators(case, rng):
    J, M = case
    v, r = rng.normal(size=3), rng.normal(size=4)
    for operator, matrix in [
        (2 * J, 2 * M),
        (J * 2, 2 * M),
        (-J, -M),
        (J + J, 2 * M),
        (J - 3 * J, -2 * M),
        (J.T @ J, M.T @ M),
        (J @ J.T, M @ M.T),
        (J.T * J, M.T @ M),
        (J.H @ J, M.T @ M),
        ((J.T @ J) ** 2, M.T @ M @ M.T @ M),
        (J.T @ J + 0.5 * aslinearoperator(np.eye(3)), M.T @ M + 0.5 * np.eye(3)),
        (aslinearoperator(np.ones((2, 4))) @ J, np.ones((2, 4)) @ M),
        (J @ aslinearoperator(np.ones((3, 2))), M @ np.ones((3, 2))),
        (aslinearoperator(J), M),
        ((2 * J).T, 2 * M.T),
        ((J.T @ J).T, M.T @ M),
    ]:
        w = np.resize(v, operator.shape[1])
        np.testing.assert_allclose(operator @ w, matrix @ w, rtol=1e-12)
        u = np.resize(r, operator.shape[0])
        np.testing.assert_allclose(operator.T @ u, matrix.T @ u, rtol=1e-12)
        np.testing.assert_allclose(operator @ np.eye(operator.shape[1]), matrix, rtol=1e-12, atol=1e-14)


def test_solvers(case, rng):
    J, M = case
    b, c = rng.normal(size=4), rng.normal(size=3)
    best = np.linalg.lstsq(M, b, rcond=None)[0]
    np.testing.assert_allclose(lsqr(J, b, atol=1e-14, btol=1e-14)[0], best, rtol=1e-8)
    np.testing.assert_allclose(lsmr(J, b, atol=1e-14, btol=1e-14)[0], best, rtol=1e-8)
    found, info = cg(J.T @ J, c, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(found, np.linalg.solve(M.T @ M, c), rtol=1e-7)
    found, info = gmres(J.T @ J, c, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(found, np.linalg.solve(M.T @ M, c), rtol=1e-7)
    largest = svds(J, k=1, return_singular_vectors=False, rng=np.random.default_rng(0))
    np.testing.assert_allclose(largest, np.linalg.svd(M)[1][:1], rtol=1e-8)


def test_newton_with_cg():
    """The minimum of Σ (eˣ − x) is at 0: Newton's method with Hessian-vector products from one linearisation each."""
    f = lambda x: np.sum(np.exp(x) - x)
    x = np.array([0.5, -0.7, 1.0])
    for _ in range(8):
        gradient, H = wg.linearize(wg.grad(f), x)
        x = x - cg(H, gradient, rtol=1e-12)[0]
    np.testing.assert_allclose(x, 0, atol=1e-12)


def test_several_arguments_and_containers():
    """Columns are the leaves of all arguments, ravelled, one after the other; rows those of the result."""
    p, t = {"b": np.array([[1.0, 2.0], [3.0, 4.0]]), "a": 5.0}, 2.0
    y, J = wg.linearize(lambda p, t: (p["b"] * t, p["a"] ** 2), p, t)
    assert J.shape == (5, 6)
    expected = np.zeros((5, 6))
    expected[:4, 1:5] = 2 * np.eye(4)
    expected[:4, 5] = [1, 2, 3, 4]
    expected[4, 0] = 10
    np.testing.assert_allclose(J.dense(), expected)
    np.testing.assert_allclose(J @ np.ones(6), expected @ np.ones(6))
    np.testing.assert_allclose(J.T @ np.ones(5), expected.T @ np.ones(5))
    np.testing.assert_allclose(J @ np.eye(6), expected)
    np.testing.assert_allclose(J.T @ np.eye(5), expected.T)
    b_dot, a_dot = J.push({"b": np.ones((2, 2)), "a": 1.0}, 1.0)
    np.testing.assert_allclose(b_dot, 2 + p["b"])
    assert a_dot == 10
    p_bar, t_bar = J.pull((np.ones((2, 2)), 1.0))
    np.testing.assert_allclose(p_bar["b"], np.full((2, 2), 2.0))
    assert (p_bar["a"], t_bar) == (10, 10)


def test_the_function_runs_once():
    runs = []
    _, J = wg.linearize(lambda x: runs.append(1) or x * x, np.ones(3))
    J @ np.ones(3), J.T @ np.ones(3), J.dense(), J @ np.eye(3)
    assert len(runs) == 1


# --------------------------------------------------------------------------------------------- differentiated through


@pytest.mark.parametrize("D", [wg.jacfwd, wg.jacrev])
def test_through_a_traced_vector(case, D):
    """Products are linear: the Jacobian of v ↦ J v is J."""
    J, M = case
    v, r = np.ones(3), np.ones(4)
    np.testing.assert_allclose(D(lambda v: J @ v)(v), M)
    np.testing.assert_allclose(D(lambda r: J.T @ r)(r), M.T)
    np.testing.assert_allclose(D(lambda r: J.H @ r)(r), M.T)
    np.testing.assert_allclose(D(lambda v: (J @ np.stack([v, 2 * v], axis=1))[:, 1])(v), 2 * M)
    np.testing.assert_allclose(D(lambda r: (J.T @ np.stack([r, 2 * r], axis=1))[:, 1])(r), 2 * M.T)
    np.testing.assert_allclose(D(lambda v: J.push(v))(v), M)
    np.testing.assert_allclose(D(lambda r: J.pull(r)[0])(r), M.T)


@pytest.mark.parametrize("D", [wg.jacfwd, wg.jacrev])
def test_through_traced_coefficients(D, rng):
    """x ↦ J(x) v with J = diag(cos x): its Jacobian is −diag(v sin x), whichever way the product is taken."""
    x, v = rng.normal(size=3), rng.normal(size=3)
    expected = -np.diag(v * np.sin(x))
    J = lambda x: wg.linearize(np.sin, x)[1]
    np.testing.assert_allclose(D(lambda x: J(x) @ v)(x), expected, atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x).T @ v)(x), expected, atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x) @ np.stack([v, v], axis=1))(x)[:, 0], expected, atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x).dense())(x)[[0, 1, 2], [0, 1, 2]], -np.diag(np.sin(x)), atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x).T.dense() @ v)(x), expected, atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x).push(v))(x), expected, atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x).pull(v)[0])(x), expected, atol=1e-14)
    np.testing.assert_allclose(D(lambda x: J(x) @ x)(x), np.diag(np.cos(x) - x * np.sin(x)), atol=1e-14)
