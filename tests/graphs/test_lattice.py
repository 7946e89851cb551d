"""Stencils on grids are coloured with as few colours as possible, whatever the grid, and however it is numbered."""

from __future__ import annotations

import numpy as np
import patterns as p
import pytest
import scipy.sparse as sp

import wengert as wg


def checked(made, partition="column"):
    found = wg.coloring(made, partition)
    lines = made if partition == "column" else made.T
    assert p.is_column_coloring(lines, found.colors)
    return found.count


@pytest.mark.parametrize("shape", [(12, 10), (10, 12), (11, 13), (9, 25), (25, 9)])
@pytest.mark.parametrize("partition", ["column", "row"])
def test_five_points(shape, partition):
    assert checked(p.stencil(shape, corners=False), partition) == 5


@pytest.mark.parametrize("shape", [(12, 10), (11, 13)])
def test_nine_points(shape):
    assert checked(p.stencil(shape, corners=True)) == 9


def test_seven_points():
    assert checked(p.stencil((6, 7, 8), corners=False)) == 7


@pytest.mark.parametrize("interleaved", [False, True])
def test_two_species(interleaved):
    side = 12
    made = p.brusselator(side)
    if interleaved:
        number = np.arange(2 * side**2).reshape(2, -1).T.ravel()
        made = made[np.ix_(number, number)]
    assert checked(made) == 6


def test_a_ring_whose_length_fits_no_number_of_colours_takes_one_more():
    assert checked(p.cyclic(31)) == 4  # three only if the length is a multiple of three
    assert checked(p.cyclic(30)) == 3


def test_a_grid_with_a_hole_and_one_with_more_columns_are_colored_somehow(rng):
    made = p.stencil((10, 10), corners=False)
    made[:, 45] = False
    assert checked(made) <= 7
    assert checked(np.hstack([np.ones((100, 1), bool), made])) <= 9


def test_random_patterns_with_the_distances_of_a_grid(rng):
    """Entries are left out at random, so the strides are there, but the grid is not complete."""
    for _ in range(5):
        made = p.stencil((9, 9), corners=False) & (rng.random((81, 81)) < 0.8)
        made[rng.integers(81), rng.integers(81)] = True
        assert checked(made) <= 7


def test_a_large_periodic_grid():
    side = 200
    places = np.arange(side * side).reshape(side, side)
    rows = np.tile(places.ravel(), 5)
    shifts = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
    columns = np.concatenate([np.roll(places, shift, (0, 1)).ravel() for shift in shifts])
    made = sp.coo_array((np.ones(len(rows)), (rows, columns)))
    found = wg.coloring(made)
    assert found.count == 5
    assert (found.decompress(found.compress(made)) != made.tocsr()).nnz == 0
