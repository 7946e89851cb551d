"""Loops whose states lie on disk: the same gradients, each iteration run twice at most, and nothing left behind."""

import itertools
import os
import tracemalloc

import numpy as np
import pytest

import wengert as wg


def _program(calls, n=400):
    scale = np.linspace(0.5, 1.5, n)

    def f(u, k):
        v = 0.1 * u
        kept = np.zeros(n)
        for _ in range(30):
            next(calls)
            u, v = u + 0.1 * v, v - 0.1 * np.sin(k * u) * scale
            kept[3:] = kept[3:] + u[:-3] ** 2
        return np.sum(u * v) + np.sum(kept)

    return f


POINT = np.linspace(-1, 1, 400), 1.3


@pytest.mark.parametrize("budget", [{"memory": "40kB"}, {"checkpoints": 1}, {"checkpoints": 3}, {"memory": "100MB"}])
def test_gradients(tmp_path, budget):
    calls = itertools.count()
    f = _program(calls)
    expected = wg.grad(f, (0, 1))(*POINT)
    before = next(calls)
    found = wg.grad(f, (0, 1), spill=str(tmp_path / "states"), **budget)(*POINT)
    assert next(calls) - before - 1 <= 60
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    assert os.listdir(tmp_path / "states") == []


def test_a_loop_of_unknown_length(tmp_path):
    def f(x):
        y = x
        while np.sum(y) < 4000.0:
            y = y * 1.07 + 0.01 * np.sin(x * y)
        return np.sum(y * y)

    x = np.linspace(0.5, 2, 300)
    expected = wg.grad(f)(x)
    np.testing.assert_allclose(wg.grad(f, memory="20kB", spill=str(tmp_path))(x), expected, rtol=1e-12)


def test_a_pullback_can_be_called_again(tmp_path):
    f = _program(itertools.count())
    expected = wg.grad(f)(*POINT)
    _, pull = wg.vjp(f, *POINT, checkpoints=1, spill=str(tmp_path))
    for factor in (1.0, 2.0):
        np.testing.assert_allclose(pull(factor)[0], factor * expected, rtol=1e-12)
    second = lambda spill: wg.jacfwd(wg.grad(f, 1, checkpoints=2, spill=spill), 1)(*POINT)
    np.testing.assert_allclose(second(str(tmp_path)), second(None), rtol=1e-12)


def test_states_take_no_memory(tmp_path):
    """100 states of 0.2 MB each."""

    def f(u):
        for _ in range(100):
            u = u + 0.01 * np.sin(u)
        return np.sum(u)

    u = np.linspace(0, 1, 25_000)
    wg.grad(f, memory="1MB", spill=str(tmp_path))(u[:10])
    tracemalloc.start()
    found = wg.grad(f, memory="1MB", spill=str(tmp_path))(u)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6
    np.testing.assert_allclose(found, wg.grad(f, checkpoints=10)(u), rtol=1e-12)


def test_where_and_how_much(tmp_path):
    with pytest.raises(ValueError, match="memory="):
        wg.grad(np.sum, spill="states")
    with pytest.raises(wg.errors.BudgetError, match="least possible"):
        wg.grad(_program(itertools.count()), memory="100B", spill=str(tmp_path))(*POINT)
