"""Examples of a batch that go different ways: each has the values and derivatives that it has alone.

Loops whose number of iterations differs, loops that are left early, branches of which only some examples take one;
derivatives inside the batch and around it, with `jit` in every place. The reference is the eager derivative of one
example, which is plain Python, and differences of the plain function.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.array([1.013, 2.071, 5.139, 20.27, 0.317])


def while_loop(x):
    while x < 10:
        x = x * 1.5
    return x


def while_with_residuals(x):
    s = 0.0
    while x < 10:
        s = s + np.sin(x) * x
        x = x * x + 0.5
    return s * x


def nested_whiles(x):
    s = x
    while s < 30:
        s = s + 1.0
        t = s
        while t > 1.0:
            t = t * 0.6
            s = s + t * x
    return s


def while_in_for(x):
    s = x
    for i in range(20):
        t = s * 0.5 + 0.1 * i
        while t > 1.5:
            t = np.sqrt(t)
        s = s * 0.5 + t * x
    return s


def for_in_while(x):
    n = 0
    while x < 10:
        for i in range(12):
            x = x * (1.0 + 0.01 * i)
        n = n + 1
    return x * n


def left_by_break(x):
    s = 0.0
    for _ in range(20):
        if s > 3.0:
            break
        s = s + x * x
    return s


def left_by_return(x):
    for i in range(30):
        x = x * 1.1 + 0.01
        if x > 12:
            return x * i
    return x


def left_in_while(x):
    n = 0
    while True:
        x = x * 1.3 + 0.1
        n = n + 1
        if x > 8 or n > 25:
            break
    return x * x


def with_continue(x):
    s = 0.0
    for i in range(15):
        if (i * x) % 3 > 1.5:
            continue
        s = s + np.sin(i * x) * x
    return s


def computed_count(x):
    s = x
    for _ in range(int(wg.stop_gradient(x))):
        s = s * 1.1 + np.sin(s)
    return s


def array_in_while(x):
    a = np.zeros(4)
    k = 0
    while x < 10:
        a[k % 4] = a[(k + 1) % 4] + x * x
        x = x * 1.4
        k = k + 1
    return np.sum(a * a) + x


def branch_in_while(x):
    while x < 10:
        if x < 3:
            x = x * x + 1.0
        else:
            x = np.exp(0.3 * x) + x
    return x


def not_for_all(x):
    """A root that exists for some examples only."""
    if x > 3:
        y = np.sqrt(x - 3)
    else:
        y = (3 - x) ** 2
    return y * x


PROGRAMS = [
    while_loop, while_with_residuals, nested_whiles, while_in_for, for_in_while, left_by_break, left_by_return,
    left_in_while, with_continue, array_in_while, branch_in_while, not_for_all,
]  # fmt: skip
COUNTED = [*PROGRAMS, computed_count]


def alone(function, x=X):
    return np.array([function(v) for v in x])


def same(got, want, rtol=1e-10):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("f", COUNTED, ids=lambda f: f.__name__)
def test_values(f):
    want = alone(f)
    same(wg.jit(wg.vmap(f))(X), want)
    same(wg.vmap(wg.jit(f))(X), want)


@pytest.mark.parametrize("f", COUNTED, ids=lambda f: f.__name__)
def test_gradients_inside_the_batch(f):
    want = alone(wg.grad(f))
    h = 1e-6
    if f is not computed_count:  # which jumps at whole numbers
        same(want, [(f(v + h) - f(v - h)) / (2 * h) for v in X], rtol=1e-5)
    same(wg.jit(wg.vmap(wg.grad(f)))(X), want)
    same(wg.vmap(wg.grad(wg.jit(f)))(X), want)
    same(wg.vmap(wg.jit(wg.grad(f)))(X), want)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_tangents_and_gradients_of_the_batch(f):
    want = alone(wg.grad(f))

    def derivative(x):
        return wg.jvp(f, (x,), (1.0,))[1]

    same(wg.jit(wg.vmap(derivative))(X), want)
    same(wg.vmap(wg.jit(derivative))(X), want)
    same(wg.jit(wg.grad(lambda x: np.sum(wg.vmap(f)(x))))(X), want)
    same(wg.grad(lambda x: np.sum(wg.vmap(wg.jit(f))(x)))(X), want)
    same(np.diag(wg.jacfwd(wg.jit(wg.vmap(f)))(X)), want)


@pytest.mark.parametrize("f", [while_with_residuals, left_by_break], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    second = wg.grad(wg.grad(f))
    want = alone(second)
    same(wg.jit(wg.vmap(second))(X), want)
    same(wg.vmap(wg.jit(second))(X), want)
    same(wg.vmap(wg.grad(wg.grad(wg.jit(f))))(X), want)


def test_two_batches():
    y = np.array([0.5, 1.5, 3.0])

    def f(x, y):
        while x < 10:
            x = x * (1 + y) + 0.1
        return x * y

    want = np.array([[wg.grad(f, (0, 1))(a, b) for b in y] for a in X])
    nested = wg.vmap(wg.vmap(wg.grad(f, (0, 1)), (None, 0)), (0, None))
    same(np.stack(wg.jit(nested)(X, y), -1), want)


def test_number_of_iterations_is_each_examples_own():
    def f(x):
        n = 0
        while x < 10:
            x = x * 1.5
            n = n + 1
        return n

    np.testing.assert_array_equal(wg.jit(wg.vmap(f))(X), [f(v) for v in X])


def test_break_takes_linear_time_to_compile():
    """Each branch of nested ones is lifted once: the time does not double with each iteration that is written out."""

    def f(x):
        s = 0.0
        if s < 3.0:
            s = s + x
        for _ in range(4):
            if s > 3.0:
                break
            if s > 2.0:
                s = s + x * x
            else:
                if x > 1:
                    s = s + x
                else:
                    if x > 0.5:
                        s = s + 2 * x
                    else:
                        s = s + 3 * x
        return s

    same(wg.jit(wg.vmap(wg.grad(f)))(X), alone(wg.grad(f)))
