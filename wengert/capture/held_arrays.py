"""Functions that are called with arrays of derived classes in which there are traced values (`box/array_classes.py`).

NumPy's functions that dispatch ask the array itself. Those that do not (`np.array`), those for which we call something
else, and Python's own (`float`, `math.sqrt`, `max`) get the arrays that are held; a result is of the class that NumPy's
would have. None of this is asked before there is such an array.
"""

from __future__ import annotations

import builtins
import cmath
import functools
import math
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from wengert.box.array_classes import Held, applied, are_held, held, held_in
from wengert.box.number_classes import HeldNumber
from wengert.packages import is_followed

_operates_for_user = True

_DISPATCHER = type(np.sum)
_NUMBERS = frozenset((float, int, complex, bool))
_OF_NUMBERS = (math, cmath, builtins)
_GOING_THROUGH = frozenset((sum, min, max, any, all, sorted, list, tuple, zip, enumerate, map, reversed, iter))


def takes_held(f: Any, is_staged: bool) -> bool:
    """Whether something that is called has to be given the arrays in objects of derived classes.

    What goes through items needs it only where the program goes through them.
    """
    kind = type(f)
    if kind is BuiltinFunctionType and f in _GOING_THROUGH:
        return is_staged
    if kind is _DISPATCHER:
        return True
    if kind is BuiltinFunctionType:
        return any(f.__self__ is module for module in _OF_NUMBERS) or _is_numpys(f)
    if kind is FunctionType:
        return str(f.__module__).startswith(("numpy", "scipy.")) and not is_followed(f.__code__.co_filename)
    return isinstance(f, type) and (f in _NUMBERS or (is_staged and f in _GOING_THROUGH) or issubclass(f, np.generic))


def with_held(f: Any, called: Callable, call: Callable) -> Callable:
    """What is called for such a function; `called` is what would be called for it, and `call` says that of others."""
    return functools.partial(_with_held, f, called, call)


def _with_held(f: Any, called: Callable, call: Callable, /, *args: Any, **kwargs: Any) -> Any:
    if not are_held(args) and not are_held(kwargs.values()):
        return called(*args, **kwargs)
    if f not in _ASKING and f not in _PASSING_ON:
        args, kwargs = numbers_in(args), numbers_in(kwargs)
        if not are_held(args) and not are_held(kwargs.values()):
            return called(*args, **kwargs)
    if f in _GOING_THROUGH:
        return called(*[_rows(a) for a in args], **kwargs)
    if f.__class__ is _DISPATCHER and f.__name__ in _BY_METHOD and args and isinstance(args[0], np.ma.MaskedArray):
        return call(getattr(args[0], f.__name__))(*args[1:], **kwargs)
    if f.__class__ is _DISPATCHER or _is_numpys(f):
        return applied(f, called, args, kwargs)
    if f in _ASKING:
        return called(*args, **kwargs)
    if f is abs:
        return np.absolute(*args)  # (`__abs__` may be made otherwise, but so is the ufunc then)
    return called(*held_in(args), **held_in(kwargs))


def numbers_in(x: Any) -> Any:
    """Numbers of derived classes, also in lists, tuples and dicts, as the traced ones that they hold."""
    if isinstance(x, HeldNumber):
        return held(x)
    if type(x) in (list, tuple) and are_held(x):
        return type(x)([numbers_in(item) for item in x])
    return {key: numbers_in(item) for key, item in x.items()} if type(x) is dict and are_held(x.values()) else x


def _is_numpys(f: Any) -> bool:
    """Whether a function is one of NumPy's that does not dispatch, such as `np.array` or `np.full`."""
    if type(f) is FunctionType:
        return f.__module__.startswith("numpy")
    return type(f) is BuiltinFunctionType and f.__module__ == "numpy" and not isinstance(f.__self__, np.ndarray)


_BY_METHOD = frozenset(
    ("sum", "prod", "mean", "var", "std", "any", "all", "cumsum", "cumprod", "argmax", "argmin", "argsort", "ptp")
)
"""Functions of NumPy's that call the method of an array of a derived class."""

_PASSING_ON = _GOING_THROUGH - {sum, min, max, any, all}
"""What hands items on as they are."""

_ASKING = frozenset((isinstance, getattr, hasattr, setattr, callable, id, repr, format, print, len))
"""What is asked of the object itself."""


def _rows(x: Any) -> Any:
    """What is gone through: the elements of an array, which are numbers, or its rows, which are of its class.

    A class may have elements of its own, such as `np.ma.masked`.
    """
    if not isinstance(x, Held) or type(x).__getitem__ is not Held.__getitem__:
        return x
    return held(x) if np.ndim(held(x)) == 1 else x
