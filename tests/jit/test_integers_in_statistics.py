"""Functions of integer arrays in compiled code: the values, and the types, that NumPy gives. Lengths that depend on the
values are found when the program runs."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

A = np.array([[3, 1, 2, 1], [0, 5, 4, 0], [1, 1, 0, 7]])
LEVELS = np.array([0.2, 0.75])
PROGRAMS = {
    "quantile": lambda x: np.quantile(x, 0.3),
    "percentile": lambda x: np.percentile(x, 30, axis=0),
    "levels from outside": lambda x: np.quantile(x, LEVELS, axis=1),
    "lower": lambda x: np.quantile(x, 0.4, method="lower"),
    "median": lambda x: np.median(x, axis=0),
    "sum of some type": lambda x: np.sum(x, dtype=np.int8),
    "running sum": lambda x: np.cumsum(x * 40, dtype=np.int8),
    "product": lambda x: np.prod(x + 1, dtype=np.int16),
    "stretches": lambda x: np.add.reduceat(x.ravel(), [0, 2, 7]),
    "sum": lambda x: sum(x.ravel()),
    "distinct": lambda x: np.unique(x),
    "how often": lambda x: np.unique(x, return_counts=True)[1],
    "where": lambda x: np.argwhere(x),
    "without": lambda x: np.setdiff1d(x, [1]),
    "counts": lambda x: np.bincount(x[0].astype(int), minlength=3),
    "weighted counts": lambda x: np.bincount(x[0].astype(int), weights=x[1] * 0.5),
    "divisors": lambda x: np.gcd(x.astype(int), 6) + np.lcm(x.astype(int), 4),
    "derivative": lambda x: np.polyder(x[0]),
    "integral": lambda x: np.polyint(x[1]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_integers(name):
    f = PROGRAMS[name]
    for dtype in (np.int64, np.int8, np.uint8, np.float32):
        compiled = wg.jit(f)
        for x in (A, A * 9, A[::-1] % 2):
            got, right = np.asarray(compiled(x.astype(dtype))), np.asarray(f(x.astype(dtype)))
            assert got.dtype == right.dtype
            np.testing.assert_allclose(got, right, rtol=1e-6)


def test_levels_that_are_arguments(rng):
    x, q = rng.normal(size=7), np.array([0.3, 0.62])
    f = lambda x, q: np.sum(np.quantile(x, q) ** 2)
    steps = 1e-6 * np.eye(2)
    right = [(f(x, q + h) - f(x, q - h)) / 2e-6 for h in steps]
    for g in (wg.grad(f, argnums=1), wg.jit(wg.grad(f, argnums=1)), wg.grad(wg.jit(f), argnums=1)):
        np.testing.assert_allclose(g(x, q), right, rtol=1e-7)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x, q), wg.grad(f)(x, q), rtol=1e-12)
    with pytest.raises(ValueError, match="must be in the range"):
        wg.jit(f)(x, q + 1)


def test_weights_of_counts_have_derivatives():
    places = np.array([2, 0, 2, 1])
    f = lambda w, places: np.sum(np.bincount(places, weights=w**2) ** 2)
    w = np.array([0.3, 1.2, -0.7, 2.0])
    right = wg.grad(f)(w, places)
    np.testing.assert_allclose(right, 4 * w * np.bincount(places, weights=w**2)[places])
    np.testing.assert_allclose(wg.jit(wg.grad(f))(w, places), right, rtol=1e-12)
    np.testing.assert_allclose(wg.grad(wg.jit(f))(w, places), right, rtol=1e-12)
