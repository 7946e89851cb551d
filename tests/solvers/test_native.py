"""`wg.root`, `wg.fixed_point`, `wg.argmin`: in containers, in batches, where they fail."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError


def test_containers_and_closures():
    def f(a):
        y = wg.root(lambda y: {"u": y["u"] ** 2 - a, "v": y["v"] + y["u"] - 3}, {"u": 1.0, "v": 0.0})
        return y["u"] * y["v"]

    exact = lambda a: 1.5 / np.sqrt(a) - 1
    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        assert g(2.0) == pytest.approx(exact(2.0), rel=1e-9)


def test_a_batch_of_problems():
    a = np.linspace(0.5, 4, 20)
    f = lambda a: wg.root(lambda x: x**3 + a * x - 1, 0.5)
    x = np.array([f(t) for t in a])
    for g in (wg.vmap(f), wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f))):
        np.testing.assert_allclose(g(a), x, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(a), -x / (3 * x**2 + a), rtol=1e-10)


def test_many_unknowns():
    """A discretised boundary-value problem, u'' = λ eᵘ."""
    n = 50
    h = 1 / (n + 1)

    def equations(u, lam):
        padded = np.concatenate([[0.0], u, [0.0]])
        return (padded[2:] - 2 * u + padded[:-2]) / h**2 + lam * np.exp(u)

    f = lambda lam: np.max(wg.root(equations, np.zeros(n), lam))
    wanted = (f(1.0 + 1e-5) - f(1.0 - 1e-5)) / 2e-5
    assert wg.grad(f)(1.0) == pytest.approx(wanted, rel=1e-7)
    assert wg.jit(wg.grad(f))(1.0) == pytest.approx(wanted, rel=1e-7)


def test_the_start_does_not_matter():
    assert wg.grad(lambda x0: wg.root(lambda x: x**2 - 2, x0))(1.0) == 0.0


def test_argmin_rosenbrock():
    rosenbrock = lambda x, a: (a - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    for method in ("newton", "bfgs"):
        best = lambda a, method=method: wg.argmin(rosenbrock, np.array([-1.2, 1.0]), a, method=method)
        np.testing.assert_allclose(best(1.0), [1, 1], rtol=1e-6)
        np.testing.assert_allclose(wg.jacobian(best)(1.0), [1, 2], rtol=1e-5)
        np.testing.assert_allclose(wg.jit(wg.jacobian(best))(1.0), [1, 2], rtol=1e-5)


def test_failures():
    for f in (
        lambda a: wg.root(lambda x: x * x + a, 0.7),
        lambda a: wg.fixed_point(lambda x: 2 * x + a, 1.0, method="iteration"),
    ):
        for g in (f, wg.grad(f), wg.jit(f)):
            with pytest.raises(ConvergenceError, match="has not converged"):
                g(1.0)
    with pytest.raises(ValueError, match="method is one of"):
        wg.root(lambda x: x, 1.0, method="secant")


def test_as_many_equations_as_unknowns():
    for f in (lambda x: np.sum(x), lambda x: np.concatenate([x, x])):
        with pytest.raises(MismatchError, match="unknowns"):
            wg.root(f, np.ones(3))


def test_objectives_are_numbers():
    """Of several numbers none is the objective, not even the first; an array of one is one."""
    for solve in (wg.argmin, lambda f, x: wg.jit(lambda x: wg.argmin(f, x))(x)):
        with pytest.raises(MismatchError, match="2 numbers"):
            solve(lambda x: (x - 1) ** 2, np.zeros(2))
        with pytest.raises(MismatchError, match="None"):
            solve(lambda x: None, np.zeros(2))
    best = lambda a: wg.argmin(lambda x: (x - a) ** 4 + (x - 1) ** 2, np.zeros(1))[0]
    x, a = best(1.5), 1.5
    slope = 12 * (x - a) ** 2 / (12 * (x - a) ** 2 + 2)  # of 4 (x − a)³ + 2 (x − 1) = 0
    for operator in (wg.grad(best), wg.jit(wg.grad(best)), lambda a: wg.jvp(best, (a,), (1.0,))[1]):
        np.testing.assert_allclose(operator(a), slope, rtol=1e-8)


@pytest.mark.parametrize(
    "solve",
    [
        lambda x: wg.root(lambda y: y**2 - 2, x),
        lambda x: wg.root(lambda y: y**2 - 2, x, method="broyden"),
        lambda x: wg.fixed_point(np.cos, x),
        lambda x: wg.argmin(lambda y: np.sum(y**2), x),
        lambda x: wg.linear_solve(lambda v: 2 * v, x),
        lambda x: wg.linear_solve(np.zeros((0, 0)), x),
    ],
)
def test_no_unknowns(solve):
    for run in (solve, wg.jit(solve)):
        assert run(np.zeros(0)).shape == (0,)
    assert wg.grad(lambda p: np.sum(solve(p["a"])) + p["b"] ** 2)({"a": np.zeros(0), "b": 3.0})["b"] == 6.0
