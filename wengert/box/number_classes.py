"""Numbers of classes that users derive from Python's `float`, with traced values in them.

    class Degrees(float):
        def __new__(cls, x, name=""): …
        @property
        def radians(self): return math.radians(self)

As for arrays of derived classes (`array_classes.py`) there is for each such class one more, derived from it and from
`HeldNumber`, whose objects hold a traced number. What the class adds is followed; `HeldNumber` has in place of the
methods of `float` those of the traced number, so that a sum is one again, of no class, as in Python. What the memory of
such an object says is NaN: nothing that is written in C can take it for a constant.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.array_classes import (
    HELD,
    ArrayClasses,
    Holding,
    held,
    held_in,
    held_with_parts,
    is_of_followed_code,
    parts_of_held,
)
from wengert.box.operators import as_python_number
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.types import dtype_of


@functools.lru_cache(maxsize=1024)
def can_hold_number(kind: Any) -> bool:
    """Whether objects of a class may hold traced numbers: it is derived from `float`, by code that is followed.

    >>> can_hold_number(float), can_hold_number(np.float64)
    (False, False)
    """
    if not isinstance(kind, type) or not issubclass(kind, float) or kind is float or issubclass(kind, np.generic):
        return False
    between = [base for base in kind.__mro__ if base not in (float, object)]
    return not issubclass(kind, Holding) and all(is_of_followed_code(base) for base in between)


class HeldNumber(float, Holding):
    """What an object with a traced number in it has in place of the methods of `float`."""

    __slots__ = ()

    def __new__(cls, x: Any = 0.0) -> Any:
        value = held(x)
        if not isinstance(value, Traced):
            value = float(value)
        elif dtype_of(value).kind == "c":
            raise TypeError("can't convert complex to float")
        elif not (value._is_python_number and dtype_of(value) == np.float64):  # type: ignore[attr-defined]
            value = as_python_number(s.astype(value, dtype=np.dtype(np.float64)))
        new = held_with_parts(cls, {HELD: value})
        ArrayClasses.allocated(new)
        return new

    def _wengert_array(self) -> Any:
        """The number in it."""
        return self.__dict__[HELD]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*held_in(inputs), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*held_in(tuple(args)), **held_in(kwargs))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._wengert_array()

    def __reduce__(self) -> Any:
        return self._wengert_array().__reduce__()

    def __copy__(self) -> Any:
        return held_with_parts(type(self), parts_of_held(self))

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __hash__(self) -> int:
        return hash(self._wengert_array())


def _method(apply: Callable) -> Any:
    return lambda self, *args: apply(held(self), *[held(a) for a in args])


_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _name in (*_OPERATORS, "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs"):
    setattr(HeldNumber, f"__{_name}__", _method(getattr(operator, f"__{_name}__")))
for _name in _OPERATORS:
    _apply = getattr(operator, f"__{_name}__")
    setattr(HeldNumber, f"__r{_name}__", _method(lambda x, y, apply=_apply: apply(y, x)))
for _name, _apply in (
    ("divmod", divmod), ("rdivmod", lambda x, y: divmod(y, x)), ("bool", bool), ("int", int), ("float", float),
    ("complex", complex), ("round", round), ("trunc", math.trunc), ("floor", math.floor), ("ceil", math.ceil),
    ("repr", repr), ("str", str), ("format", format),
):  # fmt: skip
    setattr(HeldNumber, f"__{_name}__", _method(_apply))
for _name in ("is_integer", "as_integer_ratio", "hex", "conjugate"):
    setattr(HeldNumber, _name, _method(lambda x, name=_name: getattr(x, name)()))
for _name in ("real", "imag"):
    setattr(HeldNumber, _name, property(_method(lambda x, name=_name: getattr(x, name))))
ArrayClasses.bases[float] = HeldNumber
