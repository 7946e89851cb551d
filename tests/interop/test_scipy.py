"""`wg.to_scipy`: derivatives for `scipy.optimize`, exact, with containers, computed once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import wengert as wg


def rosenbrock(p):
    x = np.zeros(3)
    x[0], x[1:] = p["a"], p["b"]
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


START = {"a": -1.0, "b": np.array([0.5, 1.5])}
both = pytest.mark.parametrize("jit", [False, True])


@both
def test_functions_are_those_of_scipy_itself(jit):
    problem = wg.to_scipy(rosenbrock, START, jit=jit)
    x, p = np.array([0.3, 0.7, 1.1]), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(problem.x0, [-1.0, 0.5, 1.5])
    np.testing.assert_allclose(problem.fun(x), optimize.rosen(x))
    np.testing.assert_allclose(problem.jac(x), optimize.rosen_der(x))
    np.testing.assert_allclose(problem.hess(x), optimize.rosen_hess(x))
    np.testing.assert_allclose(problem.hessp(x, p), optimize.rosen_hess_prod(x, p))
    value, slope = problem.fun_and_jac(x)
    assert isinstance(value, float)
    assert slope.shape == (3,)


@both
@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact", "trust-constr"])
def test_minimisers_find_the_minimum(method, jit):
    problem = wg.to_scipy(rosenbrock, START, jit=jit)
    options = {"jac": problem.jac}
    if method not in ("BFGS", "L-BFGS-B"):
        options["hess"] = problem.hess
    found = optimize.minimize(problem.fun, problem.x0, method=method, **options)
    where = problem.unravel(found.x)
    np.testing.assert_allclose(where["a"], 1.0, rtol=1e-3)
    np.testing.assert_allclose(where["b"], [1.0, 1.0], rtol=1e-3)


def test_value_and_gradient_are_computed_once():
    calls = []

    def f(x):
        calls.append(1)
        return np.sum(x**2)

    problem = wg.to_scipy(f, np.ones(2))
    problem.fun(np.ones(2))
    calls.clear()
    x = np.array([1.0, 2.0])
    problem.fun(x), problem.jac(x), problem.fun(x)
    assert len(calls) == 1
    x += 1  # the caller writes to his array
    np.testing.assert_allclose(problem.jac(x), 2 * x)
    g = problem.jac(x)
    g[:] = 0  # and to the result
    np.testing.assert_allclose(problem.jac(x), 2 * x)


def test_further_arguments():
    problem = wg.to_scipy(lambda x, scale, shift: scale * np.sum((x - shift) ** 2), np.zeros(2))
    found = optimize.minimize(problem.fun, problem.x0, jac=problem.jac, args=(2.0, 3.0))
    np.testing.assert_allclose(found.x, [3.0, 3.0], rtol=1e-6)
    assert problem.fun(np.zeros(2), 1.0, 1.0) == 2.0
    assert problem.fun(np.zeros(2), 1.0, 2.0) == 8.0


@both
def test_residuals(jit):
    t = np.linspace(0, 2, 20)
    data = 2.5 * np.exp(-1.3 * t)
    problem = wg.to_scipy(lambda p: p["scale"] * np.exp(-p["rate"] * t) - data, {"rate": 0.5, "scale": 1.0}, jit=jit)
    assert problem.jac(problem.x0).shape == (20, 2)
    found = optimize.least_squares(problem.fun, problem.x0, jac=problem.jac)
    where = problem.unravel(found.x)
    np.testing.assert_allclose([where["rate"], where["scale"]], [1.3, 2.5], rtol=1e-8)


def test_roots():
    problem = wg.to_scipy(lambda x: np.stack([x[0] + x[1] - 3, x[0] * x[1] - 2]), np.array([0.5, 3.0]))
    found = optimize.root(problem.fun, problem.x0, jac=problem.jac)
    np.testing.assert_allclose(np.sort(found.x), [1.0, 2.0])
