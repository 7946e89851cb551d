"""A large matrix by a vector, from either side, is BLAS's routine for that, whatever the layout; and it is right."""

import numpy as np
import pytest

import wengert as wg

PRODUCTS = {
    "X @ w": lambda X, w, v: X @ w,
    "v @ X": lambda X, w, v: v @ X,
    "X.T @ v": lambda X, w, v: X.T @ v,
    "w @ X.T": lambda X, w, v: w @ X.T,
    "dot": lambda X, w, v: np.dot(X, w),
    "einsum": lambda X, w, v: np.einsum("ij,i->j", X, v),
    "part": lambda X, w, v: X @ np.concatenate([w, w])[::2],
}


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("product", PRODUCTS)
def test_products(product, dtype, rng):
    f = PRODUCTS[product]
    X, w, v = (rng.normal(size=shape).astype(dtype) for shape in ((3000, 20), 20, 3000))
    compiled = wg.jit(f)
    found = compiled(X, w, v)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, f(X, w, v), rtol=2e-4 if dtype == "f4" else 1e-11, atol=1e-4 * (dtype == "f4"))
    called = compiled.lower(X, w, v).llvm
    assert "gemv" in called
    assert "gemm" not in called


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("count", [0, 1, 5, 7])
@pytest.mark.parametrize("rows", [1, 4, 9])
def test_a_few_rows_of_many_columns(rows, count, dtype, rng):
    x, y = rng.normal(size=(rows, 7)).astype(dtype), rng.normal(size=(7, 3_011)).astype(dtype)
    found = wg.jit(lambda x, y, n: x[:, :n] @ y[:n])(x, y, count)
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    np.testing.assert_allclose(found, x[:, :count] @ y[:count], rtol=tolerance, atol=tolerance)


def test_code_does_not_grow_with_the_columns(rng):
    """Stages of a Runge-Kutta step, weighted: a vector of a few numbers by a few rows of many."""

    def lines(columns):
        compiled = wg.jit(lambda w, k, n: w[:n] @ k[:n])
        return compiled.lower(np.ones(7), np.ones((7, columns)), 3).llvm.count("\n")

    assert lines(32_000) <= 1.2 * lines(320)
