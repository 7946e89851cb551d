"""Loops over arrays, and what is made of them, that end early while the array is written to: items are read when their
iteration comes, as Python reads them."""

from __future__ import annotations

import numpy as np
import pytest
from jit.everywhere import agrees, close, value

import wengert as wg
from wengert.errors import StagingError

X = np.array([1.0, 2.0, 3.0])
LONG = np.linspace(0.5, 1.5, 9)
ROWS = np.arange(1.0, 7.0).reshape(3, 2)


def broken(x, s):
    x = x.copy()
    t = 0.0
    for r in x:
        if s < 0:
            break
        x[:] = x * 2
        t = t + r
    return t


def returned(x, s):
    x = x.copy()
    t = 0.0
    for r in x:
        t = t + r * s
        if t > 50.0 * s:
            return t
        x *= 2.0
    return t + x[0]


def enumerated(x, s):
    x = x.copy()
    t = 0.0
    for i, r in enumerate(x):
        if t > 40.0 * s:
            break
        x[-1] += r
        t = t + i * r
    return t


def zipped(x, s):
    x = x.copy()
    y = x * 3.0
    t = 0.0
    for a, b in zip(x, y, strict=True):
        if t > 1000.0 * s:
            break
        y[:] = y + x
        x[:] = x * 1.5
        t = t + a * b
    return t


def backwards(x, s):
    x = x.copy()
    t = 0.0
    for r in reversed(x):
        if t > 1000.0 * s:
            break
        x[0] += r
        t = t + r * r
    return t + x[0]


def over_a_list(x, s):
    x = x.copy()
    items = [x[:2], x[1:]]
    t = 0.0
    for r in items:
        if t > 1000.0 * s:
            break
        x *= 2.0
        t = t + r.sum()
    return t


def over_values(x, s):
    d = {"a": x.copy(), "b": x * 2.0, "c": x * 3.0}
    t = 0.0
    for k, v in d.items():
        if t > 1000.0 * s:
            break
        d["c"][0] += v[0]
        t = t + v.sum() * len(k)
    return t


def numbers_of(x):
    for k in range(len(x)):
        yield x[k]


def over_a_generator(x, s):
    x = x.copy()
    t = 0.0
    for r in numbers_of(x):
        if t > 1000.0 * s:
            break
        x *= 2.0
        t = t + r
    return t


def of_rows(x, s):
    x = np.outer(x, x)
    t = 0.0
    for r in x:
        if t > 1000.0 * s:
            break
        x[:, 0] += r
        t = t + r.sum()
    return t


EARLY = [broken, returned, enumerated, zipped, backwards, over_a_list, over_values, over_a_generator, of_rows]


@pytest.mark.parametrize("x", [X, LONG], ids=["short", "long"])
@pytest.mark.parametrize("f", EARLY, ids=lambda f: f.__name__)
def test_early_ends(f, x):
    for s in (0.3, -0.3):
        close(value(wg.jit(f), x, s), value(f, x, s))
    agrees(f, x, 0.3, batch=False)


def taken_from_outside(x):
    numbers = iter(x)
    t = 0.0
    for _ in range(5):
        t = 2.0 * t + next(numbers)
    return t


def taken_in_a_branch(x):
    numbers = iter(x)
    t = next(numbers)
    if t > 0.0:
        t = t + next(numbers)
    return t + next(numbers)


def generator_in_a_loop(x):
    squares = (v * v for v in x)
    t = 0.0
    for _ in range(3):
        for v in squares:
            t = 2.0 * t + v
    return t


@pytest.mark.parametrize("f", [taken_from_outside, taken_in_a_branch, generator_in_a_loop], ids=lambda f: f.__name__)
def test_iterators_from_outside_of_a_suite_are_used_up_once_or_refused(f):
    try:
        got = value(wg.jit(f), LONG)
    except StagingError as error:
        assert "iterator" in str(error)  # noqa: PT017
    else:
        close(got, value(f, LONG))


NUMBERS = np.random.default_rng(0).normal(size=1500)
PLACES = np.random.default_rng(1).integers(0, 6, 1500)


def over_places(x):
    total = 0.0
    for place in PLACES[1:]:
        total = total * 0.9 + x[place]
    return total


def over_pairs(x):
    total = 0.0
    for i, (place, number) in enumerate(zip(PLACES, NUMBERS, strict=True)):
        if number > 2.5:
            break
        total = total * 0.9 + x[place] * number + 0.01 * i * x[0]
    return total


def over_rows_of_a_copy(x):
    table = NUMBERS.reshape(300, 5).copy()
    total = 0.0
    for row in table:
        table[-1] = 2.0  # which the last iteration reads
        total = total * 0.9 + row @ x[:5]
    return total


@pytest.mark.parametrize("f", [over_places, over_pairs, over_rows_of_a_copy], ids=lambda f: f.__name__)
def test_loops_over_plain_arrays_are_loops(f):
    x = np.arange(6.0) + 0.1
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-12)
    np.testing.assert_allclose(wg.grad(wg.jit(f))(x), wg.grad(f)(x), rtol=1e-12)
    assert len(str(wg.jit(f).lower(x)).splitlines()) < 100


def _sum_of_squares():
    total = 0.0
    while True:
        total = total + (yield total) ** 2


def test_values_are_sent_to_a_generator_in_a_loop():
    def f(x):
        generator = _sum_of_squares()
        next(generator)
        for t in x:
            r = generator.send(t)
        generator.close()
        return r

    x = np.linspace(-1.0, 2.0, 9)
    assert wg.jit(f)(x) == pytest.approx(x @ x)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), 2 * x)


def of_one_length(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def of_one_length_in_a_loop(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total


@pytest.mark.parametrize("f", [of_one_length, of_one_length_in_a_loop])
def test_zip_is_strict_where_it_is_said_to_be(f):
    x = np.arange(1.0, 7.0)
    np.testing.assert_allclose(wg.jit(f)(x, x), x @ x)
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is shorter than argument 1"):
        wg.jit(f)(x, x[:3])


# ----------------------------------------------------------------------- rows that names stand for when a loop is over


def last_row(u):
    for row in u:
        row -= 0.5 * u[0, 0]
    return u, row


def two_names(u):
    for row, _q in zip(u, u, strict=True):
        row *= 2
    return u, _q


def neighbours(u):
    for row, q in zip(u[1:], u, strict=False):
        row -= 0.5
        row += q * u[-1, 0]
    return u, q


def by_number(u):
    for i in range(len(u)):
        q, row = u[i], u[i - 1]
        row -= 0.1 * i * q
    return u, q + row


def in_a_branch(u):
    for r, q in zip(u, u[::-1], strict=True):
        best = r if r[0] < q[0] else q
        r -= 0.25 * q
    return u, best * 2


def written_afterwards(u):
    for row in u:
        row *= 3
    row[0] = 7.0
    return u, row


@pytest.mark.parametrize("f", [last_row, two_names, neighbours, by_number, in_a_branch, written_afterwards])
@pytest.mark.parametrize("rows", [3, 12])
def test_rows_that_names_stand_for_afterwards(f, rows):
    def g(x):
        u, row = f(np.outer(np.arange(1.0, rows + 1), x))
        return np.append(np.sum(u * np.cos(u), axis=0), row)

    wanted = g(X[:2])
    if f is written_afterwards and rows > 4:
        with pytest.raises(StagingError, match="may be the same as another one"):
            wg.jit(g)(X[:2])
        return
    np.testing.assert_allclose(wg.jit(g)(X[:2]), wanted, rtol=1e-12)
    slope = wg.jacfwd(g)(X[:2])
    for derivative in (wg.jit(wg.jacfwd(g)), wg.jacrev(wg.jit(g)), wg.jit(wg.jacrev(g))):
        np.testing.assert_allclose(derivative(X[:2]), slope, rtol=1e-12, atol=1e-12)
