"""Minima found by SciPy's other functions: the derivative of the place is that of a minimum known in closed form.

f(x) = cosh(x₀ − a) + b (x₁ − x₀²)² is smallest at (a, a²), whatever b is; within x₁ ≤ c it lies elsewhere. And
(x − a)² + b x⁴ has its minimum where 2 (x − a) + 4 b x³ = 0.
"""

import numpy as np
import pytest
import scipy.optimize

import wengert as wg
from wengert.box.dispatch import CALLERS

POINT = np.array([0.7, 1.3])
SLOPES = np.array([[1.0, 0.0], [1.4, 0.0]])  # of (a, a²) with respect to (a, b)


def _objective(x, a, b):
    return np.cosh(x[0] - a) + b * (x[1] - x[0] ** 2) ** 2


def _gradient(x, a, b):
    inner = x[1] - x[0] ** 2
    return np.stack([np.sinh(x[0] - a) - 4 * b * x[0] * inner, 2 * b * inner])


START = np.array([0.5, 0.5])
REGION = [(-2.0, 2.0), (-2.0, 2.0)]
so = scipy.optimize
PLACES = {
    "fmin": lambda p: so.fmin(_objective, START, args=(p[0], p[1]), xtol=1e-7, ftol=1e-12, disp=False),
    "fmin_powell": lambda p: so.fmin_powell(lambda x: _objective(x, *p), START, xtol=1e-7, ftol=1e-12, disp=False),
    "fmin_bfgs": lambda p: so.fmin_bfgs(_objective, START, _gradient, args=(p[0], p[1]), disp=False),
    "fmin_cg": lambda p: so.fmin_cg(lambda x: _objective(x, *p), START, disp=False),
    "fmin_ncg": lambda p: so.fmin_ncg(_objective, START, _gradient, args=(p[0], p[1]), avextol=1e-10, disp=False),
    "fmin_l_bfgs_b": lambda p: so.fmin_l_bfgs_b(lambda x: (_objective(x, *p), _gradient(x, *p)), START)[0],
    "fmin_tnc": lambda p: so.fmin_tnc(lambda x: _objective(x, *p), START, approx_grad=True, messages=0)[0],
    "fmin_slsqp": lambda p: so.fmin_slsqp(lambda x: _objective(x, *p), START, acc=1e-13, disp=False),
    "fmin_cobyla": lambda p: so.fmin_cobyla(lambda x: _objective(x, *p), START, [lambda x: 9 - x[0]], rhoend=1e-7),
    "differential_evolution": lambda p: so.differential_evolution(lambda x: _objective(x, *p), REGION, rng=1).x,
    "shgo": lambda p: so.shgo(_objective, REGION, args=(p[0], p[1])).x,
    "dual_annealing": lambda p: so.dual_annealing(lambda x: _objective(x, *p), REGION, rng=1, maxiter=5).x,
    "basinhopping": lambda p: so.basinhopping(lambda x: _objective(x, *p), START, niter=1, rng=1).x,
    "brute": lambda p: so.brute(lambda x: _objective(x, *p), ((-2.0, 2.0), (-2.0, 2.0)), Ns=5),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_places(name):
    assert np.allclose(wg.jacrev(PLACES[name])(POINT), SLOPES, atol=1e-6)


def test_a_value_has_the_derivative_of_the_objective_alone():
    value = lambda p: so.differential_evolution(lambda x: _objective(x, p[0], p[1]) + p[1], REGION, rng=1).fun
    assert np.allclose(wg.grad(value)(POINT), [0.0, 1.0], atol=1e-6)


def test_at_a_constraint():
    """On x₁ ≤ c < a², written as constraints and as bounds, and moved with c."""
    f = lambda x: (x[0] - 1) ** 2 + (x[1] - 2 * x[0]) ** 2
    ways = [
        lambda c: so.fmin_slsqp(f, START, ieqcons=[lambda x: c - x[1]], acc=1e-13, disp=False),
        lambda c: so.fmin_slsqp(f, START, f_ieqcons=lambda x: np.stack([c - x[1]]), acc=1e-13, disp=False),
        lambda c: so.fmin_cobyla(f, START, lambda x: c - x[1], rhoend=1e-8),
        lambda c: so.fmin_l_bfgs_b(f, START, approx_grad=True, bounds=[(None, None), (-1.0, c)])[0],
        lambda c: so.differential_evolution(f, [(-2.0, 2.0), (-2.0, c)], rng=1).x,
    ]
    for place in ways:  # x₁ = c and x₀ − 1 = 2 (c − 2 x₀)
        assert np.allclose(wg.jacfwd(place)(0.9), [0.4, 1.0], atol=1e-5)


def test_in_an_interval():
    """golden compares numbers, and does nothing else with them: differentiated step by step its answer is constant."""
    f = lambda x, p: (x - p[0]) ** 2 + p[1] * x**4
    ways = [
        lambda p: so.golden(lambda x: f(x, p), brack=(0.0, 1.0)),
        lambda p: so.brent(f, args=(p,)),
        lambda p: so.fminbound(lambda x: f(x, p), -2.0, 2.0, xtol=1e-9),
    ]
    for place in ways:
        x = place(POINT)
        expected = np.array([2.0, -4 * x**3]) / (2 + 12 * POINT[1] * x**2)
        assert np.allclose(wg.grad(place)(POINT), expected, atol=1e-6)
    assert np.isclose(wg.grad(lambda b: so.fminbound(lambda x: (x - 3.0) ** 2, 0.0, b))(1.0), 1.0)


def test_nonlinear_equations():
    F = lambda x, p: np.stack([x[0] + 0.1 * x[1] ** 2 - p[0], x[1] + 0.1 * x[0] ** 3 - p[1]])
    for find in (so.broyden1, so.broyden2, so.anderson, so.diagbroyden, so.newton_krylov):
        root = lambda p, find=find: find(lambda y: F(y, p), START, f_tol=1e-10)
        x = root(POINT)
        expected = np.linalg.inv([[1, 0.2 * x[1]], [0.3 * x[0] ** 2, 1]])
        assert np.allclose(wg.jacrev(root)(POINT), expected, atol=1e-8)


def test_least_squares():
    t = np.linspace(0, 2, 20)
    rows = np.stack([np.ones(20), t], 1)
    data = np.cos(t)
    fit = lambda s: so.leastsq(lambda x: rows @ x - s * data**2, np.zeros(2))[0]
    assert np.allclose(wg.jacfwd(fit)(2.0), np.linalg.lstsq(rows, data**2, rcond=None)[0])
    slopes = lambda x: rows
    fit = lambda s: so.least_squares(lambda x: rows @ x - s * data**2, np.zeros(2), jac=slopes).x
    assert np.allclose(wg.jacrev(fit)(2.0), np.linalg.lstsq(rows, data**2, rcond=None)[0])


def test_a_search_that_only_compares_is_not_constant(monkeypatch):
    """If there were no rule for `golden`, its answer would be a plain number, which depends on p all the same."""
    monkeypatch.delitem(CALLERS, so.golden)
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="golden"):
        wg.grad(lambda p: 1.0 * so.golden(lambda x: (x - p) ** 2))(3.0)


FULL = {
    "fmin": lambda f, p: so.fmin(f, [0.0], args=(p,), full_output=True, retall=True, disp=False, xtol=1e-9)[:2],
    "fmin_powell": lambda f, p: so.fmin_powell(f, [0.0], args=(p,), full_output=True, disp=False)[:2],
    "fmin_bfgs": lambda f, p: so.fmin_bfgs(f, [0.0], args=(p,), full_output=True, disp=False)[:2],
    "fmin_slsqp": lambda f, p: so.fmin_slsqp(f, [0.0], args=(p,), full_output=True, iprint=0, acc=1e-12)[:2],
    "brute": lambda f, p: so.brute(f, ((-2.0, 2.0),), args=(p,), full_output=True)[:2],
    "brent": lambda f, p: so.brent(lambda x: f([x], p), full_output=True)[:2],
    "fminbound": lambda f, p: so.fminbound(lambda x: f([x], p), -2.0, 2.0, full_output=True)[:2],
}


@pytest.mark.parametrize("name", FULL)
def test_the_value_that_full_output_gives_is_differentiated(name):
    """At p²/2 the function is p⁴/4 + p."""
    f = lambda x, p: (x[0] - p**2 / 2) ** 2 + p**4 / 4 + p
    ends = lambda p: np.sum(FULL[name](f, p)[0]) + 10 * FULL[name](f, p)[1]
    for way in (wg.grad(ends), wg.jit(wg.grad(ends))):
        assert np.isclose(way(0.8), 0.8 + 10 * (0.8**3 + 1), rtol=1e-6)
    counts = []
    wg.grad(lambda p: (counts.append(so.fmin_bfgs(f, [0.0], args=(p,), full_output=True, disp=False)[4]), p)[1])(0.8)
    assert counts[0] > 0
    fit = lambda p: so.leastsq(lambda x: np.array([x[0] - p, p * x[1]]), [0.0, 0.0], full_output=True)
    assert np.isclose(wg.grad(lambda p: fit(p)[1][1, 1] + np.sum(fit(p)[2]["fvec"]))(2.0), -0.25)


def test_refusals():
    with pytest.raises(wg.errors.ConvergenceError):
        wg.grad(lambda p: so.brute(lambda x: (x[0] - p) ** 2, ((-2.0, 2.0),), finish=None))(0.3)
