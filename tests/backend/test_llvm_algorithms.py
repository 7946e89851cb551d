"""Textbook algorithms, full of loops and writes, compiled: they give what Python gives."""

import numpy as np
import pytest

from wengert.api.jit import jit

rng = np.random.default_rng(5)


def cholesky(a):
    n = a.shape[0]
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += l[i, k] * l[j, k]
            if i == j:
                l[i, j] = np.sqrt(a[i, i] - s)
            else:
                l[i, j] = (a[i, j] - s) / l[j, j]
    return l


def lu_with_pivoting(a):
    a = a.copy()
    n = a.shape[0]
    order = np.arange(n)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        row = a[k].copy()
        a[k] = a[p]
        a[p] = row
        t = order[k]
        order[k] = order[p]
        order[p] = t
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            a[i, k + 1 :] = a[i, k + 1 :] - a[i, k] * a[k, k + 1 :]
    return a, order


def floyd_warshall(d):
    d = d.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def insertion_sort(x):
    x = x.copy()
    for i in range(1, x.shape[0]):
        v = x[i]
        j = i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v
    return x


def edit_distance(s, t):
    n, m = s.shape[0], t.shape[0]
    d = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0.0 if s[i - 1] == t[j - 1] else 1.0
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def life(board):
    for _ in range(5):
        total = np.zeros(board.shape, dtype=np.int64)
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di != 0 or dj != 0:
                    total = total + np.roll(np.roll(board, di, axis=0), dj, axis=1)
        board = np.where((total == 3) | ((board == 1) & (total == 2)), 1, 0)
    return board


def mandelbrot(c):
    counts = np.zeros(c.shape[0], dtype=np.int64)
    for i in range(c.shape[0]):
        z = 0j
        n = 0
        while n < 50 and abs(z) < 2.0:
            z = z * z + c[i]
            n += 1
        counts[i] = n
    return counts


def heat(u):
    for _ in range(20):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u = new
    return u


def power_iteration(a):
    v = np.ones(a.shape[0])
    for _ in range(30):
        v = a @ v
        v = v / np.sqrt(np.sum(v * v))
    return v, v @ (a @ v)


def gram_schmidt(a):
    q = a.copy()
    for j in range(a.shape[1]):
        for k in range(j):
            q[:, j] -= np.sum(q[:, k] * q[:, j]) * q[:, k]
        q[:, j] /= np.sqrt(np.sum(q[:, j] ** 2))
    return q


def histogram(x):
    counts = np.zeros(10)
    for i in range(x.shape[0]):
        counts[int(x[i] * 10)] += 1.0
    return counts


def newton(x):
    for _ in range(50):
        step = (x * x - 2.0) / (2 * x)
        x = x - step
        if abs(step) < 1e-14:
            break
    return x


def rotate_in_place(x):
    x = x.copy()
    x[1:] = x[:-1]
    x[::2] = x[::-1][: x[::2].shape[0]]
    y = x
    x = x.copy()
    x[0] = 100.0
    y[-1] = -1.0
    return x, y


def spd(n):
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n)


CASES = [
    (cholesky, (spd(6),)),
    (lu_with_pivoting, (rng.random((6, 6)),)),
    (floyd_warshall, (rng.random((7, 7)),)),
    (insertion_sort, (rng.random(20),)),
    (edit_distance, (rng.integers(0, 3, 8), rng.integers(0, 3, 9))),
    (life, (rng.integers(0, 2, (6, 6)),)),
    (mandelbrot, (rng.uniform(-2, 1, 20) + 1j * rng.uniform(-1, 1, 20),)),
    (heat, (rng.random((8, 9)),)),
    (power_iteration, (spd(5),)),
    (gram_schmidt, (rng.random((6, 4)),)),
    (histogram, (rng.random(100),)),
    (newton, (1.5,)),
    (rotate_in_place, (rng.random(7),)),
]


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda v: v.__name__ if callable(v) else "")
def test_algorithm(f, args):
    compiled = jit(f)
    for _ in range(2):
        before = [np.array(a) for a in args]
        expected, got = f(*args), compiled(*args)
        for e, g in zip(*[r if isinstance(r, tuple) else (r,) for r in (expected, got)], strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-12, atol=1e-12)
        for a, b in zip(args, before, strict=True):
            np.testing.assert_array_equal(a, b)
