"""Programs compiled for a device: their kernels, run on the processor (`emulated_device.py`), give what NumPy gives."""

from __future__ import annotations

import emulated_device
import numpy as np
import pytest
from strict_array import StrictArray, counted, host, strict
from test_strict_programs import PROGRAMS, X

import wengert as wg


@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled_programs(f):
    compiled, derivative = wg.jit(f), wg.jit(wg.grad(f))
    for _ in range(2):  # constants are moved when it is compiled
        with counted() as count:
            value, gradient, inside = compiled(strict(X)), derivative(strict(X)), wg.grad(compiled)(strict(X))
    assert count.transfers == 0
    np.testing.assert_allclose(host(value), f(X), rtol=1e-12)
    for got in (gradient, inside):
        np.testing.assert_allclose(host(got), wg.grad(f)(X), rtol=1e-10, atol=1e-12)
    assert emulated_device.EmulatedDevice.launches


def test_one_kernel_for_elementwise_work():
    f = lambda x: np.sum(np.sin(x) * np.exp(-x) + np.tanh(x) / (1 + x**2))
    lowered = wg.jit(wg.value_and_grad(f)).lower(strict(X))
    (line,) = lowered.report
    assert line.startswith("one kernel for [4]: sin, negative, exp")
    assert lowered.ptx.count(".entry") == 1
    assert ".extern" not in lowered.ptx


@pytest.mark.parametrize("n", [1, 5, 1000])
def test_reductions(n, rng):
    """In several kernels, with fewer threads each."""
    x = rng.normal(size=n)
    for f in (
        np.sum,
        np.max,
        np.min,
        np.prod,
        lambda x: np.sum(x > 0),
        lambda x: np.any(x > 2),
        lambda x: np.sum(x * x),
    ):
        got = wg.jit(f)(strict(x))
        np.testing.assert_allclose(host(got), f(x), rtol=1e-12)
        assert got.dtype == np.asarray(f(x)).dtype
    z = x + 1j * x[::-1]
    np.testing.assert_allclose(host(wg.jit(lambda z: np.sum(z * z))(strict(z))), np.sum(z * z))
    both = np.array([np.nan, *x])
    assert np.isnan(host(wg.jit(np.max)(strict(both))))


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((40, 50, 3), 0), ((40, 50, 3), 1), ((1000, 3), 0), ((3, 700, 2), 1), ((60, 2, 2), 0), ((20, 30, 1), 1),
     ((3, 20, 2, 25, 2), (1, 3)), ((600, 9), 0), ((30000, 2), 0)],
)  # fmt: skip
def test_short_axes_at_the_end_are_kept(shape, axis, rng):
    """A thread makes a number for each place along them."""
    x = rng.normal(size=shape)
    w = rng.normal(size=(*shape[:-1], 1))
    for f in (
        lambda x: np.sum(np.sin(w) * x, axis),
        lambda x: np.max(x, axis),
        lambda x: (np.sum(x * x, axis), np.sum(1j * x, axis)),
    ):
        for got, right in zip(*[wg.tree.leaves(y) for y in (wg.jit(f)(strict(x)), f(x))], strict=True):
            np.testing.assert_allclose(host(got), right, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("sizes", [(40, 24), (42, 8), (41, 7), (2, 64)])
def test_tables_of_distances(sizes, rng):
    """A thread makes a few numbers that are neighbours, where that divides the table."""
    x, y = [rng.normal(size=(n, 50)) for n in sizes]
    f = lambda x, y: np.sum((x[:, None, :] - y[None]) ** 2, 2)
    np.testing.assert_allclose(host(wg.jit(f)(strict(x), strict(y))), f(x, y), rtol=1e-12)


def test_layouts():
    """Operands lie as they lie: transposed, with gaps, backwards, broadcast."""
    a = np.arange(24.0).reshape(4, 6)
    f = lambda x, y: np.sin(x) * y + x[0]
    g = wg.jit(f)
    for x in (a[:, :4].T, a[:, ::-1][:, :4], a[::1, 1:5], np.asfortranarray(a[:4, :4])):
        for y in (x, x[:1], x[:, 2:3], np.float64(2.5), 3):
            other = StrictArray(y) if isinstance(y, np.ndarray) else y
            np.testing.assert_allclose(host(g(StrictArray(x), other)), f(x, y), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_, np.complex128])
def test_dtypes(dtype, rng):
    x = (rng.normal(size=7) * 3).astype(dtype)
    f = lambda x: (x * 2 + 1, np.where(x == x[0], x, 0), x.astype(np.float64 if dtype != np.complex128 else dtype) / 3)
    for got, right in zip(wg.jit(f)(strict(x)), f(x), strict=True):
        assert got.dtype == right.dtype
        np.testing.assert_allclose(host(got), right, rtol=1e-6 if dtype == np.float32 else 1e-13)


def test_loops_run_their_bodies_in_kernels():
    def f(x):
        h = np.zeros(4)
        for k in range(50):
            h = np.tanh(h * 0.9 + np.sum(h) * 0.01 + x * 0.1) + k * 0.001
        while np.sum(h) < 3.0:
            h = h * 1.1
        return np.sum(h)

    before = emulated_device.EmulatedDevice.launches
    np.testing.assert_allclose(host(wg.jit(wg.grad(f))(strict(X))), wg.grad(f)(X), rtol=1e-10)
    assert emulated_device.EmulatedDevice.launches > before + 50


def test_arrays_found_outside():
    w = strict(X[::-1])
    np.testing.assert_allclose(host(wg.jit(lambda x: np.sum(w * x**2))(strict(X))), np.sum(X[::-1] * X**2))


def test_writes_reach_the_caller():
    def f(x):
        x[1:] = x[:-1] * 2.0
        x += 1.0

    x, there = X.copy(), strict(X)
    f(x)
    wg.jit(f)(there)
    np.testing.assert_allclose(host(there), x)


def test_without_scalar_code_the_library_is_asked():
    f = lambda x: np.sum(np.fmod(x, 0.4) * np.floor_divide(x, 0.25))
    compiled = wg.jit(f)
    np.testing.assert_allclose(host(compiled(strict(X))), f(X))
    assert any("by the library" in line for line in compiled.lower(strict(X)).report)


def test_gradients_that_depend_on_nothing_of_the_device_lie_there():
    def linear(x):
        return np.sum(np.diff(x) * np.cos(np.arange(3) + 1.0))

    def one_of_two(x):
        return x[0] if x[0] > 1 else x[1]

    for f in (linear, one_of_two):
        for way in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
            got = way(strict(X))
            assert isinstance(got, StrictArray)
            np.testing.assert_allclose(host(got), wg.grad(f)(X), rtol=1e-14)


def test_calls_with_containers(rng):
    """A call that is like the last one takes a quick way; containers, classes, shapes and layouts tell calls apart."""
    x, y = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    turned = np.asfortranarray(y)

    def f(p, k):
        scaled = p["a"] if isinstance(p, dict) else p[0] * (2.0 if isinstance(p, tuple) else 1.0)
        rest = p["b"] if isinstance(p, dict) else p[1][0]
        return [scaled * k, (rest.T.ravel(), scaled.T @ rest)]

    g = wg.jit(f)
    there = StrictArray
    calls = [([x, [y]], 2.0), ((x, [y]), 2.0), ([x, (y,)], 3), ([x, [turned]], 2.0), ([x[:2], [y[:2]]], 2.0)]
    calls += [({"a": x, "b": y}, 2.0), ({"b": y, "a": x}, 2.0), ([y, [x]], 5.0)]
    for p, k in [call for call in calls for _ in range(3)]:
        got = wg.tree.leaves(g(wg.tree.map(there, p), k))
        for a, b in zip(got, wg.tree.leaves(f(p, k)), strict=True):
            np.testing.assert_allclose(host(a), b, rtol=1e-13)
