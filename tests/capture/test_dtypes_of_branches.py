"""The dtype of what a branch binds is that of the branch taken: if the branches differ, a program has none."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

A, B = np.ones(3, np.float32), np.ones(3)


def binds(x, y):
    if x.sum() > 0:
        z = x
    else:
        z = y
    return z * 2


def returns(x, y):
    if x.sum() > 0:
        return x * 2
    return y


def chooses(x, y):
    return x if x.sum() > 0 else y


@pytest.mark.parametrize("f", [binds, returns, chooses])
def test_there_is_a_program_for_each(f) -> None:
    compiled = wg.jit(f)
    for x, y in ((A, B), (-A, B), (A, A), (B, -B), (A, B)):
        assert compiled(x, y).dtype == f(x, y).dtype
        np.testing.assert_array_equal(compiled(x, y), f(x, y))


def test_both_in_one_call_are_refused() -> None:
    def f(x, y):
        return sum(np.sum(returns(z, y)) for z in (x, -x))

    with pytest.raises(wg.errors.StagingError, match=r"of type float32 .* of type float64 .*\n.*astype\(np.float64\)"):
        wg.jit(f)(A, B)


def test_numbers_take_over_the_dtype() -> None:
    def f(x):
        s = 0
        if x[0] > 0:
            s = x[0]
        return s * x

    assert wg.jit(f)(A).dtype == np.float32
    np.testing.assert_array_equal(wg.jit(f)(-A), f(-A))
