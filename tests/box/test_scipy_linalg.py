"""scipy.linalg: SciPy's values, and derivatives in every mode."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg
from harness import check

import wengert as wg
from wengert.box.dispatch import BLIND
from wengert.box.functions.operands import holds_traced
from wengert.errors import UnsupportedFunctionError

RNG = np.random.default_rng(9)


class _Dispatching:
    """scipy.linalg as instrumented code sees it."""

    def __getattr__(self, name):
        original = getattr(scipy.linalg, name)

        def function(*args, **options):
            ours = holds_traced([*args, *options.values()])
            return (BLIND[original] if ours else original)(*args, **options)

        return function


S = _Dispatching()


def a(*shape):
    return RNG.normal(size=shape)


def regular(*shape):
    return a(*shape) + 3 * np.eye(shape[-1])


def gram(x):
    return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(x.shape[-2])


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


def test_stacked_eigenvectors():
    check(lambda x: without_signs(S.eigh(symmetric(x), driver="evd")), a(3, 3))
    check(lambda x, y: without_signs(S.eigh(symmetric(x), gram(y))), a(2, 3, 3), a(3, 3))
    check(lambda x: without_signs(S.eigh(symmetric(x))), a(2, 3, 3))


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
        lambda x: S.qr(x)[0],
        lambda x: S.svd(x)[0],
        lambda x: S.eigh(x[:2], np.eye(2), type=2)[0],
        lambda x: S.eigh(x[:2], subset_by_value=(0, 1))[0],
        lambda x: S.eig(x[:2], np.eye(2))[0],
    ],
)
def test_what_has_no_derivative_says_so(f):
    x = a(4, 2)
    with pytest.raises(UnsupportedFunctionError):
        wg.jvp(f, (x,), (x,))
