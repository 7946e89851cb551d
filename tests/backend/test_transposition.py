"""Matrices that lie by columns are copied in blocks: whole ones, parts of others, and sizes that no block divides."""

import numpy as np
import pytest

import wengert as wg


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_copies_of_transposed_matrices(dtype):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 128)).astype(dtype), rng.normal(size=(37, 75)).astype(dtype)

    def f(x, y):
        total = np.zeros((75, 37), y.dtype)
        for k in range(3):
            total = total + np.ascontiguousarray(y.T) * k
        return [
            np.ascontiguousarray(x.T), np.ascontiguousarray(y.T), np.ascontiguousarray(x[3:60, 5:40].T), total,
            np.ascontiguousarray(y[:17, :16].T), x.T.reshape(-1),
        ]  # fmt: skip

    for found, wanted in zip(wg.jit(f)(x, y), f(x, y), strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)
    compiled = wg.jit(lambda x, y: np.ascontiguousarray(x.T))
    np.testing.assert_array_equal(compiled(x, y), x.T)
    # Arguments that lie by columns.
    np.testing.assert_array_equal(wg.jit(lambda x: x * 1)(np.asfortranarray(x)), x)
