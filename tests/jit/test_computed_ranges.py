"""Loops over ranges whose bounds are data, in every order and company."""

import numpy as np
import pytest

import wengert as wg


def backwards(x, n):
    s = 0.0
    for i in reversed(range(n)):
        s = s * 0.5 + x[i] * i
    return s


def numbered(x, n):
    s = 0.0
    for k, i in enumerate(range(n, 5)):
        s = s * 0.5 + x[i] * k
    return s


def in_pairs(x, n):
    s = 0.0
    for i, v in zip(reversed(range(n)), x, strict=False):
        s = s * 0.5 + x[i] * v
    return s


def kept_in_a_name(x, n):
    places = reversed(range(n))
    s = 0.0
    for i in places:
        s = s + np.sin(x[i]) * i
    return s


@pytest.mark.parametrize("f", [backwards, numbered, in_pairs, kept_in_a_name])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_values_and_gradients(f, n):
    x = np.array([0.3, -0.7, 1.1, 0.4, 2.0])
    np.testing.assert_allclose(wg.jit(f)(x, n), f(x, n), rtol=1e-14)
    expected = wg.grad(f)(x, n)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x, n), expected, rtol=1e-13)
    np.testing.assert_allclose(wg.grad(wg.jit(f))(x, n), expected, rtol=1e-13)
