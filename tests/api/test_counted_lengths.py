"""Lists that grow as counters of loops decide: their lengths are known to Jacobians, patterns and batches."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg


def every_other(x):
    out = []
    for i in range(len(x)):
        if i % 2:
            out.append(x[i] * x[(i * 3) % 7])
    return np.array(out)


def pairs(x):
    out = []
    for i in range(len(x)):
        for j in range(i):
            out.append((x[i] - x[j]) ** 2)
    return np.array(out)


def neighbours(x):
    out = []
    for i in range(len(x)):
        for j in (i - 1, i + 1):
            if 0 <= j < len(x):
                out.append(x[i] * np.sin(x[j]))
    return np.array(out)


def with_data(x):
    out = []
    for i in range(len(x)):
        for j in range(i):
            if x[i] > x[j]:
                out.append(x[i])
            else:
                out.append(2 * x[j])
    return np.array(out)


def skipped(x):
    out = []
    for i in range(len(x)):
        if i == 5:
            break
        if i % 3 == 1:
            continue
        out.append(x[i] ** 2)
    return np.array(out)


def sums_of_three(x):
    total, out = 0.0, []
    for i in range(len(x)):
        total += x[i]
        if (i + 1) % 3 == 0:
            out.append(total)
            total = 0.0
    return np.array(out)


def rows(x):
    table = []
    for i in range(4):
        row = []
        for j in range(4):
            if j != i:
                row.append(x[i] * x[j])
        table.append(row)
    return np.array(table).ravel()


compiled = wg.jit(pairs)


def of_compiled(x):
    return compiled(x)[:5] ** 2


X = np.array([0.9, 0.3, 1.4, 0.7, 1.1, 0.2, 1.6])


FUNCTIONS = [every_other, pairs, neighbours, with_data, skipped, sums_of_three, rows, of_compiled]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobians_sparse_and_compiled_are_those_of_python(f):
    expected = wg.jacobian(f)(X)
    np.testing.assert_allclose(wg.jacobian(f, sparse=True)(X).toarray(), expected)
    np.testing.assert_allclose(wg.jit(wg.jacobian(f, sparse=True))(X).toarray(), expected)
    np.testing.assert_allclose(wg.jit(wg.jacobian(f))(X), expected)
    pattern = wg.sparsity(f)(X).toarray()
    assert pattern.shape == expected.shape
    assert not np.any(expected[~pattern])


def test_hessian_of_what_is_computed_of_such_a_list():
    f = lambda x: np.sum(np.diff(pairs(x)) ** 2)
    np.testing.assert_allclose(wg.jit(wg.hessian(f, sparse=True))(X).toarray(), wg.hessian(f)(X), atol=1e-12)


def test_batches():
    batch = np.stack([X, X[::-1] * 2])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.jacobian(skipped)))(batch), [wg.jacobian(skipped)(x) for x in batch])


def test_lengths_that_data_decide_are_refused_still():
    def positive(x):
        out = []
        for i in range(7):
            if x[i] > 0.5:
                out.append(x[i])
        return np.array(out)

    with pytest.raises(wg.errors.StagingError, match="depends on the values"):
        wg.jacobian(positive, sparse=True)(X)
    np.testing.assert_allclose(wg.jit(positive)(X), X[X > 0.5])


def test_loops_of_many_iterations_stay_loops():
    def f(x):
        out = []
        for i in range(2000):
            if i % 2:
                out.append(x * i)
        return np.array(out)

    assert "loop" in str(wg.jit(f).lower(0.5).ir)
    np.testing.assert_allclose(wg.jit(f)(0.5), f(0.5))
