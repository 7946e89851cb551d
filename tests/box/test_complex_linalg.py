"""scipy.linalg of complex matrices: central differences, and Re(ct · J v) = Re(Jᵀ ct · v)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as S

import wengert as wg

RNG = np.random.default_rng(3)


def c(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def hermitian(x):
    return x + np.conj(x.T)


def gram(x):
    return x @ np.conj(x.T) + 2 * np.eye(len(x))


def projection(n):
    return n @ np.conj(n.T)


INDEFINITE = np.diag([9.0, -8.0, 7.0])
A, G, EYE = c(3, 3), gram(c(3, 3)), np.eye(5, dtype=complex)
RIGHT = np.arange(4.0) + 1j
ABOVE, BELOW = np.array([[0.0], [6.0]]), np.array([[6.0], [0.0], [0.0]])

FUNCTIONS = {
    "complete qr": (lambda x: np.linalg.qr(x, "complete")[0], (5, 3)),
    "full qr": (lambda x: S.qr(x)[0], (4, 2)),
    "rq": (lambda x: S.rq(x)[1], (3, 3)),
    "economic rq": (lambda x: S.rq(x, mode="economic")[0], (2, 4)),
    "l of ldl": (lambda x: S.ldl(hermitian(x) + INDEFINITE)[0], (3, 3)),
    "d of ldl": (lambda x: S.ldl(hermitian(x) + INDEFINITE)[1], (3, 3)),
    "symmetric ldl": (lambda x: S.ldl(x + x.T + INDEFINITE, hermitian=False)[0], (3, 3)),
    "balance": (lambda x: S.matrix_balance(x)[0], (3, 3)),
    "qr_multiply": (lambda x: S.qr_multiply(x, EYE[:2, :4], conjugate=True)[0], (4, 3)),
    "pinvh": (lambda x: S.pinvh(hermitian(x)), (3, 3)),
    "null space": (lambda x: projection(S.null_space(x)), (2, 4)),
    "orth": (lambda x: projection(S.orth(x)), (4, 2)),
    "left vectors": (lambda x: projection(np.linalg.svd(x)[0][:, 2:]), (4, 2)),
    "right vectors": (lambda x: projection(np.conj(np.linalg.svd(x)[2][2:].T)), (2, 4)),
    "angles": (lambda x: S.subspace_angles(x, np.eye(5, 2)), (5, 3)),
    "procrustes": (lambda x: S.orthogonal_procrustes(x, EYE[:4, :3])[0], (4, 3)),
    "continuous riccati": (lambda x: S.solve_continuous_are(x, EYE[:3, :2], np.eye(3), np.eye(2)), (3, 3)),
    "continuous riccati in b": (lambda b: S.solve_continuous_are(A, b, np.eye(3), np.eye(2)), (3, 2)),
    "discrete riccati": (lambda x: S.solve_discrete_are(x, EYE[:3, :2], np.eye(3), np.eye(2)), (3, 3)),
    "discrete riccati in b": (lambda b: S.solve_discrete_are(A, b, np.eye(3), np.eye(2)), (3, 2)),
    "band": (lambda x: S.solveh_banded(np.stack([x, np.full(4, 6.0)]), RIGHT), (4,)),
    "lower band": (lambda x: S.solveh_banded(np.stack([np.full(4, 6.0), x]), RIGHT, lower=True), (4,)),
    "cho_solve_banded": (lambda x: S.cho_solve_banded((x + ABOVE, False), RIGHT), (2, 4)),
    "lower cho_solve_banded": (lambda x: S.cho_solve_banded((x + BELOW, True), RIGHT), (3, 4)),
    "eigenvalues of products": (lambda x: S.eigh(hermitian(x), G, type=2)[0], (3, 3)),
    "eigenvectors of products": (lambda x: projection(S.eigh(hermitian(x), G, type=3)[1][:, :1]), (3, 3)),
    "circulant": (lambda x: S.solve_circulant(x + np.array([9, 0, 0]), np.arange(3.0)), (3,)),
    "toeplitz": (lambda x: S.matmul_toeplitz(x, np.arange(3.0)), (3,)),
    "power": (lambda x: S.fractional_matrix_power(gram(x), 0.3), (3, 3)),
    "sign": (lambda x: S.signm(INDEFINITE + x / 5), (3, 3)),
    "funm": (lambda x: S.funm(x, np.exp), (3, 3)),
    "characteristic polynomial": (np.poly, (3, 3)),
    "companion": (S.companion, (4,)),
    "quotient": (lambda x: np.polydiv(x, [1.0, 2j])[0], (4,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_complex(name):
    f, shape = FUNCTIONS[name]
    x, v = c(*shape), c(*shape)
    y, y_dot = wg.jvp(f, (x,), (v,))
    np.testing.assert_allclose(y, f(x), rtol=1e-10, atol=1e-12)
    numeric = (f(x + 1e-5 * v) - f(x - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(y_dot, numeric, rtol=1e-6, atol=1e-6 * max(1.0, np.max(np.abs(numeric))))
    ct = c(*np.shape(y)) if np.iscomplexobj(y) else RNG.normal(size=np.shape(y))
    bar = wg.vjp(f, x)[1](ct)[0]
    np.testing.assert_allclose(np.sum(np.real(bar * v)), np.sum(np.real(ct * y_dot)), rtol=1e-9, atol=1e-9)
