"""Counted loops that are one kernel on a device (`backend/gpu/loop_kernel.py`): the numbers of plain NumPy, from one
launch for each loop. And loops that must not be: threads would need elements of others, or see writes too early."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from strict_array import host, strict

import wengert as wg

X, W = np.linspace(0.3, 2, 7), np.linspace(1, 2, 7)
TABLE = np.arange(60.0).reshape(20, 3) / 40


def recurrence(x):
    for _ in range(50):
        x = np.sin(x) * 1.7 + 0.1
    return x


def scan(a, b):
    s = 0.0
    for i in range(len(a)):
        s = a[i] * s + b[i]
    return s


def newton(x):
    y = x * 0 + 1.0
    for _ in range(20):
        y = y - (y * y - x) / (2 * y)
    return y


def filled(x):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = 0.9 * out[i - 1] + np.tanh(x[i])
    return out**2


def from_the_end(x):
    out = np.zeros(len(x))
    out[-1] = x[-1]
    for i in range(len(x) - 2, -1, -1):
        out[i] = 0.9 * out[i + 1] + x[i] / (i + 1)
    return out**2


def clock_and_state(x):
    t = 0.0
    for i in range(30):
        x = x + 0.01 * (np.cos(t) - x) * i
        t = t + 0.01
    return x * t


def rows(a):
    out, s = np.zeros(a.shape), np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        s = 0.5 * s + a[i]
        out[i] = np.tanh(s) * i
    return out**2


def thomas(d):
    n = len(d)
    c, x, e = np.zeros(n), np.zeros(n), np.zeros(n)
    c[0], e[0] = -1 / 4.0, d[0] / 4
    for i in range(1, n):
        m = 4 + c[i - 1]
        c[i] = -1 / m
        e[i] = (d[i] + e[i - 1]) / m
    x[-1] = e[-1]
    for i in range(n - 2, -1, -1):
        x[i] = e[i] - c[i] * x[i + 1]
    return x**3


def selected(x, w):
    for i in range(5):
        x = np.where(x > 0.5, x * w[i], x + w[i + 1])
    return x


def broadcast(x):
    c, y = x[:, None] * np.ones(1), np.zeros((7, 4))
    for i in range(12):
        c = np.cos(c)
        y = y + c * np.arange(4.0) / (i + 2)
    return y


def twice_in_an_iteration(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i]
        out[i] += 0.5 * x[i] ** 2
    return out**2


def with_a_number(a, x):
    for i in range(20):
        x = np.sin(x) * a[0] + a[1] * i
    return x


def one_sum_a_step(x):
    total, rest = 1.0, 0.5
    for i in range(6):
        x = np.cos(x) + 0.1 * i
        total = total + np.sum(x * x)
        rest = rest - 0.5 * i * np.sum(x)
    return rest * total


PROGRAMS = [
    (recurrence, (X,)), (scan, (X, W)), (newton, (X,)), (filled, (X,)), (from_the_end, (X,)), (clock_and_state, (X,)),
    (rows, (TABLE,)), (rows, (np.asfortranarray(TABLE),)), (thomas, (X,)), (selected, (X, W)), (broadcast, (X,)),
    (twice_in_an_iteration, (X,)), (with_a_number, (W[:2], X)), (one_sum_a_step, (X,)), (recurrence, (np.float32(X),)),
    (recurrence, (X[::-2],)), (filled, (X[::-1],)),
]  # fmt: skip
WAYS = {
    "value": lambda f: f,
    "grad": lambda f: wg.grad(lambda *xs: np.sum(f(*xs))),
    "jvp": lambda f: lambda *xs: wg.jvp(f, xs, tuple(x * 0.5 for x in xs))[1],
    "second": lambda f: lambda *xs: wg.jvp(wg.grad(lambda x: np.sum(f(x, *xs[1:]))), xs[:1], xs[:1])[1],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_numbers_and_launches(f, args, way):
    g = WAYS[way](f)
    compiled, given = wg.jit(g), [strict(x) for x in args]
    loops = [line for line in compiled.lower(*given).report if "iterations" in line or line.startswith("loop")]
    if way == "value":
        assert loops
        assert all("iterations" in line for line in loops)
    tolerance = dict(rtol=2e-5 if args[0].dtype == np.float32 else 1e-11, atol=1e-14)
    for _ in range(3):  # at first, noted or recorded, and repeated
        np.testing.assert_allclose(host(compiled(*given)), g(*args), **tolerance)


def test_a_loop_is_one_launch():
    x, compiled = strict(X), wg.jit(recurrence)
    compiled(x)
    before = EmulatedDevice.launches
    compiled(x)
    assert EmulatedDevice.launches == before + 1


def test_the_cotangent_of_a_number_is_added_up_by_threads():
    f = wg.grad(lambda a, x: np.sum(with_a_number(a, x)))
    report = wg.jit(f).lower(strict(W[:2]), strict(X)).report
    assert [line for line in report if line.startswith("loop")] == []


def diffusion(u):
    for _ in range(6):
        u = u + 0.1 * (np.roll(u, 1) - u)
    return u


def normalised(x):
    for _ in range(6):
        x = np.cos(x) / np.sum(x)
    return x


def reversed_each_time(x):
    for _ in range(5):
        x = np.sin(x)[::-1] * 1.1
    return x


def rows_that_need_others(a):
    a = a.copy()
    for i in range(1, 20):
        a[i] = a[i] + 0.5 * a[i - 1][::-1]
    return a


def read_after_written(x):
    out = np.zeros(len(x) + 1)
    for i in range(len(x)):
        before = out[i]
        out[i] = x[i] + 1.0
        out[i + 1] = out[i] * before + out[i + 1]
    return out


def by_remainder(x):
    s = np.zeros(3)
    for i in range(20):
        s[i % 3] = s[i % 3] * 0.5 + x[i % 7]
    return s


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (diffusion, X), (normalised, X), (reversed_each_time, X), (rows_that_need_others, TABLE),
        (read_after_written, X), (by_remainder, X),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)  # fmt: skip
@pytest.mark.parametrize("way", WAYS)
def test_what_threads_cannot_do_alone(f, x, way):
    g = WAYS[way](f)
    compiled = wg.jit(g)
    for _ in range(3):
        np.testing.assert_allclose(host(compiled(strict(x))), g(x), rtol=1e-11, atol=1e-14)


def test_a_place_outside_raises():
    def f(x):
        s = 0.0
        for i in range(30):
            s = 0.5 * s + x[i]
        return s

    for _ in range(3):
        with pytest.raises(IndexError):
            wg.jit(f)(strict(X))
    np.testing.assert_allclose(host(wg.jit(f)(strict(np.arange(30.0)))), f(np.arange(30.0)), rtol=1e-14)
