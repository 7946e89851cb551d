"""Objects of which data choose one, and that are then changed, under whichever name (`capture/references.py`)."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from everywhere import check_everywhere

import wengert as wg

POINTS = [[0.3, 1.2, -0.7, 2.1], [1.4, -0.2, 0.9, -1.3], [-0.5, 0.45, 1.7, 0.8]]


@dataclass
class Thing:
    v: float
    m: float = 1.0

    def grow(self, by):
        self.v += by
        return self

    @property
    def square(self):
        return self.v**2

    @square.setter
    def square(self, value):
        self.v = math.sqrt(abs(value))


class Node:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


def numbers(*things):
    return np.array([[one.v, one.m] for one in things]).ravel()


def one_of_two(x):
    a, b = Thing(x[0]), Thing(x[1])
    c = a if x[2] > 0 else b
    c.v = c.v * 3.0 + a.v
    c.grow(x[3]).grow(1.0).m *= 2
    a.v = a.v - 0.5 * c.v
    return numbers(a, b, c)


def by_a_property(x):
    a, b = Thing(x[0]), Thing(x[1])
    c = a if x[2] > 0 else b
    c.square = c.square + 2.0
    return numbers(a, b)


def the_largest(x):
    things = [Thing(v) for v in x]
    best = max(things, key=lambda one: one.v)
    worst = min(things, key=lambda one: one.v)
    best.v, worst.m = best.v**2, best.v
    return numbers(*things)


def one_of_three(x):
    a, b, c = Thing(x[0]), Thing(x[1]), Thing(x[2])
    if x[3] > 1:
        w = a
    elif x[3] > 0:
        w = b
    else:
        w = c
    w.v = 0.5 * w.v
    if x[0] > 0:
        w = c
    w.m = x[1]
    return numbers(a, b, c)


def new_or_old(x):
    a = Thing(x[0])
    b = a if x[1] > 0 else Thing(x[2])
    b.v += 1.0
    a.m = b.v * 2
    return numbers(a, b)


def changing_places(x):
    a, b = Thing(x[0]), Thing(x[1])
    for k in range(5):
        if a.v < b.v:
            a, b = b, a
        b.v += 0.5 * k * x[2]
        a.v *= 1.1
    return numbers(a, b)


def changing_places_for_long(x):
    a, b = Thing(abs(x[0])), Thing(abs(x[1]) + 1)
    while a.v + b.v > 0.3:
        a.v *= 0.5
        a, b = b, a
    return numbers(a, b)


def the_smallest_so_far(x):
    things = [Thing(v) for v in x]
    now = things[0]
    for _ in range(12):
        now.v = now.v * 0.9 + 0.1
        for one in things:
            if one.v < now.v:
                now = one
    return numbers(*things)


def a_search(x):
    def first_above(level):
        for one in things:
            if one.v > level:
                return one
        return things[-1]

    things = [Thing(v) for v in x]
    first_above(0.5).m += x[0]
    first_above(1.0).m *= 2
    return numbers(*things)


def inside_of_others(x):
    a, b = SimpleNamespace(inner=Thing(x[0])), SimpleNamespace(inner=Thing(x[1]))
    w = a if x[2] > 0 else b
    w.inner.v += x[3]
    u = w.inner
    if x[0] > 1:
        u.v *= 2
        u = a.inner
    u.m = x[2]
    return numbers(a.inner, b.inner)


def arrays_in_them(x):
    whole = x * 1.0
    a, b = Thing(whole[:2]), Thing(whole[2:])
    w = a if x[0] > 0.4 else b
    w.v *= 3
    w.v[1] -= x[0]
    return whole


def a_list_or_another(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    w = a if x[0] > x[1] else b
    w[0] = 7 * x[1]
    w[1] += a[0]
    return np.array(a + b)


def failing(x):
    a, b = Thing(x[0]), Thing(x[1])
    w = a if x[2] > 0 else b
    try:
        w.v = math.sqrt(w.v)
    except ValueError:
        w.v = -1.0 * x[2]
    return numbers(a, b)


def sorted_into_a_list(x):
    head = None
    for v in x:
        if head is None or v < head.value:
            head = Node(v, head)
        else:
            n = head
            while n.following is not None and n.following.value < v:
                n = n.following
            n.following = Node(v, n.following)
    found, n = [], head
    while n is not None:
        found.append(n.value)
        n = n.following
    return np.array(found) * np.arange(1, 5)


def along_a_list(x):
    last = Node(x[0])
    middle = Node(x[1], last)
    now = first = Node(x[2], middle)
    for _ in range(2):
        now.value += 0.5
        if now.value > 0.6:
            now = now.following
    now.value *= 2
    return np.array([first.value, middle.value, last.value])


def sorted_by_choosing(x):
    things = [Thing(v, float(k)) for k, v in enumerate(x)]
    for i in range(3):
        least = i
        for j in range(i + 1, 4):
            if things[j].v < things[least].v:
                least = j
        things[i], things[least] = things[least], things[i]
    things[0].v *= 2
    return numbers(*things)


def put_at_a_computed_place(x):
    things = [Thing(v, float(k)) for k, v in enumerate(x)]
    i = int(np.argmax(x))
    old = things[i]
    things[i] = Thing(x[0] * 3)
    old.v += 1
    things[i].m = x[1]
    things[int(np.argmin(x)) - 4] = old
    return numbers(*things)


PROGRAMS = [
    one_of_two, by_a_property, the_largest, one_of_three, new_or_old, changing_places, changing_places_for_long,
    the_smallest_so_far, a_search, inside_of_others, arrays_in_them, a_list_or_another, failing, sorted_into_a_list,
    along_a_list, sorted_by_choosing, put_at_a_computed_place,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_done_to_a_name_is_done_to_the_object(f):
    compiled = wg.jit(f)
    for x in map(np.array, POINTS):
        np.testing.assert_allclose(compiled(x.copy()), f(x.copy()), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS)
def test_everywhere(f):
    for x in POINTS:
        check_everywhere(f, x)


@pytest.mark.parametrize("f", [one_of_two, the_largest, along_a_list])
def test_in_batches(f):
    xs = np.array(POINTS)
    expected = np.stack([f(x) for x in xs])
    np.testing.assert_allclose(wg.vmap(wg.jit(f))(xs), expected, rtol=1e-13)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(xs), expected, rtol=1e-13)


def test_a_place_that_is_not_there():
    def f(x):
        things = [Thing(v) for v in x]
        things[int(x[0] * 10)] = things[0]
        return things[1].v

    assert wg.jit(f)(np.array([0.1, 2.0])) == 0.1
    with pytest.raises(IndexError):
        wg.jit(f)(np.array([0.3, 2.0]))


def test_an_object_that_is_returned():
    def f(x):
        a, b = Thing(x[0]), Thing(x[1])
        w = a if x[2] > 0 else b
        w.v *= 2
        return [a, w, {"b": b}]

    for x in map(np.array, POINTS):
        found, expected = wg.jit(f)(x), f(x)
        assert np.array_equal(numbers(*found[:2], found[2]["b"]), numbers(*expected[:2], expected[2]["b"]))


class Other(Thing):
    pass


def test_one_of_two_classes_that_is_returned_holds_numbers():
    def f(x):
        a, b = Thing(x[0]), Other(x[1])
        return a if x[2] > 0 else b

    for x in map(np.array, POINTS):
        got, expected = wg.jit(f)(x), f(x)
        assert type(got) is type(expected)
        assert (got.v, got.m) == (expected.v, expected.m)


def test_objects_outside():
    a, b, kept = Thing(1.0), Thing(2.0), SimpleNamespace(best=None)

    def f(x):
        a.v, b.v = x[0], x[1]
        w = a if x[2] > 0 else b
        w.v += 10.0
        return a.v + 3 * b.v

    def keeps(x):
        new = Thing(x[0]), Thing(x[1])
        w = new[0] if x[2] > 0 else new[1]
        w.v += 1
        kept.best = w
        return new[0].v + 2 * new[1].v

    compiled, keeping = wg.jit(f), wg.jit(keeps)
    for x in map(np.array, POINTS):
        expected = f(x), a.v, b.v
        assert (compiled(x), a.v, b.v) == pytest.approx(expected, rel=1e-14)
        expected = keeps(x), kept.best.v, kept.best.m
        assert (keeping(x), kept.best.v, kept.best.m) == pytest.approx(expected, rel=1e-14)


def test_what_becomes_of_objects_that_are_given():
    def f(a, b, x):
        w = a if x > 0 else b
        w.v += x
        return a.v * b.v

    for x in (0.5, -0.5):
        given, plain = [(Thing(2.0), Thing(3.0)) for _ in range(2)]
        assert wg.jit(f)(*given, x) == pytest.approx(f(*plain, x))
        assert [one.v for one in given] == [one.v for one in plain]
