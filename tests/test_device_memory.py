"""What lies in the same memory on a device: results of compiled programs, views, numbers that are arrays there.

On a device a copy in a program may be a view, and what is a number in NumPy is an array of no axes, a view as well.
"""

from __future__ import annotations

from typing import Any

import emulated_device
import numpy as np
import pytest
from strict_array import StrictArray, host, strict

import wengert as wg

X = np.array([0.9, -0.5, 0.8, 0.5, -0.7, -0.2])
assert emulated_device.EmulatedDevice


def at_home(y: Any) -> Any:
    return wg.tree.map(lambda v: host(v) if isinstance(v, StrictArray) else v, y)


def copied(x):
    w = x.copy()
    x[0] = 5.0
    return w, x[1:] * 1


def number_that_was_read(x):
    s = x[0]
    x[:] = 7.0
    return s, x[2]


def swapped(x):
    w = x + 0
    x[0], x[-1] = x[-1], x[0]
    return w, w[::-1]


def as_it_came(x):
    return x + 0, x * 1, x[:3] + 0


@pytest.mark.parametrize("f", [copied, number_that_was_read, swapped, as_it_came])
def test_results_have_memory_of_their_own(f):
    x, there, compiled = X.copy(), strict(X), wg.jit(f)
    for _ in range(3):
        right, got = f(x), compiled(there)
        for a, b in zip(at_home(got), right, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(host(there), x)
        for part in got:
            part[...] = 9.0
        np.testing.assert_array_equal(host(there), x)


def test_two_names_of_one_array():
    def f(x, y):
        x[1:] = y[:-1] * 2.0
        return np.sum(x)

    x, there = X.copy(), strict(X)
    assert at_home(wg.jit(f)(there, there[:])) == pytest.approx(f(x, x))
    np.testing.assert_array_equal(host(there), x)


VIEWS = {
    "array_split": lambda w: np.array_split(w, 2)[0], "hsplit": lambda w: np.hsplit(w, 2)[0],
    "flip": np.flip, "reshape": lambda w: np.reshape(w, (6,)), "ravel": np.ravel, "transpose": np.transpose,
    "squeeze": lambda w: np.squeeze(w[None]), "expand_dims": lambda w: np.expand_dims(w, 0)[0],
    "atleast_1d": np.atleast_1d, "moveaxis": lambda w: np.moveaxis(w, 0, 0), "real": np.real,
    "rot90": lambda w: np.rot90(w.reshape(6, 1))[0], "slice": lambda w: w[:3], "method": lambda w: w.reshape(-1),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_what_is_written_into_a_view_is_in_the_array(view):
    def f(x):
        w = np.zeros_like(x)
        part = view(w)
        part[1:3] = x[0] ** 2
        return np.sum(w * np.arange(1.0, 7.0)) + np.sum(part**3)

    for derivative in (wg.grad(f), lambda x: wg.jvp(f, (x,), (x,))[1], wg.jit(wg.grad(f))):
        np.testing.assert_allclose(host(derivative(strict(X))), derivative(X), rtol=1e-12)


def numbers(x):
    total = np.sum(np.zeros_like(x))
    before = total
    total -= 0.5 * x[0] ** 2
    return total * x[1] + before


def computed_from_a_number(x, a):
    u = np.array([a / (2.0 + np.cos(a)), a, np.maximum(a, 0.05)])
    return np.mean(np.tanh(u)) * np.sum(x**2)


def lists(x):
    big, small = np.argmax(x), np.argmin(x)
    u = x * 1.0
    u[[big, small]] = u[[small, big]] * 2.0
    plain = np.array([np.sum(np.ones_like(x)), 0.5])
    return np.sum(u * np.arange(6.0)) + np.sum(np.convolve(u, [0.5, np.sum(np.ones(3))])) * plain[1]


def flags(x):
    chosen = np.ones(6, bool)
    chosen[1:] = x[1:] > x[:-1]
    return np.sum(x[chosen] ** 3)


def filled(x):
    part = np.zeros_like(x)
    part[1] = 0.25
    u = np.full_like(x, part[1])
    k = 0
    while u[0] * np.sum(x) < 3.0 and k < 5:
        u, k = u * (1.5 + x[0]), k + 1
    return np.sum(u * x) + np.linalg.det(np.outer(x[:2], x[:2]) + np.eye(2)) * k


@pytest.mark.parametrize("f", [numbers, computed_from_a_number, lists, flags, filled])
def test_numbers_and_lists_beside_arrays(f):
    more = (0.7,) if f is computed_from_a_number else ()
    every = tuple(range(1 + len(more)))
    for way in (wg.grad(f, every), wg.jit(wg.grad(f, every)), wg.grad(wg.jit(f), every)):
        for got, right in zip(way(strict(X), *more), wg.grad(f, every)(X, *more), strict=True):
            np.testing.assert_allclose(at_home(got), right, rtol=1e-12)
    tangents = (X[::-1].copy(), *more)
    got = wg.jvp(f, (strict(X), *more), (strict(tangents[0]), *more))[1]
    np.testing.assert_allclose(at_home(got), wg.jvp(f, (X, *more), tangents)[1], rtol=1e-12)


def test_solvers_that_iterate_in_python_say_where():
    for solve in (
        lambda x: wg.optimize.minimize(lambda x: np.sum(x**2), x),
        lambda x: wg.optimize.least_squares(lambda x: x**2 - 1, x),
        lambda x: wg.to_scipy(lambda x: np.sum(x**2), x),
        lambda x: wg.odeint(lambda t, y: -y, x, np.linspace(0.0, 1.0, 3)),
        lambda x: wg.grad(lambda x: np.sum(wg.odeint(lambda t, y: -y, x, np.linspace(0.0, 1.0, 3))))(x),
    ):
        with pytest.raises(wg.errors.DeviceError, match="iterations are with NumPy's"):
            solve(strict(X))
    np.testing.assert_allclose(host(wg.argmin(lambda x: np.sum((x - 1) ** 2), strict(X))), 1.0)


def test_derivatives_element_by_element():
    np.testing.assert_allclose(host(wg.derivative(np.sin, order=3)(strict(X))), -np.cos(X))
    cubes = wg.derivative_tensor(lambda x: np.sum(x**3), order=2)
    np.testing.assert_allclose(host(cubes(strict(X))), cubes(X), atol=1e-12)


def test_verifying_is_no_second_call():
    def doubled(x):
        x[1:] = 2 * x[1:]
        return x * 1.0

    x = StrictArray(X.copy())
    with pytest.warns(RuntimeWarning, match="arrays on a device"):
        y = wg.jit(doubled, verify=True)(x)
    np.testing.assert_array_equal(host(x), [X[0], *(2 * X[1:])])
    np.testing.assert_array_equal(host(y), host(x))
