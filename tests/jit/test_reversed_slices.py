"""Slices that go backwards between bounds which are known only when the compiled program runs."""

import numpy as np
import pytest

import wengert as wg

X = np.sin(np.arange(1.0, 9.0))
M = np.cos(np.arange(24.0)).reshape(4, 6)
WEIGHTS = np.arange(1.0, 9.0)
BOUNDS = (-20, -9, -8, -3, -1, 0, 1, 3, 7, 8, 20)

READS = [
    lambda x, k: x[k:0:-1],
    lambda x, k: x[5:k:-1],
    lambda x, k: x[k::-1],
    lambda x, k: x[k::-3],
    lambda x, k: x[:k:-2],
    lambda x, k: x[-2:k:-1],
    lambda x, k: x[:k][::-1],
    lambda x, k: x[k:][-2::-1],
    lambda x, k: x[k:][-1:0:-2],
]


@pytest.mark.parametrize("read", READS)
def test_bounds_count_from_the_end_if_negative(read):
    def f(x, k):
        part = read(x, k)
        return np.sum(part * WEIGHTS[: len(part)])

    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    for k in BOUNDS:
        expected = np.zeros(8)
        places = read(np.arange(8), k)
        expected[places] = WEIGHTS[: len(places)]
        np.testing.assert_allclose(compiled(X, np.int64(k)), f(X, k), rtol=1e-14)
        np.testing.assert_allclose(gradient(X, np.int64(k)), expected)


def reflected(a, r):
    for k in range(1, len(a)):
        g = r[k] - np.dot(a[:k], r[k:0:-1])
        a[:k] = a[:k] - g * a[:k][::-1]
        a[k:0:-1] = a[k:0:-1] * np.cos(a[:k])
        a[k] = g
    return a


def rows(A):
    s = 0.0
    for k in range(A.shape[1]):
        s = (
            s
            + np.sum(A[1, k::-1] * A[::-1][0, : k + 1])
            + np.sum(A[:, :k][:, ::-1] * A[0, :k])
            + np.sum(A[None, 0, :k][:, ::-2])
        )
    return s


@pytest.mark.parametrize(("f", "args"), [(lambda r: np.sum(reflected(np.zeros(8), 0.3 * r) ** 2), X), (rows, M)])
def test_loops_stay_loops(f, args):
    """They were unrolled, which took a minute to compile for some hundred iterations."""
    assert "loop" in wg.jit(f).lower(args).ir
    np.testing.assert_allclose(wg.jit(f)(args), f(args), rtol=1e-13)
    step = 1e-30
    expected = [f_complex(f, args, place, step) for place in range(args.size)]
    np.testing.assert_allclose(wg.jit(wg.grad(f))(args).ravel(), expected, rtol=1e-11, atol=1e-13)


def f_complex(f, x, place, step):
    z = x.astype(complex).ravel()
    z[place] += 1j * step
    z = z.reshape(x.shape)
    return np.imag(f(z) if f is rows else np.sum(reflected(np.zeros(8, complex), 0.3 * z) ** 2)) / step


def test_reversed_views_of_nothing_are_not_everything():
    def f(x):
        y = x * 1.0
        y[:0][::-1] += 1
        y[5:2][::-1] = 7.0
        return np.sum(y * y)

    np.testing.assert_allclose(wg.grad(f)(X), 2 * X)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), 2 * X)


def test_rows_of_an_unknown_number_are_reversed():
    """The cotangent was reversed along the last axis."""

    def f(x, n):
        u = np.outer(x, x)[: 1 + n % 4]
        u[::-1] += u * np.arange(4.0)
        return np.sum(u * u)

    x = np.array([0.65, 0.679, 0.13, 1.062])
    for n in (5, 2):
        got = wg.jit(wg.grad(f))(x, n)
        np.testing.assert_allclose(got, [f_complex_of(f, x, n, k) for k in range(4)], rtol=1e-12)


def f_complex_of(f, x, n, place):
    z = x.astype(complex)
    z[place] += 1e-30j
    return np.imag(f(z, n)) / 1e-30


def test_bounds_that_are_truth_values():
    np.testing.assert_array_equal(wg.jit(lambda x: x[:True] * 2 + x[True:2])(X), X[:1] * 2 + X[1:2])
