"""`scipy.fftpack`, the older names of transforms: those of `scipy.fft`, and one of real data in another order.

Pseudo-differential operators are refused: they are a transform, a product and a transform back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from wengert.box.dispatch import BLIND, implements_blind
from wengert.box.functions.operands import array
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.types import shape_of

_TRANSFORMS = "fft ifft fft2 ifft2 fftn ifftn"
_OF_REAL_DATA = "dct idct dst idst dctn idctn dstn idstn"
_REFUSED = "diff tilbert itilbert hilbert ihilbert cs_diff sc_diff ss_diff cc_diff shift convolve"


def _with_names(name: str) -> Callable:
    """A function of `scipy.fft` that has the parameters of the older one."""
    inverse = name in ("idct", "idst", "idctn", "idstn")
    new = BLIND[getattr(scipy.fft, name.removeprefix("i") if inverse else name)]

    def implementation(x: Any, *args: Any, shape: Any = None, **kwargs: Any) -> Any:
        if shape is not None:
            kwargs["s"] = shape
        if inverse:  # without the factor: the transform of the other type
            args, given = args[1:], args[0] if args else kwargs.pop("type", 2)
            args = ({1: 1, 2: 3, 3: 2, 4: 4}[given], *args)
        return new(array(x), *args, **kwargs)

    return implementation


def rfft(x: Any, n: int | None = None, axis: int = -1) -> Any:
    """y(0), Re y(1), Im y(1), Re y(2), …"""
    x = array(x)
    n = shape_of(x)[axis] if n is None else n
    y = np.moveaxis(BLIND[scipy.fft.rfft](x, n, axis), axis, -1)
    parts = np.stack([y.real, y.imag], axis=-1)
    row = np.reshape(parts, (*shape_of(parts)[:-2], -1))
    kept = [0, *range(2, n + 1)]
    return np.moveaxis(row[..., kept], -1, axis)


def irfft(x: Any, n: int | None = None, axis: int = -1) -> Any:
    row = np.moveaxis(array(x), axis, -1)
    if n is not None and n != shape_of(row)[-1]:
        raise UnsupportedFunctionError(
            "scipy.fftpack.irfft of traced values with another length", remedy="use scipy.fft.irfft"
        )
    n = shape_of(row)[-1]
    real = [0, *range(1, n, 2)]
    imaginary = list(range(2, n, 2))
    y = row[..., real] + 0j
    zero = row[..., :1] * 0.0
    pieces = [zero, row[..., imaginary], *([zero] if n % 2 == 0 else [])]
    y = y + 1j * np.concatenate(pieces, axis=-1)
    return np.moveaxis(BLIND[scipy.fft.irfft](y, n, -1), -1, axis)


def _refusing(name: str) -> Callable:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedFunctionError(
            f"scipy.fftpack.{name} of traced values has no derivative rule",
            remedy="write it with scipy.fft.fft, a product with a function of scipy.fft.fftfreq, and scipy.fft.ifft",
        )

    return implementation


@when_imported("scipy.fftpack")
def _fftpack(module: Any) -> None:
    for name in (*_TRANSFORMS.split(), *_OF_REAL_DATA.split()):
        implements_blind(getattr(module, name))(_with_names(name))
    for f in (rfft, irfft):
        implements_blind(getattr(module, f.__name__))(f)
    for name in _REFUSED.split():
        implements_blind(getattr(module, name))(_refusing(name))
