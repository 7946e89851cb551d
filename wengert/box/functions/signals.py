"""Functions of scipy.signal that are put together from filters and Fourier transforms: zero-phase filters, resampling.

They are linear in the signal, and the filters among them are differentiable in their coefficients too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.filters import lfilter, sosfilt
from wengert.box.functions.images import back, floating, last
from wengert.box.functions.operands import answer, array, join, part, stacked, unsupported_option
from wengert.imported import when_imported
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.filters import convolve_nd, recursive_filter
from wengert.ops.index import index
from wengert.types import dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------- continued signals


def continued(x: Any, n: int, kind: str | None) -> Any:
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


# ------------------------------------------------------------------------------------------------ zero-phase filtering


def lfilter_zi(b: Any, a: Any) -> Any:
    """The state in which a filter answers a step with a constant: in closed form, by sums of the coefficients."""
    b, a = (s.reshape(v, shape=(1,)) if ndim_of(v) == 0 else v for v in (array(b), array(a)))
    skipped = int(answer(lambda v: np.flatnonzero(v)[0] if np.any(v) else 0, a))
    a = index(a, pattern=(slice(skipped, None),))
    b, a = floating(b, a)
    first = index(a, pattern=(0,))
    n = max(shape_of(a)[0], shape_of(b)[0])
    b, a = (_longer(v / first, n) for v in (b, a))
    rest = index(b, pattern=(slice(1, None),)) - index(a, pattern=(slice(1, None),)) * index(b, pattern=(0,))
    start = s.sum(rest, axis=(0,)) / s.sum(a, axis=(0,))
    grown = r.cumsum(index(a, pattern=(slice(0, n - 1),)), axis=0)  # 1, 1 + a₁, …
    before = join([rest[:1] * 0, r.cumsum(rest, axis=0)[:-1]], 0) if n > 1 else rest
    return grown * start - before


def _longer(x: Any, n: int) -> Any:
    missing = n - shape_of(x)[0]
    return join([x, np.zeros(missing, dtype_of(x))], 0) if missing > 0 else x


def sosfilt_zi(sos: Any) -> Any:
    (sos,) = floating(array(sos))
    scale: Any = 1.0
    states = []
    for k in range(shape_of(sos)[0]):
        b, a = index(sos, pattern=(k, slice(0, 3))), index(sos, pattern=(k, slice(3, 6)))
        states.append(scale * lfilter_zi(b, a))
        scale = scale * s.sum(b, axis=(0,)) / s.sum(a, axis=(0,))
    return stacked(states, 0)


def _there_and_back(run: Any, x: Any, axis: int, padtype: Any, edge: int) -> Any:
    """A filter forwards and backwards. `run(x, first)` filters along the last axis, from equilibrium at `first`."""
    n = shape_of(x)[axis]
    if n <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    y = continued(last(x, axis), edge, padtype)
    for _ in range(2):
        end = ndim_of(y) - 1
        y = s.flip(run(y, part(y, end, slice(0, 1))), axis=(end,))
    y = part(y, ndim_of(y) - 1, slice(edge, n + edge)) if edge else y
    return back(y, axis)


def filtfilt(
    b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None, method: str = "pad",
    irlen: Any = None,
) -> Any:  # fmt: skip
    if method != "pad":
        raise unsupported_option("scipy.signal.filtfilt", f"method={method!r}", "use method='pad'")
    b, a, x = floating(*[s.reshape(v, shape=(1,)) if ndim_of(v) == 0 else v for v in (array(b), array(a), array(x))])
    axis = normalize_axis_index(axis, ndim_of(x))
    edge = 3 * max(shape_of(a)[0], shape_of(b)[0]) if padlen is None else padlen
    edge = 0 if padtype is None else edge
    state = lfilter_zi(b, a)
    return _there_and_back(lambda y, first: lfilter(b, a, y, zi=state * first)[0], x, axis, padtype, edge)


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None) -> Any:
    sos, x = floating(array(sos), array(x))
    axis = normalize_axis_index(axis, ndim_of(x))
    taps = 2 * shape_of(sos)[0] + 1
    taps -= int(answer(lambda v: min((v[:, 2] == 0).sum(), (v[:, 5] == 0).sum()), sos))
    edge = 0 if padtype is None else 3 * taps if padlen is None else padlen
    state = sosfilt_zi(sos)
    state = s.reshape(state, shape=(shape_of(state)[0], *[1] * (ndim_of(x) - 1), 2))
    return _there_and_back(
        lambda y, first: sosfilt(sos, y, zi=state * s.reshape(first, shape=(1, *shape_of(first))))[0],
        x, axis, padtype, edge,
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------- analytic signals


def _one_sided(n: int) -> Any:
    h = np.zeros(n)
    h[0] = 1
    h[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        h[n // 2] = 1
    return h


def _real(x: Any) -> Any:
    (x,) = floating(array(x))
    if dtype_of(x).kind == "c":
        raise ValueError("x must be real.")
    return x


def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Any:
    x = _real(x)
    axis = normalize_axis_index(axis, ndim_of(x))
    n = shape_of(x)[axis] if N is None else N
    h = _one_sided(n).astype(dtype_of(x)).reshape([n if k == axis else 1 for k in range(ndim_of(x))])
    return FUNCTIONS[np.fft.ifft](FUNCTIONS[np.fft.fft](x, n, axis) * h, axis=axis)


def _hilbert2(original: Any) -> Any:
    def hilbert2(x: Any, N: Any = None, axes: tuple[int, int] = (-2, -1)) -> Any:
        x = _real(x)
        x = s.reshape(x, shape=(1, *shape_of(x))) if ndim_of(x) == 1 else x
        places = [normalize_axis_index(k, ndim_of(x)) for k in axes]
        sizes = [shape_of(x)[k] for k in places] if N is None else [N, N] if isinstance(N, int) else list(N)
        one = np.zeros(sizes)
        one[0, 0] = 1.0  # its spectrum is one everywhere, and SciPy's answer has the weights of the frequencies
        weights = np.fft.fft2(original(one)).real.round().astype(dtype_of(x))
        shape = [1] * ndim_of(x)
        for k, n in zip(places, sizes, strict=True):
            shape[k] = n
        weights = (weights if places[0] < places[1] else weights.T).reshape(shape)
        return FUNCTIONS[np.fft.ifft2](FUNCTIONS[np.fft.fft2](x, sizes, axes) * weights, axes=axes)

    return hilbert2


# --------------------------------------------------------------------------------------------------------- resampling


def resample(x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time") -> Any:
    if window is not None or domain != "time":
        raise unsupported_option("scipy.signal.resample", "window= or domain=", "leave it out")
    (x,) = floating(array(x))
    axis = normalize_axis_index(axis, ndim_of(x))
    if dtype_of(x).kind == "c":  # it is linear
        y = resample(s.real(x), num, None, axis) + 1j * resample(s.imag(x), num, None, axis)
    else:
        n = shape_of(x)[axis]
        m = min(num, n)
        spectrum = FUNCTIONS[np.fft.rfft](last(x, axis))
        weights = np.full(m // 2 + 1, num / n, dtype_of(x))
        if m % 2 == 0 and num != n:
            weights[m // 2] *= 2 if num < n else 0.5  # a frequency that has no partner, and gets or loses one
        kept = index(spectrum, pattern=(..., slice(0, m // 2 + 1))) * weights
        y = back(FUNCTIONS[np.fft.irfft](kept, num), axis)
    if t is None:
        return y
    t = array(t)
    first, second = index(t, pattern=(0,)), index(t, pattern=(1,))
    return y, first + (second - first) * (shape_of(x)[axis] / num) * np.arange(num)


def _count(taps: int, n: int, up: int, down: int) -> int:
    return ((n - 1) * up + taps - 1) // down + 1


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0) -> Any:
    if mode != "constant" or cval != 0:
        raise unsupported_option("scipy.signal.upfirdn", "mode= or cval=", "pad the signal first")
    h, x = floating(array(h), array(x))
    axis = normalize_axis_index(axis, ndim_of(x))
    y = last(x, axis)
    lead, n = shape_of(y)[:-1], shape_of(y)[-1]
    if up > 1:
        spread = join([s.reshape(y, shape=(*lead, n, 1)), np.zeros((*lead, n, up - 1), dtype_of(y))], len(lead) + 1)
        y = index(s.reshape(spread, shape=(*lead, n * up)), pattern=(..., slice(0, (n - 1) * up + 1)))
    y = convolve_nd(y, h, rank=1, mode="full")
    y = index(y, pattern=(..., slice(None, None, down))) if down > 1 else y
    return back(index(y, pattern=(..., slice(0, _count(shape_of(h)[0], n, up, down)))), axis)


def _resample_poly(firwin: Any) -> Any:
    def resample_poly(
        x: Any, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0), padtype: str = "constant",
        cval: Any = None,
    ) -> Any:  # fmt: skip
        if padtype != "constant" or (cval is not None and cval != 0):
            raise unsupported_option("scipy.signal.resample_poly", "padtype= or cval=", "pad the signal first")
        (x,) = floating(array(x))
        common = math.gcd(up, down)
        up, down = up // common, down // common
        axis = normalize_axis_index(axis, ndim_of(x))
        if up == down == 1:
            return s.copy(x)
        n = shape_of(x)[axis]
        wanted = -(-n * up // down)
        if isinstance(window, (str, tuple)):
            fastest = max(up, down)
            half = 10 * fastest
            h: Any = firwin(2 * half + 1, 1.0 / fastest, window=window).astype(dtype_of(x))
        else:
            h = array(window)
            half = (shape_of(h)[0] - 1) // 2
        before = down - half % down
        after, dropped = 0, (half + before) // down
        while _count(shape_of(h)[0] + before + after, n, up, down) < wanted + dropped:
            after += 1
        h = join([np.zeros(before, dtype_of(x)), up * h, np.zeros(after, dtype_of(x))], 0)
        return part(upfirdn(h, x, up, down, axis), axis, slice(dropped, dropped + wanted))

    return resample_poly


def _decimate(firwin: Any, cheby1: Any) -> Any:
    resample_poly = _resample_poly(firwin)

    def decimate(
        x: Any, q: int, n: int | None = None, ftype: Any = "iir", axis: int = -1, zero_phase: bool = True
    ) -> Any:
        (x,) = floating(array(x))
        axis = normalize_axis_index(axis, ndim_of(x))
        if ftype == "fir":
            b = firwin((20 * q if n is None else n) + 1, 1.0 / q, window="hamming").astype(dtype_of(x))
            if zero_phase:
                return resample_poly(x, 1, q, axis, b)
            return part(upfirdn(b, x, 1, q, axis), axis, slice(0, -(-shape_of(x)[axis] // q)))
        if ftype != "iir":
            raise unsupported_option("scipy.signal.decimate", "a system for ftype", "use 'iir' or 'fir'")
        sos = cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(np.zeros((), dtype_of(x)).real.dtype)
        y = sosfiltfilt(sos, x, axis) if zero_phase else sosfilt(sos, x, axis)
        return part(y, axis, slice(None, None, q))

    return decimate


# ------------------------------------------------------------------------------------------------------ deconvolution


def deconvolve(signal: Any, divisor: Any) -> Any:
    """Quotient and remainder of polynomials: the quotient is what a recursive filter makes of the signal."""
    y, d = floating(array(signal), array(divisor))
    n, m = shape_of(y)[0], shape_of(d)[0]
    if m > n:
        return np.zeros(0), y
    quotient = recursive_filter(d, index(y, pattern=(slice(0, n - m + 1),)))
    return quotient, y - convolve_nd(quotient, d, rank=1, mode="full")


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    for implementation in (lfilter_zi, sosfilt_zi, filtfilt, sosfiltfilt, hilbert, resample, upfirdn):
        implements_blind(getattr(module, implementation.__name__))(implementation)
    implements_blind(module.hilbert2)(_hilbert2(module.hilbert2))
    implements_blind(module.resample_poly)(_resample_poly(module.firwin))
    implements_blind(module.decimate)(_decimate(module.firwin, module.cheby1))
    implements_blind(module.deconvolve)(deconvolve)
