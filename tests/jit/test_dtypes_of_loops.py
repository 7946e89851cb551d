"""A loop that makes a variable wider: with no iteration it has the dtype that it had before."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([1.0, 2.0], np.float32)


def widening(x, n):
    for _ in range(n):
        x = x * np.float64(2)
    return x


def offset(x, n):
    for i in range(1, n + 1):
        x = x + np.full(2, 0.5 * i)
    return x


@pytest.mark.parametrize("f", [widening, offset])
@pytest.mark.parametrize("n", [0, 1, 3, 20, -2])
def test_number_of_iterations_is_an_argument(f, n):
    got, want = wg.jit(f)(X, n), f(X, n)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_one_compiled_function_for_all():
    f = wg.jit(widening)
    for n in (0, 3, 0, 20, 1, 3):
        got, want = f(X, n), widening(X, n)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    value, pullback = wg.vjp(lambda x: f(x, 3), X)
    assert value.dtype == np.float64
    np.testing.assert_array_equal(pullback(np.ones(2))[0], np.full(2, 8, np.float32))


def test_the_first_iteration_is_as_narrow_as_it_is():
    """Known to run: the first iteration computes in single precision, as in NumPy."""

    def f(x):
        for _ in range(20):
            x = (x + x / np.float32(3)) * np.float64(0.9)
        return x

    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-14)


def test_numbers_of_python_are_weak():
    def f(x, n):
        s = 0
        for i in range(n):
            s = s + x[i % 2] * 0.5
        return s

    assert wg.jit(f)(X, 3) == f(X, 3)
    assert wg.jit(f)(X, 3).dtype == np.float32


def test_what_is_known_only_at_run_time_is_refused():
    def by_data(x):
        y = x
        while y[0] < 10:
            y = y * np.float64(2)
        return y

    with pytest.raises(StagingError, match="float32 before a loop and of type float64"):
        wg.jit(by_data)(X)

    def count_from_data(x):
        y = x
        for _ in range(int(x[0])):
            y = y * np.float64(2)
        return y

    with pytest.raises(StagingError, match="astype"):
        wg.jit(count_from_data)(X)
