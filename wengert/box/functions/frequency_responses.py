"""Frequency responses of filters: what they do to each frequency, given their coefficients or zeros and poles.

A response is a quotient of two polynomials in z = exp(iω) (`freqz`) or s = iω (`freqs`). In powers of exp(−iω) a
polynomial is a product with a matrix, so a filter with a thousand taps is one operation and not a thousand.
"""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.filters import convolve
from wengert.box.functions.images import floating
from wengert.box.functions.operands import answer, array, cast, common_answer, demand, unsupported_option
from wengert.box.functions.products import conj
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of

_TURN = 2 * math.pi


def _vector(x: Any) -> Any:
    x = array(x)
    return s.reshape(x, shape=(1,)) if ndim_of(x) == 0 else x


def _real_of(dtype: Any) -> Any:
    return np.zeros((), dtype).real.dtype


def _count(wanted: Any, default: int) -> int | None:
    """How many frequencies are asked for; `None` if they are given."""
    if wanted is None:
        return default
    if isinstance(wanted, Traced):
        return None
    try:
        count = operator.index(wanted)
    except TypeError:
        return None
    if count < 0:
        raise ValueError(f"worN must be nonnegative, got {count}")
    return count


def _angles(wanted: Any, whole: bool, rate: Any, dtype: Any, endpoint: bool = False) -> Any:
    """Frequencies in radians a sample: so many on the circle or half of it, or those that are given."""
    count = _count(wanted, 512)
    if count is None:
        (w,) = floating(_vector(wanted))
        return _TURN * w / rate
    return np.linspace(0, _TURN if whole else math.pi, count, endpoint=endpoint and not whole, dtype=dtype)


def _of_delays(c: Any, w: Any) -> Any:
    """Σₖ c[k] exp(−iωk); further axes of the coefficients are broadcast against the frequencies."""
    c = s.reshape(c, shape=(*shape_of(c), 1)) if ndim_of(c) == 1 else c
    taps = np.arange(shape_of(c)[0], dtype=_real_of(dtype_of(w))).reshape(-1, *[1] * (ndim_of(c) - 1))
    return s.sum(c * e.exp(-1j * (taps * w)), axis=(0,))


def _powers(c: Any, z: Any) -> Any:
    """A polynomial whose coefficients begin with the highest power, by Horner's rule."""
    y = z * 0 + index(c, pattern=(0,))
    for k in range(1, shape_of(c)[0]):
        y = y * z + index(c, pattern=(k,))
    return y


def _of_roots(roots: Any, z: Any) -> Any:
    y: Any = z * 0 + 1
    for k in range(shape_of(roots)[0]):
        y = y * (z - index(roots, pattern=(k,)))
    return y


def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, plot: Any = None, fs: Any = _TURN,
    include_nyquist: bool = False,
) -> Any:  # fmt: skip
    b, a = floating(_vector(b), _vector(a))
    w = _angles(worN, whole, fs, _real_of(dtype_of(b)), include_nyquist)
    h = _of_delays(b, w) / _of_delays(a, w)
    w = w * (fs / _TURN)
    if plot is not None:
        plot(w, h)
    return w, h


def freqz_sos(sos: Any, worN: Any = 512, whole: bool = False, fs: Any = _TURN) -> Any:
    (sos,) = floating(array(sos))
    if ndim_of(sos) != 2 or shape_of(sos)[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not shape_of(sos)[0]:
        raise ValueError("Cannot compute frequencies with no sections")
    w: Any = None
    h: Any = 1.0
    for k in range(shape_of(sos)[0]):
        row = index(sos, pattern=(k,))
        w, one = freqz(row[:3], row[3:], worN, whole, fs=fs)
        h = h * one
    return w, h


def freqz_zpk(z: Any, p: Any, k: Any, worN: Any = 512, whole: bool = False, fs: Any = _TURN) -> Any:
    z, p = floating(_vector(z), _vector(p))
    w = _angles(worN, whole, fs, _real_of(dtype_of(z)))
    on_circle = e.exp(1j * w)
    return w * (fs / _TURN), k * _of_roots(z, on_circle) / _of_roots(p, on_circle)


def _analog(found: Any) -> tuple[Any, Any]:
    """`freqs` and `freqs_zpk`; `found(b, a, n, kind=)` chooses frequencies if only their number is given."""

    def frequencies(wanted: Any, first: Any, second: Any, kind: str) -> Any:
        count = _count(wanted, 200)
        if count is None:
            return floating(_vector(wanted))[0]
        return answer(lambda *c: found(*c, count, kind=kind), first, second)

    def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> Any:
        b, a = floating(_vector(b), _vector(a))
        w = frequencies(worN, b, a, "ba")
        h = _powers(b, 1j * w) / _powers(a, 1j * w)
        if plot is not None:
            plot(w, h)
        return w, h

    def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = 200) -> Any:
        z, p = floating(_vector(z), _vector(p))
        w = frequencies(worN, z, p, "zp")
        return w, k * _of_roots(z, 1j * w) / _of_roots(p, 1j * w)

    return freqs, freqs_zpk


def group_delay(system: Any, w: Any = 512, whole: bool = False, fs: Any = _TURN) -> Any:
    """−d arg h / dω: the mean delay of the taps of b ∗ reversed a, weighted by what each does to the frequency."""
    b, a = floating(*[_vector(c) for c in system])
    taps = convolve(b, conj(s.flip(a, axis=(0,))))
    w = _angles(w, whole, fs, _real_of(dtype_of(b)))
    delays = np.arange(shape_of(taps)[0], dtype=_real_of(dtype_of(taps)))
    whole_response = _of_delays(taps, w)
    delay = s.real(_of_delays(taps * delays, w) / whole_response) - (shape_of(a)[0] - 1)
    regular = e.isfinite(delay)
    if not isinstance(regular, Traced) and not np.all(regular):
        warnings.warn("The group delay is singular at some frequencies, setting to 0", stacklevel=2)
    return w * (fs / _TURN), e.where(regular, delay, 0.0)


def normalize(b: Any, a: Any) -> Any:
    """Both polynomials divided by the first coefficient of the denominator, without leading zeros."""
    b, a = floating(array(b), _vector(a))
    if ndim_of(a) != 1:
        raise ValueError("Denominator polynomial must be rank-1 array.")
    if ndim_of(b) > 2:
        raise ValueError("Numerator polynomial must be rank-1 or rank-2 array.")
    skipped = _leading(a, lambda v: v == 0)
    if skipped == shape_of(a)[0]:
        raise ValueError("Denominator must have at least on nonzero element.")
    a = index(a, pattern=(slice(skipped, None),))
    first = index(a, pattern=(0,))
    rows = s.reshape(b, shape=(1, math.prod(shape_of(b)))) if ndim_of(b) < 2 else b
    rows, a = rows / first, a / first
    dropped = min(_leading(s.transpose(rows, axes=(1, 0)), lambda v: np.abs(v) <= 1e-14), shape_of(rows)[1] - 1)
    rows = index(rows, pattern=(slice(None), slice(dropped, None)))
    return (index(rows, pattern=(0,)) if shape_of(rows)[0] == 1 else rows), a


def tf2zpk(b: Any, a: Any) -> Any:
    b, a = normalize(b, a)
    gain = index(b, pattern=(0,))
    return FUNCTIONS[np.roots](b / gain), FUNCTIONS[np.roots](a), gain


def zpk2tf(z: Any, p: Any, k: Any) -> Any:
    z, p = array(z), array(p)
    if ndim_of(z) > 1:
        raise unsupported_option("scipy.signal.zpk2tf", "several rows of zeros", "take one row after the other")
    gain = k if ndim_of(k) == 0 else index(array(k), pattern=(0,))
    return gain * FUNCTIONS[np.poly](z), FUNCTIONS[np.poly](p)


def sos2tf(sos: Any) -> Any:
    (sos,) = floating(array(sos))
    b: Any = np.ones(1, dtype_of(sos))
    a: Any = b
    for k in range(shape_of(sos)[0]):
        row = index(sos, pattern=(k,))
        b, a = convolve(b, row[:3]), convolve(a, row[3:])
    return b, a


def _leading(c: Any, vanishes: Any) -> int:
    """How many rows at the beginning vanish: it decides on shapes, so compiled programs demand none."""
    if running.state.capture is not None and isinstance(c, Traced):
        first = index(c, pattern=(0,))
        demand(
            FUNCTIONS[np.any](e.absolute(first) > 1e-14),
            "in a compiled function, the first coefficient of a filter must not be 0",
        )
        return 0
    return int(common_answer(lambda v: [*[bool(np.all(vanishes(row))) for row in v], False].index(False), c))


def vectorstrength(events: Any, period: Any) -> Any:
    """The length and the angle of the mean of exp(2πi t / period)."""
    events, period = floating(array(events), array(period))
    if ndim_of(events) > 1 or ndim_of(period) > 1:
        raise ValueError("events and period cannot have dimensions more than 1")
    demand(period > 0, "periods must be positive")
    turns = _vector(events) / s.reshape(period, shape=(*shape_of(period), 1))
    mean = FUNCTIONS[np.mean](e.exp(2j * math.pi * turns), axis=-1)
    return FUNCTIONS[np.absolute](mean), FUNCTIONS[np.angle](mean)


def gauss_spline(x: Any, n: Any) -> Any:
    if isinstance(n, Traced):
        raise unsupported_option("scipy.signal.gauss_spline", "a traced order", "the order is an integer")
    variance = (n + 1) / 12.0
    (x,) = floating(array(x))
    return e.exp(x * x * (-0.5 / variance)) * (1 / math.sqrt(_TURN * variance))


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """The state of a filter that has given y and was given x, the latest first."""
    b, a, y = floating(_vector(b), _vector(a), _vector(y))
    kept_x, kept_y = shape_of(b)[0] - 1, shape_of(a)[0] - 1
    x = np.zeros(kept_x) if x is None else _vector(x)
    b, a, y, x = floating(b, a, y, x)
    size = max(kept_x, kept_y)
    past_x, past_y = _long_enough(x, kept_x), _long_enough(y, kept_y)
    states: Any = np.zeros(size, dtype_of(b))
    for taps, past, kept, sign in ((b, past_x, kept_x, 1), (a, past_y, kept_y, -1)):
        for lag in range(kept):  # the sample of this lag reaches the states 0 … kept − lag − 1
            reach = sign * index(past, pattern=(lag,)) * index(taps, pattern=(slice(lag + 1, kept + 1),))
            states = states + _long_enough(reach, size)
    return states / index(a, pattern=(0,))


def _long_enough(x: Any, n: int) -> Any:
    have = shape_of(x)[0]
    if have >= n:
        return index(x, pattern=(slice(0, n),))
    return FUNCTIONS[np.concatenate]([x, cast(np.zeros(n - have), dtype_of(x))])


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    for implementation in (
        freqz, freqz_zpk, group_delay, normalize, tf2zpk, zpk2tf, sos2tf, vectorstrength, gauss_spline, lfiltic,
    ):  # fmt: skip
        implements_blind(getattr(module, implementation.__name__))(implementation)
    for name in ("sosfreqz", "freqz_sos"):  # the newer name is that of SciPy 1.15
        if hasattr(module, name):
            implements_blind(getattr(module, name))(freqz_sos)
    for implementation in _analog(module.findfreqs):
        implements_blind(getattr(module, implementation.__name__))(implementation)
