"""Arrays whose length only the running program knows: `x[x > 0]` and what people do with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import wengert as wg

X = np.array([0.3, 1.2, 0.8, 0.65, 1.9, 0.45, 2.3, 1.05, 0.91, 1.41, 0.72, 1.77])


def stored_backwards(y):
    y = y * 1
    y[::-1] *= np.arange(len(y))
    y[::-2] = 3 * y[1]
    return y


def added_twice(y):
    z = y * 1
    z[[0, 0, 1]] += y[:3]
    return z


FUNCTIONS = [
    lambda y: y.reshape(-1, 1) * np.arange(3),
    lambda y: y.reshape(len(y), 1) * y,
    lambda y: y.reshape((1, y.size)) * y[:, None],
    lambda y: np.cos(np.arange(len(y))).reshape(y.shape) * y,
    lambda y: y.reshape(3, 4)[1] + y.reshape(2, -1)[0, :4],
    lambda y: y.reshape(len(y) // 2, 2)[:, 0],
    lambda y: np.outer(y, y).reshape(-1),
    lambda y: np.broadcast_to(y, (3, len(y))),
    lambda y: np.zeros(12) + y,
    lambda y: np.eye(12) @ y + np.eye(len(y)) @ y + np.tri(len(y), k=-1) @ y,
    lambda y: y[::-1] * y,
    lambda y: y[-2::-1] ** 2,
    lambda y: y[7:2:-2],
    lambda y: y[[0, 2, 2, 5]],
    lambda y: y[np.arange(12) % 2 == 0],
    lambda y: np.roll(y, 2) * y + np.roll(y, -1),
    lambda y: np.fft.fftshift(y) * y,
    lambda y: np.gradient(y),
    lambda y: np.convolve(y, np.array([1.0, 2.0, 3.0])),
    lambda y: np.convolve(y, np.array([1.0, 2.0, 3.0]), mode="same"),
    lambda y: np.correlate(y, np.array([1.0, 2.0, 3.0]), mode="valid"),
    lambda y: np.einsum("i,j->ij", y, y) + np.einsum("i,i", y, y),
    lambda y: np.diag(y) + np.diag(y[1:], 1) + np.tril(np.outer(y, y)) + np.triu(np.outer(y, y), 1),
    lambda y: np.trace(np.outer(y, y)) * np.diag(np.outer(y, y)),
    lambda y: np.pad(y, (1, 2), mode="edge"),
    lambda y: np.pad(y, (3, 1), mode="reflect"),
    lambda y: np.pad(y, (3, 1), mode="symmetric"),
    lambda y: np.pad(y, 2, mode="wrap"),
    lambda y: np.insert(y, 2, 5.0)[1:-1] * np.delete(y, 1)[0],
    lambda y: np.delete(y, -2),
    lambda y: np.split(y, 3)[1] + np.array_split(y, 5)[1][0],
    lambda y: np.average(y, weights=np.arange(1.0, 13.0)),
    lambda y: np.compress(np.arange(12) % 3 == 0, y),
    lambda y: np.block([[y, y], [y, y * 2]]),
    lambda y: np.meshgrid(y, y[:3])[0],
    lambda y: np.resize(y, (2, 3)),
    lambda y: np.atleast_2d(y) * 2,
    lambda y: scipy.special.logsumexp(y) + scipy.special.softmax(y),
    lambda y: np.prod(y.reshape(3, -1), axis=1),
    stored_backwards,
    added_twice,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_functions(f):
    def total(x):
        z = f(x[x > 0.1])
        return np.sum(z * z)

    assert np.isclose(wg.jit(total)(X), total(X), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(total))(X), wg.grad(total)(X), rtol=1e-9)


@pytest.mark.parametrize("f", FUNCTIONS[::5])
def test_other_compositions(f):
    def total(x):
        z = f(x[x > 0.1])
        return np.sum(z * z)

    v = np.cos(np.arange(12.0))
    slope, curve = wg.grad(total)(X) @ v, wg.hvp(total)(X, v)
    assert np.isclose(wg.jvp(wg.jit(total), (X,), (v,))[1], slope)
    assert np.isclose(wg.grad(wg.jit(total))(X) @ v, slope)
    np.testing.assert_allclose(wg.jit(wg.hvp(total))(X, v), curve, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("join", [np.concatenate, np.hstack, np.block])
def test_many_lengths_in_one_call(join):
    def total(x, n):
        y = join([part for k in range(8) for part in (x[: n + k], x[n + k :])])
        return np.sum(y * y * np.arange(len(y)))

    for n in (1, 3):
        assert np.isclose(wg.jit(total)(X, n), total(X, n), rtol=1e-12)
        np.testing.assert_allclose(wg.jit(wg.grad(total))(X, n), wg.grad(total)(X, n), rtol=1e-9)


REFUSED = [
    (lambda y: y.reshape(3, 5), "cannot reshape an array of 12 elements into 15"),
    (lambda y: np.split(y, 5), "equal division"),
    (lambda y: y[np.arange(11) > 3], "boolean index did not match"),
    (lambda y: np.average(y, weights=np.ones(5)), "shapes of a and weights differ"),
    (lambda y: np.delete(y, 20), "out of bounds"),
    (lambda y: np.convolve(y, np.ones(20), mode="valid"), "shorter than what it is convolved with"),
]


@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_what_numpy_refuses(f, message):
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        wg.jit(lambda x: f(x[x > 0.1]))(X)


MADE = [
    lambda x, n: np.repeat(x[0], n) * np.arange(n),
    lambda x, n: np.repeat(np.outer(x[:2], x[:3]), n, axis=1),
    lambda x, n: np.repeat(x[:4], (x[:4] > 0.7).astype(int) + n - 3),
    lambda x, n: np.linspace(x[0], x[4], n) ** 2,
    lambda x, n: np.linspace(x[:2], 3.0, n, endpoint=False),
    lambda x, n: np.linspace(0, x[1], n, retstep=True)[1] * x[:3],
    lambda x, n: np.linspace(0, 1, n) * x[0] + np.logspace(0, 1, n) * np.geomspace(1.0, [x[1], 2.0][1], num=n),
    lambda x, n: np.arange(x[0], x[4] * n, x[1]),
    lambda x, n: np.exp(np.arange(0.0, x[4])) * x[0] + np.arange(x[4]),
]


@pytest.mark.parametrize("f", MADE)
def test_arrays_made_of_a_computed_length(f):
    def total(x):
        z = f(x, int(x[-1]) + 2)
        return np.sum(z * z * np.cos(np.arange(z.size)).reshape(z.shape)) + z.size

    shown = f(X, int(X[-1]) + 2)
    compiled = wg.jit(lambda x: f(x, int(x[-1]) + 2))(X)
    np.testing.assert_allclose(compiled, shown, rtol=1e-14)
    assert compiled.dtype == shown.dtype
    slope = [(total(X + 1e-6 * e) - total(X - 1e-6 * e)) / 2e-6 for e in np.eye(len(X))]
    np.testing.assert_allclose(wg.jit(wg.grad(total))(X), slope, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(wg.grad(total)(X), slope, rtol=1e-5, atol=1e-7)


def test_lengths_that_numpy_refuses():
    with pytest.raises(ValueError, match="negative"):
        wg.jit(lambda x: np.repeat(x, int(-x[-1])))(X)
    with pytest.raises(ValueError, match="non-negative"):
        wg.jit(lambda x: np.linspace(0, 1, int(-x[-1])))(X)
    with pytest.raises(ValueError, match="cannot compute length"):
        wg.jit(lambda x: np.arange(0.0, x[0] / (x[1] - x[1])))(X)
    assert wg.jit(lambda x: np.arange(0.0, -x[0]))(X).shape == (0,)


def reversed_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sum(x[i:-1:-1]) + 2 * np.sum(x[i::-1]) + 3 * np.sum(x[i:2:-1])  # the first is empty nearly always
        s += 5 * np.sum(x[-i - 1 :: -1]) + 7 * np.sum(x[i:-i:-1]) + 11 * np.sum(x[i - 3 :: -1] ** 2)
        s += 13 * np.sum(x[: i - 4 : -1]) + 17 * np.sum(x[i::-3])
    return s


def rows_reversed(x):
    a, s = np.outer(x, x), 0.0
    for i in range(len(x)):
        s += np.sum(a[i, i::-1]) + np.sum(a[::-1, i::-2]) + np.sum(a[None, :i:-1, ...]) + np.sum(a[[0, 2], i::-1])
    return s


@pytest.mark.parametrize("f", [reversed_in_a_loop, rows_reversed])
def test_slices_that_run_backwards(f):
    """Bounds that are negative only in some iterations are counted from the end there, as in Python."""
    assert np.isclose(wg.jit(f)(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), wg.grad(f)(X), rtol=1e-9)


def written_backwards(x):
    y, b = x * 1.0, np.outer(x, x)
    for i in range(len(x)):
        y[:i][::-1] = x[:i]  # nothing in the first iteration
        y[i::-1][:2] += 1.0
        v = y[2:][:i][::-1]
        v *= 1.5
        v[1:] -= x[0]
        b[:i, :i][::-1] = 2.0 * x[i]
        b[:i].T[::-1] += x[0]
    return np.sum(y * np.arange(len(y))) + np.sum(b * np.arange(len(y)))


def around_a_place(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sum(np.delete(x, i) ** i) + np.sum(np.insert(x, i, x[0]) * np.arange(len(x) + 1))
        s += np.sum(np.delete(x, i - 3) * np.arange(len(x) - 1)) + np.sum(np.roll(x, i) * x)
    return s


@pytest.mark.parametrize("f", [written_backwards, around_a_place])
@pytest.mark.parametrize("n", [4, 12])  # a loop of few iterations is unrolled
def test_places_that_a_loop_computes(f, n):
    x = X[:n]
    assert np.isclose(wg.jit(f)(x), f(x.copy()), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-9)


@pytest.mark.parametrize("is_full", [True, False])
def test_least_squares(is_full, rng):
    a, b = rng.normal(size=(6, 3)), rng.normal(size=6)
    if not is_full:
        a[:, 2] = a[:, 0]
    solution = lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]
    squares = lambda a, b: np.linalg.lstsq(a, b, rcond=None)[1]
    np.testing.assert_allclose(wg.jit(solution)(a, b), solution(a, b), rtol=1e-10)
    np.testing.assert_allclose(wg.jit(wg.jacobian(solution))(a, b), wg.jacobian(solution)(a, b), rtol=1e-8)
    assert wg.jit(squares)(a, b).shape == squares(a, b).shape == (is_full,)
    both = np.stack([a, 2 * a]), np.stack([b, b + 1])
    np.testing.assert_allclose(wg.jit(wg.vmap(solution))(*both), list(map(solution, *both)), rtol=1e-10)


def test_polynomial_fits(rng):
    x, y = rng.normal(size=(2, 9))

    def f(x, y):
        c, covariance = np.polyfit(x, y, 2, cov=True)
        return np.sum(c) + np.sum(covariance)

    assert np.isclose(wg.jit(f)(x, y), f(x, y), rtol=1e-10)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x, y), wg.grad(f)(x, y), rtol=1e-8)


def test_numbers_beside_single_precision():
    x = X.astype(np.float32)
    assert wg.jit(lambda x: np.r_[x, 1.0])(x).dtype == wg.vmap(lambda x: np.r_[x, 1.0])(x[None]).dtype == np.float32


def topped_up(z, u):
    for i in range(len(z)):
        if np.sum(z) > u:
            return i
        z[i] += 0.5
    return len(z)


def test_a_loop_writes_to_a_part_and_its_length_is_asked_for_afterwards():
    """The part is fetched anew inside the loop, and what its length is there is nothing to those outside."""

    def f(x, n):
        k = topped_up(x[n % 5 :], -1.0)
        z = x[n % 4 :]
        while np.sum(z) < 1.0:
            z *= 0.5
            z += 0.2
        return np.sum(x * x) + k * x[0] + len(z)

    xs, ns = np.arange(15.0).reshape(3, 5) * 0.1 - 0.7, np.array([1, 0, 3])
    wanted = [f(x.copy(), n) for x, n in zip(xs, ns, strict=True)]
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(xs.copy(), ns), wanted, rtol=1e-13)
    slopes = [wg.grad(f)(x.copy(), n) for x, n in zip(xs, ns, strict=True)]
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(xs, ns), slopes, rtol=1e-13)
    inside = wg.jit(lambda xs, ns: wg.jvp(lambda x: f(x, ns[2]), (xs[2],), (np.ones(5),))[1])
    np.testing.assert_allclose(inside(xs, ns), np.sum(slopes[2]), rtol=1e-13)
