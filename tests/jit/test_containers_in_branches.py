"""Lists, dicts and objects that a branch makes, changes, or gives another name: as in Python, or refused.

The reference is the function itself.
"""

from __future__ import annotations

import collections
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as wg

X = np.array([2.0, 3.5, 4.0])


class Owner:
    def __init__(self, items):
        self.items = items


def repeated(x, a):
    q = [0.0, 0.0, 0.0]
    if a > 0:
        q = [x[0]] * 3
        q[1] = 0.5
    return x * q[1] + q[0]


def copied(x, a):
    d = {"u": 1.0, "v": 2.0}
    if a > 0:
        d = {"u": x[0], "v": 1.0}.copy()
        d["v"] = x[1]
    return x * d["v"]


def joined(x, a):
    q = [0.0, 0.0]
    if a > 0:
        q = [x[0]] + [x[1]]
        r = q
        r[0] = 7.0
    return x * q[0] + q[1]


def joined_by_names(x, a):
    q, r, p = [1.0], [2.0], [[0.0, 0.0]]
    if a > 0:
        p = [q + r]
        p[0][0] = x[0]
    return x * p[0][0]


def in_a_tuple(x, a):
    p = ([0.0, 0.0, 0.0],)
    if a > 0:
        p = ([x[0]] * 3,)
        p[0][1] = 0.5
    return x * p[0][1]


def in_a_list(x, a):
    p = [[0.0, 0.0, 0.0]]
    if a > 0:
        p = [[1.0] * 3]
        p[0][1] = x[0]
    return x * p[0][1]


def in_an_attribute(x, a):
    o = Owner([0.0, 0.0])
    if a > 0:
        o.items = [1.0] * 2
        o.items[1] = x[0]
    return x * o.items[1]


def in_a_new_object(x, a):
    o = Owner([0.0, 0.0])
    if a > 0:
        o = Owner([1.0] * 2)
        o.items[1] = x[0]
    return x * o.items[1]


def sliced(x, a):
    base, p = [1.0, 2.0, 3.0], [[0.0, 0.0]]
    if a > 0:
        p = [base[1:]]
        p[0][0] = x[0]
    return x * p[0][0] + base[1]


def another_name(x, a):
    some, p = [0.0, 0.0], [1.0, 1.0]
    if a > 0:
        p = some
        p[0] = x[0]
    return x * p[0] + some[0] * 10


def another_name_in_a_tuple(x, a):
    some, p = [0.0, 0.0], ([1.0, 1.0],)
    if a > 0:
        p = (some,)
        p[0][0] = x[0]
    return x * p[0][0] + some[0] * 10


def never_read(x, a):
    if a > 0:
        q = [x[0]] * 3
        q[1] = 0.5
    return x


PROGRAMS = [repeated, copied, joined, joined_by_names, in_a_tuple, in_a_list, in_an_attribute, in_a_new_object, sliced,
            another_name, another_name_in_a_tuple, never_read]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
@pytest.mark.parametrize("a", [1.0, -1.0])
def test_as_in_python(f, a):
    np.testing.assert_allclose(wg.jit(f)(X, a), f(X, a), rtol=1e-14)
    total = lambda x, a: np.sum(f(x, a) * np.arange(1.0, 4.0))
    np.testing.assert_allclose(wg.jit(wg.grad(total))(X, a), wg.grad(total)(X, a), rtol=1e-14)


def changed_later(x, a):
    some, p = [0.0, 0.0], [1.0, 1.0]
    if a > 0:
        p = some
    some[0] = x[0]
    return x * p[0]


def chosen(x, a):
    some, other = [0.0, 0.0], [1.0, 1.0]
    p = some if a > 0 else other
    other[0] = x[0]
    return x * p[0]


def of_objects(x, a):
    some, other = SimpleNamespace(v=1.0), Owner(2.0)
    other = Owner(x[1])
    first = Owner(x[0])
    r = first
    if a > 0:
        r = other
    other.items = x[2] + some.v
    return x * r.items


def in_a_loop(x, a):
    some, p = [0.0, 0.0], [1.0, 1.0]
    for i in range(8):
        if a > i:
            p = some
        some[0] = x[0] + i
    return x * p[0]


def test_what_another_name_may_stand_for_is_not_changed_in_a_loop():
    with pytest.raises(wg.errors.StagingError, match="may stand for"):
        wg.jit(in_a_loop)(X, 1.0)


@pytest.mark.parametrize("f", [changed_later, chosen, of_objects])
def test_what_another_name_may_stand_for_changes_with_it(f):
    for a in (1.0, -1.0, 5.0):
        np.testing.assert_allclose(wg.jit(f)(X, a), f(X, a), rtol=1e-14)


class Pair(tuple):
    """A named tuple as it was written before there were any: fields, and no `_make`."""

    __slots__ = ()
    _fields = ("a", "b")

    def __new__(cls, a, b):
        return tuple.__new__(cls, (a, b))

    @property
    def a(self):
        return self[0]


def test_tuples_with_fields_that_data_choose():
    def f(x):
        pair = Pair(x, 2.0) if x > 1 else Pair(2 * x, 3.0)
        for _ in range(3):
            if pair.a < 5:
                pair = Pair(pair.a * x, pair[1])
        return pair.a + 10 * pair[1] + (pair.__class__ is Pair)

    for x in (0.7, 1.3, 3.0):
        assert wg.jit(f)(x) == pytest.approx(f(x), rel=1e-14)


def first_of_an_ordered_dict(x):
    d = collections.OrderedDict(a=x[0], b=x[1])
    for k in range(9):
        if x[0] * k < 4:
            d.move_to_end("a")
        d["b"] = d["b"] * 0.5 + d["a"]
    return next(iter(d.values()))


@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), np.array([5.0, 1.0])])
def test_the_order_of_an_ordered_dict(x):
    np.testing.assert_allclose(wg.jit(first_of_an_ordered_dict)(x), first_of_an_ordered_dict(x))
