"""Answers of solvers for parameters in intervals: the roots for all of them are inside, and so are derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

import wengert as wg
from wengert.errors import ConvergenceError, UndecidedError

ONE = {
    "brentq": lambda p: scipy.optimize.brentq(lambda y: y**3 + y - p, -3, 3, xtol=1e-14),
    "newton": lambda p: scipy.optimize.newton(lambda y: np.exp(y) * y - p, 0.5, tol=1e-14),
    "fsolve": lambda p: scipy.optimize.fsolve(lambda y: [y[0] + 0.1 * y[1] ** 2 - p, y[1] - np.sin(y[0])], [1.0, 1.0])[
        1
    ],
    "minimize": lambda p: scipy.optimize.minimize_scalar(lambda y: y**4 + y * y - p * y).x,
    "root": lambda p: wg.root(lambda y: y**3 + y - p, 0.5),
    "fixed_point": lambda p: wg.fixed_point(lambda y: np.cos(y) / p, 0.5),
    "argmin": lambda p: wg.argmin(lambda y: np.sum(np.exp(y) - y * p * np.arange(1, 3)), np.zeros(2))[1],
    "linear_solve": lambda p: wg.linear_solve(lambda v: v * (3 + p) + v[::-1] / p, np.arange(1.0, 4.0))[0],
}


@pytest.mark.parametrize("name", ONE)
def test_answers_and_their_derivatives_are_inside(name):
    f = ONE[name]
    for low, high in ((1.0, 1.02), (1.0, 1.6)):
        y = wg.enclose(f)(wg.interval(low, high))
        values = [f(p) for p in np.linspace(low, high, 9)]
        assert all(y.lo - 1e-7 <= v <= y.hi + 1e-7 for v in values), y  # (SciPy's own are as good as its tolerances)
        assert y.width < 4 * (max(values) - min(values)) + 1e-9
    slopes = wg.enclose(wg.grad(f))(wg.interval(1.0, 1.02))
    assert all(slopes.lo - 1e-7 <= wg.grad(f)(p) <= slopes.hi + 1e-7 for p in np.linspace(1.0, 1.02, 9)), slopes


def test_factors_that_are_kept():
    matrix = np.array([[2.0, 0.3, 0.0], [0.0, 1.5, 0.2], [0.4, 0.0, 3.0]])
    factors = scipy.sparse.linalg.splu(scipy.sparse.csc_array(matrix))
    for trans, a in (("N", matrix), ("T", matrix.T)):
        y = wg.enclose(lambda b: factors.solve(b, trans))(wg.interval(np.ones(3), np.ones(3) + 0.1))  # noqa: B023
        for b in (np.ones(3), np.array([1.1, 1.0, 1.05]), np.ones(3) + 0.1):
            x = np.linalg.solve(a, b)
            assert np.all((y.lo - 1e-15 <= x) & (x <= y.hi + 1e-15))
        assert np.all(y.width < 0.15)


def test_no_proof_no_answer():
    double = lambda p: scipy.optimize.newton(lambda y: (y - 1) ** 2 - p, 2.0)
    with pytest.raises((UndecidedError, ConvergenceError), match="several that are close|not isolated"):
        wg.enclose(double)(wg.interval(0.0, 1.0))
    with pytest.raises(UndecidedError, match="without jit"):
        wg.jit(wg.enclose(ONE["brentq"]))(wg.interval(1.0, 1.1))
