"""Answers, Jacobians and Hessians of implicit problems against references of 32 digits, by SciPy's and our solvers."""

import numpy as np
import pytest
import scipy.optimize as so
from implicit_problems import check

import wengert as wg

Z = np.array([0.5, -1.2, 2.0, 0.3])
S = np.array([1.0, -1.0, 1.0, -1.0])


def colebrook(f, p):
    return 1 / np.sqrt(f) + 2 * np.log10(p[0] / 3.7 + 2.51 / (p[1] * np.sqrt(f)))


def circle(y, p):
    return np.array([y[0] ** 2 + y[1] ** 2 - p[0], y[0] * y[1] - p[1]])


def logistic(w, p):
    return np.sum(np.log1p(np.exp(-S * w * Z))) + p[0] * w**2 / 2


def quadratic(x):
    return x[0] ** 2 + 2 * x[1] ** 2 + x[0] * x[1] - x[0]


SOLVERS = {
    "cosine fixed point": {
        "fixed_point of SciPy": lambda p: so.fixed_point(lambda y: np.cos(p[0] * y) + p[1], 0.8, xtol=1e-13),
        "brentq": lambda p: so.brentq(lambda y: y - np.cos(p[0] * y) - p[1], 0, 2),
        "newton": lambda p: so.newton(lambda y, p: y - np.cos(p[0] * y) - p[1], 0.8, args=(p,)),
        "root_scalar": lambda p: so.root_scalar(lambda y: y - np.cos(p[0] * y) - p[1], bracket=(0, 2)).root,
        "wg.fixed_point": lambda p: wg.fixed_point(lambda y: np.cos(p[0] * y) + p[1], 0.8, tol=1e-13),
        "iteration": lambda p: wg.fixed_point(
            lambda y, p: np.cos(p[0] * y) + p[1], 0.8, p, method="iteration", tol=1e-13
        ),
    },
    "Colebrook": {
        "toms748": lambda p: so.toms748(colebrook, 1e-3, 1.0, args=(p,)),
        "ridder": lambda p: so.ridder(lambda f: colebrook(f, p), 1e-3, 1.0),
        "fsolve": lambda p: so.fsolve(colebrook, 0.02, args=(p,)),
        "wg.root": lambda p: wg.root(colebrook, 0.02, p),
    },
    "circle and hyperbola": {
        "root": lambda p: so.root(circle, [2.0, 0.5], args=(p,)).x,
        "root, by closure": lambda p: so.root(lambda y: circle(y, p), [2.0, 0.5], method="lm").x,
        "fsolve": lambda p: so.fsolve(lambda y: circle(y, p), [2.0, 0.5]),
        "wg.root": lambda p: wg.root(circle, np.array([2.0, 0.5]), p),
        "broyden": lambda p: wg.root(circle, np.array([2.0, 0.5]), p, method="broyden"),
    },
    "logistic regression, one weight": {
        "minimize": lambda p: so.minimize(lambda w: logistic(w[0], p), [1.0]).x,
        "minimize_scalar": lambda p: so.minimize_scalar(logistic, args=(p,)).x,
        "wg.argmin": lambda p: wg.argmin(logistic, 1.0, p),
        "bfgs": lambda p: wg.argmin(lambda w: logistic(w, p), 1.0, method="bfgs", tol=1e-12),
    },
    "equality-constrained QP": {
        "SLSQP": lambda p: so.minimize(
            quadratic, [0.0, 0.0], constraints={"type": "eq", "fun": lambda x: p[0] * x[0] + x[1] - p[1]}
        ).x,
        "trust-constr": lambda p: so.minimize(
            quadratic, [0.0, 0.0], method="trust-constr",
            constraints=so.NonlinearConstraint(lambda x: p[0] * x[0] + x[1] - p[1], 0.0, 0.0),
        ).x,
    },
    "QP with an active bound": {
        "SLSQP": lambda p: so.minimize(
            lambda x: (x[0] - p[0]) ** 2 + (x[1] - p[1]) ** 2, [0.0, 0.0], bounds=[(0, None), (0, None)],
            constraints=[{"type": "ineq", "fun": lambda x: 1 - x[0] - x[1]}],
        ).x,
    },
    "projection to the simplex": {
        "SLSQP": lambda p: so.minimize(
            lambda x: np.sum((x - p) ** 2), np.ones(3) / 3, bounds=so.Bounds(np.zeros(3), np.full(3, np.inf)),
            constraints={"type": "eq", "fun": lambda x: np.sum(x) - 1},
        ).x,
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "solver"), [(n, s) for n, found in SOLVERS.items() for s in found])
def test_answers_and_derivatives(name, solver):
    rtol = 1e-6 if "bfgs" in solver else 1e-9
    check(name, SOLVERS[name][solver], rtol)
