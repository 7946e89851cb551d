"""`z.view(float)` and `x.view(complex)`: complex numbers as pairs of real ones, which others then compute with.

    y = odeint(f, z.view(np.float64), t).view(np.complex128)

Such a view shows what its array holds at any time. To write through it is refused: elements lie in halves of others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.functions.operands import join
from wengert.box.writing import link, with_part
from wengert.errors import InPlaceError
from wengert.ops.index import index
from wengert.ops.shape import astype, imag, real, reshape
from wengert.types import dtype_of, shape_of

_PAIRS = {np.dtype(np.complex128): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.float32)}


def viewed_in_parts(x: Any, dtype: Any) -> Any:
    """A view of complex numbers as real ones or the other way round; `None` if it would be another one."""
    dtype, own = np.dtype(dtype), dtype_of(x)
    if not shape_of(x):
        return None
    if (own, dtype) in _PAIRS.items():  # (not by `get`: None equals the dtype float64)
        function: Callable[[Any], Any] = _parts
    elif (dtype, own) in _PAIRS.items():
        if shape_of(x)[-1] % 2:
            raise ValueError(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last "
                "axis of the array."
            )
        function = _numbers
    else:
        return None
    return link(function(x), x, function, readonly=_refused)


def _parts(z: Any) -> Any:
    _demand("c", z)
    pairs = join([reshape(part(z), shape=(*shape_of(z), 1)) for part in (real, imag)], len(shape_of(z)))
    return reshape(pairs, shape=(*shape_of(z)[:-1], 2 * shape_of(z)[-1]))


def _numbers(x: Any) -> Any:
    _demand("f", x)
    wide = next(c for c, f in _PAIRS.items() if f == dtype_of(x))
    pairs = reshape(x, shape=(*shape_of(x)[:-1], shape_of(x)[-1] // 2, 2))
    first, second = [index(pairs, pattern=(Ellipsis, k)) for k in (0, 1)]
    return with_part(imag, astype(first, dtype=wide), second)


def _demand(kind: str, x: Any) -> None:
    if dtype_of(x).kind != kind:  # it is asked where elements lie
        raise TypeError("complex numbers seen as real ones have no places of their own")


def _refused() -> InPlaceError:
    return InPlaceError(
        "an array is written to that shows complex numbers as real ones, or the other way round (x.view)",
        remedy="write into x.real and x.imag, or into a copy",
    )
