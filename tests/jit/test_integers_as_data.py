"""Integers and booleans that become part of a floating-point array are constants: their tangent is zero.

Structure (the places that are written to) consists of integers too and stays as it is; which is which is a fact about
the op, not about the dtype. Every program is compared with differences of the plain Python function, with `jit` in
every place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import wengert as wg

X = np.array([1.0, 2.0, 3.0])
PLACES = np.array([2, 0])


def last_element(u):
    u = u.copy()
    u[0] = u[1] ** 2
    u[-1] = 5
    return u


def in_a_branch(u):
    u = u.copy()
    if u[0] > 0.5:
        u[1] = 3
    else:
        u[2] = 4
    return u


def by_fill(u):
    w = u * u
    w.fill(7)
    w[0] = u[1]
    return w


def through_a_view(u):
    y = u.copy()
    y.reshape(3, 1)[1] = 7
    return y * u[0]


def through_a_slice(u):
    y = u * 2
    y[::2][0] = True
    return y * u


def in_a_long_loop(u):
    u = u.copy()
    for i in range(40):
        u[i % 3] = i
    return u * u[0] + u


def mixed_in_a_long_loop(u):
    u = u.copy()
    for i in range(40):
        u[i % 2] = i
        u[2] = u[2] * 1.01 + u[i % 2]
    return u


def array_of_integers(u):
    u = np.sin(u)
    u[1:] = np.arange(2)
    return u * u


def array_of_booleans(u):
    u = np.sin(u)
    u[1:] = np.array([True, False])
    return u * u


def at_an_array_of_places(u):
    u = np.sin(u)
    u[PLACES] = np.array([4, 5])
    return u * 3


def integers_from_a_comparison(u):
    v = u * 2
    v[0] = u[1] > 0
    v[1:] = u[1:] > 2.5
    return v * u


def concatenated(u):
    return np.concatenate([u * u, np.arange(2), np.array([True])])


def stacked(u):
    return np.stack([u * u, np.arange(3), u])


def listed(u):
    return np.array([u[0], 2, True, u[1] * u[2]])


def chosen(u):
    return np.where(u > 1.5, u * u, 7)


def chosen_from_integers(u):
    return np.where(u > 1.5, np.arange(3), u * u)


def added_at_places(u):
    u = u.copy()
    np.add.at(u, PLACES, 3)
    return u * u


def added_by_index(u):
    u = u.copy()
    u[PLACES] += np.arange(2)
    return u * u


def by_mask(u):
    u = u * u
    u[u > 3] = 2
    return u * u


def put_there(u):
    u = u * u
    np.put(u, [0, 2], [5, 6])
    return u * u


def into_integers(u):
    whole = np.zeros(3, int)
    whole[0] = np.floor(u[1] * 10.3)
    return whole * u


def into_zeros(u):
    a = np.zeros(3)
    a[0] = 4
    a[1] = u[0]
    a[2] = 1
    return a * u


def single_precision(u):
    a = u.astype(np.float32)
    a[0] = 3
    return a * u


def of_complex(u):
    z = u + 1j * u
    z[0] = 3
    z[1] = 2.5
    return (z * z).real + z.imag


PROGRAMS = [
    last_element, in_a_branch, by_fill, through_a_view, through_a_slice, in_a_long_loop, mixed_in_a_long_loop,
    array_of_integers, array_of_booleans, at_an_array_of_places, integers_from_a_comparison, concatenated, stacked,
    listed, chosen, chosen_from_integers, added_at_places, added_by_index, by_mask, put_there, into_zeros,
    single_precision, of_complex,
]  # fmt: skip


def differences(f: Callable, x: np.ndarray, h: float) -> np.ndarray:
    columns = [(np.asarray(f(x + h * e), float) - np.asarray(f(x - h * e), float)) / (2 * h) for e in np.eye(len(x))]
    return np.stack(columns, -1)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_constants_have_no_tangent(f):
    rough = f is single_precision
    want = differences(f, X, 1e-2 if rough else 1e-6)
    jit = wg.jit
    ways = [
        wg.jacfwd(f), wg.jacrev(f), jit(wg.jacfwd(f)), jit(wg.jacrev(f)), wg.jacfwd(jit(f)), wg.jacrev(jit(f)),
        lambda x: np.stack([wg.jvp(jit(f), (x,), (e,))[1] for e in np.eye(3)], -1),
    ]  # fmt: skip
    for way in ways:
        np.testing.assert_allclose(way(X.copy()), want, rtol=1e-3 if rough else 1e-6, atol=1e-4 if rough else 1e-7)


@pytest.mark.parametrize("f", [last_element, in_a_long_loop, mixed_in_a_long_loop, concatenated, by_mask])
def test_second_derivatives(f):
    def total(u):
        return np.sum(f(u) ** 2)

    v = np.array([0.3, -0.5, 0.7])
    want = differences(lambda x: wg.grad(total)(x), X, 1e-6) @ v
    for way in (wg.hvp(total), wg.jit(wg.hvp(total)), wg.hvp(wg.jit(total))):
        got = way(X, v)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_what_is_written_into_an_array_of_integers_is_rounded_and_has_no_derivative():
    """Eagerly that is refused; compiled it is a rounding, whose derivative is zero."""
    for way in (wg.jit(wg.jacfwd(into_integers)), wg.jit(wg.jacrev(into_integers)), wg.jacfwd(wg.jit(into_integers)),
                wg.jacrev(wg.jit(into_integers))):  # fmt: skip
        np.testing.assert_array_equal(way(X), np.diag([20.0, 0, 0]))

    def directly(x):
        a = np.zeros(2, int)
        a[0] = x
        return a * 1.0 + x

    for way in (wg.jit(wg.jacfwd(directly)), wg.jit(wg.jacrev(directly)), wg.jacfwd(wg.jit(directly)),
                wg.jacrev(wg.jit(directly))):  # fmt: skip
        np.testing.assert_array_equal(way(2.5), [1.0, 1.0])
