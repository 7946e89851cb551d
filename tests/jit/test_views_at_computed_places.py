"""Other shapes of a part of an array whose place only the program knows: views where NumPy makes views, copies else."""

import numpy as np
import pytest

import wengert as wg

X = np.arange(8.0) + 1


def place(x):
    return int(wg.stop_gradient(x[0]) + 0.5)


def folded(x, i):
    y = x[i : i + 4].reshape(2, 2)
    y[0, 0] = 9 * x[0]


def with_more_axes(x, i):
    y = np.atleast_2d(x[i : i + 3])
    y[0, 0] = 9 * x[0]


def ravelled(x, i):
    y = x[i:].ravel()
    y[0] = 9 * x[0]


def row(x, i):
    y = x.reshape(2, 4)[i].reshape(2, 2)
    y[0, 1] *= x[0]


def column(x, i):
    y = x.reshape(2, 4).T[i].reshape(2, 1)
    y[0, 0] = 9 * x[0]


def copied_since_in_other_order(x, i):
    y = x.reshape(2, 4).T[i : i + 2].ravel()
    y[0] = 9 * x[0]


def copied_since_apart(x, i):
    y = x.reshape(2, 2, 2)[:, i].reshape(4)
    y[0] = 9 * x[0]


def in_equal_steps(x, i):
    y = x.reshape(2, 2, 2)[:, :, i].reshape(4)
    y[0] = 9 * x[0]


def backwards(x, i):
    y = x[::-1][i:].reshape(-1)
    y[0] = 5 * x[0]


def in_a_loop(x, i):
    for k in range(1, 1 + i):
        y = x.reshape(2, 4)[k - 1].reshape(2, 2)
        y[1] += y[0] * x[0]


PROGRAMS = [folded, with_more_axes, ravelled, row, column, copied_since_in_other_order, copied_since_apart,
            in_equal_steps, backwards, in_a_loop]  # fmt: skip


@pytest.mark.parametrize("write", PROGRAMS)
def test_writes_are_seen_where_numpy_shows_them(write):
    def f(x):
        write(x, place(x))
        return x * x

    expected = f(X.copy())
    slope = (f(X + 1e-6 * X) - f(X - 1e-6 * X)) / 2e-6
    np.testing.assert_array_equal(wg.jit(f)(X.copy()), expected)
    for g in (wg.jit(f), f):
        y, y_dot = wg.jvp(g, (X,), (X,))
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_allclose(y_dot, slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(wg.jit(wg.jacrev(f))(X) @ X, slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("x", [X[::-1], X[::2], X])
def test_a_diagonal_matrix_is_never_a_view(x):
    def f(x):
        y = np.diag(x)
        y[0] = x[0] ** 2
        return y

    np.testing.assert_array_equal(wg.jit(f)(x), f(x))
    np.testing.assert_array_equal(wg.jacfwd(wg.jit(f))(x), wg.jacfwd(f)(x))


def windows(x, c, w):
    a = x[c : c + 3]
    b = x[c - 2 : c + 2 : 2]
    w[: a.shape[0], : a.shape[0]] += a[:, None] * a
    return np.sum(np.outer(b, b)), a.shape[0], 2 * a


@pytest.mark.parametrize("c", range(-13, 13))
def test_windows_of_known_width_at_computed_places(c, rng):
    x, w, v = rng.normal(size=10), np.zeros((3, 3)), np.zeros((3, 3))
    wanted, found = windows(x, np.int64(c), w), wg.jit(windows)(x, np.int64(c), v)
    np.testing.assert_allclose(found[0], wanted[0])
    assert found[1] == wanted[1]
    np.testing.assert_array_equal(found[2], wanted[2])
    np.testing.assert_allclose(v, w)


def test_products_of_windows_of_long_arrays_take_no_room_for_the_whole_array():
    """With room for 10⁶ × 10⁶ numbers there would be no memory for them."""

    def products(x, places, w):
        for k in range(places.shape[0]):
            c = places[k]
            a = x[c : c + 3]
            w[k] += a[:, None] * a

    x, places, w = np.arange(1e6), np.array([5, 400, 3]), np.zeros((3, 3, 3))
    wg.jit(products)(x, places, w)
    for k, c in enumerate(places):
        np.testing.assert_array_equal(w[k], np.outer(x[c : c + 3], x[c : c + 3]))
