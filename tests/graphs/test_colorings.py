"""Colourings are what they are called, by definition; they are greedy; and matrices survive compression."""

from __future__ import annotations

import numpy as np
import patterns as p
import pytest
import scipy.sparse as sp

import wengert as wg
from wengert.graphs.ordering import ORDERS, hops_of
from wengert.graphs.partial import in_order
from wengert.graphs.pattern import as_pattern, columns_to_rows, rows_to_columns
from wengert.graphs.running import interpreted

PAIRS = [("column", "direct"), ("row", "direct"), ("both", "direct"), ("symmetric", "direct"),
         ("column", "substitution"), ("both", "substitution"), ("symmetric", "substitution")]  # fmt: skip


def patterns_for(partition):
    return p.SQUARE if partition == "symmetric" else p.ALL


def cases():
    return [
        pytest.param(partition, decompression, name, id=f"{partition}-{decompression}-{name}")
        for partition, decompression in PAIRS
        for name in patterns_for(partition)
    ]


def is_valid(made, found):
    if found.partition == "column":
        return p.is_column_coloring(made, found.colors) and (found.colors >= 0).all()
    if found.partition == "row":
        return p.is_column_coloring(made.T, found.colors) and (found.colors >= 0).all()
    if found.partition == "both":
        return found.decompression == "substitution" or p.is_bicoloring(made, *found.colors)
    way = p.is_star_coloring if found.decompression == "direct" else p.is_acyclic_coloring
    return way(made, found.colors) and (found.colors >= 0).all()


@pytest.mark.parametrize(("partition", "decompression", "name"), cases())
def test_it_is_a_coloring_and_matrices_come_back(partition, decompression, name, rng):
    made = patterns_for(partition)[name]
    matrix = np.where(made, rng.integers(1, 100, made.shape), 0).astype(float)
    if partition == "symmetric":
        matrix = matrix + matrix.T
    for order in ORDERS:
        found = wg.coloring(made, partition, order, decompression)
        assert is_valid(made, found), order
        sides = found.colors if partition == "both" else (found.colors,)
        assert sum(len(set(side[side >= 0])) for side in sides) == found.count
        for given in (matrix, sp.csr_array(matrix)):
            back = found.decompress(found.compress(given))
            np.testing.assert_array_equal(back.toarray(), matrix)
            np.testing.assert_array_equal(back.indices, sp.csr_array(made).indices)


@pytest.mark.parametrize("order", ["natural", "random"])
@pytest.mark.parametrize(("partition", "decompression", "allowed"), [
    ("column", "direct", p.is_column_coloring),
    ("symmetric", "direct", p.is_star_coloring),
    ("symmetric", "substitution", p.is_acyclic_coloring),
])  # fmt: skip
def test_each_vertex_has_the_least_colour_that_is_possible(partition, decompression, allowed, order):
    for seed in range(8):
        made = p.scattered(11, 11, 0.15, seed, symmetric=True)
        pattern = as_pattern(made)
        hops = hops_of(columns_to_rows(pattern), rows_to_columns(pattern))
        expected = np.arange(11) if order == "natural" else np.random.default_rng(seed).permutation(11)
        found = wg.coloring(made, partition, order, decompression, seed)
        greedy = p.greedy(made, expected, allowed)
        if partition == "symmetric":
            np.testing.assert_array_equal(found.colors, greedy)
        else:
            np.testing.assert_array_equal(in_order(hops, np.array(expected), interpreted), greedy)
            assert found.count <= greedy.max() + 1


def test_rows_are_columns_of_the_transpose():
    for made in p.RECTANGULAR.values():
        for order in ORDERS:
            of_rows, of_columns = wg.coloring(made, "row", order), wg.coloring(made.T, "column", order)
            np.testing.assert_array_equal(of_rows.colors, of_columns.colors)


@pytest.mark.parametrize("half", [1, 2, 3])
def test_bands(half):
    """Column and star: 2k + 1; acyclic: k + 1."""
    made = p.banded(40, half)
    assert wg.coloring(made).count == 2 * half + 1
    assert wg.coloring(made, "row").count == 2 * half + 1
    assert wg.coloring(made, "symmetric", "natural").count == 2 * half + 1
    assert wg.coloring(made, "symmetric", "natural", "substitution").count == half + 1


def test_counts_that_are_known():
    assert wg.coloring(p.cyclic(24), "symmetric").count == 3
    assert wg.coloring(p.cyclic(24), "symmetric", decompression="substitution").count == 3
    assert wg.coloring(p.stencil((9, 9), corners=True), order="natural").count == 9
    assert wg.coloring(np.eye(4, dtype=bool)[::-1], "both").count == 1
    assert wg.coloring(p.RECTANGULAR["triangle"], "both").count == 3
    # Gebremedhin, Manne, Pothen 2005, figure 4.1: five colours for columns, three for a star colouring
    near = [(0, 1), (1, 2), (1, 4), (1, 5), (2, 3), (3, 5)]
    made = p.pattern(6, 6, [*near, *[(j, i) for i, j in near], *[(i, i) for i in range(6)]])
    assert wg.coloring(made).count == 5
    assert wg.coloring(made, "symmetric", "natural").count == 3


@pytest.mark.parametrize("width", [1, 2, 5])
def test_dense_rows_and_columns_are_read_apart(width):
    """The dense rows by rows, the dense columns by columns, and one colour for all that is left."""
    made = p.arrow(40, width)
    assert wg.coloring(made, "both").count == 2 * width + 1
    assert wg.coloring(made, "column").count == 40
    assert wg.coloring(made, "symmetric").count == width + 1


def test_both_is_never_more_than_one_kind_alone():
    for made in p.ALL.values():
        for order in ORDERS:
            alone = min(wg.coloring(made, "column", order).count, wg.coloring(made, "row", order).count)
            assert wg.coloring(made, "both", order).count <= alone


def test_one_dense_row_does_not_make_it_slow():
    """With 20,000 columns a quadratic algorithm would take minutes."""
    n = 20_000
    edge = np.arange(n)
    ones = np.ones(3 * n, bool)
    made = sp.coo_array((ones, (np.r_[edge, edge, 0 * edge], np.r_[edge, 0 * edge, edge])), shape=(n, n))
    assert wg.coloring(made, "both").count == 3
    assert wg.coloring(made, "symmetric").count == 2
    assert wg.coloring(made, "symmetric", decompression="substitution").count == 2


def test_a_seed_says_which_random_order():
    made = p.brusselator(4)
    first, again, other = (wg.coloring(made, order="random", seed=seed).colors for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
