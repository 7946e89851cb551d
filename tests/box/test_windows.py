"""`sliding_window_view`, `as_strided`, `place` and `putmask`, and the types of triangles and parts."""

import numpy as np
import pytest

import wengert as wg

windows = np.lib.stride_tricks.sliding_window_view
strided = np.lib.stride_tricks.as_strided
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


def frames(x):
    y = np.sin(x)
    step = y.itemsize
    return strided(y, (2, 4), (2 * step, step)) * np.arange(1.0, 9).reshape(2, 4)


def diagonals_of_two_matrices(x):
    y = np.zeros((2, 3, 3))
    y[:, 0] = x[:3]
    strided(y, (2, 3), (9 * y.itemsize, 4 * y.itemsize))[:] = x[3:] ** 2
    y[1] *= x[0]
    return y


def places_that_overlap(x):
    y = x * x
    v = strided(y, (3, 2), (y.itemsize, y.itemsize))
    v[0] = x[3]
    v[1, 0] += np.exp(x[4])
    return np.append(y, v)


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
    "f",
    [of_one_axis, of_two_axes, twice_of_one_axis, written_later, frames, diagonals_of_two_matrices, places_that_overlap,
     placed, put_by_a_mask],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_values_and_derivatives(f):
    want = f(X)
    np.testing.assert_allclose(wg.jit(f)(X), want, rtol=1e-12)
    np.testing.assert_allclose(wg.vmap(f)(np.stack([X, -X]))[1], f(-X), rtol=1e-12)
    wg.check_gradients(f, X, order=1)
    np.testing.assert_allclose(wg.jit(wg.jacrev(f))(X), wg.jacfwd(f)(X), atol=1e-14)


def test_a_mask_for_an_array_of_unknown_length():
    def f(x):
        y = x[x > 0] * 2
        np.putmask(y, mask=y > 1, values=np.inf)
        return np.sum(np.where(np.isinf(y), 3.0, y**2))

    for x in (X, -X, X * 7):
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
        np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-14)


def test_windows_are_read_only():
    def f(x):
        windows(x * 1, 2)[0] = 1.0

    with pytest.raises(ValueError, match="read-only"):
        wg.jit(f)(X)


@pytest.mark.parametrize("f", [lambda x: strided((x * np.ones((2, 3))).T, (2,), (8,)),
                               lambda x: strided(x * np.ones(3), (4,), (8,))])  # fmt: skip
def test_strides_in_memory_that_nobody_knows(f):
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="as_strided"):
        wg.jacrev(f)(2.0)


@pytest.mark.parametrize("dtype", [bool, np.int8, int, np.float32])
def test_types_of_triangles_and_parts(dtype):
    def f(a):
        return np.tril(a), np.triu(a, 1), *np.modf(a)

    a = np.arange(6).reshape(2, 3).astype(dtype)
    for got, want in zip(wg.jit(f)(a), f(a), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
