"""A branch that is not taken does not spoil the derivative of the one that is."""

import numpy as np
import pytest

import wengert as wg

X = np.array([0.0, 1.0, 4.0, 0.0])

GUARDED = {
    "sqrt": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [0, 0.5, 0.25, 0]),
    "log": (lambda x: np.sum(np.where(x > 0, np.log(x), x)), [1, 1, 0.25, 1]),
    "reciprocal": (lambda x: np.sum(np.where(x != 0, 1 / x, 0.0)), [0, -1, -0.0625, 0]),
    "xlogx": (lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)), [0, 1, 1 + np.log(4), 0]),
    "mask": (lambda x: np.sum(np.sqrt(x)[x > 0]), [0, 0.5, 0.25, 0]),
    "chain": (lambda x: np.sum(np.where(x > 0, np.exp(np.log(x) * 0.5), 0.0)), [0, 0.5, 0.25, 0]),
    "norm": (lambda x: np.sum(np.where(x > 0, (x * x) ** 0.25 / np.sqrt(x), 1.0)), [0, 0, 0, 0]),
    "select": (lambda x: np.sum(np.select([x > 0], [np.sqrt(x)], 0.0)), [0, 0.5, 0.25, 0]),
}


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")
def test_guarded(name):
    f, expected = GUARDED[name]
    np.testing.assert_allclose(wg.grad(f)(X), expected, atol=1e-15)
    np.testing.assert_allclose(wg.jacfwd(f)(X), expected, atol=1e-15)
    second = wg.hvp(f)(X, np.ones(4))
    assert np.all(np.isfinite(second)), second
    np.testing.assert_allclose(second, wg.hvp(f, mode="reverse-reverse")(X, np.ones(4)), atol=1e-14)
    inside = X > 0
    h = 1e-5
    expected_second = (wg.grad(f)(X + h * inside) - wg.grad(f)(X - h * inside)) / (2 * h)
    np.testing.assert_allclose(second[inside], expected_second[inside], rtol=1e-6, atol=1e-8)


def test_an_infinite_derivative_that_is_used_stays_infinite():
    with np.errstate(divide="ignore"):
        assert wg.grad(lambda x: np.sum(np.where(x >= 0, np.sqrt(x), 0.0)))(np.zeros(1))[0] == np.inf
        assert np.isnan(wg.grad(lambda x: np.sum(np.sqrt(x) * 0.0))(np.zeros(1))[0])
