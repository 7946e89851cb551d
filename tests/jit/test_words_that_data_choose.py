"""Labels beside numbers: texts that only the running program would choose are put away, and never looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([0.5, 1.5, 2.5])
GRADES = np.array(["low", "middle", "high"], dtype=object)


@dataclass
class Judged:
    value: Any
    label: Any


def looked_up(x):
    return Judged(x**2, GRADES[np.digitize(x, [1.0, 2.0])])


def written(x):
    label = np.full_like(x, "low", dtype=object)
    label[x > 1] = "middle"
    label[(x > 2) & (x < 9)] = "high"
    return Judged(x**2, label)


def told_apart(x):
    return Judged(x**2, np.where(x > 1, "high", "low"))


def selected(x):
    return Judged(x**2, np.select([x < 1, x < 2], ["low", "middle"], default="high"))


def lettered(x):
    k = int(x[0] + 1) >> 1
    return Judged(x**2, ("ABC"[k], ["low", "high"][-k]))


@pytest.mark.parametrize("judge", [looked_up, written, told_apart, selected, lettered])
def test_the_numbers_beside_them(judge):
    f = lambda x: np.sum(judge(x).value)
    assert np.isclose(wg.jit(f)(X), 8.75)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), 2 * X)
    np.testing.assert_allclose(wg.grad(wg.jit(f))(X), 2 * X)


REFUSED = {
    "compared": lambda x: x[0] if np.all(looked_up(x).label == "low") else x[1],
    "one compared": lambda x: x[0] if GRADES[int(x[0])] == "low" else x[1],
    "returned": lambda x: (x[0], looked_up(x).label),
    "in a dict": lambda x: {"low": x[0]}.get(GRADES[int(x[0])], x[1]),
    "counted": lambda x: x[0] * len(told_apart(x).label),
    "asked what it is": lambda x: x[0] if isinstance(told_apart(x).label, np.ndarray) else x[1],
    "joined": lambda x: x[0] if (GRADES[int(x[0])] + "er") else x[1],
}


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_whoever_looks_is_told(f):
    with pytest.raises(StagingError, match="texts or objects"):
        wg.jit(f)(X)


def test_a_place_that_is_not_there():
    def f(x):
        return Judged(x[1], GRADES[int(x[0])]).value

    assert wg.jit(f)(X) == 1.5
    with pytest.raises(IndexError):
        wg.jit(f)(X + 7)


def test_an_array_that_others_hold_is_not_written_to():
    def f(x):
        label = np.array(["low"] * 3)
        same = label
        label[x > 1] = "high"
        return x[0] if same[1] == "high" else x[1]

    with pytest.raises(StagingError, match="others may hold"):
        wg.jit(f)(X)
