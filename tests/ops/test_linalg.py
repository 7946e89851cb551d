"""Rows of linear algebra where they are difficult: singular determinants, defective matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from harness import check

import wengert as wg
from wengert.ops import linalg as l
from wengert.ops import matrix_functions as f

RNG = np.random.default_rng(11)


def a(*shape):
    return RNG.normal(size=shape)


def cofactors(x):
    """By minors: the gradient of the determinant."""
    n = len(x)
    minor = lambda i, j: np.delete(np.delete(x, i, 0), j, 1)
    return np.array([[(-1) ** (i + j) * np.linalg.det(minor(i, j)) for j in range(n)] for i in range(n)])


def of_rank(n, rank):
    return a(n, rank) @ a(rank, n)


# ------------------------------------------------------------------------------------------------------ determinants


@pytest.mark.parametrize(("n", "rank"), [(n, rank) for n in (1, 2, 3, 4) for rank in range(n + 1)])
def test_determinant_of_any_rank(n, rank):
    """First and second derivatives are polynomials: they exist whatever the rank."""
    x = of_rank(n, rank)
    check(l.det, x)
    if n > 1:
        np.testing.assert_allclose(wg.grad(l.det)(x), cofactors(x), rtol=1e-9, atol=1e-11)


def test_determinant_of_a_nearly_singular_matrix():
    """det · a⁻¹ would have lost twelve digits."""
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0 + 1e-12]])
    np.testing.assert_allclose(wg.grad(l.det)(x), cofactors(x), rtol=1e-11)


def test_third_derivative_of_the_determinant_at_zero():
    """∂³ det: the sign of a permutation for each choice of one element per row and column."""
    third = wg.jacobian(wg.hessian(l.det))(np.zeros((3, 3)))
    expected = np.zeros((3, 3, 3, 3, 3, 3))
    for rows, columns in itertools.product(itertools.permutations(range(3)), repeat=2):
        sign = np.linalg.det(np.eye(3)[list(rows)]) * np.linalg.det(np.eye(3)[list(columns)])
        expected[rows[0], columns[0], rows[1], columns[1], rows[2], columns[2]] = sign
    np.testing.assert_allclose(third, expected, atol=1e-13)


def test_determinants_of_a_stack_of_several_ranks():
    x = np.stack([of_rank(3, 3), of_rank(3, 1), np.zeros((3, 3)), of_rank(3, 2)])
    check(l.det, x)
    np.testing.assert_allclose(wg.vmap(wg.grad(l.det))(x), [cofactors(m) for m in x], atol=1e-12)


def test_determinants_of_other_values():
    assert np.all(np.isnan(wg.grad(l.det)(np.full((2, 2), np.nan))))
    assert wg.grad(l.det)(np.zeros((2, 2), np.float32)).dtype == np.float32


# --------------------------------------------------------------------------------------------------- matrix functions


@pytest.mark.parametrize(
    "x",
    [np.eye(3), np.diag([1.0, 1.0], 1), np.zeros((2, 2)), np.array([[0.0, 1.0], [-1.0, 0.0]]), 20 * np.eye(2)],
    ids=["identity", "nilpotent", "zero", "rotation", "large"],
)
def test_exponential_of_special_matrices(x):
    check(f.expm, x)


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("x", [np.eye(3), 2 * np.eye(3) + np.diag([1.0, 1.0], 1), np.diag([1e-3, 1.0, 1e3])],
                         ids=["identity", "defective", "graded"])  # fmt: skip
def test_logarithm_and_root_of_special_matrices(x):
    check(f.sqrtm, x)
    check(f.logm, x, rtol=1e-6, single=x[0, 0] >= 1)


def test_logarithm_undoes_the_exponential():
    check(lambda x: f.logm(f.expm(x)), a(3, 3) / 2, reference=lambda args, dots: dots[0])
    check(lambda x: f.expm(f.logm(x)), a(3, 3) / 4 + np.eye(3), reference=lambda args, dots: dots[0])
    check(lambda x: f.sqrtm(x) @ f.sqrtm(x), a(3, 3) / 4 + np.eye(3), reference=lambda args, dots: dots[0])


def test_logarithm_with_negative_eigenvalues():
    x = np.array([[-1.0, 0.3], [0.2, 2.0]])
    check(lambda x: (np.real(f.logm(x)), np.imag(f.logm(x))), x)
    check(lambda x: (np.real(f.sqrtm(x)), np.imag(f.sqrtm(x))), x)


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_frechet_derivative_is_linear_at_every_scale(factor):
    x, e, d = a(3, 3), a(3, 3), a(3, 3)
    exact = wg.jvp(lambda x: f.expm_frechet(x, e), (x,), (d,))[1]
    scaled = wg.jvp(lambda x: f.expm_frechet(x, e * factor), (x,), (d,))[1]
    np.testing.assert_allclose(scaled, exact * factor, rtol=1e-11, atol=1e-12 * factor)


def test_polar_factors_of_an_orthogonal_matrix():
    """All singular values are one: no differences of them are needed."""
    check(f.polar, np.eye(3))
    check(f.polar, np.linalg.qr(a(3, 3))[0])


# ------------------------------------------------------------------------------------------------------------ systems


def test_a_singular_system_raises_numpys_error():
    for function in (lambda x: l.solve(x, np.ones((2, 1))), l.inv, lambda x: l.slogdet(x)[1]):
        with pytest.raises(np.linalg.LinAlgError):
            wg.grad(lambda x, function=function: np.sum(function(x)))(np.ones((2, 2)))


def test_many_right_hand_sides_are_solved_together():
    """The Jacobian in b is the inverse."""
    x, b = a(3, 3) + 3 * np.eye(3), a(3, 1)
    jacobian = wg.jacobian(lambda b: l.solve(x, b)[:, 0])(b)[..., 0]
    np.testing.assert_allclose(jacobian, np.linalg.inv(x), rtol=1e-12)
    stack = np.stack([x, x.T])
    jacobian = wg.jacobian(lambda b: l.solve(stack, b))(np.stack([b, b]))
    np.testing.assert_allclose(jacobian[1, :, 0, 1, :, 0], np.linalg.inv(x.T), rtol=1e-12)
    np.testing.assert_allclose(jacobian[1, :, 0, 0, :, 0], 0)


def test_a_large_system_is_factorised_once(monkeypatch):
    """Values, derivatives of all orders and Jacobians, from one factorisation."""
    x, b = a(40, 40) + 20 * np.eye(40), a(40)
    check(np.linalg.solve, x, b)
    check(np.linalg.solve, x, a(40, 2), second=False)
    check(l.inv, x, second=False)
    jacobian = wg.jacobian(lambda b: np.linalg.solve(x, b))(b)
    np.testing.assert_allclose(jacobian, np.linalg.inv(x), rtol=1e-10, atol=1e-14)
    many = np.stack([x, x.T])
    gradient = wg.grad(lambda x: np.sum(np.sin(np.linalg.solve(x, b))))
    np.testing.assert_allclose(wg.vmap(gradient)(many), [gradient(m) for m in many], rtol=1e-10, atol=1e-14)
    z = x + 1j * a(40, 40)
    real_part = lambda z: np.sum(np.real(np.linalg.solve(z, b)))
    v = a(40, 40) + 1j * a(40, 40)
    numeric = (real_part(z + 1e-6 * v) - real_part(z - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(np.sum(np.real(wg.grad(real_part)(z) * v)), numeric, rtol=1e-6)
    calls = []
    count = lambda a: (calls.append(1), l._factors(a))[1]
    monkeypatch.setattr(l.factors, "impl", count)
    monkeypatch.setattr(l.solve, "impl", None)
    wg.grad(lambda x, b: np.sum(np.linalg.solve(x, b)), (0, 1))(x, b)
    assert len(calls) == 1
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        wg.grad(lambda x: np.sum(np.linalg.solve(x, b)))(np.zeros((40, 40)))


def test_banded_system_against_the_whole_matrix():
    ab, b = a(4, 6) + np.array([[0], [5], [0], [0]]), a(6, 2)

    def dense(ab, b):
        whole = np.zeros((6, 6)) + 0 * ab[0, 0]
        for i in range(6):
            for j in range(max(0, i - 2), min(6, i + 2)):
                whole[i, j] = ab[1 + i - j, j]
        return np.linalg.solve(whole, b)

    weights = a(6, 2)
    ours = wg.grad(lambda ab, b: np.sum(weights * l.solve_banded(ab, b, l=2, u=1)), (0, 1))(ab, b)
    theirs = wg.grad(lambda ab, b: np.sum(weights * dense(ab, b)), (0, 1))(ab, b)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-13)
