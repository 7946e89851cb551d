"""scipy.ndimage: grey-scale morphology, images that are mapped or filtered by a function, filters of spectra."""

import numpy as np
import pytest
import scipy.ndimage as nd
from harness import agrees

import wengert as wg
from wengert.errors import UnsupportedFunctionError

RNG = np.random.default_rng(1)
IMAGE = RNG.normal(size=(6, 7))
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]])
NAMES = ("grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient",
         "morphological_laplace", "white_tophat", "black_tophat")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_morphology(name):
    f = getattr(nd, name)
    agrees(lambda x: f(x, 3), IMAGE, compiled=name == "grey_closing")
    agrees(lambda x: f(x, (2, 4), mode="constant", cval=0.3, origin=(0, 1)), IMAGE, compiled=False)
    agrees(lambda x, s: f(x, structure=s, mode="wrap"), IMAGE, RNG.normal(size=(3, 2)), compiled=False)


def test_structure_and_footprint_of_an_erosion():
    agrees(lambda x, s: nd.grey_erosion(x, footprint=CROSS, structure=s), IMAGE, RNG.normal(size=(3, 3)))
    agrees(lambda x: nd.grey_dilation(x, 3, axes=(1,)), IMAGE)
    with pytest.raises(ValueError, match="must be specified"):
        wg.grad(lambda x: np.sum(nd.grey_dilation(x)))(IMAGE)


def test_dilation_is_the_erosion_of_the_negative():
    slope = wg.jacobian(lambda x: nd.grey_dilation(x, footprint=CROSS))(IMAGE)
    other = wg.jacobian(lambda x: -nd.grey_erosion(-x, footprint=CROSS[::-1, ::-1]))(IMAGE)
    np.testing.assert_array_equal(slope, other)


def test_images_that_are_mapped():
    agrees(lambda x: nd.geometric_transform(x, lambda p: (0.9 * p[0] + 0.3, p[1] - 0.4)), IMAGE)
    agrees(
        lambda d: nd.geometric_transform(
            IMAGE, lambda p, q: (p[0] + d[0] * q, p[1] * d[1]), (3, 4), extra_arguments=(2,)
        ),
        np.array([0.21, 0.83]),
    )
    plain = wg.jit(lambda c: c * nd.geometric_transform(IMAGE, lambda p: (p[1], p[0]), (7, 6)))(1.0)
    np.testing.assert_allclose(plain, nd.geometric_transform(IMAGE, lambda p: (p[1], p[0]), (7, 6)), atol=1e-13)


def test_filters_that_are_given_a_function():
    agrees(lambda x: nd.generic_filter(x, np.ptp, 3), IMAGE[:2, :3])
    agrees(lambda x: nd.generic_filter(x, lambda v, c: np.sum(v**2) * c, footprint=CROSS, extra_arguments=(2.0,)),
           IMAGE[:3, :4], compiled=False)  # fmt: skip
    agrees(lambda x: nd.generic_laplace(x, lambda v, k, o, m, c: nd.correlate1d(v, [1, -2, 1.0], k, o, m, c)), IMAGE)
    agrees(lambda x: nd.generic_gradient_magnitude(x, nd.sobel), IMAGE)
    plain = wg.jit(lambda c: c * nd.generic_filter(IMAGE, np.ptp, 3))(2.0)
    np.testing.assert_array_equal(plain, 2 * nd.generic_filter(IMAGE, np.ptp, 3))


@pytest.mark.parametrize("size", [6, 7])
def test_filters_of_spectra(size):
    image = RNG.normal(size=(3, size))

    def filtered(f, real):
        if real:
            return lambda x, p: np.fft.irfft2(f(np.fft.rfft2(x), p, size), (3, size))
        return lambda x, p: np.real(np.fft.ifft2(f(np.fft.fft2(x), p)))

    for real in (False, True):
        agrees(filtered(nd.fourier_shift, real), image, np.array([0.4, 1.3]), compiled=real)
        agrees(filtered(nd.fourier_gaussian, real), image, np.array([0.4, 1.3]), compiled=False)
        for f in (nd.fourier_uniform, nd.fourier_ellipsoid):
            smoothed = filtered(f, real)
            agrees(lambda x: smoothed(x, 3.0), image, compiled=False)  # noqa: B023
    with pytest.raises(UnsupportedFunctionError, match="size"):
        wg.grad(lambda s: np.sum(np.real(nd.fourier_uniform(np.fft.fft2(IMAGE), s))))(3.0)


def test_labels_that_a_compiled_function_makes():
    def means(x):
        return nd.mean(x, np.arange(x.size).reshape(x.shape) % 3, [0, 1, 2])

    np.testing.assert_allclose(wg.jit(means)(IMAGE), means(IMAGE))
