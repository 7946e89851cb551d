"""Series in every placement: compiled, in batches, under and over reverse mode, through loops, writes and calls."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg


def branches(x):
    s = x
    for i in range(5):
        if s > 1.5:
            s = np.sin(s) * 0.9 + 0.1 * x * i
        else:
            s = s * s + x
    return s


def writes(x):
    out = np.zeros(6)
    for i in range(6):
        out[i] = x * i + (out[i - 1] ** 2 if i > 0 else 0.0) * 0.1
    out[2:4] *= out[:2]
    return np.sum(out * out)


def search(x):
    while x < 10:
        x = x * 1.3 + np.sin(x)
    return x


inner = wg.jit(lambda x: np.sin(x) * x)


def calls(x):
    return inner(x) + inner(2.0) * x


PROGRAMS = [branches, writes, search, calls]
N, X = 4, 1.3


def nested(f, x, n):
    found = [f(x)]
    for k in range(1, n + 1):
        f = (lambda g: lambda t: wg.jvp(g, (t,), (1.0,))[1])(f)
        found.append(f(x) / math.factorial(k))
    return np.array(found, float)


PLACEMENTS = {
    "eager": lambda f: wg.taylor(f, X, N),
    "jit outside": lambda f: wg.jit(lambda x: wg.taylor(f, x, N))(X),
    "jit inside": lambda f: wg.taylor(wg.jit(f), X, N),
    "vmap outside": lambda f: [y[1] for y in wg.vmap(lambda x: wg.taylor(f, x, N))(np.array([0.9, X]))],
    "vmap inside": lambda f: [y[1] for y in wg.taylor(wg.vmap(f), np.array([0.9, X]), N, direction=np.ones(2))],
    "jit of vmap": lambda f: [y[1] for y in wg.jit(wg.vmap(lambda x: wg.taylor(f, x, N)))(np.array([0.9, X]))],
}
SHIFTED = {
    "reverse over series": lambda f: wg.jacrev(lambda x: np.stack(wg.taylor(f, x, N - 1)))(X),
    "reverse over series, compiled": lambda f: wg.jit(wg.jacrev(lambda x: np.stack(wg.taylor(f, x, N - 1))))(X),
    "series over reverse": lambda f: wg.taylor(wg.grad(f), X, N - 1),
    "series over compiled reverse": lambda f: wg.taylor(wg.jit(wg.grad(f)), X, N - 1),
    "series over reverse, compiled": lambda f: wg.jit(lambda x: wg.taylor(wg.grad(f), x, N - 1))(X),
    "forward over series": lambda f: wg.jvp(lambda x: wg.taylor(f, x, N - 1), (X,), (1.0,))[1],
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_placements(f, placement):
    np.testing.assert_allclose(np.array(PLACEMENTS[placement](f), float), nested(f, X, N), rtol=1e-11)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("placement", SHIFTED)
def test_another_derivative_inside_or_outside(f, placement):
    """d/dx of coefficient k is (k + 1) times coefficient k + 1."""
    want = nested(f, X, N)[1:] * np.arange(1, N + 1)
    np.testing.assert_allclose(np.array(SHIFTED[placement](f), float), want, rtol=1e-11)


def test_series_of_series():
    twice = wg.taylor(lambda x: 2 * wg.taylor(branches, x, 2)[2], X, 2)
    want = nested(branches, X, 4)
    np.testing.assert_allclose(np.array(twice, float), [2 * want[2], 6 * want[3], 12 * want[4]], rtol=1e-11)


def test_perturbations_are_not_confused():
    got = wg.taylor(lambda x: x * wg.taylor(lambda y: x + y, 1.0, 1)[1], 1.0, 2)
    assert got == [1.0, 1.0, 0.0]


def test_values_of_an_ended_expansion_are_refused():
    kept = []
    wg.taylor(lambda x: kept.append(x) or x, 1.0, 2)
    with pytest.raises(wg.errors.EscapedValueError):
        kept[0] + 1


def test_writes_do_not_reach_what_was_copied():
    def f(x):
        a = np.array([x, 2 * x, 3 * x])
        b = a.copy()
        c = a[1:]
        a[1] = x * x
        b[0] += x
        return a[1] + 10 * b[1] + 100 * c[0] + b[0] + 1000 * np.sum(a)

    g = lambda x: x**2 + 20 * x + 100 * x**2 + 2 * x + 1000 * (4 * x + x**2)
    for h in (f, wg.jit(f)):
        np.testing.assert_allclose(np.array(wg.taylor(h, 3.0, 3), float), np.array(wg.taylor(g, 3.0, 3), float))


def test_filling_an_array():
    """Written elements go where they belong, all orders of them."""

    def f(x):
        a = np.zeros(50)
        for i in range(50):
            a[i] = x**2 * i
        return a

    got = wg.taylor(f, 3.0, 2)
    for y, c in zip(got, (9, 6, 1), strict=True):
        np.testing.assert_array_equal(y, c * np.arange(50.0))
