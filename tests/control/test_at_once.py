"""Patterns of loops whose iterations are run at once are those of the derivatives, and of the iterations one by one."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.control import united

N = 24
PLACES = np.random.default_rng(0).integers(0, N, N)


def stencil(x):
    y = np.zeros(N)
    for i in range(1, N - 1):
        y[i] = x[i - 1] * x[i + 1] - x[i] ** 2
    return y


def added_twice(x):
    y = np.zeros(N)
    for i in range(N - 1):
        flux = x[i + 1] - x[i]
        y[i] += flux
        y[i + 1] -= flux**3
    return y


def scattered(x):
    y = np.zeros(N)
    for i in range(N):
        y[PLACES[i]] += x[i] ** 2
    return y


def overwritten(x):
    y = x.copy()
    for i in range(N):
        y[i // 2] = x[i] ** 2
    return y


def written_then_read(x):
    y = np.zeros(N)
    for i in range(N - 2):
        y[i] = x[i]
        y[i] += x[i + 1]
        y[i] = y[i] * x[i + 2]
    return y


def read_before_it_is_written(x):
    u = x.copy()
    for i in range(N - 1):
        u[i] = u[i + 1] * u[i]
    return u


def written_by_the_iteration_before(x):
    u = x.copy()
    for i in range(1, N - 1):
        u[i] = 0.5 * (u[i - 1] + x[i + 1])
    return u


def added_then_overwritten(x):
    y = np.zeros(N)
    for i in range(N - 1):
        y[i] += x[i + 1]
        y[i + 1] = x[i]
    return y


def reflected(x):
    y = x * 2
    for i in range(N - 1):
        y[i] = x[i + 1] - y[i]
    return y


def second_counter(x):
    y, j = np.zeros(N), 0
    for _ in range(N // 2):
        y[j] = x[j + 1]
        j += 2
    return y


def table_made_by_a_loop(x):
    beside, y = np.zeros(N, int), np.zeros(N)
    for i in range(N):
        beside[i] = (i * 7 + 3) % N
    for i in range(N):
        y[i] = x[beside[i]] * x[i]
    return y


def sum_with_weights(x):
    w, s = 1.0, 0.0
    for i in range(N // 2):
        w = w * 0.9
        s = s + w * x[2 * i] ** 2 - x[2 * i]
    return s


def handed_on(x):
    y, last = np.zeros(N), 0.0
    for i in range(N):
        y[i] = last
        last = x[i]
    return y


def inner_loop(x):
    y = np.zeros(N)
    for i in range(2, N - 2):
        s = 0.0
        for k in range(-2, 3):
            s += x[i + k] * (k + 1.0)
        y[i] = s * s
    return y


def rows(x):
    a = x.reshape(-1, 2)
    b = np.zeros(a.shape)
    for i in range(len(a)):
        b[i] = a[i] * a[i][::-1]
        b[i, 0] += a[i - 1].sum()
    return b


def decided_by_the_counter(x):
    y = np.zeros(N)
    for i in range(N - 2):
        if i % 3 == 0:
            y[i] = x[i + 1]
        else:
            y[i] = x[i + 2] ** 2
    return y


PROGRAMS = [
    stencil, added_twice, scattered, overwritten, written_then_read, read_before_it_is_written,
    written_by_the_iteration_before, added_then_overwritten, reflected, second_counter, table_made_by_a_loop,
    sum_with_weights, handed_on, inner_loop, rows, decided_by_the_counter,
]  # fmt: skip


def nonzeros(f, x):
    return np.asarray(wg.jacobian(f)(x)).reshape(-1, N) != 0


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_patterns(f):
    x = np.random.default_rng(1).uniform(0.5, 1.5, N)
    assert np.array_equal(wg.sparsity(f)(x).toarray(), nonzeros(f, x))


@pytest.mark.parametrize("f", [added_twice, written_then_read, inner_loop, scattered], ids=lambda f: f.__name__)
def test_patterns_of_hessians_are_those_of_one_iteration_after_the_other(f, monkeypatch):
    def energy(x):
        return np.sum(np.sin(f(x)))

    x = np.random.default_rng(1).uniform(0.5, 1.5, N)
    found = wg.sparsity(energy, 2)(x).toarray()
    monkeypatch.setattr(united, "FEWEST", 10**9)
    assert np.array_equal(found, wg.sparsity(energy, 2)(x).toarray())
    assert not np.any((wg.hessian(energy)(x) != 0) & ~found)


def test_a_branch_by_values_unites_both_sides():
    def f(x):
        y = np.zeros(N)
        for i in range(N - 2):
            y[i] = x[i + 1] if x[i] > 1 else x[i + 2] ** 2
        return y

    rows, columns = np.nonzero(wg.sparsity(f)(np.ones(N)).toarray())
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == {(i, i + k) for i in range(N - 2) for k in (1, 2)}


def test_long_loops():
    n = 50_000

    def f(x):
        y = np.zeros(n)
        for i in range(1, n - 1):
            y[i] += x[i - 1] * x[i + 1]
        return y

    assert wg.sparsity(f)(np.ones(n)).nnz == 2 * (n - 2)
