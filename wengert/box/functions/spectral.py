"""Spectra of scipy.signal: Welch's method and its relatives, the short-time Fourier transform and its inverse.

A signal is cut into overlapping frames (a gather), each is detrended, weighted with a window and transformed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.filters import detrend as without_trend
from wengert.box.functions.images import floating, last
from wengert.box.functions.operands import array, join, part, pick, unsupported_option
from wengert.box.functions.products import conj
from wengert.box.functions.shapes import moveaxis
from wengert.imported import when_imported
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.types import dtype_of, ndim_of, shape_of

_PERIODIC = {"hann_periodic": "hann", "tukey_periodic": "tukey"}
"""Names of newer versions of SciPy for what is the default anyway."""


def _continued(x: Any, n: int, kind: str | None) -> Any:
    """A signal, along its last axis, with n more samples at both ends."""
    if n < 1 or kind is None:
        return x
    axis, size = ndim_of(x) - 1, shape_of(x)[-1]
    if kind in ("odd", "even") and n > size - 1:
        raise ValueError(f"The extension length n ({n}) is too big. It must not exceed x.shape[axis]-1, {size - 1}.")
    first, final = part(x, axis, slice(0, 1)), part(x, axis, slice(-1, None))
    if kind in ("odd", "even"):
        left = s.flip(part(x, axis, slice(1, n + 1)), axis=(axis,))
        right = s.flip(part(x, axis, slice(size - n - 1, size - 1)), axis=(axis,))
        if kind == "odd":
            left, right = 2 * first - left, 2 * final - right
    elif kind == "constant":
        shape = (*shape_of(x)[:-1], n)
        left, right = s.broadcast_to(first, shape=shape), s.broadcast_to(final, shape=shape)
    elif kind == "zeros":
        left = right = np.zeros((*shape_of(x)[:-1], n), dtype_of(x))
    else:
        raise ValueError(f"Unknown value '{kind}' for the extension of a signal")
    return join([left, x, right], axis)


class Spectra:
    """The functions, given SciPy's `get_window`."""

    def __init__(self, get_window: Any):
        self.get_window = get_window

    def _window(self, window: Any, nperseg: int | None, n: int) -> tuple[Any, int]:
        """A window and its length, by default 256 and never more than the signal's."""
        if isinstance(window, (str, tuple)):
            length = min(256 if nperseg is None else int(nperseg), n)
            if isinstance(window, str):
                window = _PERIODIC.get(window, window)
            else:
                window = (_PERIODIC.get(window[0], window[0]), *window[1:])
            return self.get_window(window, length), length
        w = array(window)
        if ndim_of(w) != 1:
            raise ValueError("window must be 1-D")
        if nperseg is not None and nperseg != shape_of(w)[0]:
            raise ValueError("value specified for nperseg is different from length of window")
        return w, shape_of(w)[0]

    def _frames(self, x: Any, w: Any, length: int, step: int, nfft: int, detrend: Any, onesided: bool) -> Any:
        """The transforms of the frames: an axis for the frames, and one for the frequencies, behind the others."""
        count = (shape_of(x)[-1] - length) // step + 1
        places = np.arange(count)[:, None] * step + np.arange(length)
        frames = pick(x, places, ndim_of(x) - 1)
        if callable(detrend):
            frames = detrend(frames)
        elif detrend:
            frames = without_trend(frames, -1, detrend)
        weighted = frames * w
        return FUNCTIONS[np.fft.rfft if onesided else np.fft.fft](weighted, nfft)

    def analysed(
        self, x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
        return_onesided: bool, scaling: str, axis: int, mode: str, boundary: Any = None, padded: bool = False,
    ) -> tuple[Any, Any, Any]:  # fmt: skip
        """Frequencies, times and spectra: the frequencies are where the signal's axis was, the times are last."""
        same = y is x
        signals = floating(array(x)) if same else floating(array(x), array(y))
        signals = [last(v, normalize_axis_index(axis, ndim_of(v))) for v in signals]
        n = max(shape_of(v)[-1] for v in signals)
        signals = [_filled(v, n) for v in signals]
        w, length = self._window(window, nperseg, n)
        nfft = length if nfft is None else int(nfft)
        noverlap = length // 2 if noverlap is None else int(noverlap)
        if nfft < length or noverlap >= length:
            raise ValueError("nfft must be at least nperseg, and noverlap less than nperseg.")
        step = length - noverlap
        signals = [_continued(v, length // 2, boundary) for v in signals]
        if padded:
            missing = (-(shape_of(signals[0])[-1] - length) % step) % length
            signals = [_filled(v, shape_of(v)[-1] + missing) for v in signals]
        real = all(dtype_of(v).kind != "c" for v in signals)
        onesided = return_onesided and real
        if not isinstance(w, Traced):
            w = np.asarray(w).astype(np.zeros((), dtype_of(signals[0])).real.dtype)
        if scaling == "density":
            scale = 1 / (fs * s.sum(w * w, axis=(0,)))
        elif scaling == "spectrum":
            total = s.sum(w, axis=(0,))
            scale = 1 / (total * total)
        else:
            raise ValueError(f"Unknown scaling: {scaling!r}")
        found = [self._frames(v, w, length, step, nfft, detrend, onesided) for v in signals]
        if mode == "stft":
            result = found[0] * scale**0.5
        elif same:
            real_part, imaginary = s.real(found[0]), s.imag(found[0])
            result = (real_part * real_part + imaginary * imaginary) * scale
        else:
            result = conj(found[0]) * found[1] * scale
        if onesided and mode != "stft":
            weights = np.full(nfft // 2 + 1, 2.0)
            weights[0] = 1
            if nfft % 2 == 0:
                weights[-1] = 1
            result = result * weights.astype(np.zeros((), dtype_of(result)).real.dtype)
        end = shape_of(signals[0])[-1] - length / 2
        times = np.arange(length / 2, end + 1, step) / float(fs)
        if boundary is not None:
            times = times - length / 2 / fs
        frequencies = (np.fft.rfftfreq if onesided else np.fft.fftfreq)(nfft, 1 / fs)
        return frequencies, times, moveaxis(result, -1, normalize_axis_index(axis, ndim_of(result) - 1))

    # ------------------------------------------------------------------------------------------------- averaged spectra

    def csd(
        self, x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
        nfft: Any = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density",
        axis: int = -1, average: str = "mean",
    ) -> Any:  # fmt: skip
        if average != "mean":
            raise unsupported_option("scipy.signal.csd", f"average={average!r}", "use average='mean'")
        f, _, p = self.analysed(
            x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, "psd"
        )
        return f, FUNCTIONS[np.mean](p, axis=-1)

    def welch(self, x: Any, *args: Any, **options: Any) -> Any:
        return self.csd(x, x, *args, **options)

    def periodogram(
        self, x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
        return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    ) -> Any:  # fmt: skip
        x = array(x)
        k = normalize_axis_index(axis, ndim_of(x))
        if nfft is not None and nfft < shape_of(x)[k]:
            x, nfft = part(x, k, slice(0, nfft)), None
        window = "boxcar" if window is None else window
        return self.csd(x, x, fs, window, shape_of(x)[k], 0, nfft, detrend, return_onesided, scaling, k)

    def coherence(
        self, x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
        nfft: Any = None, detrend: Any = "constant", axis: int = -1,
    ) -> Any:  # fmt: skip
        settings = {"fs": fs, "window": window, "nperseg": nperseg, "noverlap": noverlap, "nfft": nfft,
                    "detrend": detrend, "axis": axis}  # fmt: skip
        f, pxx = self.welch(x, **settings)
        pyy, pxy = self.welch(y, **settings)[1], self.csd(x, y, **settings)[1]
        u, v = s.real(pxy), s.imag(pxy)
        return f, (u * u + v * v) / pxx / pyy

    # ----------------------------------------------------------------------------------------------- short-time spectra

    def spectrogram(
        self, x: Any, fs: Any = 1.0, window: Any = ("tukey", 0.25), nperseg: Any = None, noverlap: Any = None,
        nfft: Any = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density",
        axis: int = -1, mode: str = "psd",
    ) -> Any:  # fmt: skip
        x = array(x)
        window, nperseg = self._window(window, nperseg, shape_of(x)[axis])
        noverlap = nperseg // 8 if noverlap is None else noverlap
        if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
            raise ValueError(f"unknown value for mode {mode}")
        f, t, z = self.analysed(
            x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
            "psd" if mode == "psd" else "stft",
        )  # fmt: skip
        if mode == "magnitude":
            z = abs(z)
        elif mode in ("angle", "phase"):
            z = FUNCTIONS[np.angle](z)
            if mode == "phase":
                z = FUNCTIONS[np.unwrap](z, axis=axis - 1 if axis < 0 else axis)
        return f, t, z

    def stft(
        self, x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = 256, noverlap: Any = None, nfft: Any = None,
        detrend: Any = False, return_onesided: bool = True, boundary: Any = "zeros", padded: bool = True,
        axis: int = -1, scaling: str = "spectrum",
    ) -> Any:  # fmt: skip
        x = array(x)
        scaling = "density" if scaling == "psd" else scaling
        if not isinstance(window, (str, tuple)):
            nperseg = shape_of(array(window))[0]
        return self.analysed(
            x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, "stft", boundary, padded
        )

    def istft(
        self, Zxx: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
        nfft: Any = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1, freq_axis: int = -2,
        scaling: str = "spectrum",
    ) -> Any:  # fmt: skip
        z = array(Zxx)
        rank = ndim_of(z)
        places = (normalize_axis_index(freq_axis, rank), normalize_axis_index(time_axis, rank))
        if places != (rank - 2, rank - 1):
            raise unsupported_option("scipy.signal.istft", "time_axis= or freq_axis=", "move the axes first")
        bins, count = shape_of(z)[-2:]
        default = 2 * (bins - 1) if input_onesided else bins
        length = default if nperseg is None else int(nperseg)
        if nfft is None:
            nfft = length if input_onesided and length == default + 1 else default
        step = length - (length // 2 if noverlap is None else int(noverlap))
        w, _ = self._window(window, length, length)
        frames = FUNCTIONS[np.fft.irfft if input_onesided else np.fft.ifft](s.transpose(
            z, axes=(*range(rank - 2), rank - 1, rank - 2)
        ), nfft)  # fmt: skip
        frames = index(frames, pattern=(..., slice(0, length)))
        frames = frames * w * (s.sum(w, axis=(0,)) if scaling == "spectrum" else (fs * s.sum(w * w, axis=(0,))) ** 0.5)
        total = length + (count - 1) * step
        x: Any = 0.0
        norm: Any = 0.0
        for k in range(count):
            sides = (k * step, total - k * step - length)
            x = x + _placed(index(frames, pattern=(..., k, slice(None))), *sides)
            norm = norm + _placed(w * w, *sides)
        if boundary:
            kept = (..., slice(length // 2, total - length // 2))
            x, norm = index(x, pattern=kept), index(norm, pattern=kept)
        x = x / FUNCTIONS[np.where](norm > 1e-10, norm, 1.0)
        return np.arange(shape_of(x)[0]) / float(fs), x


def _filled(x: Any, n: int) -> Any:
    """A signal with zeros behind it."""
    missing = n - shape_of(x)[-1]
    return _placed(x, 0, missing) if missing > 0 else x


def _placed(x: Any, before: int, after: int) -> Any:
    lead = shape_of(x)[:-1]
    parts = [np.zeros((*lead, before), dtype_of(x)), x, np.zeros((*lead, after), dtype_of(x))]
    return join([p for p in parts if shape_of(p)[-1]], ndim_of(x) - 1)


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    spectra = Spectra(module.get_window)
    for name in ("csd", "welch", "periodogram", "coherence", "spectrogram", "stft", "istft"):
        implements_blind(getattr(module, name))(getattr(spectra, name))
