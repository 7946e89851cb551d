"""Products with multiples of vectors: fewer products, the same numbers."""

import numpy as np
import pytest
from ir_comparing import number_of

import wengert as wg

rng = np.random.default_rng(0)
A, B, x, y = rng.normal(size=(6, 6)), rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4)


def products(f, *args) -> int:
    return number_of("matmul", f, *args)


def agrees(f, *args) -> None:
    np.testing.assert_allclose(wg.jit(f)(*args), f(*args), rtol=1e-12)


def test_a_product_that_is_there_already_is_not_made_again():
    def f(A, x):
        return A @ x + A @ (np.sin(x[0]) * x) + A @ (x * 3.0)

    assert products(f, A, x) == 1
    agrees(f, A, x)


def test_other_vectors_and_matrices_stay():
    def f(A, B, x, y):
        return A @ (2.5 * x) + B @ (np.exp(y[0]) * y)

    assert products(f, A, B, x, y) == 2
    agrees(f, A, B, x, y)


def test_turned_matrices_and_both_sides():
    def f(A, x):
        s = np.cos(x[1])
        return A @ x, (s * x) @ A, A.T @ (x * s), (x * s) @ A.T, x @ A

    found = wg.jit(f)(A, x)
    for got, wanted in zip(found, f(A, x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert products(f, A, x) <= 4


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_gradients_of_quadratic_forms(argnums):
    def f(x, A):
        return np.exp(-(x @ A @ x)) / (1 + x @ x)

    found, wanted = wg.jit(wg.grad(f, argnums))(x, A), wg.grad(f, argnums)(x, A)
    for got, exact in zip(
        found if isinstance(found, tuple) else (found,), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
    ):
        np.testing.assert_allclose(got, exact, rtol=1e-12)


def test_integers_and_single_precision():
    def f(A, x):
        return A @ x + A @ (x * x[0])

    for dtype in (np.int64, np.float32):
        a, v = (10 * A).astype(dtype), (10 * x).astype(dtype)
        found = wg.jit(f)(a, v)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, f(a, v), rtol=1e-5)


def test_inside_loops():
    def f(A, x):
        for _ in range(3):
            x = np.tanh(A @ x + A @ (x[0] * x))
        return x

    agrees(f, A, x)
    agrees(wg.grad(lambda A, x: np.sum(f(A, x))), A, x)
