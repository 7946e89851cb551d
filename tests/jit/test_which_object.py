"""Which of several objects a name stands for, in compiled loops and branches: `is`, `==`, `in`, changes."""

import enum

import numpy as np
import pytest

import wengert as wg

X = np.arange(1.0, 7.0)


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Box:
    def __init__(self, k):
        self.k = k


FIRST, SECOND = Box(1.0), Box(2.0)


def members_that_alternate(x):
    colour, total = Colour.RED, 0.0
    for i in range(9):
        if colour is Colour.RED:
            total += x[i % 6] * colour.value
            colour = Colour.GREEN
        else:
            total *= {Colour.RED: 3.0, Colour.GREEN: 0.5}[colour]
            colour = Colour.RED
    return total


def objects_that_alternate(x):
    mine, other = Box(x[0]), Box(x[1])
    one, two, total = FIRST, mine, 0.0
    for i in range(9):
        total += x[i % 6] * one.k * two.k
        one = SECOND if one is FIRST else FIRST
        two = other if two == mine else mine
    return total


def changed_while_they_alternate(x):
    p, q = Box(x[0]), [x[1]]
    c, d, total = p, Box(x[2]), 0.0
    e, f = q, [x[3]]
    for _ in range(9):
        p.k += 1
        q[0] *= 1.1
        total += c.k * e[0]
        c, d = d, c
        e, f = f, e
    return total


def appended_or_a_copy_of_it(x):
    u, items, total = x * 1.0, [], 0.0
    for i in range(9):
        u[0] += 0.1 * x[1]
        items.append(u if i % 2 else u.copy())
    for k, item in enumerate(items):
        total += k * item[0] ** 2
    return total


ALTERNATING = [members_that_alternate, objects_that_alternate, changed_while_they_alternate, appended_or_a_copy_of_it]


@pytest.mark.parametrize("f", ALTERNATING)
def test_of_loops_of_known_length(f):
    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-13)
    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), expected, rtol=1e-6, atol=1e-6)


def asked_after_a_branch(x):
    c = FIRST if x[0] > 0 else SECOND
    return x[0] if c is FIRST else x[1]


def asked_in_a_loop(x):
    c, total = FIRST, 0.0
    while total < 20:
        total += c.k * x[0]
        c = SECOND if c == FIRST else FIRST
    return total


def looked_for(x):
    p, q = Box(x[0]), Box(x[1])
    return {p: 1.0, q: 2.0}.get(p if x[0] > x[1] else q, 0.0) * x[0]


def found_in_a_list(x):
    p, q = Box(x[0]), Box(x[1])
    return x[0] if (p if x[0] > x[1] else q) in [p] else x[1]


def changed_afterwards(x):
    p, q = [x[0]], [x[1]]
    c, d = p, q
    for _ in range(9):
        c, d = d, c
    c[0] = 100.0 * x[0]
    return p[0] * q[0]


def changed_by_its_first_name(x):
    p, q = Box(x[0]), Box(x[1])
    c, d = p, q
    for _ in range(9):
        c, d = d, c
    q.k = 100.0 * x[0]
    return c.k


def one_object_or_two(x):
    if x[0] > 0:
        p = q = Box(x[1])
    else:
        p, q = Box(x[2]), Box(x[3])
    p.k = 10.0 * x[0]
    return q.k


def changed_where_no_iteration_may_run(x):
    p = [x[0]]
    c, n = p, 0
    while n < x[1] - 2:
        c, n = [c[0] + 1], n + 1
    p[0] = 100.0 * x[0]
    return c[0]


@pytest.mark.parametrize(
    "f", [asked_after_a_branch, found_in_a_list, looked_for, changed_afterwards, changed_by_its_first_name]
)
def test_which_of_two_data_have_chosen(f):
    for x in (X, -X, X[::-1].copy()):
        np.testing.assert_array_equal(wg.jit(f)(x), f(x))


def test_which_of_two_a_loop_has_come_to():
    for x in (X, 3 * X, X + 1):
        assert wg.jit(asked_in_a_loop)(x) == asked_in_a_loop(x)


REFUSED = [one_object_or_two, changed_where_no_iteration_may_run]


@pytest.mark.parametrize("f", REFUSED)
def test_what_is_not_known_is_refused(f):
    f(X)
    with pytest.raises(wg.errors.StagingError, match="is known only when|stand for in a loop|a key of a dict"):
        wg.jit(f)(X)
