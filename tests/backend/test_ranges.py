"""Indices whose range is known from loop counters: read and written as NumPy does, and still checked where they may be
out of range."""

import numpy as np
import pytest
from llvmlite import ir

import wengert as wg
from wengert.backend.llvm.arrays.buffer import I64
from wengert.backend.llvm.machine.ranges import Ranges

X = np.linspace(1.0, 3.0, 23)


@pytest.mark.parametrize("scale", [1, 3, -2])
@pytest.mark.parametrize("shift", [-23, -8, 0, 1, 14, 15])
def test_places_that_are_affine_in_a_counter(scale, shift):
    def f(x):
        out = np.zeros(23)
        for k in range(8):
            out[k] += x[scale * k + shift]
            out[scale * k + shift] -= 0.5 * x[k]
        return out

    try:
        expected = f(X)
    except IndexError:
        with pytest.raises(IndexError):
            wg.jit(f)(X)
        return
    np.testing.assert_array_equal(wg.jit(f)(X), expected)


@pytest.mark.parametrize("start", [-30, -9, -3, 0, 14, 20, 40])
def test_slices_are_clipped(start):
    def f(x):
        total = 0.0
        for k in range(6):
            total = total + np.sum(x[start + k : start + 3 + k]) + np.sum(x[k : 4 * k]) * k
        return total

    assert wg.jit(f)(X) == pytest.approx(f(X), rel=1e-14)


def test_numbers_of_a_table():
    def f(x, table):
        total = 0.0
        for k in range(5):
            total = total + x[table[k]] * (k + 1)
        return total

    for table in ((0, 22, -1, -23, 7), (3, 3, 3, 3, 3)):
        assert wg.jit(f, static_argnums=1)(X, table) == pytest.approx(f(X, table), rel=1e-14)
    for table in ((0, 1, 2, 3, 23), (-24, 1, 2, 3, 4)):
        with pytest.raises(IndexError):
            wg.jit(f, static_argnums=1)(X, table)


def test_quotients_and_remainders():
    def f(x):
        out = np.zeros(6)
        for k in range(30):
            out[k % 6] += x[(k * 7) // 10] * x[(3 - k) % 5] + x[min(k, 22)] - x[max(k - 20, -23)]
        return out

    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-13)


def test_integers_that_wrap_around_are_not_trusted():
    """A product that is too large may come out anywhere, so the index is checked."""

    def f(x):
        total = 0.0
        for k in range(1, 9):
            total = total + x[np.int64(k) * np.int64(1 << 61) // np.int64(1 << 61)]
        return total

    with np.errstate(over="ignore"):
        assert wg.jit(f)(X) == pytest.approx(f(X), rel=1e-14)


def test_differences():
    ranges = Ranges()
    builder = ir.IRBuilder(ir.Function(ir.Module(), ir.FunctionType(I64, [I64]), "f").append_basic_block())
    x, y = builder.function.args[0], builder.add(builder.function.args[0], I64(1))
    assert ranges.of(x) is None
    assert ranges.of(I64(5)) == (5, 5)
    ranges.note(x, -2, 9)
    assert ranges.within(x, -2, 9)
    assert not ranges.within(x, -1, 9)
    assert not ranges.within(y, -100, 100)
    assert ranges.difference(x, x) == 0
    assert ranges.difference(x, y) is None
