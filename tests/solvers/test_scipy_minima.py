"""Least squares, fits and linear programs of SciPy's, against closed forms and differences of tight solutions."""

import numpy as np
import pytest
import scipy.optimize as so

import wengert as wg
from wengert.errors import ConvergenceError

T = np.linspace(0, 2, 9)
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(7, 3)), RNG.normal(size=7)
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def differences(f, a, h=1e-2):
    """Of order four."""
    return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h)


PROGRAMS = {
    "least_squares": lambda a: so.least_squares(
        lambda p: p[0] * np.exp(-p[1] * T) - np.cos(a * T), [1.0, 1.0], **TIGHT
    ).x,
    "soft_l1": lambda a: so.least_squares(
        lambda p, a: p[0] * np.exp(-p[1] * T) - np.cos(a * T), [1.0, 1.0], loss="soft_l1", f_scale=0.1, args=(a,),
        **TIGHT,
    ).x,
    "cauchy": lambda a: so.least_squares(
        lambda p: p[0] * np.exp(-p[1] * T) - np.cos(a * T), [1.0, 1.0], loss="cauchy", f_scale=a, **TIGHT
    ).cost,
    "bounded": lambda a: so.least_squares(
        lambda p: p[0] * np.exp(-p[1] * T) - np.cos(a * T), [0.3, 1.0], bounds=([0, 0], [0.5 * a, 9]), **TIGHT
    ).x,
    "curve_fit": lambda a: so.curve_fit(
        lambda t, p, q: p * np.exp(-q * t), T, np.cos(a * T), sigma=1 + a * T, xtol=1e-15, ftol=1e-15
    )[0],
    "curve_fit covariance": lambda a: so.curve_fit(
        lambda t, p, q: p * np.exp(-q * t), T, np.cos(a * T), p0=[1.0, 1.0], xtol=1e-15, ftol=1e-15
    )[1],
    "nnls": lambda a: so.nnls(A, B * a + A[:, 0])[0],
    "nnls residual": lambda a: so.nnls(A * a, B + A[:, 0])[1],
    "lsq_linear": lambda a: so.lsq_linear(A, B * a, bounds=(-0.1, 0.1 * a), tol=1e-15).x,
    "linprog": lambda a: so.linprog([-1.0, -2.0], A_ub=[[1.0, a], [3.0, 1.0]], b_ub=[4.0, 6.0 * a]).x,
    "linprog value": lambda a: so.linprog([-1.0, -2.0 * a], A_ub=[[1.0, a], [3.0, 1.0]], b_ub=[4.0, 6.0]).fun,
    "minimize value": lambda a: so.minimize(lambda x: np.sum((x - a) ** 2) + a * x[0] ** 4, [0.0, 0.0]).fun,
    "L-BFGS-B": lambda a: so.minimize(
        lambda x: (x[0] - 2 * a) ** 2 + (x[1] - a * x[0]) ** 2, [0.0, 0.0], bounds=[(None, a), (0, None)], tol=1e-15
    ).x,
    "LinearConstraint": lambda a: so.minimize(
        lambda x: (x[0] - a) ** 2 + (x[1] - 0.7) ** 2, [0.0, 0.0], method="SLSQP", tol=1e-15,
        constraints=[so.LinearConstraint(np.array([[1.0, 1.0]]), -np.inf, 1.0)],
    ).x,
    "Bounds": lambda a: so.minimize(
        lambda x: (x[0] - 2) ** 2 + (x[1] - x[0] * a) ** 2, [0.0, 0.0], bounds=so.Bounds([0, 0], [a, 0.5 * a], True)
    ).x,
    "a limit for all": lambda a: so.minimize(lambda x: np.sum((x - 2) ** 2), [0.0, 0.0], bounds=so.Bounds(-1, a)).x,
    "limits in lists": lambda a: so.minimize(
        lambda x: np.sum((x - 2) ** 2), [0.0, 0.0], method="SLSQP", tol=1e-15,
        constraints=(so.LinearConstraint([[a, 1.0]], [-9], [a]), so.NonlinearConstraint(lambda x: x[1], [0.1 * a], 9)),
    ).x,
    "least_squares, Bounds": lambda a: so.least_squares(
        lambda p: p[0] * np.exp(-p[1] * T) - np.cos(T), [0.3, 1.0], bounds=so.Bounds([0, 0], [0.5 * a, 9]), **TIGHT
    ).x,
    "lsq_linear, Bounds": lambda a: so.lsq_linear(A, B, bounds=so.Bounds([-0.1] * 3, [0.05 * a] * 3), tol=1e-15).x,
    "curve_fit, Bounds": lambda a: so.curve_fit(
        lambda t, p, q: p * np.exp(-q * t), T, np.exp(-T) + 0.05 * np.sin(9 * T), p0=[1.0, 0.4],
        bounds=so.Bounds([0, 0], [9, 0.5 * a]), **TIGHT
    )[0],
    "bounded scalar": lambda a: so.minimize_scalar(
        lambda x: (x - a) ** 2 + np.exp(a * x), bounds=(-3, 3), method="bounded", options={"xatol": 1e-13}
    ).x,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f = PROGRAMS[name]
    wanted = differences(f, 1.1)
    tolerance = {"rtol": 2e-5, "atol": 2e-5 * np.max(np.abs(wanted)) + 1e-9}
    np.testing.assert_allclose(wg.jacrev(f)(1.1), wanted, **tolerance)
    np.testing.assert_allclose(wg.jacfwd(f)(1.1), wanted, **tolerance)
    np.testing.assert_allclose(wg.jit(wg.jacrev(f))(1.1), wg.jacrev(f)(1.1), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(wg.jit(f)(1.1), f(1.1), rtol=1e-7, atol=1e-9)
    second = differences(wg.jacrev(f), 1.1, 1e-3)
    np.testing.assert_allclose(
        wg.jacfwd(wg.jacrev(f))(1.1), second, rtol=2e-5, atol=2e-5 * np.max(np.abs(second)) + 1e-8
    )


def test_an_unconstrained_fit_is_linear_algebra():
    """The solution of a linear least-squares problem, b ↦ A⁺b, has the Jacobian A⁺."""
    fit = lambda b: so.least_squares(lambda x: A @ x - b, np.zeros(3)).x
    np.testing.assert_allclose(wg.jacobian(fit)(B), np.linalg.pinv(A), rtol=1e-8, atol=1e-12)


def test_the_value_is_scipys_own():
    f = lambda a: so.minimize(lambda x: np.sum((x - a) ** 2) + np.sum(x**4), [0.0, 0.0]).x
    assert np.array_equal(wg.jvp(f, (1.3,), (1.0,))[0], f(1.3))


def test_a_constraint_that_is_just_touched():
    f = lambda a: so.minimize(lambda x: (x[0] - a) ** 2, [0.0], bounds=[(None, 1.0)]).x[0]
    assert wg.grad(f)(0.5) == pytest.approx(1.0)
    assert wg.grad(f)(1.5) == pytest.approx(0.0)
    with pytest.raises(ConvergenceError, match="just touched"):
        wg.grad(f)(1.0)


def test_no_answer():
    with pytest.raises(ConvergenceError, match="minimize has not converged"):
        wg.grad(lambda a: so.minimize(lambda x: np.sum((x - a) ** 4), np.zeros(3), options={"maxiter": 1}).fun)(1.0)
    with pytest.raises(ConvergenceError, match="singular"):
        wg.grad(lambda a: so.minimize(lambda x: (x[0] + x[1] - a) ** 2, [0.0, 0.0]).x[0])(1.0)


def test_fits_in_all_forms_of_their_arguments():
    """One error for all data, one parameter as a number, data left out, and all that SciPy tells of a fit."""
    data = 2 * np.exp(-1.1 * T) + 0.05 * np.sin(9 * T)
    holes = np.where(np.arange(len(T)) == 2, np.nan, 0.0)
    model = lambda t, a, b: a * np.exp(-b * t)
    forms = {
        "one sigma": lambda s: so.curve_fit(model, T, data * s, sigma=0.1, absolute_sigma=True, **TIGHT)[1],
        "a number": lambda s: so.curve_fit(lambda t, a: a * np.exp(-t), T, data**s, p0=1.0, **TIGHT)[0],
        "NaNs": lambda s: so.curve_fit(model, T, data**s + holes, nan_policy="omit", sigma=1 + T, **TIGHT)[1],
        "residuals": lambda s: so.curve_fit(model, T, data**s, full_output=True, **TIGHT)[2]["fvec"],
    }
    data = np.abs(data)
    for name, f in forms.items():
        np.testing.assert_allclose(wg.jacrev(f)(1.2), differences(f, 1.2), rtol=1e-5, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(wg.jit(forms["residuals"])(1.2), forms["residuals"](1.2), atol=1e-9)
    few = lambda s: so.curve_fit(model, T[:2], s * np.array([2.0, 1.0]), p0=[2.0, 2.0], **TIGHT)
    with pytest.warns(so.OptimizeWarning, match="could not be estimated"):
        found = wg.jacrev(lambda s: few(s)[0])(1.0)
    np.testing.assert_allclose(found, [2.0, 0.0], atol=1e-7)


def test_minima_that_rounding_errors_end():
    value = lambda x, p: (x[0] - p) ** 2 + 0.1 * x[0] ** 4
    slope = lambda x, p: np.array([2 * (x[0] - p) + 0.4 * x[0] ** 3])
    curve = lambda x, p: np.array([[2 + 1.2 * x[0] ** 2]])
    f = lambda p: so.minimize(value, [0.5], (p,), "trust-exact", slope, curve, tol=1e-16).x[0]
    x = f(1.3)
    assert wg.grad(f)(1.3) == pytest.approx(2 / (2 + 1.2 * x**2), rel=1e-9)


def test_limits_that_are_equal_are_an_equation():
    """x + y = b, where b is traced: two inequalities that are both active would have no multipliers."""

    def f(b):
        rule = so.LinearConstraint(np.ones((1, 2)), b, b)
        return so.minimize(lambda x: x[0] ** 2 + 3 * x[1] ** 2, np.ones(2), constraints=rule, method="SLSQP").x

    np.testing.assert_allclose(wg.jacobian(f)(2.0), [0.75, 0.25], rtol=1e-9)
    np.testing.assert_allclose(wg.vmap(wg.jacobian(f))(np.array([2.0, 3.0])), [[0.75, 0.25]] * 2, rtol=1e-9)
