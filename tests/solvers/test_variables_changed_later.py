"""Functions given to solvers and integrators whose variables have other values, or none, when the program runs."""

import numpy as np
import pytest
from scipy import integrate, optimize

import wengert as wg


class Things:
    """An object with attributes."""


def bound_anew(a):
    t = 2 * a
    y = optimize.brentq(lambda y: y**3 - t, 0.0, 10.0)
    t = 5.0
    return y + t


def other_function_bound_anew(a):
    k = 2.0

    def cube(y):
        return k * y**3

    y = optimize.brentq(lambda y: cube(y) - a, 0.0, 10.0)
    k = 5.0
    return y + k


def items_changed(a):
    c, d = [2.0, a], {"power": 3}
    y = optimize.newton(lambda y: c[0] * y ** d["power"] - c[1], 1.5)
    c[0], c[1], d["power"] = 3.0, 9.0, 1
    return y + c[0]


def attributes_changed(a):
    p, q = Things(), Things()
    p.k, q.a = 2.0, a
    y = optimize.root_scalar(lambda y: p.k * y**3 - q.a, bracket=(0.0, 10.0)).root
    p.k = q.a = 3.0
    return y + p.k


def integral_of_variable(a):
    t = 2 * a
    y = integrate.quad(lambda x: x * t, 0.0, 1.0)[0]
    t = 5.0
    return y + t


def bound_in_a_branch(a):
    if a < 1.5:
        return a
    t = a / 3.7

    def g(x):
        return t * x * x - 1

    return optimize.root_scalar(g, bracket=(0.0, 10.0)).root + integrate.quad(g, 0.0, 1.0)[0]


def bound_in_a_loop(a):
    n = 0.0
    while n < 3 * a:
        t = a + n
        n += optimize.brentq(lambda y: y**3 - t, 0.0, 10.0)  # noqa: B023 (that is the question)
    return n


PROGRAMS = [
    bound_anew, other_function_bound_anew, items_changed, attributes_changed, integral_of_variable, bound_in_a_branch,
    bound_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_they_were_at_the_call(f):
    slope = (f(2.0 + 1e-5) - f(2.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose(wg.jit(f)(2.0), f(2.0), rtol=1e-10)
    for gradient in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(gradient(2.0), slope, rtol=1e-7)


def test_what_the_function_changes_outside():
    steps = []

    def f(a):
        def g(y):
            steps.append(1)
            return y * y - a

        return optimize.brentq(g, 0.0, 10.0)

    compiled = wg.jit(f)
    compiled(2.0)
    before = len(steps)
    np.testing.assert_allclose(compiled(3.0), np.sqrt(3.0))
    assert len(steps) > before


class Body:
    def __init__(self, a):
        self.a, self.place, self.speed = a, np.array([a, 0.2]), np.array([0.1, 0.9])

    def after(self, t):
        def late(x):
            return self.a * x**3 + self.place @ self.speed * x - t

        return np.sum(optimize.newton(late, 0.5) * self.speed) if self.a > 0 else self.place[0]


def test_arrays_of_an_object_that_was_made_inside_are_no_inputs():
    f = lambda a: Body(a).after(0.7)
    slope, curvature = [
        derive(f, method="five-point")(1.3) for derive in (wg.numerical.derivative, wg.numerical.hessian)
    ]
    for place in (lambda d: d(f), lambda d: wg.jit(d(f)), lambda d: d(wg.jit(f))):
        np.testing.assert_allclose(place(wg.grad)(1.3), slope, rtol=1e-8)
        np.testing.assert_allclose(place(wg.hessian)(1.3), curvature, rtol=1e-5)
