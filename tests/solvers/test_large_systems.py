"""Answers with many unknowns: sparse Jacobians, or none; the derivatives are those of a Jacobian written by hand."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

import wengert as wg
from wengert.errors import ConvergenceError
from wengert.solvers import slopes

N = 400
POINT = np.array([2.0, 1.0])


def _chain(y, p):
    """Broyden's tridiagonal function."""
    before, after = np.concatenate([[0.0], y[:-1]]), np.concatenate([y[1:], [0.0]])
    return (3 - p[0] * y) * y - before - 2 * after + p[1]


def _by_hand(p, n=N):
    """The root and its derivative."""
    y = -np.ones(n)
    for _ in range(30):
        matrix = scipy.sparse.diags_array([-np.ones(n - 1), 3 - 2 * p[0] * y, -2 * np.ones(n - 1)], offsets=[-1, 0, 1])
        y = y - scipy.sparse.linalg.spsolve(matrix.tocsc(), _chain(y, p))
    return y, scipy.sparse.linalg.spsolve(matrix.tocsc(), np.stack([y**2, -np.ones(n)], 1))


@wg.implicit(_chain)
def _any_solver(p):
    return _by_hand(np.asarray(p))[0]


WAYS = {
    "wg.root": lambda p: wg.root(_chain, -np.ones(N), p),
    "wg.root, closure": lambda p: wg.root(lambda y: _chain(y, p), -np.ones(N)),
    "wg.implicit": _any_solver,
    "scipy.optimize.root": lambda p: (
        scipy.optimize.root(_chain, -np.ones(N), args=(p,), method="krylov", options={"fatol": 1e-12}).x
    ),
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("structure", ["sparse", "dense", "products"])
def test_a_chain(name, structure, monkeypatch):
    if structure != "sparse":
        monkeypatch.setattr(slopes, "_SPARSE", 0.0)
    if structure == "products":
        monkeypatch.setattr(slopes, "_LARGEST", 0)
    f = WAYS[name]
    value, expected = _by_hand(POINT)
    np.testing.assert_allclose(f(POINT), value, rtol=1e-9)
    np.testing.assert_allclose(wg.jacfwd(f)(POINT), expected, rtol=1e-8)
    np.testing.assert_allclose(wg.grad(lambda p: np.sum(f(p) ** 3))(POINT), 3 * value**2 @ expected, rtol=1e-8)


def test_placements():
    f = lambda p: np.sum(wg.root(_chain, -np.ones(N), p) ** 3)
    slope = lambda p: 3 * _by_hand(p)[0] ** 2 @ _by_hand(p)[1]
    np.testing.assert_allclose(wg.jit(wg.grad(f))(POINT), slope(POINT), rtol=1e-8)
    points = np.stack([POINT, 1.1 * POINT])
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(points), [slope(p) for p in points], rtol=1e-8)
    step = 1e-5 * np.eye(2)
    second = np.stack([(slope(POINT + s) - slope(POINT - s)) / 2e-5 for s in step])
    np.testing.assert_allclose(wg.hessian(f)(POINT), second, rtol=1e-6)


def test_a_minimum_with_bounds():
    """The nearest point of a box, written with neighbours that pull at each other."""
    n = 160
    target = np.linspace(-2, 2, n)
    energy = lambda x, s: np.sum((x - s * target) ** 2) + 0.1 * np.sum((x[1:] - x[:-1]) ** 2)
    slope = lambda x, s: wg.grad(energy)(x, s)
    f = lambda s: scipy.optimize.minimize(
        energy, np.zeros(n), args=(s,), jac=slope, bounds=[(-1.0, 1.0)] * n, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10},
    ).x  # fmt: skip
    x = f(1.03)
    free = np.abs(x) < 1 - 1e-9
    ones = np.ones(n - 1)
    second = np.diag(np.r_[ones, 0] + np.r_[0, ones]) - np.diag(ones, 1) - np.diag(ones, -1)
    matrix = (2 * np.eye(n) + 0.2 * second)[np.ix_(free, free)]
    expected = np.zeros(n)
    expected[free] = np.linalg.solve(matrix, 2 * target[free])
    np.testing.assert_allclose(wg.jacfwd(f)(1.03), expected, atol=1e-8)


def test_what_is_no_answer():
    folded = lambda p: wg.implicit(lambda y, p: y - y[::-1] + p)(lambda p: np.zeros(N))(p)
    with pytest.raises(ConvergenceError, match="singular"):
        wg.grad(lambda p: np.sum(folded(p)))(0.0)
    elsewhere = wg.implicit(_chain)(lambda p: -np.ones(N))
    with pytest.raises(ConvergenceError, match="has not converged"):
        wg.grad(lambda p: np.sum(elsewhere(p)))(POINT)
