"""Reads of elements that no later iteration overwrites: found where they are, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.nests import SIZE, nest_alone
from fuzz.program import imported
from ir_comparing import interpreted

import wengert as wg
from wengert.backend.execute import optimised
from wengert.ir.analysis.affine import Affine, Atom, least
from wengert.ir.node import all_nodes


def stacks(f: Any, *args: Any) -> list[Any]:
    """The types of all arrays that loops of the gradient save."""
    compiled = wg.jit(wg.grad(f))
    found = compiled._version(compiled._form(args, {}))
    loops = [node for node in all_nodes(optimised(found.block, found.name).block) if node.op.name == "loop"]
    return [v.type for node in loops for v in node.outs[node.params["carried"] :]]


def test_least_value_of_a_sum_of_counters():
    i, j, n = Atom(0, 0), Atom(1, 1), Atom(2, -1)
    bounds = {i: (Affine.of(0), None), j: (Affine.of(0), Affine.of(i) - 1)}
    assert least(Affine.of(i) - Affine.of(j), bounds) == 1
    assert least(Affine.of(j) - Affine.of(i), bounds) is None
    assert least(Affine.of(j) + Affine.of(n) - Affine.of(n) + 3, bounds) == 3
    assert least(Affine.of(n), bounds) is None


def cholesky(A):
    n = len(A)
    L = np.zeros_like(A)
    for j in range(n):
        for i in range(j, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
    return np.sum(L * np.cos(L))


def lu(A):
    n = len(A)
    B = A.copy()
    for k in range(n):
        for i in range(k + 1, n):
            B[i, k] /= B[k, k]
            for j in range(k + 1, n):
                B[i, j] -= B[i, k] * B[k, j]
    return np.sum(np.sin(B))


def by_rows(A):
    n = len(A)
    Q = A.copy()
    for i in range(n):
        Q[i] /= np.sqrt(np.sum(Q[i] ** 2))
        Q[i + 1 :] -= np.outer(Q[i + 1 :] @ Q[i], Q[i])
    return np.sum(np.sin(Q))


def backwards(A):
    n = len(A)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = 1.0
        for j in range(i + 1, n):
            s -= A[i, j] * x[j] * x[j]
        x[i] = s / A[i, i]
    return np.sum(x**2)


@pytest.mark.parametrize("f", [cholesky, lu, backwards])
def test_nothing_is_saved_in_the_innermost_loop(f):
    A = np.random.default_rng(0).normal(size=(6, 6))
    A = A @ A.T + 6 * np.eye(6)
    assert all(t.ndim < 3 for t in stacks(f, A)), stacks(f, A)
    expected = wg.grad(f)(A)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(A), expected, 1e-10, 1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(lambda A: np.sum(wg.grad(f)(A) ** 2)))(A),
                               wg.grad(lambda A: np.sum(wg.grad(f)(A) ** 2))(A), 1e-8, 1e-10)  # fmt: skip


def test_rows():
    A = np.random.default_rng(0).normal(size=(6, 6))
    np.testing.assert_allclose(wg.jit(wg.grad(by_rows))(A), wg.grad(by_rows)(A), 1e-10, 1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_random_nests(seed):
    f = imported(nest_alone(seed)).f
    X = np.random.default_rng(0).normal(size=(SIZE, SIZE))
    try:
        f(X)
    except IndexError:
        return
    expected = wg.grad(f)(X)
    with interpreted():
        np.testing.assert_allclose(wg.grad(wg.jit(f))(X), expected, 1e-9, 1e-9)
