"""What kernels are made of: slices, joined arrays, writes and sums along axes inside them, in as few as possible."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from strict_array import StrictArray, counted, host, strict

import wengert as wg
from wengert.backend.gpu import kernel


def stencil(u):
    for _ in range(3):
        middle = u[1:-1, 1:-1]
        inner = middle + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * middle)
        rows = np.concatenate([u[1:-1, :1], inner, u[1:-1, -1:]], 1)
        u = np.concatenate([u[:1], rows, u[-1:]], 0)
    return np.sum(u * u)


def bodies(x):
    d = x[:, None, :] - x[None, :, :]
    return np.sum(1 / np.sqrt(np.sum(d * d, 2) + 1e-2))


def softmax(x):
    e = np.exp(x - np.max(x, 1, keepdims=True))
    return np.sum((e / np.sum(e, 1, keepdims=True))[:, 2] * np.mean(x, 0)[1])


def written(x):
    y = np.zeros((9, 10))
    y[2:8, 1:-1] = x[:6, :8]
    y[0] = x[3] * 2.0
    y[:, 3] += x[1, 1]
    y[1:4, None, 2:5] += np.sin(x[4:7, None, 3:6])
    y[-1, ::1] = y[0] + x[:, 0].sum()
    return np.sum(y[::-1, ::2] ** 3)


def shapes(x):
    a = np.exp(0.1 * x).T.reshape(10, 3, 3)[:, ::-1]
    b = np.concatenate([a, np.zeros((0, 3, 3)), a[:2] * 2.0, np.ones((1, 3, 3))])
    return np.sum(b.transpose(2, 0, 1)[..., 1] * np.sum(b, 2).T) + np.sum(np.stack([x[0], x[2]], 1) ** 2)


PROGRAMS = [stencil, bodies, softmax, written, shapes]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f, rng):
    x = rng.normal(size=(9, 10))
    g = wg.jit(wg.value_and_grad(f))
    g(strict(x))
    with counted() as count:
        value, gradient = g(strict(x))
    assert count.transfers == 0
    np.testing.assert_allclose(host(value), f(x), rtol=1e-12)
    np.testing.assert_allclose(host(gradient), wg.grad(f)(x), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(host(wg.jit(f)(StrictArray(np.asfortranarray(x)))), f(x), rtol=1e-12)


def test_a_kernel_for_a_step():
    lowered = wg.jit(wg.grad(stencil)).lower(strict(np.ones((9, 10))))
    assert len(lowered.report) <= 6  # three steps, and three back, if not the ends of two are one
    assert all(line.startswith("one kernel for ") for line in lowered.report)


@pytest.mark.parametrize("shape", [(40, 3), (2, 30, 1, 5)])
@pytest.mark.parametrize("f", [np.sum, np.any], ids=lambda f: f.__name__)
def test_reductions_along_axes(f, shape, rng):
    """Shared by several threads, if there are few numbers of many elements each."""
    x = rng.normal(size=shape)
    for axis in [0, -1, 1, (0, -1)]:
        for keepdims in (False, True)[: 1 + (axis == 0)]:
            g = lambda x, axis=axis, keepdims=keepdims: f(
                np.cos(x) > 0.9 if f is np.any else np.cos(x), axis, keepdims=keepdims
            )
            got, right = wg.jit(g)(strict(x)), g(x)
            assert got.shape == right.shape
            assert got.dtype == right.dtype
            np.testing.assert_allclose(host(got), right, rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.int8])
def test_neighbours_join_what_they_found_along_the_last_axis(dtype, rng):
    for shape in [(3, 50), (1, 700), (5, 2, 17), (2, 3, 300)]:
        x = (rng.normal(size=shape) * 5).astype(dtype)
        for f in (np.sum, np.any) if dtype == np.complex128 else (np.sum, np.any, np.max):
            g = lambda x, f=f: f(x if f is not np.any else x == x.dtype.type(3), axis=-1)
            got, right = wg.jit(g)(strict(x)), g(x)
            assert got.dtype == right.dtype
            np.testing.assert_allclose(host(got), right, rtol=1e-5 if dtype == np.float32 else 1e-12)
            assert np.all(host(wg.jit(g)(strict(x))) == host(got))


def test_a_table_is_made_by_the_first_reduction_of_it(rng):
    """… which is along its rows or columns, sees each element once or a few times, and stores it for the others."""
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(50, 3))

    def pairs(x, y):
        d = x[:, None, :] - y[None, :, :]
        w = np.exp(np.sin(np.sum(d * d, 2)))[:, :, None]
        return np.sum(d * w, 1), np.sum(d * w, 0), np.sum(w * w, 2)

    def plain(x, y):
        t = np.exp(np.sin(x[:, :1] * y[:, 0]))
        return np.sum(t, 0), np.sum(t * t, 1), np.sum(t * t.T[:40, :1], 1)

    for f in (pairs, plain):
        report = wg.jit(f).lower(strict(x), strict(y)).report
        assert sum("exp" in line for line in report) == 1
        assert "sum" in next(line for line in report if "exp" in line)
        for got, right in zip(wg.jit(f)(strict(x), strict(y)), f(x, y), strict=True):
            np.testing.assert_allclose(host(got), right, rtol=1e-11)


def far_apart(x, y):
    d = x[:, None] - y
    t = np.exp(np.sin(d))
    return np.sum(t, 0), np.sum(t * d, 1)


def points_apart(x, y):
    d = x[:, None, None] - np.stack([y, y * y, y + 1], 1)
    t = np.exp(np.sin(d))
    return np.sum(t, 1), np.sum(t * t, 0), np.sum(d, 1)


@pytest.mark.parametrize("f", [far_apart, points_apart])
@pytest.mark.parametrize(("rows", "columns"), [(64, 128), (100, 70), (3, 200), (50, 2), (33, 31)])
def test_a_table_reduced_along_rows_and_columns_is_made_once_in_registers(f, rows, columns, rng):
    x, y = rng.normal(size=rows), rng.normal(size=columns)
    made = [line for line in wg.jit(f).lower(strict(x), strict(y)).report if "exp" in line]
    assert len(made) == 1
    assert made[0].count("sum") == len(f(x, y))
    g = wg.jit(f)
    for got, again, right in zip(g(strict(x), strict(y)), g(strict(x), strict(y)), f(x, y), strict=True):
        np.testing.assert_allclose(host(got), right, rtol=1e-11, atol=1e-13)
        assert np.all(host(got) == host(again))


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int16])
def test_dtypes_of_a_table_reduced_along_rows_and_columns(dtype, rng):
    x, y = [(3 * rng.normal(size=n)).astype(dtype) for n in (37, 45)]
    join = np.sum if dtype == np.complex128 else np.max

    def f(x, y):
        t = x[:, None] * y + y * dtype(2)
        return join(t, 0), np.sum(t * t, 1), np.any(t == dtype(0), 0), np.all(t == t, 1)

    for got, right in zip(wg.jit(f)(strict(x), strict(y)), f(x, y), strict=True):
        assert got.dtype == right.dtype
        np.testing.assert_allclose(host(got), right, rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_a_table_reduced_along_rows_and_columns_that_others_need_is_stored(rng):
    x, y = rng.normal(size=40), rng.normal(size=50)

    def f(x, y):
        t = np.exp(np.sin(x[:, None] - y))
        a, b = np.sum(t, 0), np.sum(t, 1)
        return t, np.sum(t[::-1] * a * b[:, None], 1)

    report = wg.jit(f).lower(strict(x), strict(y)).report
    assert sum("exp" in line for line in report) == 1
    for got, right in zip(wg.jit(f)(strict(x), strict(y)), f(x, y), strict=True):
        np.testing.assert_allclose(host(got), right, rtol=1e-11)


def test_infinities_among_rows_and_columns(rng):
    """Threads without a column add nothing to a row: no NaN from what is not there, none lost from what is."""
    x, y = rng.normal(size=20), rng.normal(size=37)
    y[5], y[36], x[3] = np.inf, -np.inf, np.nan
    f = lambda x, y: (np.max(x[:, None] * y, 1), np.sum(np.abs(x[:, None] * y), 0), np.sum(x[:, None] * y, 1))
    for got, right in zip(wg.jit(f)(strict(x), strict(y)), f(x, y), strict=True):
        np.testing.assert_allclose(host(got), right, rtol=1e-12)


def test_a_table_that_a_reduction_reads_elsewhere_too_is_made_before_it(rng):
    x = rng.normal(size=(30, 30))
    turned = lambda x: np.sum(np.exp(np.sin(x)) * np.exp(np.sin(x)).T, 1)
    needs_more = lambda x: np.sum(np.exp(np.sin(x)) * np.sum(np.exp(np.sin(x)), 0)[:, None], 1)
    for f in (turned, needs_more):
        np.testing.assert_allclose(host(wg.jit(f)(strict(x))), f(x), rtol=1e-11)


def test_dear_values_are_made_once(rng):
    """Of a value that many elements need there is one in memory; a chain of several uses does not explode."""
    x = rng.normal(size=5)
    f = lambda x: np.sum(np.exp(x)[None, :] * np.arange(50.0)[:, None], 0)
    report = wg.jit(f).lower(strict(x)).report
    assert any("[1, 5]: exp" in line or "[5]: exp" in line for line in report)
    np.testing.assert_allclose(host(wg.jit(f)(strict(x))), f(x), rtol=1e-12)

    def chain(x):
        for _ in range(12):
            x = np.concatenate([x[1:], x[:1]]) * x + x[::-1]
            x = x / np.sum(np.abs(x))
        return x

    np.testing.assert_allclose(host(wg.jit(chain)(strict(x))), chain(x), rtol=1e-9)
    gradient = wg.grad(lambda x: chain(x)[0])
    np.testing.assert_allclose(host(wg.jit(gradient)(strict(x))), gradient(x), rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_moves_of_other_dtypes(dtype, rng):
    x = (rng.normal(size=(4, 6)) * 3).astype(dtype)

    def f(x):
        y = x.copy()
        y[1:3, 2] = x[0, 0]
        y[0] = 1
        return np.concatenate([x.T, y.T[::-1]], 1), np.sum(y, 0)

    for got, right in zip(wg.jit(f)(strict(x)), f(x), strict=True):
        assert got.dtype == right.dtype
        np.testing.assert_allclose(host(got), right, rtol=1e-5)


def test_a_number_of_the_host_that_becomes_one_of_the_device(rng):
    def f(x):
        total = 0.0
        for _ in range(12):
            x = np.sin(x)
            total = total + np.sum(x * x)
        return total

    x = rng.normal(size=4)
    np.testing.assert_allclose(host(wg.jit(f)(strict(x))), f(x), rtol=1e-12)
    np.testing.assert_allclose(host(wg.jit(wg.grad(f))(strict(x))), wg.grad(f)(x), rtol=1e-12)


def test_constants_that_are_returned_belong_to_the_caller():
    f = wg.jit(lambda x: (x * 2, np.arange(3.0) * 2))
    for _ in range(3):
        y, constant = f(strict(np.ones(3)))
        np.testing.assert_array_equal(host(constant), [0.0, 2.0, 4.0])
        constant[...] = 99.0
        y[...] = 99.0


def test_prepared_launches_are_for_any_arguments_that_lie_alike(rng):
    """Later calls repeat the launches of the first: with other numbers, other memory, the same array twice, parts of
    one array, other layouts; results are the caller's own."""
    x, y = rng.normal(size=(6, 5)), rng.normal(size=(6, 5))
    f = lambda a, b: (np.sum(np.sin(a) * b, 1), np.sum(a * b), a + 2.0 * b, np.sum(a, 0)[:, None] * 3.0)
    g = wg.jit(f)
    whole = rng.normal(size=(12, 5))
    turned = StrictArray(np.asfortranarray(x))
    cases = [(x, y), (y, x), (x, x), (whole[:6], whole[3:9]), (2 * x, y), (whole[6:], whole[:6])]
    given = [(strict(a), strict(b)) for a, b in cases]
    same, parts = strict(x), StrictArray(whole)
    given += [(same, same), (parts[:6], parts[3:9]), (parts[:6], parts[:6]), (turned, strict(y)), (same, strict(y))]
    kept = []
    for a, b in given:
        got, right = g(a, b), f(host(a), host(b))
        kept.append((got, right))
    for got, right in kept:
        for p, q in zip(got, right, strict=True):
            assert p.shape == np.shape(q)
            np.testing.assert_allclose(host(p), q, rtol=1e-12)


@pytest.mark.parametrize("slow", [None, 0, 1])
def test_prepared_products(slow, rng, monkeypatch):
    """Kernels and products in one piece of memory; an operand that is slow as it lies is copied."""
    monkeypatch.setattr(EmulatedDevice, "slow", slow)

    def f(p, x):
        h = np.tanh(x @ p[0] + p[1])
        return np.sum(np.exp(np.tanh(h @ p[2]) @ p[3].T))

    p = [rng.normal(size=s) / 3 for s in ((5, 32), (32,), (32, 8), (3, 8))]
    x = rng.normal(size=(8, 5))
    g, before, kept = wg.jit(wg.grad(f)), EmulatedDevice.repeated, []
    for k in range(4):
        scaled = [a * (1 + 0.1 * k) for a in p]
        kept.append((g([strict(a) for a in scaled], strict(x * (k + 1))), wg.grad(f)(scaled, x * (k + 1))))
    assert EmulatedDevice.repeated == before + 3
    for got, right in kept:
        for a, b in zip(got, right, strict=True):
            np.testing.assert_allclose(host(a), b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(8, 32), (16, 64), (3, 8, 32), (8, 31)])
def test_arrays_that_are_turned(shape, rng):
    """Patch after patch, where the sizes allow it."""
    x, y = rng.normal(size=(*shape[:-2], shape[-1], shape[-2])), rng.normal(size=shape)
    f = lambda x, y: (x.swapaxes(-1, -2) * y, np.sin(x), np.sum(x * y.swapaxes(-1, -2)))
    turned = strict(x).swapaxes(-1, -2)
    for got, right in zip(wg.jit(f)(turned.swapaxes(-1, -2), strict(y)), f(x, y), strict=True):
        np.testing.assert_allclose(host(got), right, rtol=1e-12)
    h = lambda t: t * 2.0 + np.cos(t)
    np.testing.assert_allclose(host(wg.jit(h)(turned)), h(x.swapaxes(-1, -2)), rtol=1e-13)


@pytest.mark.parametrize("size", [(64, 6), (96, 7), (61, 3), (5,)])
def test_several_elements_at_a_time(size, rng, monkeypatch):
    """Of single precision a thread reads four elements before it computes; the last ones are not counted twice."""
    monkeypatch.setattr(kernel, "MANY", 1)
    x, y = rng.normal(size=(2, *size)).astype(np.float32)
    b = rng.normal(size=size[-1]).astype(np.float32)
    f = lambda x, y, b: (np.tanh(x + b) * y, np.exp(x) + y)
    g = lambda x, y, b: (np.sum(np.tanh(x + b) * y, 0), np.tanh(x + b) * y, np.max(x, -1), np.sum(x * y))
    assert wg.jit(f).lower(strict(x), strict(y), strict(b)).ptx.count("ld.global") > 8
    for h in (f, g, lambda *args: wg.grad(lambda *args: np.sum(g(*args)[0] ** 2))(*args)):
        got, right = (wg.tree.leaves(part) for part in (wg.jit(h)(strict(x), strict(y), strict(b)), h(x, y, b)))
        for p, q in zip(got, right, strict=True):
            np.testing.assert_allclose(host(p), q, rtol=3e-5, atol=3e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e160, 1e-320])
def test_numbers_that_are_not_usual_among_others(scale, rng):
    """A thread computes neighbours together, without branches; where a number is not usual, all of them again."""
    x, y = rng.normal(size=48), rng.normal(size=64)
    x[[3, 17, 30]], y[[5, 18, 40, 41, 63]] = (scale, 0.0, -scale), (0.0, scale, np.inf, np.nan, -0.0)

    def f(x, y):
        d = x[:, None] - y[None]
        root = np.sqrt(d)
        inverse = 1 / np.sqrt(d * d)
        table = inverse / root + np.sqrt(np.abs(d)) / (d * 0.5) - (0.25 / d + d / (x[:, None] + y) / root)
        return [
            np.max(np.nan_to_num(t, posinf=1e300, neginf=-1e300), axis) for axis in (0, 1) for t in (table, inverse)
        ]

    with np.errstate(all="ignore"):
        for got, right in zip(wg.jit(f)(strict(x), strict(y)), f(x, y), strict=True):
            np.testing.assert_allclose(host(got), right, rtol=1e-14)


def test_quick_divisions_and_roots_are_exact(rng):
    """They are those of IEEE arithmetic, for numbers of usual size."""
    x, y = 10.0 ** rng.uniform(-100, 100, 400), 10.0 ** rng.uniform(-100, 100, 64)
    f = lambda x, y: [np.max(t, 0) for t in (np.sqrt(x[:, None] * y), x[:, None] / y, 1 / np.sqrt(x[:, None] + y))]
    g = wg.jit(lambda x, y: [*f(x, y), *[np.min(t, 1) for t in (x[:, None] / y, np.sqrt(x[:, None] * y))]])
    assert "rsqrt.approx.ftz.f64" in g.lower(strict(x), strict(y)).ptx
    right = [*f(x, y), np.min(x[:, None] / y, 1), np.min(np.sqrt(x[:, None] * y), 1)]
    for p, q in zip(g(strict(x), strict(y)), right, strict=True):
        np.testing.assert_allclose(host(p), q, rtol=1.2e-16)


RESULTS = {
    "an argument": lambda a: (a, a + 1.0),
    "one twice": lambda a: (a + 1.0, a + 1.0),
    "turned": lambda a: ((a * 2.0).T, np.sum(a)),
    "constant": lambda a: (np.zeros(3), np.sum(a, 0)),
    "numbers": lambda a: (2.0, np.float64(3.0), np.sum(a, 0)),
    "in another shape": lambda a: ((a * 2.0).reshape(10, 3), np.sum(a * 2.0, 1)[::2]),
    "of parts": lambda a: np.sum(a[1:] * a[:-1], 0),
}


@pytest.mark.parametrize("f", RESULTS.values(), ids=list(RESULTS))
def test_results_that_are_not_as_they_were_made(f, rng):
    x = rng.normal(size=(6, 5))
    g = wg.jit(f)
    kept = [g(strict(k * x)) for k in (1.0, 2.0, 3.0)]
    for k, got in zip((1.0, 2.0, 3.0), kept, strict=True):
        got, right = (p if isinstance(p, tuple) else (p,) for p in (got, f(k * x)))
        for p, q in zip(got, right, strict=True):
            assert np.shape(p) == np.shape(q)
            np.testing.assert_allclose(host(p) if isinstance(p, StrictArray) else p, q, rtol=1e-12)
