"""Methods that Python calls by itself (operators, properties, constructors, context managers) are followed, and errors
of ours are not swallowed by users' handlers.
"""

import contextlib
import decimal
import fractions
import functools
import inspect
import math
import struct
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg


class Positive:
    """A descriptor that keeps what it is set to in a logarithm."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else math.exp(getattr(instance, self.name))

    def __set__(self, instance, value):
        setattr(instance, self.name, math.log(value))


class Vector:
    """Two numbers, with Python's operators written with math, float and arrays that are written to."""

    scale = Positive()

    def __init__(self, x, y=1.0):
        self.x, self.y = float(x), y
        self.scale = 2.0

    @classmethod
    def polar(cls, r, phi):
        return cls(r * math.cos(phi), r * math.sin(phi))

    @staticmethod
    def square(t):
        return math.pow(t, 2)

    @property
    def norm(self):
        out = np.zeros(2)
        out[0], out[1] = self.x, self.y
        return math.sqrt(out @ out)

    @norm.setter
    def norm(self, value):
        factor = float(value) / math.hypot(self.x, self.y)
        self.x, self.y = self.x * factor, self.y * factor

    @functools.cached_property
    def energy(self):
        return math.exp(-self.x) + math.sin(self.y)

    def __add__(self, other):
        if isinstance(other, (int, float)):
            other = Vector(other, other)
        return Vector(self.x + other.x, math.fsum([self.y, other.y]))

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Vector(self.x * other, self.y * math.sin(other))
        return NotImplemented

    __rmul__ = __mul__

    def __matmul__(self, other):
        return math.prod((self.x, other.x)) + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -math.fabs(self.y))

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __iadd__(self, other):
        self.x += math.tan(other)
        return self

    def __getitem__(self, k):
        return (math.exp(self.x), math.cosh(self.y))[k]

    def __setitem__(self, k, value):
        values = np.ones(2)
        values[k] = math.sinh(value)
        self.x, self.y = values

    def __iter__(self):
        yield math.exp(self.x)
        yield math.log(self.y)

    def __len__(self):
        return math.ceil(2.0)

    def __call__(self, t):
        return math.exp(t * self.x) + self.y

    def __contains__(self, t):
        return math.isclose(self.x, t)

    def __lt__(self, other):
        return math.exp(self.x) < math.exp(other.x)

    def __bool__(self):
        return math.fabs(self.x) > 0.0

    def __getattr__(self, name):
        if name == "logarithm":
            return math.log(self.x)
        raise AttributeError(name)

    def __enter__(self):
        self.y = math.exp(self.x)
        return self

    def __exit__(self, *error):
        self.y = math.sin(self.y)


@dataclass
class Params:
    a: float
    table: np.ndarray = field(default_factory=lambda: np.full(3, 2.0))

    def __post_init__(self):
        self.table[1] = math.exp(self.a)

    def __rsub__(self, other):
        return other - math.sqrt(self.a)


class Sub(Vector):
    def __init__(self, x):
        super().__init__(math.exp(x), x)

    @property
    def norm(self):
        return math.log(super().norm)


@functools.lru_cache
def cached(x, n=2):
    return math.exp(x) * n


def twice(f):
    @functools.wraps(f)
    def wrapped(*args):
        return f(*args) + math.sin(f(*args))

    return wrapped


class Decorator:
    def __init__(self, f):
        self.f = f

    def __call__(self, x):
        return math.exp(self.f(x))


@twice
def decorated(x):
    return math.exp(x)


@Decorator
def decorated_by_class(x):
    return math.sin(x)


@contextlib.contextmanager
def scaled(x):
    yield math.exp(x)


OUTSIDE = Vector(1.5, 0.5)


def rename(v):
    v.norm = 3.0
    return v.x * v.norm


def in_place(x):
    v = Vector(x, 2.0)
    v += x
    v[0] = x
    return v.x + 3 * v.y


def in_context(x):
    with Vector(x) as v, scaled(x) as s:
        y = v.y * s
    return y + v.y


class Manager(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


@Manager()
def in_a_stack(x):
    return math.exp(x)


@functools.singledispatch
def by_class(x):
    raise TypeError(x)


@by_class.register
def _(x: float):
    return math.exp(x)


@by_class.register
def _(x: np.ndarray):
    return x.sum()


class ByClass:
    def __init__(self, n):
        self.n = n

    @functools.singledispatchmethod
    def of(self, x):
        raise TypeError(x)

    @of.register
    def _(self, x: float):
        return math.sin(x) * self.n


PROGRAMS = {
    "decorated by a manager": lambda x: in_a_stack(x) * x,
    "dispatched": lambda x: by_class(x) + by_class(np.array([x, x])) + ByClass(2.0).of(x),
    "constructor": lambda x: Vector(x).x,
    "classmethod": lambda x: Vector.polar(x, 2 * x).y,
    "staticmethod": lambda x: Vector.square(x),
    "property": lambda x: Vector(x).norm,
    "setter": lambda x: rename(Vector(x)),
    "cached_property": lambda x: Vector(x).energy,
    "descriptor": lambda x: (lambda v: [setattr(v, "scale", x), v.scale * v._scale][1])(Vector(x)),
    "add": lambda x: (Vector(x) + Vector(2.0)).y + (Vector(1.0) + x).y,
    "radd": lambda x: (x + Vector(1.0)).x,
    "mul": lambda x: (Vector(2.0) * x).y + (x * Vector(2.0)).x,
    "outside": lambda x: (OUTSIDE * x).y + OUTSIDE(x),
    "matmul": lambda x: Vector(x) @ Vector(2.0, x),
    "neg": lambda x: (-Vector(x, x)).y,
    "abs": lambda x: abs(Vector(x)),
    "in place": in_place,
    "item": lambda x: Vector(x)[0] + Vector(x)[1],
    "iteration": lambda x: sum(Vector(x, x)) + (lambda a, b: a * b)(*Vector(x, x)),
    "len": lambda x: len(Vector(x)) * x,
    "call": lambda x: Vector(x)(2.0) * Vector(1.0)(x),
    "contains": lambda x: x if 5.0 in Vector(x) else x**2,
    "comparison": lambda x: x**2 if Vector(x) < Vector(1.0) else x,
    "bool": lambda x: x**3 if Vector(x) else x,
    "getattr": lambda x: Vector(x).logarithm,
    "context": in_context,
    "dataclass": lambda x: Params(x).table.sum() + (x - Params(x)),
    "subclass": lambda x: Sub(x).norm + Sub(x)[0],
    "cached": lambda x: cached(x) + cached(1.0, n=3) * x,
    "partial": lambda x: functools.partial(cached, n=x)(2.0) + functools.partial(Vector, x)().norm,
    "decorated": lambda x: decorated(x) + decorated_by_class(x),
    "sorted": lambda x: sorted([Vector(x), Vector(0.1), Vector(2.0)])[1].x,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_that_python_calls(name):
    f, x, h = PROGRAMS[name], 0.7, 1e-5
    value = f(x)
    slope = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    np.testing.assert_allclose(wg.value_and_grad(f)(x), (value, slope), rtol=1e-8)
    np.testing.assert_allclose(wg.jvp(f, (x,), (1.0,)), (value, slope), rtol=1e-8)
    np.testing.assert_allclose(wg.jit(wg.value_and_grad(f))(x), (value, slope), rtol=1e-8)


def test_an_argument_that_is_an_object():
    def f(v, x):
        return v.norm * x + (v * x).y

    np.testing.assert_allclose(wg.grad(f, argnums=1)(Vector(3.0, 4.0), 0.5), 5.0 + 4.0 * math.cos(0.5))


def test_classes_work_as_before_without_a_transformation():
    wg.grad(lambda x: Vector(x).norm)(0.7)
    v = Vector(3.0, 4.0)
    assert v.norm == 5.0
    assert type(v.norm) is float
    assert (v + 1).x == 4.0
    assert Vector.norm.fget.__name__ == "norm"
    assert Vector.__add__.__qualname__ == "Vector.__add__"


# ------------------------------------------------------------------------------------------------------------- handlers

SOURCELESS: dict = {"math": math, "sine": math.sin}
exec("def refuses(x):\n    return int(x) * 1.0", SOURCELESS)
refuses = SOURCELESS["refuses"]


def handler(x):
    try:
        return refuses(x)
    except Exception:
        return 1e308


def bare(x):
    try:
        return refuses(x)
    except:  # noqa: E722
        return 1e308


def by_its_base(x):
    try:
        return refuses(x)
    except (ValueError, TypeError) as error:
        return 1e308 if error else 0.0


def suppressed(x):
    y = 1e308
    with contextlib.suppress(Exception):
        y = refuses(x)
    return y


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


def by_a_manager(x):
    with Swallow():
        return refuses(x)
    return 1e308


@pytest.mark.parametrize("f", [handler, bare, by_its_base, suppressed, by_a_manager], ids=lambda f: f.__name__)
def test_refusals_are_not_swallowed(f):
    with pytest.raises(wg.errors.ConcretizationError, match="int"):
        wg.grad(f)(0.7)
    with pytest.raises(wg.errors.ConcretizationError, match="int"):
        wg.grad(lambda x: f(x) * x)(0.7)


def packed(x):
    try:
        return struct.unpack("d", struct.pack("d", x))[0]
    except Exception:
        return 0.0


def fraction(x):
    with contextlib.suppress(Exception):
        return float(fractions.Fraction(x)) * x
    return 0.0


def decimal_number(x):
    try:
        return float(decimal.Decimal(x)) * x
    except TypeError:
        return 0.0


@pytest.mark.parametrize("f", [packed, fraction, decimal_number], ids=lambda f: f.__name__)
def test_errors_of_others_because_of_a_traced_value_are_not_swallowed(f):
    assert f(0.75) > 0
    with pytest.raises(Exception, match="not a float|Rational|Decimal"):
        wg.grad(f)(0.75)


def test_errors_of_others_for_other_reasons_are_handled():
    def f(x):
        try:
            return struct.pack("d", "text") * x
        except struct.error:
            return x * 3

    assert wg.grad(f)(0.75) == 3.0


def test_refusals_that_are_named_are_handled():
    def f(x):
        try:
            return refuses(x)
        except (KeyError, wg.errors.ConcretizationError):
            return x * 2

    assert wg.grad(f)(0.7) == 2.0


def test_other_errors_are_handled_as_before():
    def f(x):
        try:
            if x > 0:
                raise KeyError("a")
        except KeyError as error:
            return x * len(str(error))
        finally:
            x = x * 2
        return x

    assert wg.grad(f)(0.7) == 3.0
    assert wg.grad(f)(-0.7) == 2.0


def test_signatures_of_methods_can_be_asked_for():
    def scaled(k):
        v = Vector(k, 2.0)
        names = inspect.getfullargspec(v.__init__)[0][1:]  # as classes with `get_params` do
        return sum({name: getattr(v, name) for name in names}.values())

    assert wg.grad(scaled)(3.0) == wg.jit(wg.grad(scaled))(3.0) == 1.0
    assert inspect.getfullargspec(Vector.__init__)[0] == ["self", "x", "y"]
    assert str(inspect.signature(Vector.__init__)) == "(self, x, y=1.0)"


class Pair(NamedTuple):
    """Operators and a truth value of its own, as the vectors of graphics libraries have."""

    x: float
    y: float

    def __bool__(self):
        return any(self)

    def __mul__(self, other):
        try:
            return Pair(self[0] * other[0], self[1] * other[1])
        except TypeError:  # a number
            return Pair(self[0] * other, self[1] * other)

    def scaled(self, k):
        return Pair(self.x * k, self.y * k)


def of_pairs(a, b):
    p = Pair(a, b) * a * Pair(b, 2.0)
    if p:
        p = p.scaled(b)
    return (p.x + 3 * p.y if Pair(a - a, 0.0) or not p else p.x - p.y) * 2


@pytest.mark.parametrize("way", [lambda f: f, wg.jit])
def test_truth_values_and_items_of_named_tuples_with_operators(way):
    # p = (a² b², 2 a b²), and the pair in the condition is all zeros
    np.testing.assert_allclose(way(of_pairs)(0.5, 0.7), 2 * 0.7**2 * (0.25 - 1.0), rtol=1e-14)
    assert way(of_pairs)(0.0, 0.7) == 0.0
    da, db = wg.grad(way(of_pairs), argnums=(0, 1))(0.5, 0.7)
    np.testing.assert_allclose([da, db], [2 * 0.49 * (1.0 - 2.0), 4 * 0.7 * (0.25 - 1.0)], rtol=1e-14)


def test_our_own_questions_call_no_method_of_the_users():
    asked = []

    class Asked(tuple):
        _make = None

        def __bool__(self):
            asked.append("bool")
            return True

        def __len__(self):
            asked.append("len")
            return 1

    def f(x):
        held = Asked((x,))
        return x if held is None else tuple.__getitem__(held, 0)

    assert wg.grad(f)(1.0) == wg.jit(wg.grad(f))(1.0) == 1.0
    assert asked == []


class Remembered(property):
    """A property of a derived class, which keeps what it found."""

    def __init__(self, fget):
        super().__init__(fget)
        self.name = "_" + fget.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.name not in vars(instance):
            vars(instance)[self.name] = super().__get__(instance, owner)
        return vars(instance)[self.name]


class Documented(property):
    """One that is a property and nothing else."""


class Cached(functools.cached_property):
    """And one of the other kind."""


class Angle:
    def __init__(self, a):
        self.a = a

    @Remembered
    def sine(self):
        return math.sin(self.a)

    @Documented
    def cosine(self):
        """The cosine."""
        return math.cos(self.a) if self.a > 0 else 0.0

    @cosine.setter
    def cosine(self, value):
        self.a = math.acos(value)

    @Cached
    def tangent(self):
        return math.tan(self.a)


def of_an_angle(x):
    angle = Angle(x)
    found = angle.sine + angle.cosine + angle.tangent + angle.sine
    angle.cosine = math.cos(2 * x)
    return found + angle.a


@pytest.mark.parametrize("way", [lambda f: f, wg.jit])
def test_properties_of_derived_classes(way):
    np.testing.assert_allclose(way(of_an_angle)(0.3), of_an_angle(0.3), rtol=1e-14)
    want = 2 * np.cos(0.3) - np.sin(0.3) + 1 / np.cos(0.3) ** 2 + 2
    np.testing.assert_allclose(wg.grad(way(of_an_angle))(0.3), want, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(way(of_an_angle)))(0.3), want, rtol=1e-12)
    assert Angle.cosine.__doc__ == "The cosine."
    assert isinstance(Angle.__dict__["sine"], Remembered)


class Jet:
    """A number with a derivative of its own, whose functions NumPy calls."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        return Jet(self.value + other.value, self.slope + other.slope)

    def __mul__(self, k):
        return Jet(self.value * k, self.slope * k)

    def sin(self):
        return Jet(math.sin(self.value), math.cos(self.value) * self.slope)

    def exp(self):
        return Jet(math.exp(self.value), math.exp(self.value) * self.slope)


def of_an_object(x):
    return np.exp(np.sin(Jet(x, 1.0) * 2)).slope


def of_an_array_of_objects(x):
    return np.sum(np.exp(np.sin(np.array([Jet(x, 1.0), Jet(x, 2.0)]) * 2))).slope / 3


@pytest.mark.parametrize("f", [of_an_object, of_an_array_of_objects], ids=lambda f: f.__name__)
def test_methods_that_numpy_calls(f):
    x = 0.7
    assert np.isclose(f(x), 2 * np.cos(2 * x) * np.exp(np.sin(2 * x)))
    want = np.exp(np.sin(2 * x)) * (4 * np.cos(2 * x) ** 2 - 4 * np.sin(2 * x))
    for gradient in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        np.testing.assert_allclose(gradient(x), want, rtol=1e-12)
