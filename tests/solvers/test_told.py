"""What SciPy's solvers tell besides the answer: as SciPy tells it, or not at all; never as a false constant."""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize as so

import wengert as wg
from wengert.errors import UnsupportedFunctionError


def test_counts_and_messages_are_scipys():
    def f(p):
        found = so.minimize(lambda x: (x[0] - p) ** 2, [0.0])
        assert found.success
        assert isinstance(found.nit, int)
        assert "terminated" in found.message
        return found.x[0] + found.nfev * 0.0

    assert wg.grad(f)(2.0) == pytest.approx(1.0)


def test_numbers_that_depend_on_the_way():
    """An estimate of the inverse Hessian depends on p: as a constant it would make the derivative zero."""
    for use in (lambda h: h[0, 0] * 2.0, np.sum, lambda h: 1.0 + h, np.asarray):
        with pytest.raises(UnsupportedFunctionError, match="hess_inv"):
            wg.grad(lambda p, use=use: use(so.minimize(lambda x: p * (x[0] - 1) ** 2, [0.0]).hess_inv))(2.0)
    with pytest.raises(UnsupportedFunctionError, match="fjac"):
        wg.grad(lambda p: so.root(lambda x: p * x**2 - 1, [1.0]).fjac * p)(2.0)


def test_a_batch_has_a_way_for_each_example():
    def count(p):
        found, told = so.brentq(lambda x: x**3 - p, 0.0, 100.0, full_output=True)
        return found * 0.0 + told.iterations

    points = np.array([0.5, 8.0, 900.0])
    assert np.array_equal(wg.vmap(count)(points), [count(p) for p in points])
    assert len({count(p) for p in points}) > 1


def test_a_batch_of_differential_equations():
    """Steps, and so the times of the result, differ between examples; so do the times of events."""

    def last(p):
        reaches = lambda t, y: y[0] - 2.0
        reaches.terminal = True
        found = scipy.integrate.solve_ivp(lambda t, y: p * y, (0.0, 9.0), [1.0], events=reaches, rtol=1e-9, atol=1e-9)
        return np.stack([found.t[-1], found.t_events[0][0], found.y[0, -1]])

    rates = np.array([0.5, 0.7])
    times = np.log(2) / rates
    exact = np.stack([times, times, np.full(2, 2.0)], 1)
    assert np.allclose(wg.vmap(last)(rates), exact, atol=1e-7)
    assert np.allclose(wg.vmap(wg.jacfwd(last))(rates)[:, 0], -np.log(2) / rates**2, atol=1e-6)


def test_in_a_compiled_function():
    f = lambda p: so.root_scalar(lambda x: x**3 - p, bracket=(0.0, 9.0)).root
    assert wg.jit(wg.grad(f))(8.0) == pytest.approx(1 / 12)
    assert wg.jit(lambda p: so.root(lambda x: x**3 - p, [1.0]).success)(8.0)


def test_attributes_of_what_is_withheld_say_so_too():
    """Also in compiled programs, in which no solver has run yet."""
    dual = lambda b: so.linprog([-1.0, -1.0], A_ub=[[1.0, 2.0], [3.0, 1.0]], b_ub=b).ineqlin.marginals
    for operator in (wg.jacobian(dual), wg.jit(dual)):
        with pytest.raises(UnsupportedFunctionError, match="ineqlin of"):
            operator(np.array([4.0, 3.0]))


def test_the_jacobian_of_a_fit_has_a_derivative():
    """The covariance of a linear fit y = c t with residuals r is Σr² / (m − 1) / Σt², whatever way it is computed."""
    t = np.linspace(0.5, 2.0, 9)

    def variance(y):
        fit = so.least_squares(lambda c: c[0] * t - y, [1.0])
        return np.linalg.inv(fit.jac.T @ fit.jac)[0, 0] * 2 * fit.cost / (len(t) - 1)

    def closed(y):
        return np.sum((t * (t @ y) / (t @ t) - y) ** 2) / (len(t) - 1) / (t @ t)

    y = np.sin(3 * t)
    for operator in (lambda f: f, wg.grad, lambda f: wg.jit(wg.grad(f)), wg.hessian):
        np.testing.assert_allclose(operator(variance)(y), operator(closed)(y), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        wg.jacobian(lambda y: so.least_squares(lambda c: c[0] * t - y, [1.0]).grad)(y), 0, atol=1e-9
    )


def test_the_answer_among_more_output_has_its_derivative():
    """d p^(1/3)/dp wherever the answer stands; compiled functions, too, that ask for more than the answer."""
    cube = lambda x, p: x**3 - p
    array = np.ones(2)
    placed = {
        "newton": lambda p: so.newton(cube, 1.0, args=(p,), tol=1e-14, full_output=True)[1].root,
        "newton of arrays": lambda p: so.newton(cube, array, args=(p,), tol=1e-14, full_output=True).root[1],
        "fsolve": lambda p: so.fsolve(cube, [1.0], args=(p,), xtol=1e-14, full_output=True)[0][0],
    }
    for name, f in placed.items():
        for gradient in (wg.grad(f), wg.derivative(f), wg.jit(wg.grad(f))):
            assert gradient(2.0) == pytest.approx(2 ** (-2 / 3) / 3, rel=1e-9), name
    t = np.array([0.0, 1.0, 2.0])
    solved, told = [], []

    def decay(p):
        y, info = scipy.integrate.odeint(lambda y, t: -p * y, 1.0, t, full_output=True, rtol=1e-10, atol=1e-12)
        solved.append(info["nfe"][-1])
        told.append(info["hu"])
        return y[-1, 0]

    assert wg.grad(decay)(0.7) == pytest.approx(-2 * np.exp(-1.4), rel=1e-7)
    assert solved[0] > 0
    with pytest.raises(UnsupportedFunctionError, match="hu"):
        told[0] + 1.0
