"""Functions of hundreds of arrays: right results, memory given back, and code that grows as they do."""

import sys

import numpy as np
import pytest

import wengert as wg


def mixed(a, b, c, d, s):
    return a + s, b * s, c - s, d / s, s * 2, a[0], np.cumsum(b)


def test_arrays_and_numbers_mixed():
    args = [np.arange(3.0) + k for k in range(4)]
    compiled = wg.jit(mixed)
    for _ in range(3):
        for found, want in zip(compiled(*args, 2.0), mixed(*args, 2.0), strict=True):
            np.testing.assert_array_equal(found, want)
    assert compiled(args[0].astype("f4"), *args[1:], 2.0)[0].dtype == np.float32  # not as usual: the plain way


def test_no_memory_for_one_of_them():
    compiled = wg.jit(lambda x: tuple([np.full((1 << k,), x) for k in (4, 5, 6, 46, 7)]))
    for _ in range(3):
        with pytest.raises(MemoryError):
            compiled(1.0)


def test_results_are_not_kept():
    compiled = wg.jit(lambda a, b, c, d: (a * 2, b * 2, c * 2, d * 2))
    args = [np.ones(3) for _ in range(4)]
    compiled(*args)
    results = compiled(*args)
    assert all(sys.getrefcount(y) <= 4 for y in results)
    assert all(sys.getrefcount(x) <= 4 for x in args)


def test_code_grows_as_the_number_of_arrays():
    def size(n):
        p = {f"w{k}": np.ones(3) for k in range(n)}
        return len(wg.jit(wg.grad(lambda p: sum(np.sum(v**2) for v in p.values()))).lower(p).llvm.splitlines())

    a, b, c = size(80), size(160), size(320)
    assert c - b < 3 * (b - a)  # twice as many arrays: 2 if linear, 4 if quadratic
