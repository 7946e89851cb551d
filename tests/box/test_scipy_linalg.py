"""scipy.linalg: SciPy's values, and derivatives in every mode."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg
from dispatching import Dispatching
from harness import check

import wengert as wg
from wengert.errors import UnsupportedFunctionError

RNG = np.random.default_rng(9)
DIAGONAL = np.diag([1.0, 2.0, 3.0, 4.0])
A53 = np.random.default_rng(10).normal(size=(5, 3))


S = Dispatching(scipy.linalg)


def a(*shape):
    return RNG.normal(size=shape)


def regular(*shape):
    return a(*shape) + 3 * np.eye(shape[-1])


def gram(x):
    return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(x.shape[-2])


def projection(x):
    return x @ np.swapaxes(x, -1, -2)


def symmetric(x):
    return x + np.swapaxes(x, -1, -2)


def test_instrumented_code_reaches_these():
    x = regular(3, 3)
    gradient = wg.grad(lambda x: np.sum(scipy.linalg.inv(x)))(x)
    inverse = np.linalg.inv(x)
    np.testing.assert_allclose(gradient, -inverse.T @ np.ones((3, 3)) @ inverse.T, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------- linear systems


@pytest.mark.parametrize("structure", [None, "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "lower triangular",
                                       "upper triangular"])  # fmt: skip
def test_solve(structure):
    of = gram if structure in ("sym", "her", "pos") else lambda x: x
    check(lambda x, b: S.solve(of(x), b, assume_a=structure), regular(3, 3), a(3))
    check(lambda x, b: S.solve(of(x), b, lower=True, assume_a=structure), regular(3, 3), a(3, 2))


def test_solve_reads_one_triangle():
    """The value is SciPy's, the derivative that of the symmetrised matrix."""
    x = gram(a(3, 3)) + np.triu(a(3, 3), 1)
    y = wg.jvp(lambda x: S.solve(x, np.ones(3), lower=True, assume_a="pos"), (x,), (symmetric(a(3, 3)),))[0]
    np.testing.assert_allclose(y, scipy.linalg.solve(x, np.ones(3), lower=True, assume_a="pos"), rtol=1e-12)


def test_solve_transposed_and_stacked():
    check(lambda x, b: S.solve(x, b, transposed=True), regular(3, 3), a(3))
    check(S.solve, regular(2, 3, 3), a(3, 2))
    with pytest.raises(np.linalg.LinAlgError):
        wg.grad(lambda x: np.sum(S.solve(x, np.ones(2))))(np.ones((2, 2)))
    with pytest.raises(ValueError, match="structure"):
        wg.grad(lambda x: np.sum(S.solve(x, np.ones(2), assume_a="nice")))(np.eye(2))


@pytest.mark.parametrize(("trans", "lower", "unit"), list(itertools.product([0, "T", 2], [False, True], [False, True])))
def test_solve_triangular(trans, lower, unit):
    f = lambda x, b: S.solve_triangular(x, b, trans=trans, lower=lower, unit_diagonal=unit)
    check(f, regular(3, 3), a(3))
    check(f, regular(2, 3, 3), a(3, 2), second=False)


SYSTEMS = {
    "inv": (S.inv, regular(3, 3)),
    "inv of positive": (lambda x: S.inv(gram(x), assume_a="pos"), a(3, 3)),
    "det": (S.det, a(3, 3)),
    "pinv": (S.pinv, a(4, 3)),
    "pinv of rank 1": (lambda x, y: S.pinv(x[:, None] * y, rtol=1e-5, return_rank=True)[0], a(3), a(3)),
    "pinv with atol": (lambda x: S.pinv(x, atol=1e-3), a(3, 2)),
    "lstsq": (lambda x, b: S.lstsq(x, b)[:2], a(4, 2), a(4)),
    "lstsq of matrices": (lambda x, b: S.lstsq(x, b)[:2], a(4, 2), a(4, 2)),
    "banded": (lambda x, b: S.solve_banded((1, 2), x, b), a(4, 5) + [[0], [0], [4], [0]], a(5)),
    "tridiagonal": (lambda x, b: S.solve_banded((1, 1), x, b), a(3, 5) + [[0], [4], [0]], a(5, 2)),
    "toeplitz": (lambda c, r, b: S.solve_toeplitz((c, r), b), a(4) + [5, 0, 0, 0], a(4), a(4)),
    "symmetric toeplitz": (lambda c, b: S.solve_toeplitz(c, b), a(4) + [5, 0, 0, 0], a(4, 2)),
    "sylvester": (S.solve_sylvester, regular(3, 3), regular(2, 2), a(3, 2)),
    "sylvester, stacked": (S.solve_sylvester, regular(2, 3, 3), regular(2, 2), a(3, 2)),
    "continuous lyapunov": (S.solve_continuous_lyapunov, regular(3, 3), a(3, 3)),
    "discrete lyapunov": (S.solve_discrete_lyapunov, a(3, 3) / 3, a(3, 3)),
    "symmetric band": (lambda x, b: S.solveh_banded(x, b), a(3, 5) + [[0], [0], [6]], a(5)),
    "symmetric lower band": (lambda x, b: S.solveh_banded(x, b, lower=True), a(2, 5) + [[6], [0]], a(5, 2)),
    "banded cholesky": (lambda x: S.cholesky_banded(x), a(3, 5) + [[0], [0], [6]]),
    "lower banded cholesky": (lambda x: S.cholesky_banded(x, lower=True), a(2, 5) + [[6], [0]]),
    "cho_solve_banded": (lambda x, b: S.cho_solve_banded((x, False), b), a(3, 5) + [[0], [0], [6]], a(5)),
    "lower cho_solve_banded": (lambda x, b: S.cho_solve_banded((x, True), b), a(3, 5) + [[6], [0], [0]], a(5, 2)),
    "circulant": (S.solve_circulant, a(4) + [5, 0, 0, 0], a(4)),
    "circulant with matrix": (S.solve_circulant, a(4) + [5, 0, 0, 0], a(4, 2)),
    "singular circulant": (lambda b: S.solve_circulant(np.ones(4), b, singular="lstsq"), a(4)),
    "continuous riccati": (
        lambda x, b, q, r: S.solve_continuous_are(x, b, gram(q), gram(r)),
        a(3, 3),
        a(3, 2),
        a(3, 3),
        a(2, 2),
    ),
    "continuous riccati, cross term": (
        lambda x, b, q, r, s: S.solve_continuous_are(x, b, gram(q) + 5 * np.eye(3), gram(r), s=s / 5),
        a(3, 3),
        a(3, 2),
        a(3, 3),
        a(2, 2),
        a(3, 2),
    ),
    "discrete riccati": (
        lambda x, b, q, r: S.solve_discrete_are(x, b, gram(q), gram(r)),
        a(3, 3),
        a(3, 2),
        a(3, 3),
        a(2, 2),
    ),
    "discrete riccati, cross term": (
        lambda x, b, q, r, s: S.solve_discrete_are(x, b, gram(q) + 5 * np.eye(3), gram(r), s=s / 5),
        a(3, 3),
        a(3, 2),
        a(3, 3),
        a(2, 2),
        a(3, 2),
    ),
    "bilinear": (lambda x, q: S.solve_discrete_lyapunov(x, q, method="bilinear"), a(3, 3) / 3, a(3, 3)),
}
FACTORISATIONS = {
    "cholesky": (lambda x: S.cholesky(gram(x)), a(3, 3)),
    "lower cholesky": (lambda x: S.cholesky(gram(x), lower=True), a(2, 3, 3)),
    "cho_solve": (lambda x, b: S.cho_solve(S.cho_factor(gram(x)), b), a(3, 3), a(3)),
    "lower cho_solve": (lambda x, b: S.cho_solve(S.cho_factor(gram(x), lower=True), b), a(3, 3), a(3, 2)),
    "lu": (S.lu, a(3, 3)),
    "tall lu": (S.lu, a(4, 3)),
    "wide lu": (S.lu, a(3, 4)),
    "stacked lu": (S.lu, a(2, 3, 3)),
    "lu with permuted factor": (lambda x: S.lu(x, permute_l=True), a(3, 3)),
    "lu with indices": (lambda x: S.lu(x, p_indices=True)[1:], a(3, 3)),
    "lu_factor": (lambda x: S.lu_factor(x)[0], a(4, 4)),
    "tall lu_factor": (lambda x: S.lu_factor(x)[0], a(4, 3)),
    "wide lu_factor": (lambda x: S.lu_factor(x)[0], a(3, 4)),
    **{f"lu_solve {t}": (lambda x, b, t=t: S.lu_solve(S.lu_factor(x), b, trans=t), a(4, 4), a(4)) for t in (0, 1, 2)},
    "qr": (S.qr, a(3, 3)),
    "economic qr": (lambda x: S.qr(x, mode="economic"), a(4, 3)),
    "r alone": (lambda x: S.qr(x, mode="r"), a(4, 3)),
    "pivoted qr": (lambda x: S.qr(x, mode="economic", pivoting=True)[:2], a(4, 3)),
    "full qr": (S.qr, a(5, 3)),
    "full qr of a stack": (S.qr, a(2, 4, 2)),
    "pivoted full qr": (lambda x: S.qr(x, pivoting=True)[:2], a(4, 2)),
    "rq": (S.rq, a(3, 3)),
    "economic rq": (lambda x: S.rq(x, mode="economic"), a(2, 4)),
    "r of rq": (lambda x: S.rq(x, mode="r"), a(2, 4)),
    "ldl": (lambda x: S.ldl(symmetric(x) + np.diag([9.0, -8.0, 7.0]))[:2], a(3, 3)),
    "upper ldl": (lambda x: S.ldl(symmetric(x) + np.diag([9.0, -8.0, 7.0, 3.0]), lower=False)[:2], a(4, 4)),
    "qr_multiply": (lambda x, c: S.qr_multiply(x, c), a(4, 3), a(2, 4)),
    "qr_multiply left": (lambda x, c: S.qr_multiply(x, c, "left"), a(4, 3), a(3, 2)),
    "qr_multiply of a vector": (lambda x, c: S.qr_multiply(x, c), a(4, 3), a(4)),
    "pinvh": (lambda x: S.pinvh(symmetric(x)), a(3, 3)),
    "pinvh of rank 2": (lambda x: S.pinvh(x @ x.T, rtol=1e-5, return_rank=True)[0], a(3, 2)),
    "procrustes": (S.orthogonal_procrustes, a(5, 3), a(5, 3)),
    "procrustes of itself": (lambda x: S.orthogonal_procrustes(x, np.linalg.qr(A53)[0])[0], np.linalg.qr(A53)[0]),
    "angles": (S.subspace_angles, a(5, 3), a(5, 2)),
    "small angles": (lambda x: S.subspace_angles(np.eye(5, 2), np.eye(5, 2) + x / 9), a(5, 2)),
    "small and large angles": (S.subspace_angles, np.eye(5, 2) + a(5, 2) / 9, np.eye(5)[:, [0, 4]] + a(5, 2) / 9),
    "null space": (lambda x: projection(S.null_space(x)), a(2, 4)),
    "null space of rank 1": (lambda x, y: projection(S.null_space(x[:, None] * y, rcond=1e-6)), a(3), a(4)),
    "orth": (lambda x: projection(S.orth(x)), a(4, 2)),
    "orth of rank 1": (lambda x, y: projection(S.orth(x[:, None] * y, rcond=1e-6)), a(3), a(4)),
    "polar": (S.polar, a(3, 3)),
    "tall polar": (S.polar, a(4, 3)),
    "wide polar": (S.polar, a(2, 3)),
    "tall polar, left": (lambda x: S.polar(x, "left"), a(4, 3)),
    "wide polar, left": (lambda x: S.polar(x, side="left"), a(2, 3)),
    "polar of identity": (S.polar, 2 * np.eye(3)),
}
SPECTRA = {
    "svd": (lambda x: S.svd(x, full_matrices=False), a(3, 2)),
    "svdvals": (S.svdvals, a(3, 2)),
    "values of full svd": (lambda x: S.svd(x, compute_uv=False), a(3, 2)),
    "eigvalsh": (lambda x: S.eigvalsh(symmetric(x)), a(3, 3)),
    "generalised eigvalsh": (lambda x, y: S.eigvalsh(symmetric(x), gram(y)), a(3, 3), a(3, 3)),
    "chosen eigenvalues": (lambda x: S.eigvalsh(symmetric(x), subset_by_index=(1, 2)), a(4, 4)),
    "products": (lambda x, y: S.eigvalsh(symmetric(x), gram(y), type=2), a(3, 3), a(3, 3)),
    "other products": (lambda x, y: S.eigvalsh(symmetric(x), gram(y), type=3), a(3, 3), a(3, 3)),
    "eigenvalues in an interval": (
        lambda x: S.eigvalsh(symmetric(x) / 9 + DIAGONAL, subset_by_value=(1.5, 3.5)),
        a(4, 4),
    ),
    "tridiagonal eigenvalues": (S.eigvalsh_tridiagonal, a(5), a(4)),
    "some of them": (lambda d, e: S.eigvalsh_tridiagonal(d, e, "i", (1, 2)), a(5), a(4)),
    "tridiagonal eigenvectors": (S.eigh_tridiagonal, np.arange(5.0) + a(5) / 9, a(4)),
    "some of those": (
        lambda d, e: S.eigh_tridiagonal(d, e, select="i", select_range=(0, 2)),
        np.arange(5.0) + a(5) / 9,
        a(4) / 3,
    ),
    "eigenvalues of a band": (lambda x: S.eigvals_banded(x), a(3, 5)),
    "vectors of a band": (lambda x: S.eig_banded(x, lower=True), a(2, 5) + [[0, 1, 2, 3, 4], [0] * 5]),
    "norm": (lambda x: S.norm(x, 2), a(3, 3)),
    "frobenius": (lambda x: S.norm(x), a(3, 2)),
    "eigvals": (lambda x: np.real(S.eigvals(x)), np.diag([1.0, 3.0, 6.0]) + a(3, 3) / 5),
    "eig": (lambda x: np.real(S.eig(x)[1]), np.diag([1.0, 3.0, 6.0]) + a(3, 3) / 5),
}
FUNCTIONS = {
    "expm": (S.expm, a(3, 3)),
    "stacked expm": (S.expm, a(2, 3, 3)),
    "logm": (lambda x: S.logm(gram(x)), a(3, 3)),
    "sqrtm": (lambda x: S.sqrtm(gram(x)), a(3, 3)),
    "stacked sqrtm": (lambda x: S.sqrtm(gram(x)), a(2, 2, 2)),
    "expm_frechet": (S.expm_frechet, a(3, 3), a(3, 3)),
    "frechet alone": (lambda x, e: S.expm_frechet(x, e, compute_expm=False), a(2, 3, 3), a(3, 3)),
}
PATTERNS = {
    "toeplitz": (S.toeplitz, a(3), a(4)),
    "symmetric toeplitz": (S.toeplitz, a(3)),
    "hankel": (S.hankel, a(3)),
    "hankel with last row": (S.hankel, a(3), a(2)),
    "circulant": (S.circulant, a(4)),
    "companion": (S.companion, a(4)),
    "fiedler": (S.fiedler, a(4)),
    **{f"fiedler_companion {n}": (S.fiedler_companion, a(n)) for n in (2, 3, 4, 5, 6, 7)},
    "leslie": (S.leslie, a(4), a(3)),
    **{
        f"convolution_matrix {mode}": (lambda x, mode=mode: S.convolution_matrix(x, 4, mode), a(3))
        for mode in ("full", "same", "valid")
    },
    "diagsvd": (lambda s: S.diagsvd(s, 3, 2), a(2)),
    "khatri_rao": (S.khatri_rao, a(2, 3), a(4, 3)),
    "matmul_toeplitz": (lambda c, r, x: S.matmul_toeplitz((c, r), x), a(3), a(4), a(4, 2)),
    "symmetric matmul_toeplitz": (S.matmul_toeplitz, a(3), a(3)),
    "block_diag": (S.block_diag, a(2, 2), a(3), a(1, 2), 0.5),
    "block_diag with constants": (lambda x: S.block_diag(x, np.eye(2)), a(2, 3)),
}
EXAMPLES = {**SYSTEMS, **FACTORISATIONS, **SPECTRA, **FUNCTIONS, **PATTERNS}


@pytest.mark.parametrize("name", EXAMPLES)
def test_values_and_derivatives(name):
    f, *args = EXAMPLES[name]
    check(f, *args)


def without_signs(pair):
    """Eigenvalues and products of components of eigenvectors: SciPy's routine chooses signs by chance."""
    w, v = pair
    return w, v[..., :1, :] * v


@pytest.mark.parametrize("options", [{}, {"lower": False}, {"subset_by_index": (1, 2)}], ids=str)
def test_eigenvectors(options):
    check(lambda x: without_signs(S.eigh(symmetric(x), **options)), a(3, 3))
    check(lambda x, y: without_signs(S.eigh(symmetric(x), gram(y), **options)), a(3, 3), a(3, 3))


@pytest.mark.parametrize("type", [2, 3])
def test_eigenvectors_of_products(type):
    check(lambda x, y: without_signs(S.eigh(symmetric(x), gram(y), type=type)), a(3, 3), a(3, 3))


def test_stacked_eigenvectors():
    check(lambda x: without_signs(S.eigh(symmetric(x), driver="evd")), a(3, 3))
    check(lambda x, y: without_signs(S.eigh(symmetric(x), gram(y))), a(2, 3, 3), a(3, 3))
    check(lambda x: without_signs(S.eigh(symmetric(x))), a(2, 3, 3))


def test_balancing_is_a_constant_similarity():
    x = np.array([[1.0, 2e3, 0.1], [1e-3, 1.0, 0.0], [0.1, 1e3, 2.0]])
    t = scipy.linalg.matrix_balance(x)[1]
    reference = lambda args, dots: np.linalg.solve(t, dots[0] @ t)
    check(lambda x: S.matrix_balance(x)[0], x, reference=reference, second=False, single=False)


def test_pivots_are_plain_integers():
    def f(x):
        assert np.array_equal(S.lu_factor(x)[1], scipy.linalg.lu_factor(a1)[1])
        assert np.array_equal(S.qr(x, pivoting=True)[2], scipy.linalg.qr(a1, pivoting=True)[2])
        assert np.array_equal(S.lu(x, p_indices=True)[0], scipy.linalg.lu(a1, p_indices=True)[0])
        return np.sum(x)

    a1 = a(4, 4)
    wg.grad(f)(a1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: S.qr(x, mode="raw")[0],
        lambda x: S.eig(x[:2], np.eye(2))[0],
        lambda x: S.funm(x[:2], lambda w: w * x[0, 0]),
        lambda x: S.solve_continuous_are(x[:2], x[:2], np.eye(2), np.eye(2), e=np.eye(2)),
        lambda x: S.ldl(x[:2] + np.array([[0.0, 9.0], [9.0, 0.0]]))[1],
        lambda x: S.rq(x),
    ],
)
def test_what_has_no_derivative_says_so(f):
    x = a(4, 2)
    with pytest.raises(UnsupportedFunctionError):
        wg.jvp(f, (x,), (x,))


def test_factors_of_a_matrix_whose_last_pivot_is_zero():
    """The stationary distribution of a Markov chain, p G = 0, from the factors of its generator."""

    def mean(t):
        rates = np.array([[0.0, 1.0 + t, 2.0], [t * t, 0.0, 1.0], [1.0, 3.0, 0.0]])
        factors, _ = S.lu_factor((rates - np.diag(rates.sum(axis=1))).T)
        p = np.append(S.solve_triangular(factors[:-1, :-1], -factors[:-1, -1]), 1.0)
        return (p @ np.array([1.0, 2.0, 4.0])) / np.sum(p)

    h = 1e-4
    want = (8 * (mean(1.3 + h) - mean(1.3 - h)) - mean(1.3 + 2 * h) + mean(1.3 - 2 * h)) / (12 * h)
    for slope in (wg.grad(mean)(1.3), wg.jvp(mean, (1.3,), (1.0,))[1], wg.jit(wg.grad(mean))(1.3)):
        np.testing.assert_allclose(slope, want, rtol=1e-8)


@pytest.mark.parametrize("f", [scipy.linalg.lapack.dpotrf, scipy.linalg.blas.dnrm2], ids=["dpotrf", "dnrm2"])
def test_functions_of_fortran_are_named(f):
    for derivative in (wg.grad, wg.jit):
        with pytest.raises(UnsupportedFunctionError, match=r"scipy\.linalg\.(lapack\.dpotrf|blas\.dnrm2) has no"):
            derivative(lambda a: f(a)[0])(np.eye(2))


NEAR_DIAGONAL = np.diag([3.0, 2.5, 1.2]) + a(3, 3) / 9
STACKS = {
    "toeplitz": (lambda x: S.toeplitz(x, np.array([1.0, 2.0])), a(2, 3)),
    "companion": (S.companion, a(2, 4)),
    "leslie": (lambda x: S.leslie(x, np.ones(2)), a(2, 3)),
    "fiedler": (S.fiedler, a(2, 4)),
    "fiedler_companion": (S.fiedler_companion, a(2, 4)),
    "convolution_matrix": (lambda x: S.convolution_matrix(x, 3), a(2, 4)),
    "diagsvd": (lambda x: S.diagsvd(x, 3, 3), a(2, 3)),
    "khatri_rao": (lambda x: S.khatri_rao(x, np.ones((2, 4))), a(2, 3, 4)),
    "rq": (lambda x: S.rq(x, mode="economic"), a(2, 3, 4)),
    "ldl": (lambda x: S.ldl(symmetric(x) + 9 * np.eye(3))[:2], a(2, 3, 3)),
    "pinvh": (lambda x: S.pinvh(symmetric(x)), a(2, 3, 3)),
    "null_space": (lambda x: projection(S.null_space(x)), a(2, 2, 4)),
    "orth": (lambda x: projection(S.orth(x)), a(2, 4, 2)),
    "null_space that cuts off": (lambda x: projection(S.null_space(x, rcond=0.6)), NEAR_DIAGONAL),
    "orth that cuts off": (lambda x: projection(S.orth(x, rcond=0.6)), NEAR_DIAGONAL),
    "subspace_angles": (lambda x: S.subspace_angles(x, np.ones((2, 4, 1))), a(2, 4, 2)),
    "orthogonal_procrustes": (lambda x: S.orthogonal_procrustes(x, np.eye(3)), a(2, 3, 3)),
    "solve_banded": (lambda x: S.solve_banded((1, 1), x + [[0], [5], [0]], np.ones((4, 2))), a(2, 3, 4)),
    "solveh_banded": (lambda x: S.solveh_banded(x + [[0], [5]], np.ones((2, 1, 4))[:, 0]), a(2, 2, 4)),
    "cholesky_banded": (lambda x: S.cholesky_banded(x + [[0], [5]]), a(2, 2, 4)),
    "eigvals_banded": (S.eigvals_banded, a(2, 2, 4)),
    "eigh_tridiagonal": (lambda x: S.eigh_tridiagonal(x, np.ones(3)), a(2, 4)),
    "lstsq": (lambda x: S.lstsq(x, np.ones((2, 4, 3)))[0], a(2, 4, 2)),
    "funm": (lambda x: S.funm(symmetric(x), np.sin), a(2, 3, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_stacks(name):
    """SciPy goes through what has more axes in front, from 1.15 and for sequences from 1.17 on."""
    f, x = STACKS[name]
    try:
        expected = f(x)
    except ValueError:
        pytest.skip("not in this version of SciPy")
    check(f, x, second=False, rtol=1e-5)
    assert isinstance(wg.jvp(f, (x,), (x,))[0], type(expected))


def test_a_matrix_of_one_number():
    assert wg.grad(lambda t: scipy.linalg.circulant(t)[0, 0])(2.0) == 1.0
