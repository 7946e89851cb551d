"""A maximum that is subtracted before exponentials: where its derivative cancels, it is not computed."""

import numpy as np
import pytest
import scipy.special

import wengert as wg

RANDOM = np.random.default_rng(7)
MATRIX = RANDOM.normal(size=(5, 7)) * 3


def by_hand(x, axis=None, keepdims=True):
    highest = np.max(x, axis=axis, keepdims=keepdims)
    return np.log(np.sum(np.exp(x - highest), axis=axis, keepdims=keepdims)) + highest


def flat(x):
    highest = np.max(x)
    return np.log(np.sum(np.exp(x - highest))) + highest


def columns(x):
    highest = np.max(x, axis=0)
    return np.sum(np.log(np.sum(np.exp(x - highest), axis=0)) + highest)


def rows(x):
    return np.sum(by_hand(x, 1))


def weighted_rows(x, w):
    return np.sum(w * by_hand(x, 1)[:, 0])


def scaled(x):
    return -3.0 * flat(x) + 0.5 * np.sum(x**2)


def cross_entropy(x, y):
    """Of logits, with a log-softmax that is written by hand."""
    lead = x - np.max(x, axis=1, keepdims=True)
    logs = lead - np.log(np.sum(np.exp(lead), axis=1, keepdims=True))
    return -np.sum(y * logs)


def softmax(x, w):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum(w * (e / np.sum(e, axis=-1, keepdims=True)))


def shares_of(f, *args) -> int:
    return wg.jit(wg.grad(f)).lower(*args).ir.count("shares(")


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (flat, (MATRIX,), scipy.special.softmax(MATRIX)),
        (flat, (MATRIX[0],), scipy.special.softmax(MATRIX[0])),
        (columns, (MATRIX,), scipy.special.softmax(MATRIX, axis=0)),
        (rows, (MATRIX,), scipy.special.softmax(MATRIX, axis=1)),
        (scaled, (MATRIX,), MATRIX - 3 * scipy.special.softmax(MATRIX)),
        (
            weighted_rows,
            (MATRIX, np.arange(5.0)),
            np.arange(5.0)[:, None] * scipy.special.softmax(MATRIX, axis=1),
        ),
        (
            cross_entropy,
            (MATRIX, np.eye(5, 7)),
            scipy.special.softmax(MATRIX, axis=1) - np.eye(5, 7),
        ),
    ],
)
def test_what_cancels_is_not_computed(f, args, expected):
    assert shares_of(f, *args) == 0
    np.testing.assert_allclose(wg.jit(wg.grad(f))(*args), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(wg.grad(f)(*args), expected, rtol=1e-13, atol=1e-14)


def test_single_precision_stays():
    x = MATRIX.astype(np.float32)
    found = wg.jit(wg.grad(flat))(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, scipy.special.softmax(x), rtol=1e-5)


def test_a_softmax_by_hand():
    w = RANDOM.normal(size=MATRIX.shape)
    s = scipy.special.softmax(MATRIX, axis=1)
    expected = s * (w - np.sum(s * w, axis=1, keepdims=True))
    np.testing.assert_allclose(wg.jit(wg.grad(softmax))(MATRIX, w), expected, rtol=1e-12, atol=1e-14)


def test_second_derivatives():
    x = MATRIX[0]
    s = scipy.special.softmax(x)
    expected = np.diag(s) - np.outer(s, s)
    np.testing.assert_allclose(wg.jit(wg.hessian(flat))(x), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(wg.hessian(wg.jit(flat))(x), expected, rtol=1e-12, atol=1e-14)


def without(x):
    """The maximum does not come back: it has a derivative."""
    return np.log(np.sum(np.exp(x - np.max(x))))


def twice(x):
    return flat(x) + np.max(x)


def half(x):
    highest = np.max(x)
    return np.log(np.sum(np.exp(x - highest))) + 0.5 * highest


def of_another_axis(x):
    """Not the maximum of what is summed."""
    e = np.exp(x - np.max(x, axis=0, keepdims=True))
    return np.sum(np.log(np.sum(e, axis=1)))


def squared(x):
    highest = np.max(x)
    return np.log(np.sum(np.exp(x - highest) ** 2)) + highest


@pytest.mark.parametrize("f", [without, twice, half, of_another_axis, squared])
def test_what_does_not_cancel_is_computed(f):
    x = np.round(MATRIX)  # with ties
    assert shares_of(f, x) == 1
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("f", "extra"), [(rows, 0), (cross_entropy, 1)])
def test_what_is_not_a_number_is_not_one_in_the_same_places(f, extra, number):
    x = MATRIX.copy()
    x[2, 3] = number
    more = (np.eye(5, 7),) * extra
    with np.errstate(all="ignore"):
        expected = wg.grad(f)(x, *more)
        found = wg.jit(wg.grad(f))(x, *more)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_numbers(number):
    w = np.arange(5.0)
    w[1] = number
    with np.errstate(all="ignore"):
        expected = wg.grad(weighted_rows)(MATRIX, w)
        found = wg.jit(wg.grad(weighted_rows))(MATRIX, w)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[2:]).all()
