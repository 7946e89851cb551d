"""What packages do that is neither arithmetic nor control flow: questions about objects, modules that are objects."""

import sys

import numpy as np
import pytest

import wengert as wg

WAYS = {
    "grad": wg.grad,
    "jit(grad)": lambda f: wg.jit(wg.grad(f)),
    "grad(jit)": lambda f: wg.grad(wg.jit(f)),
}


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


class Model:
    """A model as statsmodels has them: attributes that may be None, and classes that ask which one they are."""

    def __init__(self, scale, offset=None):
        self.scale = scale
        self.offset = None if scale > 0 else offset


class Shifted(Model):
    def __init__(self, scale, offset):
        super().__init__(scale, offset)
        self.names = ["scale", "offset"] if type(self) is Shifted else []

    def value(self, x):
        offset = getattr(self, "offset", 0.0)
        if offset is None:
            offset = 1.0
        return self.scale * x + offset * len(self.names) if hasattr(self, "names") and callable(self.value) else x


def test_questions_about_an_object_with_a_part_that_may_be_none(way):
    f = lambda scale, offset: Shifted(scale, offset).value(scale)
    g = way(lambda p: f(p[0], p[1]))
    np.testing.assert_allclose(g(np.array([1.5, 3.0])), [3.0, 0.0])
    np.testing.assert_allclose(g(np.array([-1.5, 3.0])), [-3.0, 2.0])


class Fitted:
    def __init__(self, model, x):
        self.model, self.x = model, x


class Results(Fitted):
    def __init__(self, model, x):
        super().__init__(model, x)

    def value(self):
        return self.model.value(self.x)


def test_constructors_of_the_class_above_are_followed(way):
    g = way(lambda p: Results(Shifted(p[0], p[1]), p[0]).value())
    np.testing.assert_allclose(g(np.array([1.5, 3.0])), [3.0, 0.0])
    np.testing.assert_allclose(g(np.array([-1.5, 3.0])), [-3.0, 2.0])


class LazyModule:
    """What a package puts in the place of a module, which loads functions when they are first asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np, name)


def test_a_module_that_is_an_object_of_a_class(monkeypatch, way):
    lazy = LazyModule()
    monkeypatch.setitem(sys.modules, "lazy_module_of_a_package", lazy)
    monkeypatch.setattr(LazyModule, "__module__", "lazy_module_of_a_package")
    np.testing.assert_allclose(way(lambda a: lazy.sin(a) + lazy.square(a))(1.3), np.cos(1.3) + 2.6)


def test_children_of_a_generator():
    def f(a):
        child = np.random.default_rng(3).spawn(1)[0]
        return a * child.normal()

    assert wg.grad(f)(1.0) == f(1.0)


def test_a_type_is_asked_of_an_array_of_unknown_length(way):
    def f(x):
        y = x[x > 0]
        real = np.isrealobj(y) and not np.iscomplexobj(y) and np.result_type(y, 1.0) == np.float64
        return np.sum(y**2) if real else 0.0

    np.testing.assert_array_equal(way(f)(np.array([1.0, -1.0, 2.0])), [2.0, 0.0, 4.0])


def test_no_number_equals_none(way):
    def f(x):
        assert not np.any(np.equal(x, None))
        assert np.all(np.not_equal(None, x))
        return np.sum(x * (1.0 - np.equal(x, None)))

    np.testing.assert_array_equal(way(f)(np.array([1.0, 2.0])), [1.0, 1.0])


class Maker:
    """As `np.ma.zeros`: a function of NumPy's in an attribute, called by its method."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return self.function.__call__(*args).reshape(-1)


def test_the_method_that_calls_a_function(way):
    make = Maker(np.zeros)

    def f(a):
        x = make(3)
        x[0] = a * a
        return np.sum(x) + math_function(a)

    math_function = lambda a: np.sin.__call__(a)
    np.testing.assert_allclose(way(f)(1.3), 2.6 + np.cos(1.3))
