"""`argmax` and `argmin` of so many elements that they are searched in blocks: the first extreme, NaN before any."""

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.arrays.search import BLOCK

RANDOM = np.random.default_rng(11)
LARGEST, SMALLEST = wg.jit(lambda x: np.argmax(x)), wg.jit(lambda x: np.argmin(x))


def check(x):
    assert LARGEST(x) == np.argmax(x)
    assert SMALLEST(x) == np.argmin(x)


@pytest.mark.parametrize(("dtype", "rest"), [(np.float64, 7), (np.float32, 0), (np.int64, 0), (np.uint8, 1)])
def test_of_all_elements(dtype, rest):
    n = 3 * BLOCK + rest
    x = RANDOM.normal(size=n) * 3
    check(x.astype(dtype))
    check(np.round(x).astype(dtype))  # with ties
    check(np.zeros(n, dtype))
    for place in (0, BLOCK - 1, BLOCK, n - 1):
        x[place] = 9.0
        check(x.astype(dtype))


@pytest.mark.parametrize("places", [[0], [5, 3 * BLOCK], [BLOCK, BLOCK + 1], [3 * BLOCK + 6]])
def test_not_a_number_is_before_all_others(places):
    x = RANDOM.normal(size=3 * BLOCK + 7)
    x[places] = np.nan
    check(x)
    x[2] = np.inf
    check(x)


def test_along_an_axis_and_of_what_is_computed():
    x = RANDOM.normal(size=(3, 2 * BLOCK + 5))
    rows, columns = wg.jit(lambda x: np.argmax(x, axis=1)), wg.jit(lambda x: np.argmin(x, axis=0))
    np.testing.assert_array_equal(rows(x), np.argmax(x, axis=1))
    np.testing.assert_array_equal(columns(x), np.argmin(x, axis=0))
    check(x)
    computed = wg.jit(lambda x: np.argmax(x[:, ::2] ** 2 - x[:, 1::2][:, :1]))
    assert computed(x) == np.argmax(x[:, ::2] ** 2 - x[:, 1::2][:, :1])
