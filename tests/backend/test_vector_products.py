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
