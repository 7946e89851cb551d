"""Functions that read one triangle of a symmetric matrix.

Where both triangles agree, gradients are symmetric; where they do not, the derivative is that of what is computed. The
reference is a difference of the plain program.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import wengert as wg

P = np.array([0.3, 0.5, -0.4, 0.2])


def lower(p):
    return np.array([[3.0 + p[0], 0.0, 0.0], [p[1], 4.0 + p[2] ** 2, 0.0], [p[0] * p[1], p[3], 6.0 + p[3]]])


def upper(p):
    return lower(p).T


def complex_lower(p):
    return lower(p) + 1j * np.array([[0.0, 0.0, 0.0], [p[2], 0.0, 0.0], [p[0], p[1] * p[3], 0.0]])


B = np.array([1.0, -2.0, 0.5])
WEIGHTS = np.array([[1.0, 0.0, 0.0], [-0.5, 2.0, 0.0], [0.7, 0.3, -1.0]])

FUNCTIONS = {
    "cholesky": lambda p: np.sum(WEIGHTS * np.linalg.cholesky(lower(p))),
    "cholesky upper": lambda p: np.sum(WEIGHTS.T * np.linalg.cholesky(upper(p), upper=True)),
    "eigh": lambda p: np.linalg.eigh(lower(p))[0][0] ** 2,
    "eigh of the upper triangle": lambda p: np.linalg.eigh(upper(p), UPLO="U")[0][1],
    "eigenvectors": lambda p: np.linalg.eigh(lower(p))[1][0, 1] ** 2,
    "eigvalsh": lambda p: np.linalg.eigvalsh(lower(p))[1],
    "complex eigh": lambda p: np.linalg.eigh(complex_lower(p))[0][2] ** 2,
    "complex eigenvectors": lambda p: np.abs(np.linalg.eigh(complex_lower(p))[1][0, 1]) ** 2,
    "complex cholesky": lambda p: np.sum(np.abs(np.linalg.cholesky(complex_lower(p))) ** 3),
    "scipy eigh": lambda p: scipy.linalg.eigh(lower(p))[0][0],
    "scipy eigh upper": lambda p: scipy.linalg.eigh(upper(p), lower=False)[0][0],
    "generalised eigh": lambda p: scipy.linalg.eigh(lower(p), lower(p[::-1]))[0][0],
    "scipy cholesky": lambda p: np.sum(WEIGHTS.T * scipy.linalg.cholesky(upper(p))),
    "cho_solve": lambda p: np.sum(scipy.linalg.cho_solve((scipy.linalg.cho_factor(lower(p), lower=True)), B) ** 2),
    "solve": lambda p: np.sum(scipy.linalg.solve(lower(p), B, assume_a="pos", lower=True) ** 2),
    "solve sym": lambda p: np.sum(scipy.linalg.solve(upper(p), B, assume_a="sym") ** 2),
    "ldl": lambda p: np.sum(scipy.linalg.ldl(lower(p))[0] ** 2) + np.sum(scipy.linalg.ldl(lower(p))[1] ** 2),
    "pinv": lambda p: np.sum(WEIGHTS * np.linalg.pinv(lower(p), hermitian=True)),
    "stack": lambda p: np.sum(np.linalg.eigvalsh(np.stack([lower(p), lower(p) + upper(p)]))[:, 0] ** 2),
    "density": lambda p: scipy.stats.multivariate_normal.logpdf(B, np.zeros(3), lower(p) + 0.1 * upper(p)),
}
COMPILED = ["cholesky", "eigh", "eigvalsh", "complex eigh", "complex cholesky", "stack", "solve", "pinv"]


def by_differences(f, p, h=1e-5):
    steps = h * np.eye(len(p))
    return np.array([(8 * (f(p + s) - f(p - s)) - (f(p + 2 * s) - f(p - 2 * s))) / (12 * h) for s in steps])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_one_half_is_filled(name):
    f = FUNCTIONS[name]
    expected = by_differences(f, P)
    assert wg.grad(f)(P) == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert wg.jacfwd(f)(P) == pytest.approx(expected, rel=1e-7, abs=1e-9)
    if name in COMPILED:
        assert wg.jit(wg.grad(f))(P) == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert wg.grad(wg.jit(f))(P) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", ["cholesky", "eigh", "eigvalsh", "solve"])
def test_second_derivatives_of_one_half(name):
    f = FUNCTIONS[name]
    expected = by_differences(wg.grad(f), P)
    assert wg.hessian(f)(P) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert wg.jacrev(wg.grad(f))(P) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_examples_of_a_batch_decide_for_themselves():
    symmetric, half = lower(P) + upper(P), lower(P)
    f = lambda a: np.linalg.eigvalsh(a)[0]
    both = np.stack([symmetric, half])
    expected = np.stack([wg.grad(f)(symmetric), wg.grad(f)(half)])
    assert np.allclose(expected[0], expected[0].T)
    assert np.all(np.triu(expected[1], 1) == 0)
    assert wg.vmap(wg.grad(f))(both) == pytest.approx(expected)
    assert wg.grad(lambda a: np.sum(np.linalg.eigvalsh(a)[:, 0]))(both) == pytest.approx(expected)
    compiled = wg.jit(wg.grad(f))
    assert compiled(symmetric) == pytest.approx(expected[0])
    assert compiled(half) == pytest.approx(expected[1])


def test_rounding_does_not_decide():
    a = lower(P) + upper(P)
    a[0, 1] *= 1 + 1e-15
    gradient = wg.grad(lambda a: np.sum(np.log(np.diagonal(np.linalg.cholesky(a)))))(a)
    assert gradient == pytest.approx(np.linalg.inv(a) / 2)
