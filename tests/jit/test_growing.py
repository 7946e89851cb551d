"""Lists that grow in loops which are staged."""

from __future__ import annotations

import numpy as np
import pytest
from jit.everywhere import agrees, close, value

import wengert as wg
from wengert.errors import StagingError

X = np.array([0.5, 1.5])


def numbers(x):
    items = []
    for i in range(600):
        items.append(x * i)
    return sum(items) * 1e-4


def last_item(x):
    items = [x]
    for i in range(600):
        items.append(items[-1] * 0.999 + 0.001 * items[i])
    return items[-1] + items[300] + len(items)


def two_lists(x):
    xs, ts = [x], [0.0]
    for _ in range(600):
        xs.append(xs[-1] + 0.01 * np.sin(xs[-1]))
        ts.append(ts[-1] + 0.01)
    return np.array(xs)[::50], np.array(ts)[-1]


class Recorder:
    def __init__(self):
        self.history = []

    def record(self, x):
        self.history.append((x, {"twice": 2 * x}))


def of_tuples(x):
    recorder, y = Recorder(), x
    for _ in range(600):
        y = y * 0.999
        recorder.record(y)
    return recorder.history[5][0] + recorder.history[-1][1]["twice"] + len(recorder.history)


def of_arrays(x):
    ys, y = [x], x
    for _ in range(600):
        y = ys[-1] + 0.01 * np.sin(ys[-1])
        ys.append(y)
    return np.stack(ys)[::100], ys[-1] * y


def nested(x):
    items = [1.0]
    for _ in range(30):
        for j in range(30):
            items.append(items[-1] * 0.9 + x * j)
    return items[-1] + items[100]


def several_at_once(x):
    items = [x, 1.0]
    for _ in range(600):
        items.append(0.5 * items[-1] + 0.5 * items[-2])
        items.append(items[-1] - 0.001)
    return items[-1] + items[-2]


@pytest.mark.parametrize(
    "f", [numbers, last_item, two_lists, of_tuples, nested, several_at_once], ids=lambda f: f.__name__
)
def test_of_a_number(f):
    agrees(f, 1.3, batch=f is not numbers)


def test_of_an_array():
    agrees(of_arrays, X)


def same_array(x):
    items = []
    v = np.zeros(2)
    for i in range(20):
        v += x * i
        items.append(v)
    return items[0] + items[-1]


def written_afterwards(x):
    items, y = [x], x
    for _ in range(20):
        y = y * 0.9
        items.append(y)
    y[0] = 5.0
    return items[-1]


def item_written(x):
    items = [x.copy()]
    first = items[0]
    for i in range(20):
        items[0][0] = float(i)
        items.append(items[-1] * 0.9)
    return first, items[-1]


def old_items_stay(x):
    first = x.copy()
    items = [first]
    for _ in range(20):
        items.append(items[-1] * 0.9)
    first[0] = 7.0
    return items[0], items[1]


@pytest.mark.parametrize("f", [same_array, written_afterwards, item_written, old_items_stay], ids=lambda f: f.__name__)
def test_arrays_in_lists_are_the_same_arrays_or_refused(f):
    try:
        got = value(wg.jit(f), X)
    except StagingError as error:
        assert "remedy" in str(error)  # noqa: PT017
    else:
        close(got, value(f, X))


@pytest.mark.parametrize("count", [20, 600])
def test_a_list_that_is_used_as_a_whole(count):
    def f(x):
        items = [x]
        for _ in range(count):
            items.append(sum(items) * 0.001)
        return items[-1]

    agrees(f, 1.3, batch=count == 20)


def test_an_unknown_number_of_iterations():
    def f(x):
        items = [x]
        while items[-1] < 100.0:
            items.append(items[-1] * 2.0)
        return items[-1]

    agrees(f, 1.3, batch=False)
