"""Roots of equations: every method on problems with known roots, orders of convergence, failures, continuation."""

import numpy as np
import pytest
import scipy.sparse

import wengert as wg
from wengert import optimize
from wengert.optimize.equations import METHODS

SYSTEMS = tuple(m for m in METHODS if m != "householder")


def powell_singular_free(x):
    """Roots at (1, 1) and by symmetry of signs nowhere near the start."""
    return np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def broyden(x):
    padded = np.concatenate([np.zeros(1), x, np.zeros(1)])
    return (3 - 2 * x) * x - padded[:-2] - 2 * padded[2:] + 1


@pytest.mark.parametrize("method", [*SYSTEMS, "hybr", "auto"])
def test_systems(method):
    found = optimize.solve(broyden, -np.ones(8), method=method, jit=method == "newton")
    assert found.success, found.message
    np.testing.assert_allclose(broyden(found.x), 0.0, atol=1e-9)
    near = optimize.solve(powell_singular_free, np.array([-1.2, 1.0]), method=method, jit=False)
    np.testing.assert_allclose(near.x, 1.0, atol=1e-8)


@pytest.mark.parametrize("method", ["newton", "halley", "householder"])
def test_one_unknown_from_far_away(method):
    """Newton's method without globalisation leaves arctan for infinity from 3."""
    for f, start, root in ((np.arctan, 3.0, 0.0), (lambda x: x**3 - 2 * x - 5, 2.0, 2.0945514815423265)):
        found = optimize.solve(f, start, method=method, jit=False)
        assert found.success
        assert np.shape(found.x) == ()
        np.testing.assert_allclose(found.x, root, atol=1e-12)


def test_higher_orders_need_fewer_iterations():
    count = lambda **how: optimize.solve(lambda x: np.exp(x) - 20.0, 1.0, jit=False, **how).nit
    newton, halley = count(method="sparse-newton"), count(method="halley")
    high = count(method="householder", options={"order": 6})
    assert newton > halley > high


def test_householder_converges_with_its_order():
    """|error| ≈ C |error before|^(d + 1): the exponent from three successive errors of x² = 2."""
    for order in (2, 3):
        points = [1.9]
        keep = lambda x, points=points: points.append(float(x))
        how = {"method": "householder", "options": {"order": order}, "jit": False}
        optimize.solve(lambda x: x * x - 2, 1.9, callback=keep, **how)
        errors = np.abs(np.array(points) - np.sqrt(2))
        slope = np.log(errors[2] / errors[1]) / np.log(errors[1] / errors[0])
        assert slope > order + 0.5


def test_large_sparse_systems():
    n = 5000
    for method in ("auto", "newton-krylov"):
        found = optimize.solve(broyden, -np.ones(n), method=method)
        assert found.success
        assert found.method == ("sparse-newton" if method == "auto" else method)
        np.testing.assert_allclose(broyden(found.x), 0.0, atol=1e-10)


def test_containers():
    def f(p):
        return {"a": p["x"] ** 2 + np.sum(p["y"]) - 3, "b": p["y"] - p["x"] * np.array([1.0, 1.0])}

    found = optimize.solve(f, {"x": 0.8, "y": np.ones(2)}, jit=False)
    np.testing.assert_allclose(found.x["x"], 1.0, atol=1e-10)
    np.testing.assert_allclose(found.x["y"], 1.0, atol=1e-10)
    assert set(found.fun) == {"a", "b"}


def test_failures_are_told():
    none = optimize.solve(lambda x: x**2 + 1, 0.7, jit=False)
    assert not none.success
    assert "no root" in none.message
    for method in ("newton", "newton-krylov", "sparse-newton"):  # small residuals, and a singular Jacobian, but no root
        none = optimize.solve(lambda x: 1e-20 * (x**2 + 1), np.ones(2), method=method, jit=False)
        assert not none.success, method
    with np.errstate(all="ignore"):
        wrong = optimize.solve(lambda x: np.log(x - 5), 0.7, jit=False)  # this line
    assert "this line" in wrong.message
    short = optimize.solve(broyden, -np.ones(8), options={"maxiter": 1}, jit=False)
    assert not short.success
    assert "maxiter" in short.message
    with pytest.raises(wg.errors.MismatchError, match="3 numbers for 2 unknowns"):
        optimize.solve(lambda x: np.append(x, 1.0), np.ones(2), jit=False)
    with pytest.raises(wg.errors.MismatchError, match="one equation"):
        optimize.solve(broyden, np.ones(3), method="householder")
    with pytest.raises(ValueError, match="method is"):
        optimize.solve(broyden, np.ones(3), method="secant")


def test_derivatives_and_batches_of_roots():
    a = np.array([2.0, 9.0, 16.0])
    square = lambda a: optimize.solve(lambda x: x * x - a, 1.0).x
    np.testing.assert_allclose(wg.vmap(square)(a), np.sqrt(a))
    np.testing.assert_allclose(wg.grad(square)(9.0), 1 / 6)


# --------------------------------------------------------------------------------------------------------- continuation


def test_a_circle_is_followed_around_its_side():
    """x² + λ² = 1 from the top at λ = 0: at λ = 1 the curve turns back, and ends at the bottom."""
    found = optimize.continue_solution(lambda x, p: x**2 + p**2 - 1, 1.0, (0.0, 2.0), jit=False)
    assert found.success
    np.testing.assert_allclose(found.x**2 + found.parameter**2, 1.0, atol=1e-9)
    assert found.parameter[-1] == 0.0
    np.testing.assert_allclose(found.x[-1], -1.0, atol=1e-9)
    (fold,) = found.folds
    np.testing.assert_allclose(fold[0], 1.0, atol=1e-8)
    np.testing.assert_allclose(fold[1], 0.0, atol=1e-4)


def test_bratu():
    """u″ + λ exp(u) = 0 turns at λ = 3.513830719…, here by 63 inner points of a grid (so 3.5127…)."""
    n = 63
    h = 1 / (n + 1)

    def bratu(u, p):
        padded = np.concatenate([np.zeros(1), u, np.zeros(1)])
        return (padded[2:] - 2 * u + padded[:-2]) / h**2 + p * np.exp(u)

    found = optimize.continue_solution(bratu, np.zeros(n), (0.0, 4.0), max_step=1.0, max_points=60)
    assert len(found.folds) == 1
    np.testing.assert_allclose(found.folds[0][0], 3.513830719, rtol=1e-3)
    laplace = scipy.sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) / h**2
    for u, p in zip(found.x, found.parameter, strict=True):
        np.testing.assert_allclose(laplace @ u + p * np.exp(u), 0.0, atol=1e-4 * p * np.max(np.exp(u)) + 1e-8)


def test_continuation_refuses_what_it_cannot_do():
    with pytest.raises(wg.errors.ConvergenceError, match="no root to start from"):
        optimize.continue_solution(lambda x, p: x**2 + 1 + p, 1.0, (0.0, 1.0), jit=False)
    with pytest.raises(wg.errors.MismatchError, match="goes from"):
        optimize.continue_solution(lambda x, p: x - p, 1.0, (1.0, 1.0))
    few = optimize.continue_solution(lambda x, p: x - p, 0.0, (0.0, 1.0), jit=False, max_points=3)
    assert not few.success
    assert "max_points" in few.message
