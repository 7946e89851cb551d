"""Arrays of classes that users derive from NumPy's, with traced values in them: values and slopes are those of NumPy's
own, by differences, in every composition."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import wengert as wg
from wengert.box.array_classes import can_hold

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # which np.matrix gives


class Length(np.ndarray):
    """An array with a unit."""

    def __new__(cls, values, unit="m"):
        new = np.asarray(values, dtype=float).view(cls)
        new.unit = unit
        return new

    def __array_finalize__(self, like):
        self.unit = getattr(like, "unit", None)

    def norm(self):
        return np.sqrt(np.sum(self**2))

    @property
    def first(self):
        return self[0]

    @first.setter
    def first(self, value):
        self[0] = value


class Quaternion(np.ndarray):
    """A product that is not elementwise."""

    def __new__(cls, w, x, y, z):
        return np.array([w, x, y, z]).view(cls)

    def __mul__(self, other):
        if not isinstance(other, Quaternion):
            return np.ndarray.__mul__(self, other)
        a, b = np.asarray(self), np.asarray(other)
        return Quaternion(a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])))

    def conj(self):
        return Quaternion(self[0], -self[1], -self[2], -self[3])


class Derived(Length):
    """Methods that call those of the class they are derived from, and attributes that are traced."""

    def __new__(cls, a, b):
        new = super().__new__(cls, [a, b], "km")
        new.product = a * b
        return new

    def __init__(self, a, b):
        self.total = a + b

    def __array_finalize__(self, like):
        super().__array_finalize__(like)
        self.product = getattr(like, "product", None)

    def __getitem__(self, key):
        return super().__getitem__(key) * 2

    def sum(self, *args, **kwargs):
        return super().sum(*args, **kwargs) * 3

    @classmethod
    def double(cls, a):
        return cls(a, 2 * a)


class Doubling(np.ndarray):
    """Ufuncs that give twice as much, in plain arrays."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **kwargs) * 2


class Row(np.ndarray):
    """What ufuncs give is a plain array, or a number; what is copied or cut is a row."""

    def __new__(cls, values):
        return np.array(values, dtype=float).view(cls)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if return_scalar else np.asarray(array)

    def twice(self):
        self[:] = self * 2
        return self


class Filled(np.ndarray):
    """Made empty, and filled."""

    def __new__(cls, x, y):
        new = np.ndarray.__new__(cls, (2,), float)
        new[0] = x
        new[1] = y
        return new


OUTSIDE = Length([1.0, 2.0, 3.0], "km")
TURN = Quaternion(0.8, 0.1, 0.2, 0.3)
MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
DOUBLING = np.array([1.0, 2.0]).view(Doubling)


def keeps_its_class(a, b):
    v = Length([a, b], "km")
    w = v * 2 + 1
    assert type(w) is Length
    assert isinstance(w[:1], Length)
    assert w.unit == w[1:].unit == "km"
    assert not isinstance(np.stack([v, w]), Length)
    assert not isinstance(np.asarray(v), Length)
    return w.norm() * len(w.unit) + np.dot(v, w[::-1]) + v.view(np.ndarray)[1]


def multiplies(a, b):
    q = Quaternion(np.cos(a), np.sin(a), 0.0, b)
    return np.linalg.norm(q * q.conj() * TURN) + (TURN * q)[1] + (TURN + a)[2] + (a * TURN)[3]


def asks_its_class_again(a, b):
    v = Derived(a, b)
    w = Derived.double(b) + v
    return w.sum() + np.sum(v) + v[0] + v.product * v.total + np.asarray(v)[1] + (v * 2).product


def is_asked_by_numpy(a, b):
    v = np.array([a, b]).view(Doubling)
    return np.sum(v) + v.sum() + np.sin(v)[0] + (DOUBLING + a)[1] + (b - DOUBLING)[0] + np.linalg.norm(v)


def is_wrapped(a, b):
    v = Row([a, b, 1.0])
    assert not isinstance(v * 2, Row)
    assert not isinstance(v.sum(), np.ndarray)
    return v.copy().twice()[1:].twice().mean() + np.mean(v) + (v * v)[0] + math.sqrt(v.sum())


def takes_operators(a, b):
    """`np.polyval` multiplies as its argument does."""
    return np.asarray(np.polyval([1.0, 2.0, 3.0], Quaternion(a, b, 1.0, 2.0)))[1]


def is_written_to(a, b):
    v = Length([a, b, 1.0])
    tail = v[1:]
    v[0] = b * b
    v *= 2
    tail[0] = 3 * a
    v.first = v.first + a
    copied = v.copy()
    copied[2] = 9.0
    return v.norm() + tail.sum() + (Filled(a, b) * Filled(b, 2.0)).sum() + copied.sum()


def branches(a, b):
    v = Length([a, b])
    v = v / v.norm() if v.norm() > 0.5 else v * 2
    if v[0] > 0 and v.norm() > 0.1:
        v = v + 1
    while v.norm() > 0.6:
        v = v * 0.8
    for _ in range(20):
        v = v * 0.9 + np.sin(v) * 0.2
    return v.norm() + max(v) + float(v.sum())


def leaves_it(a, b):
    v = Length([a, b])
    root = scipy.optimize.brentq(lambda t: t**3 + t * v.first - v.norm(), 0.0, 3.0)
    return math.sqrt(v.sum()) + math.hypot(*v) + root + np.median(v) + (OUTSIDE * a).norm() + len(OUTSIDE.unit) * b


def of_matrices(a, b):
    m = np.matrix([[a, b], [b * b, 2.0]])
    v = np.asmatrix(np.array([1.0, a])).T
    rows = np.bmat([[m, v], [MATRIX, np.ones((2, 1))]])
    total = (m * v + m.I * v).sum() + (m.T * m)[0, 1] + (m**2)[1, 0] + (MATRIX * v)[0, 0] + (a * MATRIX)[0, 1]
    return total + m.A1[2] + m.sum(axis=0)[0, 1] + (MATRIX @ np.array([a, b]))[0, 1] + rows[2].sum() + rows[1, 2]


def written_one_by_one(a, b):
    """An object made of an array that is made here may be written to, and shows it."""
    zeros = np.zeros(3)
    v = Length(zeros)
    for k in range(3):
        v[k] = a**k + (v[k - 1] * b if k else 0.0)
    return v.norm() + np.sum(zeros) * b


def integrated(a, b):
    v = Length([a, b])
    return scipy.integrate.quad(lambda t: np.sum(np.exp(-t * v)), 0.0, 1.0)[0]


PROGRAMS = [
    written_one_by_one, integrated,
    of_matrices, keeps_its_class, multiplies, asks_its_class_again, is_asked_by_numpy, takes_operators, is_written_to,
    is_wrapped, branches, leaves_it,
]  # fmt: skip


def slope(f, a, b):
    h = 1e-4
    s = [(f(a + k * h, b - 2 * k * h) - f(a - k * h, b + 2 * k * h)) / (2 * k * h) for k in (1, 0.5)]
    return float((4 * s[1] - s[0]) / 3)


def along(gradient):
    return float(gradient[0] - 2 * gradient[1])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_eager(f):
    a, b = 0.5, 0.7
    want = slope(f, a, b)
    value, forward = wg.jvp(f, (a, b), (1.0, -2.0))
    np.testing.assert_allclose(float(value), float(f(a, b)), rtol=1e-13)
    np.testing.assert_allclose(float(forward), want, rtol=1e-7)
    np.testing.assert_allclose(along(wg.grad(f, argnums=(0, 1))(a, b)), want, rtol=1e-7)
    points = np.array([0.5, 0.52]), np.array([0.7, 0.69])
    np.testing.assert_allclose(wg.vmap(f)(*points), [float(f(*p)) for p in zip(*points, strict=True)], rtol=1e-13)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f):
    a, b = 0.5, 0.7
    want = slope(f, a, b)
    np.testing.assert_allclose(wg.jit(f)(a, b), float(f(a, b)), rtol=1e-13)
    np.testing.assert_allclose(along(wg.jit(wg.grad(f, argnums=(0, 1)))(a, b)), want, rtol=1e-7)
    np.testing.assert_allclose(along(wg.grad(wg.jit(f), argnums=(0, 1))(a, b)), want, rtol=1e-7)
    if f is of_matrices:  # which asks how arrays lie in memory, and of a compiled batch that is not known
        return
    points = np.array([0.5, 0.52]), np.array([0.7, 0.69])
    found = wg.jit(wg.vmap(wg.grad(f, argnums=(0, 1))))(*points)
    want = [slope(f, *p) for p in zip(*points, strict=True)]
    np.testing.assert_allclose(found[0] - 2 * found[1], want, rtol=1e-7)


def test_results_are_plain_arrays():
    f = lambda x: Length(x) * 2
    np.testing.assert_array_equal(wg.jacobian(f)(np.ones(2)), 2 * np.eye(2))
    assert type(wg.jit(f)(np.ones(2))) is np.ndarray
    assert wg.grad(lambda x: (Length(x) * 2).sum())(np.ones(2)).tolist() == [2.0, 2.0]


def test_attributes_of_an_array_from_outside_are_part_of_the_program():
    v = Length([1.0, 2.0], "m")
    f = wg.jit(lambda x: x * v.norm() * (1000.0 if v.unit == "km" else 1.0))
    assert f(1.0) == v.norm()
    v.unit = "km"
    assert f(1.0) == 1000.0 * v.norm()
    v[0] = 3.0
    assert f(1.0) == 1000.0 * v.norm()


def test_elements_are_not_lost_to_what_is_not_followed():
    for way in (wg.grad, wg.jit):
        with pytest.raises((wg.errors.WengertError, BufferError)):
            way(lambda x: np.frombuffer(memoryview(Length([x, 2.0])))[0])(1.0)


def test_which_classes():
    assert can_hold(Length)
    assert can_hold(np.matrix)
    assert can_hold(np.ma.MaskedArray)
    assert not any(map(can_hold, (np.ndarray, np.recarray, np.memmap, int)))
