"""`x[flag]` and `x[flag] = v`, where the flag is a single truth value that only the compiled program knows."""

import numpy as np
import pytest

import wengert as wg


def reads_a_number(x):
    x = np.asarray(x[0])
    return np.sum(3 * x[x > 0] ** 2)


def reads_a_row(x):
    return np.sum(x[x[0] > 0]) + x[..., x[1] > 0].shape[-1] * x[2]


def reads_between(x):
    y = np.outer(x, x)
    return np.sum(y[:, x[0] > 0, 1] ** 2) + np.sum(y[1, x[1] > 0, ...]) + np.sum(y[x[0] > 0, :, [1]] ** 3)


def writes_a_number(x):
    y = np.empty_like(np.asarray(x[0]))
    flag = x[0] > 0
    y[flag] = x[1] * x[0]
    y[~flag] = np.sin(x[1:][~flag][..., 0])
    return y * 2


def writes_a_row(x):
    y = x * x
    y[x[0] > 0] = x * 3
    y[x[1] > 0] *= 2
    y[x[2] > 0] = 1.0
    return np.sum(y * x)


def writes_into_a_view(x):
    y = np.outer(x, x)
    z = y[1:].T
    z[x[0] > 0] = x[:, None]
    z[..., x[1] > 0] = 5.0
    return np.sum(y * x)


def reads_a_plain_array(x):
    table = np.arange(3.0)
    return np.sum(table[x[0] > 0] * x)


def writes_in_a_loop(x):
    y = np.zeros(3)
    for k in range(6):
        y[x[k % 3] > 0] += k * x
    return np.sum(y**2)


PROGRAMS = [reads_a_number, reads_a_row, reads_between, writes_a_number, writes_a_row, writes_into_a_view,
            reads_a_plain_array, writes_in_a_loop]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_numpy(f):
    fast, gradient, of_fast = wg.jit(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))
    for signs in np.ndindex(2, 2, 2):
        x = np.array([0.7, 1.3, 0.4]) * (2 * np.array(signs) - 1)
        np.testing.assert_allclose(fast(x), f(x), rtol=1e-14)
        want = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        for found in (gradient(x), of_fast(x), wg.grad(f)(x)):
            np.testing.assert_allclose(found, want, rtol=1e-7, atol=1e-7)


def test_shapes():
    f = wg.jit(lambda x, i: (x[i > 0], x[:, i > 0], x[None, i > 0, 0]))
    g = f.__wrapped__
    x = np.arange(6.0).reshape(2, 3)
    for i in (0, 1):
        assert [y.shape for y in f(x, i)] == [y.shape for y in g(x, i)]


def test_shapes_beside_what_is_no_axis():
    f = lambda x: (x[True, ...], x[False, 1:], x[None, True, :2], x[..., True, ::-1], x[0, True, [0, 2]])
    for found, wanted in zip(wg.jit(f)(X := np.arange(12.0).reshape(3, 4)), f(X), strict=True):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(IndexError, match="single ellipsis"):
        wg.jit(lambda x: x[..., True, ...])(X)


def test_a_mask_beside_a_symbol_must_fit():
    with pytest.raises(IndexError):
        wg.jit(lambda x, i: x[[True, False], i])(np.eye(3), 1)
    np.testing.assert_array_equal(wg.jit(lambda x, i: x[[True, False, True], i])(np.eye(3), 2), [0, 1])


def fills_an_array_of_no_axes(x):
    y = np.empty_like(np.sqrt(x**2))
    try:
        y[x > 0] = np.sin(x)
        y[x <= 0] = 2 * x
    except NameError:
        y = x
    z = y
    z += x
    if x > 1:
        z[...] = z * x
    for _ in range(6):
        y[()] = y + z / 2
    return y * isinstance(y, np.ndarray)


def test_arrays_of_no_axes_that_are_written_to():
    f = fills_an_array_of_no_axes
    for x in (0.7, 1.7, -0.4):
        want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
        for derivative in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda x: wg.jvp(wg.jit(f), (x,), (1.0,))[1]):
            np.testing.assert_allclose(derivative(x), want, rtol=1e-8)
