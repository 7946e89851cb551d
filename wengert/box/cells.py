"""Cells: plain arrays that traced values may be written into.

`np.zeros(n)` in a function that is being differentiated gives a cell. As long as it holds plain numbers it behaves as
the array it holds; what is computed from it is plain (and, being an array, a cell again). The first write of a traced
value makes it a traced array, with everything that was written before (`writing.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.writing import SETTLING, settle, settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.running import running

_OF_THE_ARRAY = frozenset(("flags", "strides", "tobytes", "tofile", "byteswap", "dump", "dumps"))
"""What a cell lets its array answer: questions, and copies of the data. (`view` would share memory with it.)"""


class Cell(Box):
    """A plain array in a box that can be written to."""

    __slots__ = ()
    _is_cell = True

    def __init__(self, value: np.ndarray):
        self._owner = SETTLING
        self._value = value
        capture = running.state.capture
        if capture is not None:
            capture.note_created(self)

    # What has no rule, or no rule for these options, needs none if no operand is traced.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        try:
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        except UnsupportedFunctionError:
            return self._of_plain(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        try:
            return super().__array_function__(function, types, args, kwargs)
        except UnsupportedFunctionError:
            return self._of_plain(function, args, kwargs)

    def _of_plain(self, function: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = without_cells(tuple(args)), without_cells(kwargs)
        if kwargs.get("out") is not None or _holds_traced((args, kwargs)):
            raise
        return function(*args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(settle(self), dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        return getattr(settle(self), name) if name in _OF_THE_ARRAY else super().__getattr__(name)

    def __float__(self) -> float:
        return float(settle(self))

    def __int__(self) -> int:
        return int(settle(self))

    def __complex__(self) -> complex:
        return complex(settle(self))

    def __repr__(self) -> str:
        return repr(settle(self))

    def __str__(self) -> str:
        return str(settle(self))

    def __reduce__(self) -> Any:
        return settle(self).__reduce__()

    def tolist(self) -> Any:
        return settle(self).tolist()


SETTLING.cell = Cell


def without_cells(x: Any) -> Any:
    """What stands in cells, also in those in containers, for code that wants arrays."""
    if isinstance(x, Traced):
        value = settled(x)
        return x if isinstance(value, Traced) else value
    if x.__class__ is tuple or x.__class__ is list:
        items = [without_cells(item) for item in x]
        return x if all(a is b for a, b in zip(items, x, strict=True)) else x.__class__(items)
    if x.__class__ is dict:
        return {key: without_cells(item) for key, item in x.items()}
    return x


def _holds_traced(x: Any) -> bool:
    if x.__class__ in (tuple, list):
        return any(_holds_traced(item) for item in x)
    return any(_holds_traced(item) for item in x.values()) if x.__class__ is dict else isinstance(x, Traced)


def cell(x: Any) -> Any:
    """What a constructor returns: arrays of floating type as cells, anything else as it is."""
    return SETTLING.wrap(x)
