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


class Layers:
    """A model that can be gone through, and is its own iterator."""

    def __init__(self, values):
        self.values, self.place = values, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.place == len(self.values):
            raise StopIteration
        self.place += 1
        return self.values[self.place - 1]


def test_an_iterator_is_asked_for_attributes_in_a_branch(way):
    layers, name = Layers([2.0, 3.0]), "values"

    def f(x):
        if x > 1.0:
            return getattr(layers, name)[0] * x * x if isinstance(layers, Layers) and hasattr(layers, "place") else x
        return x

    np.testing.assert_allclose([way(f)(1.5), way(f)(0.5)], [6.0, 1.0])


def test_none_in_an_array_is_nan(way):
    def f(x):
        y = np.ones(3)
        for k in range(3):
            y[k] = None if x[k] > 2.0 else x[k] ** 2
        return np.nansum(y)

    np.testing.assert_allclose(way(f)(np.array([1.0, 3.0, 2.0])), [2.0, 0.0, 4.0])


def test_a_list_that_grows_by_constants_has_a_length(way):
    def sizes(least, most, factor):
        found = [least]
        for k in range(int(np.floor(np.log(most / least) / np.log(factor))) + 1):
            n = int(np.floor(least * factor**k))
            if n > found[-1]:
                found.append(n)
        return found

    def f(x):
        profile = np.cumsum(x * np.cos(np.arange(40.0)))
        means = [np.array([profile[k : k + n] for k in range(0, 40 - n, n)]).mean() for n in sizes(4, 16, 1.2)]
        return sum(means)

    np.testing.assert_allclose(way(f)(0.7), f(1.0), rtol=1e-12)


def test_a_while_loop_in_a_try_raises_nothing_by_itself():
    handled = []

    def f(x):
        try:
            step = 1.0
            while np.fabs(step) > 1e-3:
                step = 0.5 * step * x
            return step * x
        except ValueError:
            handled.append(1)  # which happens neither in Python nor while this is compiled
            return x[0]

    np.testing.assert_allclose(wg.jit(f)(1.2), f(1.2), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(np.array([1.2, 0.7])), [f(1.2), f(0.7)], rtol=1e-12)
    assert not handled


class Doubling:
    """A decorated function that pretends to be the function that it wraps, as those of wrapt do."""

    def __init__(self, f):
        self.__wrapped__ = f

    @property
    def __class__(self):
        return type(self.__wrapped__)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __call__(self, *args):
        y = np.zeros(2)
        y[0] = self.__wrapped__(*args)
        return 2.0 * y.sum()


@Doubling
def squared(x):
    y = np.zeros(3)
    y[1] = x * x
    return y.sum()


def test_a_decorated_function_that_pretends_to_be_the_function(way):
    np.testing.assert_allclose(way(lambda x: squared(x) + sum(map(squared, [x])))(3.0), 24.0)
    np.testing.assert_allclose([way(squared)(3.0), wg.jit(squared)(3.0)], [12.0, 18.0])


def test_what_wrapt_decorates(way):
    wrapt = pytest.importorskip("wrapt")

    @wrapt.decorator
    def doubled(wrapped, instance, args, kwargs):
        y = np.zeros(2)
        y[0] = wrapped(*args, **kwargs) * getattr(instance, "factor", 1.0)
        return 2.0 * y.sum()

    class Scaled:
        factor = 5.0
        power = doubled(lambda self, x: x**2)
        shared = doubled(classmethod(lambda cls, x: cls.factor * x))
        plain = doubled(staticmethod(lambda x: x**2))

    cube, off, scaled = doubled(lambda x: x**3), wrapt.decorator(enabled=False)(doubled)(lambda x: x**3), Scaled()
    for f in (cube, off, scaled.power, lambda x: Scaled.power(scaled, x), scaled.shared, Scaled.plain):
        slope = (f(3.001) - f(2.999)) / 0.002
        np.testing.assert_allclose(way(lambda x, f=f: f(x))(3.0), slope, rtol=1e-5)
        np.testing.assert_allclose(wg.jit(f)(3.0), f(3.0))
