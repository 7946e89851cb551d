"""Loops over rows that are read and written at computed places, several statements in one native loop."""

import numpy as np
import pytest

import wengert as wg

A = np.cos(np.arange(7 * 12.0)).reshape(7, 12)
B = np.sin(1 + np.arange(7 * 12.0)).reshape(7, 12)
FEW = np.array([3, 1, 1, 0, -1, 5, 3])


def neighbours(a, b):
    for i in range(1, 7):
        a[i] = a[i] - b[i] * a[i - 1]
        b[i] = b[i] + a[i - 1] * a[i]
        a[i - 1] = 0.5 * b[i]
        b[i - 1] += a[i]
    return a, b


def around_the_end(a, b):
    """Row −1 is the last one, which is row i + 6 at the beginning."""
    for i in range(7):
        a[i - 1] = a[i] + b[i]
        a[i] += a[i - 1] * b[i - 1]
        b[i - 7] = a[i] - b[i]
        b[i] = b[i] + a[i - 7]
    return a, b


def shifted_within_a_row(a, b):
    for i in range(6):
        a[i, 1:] = a[i, :-1] + b[i, 1:]
        a[i + 1, :-1] += a[i, 1:]
        b[i, 1:] += b[i, :-1] * a[i + 1, 1:]
        b[i, :-1] = b[i, 1:]
    return a, b


def listed_places(a, b):
    for i in range(7):
        j = FEW[i]
        a[i] = a[i] + b[j]
        a[j] = a[i] * 0.5
        b[j] += a[i] - b[i]
        b[i] = a[j] + b[j]
    return a, b


def two_ways_to_say_it(a, b):
    for i in range(1, 7):
        j = 2 * i - i
        a[i] = b[j] + a[j - 1]
        a[j] = a[i] * a[j - 1]
        b[i - 1] = a[j] - b[j - 1]
        b[j - 1] += a[i - 1]
    return a, b


def swapped(a, b):
    for i in range(1, 7):
        row = a[i] * 1.0
        a[i] = a[i - 1]
        a[i - 1] = row
        b[i], b[i - 1] = b[i - 1] + row, b[i] - a[i]
    return a, b


def rows_and_everything(a, b):
    for i in range(1, 7):
        a[i] = a[i - 1] + b[i]
        b[:] = b + a
        b[i] = a[i] * b[0]
        a += b * 0.1
    return a, b


def columns(a, b):
    for i in range(1, 12):
        a[:, i] = a[:, i] + a[:, i - 1] * b[:, i]
        b[:, i - 1] = a[:, i] - b[:, i]
        b[:, i] += a[::-1, i - 1]
    return a, b


PROGRAMS = [neighbours, around_the_end, shifted_within_a_row, listed_places, two_ways_to_say_it, swapped,
            rows_and_everything, columns]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_rows(program):
    """Values, and a gradient against the complex step, in which the backward loop writes to rows as well."""

    def total(x):
        a, b = program(x * 0.3, B[:, ::-1] * x)
        return np.sum(a * B) + np.sum(b * b)

    def made(a, b):
        return program(a * 1.0, b * 1.0)

    for got, expected in zip(wg.jit(made)(A, B), made(A, B), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)
    gradient = wg.jit(wg.grad(total))(A)
    rng = np.random.default_rng(0)
    for _ in range(3):
        v = rng.standard_normal(A.shape)
        expected = np.imag(total(A + 1e-30j * v)) / 1e-30
        np.testing.assert_allclose(np.sum(gradient * v), expected, rtol=1e-10)


def overwritten_later(x):
    """What is stored in a row is needed by derivatives, but the row is written to again."""
    y = np.zeros((7, 12))
    for i in range(1, 7):
        y[i] = np.exp(0.1 * x[i]) / (2 + y[i - 1] ** 2)
        y[i - 1] = y[i] * y[i - 1] + x[i - 1]
    return np.sum(y**2)


def overwritten_in_the_next_sweep(x):
    y = x * 1.0
    for k in range(5):
        for i in range(1, 7):
            y[i] = (y[i] + k * y[i - 1]) / (3 + y[i] ** 2)
    return np.sum(y**2)


def stays(x):
    """Nothing needs to be kept: all is in the finished array, or in x."""
    y = np.zeros((7, 12))
    y[0] = x[0]
    for i in range(1, 7):
        y[i] = np.sin(x[i]) / (1.5 + y[i - 1] * x[i - 1])
    return np.sum(y**3)


def stored_twice(x):
    y, z = np.zeros((7, 12)), np.zeros((7, 12))
    for i in range(1, 7):
        r = x[i] / (2 + x[i - 1] * y[i - 1])
        y[i] = r
        z[i] = r
        y[6 - i] += r * z[i - 1]
    return np.sum(y**2 * z)


def in_branches(x):
    y = x * 1.0
    for i in range(1, 7):
        if x[i, 0] > 0:
            y[i] = y[i] / (2 + y[i - 1])
        else:
            y[i - 1] = y[i] * y[i - 1]
    return np.sum(y**2)


@pytest.mark.parametrize("f", [overwritten_later, overwritten_in_the_next_sweep, stays, stored_twice, in_branches])
def test_values_that_are_found_where_they_were_stored(f):
    gradient = wg.jit(wg.grad(f))(A)
    np.testing.assert_allclose(gradient, wg.grad(f)(A), rtol=1e-11, atol=1e-12)
    v = np.random.default_rng(1).standard_normal(A.shape)
    step = 1e-6
    expected = (f(A + step * v) - f(A - step * v)) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient * v), expected, rtol=1e-6)


def test_nothing_is_kept_of_what_stays():
    """The first loop carries the array and makes nothing else."""
    text = wg.jit(wg.grad(stays)).lower(A).ir
    assert "yield" not in text
