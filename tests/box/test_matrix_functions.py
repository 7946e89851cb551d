"""Functions of matrices in scipy.linalg: trigonometric, powers, sign, and any function of numbers by `funm`."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.linalg
from dispatching import Dispatching
from harness import check

import wengert as wg
from wengert.errors import RepeatedValuesError, UnsupportedFunctionError

S = Dispatching(scipy.linalg)
RNG = np.random.default_rng(21)


def a(*shape):
    return RNG.normal(size=shape)


def gram(x):
    return x @ x.T + 2 * np.eye(len(x))


def symmetric(x):
    return x + x.T


def with_eigenvalues(*values):
    q = np.linalg.qr(a(len(values), len(values)))[0]
    x = q * values @ q.T
    return (x + x.T) / 2


# --------------------------------------------------------------------------------------------- trigonometric functions


@pytest.mark.parametrize("name", ["cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm"])
@pytest.mark.parametrize("x", [a(3, 3) / 2, np.zeros((2, 2)), np.diag([0.5, 0.5], 1), np.eye(2) / 2],
                         ids=["any", "zero", "nilpotent", "identity"])  # fmt: skip
def test_trigonometric_functions(name, x):
    check(getattr(S, name), x)


@pytest.mark.parametrize("name", ["cosm", "sinm", "coshm", "tanhm"])
def test_of_complex_matrices(name):
    x, v = (a(3, 3) + 1j * a(3, 3) for _ in range(2))
    f = getattr(scipy.linalg, name)
    y, y_dot = wg.jvp(lambda x: f(x), (x,), (v,))
    np.testing.assert_allclose(y, f(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(y_dot, (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6, rtol=1e-6, atol=1e-6)


def test_identities():
    """cos² + sin² = 1 and cosh² − sinh² = 1 have derivative zero."""
    zero = lambda args, dots: np.zeros((3, 3))
    check(lambda x: S.cosm(x) @ S.cosm(x) + S.sinm(x) @ S.sinm(x), a(3, 3), reference=zero)
    check(lambda x: S.coshm(x) @ S.coshm(x) - S.sinhm(x) @ S.sinhm(x), a(3, 3), reference=zero)


# --------------------------------------------------------------------------------------------------------- powers, sign


@pytest.mark.parametrize("t", [0.3, -0.5, 2.5, 2, -1, 0])
def test_powers(t):
    check(lambda x: S.fractional_matrix_power(gram(x), t), a(3, 3), single=False)


def test_powers_in_the_exponent():
    x = gram(a(3, 3))
    log = scipy.linalg.logm(x)
    exact = lambda args, dots: dots[0] * log @ scipy.linalg.expm(args[0] * log)
    check(lambda t: S.fractional_matrix_power(x, t), 0.7, reference=exact, single=False)


def test_sign():
    check(S.signm, np.diag([3.0, -2.0, 1.0]) + a(3, 3) / 5, single=False)
    check(lambda x: S.signm(x) @ S.signm(x), np.diag([3.0, -2.0, 3.0]) + a(3, 3) / 9, single=False,
          reference=lambda args, dots: np.zeros((3, 3)))  # fmt: skip


# --------------------------------------------------------------------------------------------------------- any function


@pytest.mark.parametrize("g", [np.exp, np.sin, lambda w: w**3 - 2 * w, lambda w: 1 / (5 + w), lambda w: 0 * w + 2],
                         ids=["exp", "sin", "cubic", "rational", "constant"])  # fmt: skip
@pytest.mark.parametrize("x", [np.diag([1.0, 2.0, 4.0]) + a(3, 3) / 5, symmetric(a(3, 3))], ids=["any", "symmetric"])
def test_functions_of_generic_matrices(g, x):
    check(lambda x: S.funm(x, g), x)


@pytest.mark.parametrize("x", [np.eye(3), with_eigenvalues(2.0, 2.0, 1.0), with_eigenvalues(1.0, 1.0 + 1e-9, 2.0, 2.0),
                               with_eigenvalues(1.0, 1.01, 1.0001), np.zeros((2, 2))],
                         ids=["identity", "pair", "nearly", "close", "zero"])  # fmt: skip
def test_functions_of_repeated_eigenvalues(x):
    """Against the exponential, which needs no eigenvectors: in every mode, to second order."""
    check(lambda x: S.funm(x, np.exp), x, rtol=1e-6)
    e, weights = (symmetric(a(*x.shape)) for _ in range(2))
    ours = lambda x: np.sum(weights * scipy.linalg.funm(x, np.exp))
    theirs = lambda x: np.sum(weights * scipy.linalg.expm(x))
    np.testing.assert_allclose(wg.hvp(ours)(x, e), wg.hvp(theirs)(x, e), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(wg.hessian(ours)(x), wg.hessian(theirs)(x), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("values", [(1.0, 1.0, 2.0), (1.0, 1.0 + 1e-7, 1.0 + 1e-4), (0.5, 0.5, 0.5)], ids=str)
def test_against_many_digits(values):
    """First and second derivative of the logarithm along a line, with 60 digits."""
    x, e = with_eigenvalues(*values), symmetric(a(3, 3))
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -15
        at = lambda t: mpmath.logm(mpmath.matrix(x.tolist()) + t * mpmath.matrix(e.tolist()))
        plus, here, minus = at(h), at(mpmath.mpf(0)), at(-h)
        as_floats = lambda m: np.array([[float(mpmath.re(m[i, j])) for j in range(3)] for i in range(3)])
        first, second = as_floats((plus - minus) / (2 * h)), as_floats((plus + minus - 2 * here) / h**2)
    line = lambda t: scipy.linalg.funm(x + t * e, np.log)
    np.testing.assert_allclose(wg.derivative(line)(0.0), first, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(wg.derivative(wg.derivative(line))(0.0), second, rtol=1e-10, atol=1e-11)


def test_third_derivatives():
    """Of the cube, a polynomial."""
    x, e = with_eigenvalues(1.0, 1.0, 2.0), symmetric(a(3, 3))
    third = wg.derivative(wg.derivative(wg.derivative(lambda t: scipy.linalg.funm(x + t * e, lambda w: w**3))))(0.0)
    np.testing.assert_allclose(third, 6 * e @ e @ e, rtol=1e-10, atol=1e-10)


def test_complex_results_and_operands():
    x = np.array([[-1.0, 0.3], [0.3, 2.0]])
    check(lambda x: (np.real(S.funm(x, np.sqrt)), np.imag(S.funm(x, np.sqrt))), x, single=False)
    z, v = (a(3, 3) + 1j * a(3, 3) for _ in range(2))
    for x in (z, z + z.conj().T, np.eye(3) + 0j):
        dot = wg.jvp(lambda z: scipy.linalg.funm(z, np.exp), (x,), (v,))[1]
        np.testing.assert_allclose(dot, scipy.linalg.expm_frechet(x, v)[1], rtol=1e-9, atol=1e-9)


def test_many_matrices_at_once():
    x = np.stack([np.eye(3), with_eigenvalues(1.0, 2.0, 2.0)])
    gradient = wg.vmap(wg.grad(lambda x: np.sum(scipy.linalg.funm(x, np.exp) ** 2)))(x)
    expected = [wg.grad(lambda x: np.sum(scipy.linalg.expm(x) ** 2))(m) for m in x]
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-12)


def test_what_has_no_derivative():
    with pytest.raises(UnsupportedFunctionError, match="diagonalised"):
        wg.grad(lambda x: np.sum(scipy.linalg.funm(x, np.exp)))(np.diag([1.0, 1.0], 1))
    with pytest.raises(RepeatedValuesError, match="smooth"):
        wg.grad(lambda x: np.sum(scipy.linalg.funm(x, np.sqrt)))(np.zeros((2, 2)))
