"""np.roots, np.poly of matrices and np.polydiv: polynomials, their roots and quotients."""

from __future__ import annotations

import numpy as np
import pytest
from harness import check

import wengert as wg
from wengert.errors import RepeatedValuesError

RNG = np.random.default_rng(4)


def parts(z):
    return np.real(z), np.imag(z)


@pytest.mark.parametrize("roots", [[1.0, 2.0, -3.0], [0.5], [1.0, 0.0, 4.0], [1 + 2j, 1 - 2j, 3.0], [1j, -1j, 2j, -2j]],
                         ids=str)  # fmt: skip
def test_roots(roots):
    """Also a root at zero, which NumPy splits off."""
    p = 2 * np.real(np.poly(roots))
    check(lambda p: parts(np.roots(p)), p)


POWERS = 1.7 ** np.arange(2, -1, -1)


@pytest.mark.parametrize("c", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]], ids=str)
def test_zeros_in_front_of_an_object_have_derivatives(c):
    """NumPy leaves them out, so a polynomial seems to be of a lower degree than that of its neighbours."""
    c, q = np.array(c), np.poly1d([1.0, -2.0])
    programs = {
        "itself": (lambda c: np.poly1d(c)(1.7), POWERS),
        "sum": (lambda c: (np.poly1d(c) - q)(1.7), POWERS),
        "product": (lambda c: (np.poly1d(c) * q)(1.7), POWERS * q(1.7)),
        "power": (lambda c: (np.poly1d(c) ** 2)(1.7), 2 * np.polyval(c, 1.7) * POWERS),
        "quotient": (lambda c: (np.poly1d(c) / q)[0](1.7), [1.7 + 2, 1.0, 0.0]),
        "derivative": (lambda c: np.poly1d(c).deriv()(1.7), [3.4, 1.0, 0.0]),
        "integral": (lambda c: np.poly1d(c).integ()(1.7), POWERS * 1.7 / [3, 2, 1]),
        "inside": (lambda c: np.poly1d(c)(q)(3.7), POWERS),
        "around": (lambda c: q(np.poly1d(c))(1.7), POWERS),
        "coefficient": (lambda c: np.poly1d(c)[2], [1.0, 0.0, 0.0]),
    }
    for name, (f, wanted) in programs.items():
        np.testing.assert_allclose(wg.grad(f)(c), wanted, rtol=1e-12, atol=1e-14, err_msg=name)
        np.testing.assert_allclose(wg.value_and_grad(f)(c)[0], f(c), rtol=1e-12, atol=1e-14, err_msg=name)
    coefficients = lambda c: np.poly1d(c).coeffs
    np.testing.assert_array_equal(wg.jvp(coefficients, (c,), (c,))[0], coefficients(c))


def test_zeros_in_front_move_products_and_roots():
    c = np.array([0.0, 1.0, -3.0, 2.0])  # of x² − 3x + 2
    largest = lambda c: np.max(np.real(np.roots(c)))
    np.testing.assert_allclose(wg.grad(largest)(c), [-8.0, -4.0, -2.0, -1.0], rtol=1e-9)
    # x(ε) with ε x³ + x² − 3x + 2 = 0: x = 2 − 8 ε + 32 ε² + …
    np.testing.assert_allclose(wg.hessian(largest)(c)[0, 0], 64.0, rtol=1e-8)
    wanted = wg.grad(lambda c: np.sum(np.convolve(c, [1.0, c[2]])[1:] ** 2))(c)
    np.testing.assert_allclose(wg.grad(lambda c: np.sum(np.polymul(c, [1.0, c[2]]) ** 2))(c), wanted, rtol=1e-12)


def test_leading_zeros():
    """They are no coefficients, and have no influence."""
    p = np.array([0.0, 0.0, 1.0, -3.0, 2.0])
    check(lambda p: np.roots(np.concatenate([np.zeros(2), p])), p[2:], reference=lambda args, dots: wg.jvp(
        np.roots, (p[2:],), (dots[0],))[1])  # fmt: skip
    assert wg.jvp(lambda x: np.roots(0 * x), (np.ones(3),), (np.ones(3),))[0].shape == (0,)


def test_vieta():
    """The product and the sum of the roots are coefficients."""
    p = np.array([2.0, -3.0, 5.0, -7.0])
    np.testing.assert_allclose(wg.grad(lambda p: np.real(np.sum(np.roots(p))))(p), [-3 / 4, -1 / 2, 0, 0], atol=1e-14)
    gradient = wg.grad(lambda p: np.real(np.prod(np.roots(p))))(p)
    np.testing.assert_allclose(gradient, [-7 / 4, 0, 0, -1 / 2], atol=1e-13)
    hessian = wg.hessian(lambda p: np.real(np.sum(np.roots(p))))(p)
    expected = np.zeros((4, 4))
    expected[0, 0], expected[0, 1], expected[1, 0] = 2 * 3 / 8, 1 / 4, 1 / 4
    np.testing.assert_allclose(hessian, expected, atol=1e-12)


def test_many_polynomials():
    p = np.array([[1.0, -3.0, 2.0], [1.0, 0.0, -4.0]])
    found = wg.vmap(wg.grad(lambda p: np.max(np.roots(p))))(p)
    np.testing.assert_allclose(found, [wg.grad(lambda p: np.max(np.roots(p)))(q) for q in p])


def test_complex_coefficients():
    p, v = (RNG.normal(size=4) + 1j * RNG.normal(size=4) for _ in range(2))
    dot = wg.jvp(np.roots, (p,), (v,))[1]
    np.testing.assert_allclose(dot, (np.roots(p + 1e-6 * v) - np.roots(p - 1e-6 * v)) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("roots", [[1.0, 1.0], [2.0, 2.0, 2.0], [0.0, 0.0, 1.0], [1j, 1j, -1j, -1j]], ids=str)
def test_multiple_roots_are_refused(roots):
    p = np.real(np.poly(roots))
    with pytest.raises(RepeatedValuesError, match="coincide"):
        wg.grad(lambda p: np.real(np.sum(np.roots(p))))(p)


@pytest.mark.parametrize("x", [RNG.normal(size=(3, 3)), np.eye(3), np.diag([1.0, 1.0], 1), RNG.normal(size=(5, 5)),
                               np.array([[2.0]])], ids=["any", "identity", "nilpotent", "five", "one"])  # fmt: skip
def test_characteristic_polynomials(x):
    check(np.poly, x)
    determinant = wg.grad(lambda x: np.poly(x)[-1])(x)
    np.testing.assert_allclose(determinant, wg.grad(lambda x: (-1) ** len(x) * np.linalg.det(x))(x), atol=1e-11)


def test_characteristic_polynomial_of_a_large_matrix():
    x = np.diag(np.linspace(1, 2, 14))
    np.testing.assert_allclose(wg.grad(lambda x: np.real(np.poly(x)[1]))(x), -np.eye(14), atol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(5, 3), (3, 3), (4, 1), (2, 4)])
def test_quotients(m, n):
    u, v = RNG.normal(size=m), RNG.normal(size=n) + np.eye(1, n)[0]
    if n > 1:
        check(np.polydiv, u, v)
    else:
        check(lambda u, v: np.polydiv(u, v)[0], u, v)
    back = lambda u, v: np.polyadd(np.polymul(*[v, np.polydiv(u, v)[0]]), np.polydiv(u, v)[1])
    check(back, u, v, reference=lambda args, dots: np.concatenate([np.zeros(max(n - m, 0)), dots[0]]))


def test_leading_zeros_are_left_out_as_numpy_does():
    x = np.array([0.5, -1.2, 2.0])
    zeros = np.array([0.0, 0.0, 1.0])
    back = wg.jacrev(lambda x: np.polymul([0.0, 0.0, 1.0, 2.0], x))(x)
    np.testing.assert_allclose(back, [[1, 0, 0], [2, 1, 0], [0, 2, 1], [0, 0, 2]], atol=1e-15)
    for f in (
        lambda x: np.polymul(x, [0.0, 0.0, 3.0]),
        lambda x: np.polymul(x * zeros, x),
        lambda x: np.polymul(0 * x, x),
    ):
        np.testing.assert_allclose(wg.jvp(f, (x,), (x,))[0], f(x), rtol=1e-15)
    divide = lambda x: np.polydiv(np.polymul(x, [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])[1]
    assert wg.jvp(divide, (x,), (x,))[0].shape == divide(x).shape == (1,)
    np.testing.assert_allclose(wg.jit(np.polymul)(x, x), np.polymul(x, x), rtol=1e-15)
    with pytest.raises(ValueError, match="begins with zero"):
        wg.jit(lambda x: np.polymul(x, x))(x * zeros)
