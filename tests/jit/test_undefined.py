"""Variables that have a value only in one branch, or only if a loop runs: compiled code raises where Python does."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg


def in_one_branch(x):
    if x > 0:
        y = 2 * x
    return y


def in_several(x):
    if x > 0:
        y = 2 * x
    if x > 1:
        y = 3 * x
    else:
        if x < -1:
            y = 5.0
    return y + 1


def in_a_loop(n):
    for i in range(n):
        z = 1.5 * i
    return z


def in_a_while(x):
    while x > 1:
        x = x / 2
        w = x
    return w


def in_a_branch_in_a_loop(x):
    for i in range(len(x)):
        if x[i] > 0:
            last = x[i]
    return last


def written_to_after_a_loop(n):
    x = np.ones(3)
    for _ in range(n):
        y = x
    y[1] += 0.5
    y[0], y[2] = 4.0, y[1]
    return np.sum(x * np.arange(1.0, 4.0))


CASES = [
    *[(written_to_after_a_loop, n) for n in (2, 1, 0)],
    *[(in_one_branch, x) for x in (1.0, -1.0)],
    *[(in_several, x) for x in (2.0, 0.5, -0.5, -2.0)],
    *[(in_a_loop, n) for n in (3, 1, 0)],
    *[(in_a_while, x) for x in (5.0, 0.5)],
    *[(in_a_branch_in_a_loop, np.array(x)) for x in ([1.0, -1, 2, -3, -4], [-1.0, -2, -3, -4, -5])],
]


@pytest.mark.parametrize(("f", "x"), CASES)
def test_as_in_python(f, x):
    try:
        expected = f(x)
    except UnboundLocalError as error:
        name = str(error).split("'")[1]
        with pytest.raises(UnboundLocalError, match=f"'{name}'"):
            wg.jit(f)(x)
    else:
        assert wg.jit(f)(x) == expected


def test_gradients():
    x = np.array([1.0, -1.0, 2.0, -3.0, -4.0])
    np.testing.assert_array_equal(wg.jit(wg.grad(in_a_branch_in_a_loop))(x), [0, 0, 1, 0, 0])
    assert wg.jit(wg.grad(in_several))(2.0) == 3.0


@pytest.mark.parametrize("value", [None, "text", len, ()], ids=["None", "text", "function", "empty"])
def test_what_is_no_number_and_unbound_in_the_other_branch(value):
    def f(x):
        if x > 0:
            y = value
        return 1.0 if y is value else 2.0

    compiled = wg.jit(f)
    assert compiled(1.0) == 1.0
    with pytest.raises(UnboundLocalError, match="y"):
        compiled(-1.0)
