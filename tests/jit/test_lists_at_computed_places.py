"""Lists that are read and written at places which only the compiled program knows, in every composition."""

import copy
import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

rng = np.random.default_rng(4)
X = rng.normal(size=7)
WEIGHTS = np.arange(1.0, 8.0)


def weighted(items):
    return sum(w * v for w, v in zip(WEIGHTS, items, strict=True))


def insertion_sort(x):
    a = list(x)
    for i in range(1, 7):
        v, j = a[i], i - 1
        while j >= 0 and a[j] > v:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = v
    return weighted(a)


def selection_sort(x):
    a = [x[i] for i in range(7)]
    for i in range(7):
        least = i
        for j in range(i + 1, 7):
            if a[j] < a[least]:
                least = j
        a[i], a[least] = a[least], a[i]
    return weighted(a)


def bubble_sort(x):
    a = [x[i] for i in range(7)]
    for i in range(7):
        for j in range(6 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return weighted(a)


COMPOSITIONS = [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f)), lambda f: wg.jacfwd(wg.jit(f))]


@pytest.mark.parametrize("f", [insertion_sort, selection_sort, bubble_sort])
def test_sorting(f):
    compiled = wg.jit(f)
    for x in (X, -X, np.sort(X)):
        assert np.isclose(compiled(x), WEIGHTS @ np.sort(x))
        ranks = np.argsort(np.argsort(x))
        for operator in COMPOSITIONS:
            np.testing.assert_allclose(operator(f)(x), WEIGHTS[ranks])
    several = np.stack([X, -X])
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(several), np.sort(several) @ WEIGHTS)


def american_put(s, volatility):
    n, r, k = 12, 0.05, 105.0
    dt = 1.0 / n
    u = math.exp(volatility * math.sqrt(dt))
    p, disc = (math.exp(r * dt) - 1 / u) / (u - 1 / u), math.exp(-r * dt)
    v = [max(k - s * u ** (2 * j - n), 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        prices = [s * u ** (2 * j - i) for j in range(i + 1)]
        for j in range(i + 1):
            v[j] = max(k - prices[j], disc * (p * v[j + 1] + (1 - p) * v[j]))
    return v[0]


def test_a_list_that_is_made_anew_in_each_iteration():
    x = (100.0, 0.2)
    assert np.isclose(wg.jit(american_put)(*x), american_put(*x))
    h = 1e-6
    slopes = [(american_put(*(np.add(x, e))) - american_put(*np.subtract(x, e))) / (2 * h) for e in np.eye(2) * h]
    np.testing.assert_allclose(wg.jit(wg.grad(american_put, argnums=(0, 1)))(*x), slopes, rtol=1e-5)


def halvings(x):
    k = 0
    while x > 1:
        k, x = k + 1, x / 2
    return k, x


def backwards(x):
    a, k = [0.0] * 4, 0
    while x > 1:
        k -= 1
        a[k] = x
        x = x / 2
    return a


def of_an_argument(x, a):
    k, rest = halvings(x)
    a[k] = rest
    return a[0] + a[k]


def of_tuples(x):
    k, rest = halvings(x)
    pairs = [(0.0, j) for j in range(4)]
    pairs[k] = (rest, 7)
    return pairs, pairs[k][0] * pairs[1][1]


def while_it_is_gone_through(x):
    a = [x * j for j in range(6)]
    for _ in range(5):
        for i, v in enumerate(a):
            a[(i + 1) % 6] = 0.5 * v + a[(i + 1) % 6]
    return a


def integers_in_a_loop(x):
    a = [0] * 6
    for i in range(6):
        if i > 2:
            a[i] = x * i
    return a


PROGRAMS = [(backwards,), (of_an_argument, [1.0, 2.0, 3.0, 4.0]), (of_tuples,), (while_it_is_gone_through,),
            (integers_in_a_loop,)]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0].__name__)
def test_what_a_list_holds(program):
    f, *others = program
    compiled = wg.jit(f)
    for x in (5.0, 3.0, 0.5):
        ours, theirs = copy.deepcopy(others), copy.deepcopy(others)
        found, expected = compiled(x, *ours), f(x, *theirs)
        assert found == expected
        assert ours == theirs


def test_integers_stay_integers_where_the_loop_is_known():
    assert [type(v) for v in wg.jit(integers_in_a_loop)(2.0)[:3]] == [int] * 3


def test_a_place_that_is_not_there():
    def f(x):
        k, rest = halvings(x)
        a = [0.0] * 3
        a[k] = rest
        return a[0]

    assert wg.jit(f)(3.0) == 0.0
    with pytest.raises(IndexError, match="list assignment index out of range"):
        wg.jit(f)(20.0)


def list_of_lists(x):
    row, y = [x, 2.0], x
    rows = [row]
    while y > 1:
        rows.append([y, y])
        y = y / 2
    row[0] = 5.0 * x
    return rows[0][0] + row[0]


def list_of_arrays(x):
    row, y = np.array([x, 2.0]), x
    rows = [row]
    while y > 1:
        rows.append(np.array([y, y]))
        y = y / 2
    row[0] = 5.0 * x
    return rows[0][0] + row[0]


@pytest.mark.parametrize("f", [list_of_lists, list_of_arrays])
def test_items_that_were_there_before_the_list_was_opened(f):
    """What is written to them would have to be seen in the list."""
    assert f(4.0) == 40.0
    with pytest.raises(StagingError):
        wg.jit(f)(4.0)
