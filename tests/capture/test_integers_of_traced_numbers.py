"""`int(x)`, `math.floor(x)` and their like of what is differentiated: constant between jumps."""

import math
import warnings

import numpy as np
import pytest

import wengert as wg


def terms(x):
    total = 0.0
    for k in range(int(x + 4.05 * x**0.33333 + 2.0)):
        total = total + x**k / math.factorial(k)
    return total


def reads(x):
    table = np.array([1.0, 4.0, 9.0, 16.0])
    k = int(x)
    return table[k] + (table[k + 1] - table[k]) * (x - k)


def zones(x):
    return (math.floor(x) + math.ceil(x) * 2 + math.trunc(-x)) * x


@pytest.mark.parametrize("f", [terms, reads, zones], ids=lambda f: f.__name__)
def test_slopes(f):
    for x in (1.3, 2.6):
        want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(wg.grad(f)(x), want, rtol=1e-7)
        np.testing.assert_allclose(wg.jvp(f, (x,), (1.0,))[1], want, rtol=1e-7)
    xs = np.array([1.3, 2.6])
    np.testing.assert_allclose(wg.vmap(f)(xs), [f(1.3), f(2.6)], rtol=1e-13)
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(xs), [wg.grad(f)(1.3), wg.grad(f)(2.6)], rtol=1e-13)


def test_what_python_raises():
    for bad, error in ((np.nan, ValueError), (np.inf, OverflowError)):
        with pytest.raises(error):
            wg.grad(lambda x: x * int(x))(bad)


def test_a_constant_result_is_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert wg.grad(lambda x: float(int(x)))(2.5) == 0.0
    assert any("constant" in str(w.message) for w in caught)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.int8, np.uint8, np.bool_])
def test_integers_of_numpy(kind):
    """A number's, and those of an array: constant between jumps, as `x.astype(kind)` is."""
    x = np.array([1.7, 0.0, 5.2])

    def f(x):
        return x[0] * kind(x[2]) + np.sum(x * kind(x)) + x[kind(x[0]).astype(int)]

    expected = np.array([kind(x[2]), 0, 0]) + kind(x) + np.eye(3)[1]
    for slope in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda x: wg.vmap(wg.grad(f))(x[None])[0]):
        np.testing.assert_array_equal(slope(x), expected)
    assert wg.jit(lambda x: kind(x[2]))(x) == kind(x[2])


def test_parts_of_a_float_and_sums_of_nothing_have_integers_of_python():
    for way in (lambda f: f, wg.jit):
        fraction, exponent = way(lambda x: math.frexp(x))(6.0)
        assert (fraction, exponent) == (0.75, 3)
        assert np.asarray(exponent).dtype == np.int64
        assert np.asarray(way(lambda x: sum(x[:0]))(np.ones(3))).dtype == np.int64
        assert way(lambda x: sum(x[:0], 1.5))(np.ones(3)) == 1.5
