"""Only the rows that are used are computed, and rows that do not exist still raise."""

import numpy as np
import pytest

import wengert as wg
from wengert.ir.node import all_nodes


def largest(f, *args) -> int:
    """The number of elements of the largest array that a program computes."""
    nodes = all_nodes(wg.jit(f).lower(*args).program.block)
    return max(int(np.prod(v.type.shape)) for node in nodes for v in node.outs if node.op.name != "index")


X = np.random.default_rng(0).normal(size=(20, 3))
W = np.random.default_rng(1).normal(size=(3, 5))
ROWS = np.array([3, -1, 7, 7])

CASES = {
    "elementwise": lambda x: (np.tanh(x) * 2 + x[0])[ROWS],
    "product": lambda x: (x @ W + 1)[ROWS],
    "slice": lambda x: np.exp(x @ W)[2:6],
    "sum along others": lambda x: np.sum(x * x, axis=1)[ROWS],
    "transposed": lambda x: np.cos(x).T[:, ROWS],
    "einsum": lambda x: np.einsum("ni,ij->jn", x, W)[:, 4:8],
    "joined": lambda x: np.concatenate([x[::-1], np.tanh(x), x])[23:27],
    "gathered": lambda x: np.sin(x[np.arange(20)[::-1]])[:3],
}


@pytest.mark.parametrize("name", CASES)
def test_parts_are_taken_early(name):
    f = CASES[name]
    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-14)
    assert largest(f, X) <= 4 * 5


def test_what_is_used_whole_is_computed_whole():
    def f(x):
        y = np.exp(x @ W)
        return y[ROWS], np.sum(y)

    for got, wanted in zip(wg.jit(f)(X), f(X), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)
    assert largest(f, X) == 20 * 5


def test_rows_that_are_given_when_it_runs():
    f = wg.jit(lambda x, rows: np.tanh(x @ W)[rows])
    np.testing.assert_allclose(f(X, ROWS), np.tanh(X @ W)[ROWS], rtol=1e-14)
    with pytest.raises(IndexError, match="20"):
        f(X, np.array([0, 20, 1, 2]))


def test_rows_that_do_not_exist_raise_also_if_they_are_not_used():
    f = wg.jit(lambda x, rows: np.exp(x[rows])[:2])
    np.testing.assert_allclose(f(X, np.arange(8)), np.exp(X[:2]), rtol=1e-14)
    with pytest.raises(IndexError):
        f(X, np.array([0, 1, 2, 3, 4, 5, 6, 20]))
