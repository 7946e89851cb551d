"""What counts as a pattern, what comes back, and what is refused."""

from __future__ import annotations

import numpy as np
import patterns as p
import pytest
import scipy.sparse as sp

import wengert as wg
from wengert.errors import PatternError
from wengert.graphs.pattern import as_pattern, columns_to_rows, rows_to_columns, without_equal_rows

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_all_sparse_formats_and_dense_arrays(format, kind):
    made = p.stencil((3, 4), corners=False)
    given = (sp.csr_array if kind == "array" else sp.csr_matrix)(made.astype(float)).asformat(format)
    np.testing.assert_array_equal(wg.coloring(given).colors, wg.coloring(made).colors)
    found = wg.coloring(given)
    np.testing.assert_array_equal(found.decompress(found.compress(given)).toarray(), made.astype(float))


def test_stored_zeros_belong_to_the_pattern_and_duplicates_count_once():
    values, rows, columns = np.array([1.0, 0.0, 2.0, 3.0]), [0, 0, 1, 1], [2, 0, 1, 1]
    given = sp.coo_array((values, (rows, columns)), shape=(2, 3))
    found = wg.coloring(given)
    assert found.pattern.nnz == 3
    assert found.pattern.dtype == bool
    back = found.decompress(found.compress(given))
    np.testing.assert_array_equal(back.indices, [0, 2, 1])
    np.testing.assert_array_equal(back.data, [0.0, 1.0, 5.0])


def test_what_is_given_stays_as_it_is():
    given = sp.csr_array((np.ones(4), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    before = given.indices.copy()
    found = wg.coloring(given)
    np.testing.assert_array_equal(given.indices, before)
    given.indices[:] = 0  # and belongs to the caller
    np.testing.assert_array_equal(found.pattern.indices, [0, 2, 1])


@pytest.mark.parametrize(("partition", "decompression"), [
    ("column", "direct"), ("row", "direct"), ("both", "direct"), ("symmetric", "direct"), ("symmetric", "substitution"),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.int64])
def test_types_are_kept(partition, decompression, dtype, rng):
    made = p.stencil((4, 4), corners=False)
    matrix = np.where(made, rng.integers(1, 50, made.shape), 0).astype(dtype)
    if np.dtype(dtype).kind == "c":
        matrix = matrix * (1 + 2j)
    matrix = (matrix + matrix.T).astype(dtype)
    found = wg.coloring(made, partition, decompression=decompression)
    back = found.decompress(found.compress(matrix))
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.toarray(), matrix)


def test_infinities_stay_where_they_are():
    made = p.banded(7, 1)
    matrix = np.where(made, np.inf, 0.0)
    for partition in ("column", "row", "both", "symmetric"):
        found = wg.coloring(made, partition)
        np.testing.assert_array_equal(found.decompress(found.compress(matrix)).toarray(), matrix)


def test_a_linear_operator_can_be_compressed():
    x = np.arange(1.0, 9.0)
    _, J = wg.linearize(lambda x: x[1:] * x[:-1], x)
    found = wg.coloring(np.eye(7, 8, dtype=bool) | np.eye(7, 8, 1, dtype=bool))
    np.testing.assert_array_equal(found.decompress(found.compress(J)).toarray(), J.dense())


def test_index_arrays_are_shared_and_cannot_be_changed():
    made = p.banded(6, 1)
    found = wg.coloring(made)
    zero = sp.csr_array(made.astype(float)) * 0.0
    first, second = found.decompress(found.compress(zero)), found.decompress(found.compress(made.astype(float)))
    assert first.indices is second.indices
    assert first.indptr is second.indptr
    assert first.nnz == 16  # zeros are stored
    assert first.has_sorted_indices
    assert first.has_canonical_format
    with pytest.raises(ValueError, match="read-only"):
        first.eliminate_zeros()
    np.testing.assert_array_equal(second.toarray(), made)
    copy = first.copy()
    copy.eliminate_zeros()
    assert copy.nnz == 0


def test_symmetric_colorings_need_symmetric_patterns():
    with pytest.raises(PatternError, match=r"entry \(0, 1\) is in it and \(1, 0\) is not"):
        wg.coloring(np.triu(np.ones((3, 3), bool)), "symmetric")
    with pytest.raises(PatternError, match=r"entry \(2, 0\) is in it and \(0, 2\) is not"):
        wg.coloring(p.pattern(3, 3, [(2, 0), (1, 1)]), "symmetric")
    with pytest.raises(PatternError, match="3 rows and 4 columns"):
        wg.coloring(np.ones((3, 4), bool), "symmetric")
    with pytest.raises(ValueError, match="symmetric"):
        wg.coloring(sp.csr_array(np.triu(np.ones((3, 3)))), "symmetric")


@pytest.mark.parametrize("given", [np.ones(3, bool), np.ones((2, 2, 2)), "pattern", None, np.array([["a"]]),
                                   sp.coo_array(np.ones(3))])  # fmt: skip
def test_what_is_no_pattern(given):
    with pytest.raises(PatternError, match="sparsity pattern"):
        wg.coloring(given)


@pytest.mark.parametrize("wrong", [dict(partition="columns"), dict(order="largest"), dict(decompression="directly")])
def test_words_that_mean_nothing(wrong):
    with pytest.raises(ValueError, match=" is one of "):
        wg.coloring(np.eye(2, dtype=bool), **wrong)


def test_matrices_of_another_size():
    found = wg.coloring(p.banded(5, 1))
    with pytest.raises(PatternError, match=r"5 x 5 matrices, but this one is 4 x 4"):
        found.compress(np.eye(4))
    with pytest.raises(PatternError, match=r"is 5 x 3, but this is 3 x 5"):
        found.decompress(np.ones((3, 5)))
    with pytest.raises(PatternError, match=r"5 x "):
        wg.coloring(p.banded(5, 1), "both").decompress((np.ones((9, 5)), np.ones((5, 9))))


@pytest.mark.parametrize("density", [0.5, 0.9, 1.0])
def test_equal_rows_are_looked_at_once(density, rng):
    """The distinct rows stay, each at least once; those that differ in one entry are no equals."""
    rows = (rng.random((4, 40)) < density)[rng.integers(0, 4, 60)]
    rows[rng.integers(0, 60, 3), rng.integers(0, 40, 3)] ^= True
    pattern = as_pattern(rows)
    graph, back = without_equal_rows(columns_to_rows(pattern), rows_to_columns(pattern))
    kept = sp.csr_array((np.ones(len(back.other), bool), back.other, back.start), shape=(back.size, 40))
    assert {r.tobytes() for r in kept.toarray()} == {r.tobytes() for r in rows}
    assert back.size < 20
    np.testing.assert_array_equal(np.diff(graph.start), kept.toarray().sum(axis=0))
