"""Fourier transforms: `numpy.fft` and `scipy.fft`, written in transforms along one axis.

Lengths are padding with zeros or cropping, n-dimensional transforms go axis by axis, Hermitian ones are real ones of
the conjugate. SciPy's functions do not dispatch and are reached through instrumentation; their further options
(`overwrite_x`, `workers`, `plan`) change how they compute, not what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import CALLABLES, FUNCTIONS, implements, implements_blind, meaning_of
from wengert.box.functions.lengths import refuse_if
from wengert.box.functions.operands import array, cast, holds_traced, join, part
from wengert.ops import fourier as f
from wengert.ops import shape as s
from wengert.ops.fourier import OPPOSITE
from wengert.types import dtype_of, ndim_of, shape_of


def _norm(norm: Any) -> str:
    if norm is None:
        return "backward"
    if norm not in OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm


def _resized(x: Any, n: int | None, axis: int) -> Any:
    """x with length n along an axis: cropped, or padded with zeros."""
    shape = shape_of(x)
    if n is None or n == shape[axis]:
        return x
    refuse_if(n < 1, ValueError, f"Invalid number of FFT data points ({n!r}) specified.")
    if n < shape[axis]:
        return part(x, axis, slice(0, n))
    return join([x, np.zeros((*shape[:axis], n - shape[axis], *shape[axis + 1 :]), dtype_of(x))], axis)


def _floating(x: Any) -> Any:
    """An operand of floating or complex type."""
    x = array(x)
    return x if dtype_of(x).kind in "fc" else cast(x, np.float64)


def _as_complex(x: Any) -> Any:
    return x if dtype_of(x).kind == "c" else cast(x, np.result_type(dtype_of(x), np.complex64))


def _as_real(x: Any) -> Any:
    if dtype_of(x).kind == "c":
        raise TypeError("a transform of real data was given complex numbers; take their real part, or use fft")
    return x


def _conjugate(x: Any) -> Any:
    return s.conjugate(x) if dtype_of(x).kind == "c" else x


def _axes(x: Any, lengths: Any, axes: Any) -> tuple[list[int], list[int | None]]:
    """The axes of an n-dimensional transform and their lengths."""
    rank = ndim_of(x)
    if axes is None:
        axes = range(rank) if lengths is None else range(rank - len(lengths), rank)
    axes = [axes] if isinstance(axes, int) else list(axes)
    lengths = [None] * len(axes) if lengths is None else [lengths] if isinstance(lengths, int) else list(lengths)
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return [normalize_axis_index(a, rank) for a in axes], [None if n in (None, -1) else int(n) for n in lengths]


# --------------------------------------------------------------------------------------------------- along one axis


def _complex_transform(op: Any) -> Callable:
    def transform(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        x = _floating(x)
        axis = normalize_axis_index(axis, ndim_of(x))
        return op(_as_complex(_resized(x, n, axis)), axis=axis, norm=_norm(norm))

    return transform


fft = _complex_transform(f.fft)
ifft = _complex_transform(f.ifft)


def rfft(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    x = _as_real(_floating(x))
    axis = normalize_axis_index(axis, ndim_of(x))
    return f.rfft(_resized(x, n, axis), axis=axis, norm=_norm(norm))


def irfft(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    x = _as_complex(_floating(x))
    axis = normalize_axis_index(axis, ndim_of(x))
    n = 2 * (shape_of(x)[axis] - 1) if n is None else n
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return f.irfft(_resized(x, n // 2 + 1, axis), n=n, axis=axis, norm=_norm(norm))


def hfft(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return irfft(_conjugate(array(x)), n, axis, OPPOSITE[_norm(norm)])


def ihfft(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return s.conjugate(rfft(x, n, axis, OPPOSITE[_norm(norm)]))


# ------------------------------------------------------------------------------------------------ along several axes


def _each_axis(one: Callable) -> Callable:
    def transform(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        x = _as_complex(_floating(x))
        for axis, n in reversed(list(zip(*_axes(x, s, axes), strict=True))):
            x = one(x, n, axis, norm)
        return x

    return transform


fftn = _each_axis(fft)
ifftn = _each_axis(ifft)


def rfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    x = _floating(x)
    *rest, (last, n) = zip(*_axes(x, s, axes), strict=True)
    x = rfft(x, n, last, norm)
    for axis, n in reversed(rest):
        x = fft(x, n, axis, norm)
    return x


def irfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    x = _floating(x)
    *rest, (last, length) = zip(*_axes(x, s, axes), strict=True)
    for axis, n in rest:
        x = ifft(x, n, axis, norm)
    return irfft(x, length, last, norm)


def hfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return irfftn(_conjugate(array(x)), s, axes, OPPOSITE[_norm(norm)])


def ihfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return _conjugate(rfftn(x, s, axes, OPPOSITE[_norm(norm)]))


def _of_two_axes(of_all: Callable) -> Callable:
    def transform(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
        return of_all(x, s, axes, norm)

    return transform


def fftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(array(x), axes, lambda n: n // 2)


def ifftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(array(x), axes, lambda n: -(n // 2))


def _shifted(x: Any, axes: Any, by: Callable) -> Any:
    axes = tuple(range(ndim_of(x))) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return FUNCTIONS[np.roll](x, tuple(by(shape_of(x)[a]) for a in axes), axes)


_TRANSFORMS: dict[str, Callable] = {
    "fft": fft, "ifft": ifft, "rfft": rfft, "irfft": irfft, "hfft": hfft, "ihfft": ihfft,
    "fftn": fftn, "ifftn": ifftn, "rfftn": rfftn, "irfftn": irfftn, "hfftn": hfftn, "ihfftn": ihfftn,
    "fft2": _of_two_axes(fftn), "ifft2": _of_two_axes(ifftn), "rfft2": _of_two_axes(rfftn),
    "irfft2": _of_two_axes(irfftn), "hfft2": _of_two_axes(hfftn), "ihfft2": _of_two_axes(ihfftn),
    "fftshift": fftshift, "ifftshift": ifftshift,
}  # fmt: skip


def _with_numpy_names(transform: Callable) -> Callable:
    """NumPy calls the data `a`, SciPy `x`."""

    def named(*args: Any, **options: Any) -> Any:
        if "a" in options:
            args = (options.pop("a"), *args)
        return transform(*args, **options)

    return named


for _name, _transform in _TRANSFORMS.items():
    if hasattr(np.fft, _name):
        implements(getattr(np.fft, _name))(_with_numpy_names(_transform))
    implements_blind(getattr(scipy.fft, _name))(_transform)

# --------------------------------------------------------------------------------------------------- cosines and sines

_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}

_IGNORED = bool(scipy.fft.dct([1j, 0j], orthogonalize=True)[0] != 1j * scipy.fft.dct([1.0, 0.0], orthogonalize=True)[0])
"""Whether this SciPy does not heed `orthogonalize` for complex numbers (1.17 does not); values here are SciPy's."""


def _real_transform(op: Any, inverse: bool) -> tuple[Callable, Callable]:
    """A transform along one axis and one along several. The inverse of type II is type III, in the opposite norm."""

    def along(x: Any, type: int, n: Any, axis: int, norm: Any, orthogonalize: Any) -> Any:
        axis = normalize_axis_index(axis, ndim_of(x))
        if orthogonalize is None or (_IGNORED and dtype_of(x).kind == "c"):
            orthogonalize = norm == "ortho"
        orthogonalize = bool(orthogonalize)
        norm = _norm(norm)
        if type not in _INVERSE_TYPE:
            raise ValueError(f"Invalid type ({type}) specified: must be 1, 2, 3 or 4")
        if inverse:
            type, norm = _INVERSE_TYPE[type], OPPOSITE[norm]
        return op(_resized(x, n, axis), type=type, axis=axis, norm=norm, orthogonalize=orthogonalize)

    def one(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, orthogonalize: Any = None) -> Any:
        return along(_floating(x), type, n, axis, norm, orthogonalize)

    def several(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, orthogonalize: Any = None
    ) -> Any:
        x = _floating(x)
        for axis, n in zip(*_axes(x, s, axes), strict=True):
            x = along(x, type, n, axis, norm, orthogonalize)
        return x

    return one, several


for _op in (f.dct, f.dst):
    for _inverse in (False, True):
        _one, _several = _real_transform(_op, _inverse)
        _name = ("i" if _inverse else "") + _op.name
        implements_blind(getattr(scipy.fft, _name))(_one)
        implements_blind(getattr(scipy.fft, _name + "n"))(_several)

# ------------------------------------------------------------------------------------------------ Hankel transforms


def _hankel(x: Any, dln: float, mu: float, offset: float, bias: float, inverse: bool) -> Any:
    """A linear map of the last axis, whose matrix is what the transform makes of the unit vectors."""
    transform = scipy.fft.ifht if inverse else scipy.fft.fht
    x = _as_real(_floating(x))
    rows = transform(np.eye(shape_of(x)[-1]), dln, mu, offset=offset, bias=bias)
    return FUNCTIONS[np.dot](x, rows.astype(dtype_of(x), copy=False))


@implements_blind(scipy.fft.fht)
def fht(a: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    return _hankel(a, dln, mu, offset, bias, inverse=False)


@implements_blind(scipy.fft.ifht)
def ifht(A: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    return _hankel(A, dln, mu, offset, bias, inverse=True)


# -------------------------------------------------------------------------------------------------------- multimethods


def _instead(multimethod: Any) -> Callable:
    """What is called for a function of `scipy.fft`, most of which are objects: ours if an argument is traced."""
    implementation = meaning_of(multimethod)
    if implementation is None:
        return multimethod

    def called(*args: Any, **options: Any) -> Any:
        traced = any(holds_traced(a) for a in (*args, *options.values()))
        return (implementation if traced else multimethod)(*args, **options)

    return called


CALLABLES[type(scipy.fft.fft)] = _instead
