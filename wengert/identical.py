"""Whether two lists hold the very same objects, and two arrays the same bytes, at the speed of memory."""

from __future__ import annotations

import ctypes
import operator
import sys
import sysconfig
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

_ITEMS = 24
"""Where a list of CPython's has the address of its items."""

_SHORT = 64
"""Lists that are shorter are compared item by item."""

_LAYOUT_IS_KNOWN = (
    sys.implementation.name == "cpython"
    and ctypes.sizeof(ctypes.c_void_p) == 8
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)
_compare = getattr(ctypes.pythonapi, "memcmp", None) if _LAYOUT_IS_KNOWN else None
"""Called with the GIL held: nobody changes a list meanwhile."""
if _compare is not None:
    _compare.argtypes, _compare.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_int


def hold_the_same(a: list, b: list) -> bool:
    """Whether each item of a list is the same object as that of the other.

    >>> x = [float(k) for k in range(100)]
    >>> hold_the_same(x, list(x)), hold_the_same(x, [*x[:-1], 3.5])
    (True, False)
    """
    if len(a) != len(b):
        return False
    if _compare is None or len(a) < _SHORT:
        return all(map(operator.is_, a, b))
    at = [ctypes.c_void_p.from_address(id(x) + _ITEMS).value for x in (a, b)]
    return _compare(*at, 8 * len(a)) == 0


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays of one dtype and shape are the same to the last bit.

    >>> x = np.zeros(3)
    >>> same_bytes(x, x.copy()), same_bytes(x, -x)
    (True, False)
    """
    if _compare is None or a.nbytes < 4096 or not (a.flags.c_contiguous and b.flags.c_contiguous):
        return a.tobytes() == b.tobytes()
    return _compare(*[x.__array_interface__["data"][0] for x in (a, b)], a.nbytes) == 0


def fingerprint(values: Iterable[Any], start: int = 0) -> int:
    """A number by which values, of any shape, are told from others. Arrays of other libraries, which may lie on a
    device, are known by shape and dtype alone."""
    for x in values:
        is_elsewhere = not isinstance(x, np.ndarray) and hasattr(x, "__array_function__")
        x = x if is_elsewhere else np.asarray(x)
        start = zlib.crc32(repr((x.shape, x.dtype.str)).encode(), start)
        if x.dtype.kind != "O" and not is_elsewhere:
            start = zlib.crc32(np.ascontiguousarray(x).data, start)
    return start
