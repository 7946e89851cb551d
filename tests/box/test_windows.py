"""`sliding_window_view`, `place` and `putmask`, and the types of triangles and parts."""

import numpy as np
import pytest

import wengert as wg

windows = np.lib.stride_tricks.sliding_window_view
X = np.sin(np.arange(6.0) * 2.1) + 0.05


def of_one_axis(x):
    return windows(x, 3).mean(-1)


def of_two_axes(x):
    return windows(np.outer(x, x), (2, 3)).sum((-1, -2))


def twice_of_one_axis(x):
    return windows(np.outer(x, x), (2, 2), axis=(0, 0)).max(-1)


def written_later(x):
    y = x * 1
    v = windows(y, 2)
    y[1] = 5 * x[0]
    return v


def placed(x):
    y = np.outer(x, x)
    np.place(y.T, y.T < 0.1, [1.0, x[0], 3 * x[1]])
    return y


def put_by_a_mask(x):
    y = np.outer(x, x)
    np.putmask(y[1:, ::2], y[1:, ::2] < 0.1, y[:-1, ::2] * 3)
    np.putmask(y, np.arange(36).reshape(6, 6) % 2, x)
    return y


@pytest.mark.parametrize(
    "f", [of_one_axis, of_two_axes, twice_of_one_axis, written_later, placed, put_by_a_mask], ids=lambda f: f.__name__
)
def test_values_and_derivatives(f):
    want = f(X)
    np.testing.assert_allclose(wg.jit(f)(X), want, rtol=1e-12)
    np.testing.assert_allclose(wg.vmap(f)(np.stack([X, -X]))[1], f(-X), rtol=1e-12)
    wg.check_gradients(f, X, order=1)
    np.testing.assert_allclose(wg.jit(wg.jacrev(f))(X), wg.jacfwd(f)(X), atol=1e-14)


def test_windows_are_read_only():
    def f(x):
        windows(x * 1, 2)[0] = 1.0

    with pytest.raises(ValueError, match="read-only"):
        wg.jit(f)(X)


@pytest.mark.parametrize("dtype", [bool, np.int8, int, np.float32])
def test_types_of_triangles_and_parts(dtype):
    def f(a):
        return np.tril(a), np.triu(a, 1), *np.modf(a)

    a = np.arange(6).reshape(2, 3).astype(dtype)
    for got, want in zip(wg.jit(f)(a), f(a), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
