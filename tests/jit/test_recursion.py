"""Compiled functions that call themselves until data say that it is enough: as in Python, or an error at run time."""

import numpy as np
import pytest

import wengert as wg


def logistic(x):
    """By symmetry, as tables of special functions are used."""
    if x < 0:
        return 1.0 - logistic(-x)
    return 1 / (1 + np.exp(-x))


def rising(x):
    """By a recurrence, from either side."""
    if x < 1:
        return rising(x + 1) / x
    if x > 2:
        return (x - 1) * rising(x - 1)
    return 1 + 0.2 * (x - 1) * (x - 2)


def root(x, guess=1.0):
    better = 0.5 * (guess + x / guess)
    if abs(better - guess) < 1e-8:
        return better
    return root(x, better)


def grown(x):
    return x if x > 100 else grown(1.1 * x)


@pytest.mark.parametrize(("f", "x"), [(logistic, 0.7), (logistic, -0.7), (rising, 3.3), (root, 2.0)])
def test_as_in_python(f, x):
    want = wg.grad(f)(x)
    assert want == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
    assert wg.jit(wg.value_and_grad(f))(x) == pytest.approx((f(x), want), rel=1e-12)
    if f is logistic and x > 0:  # (others take long)
        assert wg.grad(wg.jit(f))(x) == pytest.approx(want, rel=1e-12)
        assert wg.vmap(wg.jit(wg.grad(f)))(np.array([x, 2 * x]))[0] == pytest.approx(want, rel=1e-12)


def test_too_deep():
    fast = wg.jit(grown)
    assert fast(70.0) == grown(70.0)
    with pytest.raises(RuntimeError, match="calls itself more than 8 times in a compiled function: write a loop"):
        fast(1.0)
    assert wg.grad(grown)(1.0) == pytest.approx(grown(1.0))
