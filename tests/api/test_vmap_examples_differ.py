"""Examples of a batch that do what cannot be done for all of them at once: slices of other lengths, other numbers of
iterations, other parts of an array. Compiled, there is a loop over the examples.

The reference is a loop over the examples in plain Python.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.arange(12.0).reshape(3, 4) * 0.1
N = np.array([0, 2, 3])
A = np.array([0.2, 0.7, 1.5])


def iterated(x, n, a):
    s = 0.0
    for e in x[n:]:
        s = s + np.sin(e)
    return s * a


def sliced(x, n, a):
    return np.sum(np.sin(x[: n + 1])) * a


def masked(x, n, a):
    return np.sum(x[x > a] ** 2)


def counted(x, n, a):
    for i in range(n):
        a = a + np.sin(x[i] * a)
    return a


def left_early(x, n, a):
    while True:
        w = np.sinh(x)
        if a < 0.5:
            return np.sum(np.linalg.norm(x, axis=0, keepdims=True) * np.arange(1.0, 2))
        if a > 0.6:
            break
    return np.sum(w * np.cos(np.arange(w.size)))


def one_of_some(x, n, a):
    return a * x[1] if n in (0, 3) else x[0] * a


def one_of_none(x, n, a):
    return a * x[1] if n not in {0: "a", 2: "b"} else x[0] * a


def in_a_row(x, n, a):
    w = np.zeros((2, 3))
    w[n % 2][0] += a
    w[n % 2][1] += a * x[0]
    return np.sum(w * x[:3])


def up_to_a_place(x, n, a):
    k = np.zeros(4)
    k[n:] = a
    k[:n] = x[0]
    return np.sum(k * x)


def of_other_lengths(x, n, a):
    w = x * 2
    if a < 0.5:
        w = np.array([a * a])
    return np.sum(w * np.cos(1.0 + np.arange(np.size(w))))


def printing(x, n, a):
    """What is printed and drawn before examples part is part of the program once, for each of them."""
    noise = np.random.default_rng(3).normal(size=4)
    print("from", a)
    values = [x + noise]
    for k in range(6):
        values.append(np.sin(values[-1]) * a)
        if np.max(np.abs(values[-1])) < 0.2:
            print("enough after", k)
            break
    return np.sum(values[-1] ** 2) + len(values) * a


FUNCTIONS = [iterated, sliced, masked, counted, left_early, one_of_some, one_of_none, in_a_row, up_to_a_place,
             of_other_lengths, printing]  # fmt: skip
VALUES = {"vmap": wg.vmap, "jit(vmap)": lambda f: wg.jit(wg.vmap(f)), "vmap(jit)": lambda f: wg.vmap(wg.jit(f))}
GRADIENTS = {
    "vmap(grad)": lambda f: wg.vmap(wg.grad(f)),
    "jit(vmap(grad))": lambda f: wg.jit(wg.vmap(wg.grad(f))),
    "vmap(grad(jit))": lambda f: wg.vmap(wg.grad(wg.jit(f))),
    "vmap(jit(grad))": lambda f: wg.vmap(wg.jit(wg.grad(f))),
    "grad(vmap)": lambda f: wg.grad(lambda x, n, a: np.sum(wg.vmap(f)(x, n, a))),
    "grad(vmap(jit))": lambda f: wg.grad(lambda x, n, a: np.sum(wg.vmap(wg.jit(f))(x, n, a))),
    "jit(grad(vmap))": lambda f: wg.jit(wg.grad(lambda x, n, a: np.sum(wg.vmap(f)(x, n, a)))),
}
REFUSED = {(of_other_lengths, "jit(vmap(grad))")}
"""Reverse mode through arrays without a largest length, in a loop."""


@pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
@pytest.mark.parametrize("name", VALUES)
def test_values(f, name):
    want = [f(x.copy(), int(n), a) for x, n, a in zip(X, N, A, strict=True)]
    np.testing.assert_allclose(VALUES[name](f)(X, N, A), want, rtol=1e-12)


@pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(f, name):
    want = [wg.grad(f)(x, int(n), a) for x, n, a in zip(X, N, A, strict=True)]
    if (f, name) in REFUSED:
        with pytest.raises(wg.errors.WengertError, match="length"):
            GRADIENTS[name](f)(X, N, A)
    else:
        np.testing.assert_allclose(GRADIENTS[name](f)(X, N, A), want, rtol=1e-12, atol=1e-15)


def test_each_example_prints_once(capsys):
    for x, n, a in zip(X, N, A, strict=True):
        printing(x, n, a)
    want = capsys.readouterr().out
    f = wg.jit(wg.vmap(printing))
    for _ in range(2):
        f(X, N, A)
        assert capsys.readouterr().out == want


def test_nested_batches_of_integers():
    def f(x, n):
        for _ in range(n):
            x = np.sin(x)
        return x

    n = np.array([[1, 1], [3, 3], [2, 0]])
    want = [[f(a, k) for a, k in zip(X[0, :2], row, strict=True)] for row in n]
    np.testing.assert_allclose(wg.vmap(wg.vmap(f), (None, 0))(X[0, :2], n), want)


def test_views_of_examples_that_run_one_by_one():
    """What runs plainly is plain NumPy: a view sees what is written to its array."""

    def f(x, a):
        w = np.sin(x)
        if a > 0.5:
            w = w * 1.0
        view = w[:2]
        w[0] *= a
        return view, w

    x, a = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), np.array([0.3, 0.9])
    views, arrays = wg.vmap(f)(x, a)
    np.testing.assert_array_equal(views, np.stack([f(x[k], a[k])[0] for k in range(2)]))
    np.testing.assert_array_equal(arrays, np.stack([f(x[k], a[k])[1] for k in range(2)]))


def test_gradients_of_slices_whose_lengths_differ():
    def f(x):
        n = int(np.sum(x))
        y = x * 1.0
        y[:n] *= 2.0
        return np.sum(y * y)

    X = np.array([[0.3, 0.9, 0.4], [1.2, 0.5, 0.7], [0.1, 0.2, 0.3]])
    expected = [2.0 * x * np.where(np.arange(3) < int(np.sum(x)), 4.0, 1.0) for x in X]
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(X), expected, rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X[1]), expected[1], rtol=1e-14)
