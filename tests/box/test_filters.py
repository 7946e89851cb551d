"""Convolutions, linear filters and image interpolation: values of SciPy, derivatives in every operand."""

import contextlib

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
from harness import check

import wengert as wg
from wengert.capture.hooks import instrument
from wengert.errors import UnsupportedFunctionError

RNG = np.random.default_rng(7)
A = RNG.normal(size=(5, 7))
W = RNG.normal(size=(3, 2))
X = RNG.normal(size=(2, 9))
MODES = ["reflect", "grid-mirror", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant"]


def agrees(f, *args):
    """The instrumented function has SciPy's values, and forward and reverse mode agree on its derivative."""
    twin, zeros = instrument(f), tuple(np.zeros_like(a) for a in args)
    expected, (value, _) = f(*args), wg.jvp(twin, args, zeros)
    scale = np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-11 * scale)
    assert np.asarray(value).dtype == expected.dtype
    vs = tuple(RNG.normal(size=a.shape) for a in args)
    r = RNG.normal(size=expected.shape)
    y_dot = wg.jvp(twin, args, vs)[1]
    bars = wg.vjp(twin, *args)[1](r)
    np.testing.assert_allclose(
        np.sum(r * y_dot), sum(np.sum(v * b) for v, b in zip(vs, bars, strict=True)), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve", "convolve2d", "correlate2d"])
def test_convolutions(name, mode):
    f = getattr(scipy.signal, name)
    agrees(lambda a, v: f(a, v, mode=mode), A, W)
    agrees(lambda a, v: f(a, v, mode=mode), W, A)


@pytest.mark.parametrize("boundary", ["wrap", "symm", "fill"])
@pytest.mark.parametrize("mode", ["full", "same"])
def test_boundaries_in_the_plane(mode, boundary):
    options = {"mode": mode, "boundary": boundary, "fillvalue": 0.3}
    agrees(lambda a, v: scipy.signal.convolve2d(a, v, **options), A, W)
    agrees(lambda a, v: scipy.signal.correlate2d(a, v, **options), A, W)


def test_convolutions_of_integers_are_integers():
    a, v = np.array([[3, -1, 2], [0, 4, 100]], np.int16), np.array([[1, 7], [300, -2]], np.int16)
    for name in ("convolve", "correlate", "fftconvolve", "convolve2d", "correlate2d"):
        f = getattr(scipy.signal, name)
        for v_of_type in (v, v.astype(np.int64), v.astype(float)):  # of int16 they wrap around
            wanted, found = f(a, v_of_type), wg.jit(f)(a, v_of_type)
            assert found.dtype == wanted.dtype, name
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-10, err_msg=name)
        with pytest.raises(ValueError, match="type") if name != "fftconvolve" else contextlib.nullcontext():
            wg.jit(f)(a > 0, v > 0)
    filled = lambda a, v: scipy.signal.convolve2d(a, v, fillvalue=1.9)  # which is one among integers
    np.testing.assert_array_equal(wg.jit(filled)(a, v), filled(a, v))


def test_large_convolutions_go_through_fourier_space():
    a, v = RNG.normal(size=(40, 50)), RNG.normal(size=(21, 22))
    agrees(lambda a, v: scipy.signal.fftconvolve(a, v, mode="same"), a, v)
    agrees(lambda a, v: scipy.signal.fftconvolve(a, v, axes=1), a[:4], RNG.normal(size=(4, 500)))


def test_convolution_to_second_order():
    check(instrument(lambda a, v: scipy.signal.convolve(a, v, mode="same")), A[:3, :4], W, reference="richardson")
    check(instrument(lambda a, v: scipy.signal.correlate(a, v, mode="valid")), A[0], W[:, 0])


B, C = np.array([0.2, 0.3, 0.1]), np.array([1.5, -0.4, 0.2, 0.1])


def test_linear_filter():
    check(instrument(lambda b, a, x: scipy.signal.lfilter(b, a, x)), B, C, X[0])
    agrees(lambda b, a, x: scipy.signal.lfilter(b, a, x, axis=0), B, C, X.T.copy())
    agrees(lambda b, x: scipy.signal.lfilter(b, [2.0], x), B, X)
    agrees(lambda b, a, x: scipy.signal.lfilter(b, a, x), B, C, X[:, :2].copy())


def test_linear_filter_with_states():
    zi = RNG.normal(size=(2, 3))
    for k in range(2):
        agrees(lambda b, a, x, z: scipy.signal.lfilter(b, a, x, zi=z)[k], B, C, X, zi)  # noqa: B023
    check(instrument(lambda b, a, x, z: scipy.signal.lfilter(b, a, x, zi=z)[1]), B, C, X[0, :5], zi[0])


def test_a_filter_is_causal():
    """The derivative of the output in the input is the impulse response, which vanishes before the impulse."""
    J = wg.jacobian(lambda x: scipy.signal.lfilter(B, C, x))(X[0])
    response = scipy.signal.lfilter(B, C, np.eye(9)[0])
    np.testing.assert_allclose(J, [[response[i - j] if i >= j else 0 for j in range(9)] for i in range(9)], atol=1e-14)


def test_second_order_sections():
    sos = scipy.signal.butter(4, 0.3, output="sos")
    agrees(lambda s, x: scipy.signal.sosfilt(s, x), sos, X)
    agrees(lambda s, x, z: scipy.signal.sosfilt(s, x, zi=z)[1], sos, X, RNG.normal(size=(2, 2, 2)))


@pytest.mark.parametrize("mode", ["interp", "mirror", "constant", "nearest", "wrap"])
def test_savitzky_golay(mode):
    agrees(lambda x: scipy.signal.savgol_filter(x, 5, 2, mode=mode, deriv=1, delta=0.5), X)
    agrees(lambda x: scipy.signal.savgol_filter(x, 5, 2, mode=mode, axis=0), X.T.copy())


def test_detrend():
    agrees(lambda x: scipy.signal.detrend(x, bp=[4]), X)
    agrees(lambda x: scipy.signal.detrend(x, type="constant", axis=0), X)


# -------------------------------------------------------------------------------------------------------------- images


@pytest.mark.parametrize("mode", MODES)
def test_image_filters(mode):
    for name in ("convolve", "correlate"):
        f, f1 = getattr(scipy.ndimage, name), getattr(scipy.ndimage, name + "1d")
        for weights in (W, RNG.normal(size=(4, 5))):
            for origin in (0, -1, (0, -1)):
                agrees(lambda a, w: f(a, w, mode=mode, cval=0.7, origin=origin), A, weights)  # noqa: B023
        agrees(lambda a, w: f1(a, w, mode=mode, cval=0.7, axis=0), A, RNG.normal(size=17))  # noqa: B023
    agrees(lambda a: scipy.ndimage.gaussian_filter(a, [1.3, 0.5], order=[0, 1], mode=mode, cval=0.4), A)
    agrees(lambda a: scipy.ndimage.uniform_filter(a, [3, 4], mode=mode, cval=0.4, origin=[1, -1]), A)


def test_gaussian_filter_in_its_width():
    check(instrument(lambda a, sigma: scipy.ndimage.gaussian_filter(a, sigma, order=2)), A, 1.3, single=False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_map_coordinates(order, mode):
    def f(a, c):
        return scipy.ndimage.map_coordinates(a, c, order=order, mode=mode, cval=0.4)

    agrees(f, A, RNG.uniform(-14, 18, size=(2, 60)))
    if order in (1, 3):
        inside = RNG.uniform(0.1, 3.9, size=(2, 4))
        inside += 0.03 * (np.abs(inside - np.round(inside)) < 0.02)  # away from the kinks
        check(instrument(f), A, inside, rtol=1e-6, single=False, second=order == 3 and mode == "mirror")


def test_shift_and_affine_transform():
    agrees(lambda a, s: scipy.ndimage.shift(a, s, mode="nearest"), A, np.array([0.3, -1.6]))
    agrees(
        lambda a, m: scipy.ndimage.affine_transform(a, m, offset=0.3, mode="mirror"),
        A,
        np.array([[0.9, 0.2], [0, 1.2]]),
    )


def test_single_precision_stays():
    x = A.astype(np.float32)
    for f in (
        lambda a: scipy.ndimage.gaussian_filter(a, 1.0),
        lambda a: scipy.ndimage.map_coordinates(a, np.array([[1.3], [2.2]]), order=3),
        lambda a: scipy.signal.convolve(a, x[:2, :2]),
        lambda a: scipy.signal.lfilter(np.float32([1, 2]), np.float32([1, 0.5]), a),
    ):
        assert f(x).dtype == wg.vjp(f, x)[0].dtype == np.float32
        assert wg.grad(lambda a: np.sum(f(a)))(x).dtype == np.float32  # noqa: B023


def test_batches():
    stack = RNG.normal(size=(3, 5, 7))
    got = wg.vmap(lambda a: scipy.ndimage.map_coordinates(a, np.array([[1.3, 2.0], [2.2, 4.1]]), order=3))(stack)
    expected = [scipy.ndimage.map_coordinates(a, np.array([[1.3, 2.0], [2.2, 4.1]]), order=3) for a in stack]
    np.testing.assert_allclose(got, expected)
    points = RNG.uniform(0, 4, size=(3, 2, 5))
    got = wg.vmap(lambda c: scipy.ndimage.map_coordinates(A, c, order=3))(points)
    np.testing.assert_allclose(got, [scipy.ndimage.map_coordinates(A, c, order=3) for c in points])
    got = wg.vmap(lambda a, x: scipy.signal.lfilter(B, a, x), in_axes=(0, 0))(C + 0.1 * np.eye(4)[:3], stack[:, 0])
    expected = [scipy.signal.lfilter(B, a, x) for a, x in zip(C + 0.1 * np.eye(4)[:3], stack[:, 0], strict=True)]
    np.testing.assert_allclose(got, expected)


def test_integer_images_are_refused():
    image = np.arange(12).reshape(3, 4)
    with pytest.raises(UnsupportedFunctionError, match="astype"):
        wg.grad(lambda c: np.sum(scipy.ndimage.map_coordinates(image, c)))(np.ones((2, 1)))
