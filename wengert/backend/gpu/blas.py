"""Products of matrices by cuBLAS itself.

CuPy's own way to it takes some forty microseconds a product, and is closed while launches are recorded. The library is
the one that CuPy has loaded.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import re
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_NAMES = {"f": "cublasSgemm_v2", "d": "cublasDgemm_v2"}
_NUMBERS = {"f": ctypes.c_float, "d": ctypes.c_double}
WORKSPACE = 32 << 20
"""Bytes that cuBLAS asks for on current processors."""


@functools.cache
def _library() -> Any:
    """cuBLAS, `None` if it cannot be found among what is loaded."""
    importlib.import_module("cupy").cuda.device.get_cublas_handle()  # loads it
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            found = re.search(r"\S*/libcublas\.so\S*", file.read())
        return None if found is None else ctypes.CDLL(found.group())
    except OSError:
        return None


class _Handles(threading.local):
    def __init__(self) -> None:
        self.known: dict[int, ctypes.c_void_p] = {}


_handles = _Handles()


def _handle(library: Any, device: int) -> ctypes.c_void_p:
    """The handle of this thread for a device."""
    found = _handles.known.get(device)
    if found is None:
        found = ctypes.c_void_p()
        _check(library.cublasCreate_v2(ctypes.byref(found)))
        if os.environ.get("CUPY_TF32") == "1":
            _check(library.cublasSetMathMode(found, 3))
        _handles.known[device] = found
    return found


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"cuBLAS failed with status {status}")


def _lies(x: Any) -> tuple[int, int] | None:
    """Whether the columns of a matrix are rows for cuBLAS (1) or not (0), and how far they are apart."""
    (m, n), (down, along) = x.shape, x.strides
    item = x.dtype.itemsize
    if (along == item or n == 1) and (m == 1 or (down >= n * item and not down % item)):
        return 0, max(down // item if m > 1 else n, n, 1)
    if (down == item or m == 1) and (n == 1 or (along >= m * item and not along % item)):
        return 1, max(along // item if n > 1 else m, m, 1)
    return None


class PreparedProduct(NamedTuple):
    """A product of matrices that lie in some way. To cuBLAS, which counts by columns, our matrices are transposed, so
    it is asked for yᵀ xᵀ."""

    function: Any
    before: tuple
    """What it is given before the places of operands, and between these."""
    after_right: Any
    after_left: tuple
    width: Any

    def run(self, places: Sequence[int], device: int, stream: int, workspace: int | None) -> None:
        """Into the last of three places."""
        library, handle = _library(), _handle(_library(), device)
        _check(library.cublasSetStream_v2(handle, ctypes.c_void_p(stream)))
        if workspace is not None:
            _check(library.cublasSetWorkspace_v2(handle, ctypes.c_void_p(workspace), ctypes.c_size_t(WORKSPACE)))
        left, right, out = [ctypes.c_void_p(p) for p in places]
        _check(self.function(handle, *self.before, right, self.after_right, left, *self.after_left, out, self.width))


def product(x: Any, y: Any, out: Any) -> PreparedProduct | None:
    """`out[...] = x @ y`, for matrices that are not empty and `out` in C order, `None` if cuBLAS cannot do it."""
    library = _library()
    left, right = _lies(x), _lies(y)
    if library is None or left is None or right is None or max(*x.shape, *y.shape, left[1], right[1]) >= 1 << 31:
        return None
    number = _NUMBERS[x.dtype.char]
    one, zero = [ctypes.byref(number(value)) for value in (1.0, 0.0)]
    (m, k), n = x.shape, y.shape[1]
    before = tuple([ctypes.c_int(value) for value in (right[0], left[0], n, m, k)])
    function = getattr(library, _NAMES[x.dtype.char])
    return PreparedProduct(
        function, (*before, one), ctypes.c_int(right[1]), (ctypes.c_int(left[1]), zero), ctypes.c_int(n)
    )


_LONG, _MUCH = 2048, 1 << 32


def slow_operand(x: Any, y: Any) -> int | None:
    """Which of two operands is better copied before they are multiplied, 0 or 1, `None` for neither.

    Tensor cores multiply numbers of 19 bits that lie one after the other along the axis that is summed over. cuBLAS
    turns one of its operands where it has to, but takes 1.6 times as long if both lie otherwise (measured on an H200:
    525 instead of 335 µs for 4096 rows and columns). A copy of the smaller one takes 40.
    """
    if os.environ.get("CUPY_TF32") != "1" or x.dtype.char != "f" or not (_is_turned(x) and not _is_turned(y)):
        return None
    (m, k), n = x.shape, y.shape[1]
    return (0 if m <= n else 1) if max(m, n) >= _LONG and m * n * k >= _MUCH else None


def _is_turned(x: Any) -> bool:
    found = _lies(x)
    return found is not None and found[0] == 1


def fits(node: Any) -> bool:
    """Whether a node is a product of two matrices, of one dtype that cuBLAS has."""
    types = [a.type for a in (*node.args, *node.outs)]
    return (
        node.op.name == "matmul"
        and all(t.ndim == 2 and t.is_static and 0 not in t.shape for t in types)
        and len({t.dtype for t in types}) == 1
        and types[0].dtype in (np.float32, np.float64)
    )
