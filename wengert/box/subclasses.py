"""Subclasses of NumPy's arrays: those that only keep something besides, and those that mean something else.

A product of two `np.matrix` is not elementwise, a sum over a masked array leaves elements out, a quantity has a unit.
Taken for plain arrays they would give wrong numbers, so they are refused wherever a traced value, or a compiled
function, meets one whose code is not followed (`array_classes.py`). A subclass that leaves arithmetic as it is, such as
`np.memmap`, counts as the array that it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert.box.foreign import an
from wengert.errors import UnsupportedFunctionError

_ARITHMETIC = ("__add__", "__mul__", "__matmul__", "__truediv__", "__pow__", "__array_ufunc__", "__array_function__")


@lru_cache(maxsize=1024)
def means_something_else(kind: Any) -> bool:
    """Whether a class of arrays computes otherwise than NumPy's own.

    >>> means_something_else(np.matrix), means_something_else(np.memmap), means_something_else(np.ndarray)
    (True, False, False)
    """
    return issubclass(kind, np.ndarray) and any(getattr(kind, n) is not getattr(np.ndarray, n) for n in _ARITHMETIC)


def refusal(x: Any) -> UnsupportedFunctionError:
    """The error for such an array."""
    name = f"{type(x).__module__}.{type(x).__qualname__}".replace("numpy.", "np.", 1)
    if isinstance(x, np.ma.MaskedArray):
        remedy = "use x.filled(value), x.compressed(), or a plain array and np.where with the mask"
        name = "masked array"
    elif isinstance(x, np.matrix):
        remedy, name = "use np.asarray(m), and @ where matrices are to be multiplied", "np.matrix"
    elif hasattr(x, "unit") and hasattr(x, "value"):
        remedy = (
            "take the plain array in it outside of the function, v = q.value or q.to_value(unit), and put units on the "
            "result there"
        )
    else:
        remedy = "use np.asarray(x), and take account of what the class adds yourself"
    return UnsupportedFunctionError(
        f"{an(name)} together with traced values: its arithmetic is not that of arrays", remedy=remedy
    )


def base_array(x: Any) -> Any:
    """An array of a subclass as a plain array, with the same memory; everything else as it is."""
    kind = x.__class__
    if kind is np.ndarray or not isinstance(x, np.ndarray):
        return x
    if hasattr(x, "_wengert_array"):  # (`array_classes.py`)
        return x._wengert_array()
    if means_something_else(kind):
        raise refusal(x)
    return x.view(np.ndarray)
