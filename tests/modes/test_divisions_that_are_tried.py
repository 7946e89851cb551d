"""Divisions of Python's numbers by zero, in a `try`: what the handler does is right, in batches too."""

import numpy as np
import pytest

import wengert as wg


def tried_quotient(x):
    total = 0.0
    for v in x:
        try:
            total += 1 / float(v - x[0])
        except ZeroDivisionError:
            total += 100.0 * x[1]
    return total


def tried_in_a_helper(x):
    def ratio(a, b):
        return a / b

    try:
        return ratio(float(x[1]), float(np.floor(x[0]))) + x[2]
    except ZeroDivisionError:
        return 7 * x[2]


def tried_remainder(x):
    try:
        return float(x[1]) % float(np.floor(x[0])) + x[2]
    except ZeroDivisionError:
        return 7 * x[2]


def tried_power(x):
    try:
        return float(np.floor(abs(x[0]))) ** -1.0 + x[2]
    except ZeroDivisionError:
        return 7 * x[2]


def tried_divmod(x):
    try:
        _, rest = divmod(float(x[1]), float(np.floor(x[0])))
        return rest + x[2]
    except ZeroDivisionError:
        return 7 * x[2]


@pytest.mark.parametrize("f", [tried_quotient, tried_in_a_helper, tried_remainder, tried_power, tried_divmod])
def test_divisions_that_are_tried(f):
    xs = np.array([[0.3, 1.2, -0.7], [1.4, -0.2, 0.9], [2.5, 0.45, 1.7]])
    gradients = [wg.numerical.grad(f)(x) for x in xs]
    for x, gradient in zip(xs, gradients, strict=True):
        np.testing.assert_allclose(wg.grad(f)(x), gradient, atol=1e-5)
        np.testing.assert_allclose(wg.jacfwd(f)(x), gradient, atol=1e-5)
    np.testing.assert_allclose(wg.vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(xs), gradients, atol=1e-5)


def test_divmod_raises_as_python_does():
    with pytest.raises(ZeroDivisionError):
        wg.grad(lambda x: divmod(float(x), 0.0)[1])(2.0)
    with pytest.raises(ZeroDivisionError):
        wg.grad(lambda x: divmod(2.0, float(x))[1])(0.0)
