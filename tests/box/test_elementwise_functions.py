"""NumPy's elementwise functions on traced values, by the names users write."""

from __future__ import annotations

import numpy as np
import pytest
from harness import check
from programs import check_program

import wengert as wg
from wengert.errors import InPlaceError, UnsupportedFunctionError
from wengert.modes import dual

X = np.array([[-2.3, -0.4, 0.7], [1.2, 2.6, 3.9]])


def complex_check(f, z):
    """The derivative along any direction of the plane, and its transpose: Re(ct · J v) = Re(Jᵀ ct · v)."""
    rng = np.random.default_rng(1)
    z = np.asarray(z)
    v = rng.normal(size=z.shape) + 1j * rng.normal(size=z.shape)
    y, y_dot = wg.jvp(f, (z,), (v,))
    h = 1e-6
    np.testing.assert_allclose(y, f(z), rtol=1e-13)
    assert y.dtype == y_dot.dtype == f(z).dtype
    np.testing.assert_allclose(y_dot, (f(z + h * v) - f(z - h * v)) / (2 * h), rtol=1e-7, atol=1e-8)
    ct = np.asarray(rng.normal(size=y.shape), y.dtype)
    (z_bar,) = wg.vjp(f, z)[1](ct)
    np.testing.assert_allclose(np.sum(np.real(ct * y_dot)), np.sum(np.real(z_bar * v)), rtol=1e-12)


@pytest.mark.parametrize("f", [
    lambda x: abs(x), np.fabs, np.abs, np.deg2rad, np.rad2deg, np.real, np.imag, np.conj, np.angle, np.sinc,
    lambda x: np.clip(x, -1.0, 2.0), lambda x: np.clip(x, None, 2.0), lambda x: np.clip(x, -1, None),
    lambda x: np.clip(x, min=0.0, max=3), lambda x: np.clip(x, max=np.array([0.0, 1.0, 2.0])),
    lambda x: x.clip(-1, 1), lambda x: np._core.umath.clip(x, -1.0, 1.0), lambda x: np.nan_to_num(x * 2),
    lambda x: np.modf(x), lambda x: np.frexp(x)[0], lambda x: np.divmod(x, 0.9), lambda x: divmod(x, 0.9),
    lambda x: np.round(x) * x, lambda x: np.around(x, 1) + x, lambda x: np.fix(x) + x, lambda x: np.sign(x) * x,
    lambda x: np.trunc(x) * x, lambda x: np.angle(x, deg=True) + x,
])  # fmt: skip
def test_real_functions(f):
    check(f, X)


def test_modf_and_frexp_return_what_numpy_does():
    x = np.array([-2.5, 0.0, 3.0, np.inf, -np.inf])
    for f in (np.modf, np.frexp):
        values, _ = dual.push(lambda x, f=f: list(f(x)), [x], [np.ones(5)])
        for got, expected in zip(values, f(x), strict=True):
            np.testing.assert_array_equal(got, expected)
            assert got.dtype == expected.dtype


def test_divmod_in_both_arguments():
    check(lambda x, y: np.divmod(x, y)[1], np.array([-7.3, 5.1, 0.4]), np.array([2.0, -1.3, 0.7]))


def test_float_power_is_double():
    x = np.float32([1.5, 2.0])
    y, y_dot = wg.jvp(lambda x: np.float_power(x, 3), (x,), (np.ones_like(x),))
    assert y.dtype == y_dot.dtype == np.float64
    (x_bar,) = wg.vjp(lambda x: np.float_power(x, 3), x)[1](np.ones(2))
    assert x_bar.dtype == np.float32
    np.testing.assert_allclose(x_bar, 3 * x**2)
    check(np.float_power, np.array([0.3, 1.7]), np.array([2.0, -0.5]))


def test_ties_and_bounds_of_clip():
    np.testing.assert_array_equal(
        wg.grad(lambda x: np.sum(np.clip(x, 0.0, 1.0)))(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])), [0, 0.5, 1, 0.5, 0]
    )
    low, high = wg.grad(lambda lo, hi: np.sum(np.clip(X, lo, hi)), argnums=(0, 1))(-1.0, 2.0)
    assert (low, high) == (1.0, 2.0)


Z = np.array([0.6 - 0.8j, -1.3 + 0.2j, 2.0 + 1.0j])


@pytest.mark.parametrize("f", [
    np.abs, np.angle, np.real, np.imag, np.conj, np.sign, lambda z: np.angle(z, deg=True), np.nan_to_num,
    lambda z: z.real**2 + z.imag, lambda z: np.round(z, 1) + z, lambda z: z * np.conj(z), lambda z: abs(z) ** 2,
])  # fmt: skip
def test_complex_functions(f):
    complex_check(f, Z)
    complex_check(f, Z[0])


def test_complex_functions_at_zero():
    z = np.zeros(2, complex)
    for f in (np.abs, np.sign):
        np.testing.assert_array_equal(wg.jvp(f, (z,), (np.ones_like(z),))[1], [0, 0])


def test_fabs_of_complex_numbers_is_refused():
    with pytest.raises(TypeError, match="absolute"):
        wg.jvp(np.fabs, (Z,), (Z,))


@pytest.mark.parametrize("f", [
    np.isposinf, np.isneginf, np.isreal, np.iscomplex, lambda x: np.isclose(x, 1.0), np.isnan, np.isfinite, np.signbit,
    np.logical_not, lambda x: np.logical_and(x, x > 1), lambda x: np.isclose(x, x + 1e-9, rtol=1e-12, atol=0.0),
])  # fmt: skip
def test_questions_have_plain_answers(f):
    x = np.array([1.0, np.inf, -np.inf, 0.0, np.nan])
    seen = []

    def g(x):
        seen.append(f(x))
        return x

    wg.jvp(g, (x,), (x,))
    wg.vjp(g, x)
    for answer in seen:
        assert type(answer) is np.ndarray
        np.testing.assert_array_equal(answer, f(x))


@pytest.mark.parametrize(("f", "word"), [
    (lambda x: np.clip(x, 0, 1, dtype=float), "dtype"),
    (lambda x: np.bitwise_and(x, 1), "integers"), (lambda x: np.nextafter(x, 1), "stop_gradient"),
    (lambda x: np.gcd(x, 2), "integers"),
])  # fmt: skip
def test_what_is_not_supported_says_so(f, word):
    with pytest.raises(UnsupportedFunctionError, match=word):
        wg.jvp(f, (np.ones(2),), (np.ones(2),))


def test_out():
    plain = np.zeros(2)
    check_program(lambda x: np.clip(x * x, 0, 1, out=np.zeros(2)), np.array([0.5, 2.0]))
    with pytest.raises(InPlaceError, match="out="):
        wg.jvp(lambda x: np.clip(x, 0, 1, out=plain), (np.ones(2),), (np.ones(2),))
    assert not np.any(plain)
    for f in (np.round, np.fix):  # locally constant: the result is plain
        np.testing.assert_array_equal(wg.jvp(lambda x, f=f: f(x, out=np.zeros(2)), (plain + 1.3,), (plain,))[1], 0.0)


def test_evenly_spaced_numbers():
    check(lambda a, b: np.linspace(a, b, 5), -1.0, 2.0)
    check(lambda a, b: np.linspace(a, b, 4, endpoint=False), -1.0, np.array([1.0, 2.0]))
    check(lambda a, b: np.linspace(a, b, 4, retstep=True), 0.5, np.array([1.0, 2.0]))
    check(lambda a, b: np.linspace(a, b, 3, axis=-1), X, 2.0)
    check(lambda a: np.linspace(a, 1, 1), 0.3)
    check(lambda a: np.linspace(a, 1, 0), 0.3)
    check(lambda a, b: np.logspace(a, b, 4), 0.1, 1.2)
    check(lambda a, b: np.logspace(a, b, 4, base=np.array([2.0, 3.0])), 0.1, 1.2)
    check(lambda a, b, base: np.logspace(a, b, 4, base=base), 0.1, 1.2, 2.0)
    check(lambda a, b: np.geomspace(a, b, 4), 0.1, 1.2)
    check(lambda a, b: np.geomspace(a, b, 4), np.array([0.1, -2.0]), np.array([1.2, -0.3]))
    assert wg.jvp(lambda a: np.linspace(a, 1.0, 3), (np.float32(0),), (np.float32(1),))[1].dtype == np.float32


@pytest.mark.parametrize(
    "f", [np.tanh, np.sinh, np.arctan, np.log1p, np.cbrt, np.sinc, np.exp2], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("x", [0.3, 3.0, 30.0])
def test_arrays_without_axes_have_the_derivatives_of_numbers(f, x):
    """`tanh` close to ±1 is a case of its own, which wrote into what it took for an array."""
    for g in (wg.grad(f), wg.grad(wg.grad(f)), lambda x: wg.jvp(f, (x,), (x,))[1]):
        np.testing.assert_array_equal(g(np.array(x)), g(np.float64(x)))
