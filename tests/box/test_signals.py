"""scipy.signal: zero-phase filters, resampling, analytic signals and spectra."""

import functools

import harness
import numpy as np
import pytest
import scipy.signal as ss

import wengert as wg
from wengert.errors import UnsupportedFunctionError

agrees = functools.partial(harness.agrees, compiled=False)
RNG = np.random.default_rng(0)
X, XX, LONG = RNG.normal(size=30), RNG.normal(size=(2, 30)), RNG.normal(size=70)
B, A = ss.butter(2, 0.3)
SOS = ss.butter(4, 0.3, output="sos")


def sections(c):
    return np.concatenate([c[:, :3], np.ones((len(c), 1)), c[:, 3:]], axis=1)


COEFFICIENTS = np.delete(SOS, 3, axis=1)


def both(z):
    return np.real(z) + 3 * np.imag(z)


def test_states_of_equilibrium():
    agrees(lambda b, a: ss.lfilter_zi(b, a), B, A, second=True)
    agrees(lambda b, a: ss.lfilter_zi(b, a), B, A[:2] * 3)
    agrees(lambda sos: ss.sosfilt_zi(sos), SOS)


@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_zero_phase_filters(padtype):
    agrees(lambda b, a, x: ss.filtfilt(b, a, x, padtype=padtype), B, A, X, rtol=1e-5)
    agrees(lambda x: ss.filtfilt(B, A, x, axis=0, padlen=4, padtype=padtype), XX.T.copy())
    agrees(lambda c, x: ss.sosfiltfilt(sections(c), x, padtype=padtype), COEFFICIENTS, X, rtol=1e-5)
    agrees(lambda x: ss.sosfiltfilt(SOS, x, axis=0, padtype=padtype), XX.T.copy())


def test_zero_phase_filters_by_least_squares():
    agrees(lambda x: ss.filtfilt(B, A, x, method="gust"), X, rtol=1e-5)


def test_filters_by_their_cutoff():
    agrees(lambda w: np.concatenate(ss.butter(3, w)), np.array(0.3), rtol=1e-5)
    agrees(lambda w: np.concatenate(ss.iirnotch(w, 30.0)), np.array(0.3), rtol=1e-5)


def test_zero_phase_filters_refuse():
    with pytest.raises(ValueError, match="padlen"):
        wg.grad(lambda x: np.sum(ss.filtfilt(B, A, x)))(X[:5])


def test_a_constant_passes_through():
    slope = wg.jvp(lambda c: ss.filtfilt(B, A, np.full(30, c)), (2.0,), (1.0,))[1]
    np.testing.assert_allclose(slope, np.ones(30), rtol=1e-12)


@pytest.mark.parametrize("n", [29, 30])
def test_analytic_signals(n):
    agrees(lambda x: both(ss.hilbert(x)), X[:n])
    agrees(lambda x: both(ss.hilbert(x, 40, axis=0)), XX.T[:n].copy())
    agrees(lambda x: np.abs(ss.hilbert(x)), X[:n], second=True)


@pytest.mark.parametrize("num", [15, 20, 29, 30, 31, 44])
def test_resampling(num):
    for n in (29, 30):
        agrees(lambda x: ss.resample(x, num), X[:n])
    agrees(lambda x: ss.resample(x, num, axis=1), XX)
    agrees(lambda x: both(ss.resample(x + 2j * x[::-1], num)), X)
    agrees(lambda x, t: ss.resample(x, num, t)[1], X, np.arange(30) * 0.3)


@pytest.mark.parametrize(("up", "down"), [(1, 1), (3, 2), (2, 3), (4, 6), (1, 5), (7, 1)])
def test_polyphase_filters(up, down):
    agrees(lambda h, x: ss.upfirdn(h, x, up, down), B, X)
    agrees(lambda x: ss.upfirdn(np.arange(1.0, 9), x, up, down, axis=0), XX.T.copy())
    agrees(lambda x: ss.resample_poly(x, up, down), X)
    agrees(lambda x: ss.resample_poly(x, up, down, axis=1, window=np.hamming(11)), XX)


def test_decimation():
    agrees(lambda x: ss.decimate(x, 3), LONG)
    agrees(lambda x: ss.decimate(x, 3, zero_phase=False), LONG)
    agrees(lambda x: ss.decimate(x, 4, ftype="fir"), LONG)
    agrees(lambda x: ss.decimate(x, 4, ftype="fir", zero_phase=False), LONG)


def test_deconvolution():
    for k in (0, 1):
        agrees(lambda y, d: ss.deconvolve(y, d)[k], X[:8], np.array([2.0, 0.3, -0.4]), second=True)  # noqa: B023


# ------------------------------------------------------------------------------------------------------------- spectra


@pytest.mark.parametrize("scaling", ["density", "spectrum"])
@pytest.mark.parametrize("detrend", ["constant", "linear", False])
def test_averaged_spectra(scaling, detrend):
    made = {"scaling": scaling, "detrend": detrend, "fs": 3.0}
    agrees(lambda x: ss.welch(x, nperseg=16, **made)[1], LONG, second=True)
    agrees(lambda x: ss.welch(x, nperseg=15, noverlap=4, nfft=21, axis=0, **made)[1], XX.T.copy())
    agrees(lambda x: ss.periodogram(x, **made)[1], X)
    agrees(lambda x: ss.periodogram(x, window="hamming", nfft=20, **made)[1], XX)
    agrees(lambda x, y: both(ss.csd(x, y, nperseg=16, **made)[1]), LONG, LONG[::-1] ** 2)
    agrees(lambda x, y: both(ss.csd(x, y, nperseg=8, **made)[1]), X[:12], XX[:, :12])  # which broadcast
    agrees(lambda x: ss.spectrogram(x, nperseg=16, **made)[2], LONG)


def test_frequencies_and_times():
    def f(x):
        return ss.spectrogram(x, nperseg=16, fs=3.0)

    for k in (0, 1):
        np.testing.assert_allclose(wg.jvp(lambda x: f(x)[k], (LONG,), (LONG,))[0], f(LONG)[k])  # noqa: B023


def test_coherence():
    agrees(lambda x, y: ss.coherence(x, y, nperseg=16)[1], LONG, LONG[::-1] ** 2, rtol=1e-5)


def test_complex_signals_and_both_sides():
    agrees(lambda x: ss.welch(x * (1 + 2j), nperseg=16, return_onesided=False)[1], LONG)
    agrees(lambda x: ss.welch(x, nperseg=16, return_onesided=False)[1], LONG)


def test_windows_that_are_traced():
    agrees(lambda w: ss.welch(LONG, window=w)[1], np.hamming(16), second=True)


@pytest.mark.parametrize("mode", ["complex", "magnitude", "angle", "phase"])
def test_spectrograms(mode):
    agrees(lambda x: both(ss.spectrogram(x, nperseg=16, mode=mode, detrend=False)[2]), LONG, rtol=1e-4)


@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
def test_short_time_transforms(boundary):
    agrees(lambda x: both(ss.stft(x, nperseg=16, boundary=boundary)[2]), LONG)
    agrees(lambda x: both(ss.stft(x, nperseg=15, noverlap=9, padded=False, axis=0, boundary=boundary)[2]), XX.T.copy())


def test_inverse_transforms():
    z = ss.stft(LONG, nperseg=16)[2]
    agrees(lambda u, v: ss.istft(u + 1j * v, nperseg=16)[1], z.real.copy(), z.imag.copy())
    agrees(lambda u: both(ss.istft(u + 2j * u, input_onesided=False)[1]), RNG.normal(size=(16, 5)))

    def there_and_back(x):
        return ss.istft(ss.stft(x, nperseg=16)[2], nperseg=16)[1][: len(x)]

    y, dot = wg.jvp(there_and_back, (LONG,), (LONG[::-1],))
    np.testing.assert_allclose(y, LONG, atol=1e-12)
    np.testing.assert_allclose(dot, LONG[::-1], atol=1e-12)
    with pytest.raises(UnsupportedFunctionError, match="axes"):
        wg.grad(lambda u: np.sum(ss.istft(u, time_axis=0, freq_axis=1)[1]))(RNG.normal(size=(5, 9)))
