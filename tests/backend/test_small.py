"""Small matrices in registers: against NumPy and SciPy, on stacks, with pivots, zeros and numbers out of range."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

import wengert as wg
from wengert.backend.llvm.linalg import small

SIZES = range(1, small.LARGEST + 2)  # the last one goes to LAPACK


def residual(a, x, b):
    """‖ax − b‖ in units of what rounding explains."""
    scale = np.abs(a) @ np.abs(x) + np.abs(b)
    return np.max(np.abs(a @ x - b) / scale) / np.finfo(x.dtype).eps


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_solutions_and_inverses_have_small_residuals(n, dtype):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(50, n, n)).astype(dtype), rng.normal(size=(50, n, 3)).astype(dtype)
    a[::7] *= 1e-12  # pivots depend on ratios only
    x = wg.jit(np.linalg.solve)(a, b)
    assert x.dtype == dtype
    assert residual(a, x, b) < 200
    inverse = wg.jit(np.linalg.inv)(a)
    assert residual(a, inverse, np.broadcast_to(np.eye(n, dtype=dtype), a.shape)) < 200
    for lower in (True, False):
        triangle = (np.tril if lower else np.triu)(a) + 3 * np.eye(n, dtype=dtype)
        solve = wg.jit(lambda t, v, lower=lower: scipy.linalg.solve_triangular(t, v, lower=lower))
        assert residual(triangle[0], solve(triangle[0], b[0]), b[0]) < 200


@pytest.mark.parametrize("n", SIZES)
def test_rows_that_must_be_exchanged(n):
    """Permutations with zeros on the diagonal: without pivots these would be divisions by zero."""
    rng = np.random.default_rng(n)
    a = np.stack([np.eye(n)[rng.permutation(n)] * rng.uniform(1, 2, n) for _ in range(30)])
    b = rng.normal(size=(30, n, 2))
    np.testing.assert_allclose(wg.jit(np.linalg.solve)(a, b), np.linalg.solve(a, b), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(np.linalg.inv)(a), np.linalg.inv(a), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(np.linalg.det)(a), np.linalg.det(a), rtol=1e-13)


@pytest.mark.parametrize("n", SIZES)
def test_determinants_against_fifty_digits(n):
    a = np.random.default_rng(n).normal(size=(8, n, n))
    with mpmath.workdps(50):
        exact = np.array([float(mpmath.det(mpmath.matrix(m.tolist()))) for m in a])
    np.testing.assert_allclose(wg.jit(np.linalg.det)(a), exact, rtol=1e-12)
    sign, log = wg.jit(lambda a: tuple(np.linalg.slogdet(a)))(a)
    np.testing.assert_array_equal(sign, np.sign(exact))
    np.testing.assert_allclose(log, np.log(np.abs(exact)), rtol=1e-11, atol=1e-12)


def test_determinants_of_numbers_out_of_range():
    a = np.stack([np.diag(d) for d in ([1e-200, 1e-200, 1e300], [1e200, 1e200, 1e-300], [1e-160, 1e-160, 1e200],
                                       [1e200, 1e200, 1e200], [1e-200, 1e-200, 1.0], [-1.0, 2.0, 3.0])])  # fmt: skip
    np.testing.assert_allclose(wg.jit(np.linalg.det)(a), [1e-100, 1e100, 1e-120, np.inf, 0.0, -6.0], rtol=1e-12)


def test_singular_matrices():
    a = np.array([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 3.0]]])
    np.testing.assert_array_equal(wg.jit(np.linalg.det)(a), 0)
    sign, log = wg.jit(lambda a: tuple(np.linalg.slogdet(a)))(a)
    np.testing.assert_array_equal(sign, 0)
    np.testing.assert_array_equal(log, -np.inf)
    for item in a:
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            wg.jit(np.linalg.inv)(item)
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            wg.jit(np.linalg.solve)(item, np.ones(2))


def test_no_numbers():
    a = np.array([[np.nan, 1.0], [1.0, 2.0]])
    assert np.isnan(wg.jit(np.linalg.det)(a))
    assert np.isnan(wg.jit(np.linalg.inv)(a)).all()
    with pytest.raises(np.linalg.LinAlgError):
        wg.jit(np.linalg.cholesky)(a)


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(20, n, n)) + 2 * np.eye(n)
    a = root @ np.swapaxes(root, 1, 2)
    found = wg.jit(np.linalg.cholesky)(a)
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), a, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(np.triu(found, 1), 0)
    np.testing.assert_allclose(found, np.linalg.cholesky(a), rtol=1e-9, atol=1e-12)
    upper_is_not_read = np.tril(a) + np.triu(np.full((n, n), 7.0), 1)
    np.testing.assert_array_equal(wg.jit(np.linalg.cholesky)(upper_is_not_read), found)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        wg.jit(np.linalg.cholesky)(-a)


def test_integers_and_vectors():
    a, b = np.array([[4, 1], [2, 3]]), np.array([1, 2])
    np.testing.assert_allclose(wg.jit(np.linalg.solve)(a, b), np.linalg.solve(a, b), rtol=1e-15)
    np.testing.assert_allclose(wg.jit(np.linalg.inv)(a), np.linalg.inv(a), rtol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_derivatives(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(4, n, n)) + 3 * np.eye(n), rng.normal(size=(4, n, 2))

    def f(a, b):
        spd = a @ np.swapaxes(a, 1, 2)
        return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.slogdet(a)[1]) + np.sum(np.linalg.cholesky(spd))

    found, wanted = wg.jit(wg.grad(f, argnums=(0, 1)))(a, b), wg.grad(f, argnums=(0, 1))(a, b)
    for got, exact in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-9, atol=1e-11)
