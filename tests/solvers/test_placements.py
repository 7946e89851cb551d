"""Answers of solvers in every composition: one number, wherever `jit` stands."""

import numpy as np
import pytest
import scipy.optimize

import wengert as wg

T = np.array([0.0, 0.5, 1.0])


@wg.implicit(lambda y, p: y**3 + p[0] * y - p[1])
def cubic(p):
    y = 1.0
    for _ in range(40):
        y = y - (y**3 + p[0] * y - p[1]) / (3 * y**2 + p[0])
    return y


ANSWERS = {
    "implicit": cubic,
    "root": lambda p: wg.root(lambda y: y**3 + p[0] * y - p[1], 1.0),
    "fixed_point": lambda p: wg.fixed_point(lambda y: np.cos(p[0] * y) / 2 + p[1], 0.5, tol=1e-13),
    "argmin": lambda p: np.sum(wg.argmin(lambda y: np.sum((y - p) ** 2) + np.sum(y**4), np.zeros(2))),
    "linear_solve": lambda p: np.sum(wg.linear_solve(lambda v: p[0] * v + np.roll(v, 1), np.ones(3) * p[1] ** 2)),
    "qp": lambda p: np.sum(wg.qp(np.diag(p), -p, np.ones((1, 2)), np.array([1.0])) ** 2),
    "odeint": lambda p: wg.odeint(lambda t, y: -p[0] * y + p[1] * np.sin(t), 1.0, T, rtol=1e-9, atol=1e-11)[-1],
    "checkpoint": lambda p: wg.checkpoint(lambda p: np.sin(p[0] * p[1]) * p[0])(p) * p[1],
}
P, V = np.array([1.3, 1.7]), np.array([0.4, -0.9])
FIRST = {
    "jvp": lambda f: wg.jvp(f, (P,), (V,))[1],
    "jvp(jit)": lambda f: wg.jvp(wg.jit(f), (P,), (V,))[1],
    "jit(jvp)": lambda f: wg.jit(lambda p: wg.jvp(f, (p,), (V,))[1])(P),
    "grad(jit)": lambda f: wg.grad(wg.jit(f))(P) @ V,
    "jit(grad)": lambda f: wg.jit(wg.grad(f))(P) @ V,
    "vmap(grad(jit))": lambda f: wg.vmap(wg.grad(wg.jit(f)))(np.stack([P, 2 * P]))[0] @ V,
    "jit(vmap(grad))": lambda f: wg.jit(wg.vmap(wg.grad(f)))(np.stack([P, 2 * P]))[0] @ V,
    "grad(vmap)": lambda f: wg.grad(lambda X: wg.vmap(f)(X)[0])(np.stack([P, 2 * P]))[0] @ V,
}
SECOND = {
    "hvp": lambda f: wg.hvp(f)(P, V),
    "hvp(jit)": lambda f: wg.hvp(wg.jit(f))(P, V),
    "jit(hvp)": lambda f: wg.jit(wg.hvp(f))(P, V),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_first_order(name):
    f = ANSWERS[name]
    wanted = wg.grad(f)(P) @ V
    assert wanted == pytest.approx((f(P + 1e-5 * V) - f(P - 1e-5 * V)) / 2e-5, rel=1e-5)
    for way, derive in FIRST.items():
        assert derive(f) == pytest.approx(wanted, rel=1e-6), way


@pytest.mark.parametrize("name", ANSWERS)
def test_second_order(name):
    f = ANSWERS[name]
    wanted = (wg.grad(f)(P + 1e-5 * V) - wg.grad(f)(P - 1e-5 * V)) / 2e-5
    for way, derive in SECOND.items():
        np.testing.assert_allclose(derive(f), wanted, rtol=1e-4, atol=1e-6, err_msg=way)


def test_extra_arguments_in_a_list():
    """`newton` takes a list for its extra arguments, and unpacks it."""
    f = lambda a: scipy.optimize.newton(lambda x, b, c: x**2 * c - b, 1.0, args=[a, 2.0])
    np.testing.assert_allclose(wg.grad(f)(3.0), 0.25 / np.sqrt(1.5), rtol=1e-8)
