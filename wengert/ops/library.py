"""In which library an array is made that a rule or a mode needs: in that of the values it is going to meet.

Arrays of other libraries, such as CuPy's, refuse NumPy's beside them, and live in a memory of their own. So zeros, unit
vectors, masks and positions are made by NumPy's own functions with `like=` (NEP 35), which asks the other library; but
not by `np.full`, `np.ones` and `np.eye`, which hand on `device=`, an option that CuPy does not have (`filled_like`).
The values near by say which; where there are none, as for a cotangent of which only the type is known, the library of
the running transformation is asked (`running.state.library`: an empty array of it, or `None` for NumPy).

Where an array of NumPy's does meet one of another library, it is moved there (`together`): `np.arange(n) * x` in a
function that is given an array on a GPU. Nothing is ever moved the other way.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special

from wengert.running import KEEP, running
from wengert.types import PLAIN, SCALARS

_COMPANIONS = {"cupy": ("cupyx.scipy.special", "cupyx.scipy.linalg")}
"""Where a library has the functions of `scipy.special` and `scipy.linalg`, which do not ask it by themselves."""


_HOLDERS = frozenset(("pint", "pandas", "polars", "xarray", "unyt", "astropy"))
"""Libraries whose objects hold arrays, with labels or units."""


_known_foreign: set[type] = set()
"""Classes of arrays of other libraries that have come up."""


def behind(x: Any) -> Any:
    """The plain value behind a traced one, without looking whether it is up to date; `None` if there is none."""
    while x.__class__ not in PLAIN and hasattr(x, "_owner"):
        x = x._value if "_value" in x._state else None
    return x


def is_foreign(x: Any) -> bool:
    """Whether a plain value is an array of another library than NumPy.

    >>> is_foreign(np.ones(3)), is_foreign(1.0), is_foreign(None)
    (False, False, False)
    """
    kind = x.__class__
    if kind in PLAIN:
        return False
    if kind in _known_foreign:
        return True
    # The class is asked: what stands for a value in a captured program takes questions of its own for the user's.
    found = (
        not isinstance(x, (np.ndarray, np.generic))
        and hasattr(kind, "__array_function__")
        and hasattr(kind, "dtype")
        and not hasattr(kind, "_owner")
        and kind.__module__.partition(".")[0] not in _HOLDERS
    )
    if found:
        _known_foreign.add(kind)
    return found


def is_mutable(x: Any) -> bool:
    """Whether a plain value is an array of another library that can be written to in place: that knows its `base`."""
    return is_foreign(x) and hasattr(x, "base") and hasattr(x, "__setitem__")


def may_share(x: Any, y: Any) -> bool:
    """Whether two plain values may be arrays in the same memory: of another library, unless it says that they are not.

    >>> a = np.zeros(3)
    >>> may_share(a, a[1:]), may_share(a, a + 1), may_share(a, 0.0)
    (True, False, False)
    """
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.may_share_memory(x, y)
    if not is_foreign(x) or x.__class__ is not y.__class__:
        return False
    try:
        return bool(np.may_share_memory(x, y))
    except TypeError:  # it does not say
        return True


def holds_foreign(x: Any) -> bool:
    """Whether there are arrays of another library in nested lists."""
    return any(map(holds_foreign, x)) if isinstance(x, (list, tuple)) else is_foreign(x)


def from_lists(x: Any, dtype: Any = None) -> Any:
    """`np.asarray` of nested lists; of those with arrays of another library, an array of that library.

    >>> from_lists([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if not holds_foreign(x):
        return np.asarray(x, dtype)
    if is_foreign(x):
        return x if dtype is None else x.astype(dtype)
    items = [from_lists(item, dtype) for item in x]
    like = next(item for item in items if is_foreign(item))
    return np.stack([item if is_foreign(item) else np.asarray(item, like=like) for item in items])


def near(*xs: Any) -> Any:
    """An array of the library in which something is made that meets these values; `None` is NumPy."""
    for x in xs:
        kind = x.__class__
        if kind is np.ndarray:
            return None
        if kind not in PLAIN:
            value = behind(x)
            if is_foreign(value):
                return value
            if value.__class__ is np.ndarray:
                return None
    state = running.state
    return state.library if state.capture is None else None


def example_of(xs: Sequence[Any]) -> Any:
    """An empty array of the first library other than NumPy among values; `None` if there are arrays of NumPy's only,
    KEEP if there are no arrays at all."""
    found: Any = KEEP
    for x in xs:
        value = x if x.__class__ in PLAIN else behind(x)
        if is_foreign(value):
            return np.empty((0,), value.dtype, like=value)
        if value.__class__ is np.ndarray and value.ndim:
            found = None
    return found


def filled_like(like: Any, shape: Any, value: Any, dtype: Any) -> Any:
    """`np.full` in the library of an array; the filling is one number, a value of the dtype."""
    if not is_mutable(like):
        return np.full(shape, value, dtype, like=like)
    made = np.empty(shape, dtype, like=like)
    made.fill(value)
    return made


def eye_like(like: Any, rows: int, columns: int | None, k: int, dtype: Any) -> Any:
    """`np.eye` in the library of an array."""
    down, along = (np.arange(n, like=like) for n in (rows, rows if columns is None else columns))
    return np.equal(down[:, None] + k, along[None, :]).astype(dtype)


def zeros(shape: Any, dtype: Any, *xs: Any) -> Any:
    """`np.zeros` in the library of values."""
    like = near(*xs)
    return np.zeros(shape, dtype) if like is None else np.zeros(shape, dtype, like=like)


def ones(shape: Any, dtype: Any, *xs: Any) -> Any:
    """`np.ones` in the library of values."""
    like = near(*xs)
    return np.ones(shape, dtype) if like is None else filled_like(like, shape, 1, dtype)


def full(shape: Any, value: Any, dtype: Any, *xs: Any) -> Any:
    """`np.full` in the library of values; the filling is one number."""
    like = near(*xs)
    return np.full(shape, value, dtype) if like is None else filled_like(like, shape, value, dtype)


def arange(start: int, stop: int, *xs: Any, step: int = 1) -> Any:
    """`np.arange` in the library of values."""
    like = near(*xs)
    return np.arange(start, stop, step) if like is None else np.arange(start, stop, step, like=like)


def eye(n: int, dtype: Any, *xs: Any) -> Any:
    """`np.eye` in the library of values."""
    like = near(*xs)
    return np.eye(n, dtype=dtype) if like is None else eye_like(like, n, n, 0, dtype)


def tri(rows: int, columns: int | None, k: int, dtype: Any, *xs: Any) -> Any:
    """`np.tri` in the library of values."""
    like = near(*xs)
    return np.tri(rows, columns, k, dtype=dtype) if like is None else np.tri(rows, columns, k, dtype=dtype, like=like)


def moved(x: Any, *xs: Any) -> Any:
    """An array that was made with NumPy, in the library of values: small ones, such as coefficients of a formula."""
    like = near(*xs)
    return x if like is None or not isinstance(x, np.ndarray) else np.asarray(x, like=like)


def placed(x: Any, like: Any) -> Any:
    """A plain array of numbers that are differentiated in the library of `like`; anything else as it is."""
    return np.asarray(x, like=like) if x.__class__ is np.ndarray and x.dtype.kind in "fc" else x


def largest(x: Any, axis: Any) -> Any:
    """The largest of numbers that are not negative along axes that stay, zero if there are none (`initial=0`, which not
    all libraries have).

    >>> largest(np.ones((2, 0)), -1).tolist()
    [[0.0], [0.0]]
    """
    shape = x.shape
    if x.__class__ is np.ndarray or 0 in shape:
        return np.max(x, axis=axis, keepdims=True, initial=0) if x.__class__ is np.ndarray else np.sum(
            x, axis=axis, keepdims=True
        )  # fmt: skip
    return np.max(x, axis=axis, keepdims=True)


def together(args: Sequence[Any]) -> list[Any] | None:
    """Operands with NumPy's arrays moved to the library of the others; `None` if there is nothing to move."""
    other = next((x for x in args if is_foreign(x)), None)
    if other is None or not any(isinstance(x, np.ndarray) for x in args):
        return None
    return [np.asarray(x, like=other) if isinstance(x, np.ndarray) else x for x in args]


def gathered(args: Sequence[Any]) -> Sequence[Any]:
    """Operands, some of them traced, with plain arrays of NumPy's moved to the library behind the others: they become
    coefficients, and meet tangents and cotangents."""
    if not any(a.__class__ is np.ndarray for a in args):
        return args
    other = next((x for x in map(behind, args) if is_foreign(x)), None)
    if other is None:
        return args
    return tuple([np.asarray(a, like=other) if a.__class__ is np.ndarray else a for a in args])


def by_companion(function: Any, args: Sequence[Any], params: dict) -> Any:
    """What another library's own function of that name makes of its arrays; `NotImplemented` if it has none."""
    other = next((x for x in args if is_foreign(x)), None)
    modules = () if other is None else _COMPANIONS.get(type(other).__module__.partition(".")[0], ())
    found = [getattr(_imported(module), getattr(function, "__name__", ""), None) for module in modules]
    own = next((f for f in found if f is not None), None)
    if own is None:
        return NotImplemented
    return own(*[np.asarray(x, like=other) if x.__class__ in SCALARS else x for x in args], **params)


class _Special:
    """`scipy.special`, whose functions ask another library for its own where they are given its arrays."""

    def __getattr__(self, name: str) -> Any:
        own = getattr(scipy.special, name)

        def function(*args: Any, **kwargs: Any) -> Any:
            if any(is_foreign(a) for a in args):
                found = by_companion(own, args, kwargs)
                if found is not NotImplemented:
                    return found
            return own(*args, **kwargs)

        setattr(self, name, function)
        return function


special = _Special()


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
