"""Batches of what can be done for one example only: writes into plain arrays, functions that are not followed."""

import math

import numpy as np
import pytest
import scipy.optimize

import wengert as wg

X = np.stack([np.sin(np.arange(5.0)), np.cos(np.arange(5.0))])


def mask_of_an_own_array(x):
    a = x * 1
    a[a > 0.2] *= 0.5
    return a


def places_in_integers(x):
    a = np.zeros(5, int)
    a[x > 0.2] += 1
    a[np.argsort(x)[0]] = 7
    return a * x


def decisions_in_booleans(x):
    a = np.ones(5, bool)
    a[np.argmax(x)] = False
    a[:2] = x[:2] > 0
    return np.where(a, x, 2.0)


def ranks(x):
    order = np.argsort(x)
    rank = np.empty_like(order)
    rank[order] = np.arange(5)
    return rank * x


def places_in_floats(x):
    a = np.arange(5.0)
    a[np.argsort(x)] *= 2
    v = a[1:]
    v[x[1:] > 0] = -1
    return a * x


def counts(x):
    c = np.zeros(3, int)
    np.add.at(c, np.digitize(x, [0.0, 0.5]), 1)
    return c[0] * x


def integers_of_the_batch(x):
    a = (x > 0).astype(int)
    a[0] = a[1] + 3
    a += a
    a[a > 1] = 9
    return a * x


PROGRAMS = [
    mask_of_an_own_array, places_in_integers, decisions_in_booleans, ranks, places_in_floats, counts,
    integers_of_the_batch,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_at_places_that_differ_between_examples(f):
    def total(x):
        return np.sum(f(x) ** 2)

    want = np.stack([f(x) for x in X])
    np.testing.assert_array_equal(wg.vmap(f)(X), want)
    assert wg.vmap(f)(X).dtype == want.dtype
    gradients = np.stack([wg.grad(total)(x) for x in X])
    np.testing.assert_allclose(wg.vmap(wg.grad(total))(X), gradients, rtol=1e-14)
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(wg.vmap(total)(x)))(X), gradients, rtol=1e-14)


def test_functions_that_want_plain_arrays():
    def histogram(x):
        return np.histogram(x, 3)[0]

    def assigned(x):
        return scipy.optimize.linear_sum_assignment(np.subtract.outer(x, x) ** 2 + np.arange(5))[1]

    for f in (histogram, assigned):
        np.testing.assert_array_equal(wg.vmap(f)(X), [f(x) for x in X])


def test_a_float_with_a_derivative_is_not_written_into_integers():
    def f(x):
        a = np.zeros(5, int)
        a[0] = x[0]
        return np.sum(a * x)

    with pytest.raises(wg.errors.InPlaceError, match="cannot hold its derivative"):
        wg.vmap(wg.grad(f))(X)
    np.testing.assert_array_equal(wg.vmap(f)(X), [f(x) for x in X])


@pytest.mark.parametrize("layout", ["C", "F", "reversed", "gaps"])
def test_examples_lie_in_memory_as_they_did(layout):
    """Whether `ravel` gives a view is up to that."""

    def f(a):
        v = np.ravel(a)
        v[1] /= 2.0
        return np.sum(a) * (3 if a[0, 0] > 100 else 1)

    def batch():
        a = np.stack([np.arange(12.0).reshape(3, 4), 200 + np.arange(12.0).reshape(3, 4)])
        if layout == "F":
            return a.swapaxes(1, 2).copy().swapaxes(1, 2)
        if layout == "reversed":
            return a[:, ::-1].copy()[:, ::-1]
        return np.repeat(a, 2, axis=2)[:, :, ::2] if layout == "gaps" else a

    np.testing.assert_array_equal(wg.vmap(f)(batch()), [f(a) for a in batch()])


def _root_or_square(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return x * x


def _logarithm_or_square(x):
    try:
        y = _logarithm(x - 0.5)
    except ValueError:
        y = x * x
    return y


def _logarithm(x):
    return math.log(x)


def _exponential_or_square(x):
    try:
        return math.exp(x * 1000)
    except OverflowError:
        return x * x


@pytest.mark.parametrize("f", [_root_or_square, _logarithm_or_square, _exponential_or_square])
def test_failures_that_are_caught_for_some_examples(f):
    x = np.array([-0.5, 0.5, 2.0])
    np.testing.assert_allclose(wg.vmap(f)(x), [f(float(t)) for t in x], rtol=1e-15)
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(x), [wg.grad(f)(float(t)) for t in x], rtol=1e-15)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(x), [f(float(t)) for t in x], rtol=1e-14)
