"""Compiled sparse derivatives of functions that are given their index arrays: the pattern is that of the indices.

The program holds for these indices only, which a call with others must notice; integers that are no places are data.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.arange(1.0, 7.0)
PLACES = [np.array([3, 0, 1]), np.array([5, 5, 2]), np.array([3, 0, 1])]


def gather(x, i):
    return x[i] ** 2


def scatter(x, i):
    y = np.zeros(6)
    np.add.at(y, i, x[:3] ** 2)
    return y


def loop(x, i):
    y = np.zeros(len(i))
    for k in range(len(i)):
        y[k] = x[i[k]] ** 2
    return y


@pytest.mark.parametrize("f", [gather, scatter, loop], ids=lambda f: f.__name__)
def test_jacobians(f):
    derivative = wg.jit(wg.jacobian(f, sparse=True))
    for i in PLACES:
        found = derivative(X, i)
        np.testing.assert_allclose(found.toarray(), wg.jacobian(f)(X, i), rtol=1e-14)
        assert found.nnz == 3


def test_hessians_of_containers():
    def f(x, edges):
        return np.sum(x[edges["from"]] ** 2 * x[edges["to"]])

    derivative = wg.jit(wg.hessian(f, sparse=True))
    for a, b in ([0, 1], [2, 3]), ([5, 1], [1, 0]):
        edges = {"from": np.array(a), "to": np.array(b)}
        found = derivative(X, edges)
        np.testing.assert_allclose(found.toarray(), wg.hessian(f)(X, edges), rtol=1e-14)
        assert found.nnz == 6


def test_integers_that_are_data_may_be_any():
    derivative = wg.jit(wg.jacobian(lambda x, k: x * k, sparse=True))
    for k in range(3):
        found = derivative(X, np.arange(6) + k)
        np.testing.assert_array_equal(found.toarray(), np.diag(np.arange(6) + k))
        assert found.nnz == 6
    assert [len(kept) for kept in derivative._versions.values()] == [1]


def test_indices_that_are_written_to():
    def before(x, i):
        i[0] = 2
        return wg.jacobian(gather, sparse=True)(x, i)

    def after(x, i):
        found = wg.jacobian(gather, sparse=True)(x, i)
        i[0] = 2
        return found

    for f in (before, after):
        compiled = wg.jit(f)
        for i in PLACES:
            ours, theirs = i.copy(), i.copy()
            np.testing.assert_array_equal(compiled(X, ours).toarray(), f(X, theirs).toarray())
            np.testing.assert_array_equal(ours, theirs)


def test_indices_of_an_outer_program_or_a_batch():
    inner = wg.jit(lambda x, i: wg.jacobian(gather, sparse=True)(x, i) @ np.ones(6))
    want = [2 * X[i] for i in PLACES]
    outer = wg.jit(lambda x, i: inner(x, i))
    for i, expected in zip(PLACES, want, strict=True):
        np.testing.assert_array_equal(outer(X, i), expected)
    np.testing.assert_array_equal(wg.vmap(inner, in_axes=(None, 0))(X, np.stack(PLACES)), want)


def test_many_places_are_no_obstacle():
    n = 50_000
    found = wg.jit(wg.jacobian(gather, sparse=True))(np.ones(n), np.arange(n)[::-1].copy())
    np.testing.assert_array_equal(found.indices, np.arange(n)[::-1])


def test_code_for_c_is_for_all_values(tmp_path):
    with pytest.raises(StagingError, match="one value of i only"):
        wg.jit(wg.jacobian(gather, sparse=True)).export(tmp_path / "gather", X, PLACES[0])
