"""Functions of this process that native code may call: libm, libmvec, and what NumPy's and SciPy's modules hand out.

Every function has a symbol by which generated code knows it, so that object code can be kept on disk and linked again
in another process: `address(symbol)` finds it there.

    wg_<name>                      a function of the C library's mathematics (wg_sin, wg_sinf)
    _ZGV<isa>N<lanes>v…_<name>     its vector variant in glibc's libmvec
    wg_special_<name>_<types>      a function of scipy.special.cython_special; types are result and arguments: d D l p
    wg_blas_<name>                 a routine of BLAS, from scipy.linalg.cython_blas
    wg_lapack_<name>               a routine of LAPACK, from scipy.linalg.cython_lapack
    wg_loop_<module>_<name>_<types> the inner loop of a ufunc: wg_loop_scipy_psi_dd, wg_loop_numpy_sin_DD,
                                    wg_loop_pocketfft_fft_DdD
    wg_sort_<kind>_<type>          NumPy's own argsort of a kind for a type: wg_sort_stable_d

None of them needs the GIL. This file finds addresses; it emits nothing.

**Inner loops.** A ufunc is a table of C functions, one for each choice of types, that work on strided arrays. NumPy
calls them without the GIL unless they work on objects, and so may native code; `PyUFuncObject` is public.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import re
import sys
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack
import scipy.special
import scipy.special.cython_special
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

# ------------------------------------------------------------------------------------------------ the C library's


@functools.cache
def _c_library() -> ctypes.CDLL | None:
    """The library that has `sin` and its like."""
    names: dict[str, list[str | None]] = {
        "linux": ["libm.so.6", None],
        "darwin": ["libSystem.B.dylib"],
        "win32": ["ucrtbase.dll"],
    }
    for name in names.get(sys.platform, [None]):
        try:
            return ctypes.CDLL(name)
        except OSError:  # pragma: no cover - musl has no library of that name
            continue
    return None  # pragma: no cover


def _entry(library: Any, name: str) -> int | None:
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None


@functools.cache
def math_function(name: str) -> int | None:
    """The address of a function of libm, if there is one of that name.

    >>> math_function("sin") is not None, math_function("no_such_function")
    (True, None)
    """
    return _entry(_c_library(), name)


@functools.cache
def _vector_library() -> ctypes.CDLL | None:
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:  # pragma: no cover - musl, or a glibc older than 2.22
        return None


class Variant(NamedTuple):
    """A vector variant of a function: its symbol and how many lanes it has."""

    symbol: str
    lanes: int


@functools.cache
def vector_variants(name: str, arguments: int = 1) -> tuple[Variant, ...]:
    """The variants of a function (`sin`, or `sinf` in single precision) that this processor can run, widest first."""
    library = _vector_library()
    if library is None:
        return ()
    features = llvm.get_host_cpu_features()
    single = 2 if name.endswith("f") and name != "erf" else 1
    found = []
    for letter, lanes, feature in (("e", 8, "avx512f"), ("d", 4, "avx2"), ("b", 2, "sse4.2")):
        symbol = f"_ZGV{letter}N{lanes * single}{'v' * arguments}_{name}"
        if features.get(feature) and _entry(library, symbol) is not None:
            found.append(Variant(symbol, lanes * single))
    return tuple(found)


# ------------------------------------------------------------------------------------------------ SciPy's capsules


class Capsule(NamedTuple):
    """A C function that an extension module hands out: its signature, as Cython wrote it, and its address."""

    signature: str
    address: int


def _opened(capsule: Any) -> Capsule:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = name(capsule)
    return Capsule(signature.decode(), pointer(capsule, signature))


_CODES = {"double": "d", "__pyx_t_double_complex": "D", "long": "l", "Py_ssize_t": "p"}


@functools.cache
def special_functions() -> dict[str, int]:
    """Functions of `cython_special` with one result, by symbol. The types they may have are those of `_CODES`.

    They take one more argument, an int that Cython has no use for here.
    """
    found = {}
    for key, capsule in scipy.special.cython_special.__pyx_capi__.items():
        signature, address = _opened(capsule)
        match = re.fullmatch(r"(\S+) \((.*), int __pyx_skip_dispatch\)", signature)
        if match is None:
            continue
        types = [match[1], *match[2].split(", ")]
        if all(t in _CODES for t in types):
            name = re.sub(r"^__pyx_fuse_[0-9_]*\d(?=\D)", "", key)
            found[f"wg_special_{name}_{''.join(_CODES[t] for t in types)}"] = address
    return found


@functools.cache
def blas(name: str) -> int | None:
    """The address of a routine of BLAS, all of whose arguments are pointers.

    >>> blas("dgemm") is not None
    True
    """
    return _linear_algebra(scipy.linalg.cython_blas, name)


@functools.cache
def lapack(name: str) -> int | None:
    """The address of a routine of LAPACK, all of whose arguments are pointers."""
    return _linear_algebra(scipy.linalg.cython_lapack, name)


def _linear_algebra(module: Any, name: str) -> int | None:
    capsule = module.__pyx_capi__.get(name)
    return None if capsule is None else _opened(capsule).address


# ------------------------------------------------------------------------------------------- inner loops of ufuncs


class _UFunc(ctypes.Structure):
    """The part of NumPy's `PyUFuncObject` behind the object's head that has not changed since NumPy 1.0."""

    _fields_ = [
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
    ]


class UfuncLoop(NamedTuple):
    """An inner loop: symbols of the C function and of the data it is to be given (none: a null pointer)."""

    symbol: str
    data: str | None


_HOMES: dict[str, Any] = {
    "numpy": np,
    "scipy": scipy.special._ufuncs,
    "pocketfft": getattr(np.fft._pocketfft, "pfu", None),
}


def _home(ufunc: np.ufunc) -> str | None:
    """Where a ufunc can be found again by its name."""
    return next((home for home, module in _HOMES.items() if getattr(module, ufunc.__name__, None) is ufunc), None)


def fourier_ufunc(name: str) -> np.ufunc | None:
    """One of pocketfft's functions: `fft`, `ifft`, `irfft`, `rfft_n_even`, `rfft_n_odd`."""
    return getattr(_HOMES["pocketfft"], name, None)


def _table(ufunc: np.ufunc) -> _UFunc | None:
    table = _UFunc.from_address(id(ufunc) + object.__basicsize__)
    known = (table.nin, table.nout, table.ntypes, table.name) == (
        ufunc.nin,
        ufunc.nout,
        ufunc.ntypes,
        ufunc.__name__.encode(),
    )
    return table if known else None


def inner_loop(ufunc: np.ufunc, types: str) -> UfuncLoop | None:
    """The loop of a ufunc for these type characters, inputs and outputs; `None` where there is none to be called.

    >>> inner_loop(np.sin, "dd")
    UfuncLoop(symbol='wg_loop_numpy_sin_dd', data=...)
    """
    home = _home(ufunc)
    wanted = f"{types[: ufunc.nin]}->{types[ufunc.nin :]}"
    table = _table(ufunc)
    if home is None or table is None or wanted not in ufunc.types or "O" in types:
        return None
    k = ufunc.types.index(wanted)
    if not table.functions[k]:
        return None
    symbol = f"wg_loop_{home}_{ufunc.__name__}_{types}"
    return UfuncLoop(symbol, symbol.replace("wg_loop_", "wg_data_", 1) if table.data and table.data[k] else None)


def _loop_address(symbol: str) -> int | None:
    match = re.fullmatch(r"wg_(loop|data)_(numpy|scipy|pocketfft)_(.+)_([^_]+)", symbol)
    if match is None:
        return None
    kind, home, name, types = match.groups()
    ufunc = getattr(_HOMES[home], name)
    table = _table(ufunc)
    if table is None:
        return None
    k = ufunc.types.index(f"{types[: ufunc.nin]}->{types[ufunc.nin :]}")
    return table.functions[k] if kind == "loop" else table.data[k]


# ------------------------------------------------------------------------------------------------- NumPy's sorting

_ARRAY_FUNCTIONS, _ARGSORTS = 365, 36
"""Where NumPy's table of functions has the one that gives the functions of a dtype (`PyArray_ArrFuncs`), and where
among these, of which each is a pointer, the first argsort stands. Both are public, and never change."""

_SORTS = {"quicksort": 0, "stable": 2}


def numpy_function(index: int) -> int | None:
    """The address of a function of NumPy's C interface."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))[index]


@functools.cache
def argsort(kind: str, type: str) -> int | None:
    """The address of NumPy's int(values, places, count, unused), which sorts places by values: "quicksort", "stable".

    >>> argsort("stable", "d") is not None
    True
    """
    place = numpy_function(_ARRAY_FUNCTIONS)
    if kind not in _SORTS or place is None:
        return None
    functions = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(place)(np.dtype(type))
    return ctypes.cast(functions, ctypes.POINTER(ctypes.c_void_p))[_ARGSORTS + _SORTS[kind]] if functions else None


# ------------------------------------------------------------------------------------------------------- by symbol


def address(symbol: str) -> int | None:
    """The address that a symbol stands for in this process.

    >>> address("wg_sin") == math_function("sin")
    True
    """
    if symbol.startswith("_ZGV"):
        return _entry(_vector_library(), symbol)
    if symbol.startswith("wg_special_"):
        return special_functions().get(symbol)
    if symbol.startswith(("wg_loop_", "wg_data_")):
        return _loop_address(symbol)
    if symbol.startswith("wg_blas_"):
        return blas(symbol.removeprefix("wg_blas_"))
    if symbol.startswith("wg_lapack_"):
        return lapack(symbol.removeprefix("wg_lapack_"))
    if symbol.startswith("wg_sort_"):
        return argsort(*symbol.removeprefix("wg_sort_").split("_"))
    return math_function(symbol.removeprefix("wg_")) if symbol.startswith("wg_") else None
