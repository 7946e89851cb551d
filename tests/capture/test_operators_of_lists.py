"""Operators between plain arrays and lists that hold traced values."""

import numpy as np
import pytest

import wengert as wg

A = np.array([[1.0, 2.0], [3.0, -1.0]])
B = [[2.0, 0.5], [1.0, 1.0]]


def product(x):
    return np.sum(A @ [x, x * x])


def product_with_a_variable(x):
    v = [x, 2 * x]
    w = (np.sin(x), 3.0)
    return v @ A @ w


def product_with_rows(x):
    return np.sum((A @ [[x, 1.0], [2.0, x * x]]) ** 2)


def elementwise(x):
    return np.sum(A * [x, 1.0] + (x, 2.0) - A[0] / [1.0 + x**2, x] + [x**k for k in range(2)] * A[1])


def in_a_loop(x):
    v = np.ones(2)
    for k in range(8):
        v = A @ [v[0] * 0.1, x * k] + (0.1, x)
    return np.sum(v)


def lists_stay_lists(x):
    pair = [x, 1.0] + [2.0]
    return pair[0] * len(pair) + sum([x] * 3) + ((x, 1.0) + (x,))[2]


@pytest.mark.parametrize("f", [product, product_with_a_variable, product_with_rows, elementwise, in_a_loop,
                               lists_stay_lists], ids=lambda f: f.__name__)  # fmt: skip
def test_values_and_slopes(f):
    x, h = 0.7, 1e-5
    want = (8 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h)) / (12 * h)
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-13)
    for slope in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        np.testing.assert_allclose(slope(x), want, rtol=1e-8)
    np.testing.assert_allclose(wg.vmap(f)(np.array([x, 2 * x])), [f(x), f(2 * x)], rtol=1e-13)


def filled_list(n):
    items = [0.0] * n
    for i in range(n):
        items[i] = i * 1.5
    return sum(items)


def folded(n):
    total = 0.0
    for v in n * [2.0, 3.0]:
        total = total * 0.5 + v
    return total


@pytest.mark.parametrize(
    "f",
    [filled_list, folded, lambda n: len((2.0, 3.0) * n), lambda n: sum([0.5, 2.0] * n) + len([1.0] * n)],
    ids=["filled", "folded", "tuple", "sums"],
)
@pytest.mark.parametrize("n", [3, 1, 0, -2])
def test_a_list_times_a_number_of_the_program_is_repeated(f, n):
    assert wg.jit(f)(n) == f(n)


def counted(keys):
    """The largest key is a number of NumPy's."""
    counts = [0] * (max(keys) + 1)
    for k in keys:
        counts[k] += 1
    return counts, len((0.5,) * keys[0])


def test_a_list_times_an_integer_of_numpy_is_repeated():
    keys = np.array([3, 1, 2, 3, 0, 1])
    assert wg.jit(counted)(keys) == counted(keys)
    assert wg.vmap(lambda n: sum([0.5] * n))(np.array([3, 1])).tolist() == [1.5, 0.5]


def largest_of_as_many(x):
    q = np.arange(5.0) * x
    if q[-1] < 2:
        q = np.append(q, 1)
    weights = np.array([2.0] * len(q))
    weights[3] = x * x
    return max([2.0] * len(q)) * x + weights[3] + weights[4]


@pytest.mark.parametrize("x", [0.3, 0.7])
def test_a_list_as_long_as_an_array_of_computed_length(x):
    np.testing.assert_allclose(wg.jit(largest_of_as_many)(x), largest_of_as_many(x), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(largest_of_as_many))(x), 2 + 2 * x, rtol=1e-14)


def test_a_list_of_other_things_times_a_number_of_the_program():
    compiled = wg.jit(lambda n: len([None] * n))
    assert [compiled(n) for n in (3, 5, 3)] == [3, 5, 3]
