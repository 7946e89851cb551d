"""Links between arrays that may be the same: who still has an array is told by reference counts."""

import types

import numpy as np
import pytest

from wengert.box.cells import Cell
from wengert.ir.aliases import Links
from wengert.running import entered


@pytest.fixture(autouse=True)
def transformation():
    """Links are of cells in a function that is being transformed; elsewhere parts of cells are plain arrays."""
    with entered(types.SimpleNamespace()):
        yield


def links(*pairs):
    found = Links()
    for a, b in pairs:
        found.add(a, b, True, None)
    return found


def number(found):
    found._prune()
    return len(found._links)


def test_a_link_lives_as_long_as_both_arrays():
    a, b = Cell(np.zeros(3)), Cell(np.ones(3))
    found = links((a, b))
    assert number(found) == 1
    del b
    assert number(found) == 0


def test_a_view_is_had_by_who_has_its_root():
    a, b = Cell(np.zeros(3)), Cell(np.ones(3))
    found = links((a, b[::-1]))
    assert number(found) == 1
    del b
    assert number(found) == 0


def test_a_view_of_an_array_that_has_no_name():
    a, v = Cell(np.zeros(3)), Cell(np.ones(3))[::-1]
    found = links((a, v))
    assert number(found) == 1
    del v
    assert number(found) == 0


def test_an_array_without_a_name_connects_others():
    a, b, c = [Cell(np.zeros(3)) for _ in range(3)]
    found = links((a, b), (c, b))
    del b
    assert number(found) == 2
    assert found.connects(a, c)
    del c
    assert number(found) == 0


def test_a_view_connects_too():
    a, b, c = [Cell(np.zeros(3)) for _ in range(3)]
    found = links((a, b[::-1]), (c, b))
    del b
    assert number(found) == 2
    assert found.connects(a, c)
