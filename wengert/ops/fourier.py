"""Rows for Fourier, cosine and sine transforms along one axis, whose length they keep.

All are linear, so the only thing to state is the transpose. Padding, cropping and several axes are compositions
(`box/functions/fourier.py`). With the pairing Re(ct·x_dot), which does not conjugate:

    fft, ifft   the DFT matrix is symmetric: its own transpose
    rfft        takes n real numbers to ⌊n/2⌋+1 complex ones; its transpose is Re ∘ fft of the padded cotangent, which
                is an irfft with halved weights
    irfft       the other way round: coefficients that stand for two count twice
    dct, dst    types I and IV are symmetric, II and III each other's transposes, after the scaling (`orthogonalize`)
                that makes them orthogonal; without it up to factors at the ends

`norm` is one of "backward", "ortho", "forward"; a transpose keeps its scale, so norms swap where a transform takes the
place of an inverse one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from wengert.ops import axes, interval_sums, library
from wengert.ops.derive import Linear, linear
from wengert.ops.rounding import Bounds, V, moved
from wengert.ops.shape import astype, conjugate, real
from wengert.ops.traits import LENGTHS, MORE
from wengert.types import dtype_of, shape_of

OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _back_to(ct: Any, x: Any) -> Any:
    """A cotangent in the dtype of what it belongs to: of real numbers it is the real part."""
    if dtype_of(ct).kind == "c" and x.dtype.kind != "c":
        ct = real(ct)
    return ct if dtype_of(ct) == x.dtype else astype(ct, dtype=x.dtype)


def _transform(name: str, impl: Callable, transpose: Callable, **stated: Any) -> Linear:
    """A row for a transform along one axis."""

    def batch(args: Any, mapped: Any, params: dict) -> Any:
        return op(args[0], **{**params, "axis": params["axis"] + 1})

    op = linear(name, impl, transpose, batch=batch, raises=LENGTHS, cost=MORE, axes=axes.kept, **stated)
    return op


def _complex_transform(name: str, function: Callable) -> Linear:
    def transpose(ct: Any, x: Any, axis: int, norm: str) -> Any:
        return _back_to(op(ct, axis=axis, norm=norm), x)

    op = _transform(name, lambda x, axis, norm: function(x, axis=axis, norm=norm), transpose)
    return op


fft = _complex_transform("fft", np.fft.fft)
ifft = _complex_transform("ifft", np.fft.ifft)


def _counts(n: int, axis: int, rank: int, inner: float, ct: Any) -> Any:
    """One for coefficients of a real transform of length n that stand alone, `inner` for those with a mirror."""
    c = library.full(n // 2 + 1, inner, np.float64, ct)
    c[0] = 1.0
    if n % 2 == 0:
        c[-1] = 1.0
    return c.reshape((-1,) + (1,) * (rank - axis - 1))


def _like(c: Any, ct: Any) -> Any:
    """Real constants in the precision of a cotangent."""
    return c.astype(np.float32) if dtype_of(ct).char in "fF" else c


def _rfft_transpose(ct: Any, x: Any, axis: int, norm: str) -> Any:
    n = x.shape[axis]
    halved = conjugate(ct) * _like(_counts(n, axis, len(x.shape), 0.5, ct), ct)
    return _back_to(irfft(halved, n=n, axis=axis, norm=OPPOSITE[norm]), x)


def _irfft_transpose(ct: Any, x: Any, n: int, axis: int, norm: str) -> Any:
    doubled = conjugate(rfft(ct, axis=axis, norm=OPPOSITE[norm])) * _like(_counts(n, axis, len(x.shape), 2.0, ct), ct)
    return _back_to(doubled, x)


rfft = _transform(
    "rfft",
    lambda x, axis, norm: np.fft.rfft(x, axis=axis, norm=norm),
    _rfft_transpose,
)
irfft = _transform(
    "irfft",
    lambda x, n, axis, norm: np.fft.irfft(x, n=n, axis=axis, norm=norm),
    _irfft_transpose,
)
"""Of exactly ⌊n/2⌋+1 coefficients along the axis."""

# --------------------------------------------------------------------------------------------- cosines and sines


def _ends(ct: Any, axis: int, first: float, last: float) -> Any:
    """A cotangent with its first and last element along the axis multiplied."""
    n, rank = ct.shape[axis], len(ct.shape)
    c = library.ones(n, np.float64, ct)
    c[0] *= first
    c[-1] *= last
    return ct * _like(c.reshape((-1,) + (1,) * (rank - axis - 1)), ct)


_PARTNERS = {1: 1, 2: 3, 3: 2, 4: 4}
"""The transpose of a transform of one type is that of another, but for factors of the first and the last element."""


def _transpose(transform: Callable, before: dict, after: dict) -> Callable:
    """That of a transform, with these factors by the type, unless it is orthogonal."""

    def transpose(ct: Any, x: Any, type: int, axis: int, norm: str, orthogonalize: bool) -> Any:
        ct = _ends(ct, axis, *before[type]) if type in before and not orthogonalize else ct
        y = transform()(ct, type=_PARTNERS[type], axis=axis, norm=norm, orthogonalize=orthogonalize)
        return _back_to(_ends(y, axis, *after[type]) if type in after and not orthogonalize else y, x)

    return transpose


_CLOSE = 16 * float(np.finfo(float).eps)


def _by_matrix(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """A real transform as a product with its matrix, whose elements are what it makes of unit vectors, nearly."""
    x, axis = mode.bounds(args[0]), params["axis"]
    shape = shape_of(x.lo)
    n, single = shape[axis], dtype_of(x.lo) == np.float32
    matrix = op.impl(np.eye(n), **{**params, "axis": 0}).T
    room = _CLOSE * (math.log2(n) + 1) * np.abs(matrix).max()
    order = [k for k in range(len(shape)) if k != axis] + [axis]
    wide = [V.astype(b, dtype=np.dtype(float)) if dtype_of(b) != np.float64 else b for b in x]
    rows = Bounds(*[V.transpose(b, axes=tuple(order)) for b in wide])
    y = interval_sums.matmul(rows, Bounds(matrix - room, matrix + room))
    back = tuple([order.index(k) for k in range(len(shape))])
    low, high = [V.transpose(b, axes=back) for b in y]
    if single:
        low, high = [moved(V.astype(b, dtype=np.dtype(np.float32)), way) for b, way in ((low, -1), (high, 1))]
    return mode.enclosed(Bounds(low, high))


def _real_transform(name: str, transpose: Callable) -> Linear:
    function = getattr(scipy.fft, name)

    def impl(x: Any, type: int, axis: int, norm: str, orthogonalize: bool) -> Any:
        return function(x, type=type, axis=axis, norm=norm, orthogonalize=orthogonalize)

    return _transform(name, impl, transpose, shape=lambda x, **params: x.shape, bounds=_by_matrix)


dct = _real_transform(
    "dct", _transpose(lambda: dct, {1: (2.0, 2.0), 2: (2.0, 1.0)}, {1: (0.5, 0.5), 3: (0.5, 1.0)})
)  # (of type 1 the inner columns count twice)
dst = _real_transform("dst", _transpose(lambda: dst, {2: (1.0, 2.0)}, {3: (1.0, 0.5)}))
