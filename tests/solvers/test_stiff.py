"""Implicit methods: the order of Rodas5P, and systems so large that their Jacobians are treated as sparse."""

import numpy as np
import pytest
import scipy.sparse

import wengert as wg
from wengert.ops.sparse import sparse_solve
from wengert.solvers import slopes, stiff

N = 24
MODE = np.sin(np.pi * np.arange(1, N + 1) / (N + 1))
DECAY = 2 - 2 * np.cos(np.pi / (N + 1))
"""A chain of N points, its slowest mode, and minus its eigenvalue for the second difference."""


def _chain(t, y, p):
    """Diffusion of u, and w' = u², in a chain: with u = exp(−λ p₀ t) · mode all is known."""
    u = y[:N]
    padded = np.concatenate([np.zeros(1), u, np.zeros(1)])
    return np.concatenate([p[0] * (padded[2:] - 2 * u + padded[:-2]), p[1] * u**2])


def _exact(p, t=2.0):
    rate = 2 * DECAY * p[0]
    return np.concatenate([MODE * np.exp(-DECAY * p[0] * t), p[1] * MODE**2 * (1 - np.exp(-rate * t)) / rate])


START = np.concatenate([MODE, np.zeros(N)])
P = np.array([3.0, 0.7])


@pytest.fixture(params=["dense", "sparse"])
def structure(request, monkeypatch):
    """Few unknowns are treated as many."""
    if request.param == "sparse":
        monkeypatch.setattr(slopes, "_FEW", 10)
    made = []
    kind = stiff.SparseMatrices if request.param == "sparse" else stiff.DenseMatrices
    monkeypatch.setattr(kind, "slopes", lambda self, matrix: made.append(1) or matrix.entries[0])
    yield request.param
    assert made, "the matrices were of another kind"


@pytest.mark.parametrize("method", ["Radau", "Rodas5P"])
def test_a_chain(method, structure):
    solve = lambda p: wg.odeint(_chain, START, np.array([0.0, 2.0]), p, method=method, rtol=1e-8, atol=1e-10)[-1]
    np.testing.assert_allclose(solve(P), _exact(P), rtol=1e-6)
    np.testing.assert_allclose(wg.jacfwd(solve)(P), wg.jacobian(_exact)(P), rtol=1e-5, atol=1e-8)
    weight = np.linspace(0, 1, 2 * N)
    f, exact = (lambda p, g=g: np.sum(weight * g(p)) for g in (solve, _exact))
    np.testing.assert_allclose(wg.grad(f)(P), wg.grad(exact)(P), rtol=1e-6)


def test_a_chain_compiled(structure):
    f = lambda p: np.sum(wg.odeint(_chain, START, np.array([0.0, 2.0]), p, method="Rodas5P")[-1])
    exact = lambda p: np.sum(_exact(p))
    value, slope = wg.jit(wg.value_and_grad(f))(P)
    assert value == pytest.approx(exact(P), rel=1e-7)
    np.testing.assert_allclose(slope, wg.grad(exact)(P), rtol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_mass_matrix(structure, sparse):
    """M y' = f with a mass that is twice as large for u, and zero for w: then 0 = u² − w."""

    def f(t, y, p):
        slope = _chain(t, y, p)
        return np.concatenate([2 * slope[:N], p[1] * y[:N] ** 2 - y[N:]])

    mass = scipy.sparse.diags_array(np.repeat([2.0, 0.0], N))
    start = np.concatenate([MODE, P[1] * MODE**2])
    for method in ("Radau", "Rodas5P"):
        solve = lambda p, method=method: wg.odeint(
            f, start, np.array([0.0, 2.0]), p, method=method, mass=mass if sparse else mass.toarray()
        )[-1]
        u = _exact(P)[:N]
        np.testing.assert_allclose(solve(P), np.concatenate([u, P[1] * u**2]), rtol=1e-6)
        expected = np.concatenate([-2.0 * DECAY * u, -4.0 * DECAY * P[1] * u**2])
        np.testing.assert_allclose(wg.jvp(solve, (P,), (np.array([1.0, 0.0]),))[1], expected, rtol=1e-5)


def test_the_order():
    """Half the step, 1/32 of the error, at the end and (1/16) inside: of a nonlinear equation that depends on time."""
    exact = lambda t: np.stack([np.cos(t), np.exp(np.sin(t))])
    f = lambda t, y: np.stack([y[0] - np.cos(t) - np.sin(t), y[1] * np.cos(t) + (y[0] ** 2 - np.cos(t) ** 2)])
    errors = {}
    integrator = type("", (), {})()
    integrator.rtol, integrator.worst = 1e-8, lambda x: x
    integrator.slope = lambda t, y, values: f(t, y)
    integrator.in_intervals = lambda times, values: lambda t, y, i: f(t, y)
    integrator.clock = lambda times, t, i: (1.0, t)
    attempt, interpolate, *_ = stiff.rosenbrock(integrator, exact(0.3), np.zeros(2), [], None)
    for h in (0.1, 0.05):
        y = exact(0.3)
        new, U, _, _ = attempt(lambda t, y, i: f(t, y), 0.3, h, y, f(0.3, y), 1)
        inside = interpolate(None, 0.3, h, y, new, U, 0.4, 1)
        errors[h] = np.abs(new - exact(0.3 + h)).max(), np.abs(inside - exact(0.3 + 0.4 * h)).max()
    ratios = np.array(errors[0.1]) / np.array(errors[0.05])
    assert ratios[0] > 2**5.5  # of one step: an order more
    assert ratios[1] > 2**4.5


def test_second_derivatives_and_times():
    f = lambda p, t: wg.odeint(lambda t, y: -p * y * t, 1.0, t, method="Rodas5P", rtol=1e-10, atol=1e-12)[-1]
    exact = lambda p, t: np.exp(-p * (t[1] ** 2 - t[0] ** 2) / 2)
    t = np.array([0.3, 1.1])
    np.testing.assert_allclose(wg.grad(f, 1)(0.8, t), wg.grad(exact, 1)(0.8, t), rtol=1e-7)
    np.testing.assert_allclose(wg.hessian(f)(0.8, t), wg.hessian(exact)(0.8, t), rtol=1e-6)


def test_factors_are_kept_for_one_matrix_only():
    rng = np.random.default_rng(0)
    rows, columns = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 2])
    dense = lambda data: scipy.sparse.coo_array((data, (rows, columns)), shape=(3, 3)).toarray()
    first, b = rng.normal(size=5) + 2, rng.normal(size=3)
    again = first.copy()
    for data in (first, again, first + 1):
        for places, matrix in (((rows, columns), dense(data)), ((columns, rows), dense(data).T)):
            found = sparse_solve(data, b, rows=places[0], columns=places[1])
            np.testing.assert_allclose(found, np.linalg.solve(matrix, b), rtol=1e-12)
    again[:] = -again  # in place
    np.testing.assert_allclose(
        sparse_solve(again, b, rows=rows, columns=columns), np.linalg.solve(dense(again), b), rtol=1e-12
    )
    assert np.all(np.isnan(sparse_solve(np.zeros(5), b, rows=rows, columns=columns)))
