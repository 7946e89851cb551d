"""Slices whose bounds are read from arrays: what is worked out once is not worked out again, kept or compared."""

import numpy as np
import pytest

import wengert as wg

DATA = np.random.default_rng(1).normal(size=12)
PLACES = np.array([3, 0, 5, 5, 1, 7, 2, 2, 6, 4, 1, 0])
X = np.random.default_rng(2).normal(size=8)


def rows(data, x, places, ends):
    y = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        low, high = ends[i], ends[i + 1]
        y[i] = np.dot(data[low:high], x[places[low:high]])
    return np.sum(y**2)


def overlapping(data, x, places, ends):
    total = 0.0
    for i in range(len(ends) - 1):
        part = np.sin(data[ends[i] : ends[i + 1]])[1:]
        total = total + np.sum(part**2) * x[i]
    return total


@pytest.mark.parametrize("function", [rows, overlapping])
@pytest.mark.parametrize("ends", [[0, 3, 3, 7, 12], [5, 2, 9, 4, 30], [-4, -1, 3, -12, -3], [-40, 4, 40, 2, -2]])
def test_any_bounds(function, ends):
    """Empty, backward, negative and outside of the array."""
    ends = np.array(ends)
    compiled = wg.jit(wg.grad(function, (0, 1)))
    for got, expected in zip(
        compiled(DATA, X, PLACES, ends), wg.grad(function, (0, 1))(DATA, X, PLACES, ends), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(wg.jit(function)(DATA, X, PLACES, ends), function(DATA, X, PLACES, ends), rtol=1e-12)


def test_bounds_are_computed_again_and_once():
    """Of a sparse product row by row nothing is kept, and bounds are clipped once in each loop."""
    text = wg.jit(wg.grad(rows, (0, 1))).lower(DATA, X, PLACES, np.array([0, 3, 3, 7, 12])).ir
    assert "yield" not in text
    assert text.count("minimum(") <= 5
