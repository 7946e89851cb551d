"""Indices of every kind, and functions that choose, order and look up elements, on traced values."""

import inspect

import numpy as np
import pytest
from cases import check_case, check_error, check_hidden_axis, traced
from harness import OLD_NUMPY, check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from programs import check_program

import wengert as wg
from wengert.box.dispatch import FUNCTIONS
from wengert.errors import InPlaceError
from wengert.ops.op import Traced

MASK = np.array([[True, False, True], [False, True, False]])
WHICH = np.array([[0, 2, 1], [1, 1, 0]])


def _written(x, place):
    """Where a place is written, with what is of its shape."""
    y = x * 1.0
    y[place] = np.sin(x[place]) * np.arange(1.0, 3 * WHICH.size + 1).reshape(x[place].shape)
    return y


CASES = {
    "x[1]": (lambda x: x[1], (2, 3)),
    "x[-1]": (lambda x: x[-1], (3,)),
    "x[1, 2]": (lambda x: x[1, 2], (2, 3)),
    "x[:, 1]": (lambda x: x[:, 1], (2, 3)),
    "x[::-2]": (lambda x: x[::-2], (5,)),
    "x[..., None]": (lambda x: x[..., None], (2, 3)),
    "x[None, 1:, ..., ::2]": (lambda x: x[None, 1:, ..., ::2], (3, 2, 3)),
    "x[()]": (lambda x: x[()], ()),
    "x[...] of 0-d": (lambda x: x[...], ()),
    "x[[0, 0, 2]]": (lambda x: x[[0, 0, 2]], (3, 2)),
    "x[[]]": (lambda x: x[[]], (3, 2)),
    "x[array 2-d]": (lambda x: x[WHICH], (3, 2)),
    "x[:, array]": (lambda x: x[:, [0, -1, 0]], (2, 3)),
    "x[array, array]": (lambda x: x[[0, 1, 1], [2, 0, 0]], (2, 3)),
    "x[array, :, array]": (lambda x: x[[0, 1], :, [1, 1]], (2, 3, 2)),
    "x[:, array, ..., array]": (lambda x: x[:, [0, 1], ..., [1, 1]], (2, 3, 2)),
    "x[None, array, ..., 1]": (lambda x: x[None, [0, 1, 1], ..., 1], (2, 3)),
    "x[:, array 2-d, ..., array], written": (lambda x: _written(x, np.s_[:, WHICH, ..., 1]), (3, 3, 2)),
    "x[0, :, array]": (lambda x: x[0, :, [1, 1]], (2, 3, 2)),
    "x[:, 0, array]": (lambda x: x[:, 0, [1, 1]], (2, 3, 2)),
    "x[array, None, array]": (lambda x: x[[0, 1], None, [1, 1]], (2, 3, 2)),
    "x[ix_]": (lambda x: x[np.ix_([0, 1], [2, 0])], (2, 3)),
    "x[mask]": (lambda x: x[MASK], (2, 3)),
    "x[mask] 1-d": (lambda x: x[:, [True, False, True]], (2, 3)),
    "x[x > …]": (lambda x: x[x > 1.0], (2, 3)),
    "x[mask, None]": (lambda x: x[MASK, None], (2, 3, 2)),
    "x[np.int64]": (lambda x: x[np.int64(1), np.array(2)], (2, 3)),
    "x[True]": (lambda x: x[True], (2, 3)),
    "x[False]": (lambda x: x[False], (2, 3)),
    "x[np.True_] of 0-d": (lambda x: x[np.True_], ()),
    "x[x > 0] of 0-d": (lambda x: x[x > 0], ()),
    "x[..., True]": (lambda x: x[..., True], (2, 3)),
    "x[:, False, 1:]": (lambda x: x[:, False, 1:], (2, 3)),
    "x[True, :, 1]": (lambda x: x[True, :, 1], (2, 3, 2)),
    "x[:, True, [0, 2, 0]]": (lambda x: x[:, True, [0, 2, 0]], (2, 3)),
    "x[True, False]": (lambda x: x[True, False], (2, 3)),
    "iteration": (lambda x: list(x), (2, 3)),
    "item": (lambda x: x.item(4), (2, 3)),
    "take": (lambda x: np.take(x, [0, 4, 4]), (2, 3)),
    "take axis": (lambda x: np.take(x, [[0, -1], [1, 1]], axis=1), (2, 3)),
    "take one": (lambda x: np.take(x, 1, axis=-1), (2, 3)),
    "take wrap": (lambda x: np.take(x, [7, -9], mode="wrap"), (2, 3)),
    "take clip": (lambda x: np.take(x, [7, -9, 1], axis=0, mode="clip"), (2, 3)),
    "take empty": (lambda x: np.take(x, []), (2, 3)),
    "take 0-d": (lambda x: np.take(x, [0, 0]), ()),
    "take method": (lambda x: x.take([0, 2], axis=1), (2, 3)),
    "take_along_axis": (lambda x: np.take_along_axis(x, WHICH, axis=1), (2, 3)),
    "take_along_axis last": (lambda x: np.take_along_axis(x, WHICH[:, :1]), (2, 3)),
    "take_along_axis first": (lambda x: np.take_along_axis(x, WHICH % 2, axis=0), (2, 3)),
    "take_along_axis flat": (lambda x: np.take_along_axis(x, np.array([5, 0]), axis=None), (2, 3)),
    "compress": (lambda x: np.compress([True, False, True], x, axis=1), (2, 3)),
    "compress short": (lambda x: np.compress([0, 1], x), (2, 3)),
    "compress method": (lambda x: x.compress([False, True], axis=0), (2, 3)),
    "compress by itself": (lambda x: np.compress(x > 1.0, x), (6,)),
    "extract": (lambda x: np.extract(MASK, x), (2, 3)),
    "extract by itself": (lambda x: np.extract(x > 1, x), (2, 3)),
    "choose": (lambda x, y: np.choose([0, 1, 1], [x, y]), (3,), (3,)),
    "choose broadcast": (lambda x, y: np.choose([[0, 1], [2, 0]], (x, y, -1.0)), (2,), ()),
    "choose rows": (lambda x: np.choose([1, 0, 1], x), (2, 3)),
    "choose wrap": (lambda x, y: np.choose([5, -1, 2], [x, y], mode="wrap"), (3,), (3,)),
    "choose clip": (lambda x, y: np.choose([5, -1, 2], [x, y], mode="clip"), (3,), (3,)),
    "select": (lambda x: np.select([x < 1, x < 2], [x * x, 3 * x], default=7.0), (6,)),
    "select default": (lambda x, y: np.select([x < 1], [x], y), (6,), ()),
    "select broadcast": (lambda x, y: np.select([x < 1, y < 1], [x, y]), (3, 1), (4,)),
    "piecewise": (lambda x: np.piecewise(x, [x < 1, x >= 2], [lambda v: v * v, lambda v: -v]), (2, 4)),
    "piecewise default": (lambda x: np.piecewise(x, [x < 1, x >= 2], [np.sin, 5.0, lambda v: 1 / v]), (7,)),
    "piecewise one": (lambda x: np.piecewise(x, x < 1, [lambda v: v * v, np.exp]), (7,)),
    "piecewise later wins": (lambda x: np.piecewise(x, [x > 0, x > 1], [np.sin, np.exp]), (7,)),
    "piecewise 0-d": (lambda x: np.piecewise(x, [x > 0], [np.sin]), ()),
    "piecewise arguments": (lambda x: np.piecewise(x, [x > 1], [lambda v, a, b: a * v + b], 2.0, b=1.0), (5,)),
    "where": (lambda x, y: np.where(MASK, x, y), (2, 3), (3,)),
    "where constant": (lambda x: np.where(x > 1, x, 0), (2, 3)),
    "where list": (lambda x: np.where([True, False], x, [1.0, 2.0]), (2,)),
    "where of numbers": (lambda x, y: np.where([0.0, 2.0], x, y), (2,), ()),
    "where of traced numbers": (lambda x, y: np.where(x, x, y), (2,), ()),
    "sort": (lambda x: np.sort(x), (3, 4)),
    "sort axis": (lambda x: np.sort(x, axis=0), (3, 4)),
    "sort flat": (lambda x: np.sort(x, axis=None), (3, 4)),
    "sort kind": (lambda x: np.sort(x, kind="mergesort"), (7,)),
    "sort stable": (lambda x: np.sort(x, stable=True), (7,)),
    "sort empty": (lambda x: np.sort(x), (0,)),
    "sort 3-d": (lambda x: np.sort(x, axis=1), (2, 3, 2)),
    "sorted by argsort": (lambda x: x[np.argsort(-x)], (5,)),
    "partition": (lambda x: np.partition(x, 2)[2], (5,)),
    "partition axis": (lambda x: np.partition(x, 1, axis=0)[1], (3, 4)),
    "partition flat": (lambda x: np.partition(x, (0, -1), axis=None)[[0, -1]], (3, 4)),
    "sort_complex": (lambda x: np.sort_complex(x).real, (4,)),
    "unique": (lambda x: np.unique(x), (2, 3)),
    "unique of equal": (lambda x: np.unique(np.tile(x, 2)), (3,)),
    "unique axis": (lambda x: np.unique(x[[0, 1, 0]], axis=0), (2, 3)),
    "unique index": (lambda x: np.unique(x, return_index=True)[0], (4,)),
    "unique_values": (lambda x: np.sort(np.unique_values(x)), (4,)),
    "unique_all": (lambda x: np.unique_all(x).values, (4,)),
    "union1d": (lambda x, y: np.union1d(x, y), (3,), (2, 2)),
    "setdiff1d": (lambda x: np.setdiff1d(x * [1, 1, 1, 0, 1], [0.0, 7.0]), (5,)),
    "setdiff1d unsorted": (lambda x: np.setdiff1d(x * [1, 1, 1, 0, 1], [0.0, 7.0], assume_unique=True), (5,)),
    "setxor1d": (lambda x, y: np.setxor1d(np.append(x, 0.0), y * [1, 0, 1]), (4,), (3,)),
    "setxor1d unique": (lambda x, y: np.setxor1d(x, y, assume_unique=True), (4,), (3,)),
    "trim_zeros": (lambda x: np.trim_zeros(x * [0, 1, 0, 1, 0, 0]), (6,)),
    "trim_zeros front": (lambda x: np.trim_zeros(x * [0, 1, 0, 1, 0, 0], "f"), (6,)),
    "trim_zeros back": (lambda x: np.trim_zeros(x * [0, 1, 0, 1, 0, 0], trim="B"), (6,)),
    "trim_zeros of zeros": (lambda x: np.trim_zeros(x * 0, "f"), (3,)),
    "trim_zeros 2-d": (lambda x: np.trim_zeros(x * [[0, 0, 0], [0, 1, 1]]), (2, 3)),
    "trim_zeros axis": (lambda x: np.trim_zeros(x * [[0, 0, 0], [0, 1, 1]], axis=-1), (2, 3)),
    "maximum by argmax": (lambda x: x[np.argmax(x)], (5,)),
    "interp x": (lambda x: np.interp(x, [0.0, 1.0, 2.5, 4.0], [1.0, 3.0, -2.0, 0.5]), (7,)),
    "interp fp": (lambda f: np.interp([-1.0, 0.3, 1.7, 9.0], [0.0, 1.0, 2.0], f), (3,)),
    "interp all": (lambda x, p, f: np.interp(x, np.cumsum(p), f), (4,), (3,), (3,)),
    "interp ends": (lambda x, a, b: np.interp(x, [1.0, 1.5], [1.0, 2.0], left=a, right=b), (5,), (), ()),
    "interp number": (lambda x, f: np.interp(x, [0.0, 2.0], f), (), (2,)),
    "interp one point": (lambda x, f: np.interp([0.0, 1.0, 2.0], [1.0], f, left=7.0) * x, (), (1,)),
    "interp period": (lambda x, p, f: np.interp(x, p, f, period=0.9), (4,), (3,), (3,)),
    "interp traced period": (lambda x, f, t: np.interp(x, [0.1, 0.2], f, period=t), (4,), (2,), ()),
    "interp negative period": (lambda x: np.interp(x, [0.1, 0.5], [1.0, 2.0], period=-0.7), (4,)),
    "interp 2-d": (lambda x, f: np.interp(x, [0.0, 1.0, 2.0], f), (2, 3), (3,)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    check_case(*CASES[name], single="period" not in name)


# Shapes that depend on values differ from example to example.
NOT_ALIKE = ("x[x > …]", "compress by itself", "extract by itself")


@pytest.mark.parametrize("name", CASES)
def test_hidden_axis(name):
    if name in NOT_ALIKE:
        with pytest.raises((ValueError, TypeError, AttributeError)):
            check_hidden_axis(*CASES[name])
    else:
        check_hidden_axis(*CASES[name])


# ---------------------------------------------------------------------------------------------------- random indices


@st.composite
def indexed_shapes(draw):
    """A shape and any index that NumPy accepts for it."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=4))
    kind = draw(st.sampled_from(["basic", "integers", "mask", "mixed"]))
    if kind == "basic" or not shape:
        return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    if kind == "integers":
        result = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)
        return shape, draw(hnp.integer_array_indices(shape, result_shape=result))
    if kind == "mask":
        depth = draw(st.integers(1, len(shape)))
        return shape, draw(hnp.arrays(bool, shape[:depth]))
    items = []
    count = draw(st.integers(1, 3))
    for n in shape:
        kinds = ["slice", "int", "array", "newaxis", "mask", "flag"]
        item = draw(st.sampled_from(kinds))
        if item in ("newaxis", "flag"):
            items.append(None if item == "newaxis" else True)
            item = "slice"
        if item == "slice":
            items.append(draw(st.slices(n)))
        elif item == "int":
            items.append(draw(st.integers(-n, n - 1)))
        elif item == "mask":
            mask = np.zeros(n, bool)
            mask[draw(st.integers(0, n - 1))] = True
            items.append(mask)
        else:
            items.append(
                draw(
                    hnp.arrays(np.intp, draw(st.sampled_from([count, 1, (2, count)])), elements=st.integers(-n, n - 1))
                )
            )
    end = draw(st.integers(0, len(items)))
    return shape, (*items[:end], ...) if draw(st.booleans()) else tuple(items)


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(indexed_shapes())
def test_any_index(example):
    shape, idx = example
    x = np.arange(float(np.prod(shape))).reshape(shape) + 1
    check(lambda x: (x * x)[idx], x[()] if shape else np.float64(1), second=False, single=False)


@pytest.mark.parametrize("idx", [3, (0, 3), (0, 0, 0), [0, 5], 1.0, (Ellipsis, Ellipsis), ([0, 1], [0, 1, 2])], ids=str)
def test_bad_indices(idx):
    x = np.ones((2, 3))
    with pytest.raises(IndexError):
        x[idx]
    with pytest.raises(IndexError):
        wg.grad(lambda x: np.sum(x[idx]))(x)


# ------------------------------------------------------------------------------------------------------------ answers


X = np.array([[3.0, 0.0, 2.0], [1.0, 5.0, 2.0]])
ANSWERS = {
    "argwhere": lambda x: np.argwhere(x),
    "nonzero": lambda x: np.nonzero(x),
    "nonzero method": lambda x: x.nonzero(),
    "flatnonzero": lambda x: np.flatnonzero(x),
    "where one argument": lambda x: np.where(x > 1),
    "where one traced argument": lambda x: np.where(x),
    "argsort": lambda x: np.argsort(x),
    "argsort axis": lambda x: np.argsort(x, axis=0, kind="stable"),
    "argsort flat": lambda x: np.argsort(x, axis=None, stable=True),
    "argsort 0-d": lambda x: np.argsort(x[0, 0]),
    "argsort method": lambda x: x.argsort(),
    "argpartition": lambda x: np.argpartition(x[0], 1)[1],
    "lexsort": lambda x: np.lexsort((x[0], x[1])),
    "lexsort rows": lambda x: np.lexsort(x),
    "searchsorted": lambda x: np.searchsorted([1.0, 2.0, 3.0], x, side="right"),
    "searchsorted in traced": lambda x: np.searchsorted(np.sort(x[0]), 1.5),
    "searchsorted method": lambda x: np.sort(x[0]).searchsorted([0.5, 9.0]),
    "searchsorted sorter": lambda x: np.searchsorted(x[0], 1.5, sorter=np.argsort(x[0])),
    "digitize": lambda x: np.digitize(x, [1.0, 2.0], right=True),
    "argmax": lambda x: np.argmax(x),
    "argmax axis": lambda x: np.argmax(x, axis=-1),
    "argmax keepdims": lambda x: np.argmax(x, axis=0, keepdims=True),
    "argmax flat keepdims": lambda x: np.argmax(x, keepdims=True),
    "argmin": lambda x: np.argmin(x, axis=1),
    "argmin method": lambda x: x.argmin(),
    "nanargmax": lambda x: np.nanargmax(np.where(x > 4, np.nan, x), axis=1),
    "nanargmin": lambda x: np.nanargmin(x),
    "count_nonzero": lambda x: np.count_nonzero(x, axis=1),
    "count_nonzero keepdims": lambda x: np.count_nonzero(x, axis=(0, 1), keepdims=True),
    "isin": lambda x: np.isin(x, [2.0, 5.0], invert=True),
    "isin traced": lambda x: np.isin([2.0, 4.0], test_elements=x),
    "unique extras": lambda x: np.unique(x, True, True, True)[1:],
    "unique_counts": lambda x: np.unique_counts(x).counts,
    "unique_inverse": lambda x: np.unique_inverse(x).inverse_indices,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_not_traced(name):
    f = ANSWERS[name]
    found, expected = traced(f, X), f(X)
    assert type(found) is type(expected)
    for a, b in zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]:
        assert not isinstance(a, Traced)
        np.testing.assert_array_equal(a, b)
        assert np.result_type(a) == np.result_type(b)


def test_count_nonzero_of_everything():
    assert traced(np.count_nonzero, X) == 5


# --------------------------------------------------------------------------------------------- where there is choice


def test_ties_in_sort_keep_the_sum_of_the_derivative():
    x = np.array([2.0, 1.0, 2.0, 1.0])
    g = wg.grad(lambda x: np.sum(np.sort(x, stable=True) * [1.0, 2.0, 3.0, 4.0]))(x)
    np.testing.assert_array_equal(g, [3.0, 1.0, 4.0, 2.0])


def test_unique_takes_the_first_of_equal_elements():
    x = np.array([2.0, 1.0, 2.0, 1.0])
    np.testing.assert_array_equal(wg.jacobian(np.unique)(x), [[0, 1, 0, 0], [1, 0, 0, 0]])


def test_sort_puts_nan_last():
    x = np.array([np.nan, 2.0, 1.0])
    np.testing.assert_array_equal(wg.jacobian(np.sort)(x), [[0, 0, 1], [0, 1, 0], [1, 0, 0]])


def test_interp_at_knots_and_outside():
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 1.0])
    x = np.array([-np.inf, -1.0, 0.0, 1.0, 3.0, 4.0, np.inf, np.nan])
    y, slope = wg.jvp(lambda x: np.interp(x, xp, fp), (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(y, np.interp(x, xp, fp))
    np.testing.assert_array_equal(slope[:-1], [0, 0, 2, -0.5, -0.5, 0, 0])
    g = wg.grad(lambda f: np.sum(np.interp(x, xp, f)[:-1]))(fp)
    np.testing.assert_array_equal(g, [3.0, 1.0, 3.0])


def test_interp_with_a_jump():
    xp, fp = [0.0, 1.0, 1.0, 2.0, 2.0], np.array([0.0, 1.0, 5.0, 6.0, 9.0])
    x = np.array([0.5, 1.0, 1.5, 2.0])
    y, slope = wg.jvp(lambda x: np.interp(x, xp, fp), (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(y, np.interp(x, xp, fp))
    np.testing.assert_array_equal(slope, [1, 1, 1, 0])


def test_interp_of_complex_values():
    x, xp, fp = np.array([0.5, 1.7]), np.array([0.0, 1.0, 2.0]), np.array([1j, 2.0, 3 - 1j])
    y, y_dot = wg.jvp(lambda x: np.interp(x, xp, fp), (x,), (np.ones(2),))
    np.testing.assert_allclose(y, np.interp(x, xp, fp))
    np.testing.assert_allclose(y_dot, [2 - 1j, 1 - 1j])


def test_where_does_not_spread_what_it_does_not_select():
    x = np.array([0.0, 4.0])
    with np.errstate(divide="ignore"):
        g = wg.grad(lambda x: np.sum(np.where(x > 0, x, 0.0) * 2.0))(x)
    np.testing.assert_array_equal(g, [0.0, 2.0])


# ------------------------------------------------------------------------------------------------------------- errors

AXIS = np.exceptions.AxisError
ERRORS = {
    "trim_zeros": (lambda x: np.trim_zeros(x[0], "x"), ValueError),
    "take range": (lambda x: np.take(x, 9), IndexError),
    "take float": (lambda x: np.take(x, np.array([1.5])), TypeError),
    "take axis": (lambda x: np.take(x, 0, axis=2), AXIS),
    "take mode": (lambda x: np.take(x, 0, mode="nonsense"), ValueError),
    "take_along_axis rank": (lambda x: np.take_along_axis(x, np.array([0]), axis=1), ValueError),
    "take_along_axis float": (lambda x: np.take_along_axis(x, x, axis=1), IndexError),
    "take_along_axis flat": (lambda x: np.take_along_axis(x, WHICH, axis=None), ValueError),
    "compress range": (lambda x: np.compress([False, False, True], x, axis=0), IndexError),
    "choose range": (lambda x: np.choose([0, 2, 0], x), ValueError),
    "choose negative": (lambda x: np.choose([0, -1, 0], x), ValueError),
    "choose float": (lambda x: np.choose(x, [x, x]), TypeError),
    "select lengths": (lambda x: np.select([x > 1], [x, x]), ValueError),
    "select conditions": (lambda x: np.select([x], [x]), TypeError),
    "piecewise lengths": (lambda x: np.piecewise(x, [x > 1], [1.0, 2.0, 3.0]), ValueError),
    "where two arguments": (lambda x: np.where(MASK, x), ValueError),
    "where shapes": (lambda x: np.where([True, False], x, x), ValueError),
    "sort axis": (lambda x: np.sort(x, axis=2), AXIS),
    "sort 0-d": (lambda x: np.sort(x[0, 0]), AXIS),
    "sort kind": (lambda x: np.sort(x, kind="nonsense"), ValueError),
    "sort kind and stable": (lambda x: np.sort(x, kind="stable", stable=True), ValueError),
    "sort order": (lambda x: np.sort(x, order="a"), ValueError),
    "partition range": (lambda x: np.partition(x, 7), ValueError),
    "argmax axis": (lambda x: np.argmax(x, axis=2), AXIS),
    "argmax empty": (lambda x: np.argmax(x[:0]), ValueError),
    "nonzero 0-d": (lambda x: np.nonzero(x[0, 0]), ValueError),
    "digitize": (lambda x: np.digitize(x, [1.0, 0.0, 2.0]), ValueError),
    "unique axis": (lambda x: np.unique(x, axis=2), AXIS),
    "interp lengths": (lambda x: np.interp(x, [0.0, 1.0], [1.0]), ValueError),
    "interp empty": (lambda x: np.interp(x, [], []), ValueError),
    "interp rank": (lambda x: np.interp(1.0, x, x), ValueError),
    "interp period": (lambda x: np.interp(x, [0.0, 1.0], [1.0, 2.0], period=0), ValueError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_numpy(name):
    check_error(*ERRORS[name], X)


PLAIN = np.zeros(2)
WRITES = {
    "copyto": lambda x: np.copyto(PLAIN, x),
    "place": lambda x: np.place(PLAIN, [True, True], x),
    "putmask": lambda x: np.putmask(PLAIN, [True, False], x),
    "put": lambda x: np.put(PLAIN, [0, 1], x),
    "put_along_axis": lambda x: np.put_along_axis(PLAIN, np.array([0, 1]), x, 0),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing_to_a_plain_array_is_refused_with_a_remedy(name):
    with pytest.raises(InPlaceError, match="remedy: create the array in the differentiated function"):
        traced(WRITES[name], np.ones(2))
    np.testing.assert_array_equal(PLAIN, 0.0)


OUT = {
    "take": lambda x, out: np.take(x, [1, 0], out=out),
    "compress": lambda x, out: np.compress([True, True], x, out=out),
    "choose": lambda x, out: np.choose([0, 0], [x], out=out),
}


@pytest.mark.parametrize("name", OUT)
def test_out(name):
    f = OUT[name]
    check_program(lambda x: [out := np.empty(2), f(x * x, out)][0], np.array([1.5, -0.5]))
    with pytest.raises(InPlaceError, match="out="):
        traced(lambda x: f(x, PLAIN), np.ones(2))
    np.testing.assert_array_equal(PLAIN, 0.0)


def test_an_answer_goes_into_a_plain_array():
    out = np.zeros(2, int)
    traced(lambda x: np.argmax(x, axis=0, out=out), np.array([[1.0, 2.0], [3.0, 1.0]]))
    np.testing.assert_array_equal(out, [1, 0])


MODULES = ("shapes", "queries", "joining", "padding", "indexing", "sorting")
OURS = [f for f, i in FUNCTIONS.items() if i.__module__.split(".")[-1] in MODULES]


@pytest.mark.skipif(OLD_NUMPY, reason="they change from version to version")
@pytest.mark.parametrize("function", OURS, ids=lambda f: f.__name__)
def test_signatures_are_those_of_numpy(function):
    def names(f):
        parameters = inspect.signature(f).parameters.values()
        return [(p.name, p.kind) for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]

    try:
        expected = [(name, kind) for name, kind in names(function) if name != "out"]  # for which `Box` sees to
    except ValueError:
        pytest.skip("NumPy does not tell")
    ours = names(FUNCTIONS[function])
    if ours:  # refusals and questions take anything
        assert ours == expected


PLACES = {
    "unravel_index": lambda k: np.array(np.unravel_index(k, (4, 2, 3))),
    "unravel_index of Fortran": lambda k: np.array(np.unravel_index(k, (4, 2, 3), order="F")),
    "unravel_index of one axis": lambda k: np.unravel_index(k, 30)[0],
    "ravel_multi_index": lambda k: np.ravel_multi_index((k // 6, k % 5), (4, 5)),
    "ravel_multi_index, wrapped and clipped": lambda k: np.ravel_multi_index(
        (k - 9, k - 9), (4, 5), ("wrap", "clip"), "F"
    ),
    "take, clipped": lambda k: np.take(np.arange(7.0) ** 2, k - 5, mode="clip"),
    "take, wrapped": lambda k: np.take(np.arange(7.0) ** 2, k - 5, mode="wrap"),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_that_are_computed(name):
    k = np.array([[0, 7, 13], [23, 2, 11]])
    expected = PLACES[name](k)
    for found in wg.jit(PLACES[name])(k), np.moveaxis(wg.vmap(wg.jit(PLACES[name]))(k), 0, -2):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("k", [24, -1])
def test_places_outside(k):
    for f in (lambda k: np.unravel_index(k, (4, 6))[0], lambda k: np.ravel_multi_index((k, 0), (24, 2))):
        with pytest.raises(ValueError, match=r"out of bounds|invalid entry"):
            wg.jit(f)(np.array(k))


def places_in_a_tuple(x):
    i = np.nonzero(x > 1)
    t, X, k = np.ones(4), np.outer(x, x), int(np.argmax(x))
    t[i] = x[i] * 2
    t[i] += X[i, 2].ravel()
    return np.sum(t) + np.sum(X[[k, 0], [1, k]]) + np.sum(X[(k, 0), 1])


@pytest.mark.parametrize("way", [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_places_that_data_say_in_a_list_or_tuple(way):
    f, x = places_in_a_tuple, np.array([0.5, 2.0, 3.0, 0.1])
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(way(f)(x), slopes, rtol=1e-6)
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
