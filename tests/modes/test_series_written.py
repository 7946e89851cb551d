"""Taylor series through writes in place."""

import numpy as np

import wengert as wg


def test_an_array_that_is_written_into_itself():
    def f(x):
        y = x * x
        y[:] = y
        y[1:] = y[1:] * x[0]
        return y

    found = wg.taylor(f, np.array([1.0, 2.0]), 3, direction=np.ones(2))
    np.testing.assert_array_equal(np.transpose(found), [[1, 2, 1, 0], [4, 8, 5, 1]])  # (1 + t)², (2 + t)²·(1 + t)
