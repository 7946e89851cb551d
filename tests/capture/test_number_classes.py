"""Classes that users derive from `float`: objects of them hold traced values, with their attributes and operators."""

import copy
import math

import numpy as np
import pytest

import wengert as wg


class Degrees(float):
    """With a constructor of its own, attributes, properties."""

    def __new__(cls, x, name=""):
        self = super().__new__(cls, x)
        self.name = name
        return self

    @property
    def radians(self):
        return math.radians(self)

    def half(self):
        return Degrees(self / 2, self.name + "/2")


class Money(float):
    """With operators of its own, one of which asks that of its base by name."""

    def __add__(self, other):
        return Money(float.__add__(self, other))

    __radd__ = __add__

    def __mul__(self, other):
        return Money(super().__mul__(other))

    def __repr__(self):
        return f"${float(self):.2f}"


class Pressure(float):
    """Without a constructor, but with an initialiser, and made by a method of the class."""

    def __init__(self, data):
        self.data = float(data)

    @classmethod
    def make(cls, data):
        return cls(data)

    def bar(self):
        return self.make(self.data * 1e5)


def functions_of_mathematics(x):
    angle = Degrees(x, "a")
    assert isinstance(angle, float)
    assert type(angle) is Degrees
    return math.sin(angle.half().radians) * angle + np.cos(angle) + math.fsum([angle, 1.0]) + np.sum([angle, angle])


def operators(x):
    angle = Degrees(x)
    return 2.0 * angle - 1 / angle + angle**2 + x / angle + abs(-angle) + (angle % 0.7) + angle.real + float(angle)


def comparisons(x):
    angle, small = Degrees(x, "a"), Degrees(0.1 * x)
    y = max(angle, small) * min([angle, small]) + sum([angle, small])
    return y * 2 if angle > 1.0 and angle != small else y


def attributes(x):
    half = Degrees(x, "a").half()
    return half * (3.0 if half.name == "a/2" else 5.0)


def operators_of_its_own(x):
    total = 1.0 + (Money(x) + 3 + Money(x) * 2)
    assert type(total) is Money
    return total * x + x * total


def made_by_its_class(x):
    pressure = Pressure(x).bar()
    assert type(pressure) is Pressure
    return pressure * pressure.data * 1e-10 + np.array([pressure, 1.0]).sum()


def changed_in_a_loop(x):
    angle = Degrees(x)
    for _ in range(4):
        if angle > 0.8 * x:
            angle = Degrees(angle * 0.9, "smaller")
    return angle * angle.radians


def copies(x):
    angle = copy.copy(Degrees(x, "a"))
    return copy.deepcopy([angle])[0] * len(angle.name)


FUNCTIONS = (
    functions_of_mathematics, operators, comparisons, attributes, operators_of_its_own, made_by_its_class,
    changed_in_a_loop, copies,
)  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
class TestDerivatives:
    def test_eagerly(self, f):
        x, h = 1.3, 1e-6
        want = (f(x + h) - f(x - h)) / (2 * h)
        np.testing.assert_allclose(wg.grad(f)(x), want, rtol=1e-7)
        np.testing.assert_allclose(wg.jvp(f, (x,), (1.0,))[1], want, rtol=1e-7)

    def test_compiled(self, f):
        x = 1.3
        np.testing.assert_allclose(wg.jit(f)(x), float(f(x)), rtol=1e-14)
        np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-12)
        np.testing.assert_allclose(wg.grad(wg.jit(f))(x), wg.grad(f)(x), rtol=1e-12)

    def test_in_a_batch(self, f):
        points = np.array([1.1, 1.3, 2.0])
        np.testing.assert_allclose(wg.vmap(f)(points), [float(f(x)) for x in points], rtol=1e-14)
        slopes = [wg.grad(f)(x) for x in points]
        np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(points), slopes, rtol=1e-12)

    def test_twice(self, f):
        x, h = 1.3, 1e-5
        want = (wg.grad(f)(x + h) - wg.grad(f)(x - h)) / (2 * h)
        np.testing.assert_allclose(wg.grad(wg.grad(f))(x), want, rtol=1e-6, atol=1e-9)


def test_a_plain_number_of_the_class_stays_one():
    angle = Degrees(30.0, "a")
    assert wg.grad(lambda x: x * angle.radians * angle)(1.0) == angle.radians * 30.0
    assert type(angle.half()) is Degrees
    assert type(1.0 + Money(2.0)) is Money


def test_where_they_meet_traced_numbers_lists_and_texts():
    def f(x):
        total = 0.0
        angles = [Degrees(x), Degrees(0.5 * x), Degrees(1.0)]
        for angle in angles:
            total += angle
            total *= angle
        filled = np.zeros(3)
        filled[0], filled[1:] = angles[0], angles[:2]
        smallest = sorted(angles)[0]
        assert len(f"{smallest}{angles[0]:.2f}") > 1 or total > 0
        return total + filled.sum() + smallest * np.dot(angles, [1.0, 2.0, 3.0])

    x, h = 1.3, 1e-6
    want = (f(x + h) - f(x - h)) / (2 * h)
    np.testing.assert_allclose(wg.grad(f)(x), want, rtol=1e-7)
    np.testing.assert_allclose(wg.jvp(f, (x,), (1.0,))[1], want, rtol=1e-7)
