"""Functions that operators have made are given to solvers: `jac=wg.grad(f)`, where f depends on what is differentiated.

The derivative of an answer does not depend on how the solver was told about slopes: each test compares with the
closed form of the answer.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import wengert as wg

P = np.array([1.2, 0.6])


def objective(p):
    """Its minimum is at (p₀, p₀ p₁)."""
    return lambda x: np.cosh(x[0] - p[0]) + 2 * (x[1] - p[1] * x[0]) ** 2


SLOPE = np.array([1 + P[1], P[0]])
"""The gradient of p₀ + p₀ p₁, the sum of the answer."""

START = np.array([1.0, 0.5])


def gradient_given(p):
    f = objective(p)
    return scipy.optimize.minimize(f, START, jac=wg.grad(f), method="BFGS", options={"gtol": 1e-10}).x


def value_and_gradient_given(p):
    return scipy.optimize.minimize(wg.value_and_grad(objective(p)), START, jac=True, method="L-BFGS-B", tol=1e-14).x


def hessian_given(p):
    f = objective(p)
    options = {"jac": wg.grad(f), "hess": wg.hessian(f), "options": {"gtol": 1e-10}}
    return scipy.optimize.minimize(f, START, method="trust-exact", **options).x


def product_given(p):
    f = objective(p)
    options = {"jac": wg.grad(f), "hessp": wg.hvp(f), "options": {"gtol": 1e-10}}
    return scipy.optimize.minimize(f, START, method="trust-ncg", **options).x


def compiled_given(p):
    f = objective(p)
    return scipy.optimize.minimize(wg.jit(f), START, jac=wg.jit(wg.grad(f)), method="BFGS", options={"gtol": 1e-10}).x


def stationary_point(p):
    f = objective(p)
    return scipy.optimize.root(wg.grad(f), START, jac=wg.hessian(f), tol=1e-12).x


def residuals_given(p):
    r = lambda x: np.stack([x[0] - p[0], x[1] - p[1] * x[0]])
    return scipy.optimize.least_squares(r, START, jac=wg.jacobian(r), xtol=1e-15, ftol=1e-15, gtol=1e-15).x


def native_root(p):
    return wg.root(wg.grad(objective(p)), START)


def native_minimum(p):
    return wg.argmin(wg.jit(objective(p)), START)


@pytest.mark.parametrize(
    "solve",
    [
        gradient_given, value_and_gradient_given, hessian_given, product_given, compiled_given, stationary_point,
        residuals_given, native_root, native_minimum,
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "derivative",
    [wg.grad, wg.jacfwd, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))],
    ids=["reverse", "forward", "compiled", "of compiled"],
)
def test_minima(solve, derivative):
    found = derivative(lambda p: np.sum(solve(p)))(P)
    np.testing.assert_allclose(found, SLOPE, rtol=1e-6)


def test_second_derivatives_of_a_minimum():
    found = wg.hessian(lambda p: np.sum(gradient_given(p)))(P)
    np.testing.assert_allclose(found, [[0, 1], [1, 0]], atol=1e-5)


def test_vmap_of_a_function_is_an_equation():
    solve = lambda p: scipy.optimize.root(wg.vmap(lambda x: x**3 - p), np.array([1.0, 1.1]), tol=1e-13).x
    assert wg.grad(lambda p: np.sum(solve(p)))(2.0) == pytest.approx(2 * 2 ** (-2 / 3) / 3)


def test_a_gradient_is_a_right_hand_side():
    """y' = ∂/∂y ½ k y² has the solution exp(k t)."""

    def end(k):
        slope = wg.grad(lambda t, y: 0.5 * k * np.sum(y * y), 1)
        return scipy.integrate.solve_ivp(slope, (0, 1), np.ones(1), rtol=1e-10, atol=1e-12).y[0, -1]

    assert wg.grad(end)(0.7) == pytest.approx(np.exp(0.7))


def test_a_derivative_is_an_integrand():
    """∫ d/dx sin(k x) is sin(k)."""
    of = lambda k: scipy.integrate.quad(wg.derivative(lambda x: np.sin(k * x)), 0, 1)[0]
    assert wg.grad(of)(0.8) == pytest.approx(np.cos(0.8))


def test_a_rule_of_the_users_own_that_is_differentiated_is_refused():
    """The rule depends on p, which is no argument: what is said then is what is said outside of solvers."""

    def solve(p):
        @wg.custom_jvp
        def f(x):
            return objective(p)(x)

        @f.defjvp
        def rule(primals, tangents):
            return wg.jvp(objective(p), primals, tangents)

        return np.sum(scipy.optimize.minimize(f, START, method="BFGS").x)

    with pytest.raises(wg.errors.WengertError, match="not among its arguments"):
        wg.grad(solve)(P)
