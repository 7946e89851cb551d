"""Rows for filters: convolution in any number of axes, recursive filters, the prefilter of spline interpolation.

`convolve_nd(a, v, rank=…, mode=…)` convolves the last `rank` axes; the axes before them broadcast. It is linear in each
factor, and its transposes are convolutions again. Boundaries other than zeros are made by padding first.

`recursive_filter(a, x)` is the solution y of a₀yₙ + a₁yₙ₋₁ + … = xₙ along the last axis: multiplication by the inverse
of a lower triangular Toeplitz matrix. That matrix is its own transpose if rows and columns are both reversed, so the
transpose of the filter is the filter, run backwards. Every linear filter is a convolution followed by it.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import scipy.fft
from scipy.linalg import lapack

from wengert.ops import axes, interval_sums, interval_systems, library
from wengert.ops.derive import align, general, linear, multilinear, unfit
from wengert.ops.enclosures import composed
from wengert.ops.index import index
from wengert.ops.links import convolution_links, filter_links
from wengert.ops.products import matmul
from wengert.ops.shape import broadcast_to, flip, reshape, transpose
from wengert.ops.traits import MORE, NEVER
from wengert.types import ndim_of, shape_of

# ------------------------------------------------------------------------------------------------------- convolution

FFT_PAYS = 400
"""From this many elements of the smaller factor on, convolution by Fourier transformation is quicker."""


def _convolve_nd(a: Any, v: Any, rank: int, mode: str) -> Any:
    a, v = library.together([a, v]) or [x if library.is_foreign(x) else np.asarray(x) for x in (a, v)]
    if mode == "full" and math.prod(v.shape[v.ndim - rank :]) > math.prod(a.shape[a.ndim - rank :]):
        a, v = v, a
    shape = _convolve_nd_shape(a, v, rank, mode)
    dtype = np.result_type(a, v)
    if rank == a.ndim == v.ndim == 1:
        return np.convolve(a, v, mode)  # type: ignore[call-overload]
    if math.prod(v.shape[v.ndim - rank :]) >= FFT_PAYS and dtype.kind in "fc":
        return _by_fft(a, v, rank, mode, shape)
    y = library.zeros(shape, dtype, a)
    own, other = a.shape[a.ndim - rank :], v.shape[v.ndim - rank :]
    for place in itertools.product(*map(range, other)):
        factor = np.reshape(v[(..., *place)], (*v.shape[: v.ndim - rank], *[1] * rank))
        if mode == "full":
            window: Any = (..., *[slice(k, k + n) for k, n in zip(place, own, strict=True)])
            y[window] += factor * a
        else:
            start = [m - 1 - k for m, k in zip(other, place, strict=True)]
            y += factor * a[(..., *[slice(k, k + n) for k, n in zip(start, shape[len(shape) - rank :], strict=True)])]
    return y


def _by_fft(a: Any, v: Any, rank: int, mode: str, shape: tuple[int, ...]) -> Any:
    axes = tuple(range(-rank, 0))
    own, other = a.shape[a.ndim - rank :], v.shape[v.ndim - rank :]
    real = a.dtype.kind != "c" and v.dtype.kind != "c"
    size = [scipy.fft.next_fast_len(n + m - 1, real) for n, m in zip(own, other, strict=True)]
    own_fft: Any = np.fft if library.is_foreign(a) else scipy.fft
    forward, back = (own_fft.rfftn, own_fft.irfftn) if real else (own_fft.fftn, own_fft.ifftn)
    y = back(forward(a, size, axes=axes) * forward(v, size, axes=axes), size, axes=axes)
    start = [0 if mode == "full" else m - 1 for m in other]
    place = [slice(k, k + n) for k, n in zip(start, shape[len(shape) - rank :], strict=True)]
    return y[(..., *place)].astype(np.result_type(a, v), copy=False)


def _convolve_nd_shape(a: Any, v: Any, rank: int, mode: str) -> tuple[int, ...]:
    lead = np.broadcast_shapes(a.shape[: len(a.shape) - rank], v.shape[: len(v.shape) - rank])
    pairs = zip(a.shape[len(a.shape) - rank :], v.shape[len(v.shape) - rank :], strict=True)
    return (*lead, *[n + m - 1 if mode == "full" else n - m + 1 for n, m in pairs])


def _reversed(x: Any, rank: int) -> Any:
    n = ndim_of(x)
    return flip(x, axis=tuple(range(n - rank, n)))


def _convolve_nd_left(ct: Any, a: Any, v: Any, rank: int, mode: str) -> Any:
    part = convolve_nd(ct, _reversed(v, rank), rank=rank, mode="valid" if mode == "full" else "full")
    return unfit(part, a.shape, a.dtype)


def _convolve_nd_right(ct: Any, a: Any, v: Any, rank: int, mode: str) -> Any:
    if mode == "full":
        part = convolve_nd(ct, _reversed(a, rank), rank=rank, mode="valid")
    else:
        part = _reversed(convolve_nd(a, _reversed(ct, rank), rank=rank, mode="valid"), rank)
    return unfit(part, v.shape, v.dtype)


convolve_nd = multilinear(
    "convolve_nd",
    _convolve_nd,
    (_convolve_nd_left, _convolve_nd_right),
    batch=lambda args, mapped, params: convolve_nd(*align(args, mapped), **params),
    shape=_convolve_nd_shape,
    raises=NEVER,
    cost=MORE,
    links=convolution_links,
    bounds=composed(interval_sums.convolve),
)
"""Mode "full", or "valid" with `a` at least as long as `v` in each axis."""

# -------------------------------------------------------------------------------------------------- recursive filters

_SOLVERS = {"f": lapack.stbtrs, "d": lapack.dtbtrs, "F": lapack.ctbtrs, "D": lapack.ztbtrs}


def _recursive_filter(a: Any, x: Any) -> Any:
    a, x = np.asarray(a), np.asarray(x)
    dtype = np.result_type(a, x, np.float32)
    shape = np.broadcast_shapes(a.shape[:-1], x.shape[:-1]) + x.shape[-1:]
    n = shape[-1]
    if not n or not math.prod(shape):
        return np.zeros(shape, dtype)
    if a.ndim == 1:
        return _solve_toeplitz(a, x.reshape(-1, n), dtype).reshape(shape)
    a = np.broadcast_to(a, (*shape[:-1], a.shape[-1])).reshape(-1, a.shape[-1])
    x = np.broadcast_to(x, shape).reshape(-1, 1, n)
    return np.stack([_solve_toeplitz(c, lane, dtype) for c, lane in zip(a, x, strict=True)]).reshape(shape)


def _solve_toeplitz(a: Any, lanes: Any, dtype: np.dtype) -> Any:
    n = lanes.shape[1]
    band = np.repeat(a[: min(len(a), n), None], n, axis=1).astype(dtype, order="F")
    if dtype.char not in _SOLVERS:
        dtype = np.dtype(np.float64 if dtype.kind == "f" else np.complex128)
    y, info = _SOLVERS[dtype.char](band, lanes.T.astype(dtype, order="F"), uplo="L", overwrite_b=1)
    if info > 0:
        return np.full(lanes.shape, np.nan, dtype)  # the first coefficient is zero
    return y.T


def _beginning(x: Any, n: int) -> Any:
    return index(x, pattern=(..., slice(0, n)))


def _recursive_in_a(a_dot: Any, y: Any, a: Any, x: Any) -> Any:
    n = shape_of(y)[-1]
    return recursive_filter(a, -_beginning(convolve_nd(y, a_dot, rank=1, mode="full"), n))


def _recursive_transpose(ct: Any, a: Any, x: Any) -> Any:
    return unfit(_reversed(recursive_filter(a, _reversed(ct, 1)), 1), x.shape, x.dtype)


recursive_filter = general(
    "recursive_filter",
    _recursive_filter,
    (
        _recursive_in_a,
        lambda x_dot, y, a, x: broadcast_to(recursive_filter(a, x_dot), shape=shape_of(y)),
    ),
    transposes={1: _recursive_transpose},
    batch=lambda args, mapped, params: recursive_filter(*_aligned_lanes(args, mapped)),
    shape=lambda a, x: np.broadcast_shapes(a.shape[:-1], x.shape[:-1]) + x.shape[-1:],
    raises=NEVER,
    cost=MORE,
    links=filter_links,
    solves=True,
    bounds=interval_systems.recursive_filter,
)


def _aligned_lanes(args: Any, mapped: Any) -> Any:
    rank = max(ndim_of(a) - m for a, m in zip(args, mapped, strict=True))
    aligned = []
    for a, m in zip(args, mapped, strict=True):
        shape = shape_of(a)
        if m:
            a = reshape(a, shape=shape[:1] + (1,) * (rank - len(shape) + 1) + shape[1:])
        aligned.append(a)
    return aligned


# -------------------------------------------------------------------------------------------- the prefilter of splines


_SYMMETRIC = ("reflect", "nearest", "grid-wrap", "grid-mirror")
"""Boundaries for which the matrix of the filter is symmetric, for SciPy only up to what it neglects on short axes."""
_SHORT = 64


def _spline_filter(x: Any, axis: int, order: int, mode: str, transposed: bool = False) -> Any:
    x = np.asarray(x)
    filter1d, n = sys.modules["scipy.ndimage"].spline_filter1d, x.shape[axis]
    dtype = np.complex128 if x.dtype.kind == "c" else np.float64
    if not transposed or (mode in _SYMMETRIC and n > _SHORT):
        y = filter1d(x, order, axis, dtype, mode)
    elif n <= _SHORT:
        y = np.moveaxis(np.tensordot(filter1d(np.eye(n), order, 0, mode=mode), x, axes=([0], [axis])), 0, axis)
    else:
        # Mirrored at end points that are not repeated, the matrix is symmetric but for weights of ½ at both ends.
        weights = np.ones((n,) + (1,) * (x.ndim - axis - 1))
        weights[0] = weights[-1] = 0.5
        y = weights * filter1d(x / weights, order, axis, dtype, mode)
    return y.astype(x.dtype, copy=False)


def _by_matrix(x: Any, axis: int, **params: Any) -> Any:
    """The filter as a product with the matrix that SciPy makes of unit vectors."""
    n, rank = shape_of(x)[axis], ndim_of(x)
    there = (*[k for k in range(rank) if k != axis], axis)
    y = matmul(transpose(x, axes=there), _spline_filter(np.eye(n), 0, **params).T)
    return transpose(y, axes=tuple(np.argsort(there).tolist()))


spline_filter = linear(
    "spline_filter",
    _spline_filter,
    lambda ct, x, transposed=False, **params: spline_filter(ct, transposed=not transposed, **params),
    batch=lambda args, mapped, params: spline_filter(args[0], **{**params, "axis": params["axis"] + 1}),
    shape=lambda x, **params: x.shape,
    raises=NEVER,
    cost=MORE,
    axes=axes.kept,
    bounds=composed(_by_matrix),
)
"""From samples to coefficients of a B-spline, along one axis: `scipy.ndimage.spline_filter1d`."""
