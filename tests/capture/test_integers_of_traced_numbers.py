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
