"""What would raise whatever the values are, in a loop that has no iteration, and writes that are not reached: Python
raises only where it comes there."""

import numpy as np
import pytest

import wengert as wg


def element(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[7] * i
    return total


def of_items(x, n):
    total = 0.0
    for e in x[n:]:
        total = total + x[7] * e
    return total


def shapes(x, n):
    total = 0.0
    for _ in range(n):
        if x[0] > 5:
            break
        total = total + np.ones(3) @ x
    return total


def while_it_counts(x, n):
    total = 0.0
    while n > 0:
        x[9] = 1.0
        n -= 1
    return total


def of_two_loops(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            total = total + x[9] * j
    return total


def in_the_second_iteration(x, n):
    y = x
    for _ in range(n):
        y = y[1:]
        x = x + y[0]
    return x[0]


def keys(x, n):
    found = {"a": x[0]}
    for _ in range(n):
        found["a"] = found["b"]
    return found["a"]


def its_own(x, n):
    for _ in range(n):
        if len(x) < 9:
            raise ValueError("short")
        x = x * 2
    return x[0]


def caught(x, n):
    try:
        for i in range(n):
            x[0] = x[7] * i
    except IndexError:
        return -1.0
    return x[0]


def outcome(f, *args):
    try:
        return float(f(*args))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(
    "f", [element, of_items, shapes, while_it_counts, of_two_loops, in_the_second_iteration, keys, its_own, caught],
    ids=lambda f: f.__name__,
)  # fmt: skip
@pytest.mark.parametrize("x", [np.array([0.5, 1.5]), np.arange(1.0, 5.0)], ids=["two", "four"])
def test_loops(f, x):
    compiled, in_a_batch = wg.jit(f), wg.jit(lambda x, n: wg.vmap(f)(x[None], np.array([n]))[0])
    for n in (0, 1, 2, 5):
        expected = outcome(f, x.copy(), n)
        assert outcome(compiled, x.copy(), n) == expected
        assert outcome(in_a_batch, x.copy(), n) == expected


def test_derivatives_of_a_loop_that_does_not_run():
    def f(x, n):
        return element(x, n) + x[0] ** 2

    x = np.array([0.5, 1.5])
    for g in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jit(wg.jacfwd(f))):
        np.testing.assert_allclose(g(x, 0), [1.0, 0.0])
        with pytest.raises(IndexError):
            g(x, 2)


def test_a_read_only_array_that_is_not_written_to():
    def f(x, n):
        if n > 3:
            x[0] = 9.0
        return np.sum(x)

    x = np.arange(3.0)
    x.flags.writeable = False
    compiled = wg.jit(f)
    assert compiled(x, 1) == 3.0
    with pytest.raises(ValueError, match="read-only"):
        compiled(x, 4)
    assert compiled(np.arange(3.0), 4) == 12.0


PLACES = np.array([2, 0, 3])


def times_zero(x, n):
    return PLACES[n] * 0 + x[0]


def and_false(x, n):
    found = x[n] > 0.1
    found &= False
    return found + x[0]


def or_true(x, n):
    found = x[n] > 0.1
    found |= True
    return found + x[0]


def a_truth_times_zero(x, n):
    return np.isnan(x[n]) * 0 + x[0]


def chosen_elsewhere(x, n):
    return np.where(True, x[0], x[n])


@pytest.mark.parametrize(
    "f", [times_zero, and_false, or_true, a_truth_times_zero, chosen_elsewhere], ids=lambda f: f.__name__
)
def test_what_is_reached_raises_though_the_result_does_not_depend_on_it(f):
    x, compiled = np.array([0.5, 1.5]), wg.jit(f)
    for n in (0, 1, -2, 3, -4):
        assert outcome(compiled, x, n) == outcome(f, x, n)
