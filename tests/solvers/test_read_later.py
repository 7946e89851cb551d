"""Functions given to solvers that read something from outside, which the compiled function changes."""

import numpy as np
import pytest
from scipy import integrate, optimize

import wengert as wg
from wengert.errors import StagingError

ITEMS, TABLE, ARRAY = [1.0], {"k": 1.0}, np.array([1.0])


class Model:
    def __init__(self):
        self.k, self.calls, self.last = 2.0, 0, 0.0

    def residual(self, t, x):
        return t - self.slope() * x

    def slope(self):
        return self.k

    def solve(self, x):
        self.calls += 1
        self.last = optimize.brentq(self.residual, -100, 100, args=(x,))
        return self.last

    def changed(self, x):
        self.k = 2.0
        y = optimize.brentq(self.residual, -100, 100, args=(x,))
        self.k = 5.0
        return y


def of_a_list(x):
    ITEMS[0] = 2.0
    y = optimize.brentq(lambda t: t - x * ITEMS[0], -100, 100)
    ITEMS[0] = 5.0
    return y


def of_a_dict(x):
    TABLE["k"] = x
    y = integrate.quad(lambda t: x * TABLE["k"], 0, 1)[0]
    TABLE["k"] = 5.0
    return y


def of_an_array(x):
    ARRAY[0] = 2.0
    y = optimize.fsolve(lambda t: t - x * ARRAY[0], 1.0)[0]
    ARRAY[0] = 5.0
    return y


@pytest.mark.parametrize("f", [of_a_list, of_a_dict, of_an_array, Model().changed])
def test_changes_of_what_a_solver_reads_are_refused(f):
    for compiled in (wg.jit(f), wg.jit(wg.grad(f))):
        with pytest.raises(StagingError, match="changes .* from outside, which a function reads"):
            compiled(3.0)


def test_other_attributes_of_the_object_may_change():
    model = Model()
    compiled = wg.jit(model.solve)
    for k, x in enumerate([3.0, 4.0], 1):
        np.testing.assert_allclose([compiled(x), model.last, model.calls], [2 * x, 2 * x, k])
    model.k = 5.0
    np.testing.assert_allclose(compiled(4.0), 20.0)


def bound_in_one_branch(x, n):
    if x > 1:
        k = 2.0 * x
    return integrate.quad(lambda t: k * t**n, 0, 1)[0]


def bound_in_either(x, n):
    if x > 1:
        k = 2.0 * x
    else:
        j = 3.0 * x
    return optimize.brentq(lambda t: t - (k * n if x > 1 else j), -100, 100)


@pytest.mark.parametrize("f", [bound_in_one_branch, bound_in_either])
def test_variables_bound_in_one_branch_and_integers(f):
    np.testing.assert_allclose(wg.jit(f)(1.5, 2), f(1.5, 2))
    slope = (f(1.5 + 1e-4, 2) - f(1.5 - 1e-4, 2)) / 2e-4
    for g in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(g(1.5, 2), slope, rtol=1e-6)


def test_a_variable_without_a_value_raises_as_in_python():
    with pytest.raises(NameError, match="'k'"):
        wg.jit(bound_in_one_branch)(0.5, 2)
    np.testing.assert_allclose(wg.jit(bound_in_either)(0.5, 2), 1.5)
