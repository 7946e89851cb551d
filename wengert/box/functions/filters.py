"""Functions of scipy.signal: convolutions and linear filters.

Everything is a convolution (op `convolve_nd`), a recursive filter (op `recursive_filter`), or a composition of both. A
linear filter with coefficients b and a that starts in the state zᵢ satisfies, as power series in the delay,
A·Y = B·X + Zᵢ − (delay)ⁿ·Z_f; so does the filter here, with derivatives in all of b, a, x and zᵢ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.images import back, convolve1d, floating, last
from wengert.box.functions.operands import answer, array, cast, join, part, unsupported_option
from wengert.box.functions.products import conj
from wengert.imported import when_imported
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.filters import convolve_nd, recursive_filter
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.types import dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------------ convolutions


def _swapped_if_needed(a: Any, v: Any, mode: str, axes: Any) -> tuple[Any, Any, bool]:
    """In mode "valid" the larger one comes first."""
    if mode != "valid":
        return a, v, False
    pairs = [(shape_of(a)[k], shape_of(v)[k]) for k in axes]
    if all(n >= m for n, m in pairs):
        return a, v, False
    if all(m >= n for n, m in pairs):
        return v, a, True
    raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")


def _by_mode(a: Any, v: Any, mode: str, axes: tuple[int, ...]) -> Any:
    """Convolution of arrays of one rank along some axes; the others broadcast. "same" is centred, in the shape of a."""
    if mode not in ("full", "valid", "same"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    n, rank = ndim_of(a), len(axes)
    order = (*[k for k in range(n) if k not in axes], *axes)
    moved = [x if order == tuple(range(n)) else s.transpose(x, axes=order) for x in (a, v)]
    if mode != "same":
        y = convolve_nd(*moved, rank=rank, mode=mode)
    else:
        y = convolve_nd(*moved, rank=rank, mode="full")
        sizes = [(shape_of(a)[k], shape_of(v)[k]) for k in axes]
        y = index(y, pattern=(..., *[slice((m - 1) // 2, (m - 1) // 2 + k) for k, m in sizes]))
    return y if order == tuple(range(n)) else s.transpose(y, axes=tuple(np.argsort(order).tolist()))


def _pair(in1: Any, in2: Any) -> tuple[Any, Any]:
    a, v = array(in1), array(in2)
    if ndim_of(a) != ndim_of(v):
        raise ValueError("in1 and in2 should have the same dimensionality")
    return a, v


def _of_one_type(in1: Any, in2: Any) -> tuple[Any, Any]:
    """In the type of the result, which integers keep where SciPy does not go through Fourier's transformation."""
    a, v = _pair(in1, in2)
    dtype = np.result_type(dtype_of(a), dtype_of(v))
    if dtype in (np.bool_, np.float16):
        raise ValueError(f"convolution is not available for the type {dtype}")
    return cast(a, dtype), cast(v, dtype)


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    a, v = _of_one_type(in1, in2)
    if not ndim_of(a):
        return a * v
    axes = tuple(range(ndim_of(a)))
    a, v, _ = _swapped_if_needed(a, v, mode, axes)
    return _by_mode(a, v, mode, axes)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution with the second array reversed and conjugated; one that was exchanged is reversed afterwards."""
    a, v = _of_one_type(in1, in2)
    if not ndim_of(a):
        return a * conj(v)
    axes = tuple(range(ndim_of(a)))
    a, v, swapped = _swapped_if_needed(a, v, mode, axes)
    y = _by_mode(a, s.flip(conj(v), axis=axes), mode, axes)
    return s.flip(conj(y), axis=axes) if swapped else y


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    a, v = floating(*_pair(in1, in2))
    n = ndim_of(a)
    if not n:
        return a * v
    along = tuple(range(n)) if axes is None else tuple(sorted(normalize_axis_tuple(axes, n)))
    a, v, _ = _swapped_if_needed(a, v, mode, along)
    return _by_mode(a, v, mode, along)


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    a, v, _ = _swapped_if_needed(*_of_one_type(in1, in2), mode, (0, 1))
    return _in_the_plane(a, v, mode, boundary, fillvalue, [(m - 1) // 2 for m in shape_of(v)])


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    a, v, swapped = _swapped_if_needed(*_of_one_type(in1, in2), mode, (0, 1))
    v = s.flip(conj(v), axis=(0, 1))
    y = _in_the_plane(a, v, mode, boundary, fillvalue, [m // 2 for m in shape_of(v)])
    return s.flip(y, axis=(0, 1)) if swapped else y


_BOUNDARIES = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}


def _in_the_plane(a: Any, v: Any, mode: str, boundary: str, fillvalue: Any, middle: list[int]) -> Any:
    """Convolution in two axes; in mode "same" what begins at `middle` of the full one."""
    if mode == "valid":
        return _by_mode(a, v, mode, (0, 1))
    if mode not in ("full", "same"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    widths = [(m - 1, m - 1) for m in shape_of(v)]
    if boundary in _BOUNDARIES:
        y = _by_mode(FUNCTIONS[np.pad](a, widths, _BOUNDARIES[boundary]), v, "valid", (0, 1))
    elif boundary not in ("fill", "pad"):
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    elif isinstance(fillvalue, Traced) or np.any(fillvalue):
        fillvalue = cast(array(fillvalue), dtype_of(a))
        y = _by_mode(FUNCTIONS[np.pad](a, widths, constant_values=fillvalue), v, "valid", (0, 1))
    else:
        y = _by_mode(a, v, "full", (0, 1))
    if mode == "same":
        y = index(y, pattern=tuple([slice(k, k + n) for k, n in zip(middle, shape_of(a), strict=True)]))
    return y


# ---------------------------------------------------------------------------------------------------- linear filters


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    b, a, x = (array(v) for v in (b, a, x))
    b, a = (s.reshape(v, shape=(1,)) if ndim_of(v) == 0 else v for v in (b, a))
    start = [] if zi is None else [array(zi)]
    b, a, x, *start = floating(b, a, x, *start)
    axis = normalize_axis_index(axis, ndim_of(x))
    x = last(x, axis)
    y, rest = _filtered(b, a, x, last(start[0], axis) if start else None)
    return back(y, axis) if zi is None else (back(y, axis), back(rest, axis))


def _filtered(b: Any, a: Any, x: Any, zi: Any) -> tuple[Any, Any]:
    """Along the last axis: the filtered signal, and the final state (`None` without an initial one)."""
    lead, n = shape_of(x)[:-1], shape_of(x)[-1]
    k = max(shape_of(a)[0], shape_of(b)[0]) - 1
    driven = convolve_nd(x, b, rank=1, mode="full")
    if zi is not None:
        zi = s.broadcast_to(zi, shape=(*lead, k)) * index(a, pattern=(0,))  # SciPy's states are those of a₀ = 1
        driven = _longer(driven, n + k) + _longer(zi, n + k)
    y = recursive_filter(a, index(driven, pattern=(..., slice(0, n))))
    if zi is None:
        return y, None
    rest = driven - _longer(convolve_nd(y, a, rank=1, mode="full"), n + k)
    return y, index(rest, pattern=(..., slice(n, n + k))) / index(a, pattern=(0,))


def _longer(x: Any, n: int) -> Any:
    missing = n - shape_of(x)[-1]
    zeros = np.zeros((*shape_of(x)[:-1], missing), dtype_of(x))
    return join([x, zeros], ndim_of(x) - 1) if missing > 0 else x


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    sos, x = array(sos), array(x)
    start = [] if zi is None else [array(zi)]
    sos, x, *start = floating(sos, x, *start)
    axis = normalize_axis_index(axis, ndim_of(x))
    if ndim_of(sos) != 2 or shape_of(sos)[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    y, states = last(x, axis), []
    for k in range(shape_of(sos)[0]):
        b, a = index(sos, pattern=(k, slice(0, 3))), index(sos, pattern=(k, slice(3, 6)))
        y, state = _filtered(b, a, y, last(index(start[0], pattern=(k,)), axis) if start else None)
        states.append(None if state is None else back(state, axis))
    y = back(y, axis)
    return y if zi is None else (y, FUNCTIONS[np.stack](states))


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
    return back(index(y, pattern=(..., slice(0, ((n - 1) * up + shape_of(h)[0] - 1) // down + 1))), axis)


# ------------------------------------------------------------------------------------------- smoothing and detrending


def _along_axis(matrix: Any, x: Any, axis: int) -> Any:
    return back(matmul(last(x, axis), np.asarray(matrix.T, dtype_of(x))), axis)


def _savgol(original: Any, coefficients: Any) -> Any:
    def savgol_filter(
        x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1,
        mode: str = "interp", cval: float = 0.0,
    ) -> Any:  # fmt: skip
        (x,) = floating(array(x))
        x = cast(x, np.float64) if dtype_of(x).kind == "c" else x  # as SciPy does, with NumPy's warning
        axis = normalize_axis_index(axis, ndim_of(x))
        weights = coefficients(window_length, polyorder, deriv=deriv, delta=delta)
        if mode != "interp":
            return convolve1d(x, weights, axis=axis, mode=mode, cval=cval)
        n, half = shape_of(x)[axis], window_length // 2
        if window_length > n:
            raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
        y = convolve1d(x, weights, axis=axis, mode="constant")
        # Near the ends: the polynomial fitted to the outermost window, a linear map of what lies in it.
        edges = original(np.eye(window_length), window_length, polyorder, deriv, delta, axis=0)
        left = _along_axis(edges[:half], part(x, axis, slice(0, window_length)), axis)
        right = _along_axis(edges[window_length - half :], part(x, axis, slice(n - window_length, n)), axis)
        return join([left, part(y, axis, slice(half, n - half)), right], axis)

    return savgol_filter


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0) -> Any:
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    (x,) = floating(array(data))
    axis = normalize_axis_index(axis, ndim_of(x))
    n = shape_of(x)[axis]
    if type in ("constant", "c"):
        return x - FUNCTIONS[np.mean](x, axis=axis, keepdims=True)
    x = last(x, axis)
    breaks = np.unique(np.concatenate([[0], np.ravel(bp), [n]])).astype(int)
    if np.any(breaks > n):
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    pieces = []
    for start, stop in zip(breaks[:-1].tolist(), breaks[1:].tolist(), strict=True):
        piece = index(x, pattern=(..., slice(start, stop)))
        m = stop - start
        basis = np.linalg.qr(np.stack([np.arange(1, m + 1) / m, np.ones(m)], axis=1))[0].astype(dtype_of(x))
        pieces.append(piece - matmul(matmul(piece, basis), basis.T))
    return back(join(pieces, ndim_of(x) - 1), axis)


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    for implementation in (
        convolve, correlate, fftconvolve, convolve2d, correlate2d, lfilter, sosfilt, lfilter_zi, upfirdn, detrend,
    ):  # fmt: skip
        implements_blind(getattr(module, implementation.__name__))(implementation)
    implements_blind(module.oaconvolve)(fftconvolve)
    implements_blind(module.savgol_filter)(_savgol(module.savgol_filter, module.savgol_coeffs))
