"""Named tuples, and lists that have names, where NumPy takes arrays: traced values in them are found."""

import operator
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg


class Pair(NamedTuple):
    first: float
    second: float


class Values(list):
    """A list of another class."""


C = np.array([1.0, 2.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]])


class Beam:
    def __init__(self):
        self.forces = np.zeros(2)


def added(t):
    z = np.zeros(2)
    z += t
    z *= (2.0, 3.0)
    z[:] -= t
    return z


def added_to_an_attribute(t):
    beam = Beam()
    beam.forces += t
    return beam.forces


def rows(t):
    z = np.zeros((2, 2))
    z[0] = t
    z[:, 1] += t
    return z


USES = {
    "array": lambda t: np.array(t) ** 2,
    "function": lambda t: np.hypot(t, 2.0) + np.sum(t) + np.max(t),
    "constructed": lambda t: np.zeros(2) + t,
    "reflected": lambda t: t * np.ones(2),
    "computed": lambda t: t[0] * C + t,
    "product": lambda t: M @ t + t @ M,
    "method": lambda t: C.dot(t) * C,
    "stacked": lambda t: np.vstack([t, C]),
    "norm": lambda t: np.linalg.norm(t) * C,
    "added": added,
    "attribute": added_to_an_attribute,
    "rows": rows,
}


@pytest.mark.parametrize("kind", [Pair, lambda a, b: Values([a, b])], ids=["named", "list"])
@pytest.mark.parametrize("use", USES)
def test_named_tuples_are_arrays(use, kind):
    def f(a, b):
        return np.sum(USES[use](kind(a, b)) * C)

    want = wg.numerical.grad(lambda p: f(*p))(np.array([1.5, 2.5]))
    for g in (wg.grad(f, argnums=(0, 1)), wg.jit(wg.grad(f, argnums=(0, 1))), wg.grad(wg.jit(f), argnums=(0, 1))):
        np.testing.assert_allclose(g(1.5, 2.5), want, rtol=1e-7)
    np.testing.assert_allclose(wg.vmap(f)(np.array([1.5, 0.5]), np.array([2.5, 1.0])), [f(1.5, 2.5), f(0.5, 1.0)])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow"])
def test_arrays_from_outside_beside_lists_that_have_names(name):
    def f(a, b):
        values = [a, b * b]
        both = (b, a)
        if name == "add":
            return np.sum((C + values) * (both + C))
        if name == "sub":
            return np.sum((C - values) * (both - C))
        if name == "mul":
            return np.sum((C * values) * (both * C))
        return np.sum((C / values) * (both / C)) if name == "truediv" else np.sum((C**values) * (both**C))

    def by_hand(p):
        operate = getattr(operator, name)
        return np.sum(operate(C, np.array([p[0], p[1] ** 2])) * operate(np.array([p[1], p[0]]), C))

    point = 1.5, 2.5
    np.testing.assert_allclose(wg.grad(f, argnums=(0, 1))(*point), wg.grad(by_hand)(np.array(point)), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(*point), wg.grad(f)(*point), rtol=1e-12)


def test_lists_that_are_joined_stay_lists():
    def f(a):
        values = [a, 2.0]
        values = values + [3 * a]
        return len(values * 2) * sum(values * 2)

    assert wg.grad(f)(1.0) == wg.jit(wg.grad(f))(1.0) == 48.0


def test_classes_with_operators_of_their_own_are_asked():
    class Vector(tuple):
        def __rmul__(self, k):
            return Vector([k * v for v in self])

        def __add__(self, other):
            return Vector([a + b for a, b in zip(self, other, strict=True)])

    def f(a):
        v = a * Vector((1.0, 2.0)) + Vector((a, 0.0))
        return v[0] * v[1]

    assert wg.grad(f)(3.0) == wg.jit(wg.grad(f))(3.0) == 24.0


def test_a_list_from_elsewhere_beside_an_array_from_outside_says_what_to_write():
    def f(values):
        return np.sum(C + values)

    with pytest.raises(wg.errors.ConcretizationError, match=r"list of traced values[\s\S]*a \+ np\.array\(values\)"):
        wg.grad(lambda a: f([a, 2.0]))(1.0)
