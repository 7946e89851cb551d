"""Where in this process the symbols lie that generated code refers to.

Code never holds an address: it names what it uses, and here each name becomes an address when code is loaded. So code
that was kept on disk finds its way in another process. Besides the functions of `natives.py` there are

    Py…                    a function of Python's C API
    wg_PyArray_…           one of NumPy's
    wg_type_…, wg_dtype_…  a class; NumPy's own object for a dtype
    wg_true, wg_false, wg_none  the objects
    wg_share               a variable: the function by which threads share work, or null (`threads.py`)
    wg_chosen              whether somebody has chosen other derivatives (`ops/choice.py`)

What is left are functions of the C library (malloc, memcpy). Names that mean something else in
each program (constants, callbacks, the functions that an entry falls back to) are told by whoever loads it.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from wengert.backend.llvm.machine import natives
from wengert.ops.choice import chosen

_process = ctypes.CDLL(None)

share_hook = ctypes.c_void_p()

_NUMPY_FUNCTIONS = {"wg_PyArray_Scalar": 60, "wg_PyArray_NewCopy": 85, "wg_PyArray_New": 93}
"""Places in NumPy's table of functions, which never change."""

_OBJECTS = {
    "wg_type_python_float": float,
    "wg_type_python_complex": complex,
    "wg_type_python_int": int,
    "wg_type_python_bool": bool,
    "wg_type_python_str": str,
    "wg_type_python_dict": dict,
    "wg_type_python_tuple": tuple,
    "wg_true": True,
    "wg_false": False,
    "wg_none": None,
}


@functools.cache
def address(symbol: str) -> int | None:
    """The address of a symbol that means the same in every program, or `None`.

    >>> address("wg_type_ndarray") == id(np.ndarray), address("wg_nothing")
    (True, None)
    """
    if symbol == "wg_share":
        return ctypes.addressof(share_hook)
    if symbol == "wg_chosen":
        return ctypes.addressof(chosen)
    if symbol in _OBJECTS:
        return id(_OBJECTS[symbol])
    if symbol in _NUMPY_FUNCTIONS:
        return natives.numpy_function(_NUMPY_FUNCTIONS[symbol])
    if symbol.startswith("Py"):
        return _of(ctypes.pythonapi, symbol)
    if symbol.startswith("wg_type_"):
        return id(getattr(np, symbol.removeprefix("wg_type_")))
    if symbol.startswith("wg_dtype_"):
        return id(np.dtype(symbol.removeprefix("wg_dtype_")))
    found = natives.address(symbol)
    return found if found is not None else _of(_process, symbol)


def _of(library: ctypes.CDLL, name: str) -> int | None:
    function = getattr(library, name, None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value
