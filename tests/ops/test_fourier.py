"""Fourier, cosine and sine transforms: each is linear, so its derivative is the transform of the tangent.

Reverse mode is checked against the transpose of the matrix that NumPy or SciPy itself gives for unit vectors; `check`
adds second order, batches and single precision.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
from harness import check

import wengert as wg
from wengert.box.dispatch import BLIND, FUNCTIONS, NONDIFFERENTIABLE

NORMS = [None, "backward", "ortho", "forward"]
LENGTHS = [None, 1, 3, 6, 9]
ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
HERMITIAN = ["hfft2", "ihfft2", "hfftn", "ihfftn"]
REAL_ONLY = {"rfft", "ihfft", "rfftn", "rfft2", "ihfft2", "ihfftn"}


def real_pair(y):
    """Real and imaginary parts side by side, as real numbers."""
    return np.stack([np.real(y), np.imag(y)])


def verify(f, plain, shape, complex_input, rng):
    """f on traced values: value, directional derivative, and gradient against the matrix of `plain`."""
    x, x_dot = rng.normal(size=shape), rng.normal(size=shape)
    if complex_input:
        x, x_dot = x + 1j * rng.normal(size=shape), x_dot + 1j * rng.normal(size=shape)
    y, y_dot = wg.jvp(f, (x,), (x_dot,))
    expected = plain(x)
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(y_dot, plain(x_dot), rtol=1e-12, atol=1e-12)
    ct = rng.normal(size=y.shape) + (1j * rng.normal(size=y.shape) if y.dtype.kind == "c" else 0)
    x_bar = wg.vjp(f, x)[1](ct)
    x_bar = x_bar[0] if isinstance(x_bar, tuple) else x_bar
    assert x_bar.shape == x.shape
    assert x_bar.dtype == x.dtype
    # The pairing is Re(ct · y_dot), for every direction of a basis of the real numbers.
    for unit in (1, 1j) if complex_input else (1,):
        for k in range(min(x.size, 7)):
            direction = np.zeros(x.size, x.dtype)
            direction[k] = unit
            direction = direction.reshape(shape)
            left = np.sum(np.real(x_bar * direction))
            np.testing.assert_allclose(left, np.sum(np.real(ct * plain(direction))), rtol=1e-10, atol=1e-12)


def _call(module, name, **options):
    function = getattr(module, name)
    return lambda x: function(x, **options)


@pytest.mark.parametrize("complex_input", [False, True])
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", ONE_AXIS)
def test_along_one_axis(name, n, complex_input, rng):
    if complex_input and name in REAL_ONLY:
        pytest.skip("of real data only")
    for axis, norm in zip((-1, 0, 1, 2), NORMS, strict=True):
        for module in (np.fft, scipy.fft):
            f = _call(module, name, n=n, axis=axis, norm=norm)
            verify(f, f, (4, 3, 5), complex_input, rng)


SHAPES = [
    {},
    {"axes": (0, 1)},
    {"axes": (2, 0), "norm": "ortho"},
    {"s": (5, 2), "axes": (1, 2), "norm": "forward"},
    {"s": (2, 6), "axes": (-1, 0)},
]


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize("complex_input", [False, True])
@pytest.mark.parametrize("name", SEVERAL + HERMITIAN)
def test_along_several_axes(name, complex_input, options, rng):
    if complex_input and name in REAL_ONLY:
        pytest.skip("of real data only")
    for module in (np.fft, scipy.fft):
        if hasattr(module, name):
            f = _call(module, name, **options)
            verify(f, f, (4, 3, 5), complex_input, rng)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name, rng):
    for module in (np.fft, scipy.fft):
        for axes in (None, 0, (1, 2), (-1,)):
            f = _call(module, name, axes=axes)
            verify(f, f, (4, 3, 5), False, rng)


@pytest.mark.parametrize("orthogonalize", [None, True, False])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosines_and_sines(name, kind, orthogonalize, rng):
    for axis, norm, n in zip((-1, 0, 1, 2), NORMS, (None, 3, 6, 4), strict=True):
        f = _call(scipy.fft, name, type=kind, axis=axis, norm=norm, n=n, orthogonalize=orthogonalize)
        verify(f, f, (4, 3, 5), False, rng)
    verify(f, f, (4, 3, 5), True, rng)
    for options in ({}, {"axes": (0, 2), "s": (3, 6)}, {"norm": "ortho", "axes": (1,)}, {"norm": "forward"}):
        f = _call(scipy.fft, name + "n", type=kind, orthogonalize=orthogonalize, **options)
        verify(f, f, (4, 3, 5), False, rng)


def test_hankel_transforms(rng):
    for options in ({}, {"bias": 0.3}, {"offset": 0.2, "bias": -0.1}):
        for name in ("fht", "ifht"):
            f = _call(scipy.fft, name, dln=0.1, mu=0.5, **options)
            verify(f, f, (2, 8), False, rng)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "hfft", "ihfft", "fft2"])
def test_in_every_mode(name, rng):
    transform = getattr(np.fft, name)
    check(lambda x: real_pair(transform(np.sin(x))), rng.normal(size=(3, 4)), rtol=1e-6)


def test_cosine_transforms_in_every_mode(rng):
    def f(x):
        return scipy.fft.dctn(np.sin(x), type=2, norm="ortho") * scipy.fft.dst(x, type=3)

    gradient = wg.grad(lambda x: np.sum(f(x) ** 2))
    x = rng.normal(size=(3, 4))
    np.testing.assert_allclose(gradient(x), wg.numerical.grad(lambda x: np.sum(f(x) ** 2))(x), rtol=1e-7, atol=1e-7)
    assert gradient(x.astype(np.float32)).dtype == np.float32


def test_convolution_theorem(rng):
    """The gradient of a circular convolution by transforms is a circular correlation."""
    h, x = rng.normal(size=(2, 6))
    gradient = wg.grad(lambda x: np.sum(np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(h), 6) ** 2))(x)
    matrix = np.stack([np.roll(h, k) for k in range(6)], axis=1)
    np.testing.assert_allclose(gradient, 2 * matrix.T @ matrix @ x, rtol=1e-12)


def test_parseval_and_energy(rng):
    """A real function of a complex vector: the gradient is ∂f/∂x − i·∂f/∂y, here 2·n·conj(z)."""
    z = rng.normal(size=5) + 1j * rng.normal(size=5)
    gradient = wg.grad(lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2))(z)
    np.testing.assert_allclose(gradient, 10 * np.conj(z), rtol=1e-12)


def test_hessian_of_a_power_spectrum(rng):
    x = rng.normal(size=4)
    f = lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 4)
    hessian = wg.hessian(f)(x)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)
    np.testing.assert_allclose(hessian, wg.numerical.jacobian(wg.grad(f))(x), rtol=1e-6, atol=1e-5)


def test_single_precision():
    x = np.ones(6, np.float32)
    y, y_dot = wg.jvp(np.fft.fft, (x,), (x,))
    assert y.dtype == y_dot.dtype == np.complex64
    assert wg.grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2))(x).dtype == np.float32
    assert wg.grad(lambda z: np.sum(np.fft.irfft(z) ** 2))(x.astype(np.complex64)).dtype == np.complex64


def test_errors_are_numpys():
    x = np.ones(4)
    for f in (
        lambda x: np.fft.fft(x, n=0),
        lambda x: np.fft.fft(x, norm="other"),
        lambda x: np.fft.fftn(x, s=(2, 2), axes=(0,)),
        lambda x: np.fft.fft(x, axis=3),
    ):
        with pytest.raises((ValueError, IndexError)):
            f(x)
        with pytest.raises((ValueError, IndexError)):
            wg.jvp(f, (x,), (x,))
    with pytest.raises(TypeError):
        wg.jvp(np.fft.rfft, (x + 0j,), (x + 0j,))


def test_every_transform_is_answered():
    for name in np.fft.__all__:
        function = getattr(np.fft, name)
        assert function in FUNCTIONS or name in ("fftfreq", "rfftfreq"), name
        assert function not in NONDIFFERENTIABLE
    settings = {"fftfreq", "rfftfreq", "next_fast_len", "prev_fast_len", "fhtoffset"}
    for name in scipy.fft.__all__:
        if name not in settings and "backend" not in name and "workers" not in name:
            assert getattr(scipy.fft, name) in BLIND, name
