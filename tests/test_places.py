"""Writing to places that are named several times, in arrays whose own assignment leaves any of the values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
from strict_array import counted, host, strict

import wengert as wg
from wengert.ops import library
from wengert.ops.gamma import zeta
from wengert.ops.places import add_repeated, store_repeated

library._COMPANIONS["strict_array"] = ("strict_special",)

I, J = np.array([2, -1, 2, 0, 2, -3]), np.array([[1, 0], [1, 1], [0, -1]])
PLACES = [
    ((6,), (I,)),
    ((6, 3), (I,)),
    ((4, 6), (slice(None), I)),
    ((2, 6, 3), (1, I, slice(0, 2))),
    ((3, 4, 2), (J, slice(1, 3), J)),
    ((3, 4, 2), (None, J, ..., J)),
    ((3, 4, 2), (..., J, slice(None))),
    ((3, 4, 2), (2, slice(None), J[:, 0])),
    ((2, 3, 4, 2), (1, slice(None), J, slice(None))),
    ((2, 3, 1), (J[:, 0], slice(None), slice(None))),
    ((4,), (np.array([], int),)),
    ((4,), (np.full(300, 3),)),
]


@pytest.mark.parametrize(("shape", "place"), PLACES)
def test_as_numpy_does_it(shape, place, rng):
    start = rng.normal(size=shape)
    there = tuple([strict(i) if isinstance(i, np.ndarray) else i for i in place])
    whole = rng.normal(size=start[place].shape)
    for value in (whole, whole[..., :1], 0.5):
        moved = strict(value) if isinstance(value, np.ndarray) else value
        added, stored, right, left = strict(start), strict(start), start.copy(), start.copy()
        with counted() as count:
            add_repeated(added, there, moved)
            store_repeated(stored, there, moved)
            assert count.transfers == 0
        np.add.at(right, place, value)
        left[place] = value
        np.testing.assert_allclose(host(added), right, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(host(stored), left)


def test_values_that_are_not_finite_stay_in_their_group():
    x = strict(np.zeros(3))
    add_repeated(x, (strict(np.array([0, 1, 0, 2, 2])),), strict(np.array([1.0, np.nan, 2.0, np.inf, 1.0])))
    np.testing.assert_array_equal(host(x), [3, np.nan, np.inf])


def test_gradient_of_a_table_of_rows(rng):
    table, rows = rng.normal(size=(5, 3)), np.array([4, 0, 4, 4, 1])
    f = lambda x, i: np.sum(x[i] ** 3)
    np.testing.assert_allclose(
        host(wg.grad(f)(strict(table), strict(rows))), wg.grad(f)(table, rows), rtol=1e-13, atol=1e-15
    )


def test_zeta_left_and_right():
    s = np.array([-171.5, -20.0, -7.3, -2.0, -0.5, -1e-3, 0.0, 0.5, 0.999, 1.5, 40.0])

    np.testing.assert_allclose(host(zeta(strict(s))), scipy.special.zeta(s), rtol=1e-12, atol=1e-300)
