"""Complex numbers: one convention, checked against differences in the real and the imaginary direction."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NonScalarOutputError, NotDifferentiableInputError, UnsupportedFunctionError

Z = np.array([0.3 + 0.4j, -0.5 + 0.2j, 1.1 - 0.7j])
V = np.array([0.3 - 0.2j, 0.1 + 0.5j, -1 + 0.4j])


def written(z):
    out = np.zeros(3, dtype=complex)
    out[0] = z[1] * z[0]
    out[1:] = z[1:] ** 2
    out[2] *= np.conj(z[0])
    return np.sum(np.abs(out) ** 2)


REAL = {
    "abs2": lambda z: np.sum(np.abs(z) ** 2),
    "exp": lambda z: np.sum(np.real(np.exp(z) * np.conj(z))),
    "angle": lambda z: np.sum(np.angle(z) * np.imag(z)),
    "log": lambda z: np.sum(np.real(np.log(z) ** 2)),
    "sqrt": lambda z: np.abs(np.sum(np.sqrt(z) * z.real)),
    "vdot": lambda z: np.real(np.vdot(z, z * z)),
    "power": lambda z: np.real(np.sum(z**2.5 + 2**z)),
    "matmul": lambda z: np.abs(np.outer(z, z) @ z.conj()).sum(),
    "divide": lambda z: np.real(np.sum(1 / z + z[0] / z)),
    "trigonometric": lambda z: np.imag(np.sum(np.sin(z) * np.cosh(z) + np.arctan(z) + np.tanh(z))),
    "inverse": lambda z: np.imag(np.sum(np.arcsin(z) + np.arccosh(z) + np.arctanh(z) + np.arcsinh(z))),
    "prod": lambda z: np.real(np.prod(z)),
    "cumprod": lambda z: np.abs(np.sum(np.cumprod(z))),
    "mean": lambda z: np.abs(np.mean(z)),
    "var": np.var,
    "std": np.std,
    "norm": np.linalg.norm,
    "mixed": lambda z: np.sum(z.real * np.abs(z * np.array([1.0, 2.0, 3.0]))),
    "sign": lambda z: np.sum(np.real(np.sign(z))),
    "where": lambda z: np.sum(np.where(z.real > 0, z, 2 * z).imag ** 2),
    "einsum": lambda z: np.abs(np.einsum("i,i,j->", z, z, z.conj())),
    "written": written,
}


def differences(f, z, h=1e-6):
    """∂f/∂x − i ∂f/∂y of each element."""
    unit = np.eye(len(z))
    return np.array(
        [(f(z + h * e) - f(z - h * e) - 1j * (f(z + 1j * h * e) - f(z - 1j * h * e))) / (2 * h) for e in unit]
    )


@pytest.mark.parametrize("name", REAL)
def test_real_functions_of_complex_numbers(name):
    f = REAL[name]
    g = wg.grad(f)(Z)
    assert g.dtype == complex
    np.testing.assert_allclose(g, differences(f, Z), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(wg.jvp(f, (Z,), (V,))[1], np.real(np.sum(g * V)), rtol=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_second_order(name):
    f, h = REAL[name], 1e-6
    expected = (wg.grad(f)(Z + h * V) - wg.grad(f)(Z - h * V)) / (2 * h)
    found = wg.jvp(wg.grad(f), (Z,), (V,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    for mode in ("reverse-forward", "forward-reverse"):
        np.testing.assert_allclose(wg.hvp(f, mode=mode)(Z, V), found, rtol=1e-10, atol=1e-11)


def test_real_parameters_of_complex_programs():
    f = lambda x: np.abs(np.exp(1j * x) + x) ** 2  # = 1 + x² + 2x cos x
    x = 0.7
    np.testing.assert_allclose(wg.grad(f)(x), 2 * x + 2 * np.cos(x) - 2 * x * np.sin(x), rtol=1e-14)
    assert wg.grad(f)(x).dtype == float


def test_descending_the_conjugate_gradient():
    z = Z.copy()
    target = np.array([1j, 2.0, -1 - 1j])
    loss = lambda z: np.sum(np.abs(z - target) ** 2)
    for _ in range(100):
        z = z - 0.2 * np.conj(wg.grad(loss)(z))
    np.testing.assert_allclose(z, target, atol=1e-12)


HOLOMORPHIC = {
    "exp": (np.exp, np.exp),
    "sin": (np.sin, np.cos),
    "log": (np.log, lambda z: 1 / z),
    "power": (lambda z: z**3, lambda z: 3 * z**2),
    "sqrt": (np.sqrt, lambda z: 0.5 / np.sqrt(z)),
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2),
    "arcsinh": (np.arcsinh, lambda z: 1 / np.sqrt(1 + z * z)),
}


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_holomorphic(name):
    f, derivative = HOLOMORPHIC[name]
    for z in Z:
        np.testing.assert_allclose(wg.grad(f, holomorphic=True)(z), derivative(z), rtol=1e-13)
        np.testing.assert_allclose(wg.derivative(f)(z), derivative(z), rtol=1e-13)
    for mode in ("forward", "reverse", "auto"):
        J = wg.jacobian(f, mode=mode, holomorphic=True)(Z)
        np.testing.assert_allclose(J, np.diag(derivative(Z)), rtol=1e-13, atol=1e-15)


def test_holomorphic_hessian():
    np.testing.assert_allclose(wg.hessian(lambda z: np.sum(z**3), holomorphic=True)(Z), np.diag(6 * Z), rtol=1e-14)


def test_wirtinger():
    first, second = wg.wirtinger(lambda z: np.abs(z) ** 2 * z)(Z)  # = z² z̄
    np.testing.assert_allclose(first, np.diag(2 * np.abs(Z) ** 2), atol=1e-15)
    np.testing.assert_allclose(second, np.diag(Z**2), atol=1e-15)
    first, second = wg.wirtinger(np.exp)(Z)
    np.testing.assert_allclose(first, np.diag(np.exp(Z)), atol=1e-15)
    np.testing.assert_allclose(second, 0, atol=1e-15)
    first, second = wg.wirtinger(lambda z: np.real(z) @ np.imag(z))(Z)
    assert first.shape == (3,)
    np.testing.assert_allclose(second, np.conj(first))


def test_the_jacobian_of_a_complex_result_in_real_parameters():
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(wg.jacobian(lambda x: np.exp(1j * x))(x), np.diag(1j * np.exp(1j * x)), rtol=1e-14)


def test_what_has_no_single_derivative_says_so():
    with pytest.raises(NonScalarOutputError, match="holomorphic=True"):
        wg.grad(np.exp)(1j)
    with pytest.raises(UnsupportedFunctionError, match="wirtinger"):
        wg.jacobian(np.exp)(Z)
    with pytest.raises(NotDifferentiableInputError, match="holomorphic"):
        wg.grad(np.exp, holomorphic=True)(1.0)


@pytest.mark.parametrize(("name", "of_result"), [
    ("arcsin", lambda w: 1 / np.cos(w)),
    ("arccos", lambda w: -1 / np.sin(w)),
    ("arcsinh", lambda w: 1 / np.cosh(w)),
    ("arccosh", lambda w: 1 / np.sinh(w)),
    ("arctanh", lambda w: np.cosh(w) ** 2),
    ("sqrt", lambda w: 0.5 / w),
    ("log", lambda w: np.exp(-w)),
])  # fmt: skip
def test_derivatives_on_branch_cuts_belong_to_the_side_that_the_sign_of_zero_names(name, of_result):
    f = getattr(np, name)
    z = np.array([complex(x, y) for x in (-2.5, 2.5) for y in (0.0, -0.0)]
                 + [complex(x, y) for y in (-2.5, 2.5) for x in (0.0, -0.0)])  # fmt: skip
    ones = np.ones_like(z)
    for slope in (
        wg.jvp(f, (z,), (ones,))[1],
        wg.vjp(f, z)[1](ones)[0],
        wg.jit(lambda z: wg.jvp(f, (z,), (ones,))[1])(z),
    ):
        np.testing.assert_allclose(slope, of_result(f(z)), rtol=1e-12, atol=1e-14)


def test_functions_that_leave_the_real_numbers():
    for x in (-2.5, -0.3, 0.3, 2.5):
        for f in (np.emath.arcsin, np.emath.arccos):
            step = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            assert wg.jvp(f, (x,), (1.0,))[1] == pytest.approx(step, rel=1e-8)
