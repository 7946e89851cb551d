"""`searchsorted` and its kin, masks and convolutions in native code: NumPy's answers, and no way back to Python."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RegularGridInterpolator

import wengert as wg


def is_native(f, *args):
    """No node of the compiled program calls Python."""
    return "callback" not in [how for _, how in wg.jit(f).lower(*args).report]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_places_in_sorted_arrays(dtype, rng):
    """With elements that are there several times, between, before and behind all."""

    def places(a, v):
        return np.searchsorted(a, v), np.searchsorted(a, v, side="right"), np.searchsorted(a, v[0, 0], "right")

    compiled = wg.jit(places)
    for n in (1, 2, 3, 7, 8, 9):
        a = np.sort(rng.integers(1, 9, n)).astype(dtype)
        v = rng.integers(0, 11, (5, 3)).astype(dtype)
        for found, want in zip(compiled(a, v), places(a, v), strict=True):
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found, want)
    assert is_native(places, a, v)


def test_what_is_no_number_comes_last():
    a = np.array([-np.inf, 0.0, 1.0, np.inf, np.nan, np.nan])
    v = np.array([np.nan, np.inf, -np.inf, 0.0, 0.5])
    for side in ("left", "right"):
        np.testing.assert_array_equal(
            wg.jit(lambda a, v, side=side: np.searchsorted(a, v, side))(a, v), np.searchsorted(a, v, side)
        )


def test_arrays_of_different_types_and_a_sorter(rng):
    a = rng.integers(0, 9, 6)
    v = rng.normal(size=4) * 3 + 4
    order = np.argsort(a)
    np.testing.assert_array_equal(
        wg.jit(lambda v: np.searchsorted(a, v, sorter=order))(v), np.searchsorted(a, v, sorter=order)
    )
    with pytest.raises(ValueError, match="side"):
        wg.jit(lambda v: np.searchsorted(a[order], v, side="middle"))(v)


def test_bins_that_rise_and_fall(rng):
    x = rng.uniform(-1, 6, 20)
    x[:6] = np.arange(6)
    for bins in (np.arange(5.0), np.arange(5.0)[::-1]):
        for right in (False, True):

            def places(x, bins=bins, right=right):
                return np.digitize(x, bins, right)

            np.testing.assert_array_equal(wg.jit(places)(x), places(x))
    with pytest.raises(ValueError, match="monotonically"):
        wg.jit(lambda x: np.digitize(x, np.array([0.0, 2.0, 1.0])))(x)


def test_examples_with_arrays_of_their_own(rng):
    """Every placement of the hidden axis, and two of them."""
    a, v = np.sort(rng.normal(size=(2, 3, 5))), rng.normal(size=(2, 3, 4))
    want = np.array([[np.searchsorted(a[i, j], v[i, j]) for j in range(3)] for i in range(2)])
    np.testing.assert_array_equal(wg.vmap(wg.vmap(np.searchsorted))(a, v), want)
    np.testing.assert_array_equal(wg.jit(wg.vmap(wg.vmap(np.searchsorted)))(a, v), want)
    shared = wg.vmap(lambda x: np.searchsorted(x, v[0, 0]))(a[0])
    np.testing.assert_array_equal(shared, [np.searchsorted(x, v[0, 0]) for x in a[0]])
    mixed = wg.vmap(lambda y: wg.vmap(lambda x: np.searchsorted(x, y))(a[0]))(v[0])
    np.testing.assert_array_equal(mixed, [[np.searchsorted(x, y) for x in a[0]] for y in v[0]])


def test_interpolation_in_tables(rng):
    """Slopes are those of the pieces."""
    t = np.sort(rng.uniform(0, 4, 7))
    y = rng.normal(size=7)
    x = 0.5 * (t[1:] + t[:-1])

    def total(x):
        return np.sum(np.interp(x, t, y))

    np.testing.assert_allclose(wg.jit(wg.grad(total))(x), np.diff(y) / np.diff(t), rtol=1e-12)
    assert is_native(wg.grad(total), x)
    spline = CubicSpline(t, y)
    np.testing.assert_allclose(wg.jit(wg.grad(lambda x: np.sum(spline(x))))(x), spline(x, 1), rtol=1e-9)
    grid = RegularGridInterpolator((t, t), np.add.outer(y, 2 * t), bounds_error=False)
    slopes = wg.jit(wg.grad(lambda p: np.sum(grid(p))))(np.stack([x, x], 1))
    np.testing.assert_allclose(slopes, np.stack([np.diff(y) / np.diff(t), np.full(6, 2.0)], 1), rtol=1e-9)


@pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 3, 2), (0,), (2, 0)])
def test_masks(shape, rng):
    def selected(x):
        return x[x > 0.5], np.flatnonzero(x > 0.2), *np.nonzero(x > 0)

    for x in (rng.normal(size=shape), np.full(shape, -1.0), np.full(shape, 2.0), rng.normal(size=shape[::-1]).T):
        for found, want in zip(wg.jit(selected)(x), selected(x), strict=True):
            np.testing.assert_array_equal(found, want)
    assert is_native(selected, x)


def test_gradient_of_a_selection_in_a_loop(rng):
    x = rng.normal(size=6)

    def f(x):
        total = 0.0
        for k in range(6):
            total = total + np.sum(x[x > 0.3 * k - 1] ** 2)
        return total

    want = sum([2 * x * (x > 0.3 * k - 1) for k in range(6)])
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), want, rtol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 1), (5, 3), (3, 5), (70, 9)])
def test_convolutions(n, m, rng):
    """Where one is 1, its neighbours are counted: sums of the other."""
    a, v = rng.normal(size=n), rng.normal(size=m)

    def products(a, v):
        return [np.convolve(a, v, mode) for mode in ("full", "same", "valid")] + [np.correlate(a[::-1], v, "full")]

    for found, want in zip(wg.jit(products)(a, v), products(a, v), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13)
    assert is_native(products, a, v)
    ones = wg.jit(wg.grad(lambda a, v: np.sum(np.convolve(a, v)), argnums=(0, 1)))(a, v)
    np.testing.assert_allclose(ones[0], np.full(n, v.sum()), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ones[1], np.full(m, a.sum()), rtol=1e-10, atol=1e-12)
