"""Functions and methods under decorators of libraries are followed as if nothing were around them."""

import contextlib
import functools

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError


class Quiet(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def squared(x):
    assert np.all(x > 0)
    held = np.zeros(2)
    held[1] = x
    return np.sum(held) * x


function = np.errstate(all="ignore")(squared)


class Things:
    x = 1.0

    @np.errstate(invalid="ignore")
    def method(self, x):
        return squared(x) * self.x

    @Quiet()
    def managed(self, x):
        held = np.zeros(2)
        held[1] = x
        return np.sum(held) * x

    @staticmethod
    @np.errstate(all="ignore")
    def static(x):
        held = np.zeros(2)
        held[0] = x
        return np.sum(held) * x

    @property
    @np.errstate(all="ignore")
    def square(self):
        held = np.zeros(2)
        held[0] = self.x
        return np.sum(held) * self.x

    @np.errstate(all="ignore")
    def __mul__(self, x):
        held = np.zeros(2)
        held[0] = x
        return np.sum(held) * x


def of_a_property(x):
    things = Things()
    things.x = x
    return things.square


WAYS = {
    "function": function,
    "called": lambda x: function(x),
    "method": lambda x: Things().method(x),
    "bound": Things().method,
    "unbound": lambda x: Things.method(Things(), x),
    "managed": lambda x: Things().managed(x),
    "static": lambda x: Things.static(x),
    "property": of_a_property,
    "operator": lambda x: Things() * x,
    "mapped": lambda x: sum(map(Things().method, [x])),
}


@pytest.mark.parametrize("name", WAYS)
def test_derivatives(name):
    f = WAYS[name]
    assert [float(way(f)(1.5)) for way in (wg.grad, lambda f: wg.jit(wg.grad(f)))] == [3.0, 3.0]
    assert wg.jit(f)(1.5) == 2.25
    np.testing.assert_array_equal(wg.vmap(f)(np.array([1.5, 2.0])), [2.25, 4.0])


def test_what_is_to_raise():
    loud = np.errstate(invalid="raise")(squared)
    with pytest.raises(StagingError, match="floating-point flags"):
        wg.jit(loud)(1.5)


class MakesAttributesUp:
    """An object whose `__getattr__` raises what it likes."""

    def __getattr__(self, name):
        raise KeyError(name)

    def __call__(self, x):
        return x * x


class Holder:
    inside = MakesAttributesUp()


def test_objects_that_make_attributes_up():
    f = lambda x: Holder.inside(x)
    assert wg.grad(f)(1.5) == 3.0
    assert wg.jit(f)(1.5) == 2.25
    np.testing.assert_array_equal(wg.vmap(f)(np.array([1.5, 2.0])), [2.25, 4.0])


def remembered(f):
    known = {}

    def wrapper(*args):
        if args not in known:
            known[args] = f(*args)
        return known[args]

    return wrapper


def legendre(x):
    @remembered
    def p(k):
        if k < 2:
            return x if k else 1.0
        return ((2 * k - 1) * x * p(k - 1) - (k - 1) * p(k - 2)) / k

    return p(5) + p(0)


def twice_remembered(x):
    @functools.lru_cache(maxsize=64)
    @remembered
    def power(k):
        return x * power(k - 1) if k else 1.0

    @np.vectorize
    def each(v):
        return v * x if v > 1 else v

    return power(4) + np.sum(each(np.array([0.5, 2.0])))


@pytest.mark.parametrize("f", [legendre, twice_remembered])
def test_functions_decorated_inside(f):
    """A decorator is called, and followed, as if the call were written out; what it keeps belongs to this call."""
    slope = (f(0.4 + 1e-6) - f(0.4 - 1e-6)) / 2e-6
    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    for _ in range(2):
        assert compiled(0.4) == pytest.approx(f(0.4), rel=1e-14)
        assert gradient(0.4) == pytest.approx(slope, rel=1e-8)
    assert wg.grad(f)(0.4) == pytest.approx(slope, rel=1e-8)
