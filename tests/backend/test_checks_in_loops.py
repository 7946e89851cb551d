"""Which check ends a compiled loop: the one at which Python would have raised, whatever else fails behind it.

Compiled loops are made into vectors, and act on the checks of many iterations at once.
"""

import math
import traceback

import numpy as np
import pytest

import wengert as wg

SIZES = (3, 100, 20_000, 70_000)  # a few, one strip, several, and shared by threads


def outcome(f, *args):
    """What a function gives, or its exception with the line that raised."""
    try:
        return f(*args)
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        told = str(error).rsplit("(at ", 1)
        if len(told) == 2:
            line = int(told[1].rstrip(")").rsplit(":", 1)[1])
        return type(error), told[0].partition(", got ")[0].strip(), line  # (Python 3.14 adds the number)


def same(found, wanted):
    return np.allclose(np.atleast_1d(found), np.atleast_1d(wanted), rtol=1e-12, equal_nan=True)


def several(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        a = float(x[i])
        b = 1.0 / a
        c = math.log(float(y[i]))
        out[i] = math.exp(b * c) + math.sqrt(a)
    return out


def in_branches(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        a, b = float(x[i]), float(y[i])
        r = math.sqrt(a + 4.0)
        if b > 0.5:
            c = 1.0 / a
        else:
            c = math.log(b) - r
        out[i] = math.exp(c)
    return out


def with_places(x, y):
    h = np.zeros(8)
    for i in range(len(x)):
        h[int(float(x[i]) * 4)] += math.log(float(y[i]))
    return h


def sums(x, y):
    s, count = 0.0, 0
    for i in range(len(x)):
        s += math.exp(float(x[i])) / float(y[i])
        count += int(float(x[i]) * 10)
    return s, count


def nested(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        a = 1.0 / float(x[i])
        for j in range(3):
            a = a + math.sqrt(float(y[i]) + j * 0.25)
        out[i] = math.log(a + 1.5)
    return out


def until(x, y):
    k, s = 0, 0.0
    while k < len(x) and 1.0 / float(x[k]) > 0.0:
        s += math.log(float(y[k]))
        k += 1
    return s


BAD = [0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 900.0, 1e-320, -3.0]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("f", [several, in_branches, with_places, sums, nested, until], ids=lambda f: f.__name__)
def test_the_first_check_that_fails_is_the_one_that_raises(f, n, rng):
    compiled = wg.jit(f)
    x, y = rng.uniform(0.1, 0.9, n), rng.uniform(0.1, 0.9, n)
    assert same(compiled(x, y), f(x, y))
    raised = set()
    for k in range(40 if n < 1000 else 12):
        bad_x, bad_y = x.copy(), y.copy()
        where = rng.integers(0, n, 4)
        if k % 3 == 0:
            where[1:] = where[0]  # several checks of one iteration
        bad_x[where[:2]] = rng.choice(BAD, 2)
        bad_y[where[2:]] = rng.choice(BAD, 2)
        with np.errstate(all="ignore"):
            wanted, found = outcome(f, bad_x, bad_y), outcome(compiled, bad_x, bad_y)
        if isinstance(wanted, tuple) and isinstance(wanted[0], type):
            if wanted[0] is OverflowError and "integer" in wanted[1]:
                wanted, found = (wanted[0], wanted[2]), (found[0], found[2])  # compiled, it says more
            if wanted[0] is IndexError:
                wanted, found = (wanted[0], wanted[2]), (found[0], found[2])
            assert found == wanted
            raised.add(wanted[0])
        else:
            assert same(found, wanted)
    assert raised


def derivative_of_several(x, y):
    return wg.grad(lambda x: several(x, y).sum())(x)


@pytest.mark.parametrize("n", [100, 20_000])
def test_a_gradient_raises_where_the_function_does(n, rng):
    compiled = wg.jit(derivative_of_several)
    x, y = rng.uniform(0.1, 0.9, n), rng.uniform(0.1, 0.9, n)
    for _ in range(10):
        bad_x, bad_y = x.copy(), y.copy()
        bad_x[rng.integers(n)], bad_y[rng.integers(n)] = rng.choice([0.0, -1.0], 2)
        assert outcome(compiled, bad_x, bad_y) == outcome(several, bad_x, bad_y)


def printing(x):
    for i in range(len(x)):
        y = 1.0 / float(x[i])
        print(f"{y:.2f}")
        math.log(y)


def test_nothing_is_printed_behind_a_check_that_fails(capsys):
    x = np.array([1.0, 2.0, -4.0, 0.0, 5.0])
    wanted = outcome(printing, x)
    lines = capsys.readouterr().out
    assert lines == "1.00\n0.50\n-0.25\n"
    assert outcome(wg.jit(printing), x) == wanted
    assert capsys.readouterr().out == lines
    x[2] = 0.0
    outcome(wg.jit(printing), x)
    assert capsys.readouterr().out == "1.00\n0.50\n"


def table(x, t):
    total = 0.0
    for i in range(len(x)):
        total += t[int(float(x[i]) * len(t))]
    return total


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e15, 7.0, -7.0])
def test_a_number_that_is_no_place_reads_nothing(value):
    x, t = np.linspace(0, 0.99, 1000), np.arange(50.0)
    x[500] = value
    assert outcome(wg.jit(table), x, t)[::2] == outcome(table, x, t)[::2]


def integers(x):
    found = np.zeros(len(x), int)
    for i in range(len(x)):
        k = int(x[i])
        found[i] = k * k * k + 7 // k
    return found


@pytest.mark.parametrize("bad", [0, 1 << 40, -(1 << 62)])
def test_integers_that_do_not_fit_are_told_in_order(bad):
    x = np.arange(1, 2001)
    compiled = wg.jit(integers)
    assert np.array_equal(compiled(x), integers(x))
    x[700], x[1500] = bad, 0
    found = outcome(compiled, x)
    assert found[0] is (ZeroDivisionError if bad == 0 else OverflowError)
