"""`wg.implicit`: any solver, by what its answer satisfies."""

import numpy as np
import pytest
import scipy.optimize as so

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError


@wg.implicit(lambda y, a: y**2 - a)
def square_root(a):
    y = 1.0
    while abs(y * y - a) > 1e-13:
        y = (y + a / y) / 2
    return y


@pytest.mark.parametrize(
    "derive",
    [
        wg.grad,
        lambda f: wg.jit(wg.grad(f)),
        lambda f: wg.grad(wg.jit(f)),
        lambda f: lambda a: wg.jvp(f, (a,), (1.0,))[1],
    ],
)
def test_first_order(derive):
    assert derive(square_root)(4.0) == pytest.approx(0.25, rel=1e-12)


def test_higher_orders():
    second, third = wg.grad(wg.grad(square_root)), wg.grad(wg.grad(wg.grad(square_root)))
    assert second(4.0) == pytest.approx(-1 / 32, rel=1e-10)
    assert third(4.0) == pytest.approx(3 / 256, rel=1e-10)
    assert wg.jit(second)(4.0) == pytest.approx(-1 / 32, rel=1e-10)


def test_batches():
    a = np.array([4.0, 9.0])
    for f in (wg.vmap(wg.grad(square_root)), wg.jit(wg.vmap(wg.grad(square_root)))):
        np.testing.assert_allclose(f(a), [1 / 4, 1 / 6], rtol=1e-12)
    np.testing.assert_allclose(wg.grad(lambda a: np.sum(wg.vmap(square_root)(a)))(a), [1 / 4, 1 / 6], rtol=1e-12)


def test_containers():
    step = lambda y, p: {"u": np.cos(p["a"] * y["u"]) + p["b"], "v": [y["u"] / 2 + y["v"][0] / 5]}

    @wg.implicit(fixed_point=step)
    def settle(p):
        y = {"u": 0.5, "v": [0.0]}
        for _ in range(200):
            y = step(y, p)
        return y

    p = {"a": 0.8, "b": 0.1}
    found = wg.jacobian(settle)(p)
    u = settle(p)["u"]
    s = np.sin(0.8 * u)
    assert found["u"]["a"] == pytest.approx(-u * s / (1 + 0.8 * s), rel=1e-10)
    assert found["v"][0]["b"] == pytest.approx(0.625 / (1 + 0.8 * s), rel=1e-10)


@pytest.mark.parametrize(
    "stated", [lambda x, c: np.sum((x - c) ** 2) + np.sum(x**4), lambda x, c: 2 * (x - c) + 4 * x**3]
)
def test_optimality_by_objective_or_gradient(stated):
    @wg.implicit(optimality=stated)
    def best(c):
        return so.minimize(lambda x: np.sum((x - c) ** 2) + np.sum(x**4), np.zeros(2), tol=1e-12).x

    c = np.array([1.0, 3.0])
    x = best(c)
    np.testing.assert_allclose(wg.jacobian(best)(c), np.diag(2 / (2 + 12 * x**2)), rtol=1e-6, atol=1e-12)


def test_a_solver_outside():
    """The solver sees plain numbers only."""
    seen = []

    @wg.implicit(lambda y, A, b: A @ y - b)
    def solve(A, b):
        seen.append(type(np.asarray(A)))
        return np.linalg.lstsq(A, b, rcond=None)[0]

    A, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0])
    np.testing.assert_allclose(wg.jacobian(solve, 1)(A, b), np.linalg.inv(A), rtol=1e-12)
    assert seen


def test_wrong_answers_are_found():
    bad = wg.implicit(lambda y, a: y * y - a)(lambda a: 1.9)
    for f in (bad, wg.grad(bad)):
        with pytest.raises(ConvergenceError, match="does not satisfy its equation"):
            f(4.0)
    lenient = wg.implicit(lambda y, a: y * y - a, tol=0.1)(lambda a: 1.9)
    assert lenient(4.0) == 1.9
    flat = wg.implicit(lambda y, a: (y - a) ** 3)(lambda a: a * 1.0)
    with pytest.raises(ConvergenceError, match="singular"):
        wg.grad(flat)(4.0)


def test_statements():
    with pytest.raises(MismatchError, match="one equation"):
        wg.implicit()
    with pytest.raises(MismatchError, match="1 numbers for 2 unknowns"):
        wg.grad(lambda a: np.sum(wg.implicit(lambda y, a: np.sum(y) - a)(lambda a: np.array([a, 0.0 * a]))(a)))(1.0)
