"""Intervals of integers contain what ops make of the numbers in them."""

import itertools

import numpy as np
import pytest

from wengert.ir.analysis.ranges import _RULES, interval_from
from wengert.ops.op import TABLE

ENDS = (-3, -1, 0, 2)
INTERVALS = [(a, b) for a, b in itertools.product((None, *ENDS), (*ENDS, None)) if None in (a, b) or a <= b]


def _numbers(interval):
    """Whole numbers in an interval; of an endless one, the first few."""
    low, high = interval
    low = (-4 if high is None else high - 4) if low is None else low
    return range(low, (low + 5 if high is None else high) + 1)


@pytest.mark.parametrize("name", sorted(_RULES))
def test_results_lie_in_the_interval(name):
    op = TABLE[name]
    operands = {"negative": 1, "absolute": 1, "python_number": 1, "where": 3}.get(name, 2)
    for intervals in itertools.product(INTERVALS, repeat=min(operands, 2)):
        ranges = intervals if operands < 3 else ((0, 1), *intervals)
        found = interval_from(name, ranges)
        if found is None:
            continue
        low, high = found
        for numbers in itertools.product(*map(_numbers, ranges)):
            if name in ("floor_divide", "remainder") and numbers[1] == 0:
                continue
            result = op.impl(*numbers)
            assert low is None or low <= result
            assert high is None or result <= high


def test_closed_intervals_of_sums_and_products_are_the_smallest():
    for x, y in itertools.product([i for i in INTERVALS if None not in i], repeat=2):
        for name, function in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply)):
            results = function.outer(_numbers(x), _numbers(y))
            assert interval_from(name, (x, y)) == (results.min(), results.max())


def test_other_ops_have_no_interval():
    assert interval_from("sin", ((0, 1),)) is None
