"""Tuples and lists of numbers, read in a loop at places that are symbols: they are tables of the program."""

import bisect
import math

import numpy as np
import pytest

import wengert as wg

X = np.linspace(0.3, 1.7, 6)
ORDER = [1, 2, 3, 4, 5, 0]
SCALES = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


def ordered(x):
    total = 0.0
    for k in range(6):
        total = total + x[ORDER[k]] * SCALES[-1 - k] * (k + 1)
    return total


def tree(x, parents):
    found = np.zeros((6, 2, 2))
    for k in range(6):
        local = np.array([[np.cos(x[k]), -np.sin(x[k])], [np.sin(x[k]), np.cos(x[k])]])
        found[k] = local if parents[k] < 0 else found[parents[k]] @ local
    return np.sum(found * np.arange(24.0).reshape(6, 2, 2))


def test_a_loop_is_not_unrolled_for_them():
    lowered = wg.jit(ordered).lower(X)
    assert "loop %k < 6" in lowered.ir
    assert wg.jit(ordered)(X) == pytest.approx(ordered(X), rel=1e-14)
    np.testing.assert_allclose(wg.grad(wg.jit(ordered))(X), wg.grad(ordered)(X), rtol=1e-14)


def test_a_tree_of_products():
    parents = (-1, 0, 0, 1, 3, 2)
    f = lambda x: tree(x, parents)
    assert "loop" in wg.jit(f).lower(X).ir
    assert wg.jit(f)(X) == pytest.approx(f(X), rel=1e-13)
    slopes = wg.grad(f)(X)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), slopes, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.jacobian(f, mode="forward"))(X), slopes, rtol=1e-12)
    h = 1e-6
    steps = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(slopes, steps, rtol=1e-7)


def test_lists_from_outside_may_change_between_calls():
    compiled = wg.jit(ordered)
    before = compiled(X)
    ORDER[0], SCALES[2] = 5, -1.25
    try:
        assert compiled(X) == pytest.approx(ordered(X), rel=1e-14)
    finally:
        ORDER[0], SCALES[2] = 1, 2.5
    assert compiled(X) == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_numbers_are_weak(dtype):
    def f(x):
        scales, shifts = (1.5, 2.5, 3.5, 4.5, 5.5, 6.5), (1, 2, 3, 4, 5, 6)
        for k in range(6):
            x = x * scales[k] + shifts[k]
        return x

    got, expected = wg.jit(f)(X.astype(dtype)), f(X.astype(dtype))
    assert got.dtype == expected.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [float, int, np.float64, np.float32, np.int32])
def test_items_keep_their_class(kind):
    """The numbers of a list, Python's or NumPy's, at a place that data say, and in a loop over them."""
    table = [kind(k * k) for k in range(12)]

    def f(x, limit):
        k = np.argmin(np.abs(x - np.arange(4)))
        while math.hypot(x[0], table[k]) < limit:
            k += 1
        return x * table[k], sum(v * x for v in table), table[-k]

    for limit in (3.0, 20.0):
        x = X[:4].astype(np.float32)
        for got, expected in zip(wg.jit(f)(x, limit), f(x, limit), strict=True):
            assert np.asarray(got).dtype == np.asarray(expected).dtype
            np.testing.assert_allclose(got, expected, rtol=1e-6)
    with pytest.raises(IndexError):
        wg.jit(f)(X[:4], 1e9)


def test_places_out_of_range():
    def f(x):
        total = 0.0
        for k in range(6):
            total = total + (1, 2, 3)[k] * x[k]
        return total

    with pytest.raises(IndexError):
        f(X)
    with pytest.raises(IndexError):
        wg.jit(f)(X)


def test_a_place_that_is_an_argument():
    def f(x, k):
        table = [3, 0, 2]
        return x[table[k]] * table[k - 1]

    for k in range(-2, 3):
        assert wg.jit(f)(X, k) == f(X, k)
    with pytest.raises(IndexError):
        wg.jit(f)(X, 3)


def test_what_is_no_table_is_read_by_python():
    """Numbers of several kinds, truth values, and integers that do not fit into 64 bits."""

    def f(x):
        mixed, flags, large = (1, 2.0, 3, 4, 5.0), (True, False, True, False, True), (1 << 70, 1, 1, 1, 1)
        for k in range(5):
            x = x * mixed[k] + flags[k] + large[k] * 1e-20
        return x

    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-14)


CURVE = [(0.0, 3.0), (0.2, 3.5), (0.5, 3.7), (0.8, 3.9), (1.0, 4.2)]


def between(x):
    i = min(max(bisect.bisect_right([p[0] for p in CURVE], x) - 1, 0), len(CURVE) - 2)
    (x0, y0), (x1, y1) = CURVE[i], CURVE[i + 1]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def walked(x):
    i = 0
    while i + 2 < len(CURVE) and CURVE[i + 1][0] < x:
        i += 1
    x0, y0 = CURVE[i]
    return y0 * x + x0


def named(x):
    name, slope = [("low", 1.0), ("mid", 2.0), ("high", 3.0)][int(3 * x)]
    return slope * x * x if name != "mid" else 10 * x


@pytest.mark.parametrize("f", [between, walked, named])
def test_pairs_of_a_table_are_taken_apart(f):
    for x in (0.1, 0.45, 0.9):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert wg.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
        for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
            assert g(x) == pytest.approx(slope, rel=1e-7)
