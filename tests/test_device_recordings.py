"""Launches that are recorded and repeated (`backend/gpu/recording.py`): the numbers are those of running them."""

from __future__ import annotations

import emulated_device
import numpy as np
import pytest
from emulated_device import EmulatedDevice
from strict_array import StrictArray, host, strict

import wengert as wg

assert emulated_device


def network(p, xs):
    """A recurrent network: products, gates, and what all times leave behind."""
    h = np.zeros((xs.shape[1], p[1].shape[0]))
    total = 0.0
    for x in xs:
        z = x @ p[0] + h @ p[1] + p[2]
        a, b = np.split(z, 2, axis=1)
        h = np.tanh(a) / (1 + np.exp(-b))
        total = total + np.sum(h * h)
    return total


def diffusion(x, steps):
    u = x * 1.0
    for k in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) + 0.01 * k
    return np.sum(u**3)


def swapped(x, n):
    """A value that is carried and collected, and one that is handed on as it came."""
    a, b = x, x * 2.0
    rows = []
    for _ in range(n):
        a, b = b, np.sin(a) + b
        rows.append(a)
        rows.append(b)
    return np.sum(np.array(rows) ** 2 * np.arange(2.0 * n)[:, None]), a


def arguments(rng):
    p = [rng.normal(size=s) / 3 for s in ((4, 6), (3, 6), (6,))]
    return p, rng.normal(size=(40, 2, 4))


def test_a_recurrent_network(rng):
    p, xs = arguments(rng)
    g = wg.jit(wg.value_and_grad(network))
    before = EmulatedDevice.repeats
    kept = []
    for k in range(5):  # run, recorded and repeated, repeated with other numbers
        scaled = [a * (1 + 0.1 * k) for a in p]
        value, gradient = g([strict(a) for a in scaled], strict(xs * (1 + k)))
        right, slopes = wg.value_and_grad(network)(scaled, xs * (1 + k))
        kept.append((value, gradient, right, slopes))
    assert EmulatedDevice.repeats == before + 4
    for value, gradient, right, slopes in kept:  # what was returned earlier is not written over
        np.testing.assert_allclose(host(value), right, rtol=1e-12)
        for a, b in zip(gradient, slopes, strict=True):
            np.testing.assert_allclose(host(a), b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("way", [wg.jit, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_diffusion(way, rng):
    g = way(lambda x: diffusion(x, 60))
    for _ in range(4):
        x = rng.normal(size=12)
        np.testing.assert_allclose(host(g(strict(x))), way(lambda x: diffusion(x, 60))(x), rtol=1e-10, atol=1e-12)


def test_values_that_are_carried_and_collected(rng):
    f = wg.jit(lambda x: swapped(x, 30))
    for _ in range(4):
        x = rng.normal(size=5)
        got, right = f(strict(x)), swapped(x, 30)
        np.testing.assert_allclose(host(got[0]), right[0], rtol=1e-11)
        np.testing.assert_allclose(host(got[1]), right[1], rtol=1e-11)


def test_numbers_and_layouts_have_recordings_of_their_own(rng):
    def f(x, step, y):
        for _ in range(50):
            x = x + step * np.sin(x @ y)
        return x

    g, x, y = wg.jit(f), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    for step in (0.1, 0.1, 0.2, 0.1, -0.0, 0.0, 0.2, 0.2, 0, 0.05, 0, 0.07, 0.08):
        for z in (y, np.asfortranarray(y)):
            np.testing.assert_allclose(host(g(strict(x), step, StrictArray(z))), f(x, step, z), rtol=1e-9)


def test_what_looks_at_numbers_is_not_recorded(rng):
    def f(x, places):
        for k in range(40):
            x = x + 0.1 * np.sum(x[places] * k)
        return np.sum(x)

    g, x = wg.jit(wg.grad(f)), rng.normal(size=5)
    before = EmulatedDevice.repeats
    for _ in range(3):
        places = rng.integers(0, 5, 3)
        np.testing.assert_allclose(host(g(strict(x), strict(places))), wg.grad(f)(x, places), rtol=1e-10)
    assert EmulatedDevice.repeats == before
