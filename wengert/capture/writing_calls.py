"""Calls of NumPy's own code that write into plain arrays.

    s = np.sum(x * A)           A is a coefficient of the linear program
    A.clip(0.0, 1.0, out=A)     and NumPy writes to it

Where user's source writes to an array, the hooks see it. Where code in C does, its name says so, or that it is given
`out=`. The tapes are told before, so that they keep the values as they were.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import OVERWRITING, place_of_out
from wengert.box.writing import about_to_write

_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()  # noqa: SIM905
_METHODS = frozenset([
    "sort", "fill", "put", "partition", "setfield", "byteswap", "resize", "itemset", "__setitem__", "__setstate__",
    *[f"__i{name}__" for name in _OPERATORS],
])  # fmt: skip
"""Methods of arrays that change the array itself."""
FIRST_WRITTEN = (operator.setitem, *[getattr(operator, f"i{name}") for name in _OPERATORS])
"""Functions of Python's that write to their first argument."""


def tell_of(a: Any) -> None:
    """Say of an array, or of what is no array, that it is written to."""
    if isinstance(a, np.ndarray):
        about_to_write(a)
    elif a.__class__ is np.flatiter:
        about_to_write(a.base)
    elif a.__class__ is memoryview:
        tell_of(a.obj)


def set_in(x: Any) -> Any:
    """An object of which an attribute is set that changes arrays."""
    tell_of(x)
    return x


def writing_out(function: Callable, place: int) -> Callable:
    """A function that is given arrays to write to: as `out=`, or as its operands from a place on."""

    def called(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        for a in (*(out if isinstance(out, tuple) else (out,)), *args[place:]):
            tell_of(a)
        return function(*args, **kwargs)

    return called


def overwriting(f: Any, function: Callable) -> Callable:
    """A function that is given options by which it may overwrite its arguments. NumPy's and SciPy's need not."""
    if not str(getattr(f, "__module__", "")).startswith(("numpy", "scipy")):
        return function

    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{key: value for key, value in kwargs.items() if key not in OVERWRITING})

    return called


def writing_first(f: Any) -> Any:
    """A function that writes to its first argument, whatever that is called."""

    def called(*args: Any, **kwargs: Any) -> Any:
        for a in (*args[:1], *list(kwargs.values())[: not args]):
            tell_of(a)
        return f(*args, **kwargs)

    return called


@functools.cache
def place_of_result(f: Any) -> int:
    """As which operand one of NumPy's functions is given an array for its result."""
    return place_of_out(f)


def tell_of_method(f: Any, operands: int, function: Callable) -> Callable:
    """What is called for a method of an array, which may change the array or write elsewhere."""
    if f.__name__ in _METHODS:
        about_to_write(f.__self__)
    return function if operands < 2 else writing_out(function, 1)  # (none of them has two results)
