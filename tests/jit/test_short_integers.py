"""Integers of short types as places, bounds, lengths and ranges in compiled functions: they wrap around as NumPy's do
when something is computed with them, and never where they are counted with."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg


def wrapped(k):
    """Between 252 and 254: in a longer type it would be negative."""
    return np.minimum(np.maximum(k, np.uint8(1)), np.uint8(3)) - np.uint8(5)


def written(x, k):
    y = x * 1.0
    y[k:] = 1.0
    y[:k] *= 2
    return np.sum(y * x)


PROGRAMS = {
    "from": lambda x, k: np.sum(x[k:]),
    "to": lambda x, k: np.sum(x[:k]),
    "from the end": lambda x, k: np.sum(x[-k:]),
    "in between": lambda x, k: np.sum(x[k:-k] ** 2),
    "computed": lambda x, k: np.sum(x[k * 2 :]),
    "every second": lambda x, k: np.sum(x[k::2]),
    "backwards": lambda x, k: np.sum(x[k::-1]),
    "written": written,
    "ones": lambda x, k: np.sum(np.ones(k) * x[3]),
    "counted": lambda x, k: np.sum(np.arange(k) * x[3]),
    "range": lambda x, k: 0.0 + sum(x[i] for i in range(k)),
    "range from": lambda x, k: 0.0 + sum(x[i] for i in range(k, 300, 7)),
    "range down": lambda x, k: 0.0 + sum(x[i] for i in range(299, k, -7)),
}
NUMBERS = [np.uint8(2), np.int8(100), np.uint64(9), np.uint8(200)]


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_short_integers_count_like_others(f, rng):
    x = rng.normal(size=300)
    value, gradient = wg.jit(f), wg.jit(wg.grad(f))
    with np.errstate(over="ignore"):
        for k in NUMBERS:
            np.testing.assert_allclose(value(x, k), f(x, k), rtol=1e-12)
        np.testing.assert_allclose(gradient(x, k), wg.grad(f)(x, k), rtol=1e-12)


WRAPPED = {
    "a bound": lambda x, k: np.sum(np.repeat(x, 3)[: wrapped(k)]),
    "a start": lambda x, k: np.sum(np.repeat(x, 30)[wrapped(k) :]),
    "a length": lambda x, k: np.sum(np.ones(wrapped(k)) * x[1]),
    "a range": lambda x, k: 0.0 + sum(x[i % 10] for i in range(wrapped(k))),
}


@pytest.mark.parametrize("f", WRAPPED.values(), ids=WRAPPED)
def test_what_wraps_around_is_not_taken_for_negative(f, rng):
    x = rng.normal(size=10)
    with np.errstate(over="ignore"):
        for k in (np.uint8(2), np.uint8(3)):
            np.testing.assert_allclose(wg.jit(f)(x, k), f(x, k), rtol=1e-12)
            np.testing.assert_allclose(wg.jit(wg.grad(f))(x, k), wg.grad(f)(x, k), rtol=1e-12)


def option(x):
    """A tree of prices, shorter by one in each iteration; the bounds of `arange` rise and fall."""
    n, strike = 20, 1.1
    up = np.exp((0.1 + abs(x[1])) * np.sqrt(1 / n))
    p = (np.exp(0.02 / n) - 1 / up) / (up - 1 / up)
    v = np.maximum(strike - x[0] * up ** np.arange(n, -n - 1, -2), 0)
    for i in range(n - 1, -1, -1):
        v = np.exp(-0.02 / n) * (p * v[:-1] + (1 - p) * v[1:])
        v = np.maximum(v, strike - x[0] * up ** np.arange(i, -i - 1, -2))
    return v[0]


def test_lengths_that_are_quotients_have_bounds():
    x = np.array([1.2, 0.4])
    for g in (wg.grad(wg.jit(option)), wg.jit(wg.grad(option)), wg.jacfwd(wg.jit(option))):
        np.testing.assert_allclose(g(x), wg.numerical.grad(option, method="richardson")(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint32])
@pytest.mark.parametrize("p", [-1, 300, 5, 1 << 40])
def test_comparisons_with_numbers_that_do_not_fit(dtype, p):
    """They were converted to the short type first."""
    a = np.array([100, 1, 44], dtype)
    for f in (lambda a, p: a > p, lambda a, p: p >= a, lambda a, p: a[2] == p, lambda a, p: p < a[0]):
        np.testing.assert_array_equal(wg.jit(f)(a, p), f(a, p))


@pytest.mark.parametrize(
    "f",
    [
        lambda a, p: a + p,
        lambda a, p: a[1] * p,
        lambda a, p: np.minimum(a, p),
        lambda a, p: np.full(2, p, a.dtype),
        lambda a, p: a & p,
    ],
)
def test_numbers_that_do_not_fit_raise(f):
    a, g = np.array([100, 1], np.uint8), wg.jit(f)
    np.testing.assert_array_equal(g(a, 5), f(a, 5))
    for p in (-1, 300):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            f(a, p)
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            g(a, p)


def test_a_short_integer_or_one_of_pythons():
    """What is computed with the short one wraps around, and with Python's does not."""
    for f in (lambda a, p: (a[0] if p else 0) + 100 + 100, lambda a, p: (a[0] if p else 1.5) * 2):
        g, a = wg.jit(f), np.array([20, 100], np.int8)
        for b in (a, a[::-1].copy()):
            with np.errstate(over="ignore"):
                for p in (True, False):
                    assert repr(g(b, p)) == repr(f(b, p))
