"""`range(n)` with a bound that only the running program knows: its items, bounds, and what is in it."""

import numpy as np
import pytest

import wengert as wg


def asked(x):
    n = int(x[0])
    r, by_two, down = range(n), range(2, n, 2), range(n, 0, -2)
    numbers = [r[-1], r[0], by_two[-1], down[1], r.start, r.stop, down.step, len(by_two)]
    inside = [n in r, 3 in r, n - 1 in r, 1 in by_two, 4 in by_two, -1 in r, n in down, n - 1 in down, 2.5 in r]
    total = 0
    for i in r:
        total += r[-1 - i] * i
    return numbers, inside, total


def beyond(x):
    return range(int(x[0]))[int(x[1])]


def test_items_of_ranges():
    for n in (5.0, 8.0):
        numbers, inside, total = wg.jit(asked)(np.array([n, 7.0]))
        expected = asked(np.array([n, 7.0]))
        np.testing.assert_array_equal(numbers, expected[0])
        np.testing.assert_array_equal(inside, expected[1])
        assert total == expected[2]
    assert wg.jit(beyond)(np.array([5.0, -5.0])) == 0
    for k in (5.0, -6.0):
        with pytest.raises(IndexError, match="range object index out of range"):
            wg.jit(beyond)(np.array([5.0, k]))
