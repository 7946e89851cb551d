"""The determinant of matrices that are singular: its gradient is the matrix of cofactors, a polynomial."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import wengert as wg


def of_rank(n, rank, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, rank)), rng.normal(size=(rank, n))
    if dtype is complex:
        a = a + 1j * rng.normal(size=(n, rank))
    return a @ b


def minor(a, rows, columns):
    keep_rows = [i for i in range(len(a)) if i not in rows]
    keep_columns = [j for j in range(len(a)) if j not in columns]
    return np.linalg.det(a[np.ix_(keep_rows, keep_columns)]) if keep_rows else 1.0


def cofactors(a):
    n = len(a)
    return np.array([[(-1) ** (i + j) * minor(a, [i], [j]) for j in range(n)] for i in range(n)])


def second(a, e):
    """The derivative of the cofactors in a direction, by minors of minors."""
    n = len(a)
    found = np.zeros((n, n), a.dtype)
    for i, j, k, l in itertools.product(range(n), repeat=4):
        if i != k and j != l:
            sign = (-1) ** (i + j + k + l) * np.sign(k - i) * np.sign(l - j)
            found[i, j] += sign * minor(a, [i, k], [j, l]) * e[k, l]
    return found


CASES = [(1, 0), (2, 1), (2, 0), (3, 2), (3, 1), (3, 3), (4, 3), (4, 2), (4, 0), (4, 4), (5, 4), (5, 3), (7, 6), (8, 1)]


@pytest.mark.parametrize(("n", "rank"), CASES)
def test_gradient_is_the_matrix_of_cofactors(n, rank):
    a = of_rank(n, rank)
    expected = cofactors(a)
    close = pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert wg.grad(np.linalg.det)(a) == close
    assert wg.jacfwd(np.linalg.det)(a) == close
    assert wg.jit(wg.grad(np.linalg.det))(a) == close
    assert wg.grad(wg.jit(np.linalg.det))(a) == close


@pytest.mark.parametrize(("n", "rank"), [(2, 1), (2, 0), (3, 2), (3, 1), (4, 3), (4, 2), (4, 1), (4, 4), (5, 3)])
def test_second_derivatives(n, rank):
    a = of_rank(n, rank)
    e = np.random.default_rng(1).normal(size=(n, n))
    close = pytest.approx(second(a, e), rel=1e-8, abs=1e-9)
    assert wg.hvp(np.linalg.det)(a, e) == close
    assert wg.jit(wg.hvp(np.linalg.det))(a, e) == close


def test_complex_matrices_and_stacks():
    a = np.stack([of_rank(4, 3, 0, complex), of_rank(4, 4, 1, complex), of_rank(4, 2, 2, complex)])
    v = np.random.default_rng(3).normal(size=(3, 4, 4)) * (1 - 2j)
    expected = np.array([np.sum(cofactors(x) * d) for x, d in zip(a, v, strict=True)])
    for f in (np.linalg.det, wg.jit(np.linalg.det)):
        assert wg.jvp(f, (a,), (v,))[1] == pytest.approx(expected, rel=1e-9)
    b = a.real
    gradients = np.stack([cofactors(x) for x in b])
    assert wg.grad(lambda x: np.sum(np.linalg.det(x)))(b) == pytest.approx(gradients)
    assert wg.vmap(wg.grad(np.linalg.det))(b) == pytest.approx(gradients)
    assert wg.jit(wg.vmap(wg.grad(np.linalg.det)))(b) == pytest.approx(gradients)


def test_single_precision():
    a = of_rank(5, 4).astype(np.float32)
    for gradient in (wg.grad(np.linalg.det)(a), wg.jit(wg.grad(np.linalg.det))(a)):
        assert gradient.dtype == np.float32
        assert gradient == pytest.approx(cofactors(a.astype(float)), rel=1e-3, abs=1e-3)


def test_the_logarithm_has_no_derivative_there():
    with pytest.raises(np.linalg.LinAlgError):
        wg.grad(lambda a: np.linalg.slogdet(a)[1])(of_rank(3, 2) * 0)
