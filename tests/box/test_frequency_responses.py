"""scipy.signal: frequency responses, forms of filters, splines of samples, peaks; modules that are followed."""

import numpy as np
import pytest
import scipy.signal as ss
from harness import agrees

import wengert as wg
from wengert.errors import UnsupportedFunctionError

RNG = np.random.default_rng(0)
X, IMAGE = RNG.normal(size=14), RNG.normal(size=(6, 7))
B, A = np.array([0.2, 0.5, 0.3]), np.array([1.1, 0.3, -0.2])
ANGLES = np.array([0.2, 0.9, 2.0])


def both(z):
    return np.real(z) + 3 * np.imag(z)


@pytest.mark.parametrize("options", [{}, {"whole": True}, {"include_nyquist": True}, {"fs": 3.0}])
def test_responses_of_digital_filters(options):
    agrees(lambda b, a: both(ss.freqz(b, a, 7, **options)[1]), B, A)
    np.testing.assert_allclose(
        wg.jit(lambda b: ss.freqz(b, 1, 7, **options)[0])(B), ss.freqz(B, 1, 7, **options)[0], rtol=1e-15
    )


def test_responses_at_given_frequencies():
    agrees(lambda b, w: both(ss.freqz(b, A, w, fs=5.0)[1]), B, ANGLES)
    agrees(lambda b: both(ss.freqz(b, 1, 9)[1]), RNG.normal(size=(3, 2, 1)))
    agrees(lambda z, p, k: both(ss.freqz_zpk(z, p, k, 5)[1]), B, A / 3, np.array(2.0))
    agrees(lambda b, a, w: both(ss.freqs(b, a, w)[1]), B, A, ANGLES)
    agrees(lambda z, k: both(ss.freqs_zpk(z, [0.1, -0.4], k, ANGLES)[1]), B, np.array(2.0))
    agrees(lambda b: both(ss.freqs(b, A, 5)[1]), B, compiled=False)
    agrees(lambda b, a: ss.group_delay((b, a), 6)[1], B, A)


def test_sections_of_a_filter_multiply():
    sos = ss.butter(4, 0.3, output="sos")
    free = np.delete(sos, 3, axis=1)  # SciPy wants ones in column 3

    def sections(c):
        return np.concatenate([c[:, :3], np.ones((2, 1)), c[:, 3:]], axis=1)

    agrees(lambda c: both(ss.freqz_sos(sections(c), 5)[1]), free)
    agrees(lambda c: ss.sos2tf(sections(c))[1], free)


def test_delay_of_a_pure_delay():
    """h = z⁻ᵏ·b has k more samples of delay at every frequency, whatever b is."""
    slope = wg.jacobian(lambda b: ss.group_delay((np.concatenate([np.zeros(3), b]), [1.0]), 5)[1])(B)
    np.testing.assert_allclose(slope, wg.jacobian(lambda b: ss.group_delay((b, [1.0]), 5)[1])(B), atol=1e-12)


def test_forms_of_filters():
    agrees(lambda b, a: np.concatenate(ss.normalize(b, a)), B, A)
    agrees(lambda b: ss.normalize(np.concatenate([np.zeros(1), b]), A)[0], B, compiled=False)
    for b in (np.array([0.0, 1.0]), np.array([2.0, 1.0])):
        np.testing.assert_allclose(wg.jit(lambda b: ss.normalize(b, A)[0])(b), ss.normalize(b, A)[0])
    agrees(lambda b: np.real(ss.tf2zpk(b, A)[0]), np.array([1.0, -3.0, 2.0]), compiled=False)
    agrees(lambda z, k: ss.zpk2tf(z, [0.1], k)[0], B, np.array(2.0))
    agrees(lambda b, a, y, x: ss.lfiltic(b, a, y, x), B, A, np.array([0.4, 0.1]), np.array([0.7]))
    agrees(lambda a: ss.lfiltic([1.0], a, [0.4]), A)


def test_splines_of_samples():
    agrees(lambda x: ss.cspline1d(x), X)
    agrees(lambda x: ss.qspline1d(x), X)
    agrees(lambda x: ss.cspline1d(x, 0.7), X)
    points = np.array([-3.2, 0.3, 4.6, 12.9, 14.2, 31.0])
    agrees(lambda x, t: ss.cspline1d_eval(ss.cspline1d(x), t), X, points)
    agrees(lambda x, t: ss.qspline1d_eval(ss.qspline1d(x), t, dx=0.5, x0=-1.0), X, points)
    agrees(lambda t: ss.gauss_spline(t, 3), X)


def test_separable_filters_of_images():
    agrees(lambda x, h: ss.sepfir2d(x, h, np.array([0.2, 0.5, 0.4])), IMAGE, np.array([0.1, 0.7, 0.2, 0.3, -0.4]))
    agrees(lambda x: both(ss.hilbert2(x)), IMAGE)
    agrees(lambda x: both(ss.hilbert2(x, (4, 9), axes=(1, 0))), IMAGE)


def test_ranks_and_local_variances():
    agrees(lambda x: ss.medfilt(x, 5), X)
    agrees(lambda x: ss.medfilt(x, (3, 1)), IMAGE)
    agrees(lambda x: ss.medfilt2d(x), IMAGE)
    agrees(lambda x: ss.order_filter(x, np.eye(3), 2), IMAGE)
    agrees(lambda x: ss.wiener(x, 5), X)
    agrees(lambda x, noise: ss.wiener(x, (3, 5), noise), IMAGE, np.array(0.4))
    with pytest.raises(ValueError, match="odd"):
        wg.grad(lambda x: np.sum(ss.medfilt(x, 4)))(X)


def test_vector_strength():
    agrees(lambda t, p: np.array(ss.vectorstrength(t, p)), X, np.array(0.7))
    agrees(lambda t, p: ss.vectorstrength(t, p)[0], X, np.array([0.7, 1.9]))


def test_peaks_stay_where_they_are():
    conditions = {"height": -5.0, "threshold": 0.0, "prominence": 0.01}

    def measures(x):
        peaks, found = ss.find_peaks(x, **conditions)
        names = ("peak_heights", "left_thresholds", "right_thresholds", "prominences")
        return np.concatenate([x[peaks], *[found[name] for name in names]])

    agrees(measures, X, compiled=False)
    agrees(lambda x: ss.peak_prominences(x, ss.find_peaks(x)[0])[0], X, compiled=False)
    with pytest.raises(UnsupportedFunctionError, match="before"):
        wg.jit(measures)(X)
    with pytest.raises(UnsupportedFunctionError, match="width"):
        wg.grad(lambda x: np.sum(ss.find_peaks(x, width=0)[1]["widths"]))(X)
    several = np.stack([X, -X, 2 * X])
    expected = [x[ss.find_peaks(x)[0]].sum() for x in several]
    np.testing.assert_allclose(wg.vmap(lambda x: x[ss.find_peaks(x)[0]].sum())(several), expected)
    np.testing.assert_allclose(wg.vmap(lambda x: x[ss.find_peaks(x)[0]].sum())(several[::2]), expected[::2])


def test_modules_of_scipy_that_are_followed():
    t = np.linspace(0.1, 2.0, 6)
    agrees(lambda x: np.abs(ss.czt(x, 5)), X)
    agrees(lambda x: np.abs(ss.zoom_fft(x, [0.1, 0.4], 5)), X)
    agrees(lambda t, f: ss.chirp(t, f, 2.0, 3.0), t, np.array(1.3))
    agrees(lambda u: ss.lsim(([1.0], [1.0, 2.0, 1.0]), u, np.linspace(0, 3, 14))[1], X)
    agrees(lambda a: ss.step(([1.0], a), T=t)[1], A, compiled=False)
    agrees(lambda m: ss.cont2discrete((m, np.ones((2, 1)), np.ones((1, 2)), np.zeros((1, 1))), 0.1)[0],
           RNG.normal(size=(2, 2)))  # fmt: skip
