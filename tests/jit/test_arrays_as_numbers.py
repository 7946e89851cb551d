"""`float`, `int`, `complex`, `math` and `round` of arrays that are no single number raise as in NumPy, compiled too."""

import math

import numpy as np
import pytest

import wengert as wg

CONVERSIONS = {
    "float": float,
    "int": int,
    "complex": lambda x: complex(x).real,
    "math.sin": math.sin,
    "math.floor": math.floor,
    "math.hypot": lambda x: math.hypot(x, 1.0),
    "round": round,
}
OF_ARRAYS = [np.arange(1.0, 5.0), np.ones((2, 2)), np.ones(1)]


def outcome(f, x):
    try:
        return float(f(x))
    except TypeError:
        return TypeError


@pytest.mark.parametrize("name", CONVERSIONS)
def test_what_numpy_refuses_is_refused(name):
    def f(x):
        return CONVERSIONS[name](x) * 1.0

    for x in OF_ARRAYS:
        want = outcome(f, x)
        assert outcome(wg.jit(f), x) == want
        assert outcome(lambda x, f=f: wg.jit(lambda x: wg.jvp(f, (x,), (x,))[0])(x), x) == want


def test_a_try_around_it():
    def as_vector(x):
        try:
            return np.array([float(x), 0.0, 0.0, 0.0])
        except TypeError:
            pass
        return x * 2.0

    x = np.arange(1.0, 5.0)
    np.testing.assert_array_equal(wg.jit(as_vector)(x), 2 * x)
    np.testing.assert_array_equal(wg.grad(wg.jit(lambda x: as_vector(x).sum()))(x), np.full(4, 2.0))
    np.testing.assert_array_equal(wg.jit(as_vector)(3.0), [3.0, 0.0, 0.0, 0.0])
