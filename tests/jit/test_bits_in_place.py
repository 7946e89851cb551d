"""`|=`, `&=`, `^=`, `<<=` and `>>=` change arrays in place, whatever other names they have, and replace numbers."""

import numpy as np
import pytest

import wengert as wg


def masks(a, b, x):
    mask = a
    mask |= b
    row = a[1]
    row &= x[0] > 0
    b ^= a
    for k in range(3):
        b[k] |= x[k] > 1
    return np.sum(np.where(a, x, 0.0)) + np.sum(np.where(b, x * x, 0.0))


def integers(n, k):
    m = n
    m <<= 2
    m ^= n >> k
    part = n[1:]
    part |= 1
    part >>= 1
    k <<= 3
    k |= 1
    return n.copy(), m, k


def test_of_compiled_functions():
    a, b = np.array([[True, False, False]] * 3), np.eye(3, dtype=bool)
    x = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.3], [0.1, 2.5, -2.0]])
    ours, theirs = (a.copy(), b.copy(), x), (a.copy(), b.copy(), x)
    np.testing.assert_allclose(wg.jit(masks)(*ours), masks(*theirs), rtol=1e-14)
    for mine, plain in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, plain)
    for dtype in (np.int64, np.uint32, np.int8):
        n, plain = np.arange(6, dtype=dtype), np.arange(6, dtype=dtype)
        for result, expected in zip(wg.jit(integers)(n, 2), integers(plain, 2), strict=True):
            np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(n, plain)
        assert n.dtype == dtype


@pytest.mark.parametrize("compiled", [False, True])
def test_of_batches(compiled):
    def f(x):
        small = x < 1
        both = small
        both &= x > 0
        return np.sum(np.where(small, x, 0.0))

    x = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, 0.3]])
    mapped = wg.vmap(f)
    np.testing.assert_allclose((wg.jit(mapped) if compiled else mapped)(x), [f(x[0]), f(x[1])])
    assert [f(x[0]), f(x[1])] == [0.5, 0.5]
