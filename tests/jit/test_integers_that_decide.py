"""Integer arguments that decide about axes, shapes or keys: a program is compiled for each of their values.

The reference is the function itself.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert as wg

A = np.arange(16.0).reshape(4, 4) * 0.1
FUNCTIONS = {
    "sum": lambda A, k: np.sum(A, axis=k), "method": lambda A, k: A.mean(k, keepdims=True),
    "cumsum": lambda A, k: np.cumsum(A, axis=k), "stack": lambda A, k: np.stack([A, 2 * A], axis=k),
    "moveaxis": lambda A, k: np.moveaxis(A, k, 0), "roll": lambda A, k: np.roll(A, k, axis=k),
    "reshape": lambda A, k: A.reshape(k + 1, -1), "eye": lambda A, k: np.eye(k + 2) @ A[: k + 2],
    "norm": lambda A, k: np.linalg.norm(A, axis=k), "diff": lambda A, k: np.diff(A, k + 1),
    "repeat": lambda A, k: np.repeat(A, k + 1), "diag": lambda A, k: np.diag(A[0], k),
    "dict": lambda A, k: {0: A, 1: 2 * A}[k], "text": lambda A, k: A * len("ab" * k),
    "computed": lambda A, k: np.sum(A, axis=(k + 1) % 2), "power": lambda A, k: np.linalg.matrix_power(A, k + 2),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_value_gives_what_the_function_gives(name):
    f = FUNCTIONS[name]

    def total(A, k):
        y = f(A, k)
        return np.sum(y * np.cos(np.arange(y.size).reshape(y.shape)))

    compiled, gradient, of_compiled = wg.jit(f), wg.jit(wg.grad(total)), wg.grad(wg.jit(total))
    for k in (0, 1, 0, np.int64(1)):
        np.testing.assert_allclose(compiled(A, k), f(A, k), rtol=1e-12)
        want = wg.grad(total)(A, k)
        np.testing.assert_allclose(gradient(A, k), want, rtol=1e-12)
        np.testing.assert_allclose(of_compiled(A, k), want, rtol=1e-12)


def test_a_program_that_does_not_depend_on_the_value_is_made_once():
    f = wg.jit(lambda A, k: A[k] * k)
    for k in range(4):
        np.testing.assert_allclose(f(A, k), A[k] * k)
    assert [len(versions) for versions in f._versions.values()] == [1]


def test_many_values_are_told_of():
    f = wg.jit(lambda A, k: np.linalg.matrix_power(A[:2, :2], k))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(8):
            f(A, k)
    with pytest.warns(RuntimeWarning, match="anew for every value of k"):
        f(A, 9)


def test_an_axis_that_is_computed_from_data_is_refused():
    with pytest.raises(wg.errors.ConcretizationError, match="axis"):
        wg.jit(lambda A: np.sum(A, axis=int(A[0, 0])))(A)
