"""Arrays whose lengths are known only when the program runs: those that grow in a loop, and what a mask leaves."""

from __future__ import annotations

import numpy as np
import pytest
from jit.everywhere import close, differences, value

import wengert as wg

X = np.array([1.0, 2.0, 3.0])


def stacked_in_while(x):
    rows, t = x, 0.0
    while t <= 3.0:
        x = x * 0.9
        rows = np.vstack((rows, x))
        t += 0.1
    return np.min(rows[::2, 0])


def stacked(x):
    rows = np.stack([x, x * 2.0])
    for i in range(20):
        rows = np.concatenate([rows, (x * i)[None]])
    return rows.sum(axis=0) * rows[3]


def appended(x):
    found = np.array([1.0])
    while found[-1] < x[0] * 100:
        found = np.append(found, found[-1] * 2)
    return found.sum() * x[1]


@pytest.mark.parametrize("f", [stacked_in_while, stacked, appended], ids=lambda f: f.__name__)
def test_arrays_that_grow(f):
    close(value(wg.jit(f), X), value(f, X))


@pytest.mark.parametrize(
    "f",
    [lambda x: x[x > 1.5].sum(), lambda x: x[x > 1.5].mean(), lambda x: np.mean(x[x < 2.5] ** 2)],
    ids=["sum", "mean", "mean of squares"],
)
def test_masks(f):
    close(value(wg.jit(f), X), value(f, X))
    close(wg.jit(wg.grad(f))(X), differences(f, X) / np.cos(1.0), rtol=1e-5, atol=1e-7)
    close(wg.grad(wg.jit(f))(X), differences(f, X) / np.cos(1.0), rtol=1e-5, atol=1e-7)


def lambert_like(x):
    """Masks of what a mask has left, written to by masks."""
    part = x[x > 0]
    w = np.full_like(part, np.nan)
    small = part < 0.5
    w[small] = np.exp(part[small])
    w[~small] = part[~small] ** 2
    y = np.zeros_like(x)
    y[x > 0] = w
    return np.sum(y * x)


def filled_with_a_traced_value(x):
    part = np.full_like(x[x > 0], x[0])
    part[0] = x[1] ** 2
    return np.sum(part**2)


@pytest.mark.parametrize("f", [lambert_like, filled_with_a_traced_value])
def test_arrays_like_a_selection(f):
    x = np.array([-0.9, 0.3, 0.8, -0.1, 0.45])
    expected = wg.numerical.grad(f, method="five-point")(x)
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
    for place in (wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))):
        np.testing.assert_allclose(place(f)(x), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("put_together", [
    lambda part, end: np.sum(part * end),
    lambda part, end: np.sum(np.interp(part, np.arange(8.0), np.exp(-np.arange(8.0)))) * end,
    lambda part, end: np.trapezoid(part * part, part) + end,
], ids=["sum", "interp", "trapezoid"])  # fmt: skip
def test_selections_put_together_with_others_in_a_loop(put_together):
    """What is kept of each iteration has a bound: the lengths of the parts together."""
    t = np.arange(8.0)

    def f(x):
        total = 0.0
        for end in t[(x <= t) & (t <= 2 * x)]:
            total += put_together(np.concatenate(([0.0], t[t < end - x + 1], [end - x])), end)
        return total

    expected = wg.numerical.derivative(f, method="five-point")(2.3)
    for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(derivative(2.3), expected, rtol=1e-8)
