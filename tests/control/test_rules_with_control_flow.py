"""Reverse rules of users that branch and loop over what they kept, in compiled functions."""

import numpy as np
import pytest

import wengert as wg


@wg.custom_vjp
def wave(x, a):
    return np.sin(a * x)


def kept(x, a):
    return np.sin(a * x), (x, a)


def pulled(kept, ct):
    """cos(a x) as an integral of −sin, in as many pieces as the values say."""
    x, a = kept
    end = a * x
    if end > 1:
        slope = np.cos(end)
    else:
        slope = 1 - wg.grad(lambda u: u - np.sin(u))(end)
    doubled, count = 1.0, 0
    while doubled < end:
        doubled = doubled + wg.grad(lambda u: u * u / 2)(a)
        count = count + 1
    for _ in range(3):
        if doubled > 100:
            slope = slope * x
    return a * slope * ct, x * slope * ct


wave.defvjp(kept, pulled)


@pytest.mark.parametrize("x", [0.3, 1.1])
def test_of_compiled_functions(x):
    """sin(2 x²) and its derivatives."""
    f = lambda x: wave(x, 2 * x)
    first = 4 * x * np.cos(2 * x * x)
    for derive in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.grad(wg.jit(lambda x: wg.jit(f)(x)))):
        assert derive(x) == pytest.approx(first)
    second = 4 * np.cos(2 * x * x) - 16 * x * x * np.sin(2 * x * x)
    assert wg.grad(wg.grad(wg.jit(f)))(x) == pytest.approx(second)
