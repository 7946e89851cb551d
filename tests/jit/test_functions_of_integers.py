"""Functions of Python's that take integers, which only the running program knows."""

import itertools
import math
import operator

import numpy as np
import pytest
from jit.everywhere import agrees

import wengert as wg

INTEGERS = range(-6, 13)


def both(f, *args):
    """What two functions give, or raise."""
    found = []
    for g in (f, f.compiled):
        try:
            found.append(g(*args))
        except Exception as error:
            found.append((type(error), str(error).partition(" (at ")[0].partition("\n")[0]))
    return found


def compiled(f):
    f.compiled = wg.jit(f)
    return f


@compiled
def of_one(n):
    k = int(n[0])
    return k.bit_length(), k.bit_count(), math.gcd(k), math.lcm(k, 4), math.gcd(k, 12, 18)


@compiled
def of_two(n):
    j, k = int(n[0]), int(n[1])
    return math.gcd(j, k), math.lcm(j, k)


@pytest.mark.parametrize("k", INTEGERS)
def test_bits_and_divisors(k):
    expected, got = both(of_one, np.array([k]))
    assert got == expected
    for j in (-9, 0, 4, 12):
        expected, got = both(of_two, np.array([j, k]))
        assert got == expected


@pytest.mark.parametrize("function", [math.comb, math.perm], ids=lambda f: f.__name__)
def test_selections(function):
    @compiled
    def f(n):
        return function(int(n[0]), int(n[1]))

    for n, k in itertools.product(range(-1, 9), range(-1, 9)):
        expected, got = both(f, np.array([n, k]))
        assert got == expected


@pytest.mark.parametrize("function", [math.factorial, math.perm, math.isqrt], ids=lambda f: f.__name__)
def test_of_one_integer(function):
    @compiled
    def f(n):
        return function(int(n[0]))

    large = (10**12 - 1, 10**12, 2**62, 2**63 - 1) if function is math.isqrt else (20,)
    for n in (*INTEGERS, *large):
        expected, got = both(f, np.array([n]))
        assert got == expected


@compiled
def powers(n):
    return pow(int(n[0]), int(n[1]), int(n[2]))


@pytest.mark.parametrize("mod", [-7, 0, 1, 6, 7])
def test_powers_with_a_modulus(mod):
    for base, exp in itertools.product((-4, 0, 3, 10), (-3, -1, 0, 1, 5, 20)):
        expected, got = both(powers, np.array([base, exp, mod]))
        assert got == expected, (base, exp)


def test_what_is_no_integer():
    for f in (lambda x: math.gcd(x, 2), lambda x: math.factorial(x)):
        with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
            wg.jit(f)(2.0)


def test_in_programs():
    def of_data(x):
        k = int(10.0 * x)
        return math.comb(k, 2) * x + math.gcd(k, 4) * x**2 + k.bit_length()

    agrees(of_data, 0.93)

    def series(x):
        total = 0.0
        for n in itertools.count():
            term = x**n / math.factorial(n)
            total += term
            if abs(term) < 1e-13:
                break
        return total

    agrees(series, 0.93)


def test_names_of_operators():
    def f(x):
        found = operator.truth(x[0] > 0), operator.not_(x[1] > 0), operator.contains([x[0], 2.0], x[2])
        return (*found, operator.countOf([1.0, 2.0, 1.0], x[3]), operator.indexOf([x[1], x[2]], x[2]))

    x = np.array([0.5, -1.0, 2.0, 1.0])
    assert wg.jit(f)(x) == f(x) == (True, True, True, 2, 1)
