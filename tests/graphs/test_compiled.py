"""Compiled kernels do what they do in Python."""

from __future__ import annotations

import numpy as np
import patterns as p
import pytest
import scipy.sparse as sp

import wengert as wg
from wengert.api import coloring as api
from wengert.graphs.ordering import ORDERS


@pytest.mark.slow
@pytest.mark.parametrize(("partition", "decompression"), [
    ("column", "direct"), ("both", "direct"), ("symmetric", "direct"), ("symmetric", "substitution"),
])  # fmt: skip
def test_compiled_is_interpreted(partition, decompression, monkeypatch, rng):
    names = ["five-point", "wide arrow", "scattered 0", "full", "empty", "none", "complete bipartite"]
    for order in ORDERS:
        for name in names:
            made = p.SQUARE[name]
            monkeypatch.setattr(api, "_WORTH_COMPILING", 10**9)
            plain = wg.coloring(made, partition, order, decompression)
            monkeypatch.setattr(api, "_WORTH_COMPILING", 0)
            compiled = wg.coloring(made, partition, order, decompression)
            np.testing.assert_array_equal(plain.colors, compiled.colors)
            matrix = np.where(made, rng.standard_normal(made.shape), 0.0)
            matrix = matrix + matrix.T
            there = plain.compress(matrix)
            np.testing.assert_array_equal(plain.decompress(there).data, compiled.decompress(there).data)
            for dtype in (np.float32, np.complex128):
                small = (matrix.astype(dtype) * 8).round()
                np.testing.assert_array_equal(compiled.decompress(compiled.compress(small)).toarray(), small)


def test_large_patterns_are_compiled(rng):
    side = 300
    n = side * side
    places = np.arange(n).reshape(side, side)
    rows, columns = [], []
    for across, down in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)):
        rows.append(places.ravel())
        columns.append(np.roll(places, (across, down), (0, 1)).ravel())
    made = sp.coo_array((np.ones(5 * n), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n)).tocsr()
    found = wg.coloring(made)
    assert found.count <= 10
    made.data = rng.standard_normal(made.nnz)
    assert (found.decompress(found.compress(made)) != made).nnz == 0
