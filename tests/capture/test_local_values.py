"""`locals()`: the user's variables and nothing else, in every kind of twin."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError


def area(width, height, scale=1.0):
    return width * height * scale


def passes_all_on(width, height):
    return area(**locals())


class Bunch(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


def decides(a, b, c=None):
    p = Bunch(locals())
    for name in ("a", "b", "c"):
        if p[name] is not None and p[name] < 0:
            p[name] = -p[name]
    return p.a * p.b + len(p)


def of_a_branch(x):
    total, doubled = 0.0, None
    if x > 1:
        doubled = 2 * x
        total = sum(locals().values())
    for k in range(3):
        total = total + k * locals()["x"]
    return total


def names_of(x):
    y = x * 2
    seen = sorted(vars())
    return y * len(seen) + (seen == ["x", "y"])


def with_a_free_variable(x):
    k = 3.0

    def inner(u):
        return u * k + len(locals())

    return inner(x)


def deleted(x):
    y = x**2
    del y
    return x * len(locals())


EXAMPLES = [
    (passes_all_on, (2.0, 3.0)),
    (decides, (-2.0, 3.0)),
    (decides, (2.0, 3.0)),
    (of_a_branch, (2.0,)),
    (of_a_branch, (0.5,)),
    (names_of, (1.5,)),
    (with_a_free_variable, (2.0,)),
    (deleted, (2.0,)),
]


@pytest.mark.parametrize(("f", "at"), EXAMPLES)
def test_value_and_derivative(f, at):
    h = 1e-6
    slope = (f(at[0] + h, *at[1:]) - f(at[0] - h, *at[1:])) / (2 * h)
    for value, found in (
        wg.value_and_grad(f)(*at),
        wg.jit(wg.value_and_grad(f))(*at),
        wg.value_and_grad(wg.jit(f))(*at),
    ):
        np.testing.assert_allclose(value, f(*at))
        np.testing.assert_allclose(found, slope, rtol=1e-8)


def test_names_of_variables_that_are_builtins_elsewhere():
    def f(x):
        eval, evec = np.linalg.eigh(np.array([[x, 1.0], [1.0, 2.0]]))
        if np.max(eval) > 1.0:
            eval = eval * 2
        return np.sum(eval * evec[0] ** 2)

    def g(exec, x):
        return exec(x)

    np.testing.assert_allclose(wg.jit(f)(2.0), f(2.0))
    np.testing.assert_allclose(wg.jit(wg.grad(f))(2.0), 2.0, rtol=1e-9)  # Σ λ v₀² is the first element, doubled
    np.testing.assert_allclose(wg.grad(lambda x: g(lambda v: np.float64(v) ** 2, x))(3.0), 6.0)


def test_a_variable_that_some_calls_have_and_others_have_not():
    def f(x):
        if x > 1:
            more = 2 * x
        return x * len(locals())

    assert wg.grad(f)(2.0) == 2.0
    assert wg.grad(f)(0.5) == 1.0
    with pytest.raises(StagingError, match="'more' has a value or not"):
        wg.jit(f)(2.0)


def test_a_comprehension_over_them():
    def f(x):
        y = 2.0 * x
        return sum(v for v in locals().values()) * y

    assert f(3.0) == wg.jit(f)(3.0) == 54.0
    assert wg.grad(f)(3.0) == wg.jit(wg.grad(f))(3.0) == 36.0  # of 6 x²
