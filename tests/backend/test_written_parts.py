"""Compiled code that writes parts of arrays: overlapping parts, reversals in place, one piece in several places.

Every program runs as plain Python as well, and is differentiated by a complex step.
"""

import numpy as np
import pytest
from backend.random_writes import total

import wengert as wg

V = np.array([0.3, 1.2, -0.7, 2.0, 0.9, -1.4])
M = np.arange(1.0, 17.0).reshape(4, 4) / 7
LONG = np.sin(np.arange(300.0))


def agrees(f, *args):
    """Compiled values, effects on the arguments and gradients are those of the plain function."""
    plain, given = [np.copy(a) for a in args], [np.copy(a) for a in args]
    expected, found = f(*plain), wg.jit(f)(*given)
    for got, want in zip((*_tuple(found), *given), (*_tuple(expected), *plain), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    g = total(lambda x, i, s: _tuple(f(x, *args[1:])))
    x = args[0]
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    slope = g(x + 1e-200j * direction, 0, 0.0).imag / 1e-200
    gradient = wg.jit(wg.grad(g))(x.copy(), 0, 0.0)
    np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-11, atol=1e-11)


def _tuple(x):
    return x if isinstance(x, tuple) else (x,)


# ------------------------------------------------------------------------------------------- one piece in many places

JOINS = {
    "stack": lambda y: np.stack([y, y]),
    "stack, last axis": lambda y: np.stack([y, y], axis=-1),
    "concatenate": lambda y: np.concatenate([y, y, y]),
    "hstack": lambda y: np.hstack([y, y]),
    "vstack": lambda y: np.vstack([y, y]),
    "array": lambda y: np.array([y, y]),
    "array of numbers": lambda y: np.array([y[0], y[0], y[1], y[0]]),
    "block": lambda y: np.block([[y, y], [y, y]]),
    "tile": lambda y: np.tile(y, 3),
    "repeat": lambda y: np.repeat(y, 2, axis=0),
    "append": lambda y: np.append(y, y),
    "also used elsewhere": lambda y: (np.concatenate([y, y]), np.sum(y) * y),
    "also the result": lambda y: (np.stack([y, y]), y),
    "twice joined": lambda y: (np.stack([y, y]), np.concatenate([y, y])),
    "joined of joined": lambda y: np.concatenate([np.concatenate([y, y]), np.concatenate([y, y])]),
    "with its reverse": lambda y: np.concatenate([y[::-1], y, y[::-1], y]),
    "with its parts": lambda y: np.concatenate([y[1:], y, y[:1], y[1:], y]),
    "in another shape": lambda y: np.concatenate([y.ravel(), y.reshape(-1), y.reshape(y.shape).ravel()]),
}


@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize("x", [M, LONG], ids=["matrix", "long"])
def test_one_piece_in_many_places(name, x):
    agrees(lambda x: JOINS[name](np.sin(x) * x), x)


def test_a_number_in_many_places():
    np.testing.assert_array_equal(wg.jit(lambda x: np.array([x, x]))(7.0), [7, 7])
    np.testing.assert_array_equal(wg.jit(lambda x: np.array([[x, 2 * x], [2 * x, x]]))(7.0), [[7, 14], [14, 7]])


# ---------------------------------------------------------------------------------------------------- overlapping parts


def boundary(u):
    u[0, :] = 2.0
    u[:, 0] = 3.0
    u[-1, :] = 1.0
    return u


def boundary_of_a_copy(u):
    u = u * 1.0
    u[0, :] = u[1, :]
    u[:, 0] = u[:, 1] * 2.0
    u[-1, :] = 1.0
    u[:, -1] = u[0, :]
    u[1, 1] = u[0, 1] * u[2, 2]
    return u


def shifted(u):
    u = u * 2.0
    u[1:] = 0.5
    u[:-1] = 0.25 * u[0, 0]
    return u


def shifted_twice(u):
    w = np.zeros_like(u)
    w[1:] = u[1:]
    w[:-1] = u[1:] * 3.0
    w[1:] += u[:-1]
    w[:-1] *= u[1:]
    return w


def strided(u):
    w = np.zeros_like(u)
    w[::2] = u[::2]
    w[:2] = 5.0
    w[1::2] = u[::2] * u[1::2]
    w[:2] = u[2:4]
    return w


def backwards(u):
    w = np.zeros_like(u)
    w[::-1] = u
    w[:] = 2.0 * w + u
    w[::-1] = w * u
    return w


def read_between(u):
    w = u.copy()
    w[0] = u[1]
    a = w[0] * 2.0
    w[:, 0] = u[1]
    b = w[0] * 2.0
    w[1] = a + b
    return w, a, b


def two_arrays(u):
    v, w = u * 2.0, u * 3.0
    v[0], w[:, 0] = u[1], u[1]
    v[:, 0], w[0] = w[0], v[0]
    v[0], w[:, 0] = w[:, 0], v[0]
    return v, w


OVERLAPPING = [boundary, boundary_of_a_copy, shifted, shifted_twice, strided, backwards, read_between, two_arrays]


@pytest.mark.parametrize("f", OVERLAPPING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [4, 20])
def test_overlapping_parts(f, n):
    agrees(f, np.sin(np.arange(float(n * n))).reshape(n, n))


def at_computed_places(u, k):
    w = u * 1.0
    w[k] = 1.0
    w[k - 1] = 2.0 * w[k]
    w[2] = 3.0 * w[k - 1]
    w[k] = w[2] + w[0]
    return w


@pytest.mark.parametrize("k", range(-2, 4))
def test_parts_at_computed_places(k):
    agrees(at_computed_places, M, k)


def slices_with_computed_ends(u, k):
    w = u * 1.0
    w[k:] = 1.0
    w[:k] = 2.0
    w[k - 1 :] = w[1]
    return w


@pytest.mark.parametrize("k", range(1, 4))
def test_slices_with_computed_ends(k):
    agrees(slices_with_computed_ends, M, k)


def test_masks():
    def f(u):
        w = u * 1.0
        w[np.array([True, False, True, True])] = 2.0
        w[:, 1] = u[0]
        w[[0, 2, 0]] = u[[1, 2, 3]]
        w[0] += 1.0
        return w

    agrees(f, M)


# ---------------------------------------------------------------------------------------------------------- in place

REORDERINGS = {
    "reversed": lambda y: y[::-1],
    "reversed columns": lambda y: y[..., ::-1],
    "transposed": lambda y: y.T,
    "both": lambda y: y[::-1].T,
    "gathered": lambda y: y[np.arange(len(y))[::-1]],
    "rolled": lambda y: np.roll(y, 1, axis=0),
    "flipped": lambda y: np.flip(y),
    "itself": lambda y: y,
    "scaled and reversed": lambda y: 2.0 * y[::-1] + y,
}


@pytest.mark.parametrize("name", REORDERINGS)
@pytest.mark.parametrize("x", [M, LONG], ids=["matrix", "long"])
def test_an_array_written_with_its_own_elements_in_another_order(name, x):
    def whole(x):
        y = x * 2.0
        y[:] = REORDERINGS[name](y)
        return y

    def of_another(x):
        y = np.sin(x)
        w = y * y
        y[...] = REORDERINGS[name](w)
        w[:] = REORDERINGS[name](y)
        y += REORDERINGS[name](y)
        return y, w

    agrees(whole, x)
    agrees(of_another, x)


def test_shifts():
    def up(x):
        y = x * 2.0
        y[1:] = y[:-1]
        y[:-2] = y[2:] * x[2:]
        return y

    def swapped(x):
        y = x * 2.0
        y[0], y[-1] = y[-1] * 1.0, y[0] * 1.0
        y[::2], y[1::2] = y[1::2].copy(), y[::2].copy()
        return y

    for x in (V, M, LONG):
        agrees(up, x)
        agrees(swapped, x)


def test_factors_at_reversed_places():
    a = np.linspace(0.5, 2.0, 6)

    def f(x):
        y = x * 1.0
        y[::-1] *= a
        return np.sin(y)

    def g(x):
        y = x * x
        y[::-1] += y
        y[::-2] *= x[1::2]
        return y

    agrees(f, V)
    agrees(g, V)
