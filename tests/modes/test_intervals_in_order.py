"""Orders and pieces that intervals leave open: what is read in them is enclosed all the same, and tightly."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.errors import UndecidedError

RNG = np.random.default_rng(5)
MIDDLE = RNG.normal(size=(7, 3))
BOX = wg.interval(MIDDLE - 0.4, MIDDLE + 0.4)
ORDERED = {
    "sort": lambda x: np.sort(x, axis=0),
    "sort rows": lambda x: np.sort(x),
    "sort all": lambda x: np.sort(x, axis=None),
    "median": lambda x: np.median(x),
    "median of columns": lambda x: np.median(x, axis=0),
    "quantile": lambda x: np.quantile(x, [0.1, 0.3, 0.77], axis=0),
    "percentile": lambda x: np.percentile(x, 30, method="nearest"),
    "spread of the ranks": lambda x: np.sort(x, axis=0)[5] - np.sort(x, axis=0)[1],
}
KNOTS = np.array([-1.0, -0.25, 0.0, 0.5, 2.0])
HEIGHTS = np.array([1.0, -2.0, 0.5, 3.0, -1.0])
PIECES = {
    "interp": lambda x: np.interp(x, KNOTS, HEIGHTS),
    "with values beyond": lambda x: np.interp(x, KNOTS, HEIGHTS, left=9.0, right=-9.0),
    "periodic": lambda x: np.interp(x, KNOTS, HEIGHTS, period=3.0),
}


@pytest.mark.parametrize("name", [*ORDERED, *PIECES])
@pytest.mark.parametrize("around", [wg.enclose, wg.jit], ids=["eager", "compiled"])
def test_values_are_contained(name, around):
    f = {**ORDERED, **PIECES}[name]
    y = around(f)(BOX)
    for _ in range(200):
        value = f(RNG.uniform(BOX.lo, BOX.hi))
        assert np.all((y.lo <= value + 1e-13) & (value - 1e-13 <= y.hi))


@pytest.mark.parametrize("name", [n for n in ORDERED if n.startswith(("sort", "median"))])
def test_bounds_are_those_of_the_bounds(name):
    y = wg.enclose(ORDERED[name])(BOX)
    np.testing.assert_allclose(y.lo, ORDERED[name](BOX.lo), rtol=1e-15)
    np.testing.assert_allclose(y.hi, ORDERED[name](BOX.hi), rtol=1e-15)


def test_the_range_of_a_function_of_straight_pieces_is_exact():
    y = wg.enclose(PIECES["interp"])(wg.interval(np.array([-0.5, 0.1, -3.0, 3.0]), np.array([0.25, 0.2, 3.0, 4.0])))
    np.testing.assert_allclose(y.lo, [-2.0, 1.0, -2.0, -1.0], rtol=1e-15)
    np.testing.assert_allclose(y.hi, [1.75, 1.5, 3.0, -1.0], rtol=1e-15)


def test_mean_value_forms_know_where_pieces_jump():
    f = PIECES["with values beyond"]
    y = wg.enclose(f, method="mean-value")(wg.interval(1.9, 2.1))
    assert y.lo <= -9.0
    assert y.hi >= f(1.9)


def test_derivatives_need_a_certain_order():
    with pytest.raises(UndecidedError):
        wg.grad(lambda x: np.sort(x, axis=None)[3])(BOX)
    apart = wg.interval(np.array([3.0, 1.0, 2.0]), np.array([3.5, 1.5, 2.5]))
    y = wg.jacobian(lambda x: np.sort(x) ** 2)(apart)
    np.testing.assert_allclose(y.hi, [[0, 3, 0], [0, 0, 5], [7, 0, 0]], atol=1e-300)


@pytest.mark.parametrize(("method", "order"), [("mean-value", 1), ("taylor", 3)])
def test_centred_forms_are_natural_ones_where_the_derivative_is_open(method, order):
    f = ORDERED["spread of the ranks"]
    y, direct = wg.enclose(f, method=method, order=order)(BOX), wg.enclose(f)(BOX)
    np.testing.assert_array_equal(y.lo, direct.lo)
    np.testing.assert_array_equal(y.hi, direct.hi)


def test_minimum_of_a_median():
    """The second smallest distance from 1, 2 and 3 is least halfway between two of them."""
    found = wg.verified_minimum(lambda x: np.median(np.abs(x - np.array([1.0, 2.0, 3.0]))), wg.interval(0.0, 4.0))
    assert 0.5 in found.value
    assert found.value.width < 1e-8
    assert all(any(x in box for box in found.boxes) for x in (1.5, 2.5))


def test_questions_that_intervals_leave_open():
    for question in (lambda x: np.lexsort((x,)), lambda x: np.digitize(1.0, x[:1] * np.arange(1.0, 3.0))):
        with pytest.raises(UndecidedError, match="a question about the values of an interval that is not one number"):
            wg.enclose(question)(wg.interval([0.1, 0.2], [0.3, 0.4]))
