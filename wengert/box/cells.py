"""Cells: plain arrays that traced values may be written into.

`np.zeros(n)` in a function that is being differentiated gives a cell. As long as it holds plain numbers it behaves as
the array it holds; what is computed from it is plain (and, being an array, a cell again). The first write of a traced
value makes it a traced array, with everything that was written before (`writing.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.box.array_classes import ArrayClasses
from wengert.box.box import Box
from wengert.box.dispatch import OVERWRITING, WRITERS, place_of_out
from wengert.box.writing import SETTLING, settle, settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops.library import is_foreign, may_share
from wengert.ops.op import Traced
from wengert.running import running

_OF_THE_ARRAY = frozenset(("flags", "strides", "tobytes", "tofile", "dump", "dumps"))
"""What a cell lets its array answer: questions, and copies of the data. (`view` would share memory with it.)"""


def _noted(value: Any) -> Any:
    """A plain array that is read: a block that is being captured has to know, since plain results leave no trace."""
    capture = running.state.capture
    if capture is not None and value.__class__ is np.ndarray:
        capture.note_read(value)
    return value


def _read(cell: Any) -> Any:
    return _noted(settle(cell))


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
            return Cell._of_plain(self, getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = _by_numpy(function, args, kwargs)
        if found is not None:
            return found
        try:
            # Not super(): asking may have settled a stale view of an array that is traced by now, which is no cell.
            return Box.__array_function__(self, function, types, args, kwargs)
        except UnsupportedFunctionError:
            return Cell._of_plain(self, function, args, kwargs)

    def _of_plain(self, function: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = without_cells(tuple(args)), without_cells(kwargs)
        if kwargs.get("out") is not None or _holds_traced((args, kwargs)):
            raise
        return lent(function(*args, **kwargs), (args, kwargs))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(_read(self), dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        return getattr(_read(self), name) if name in _OF_THE_ARRAY else super().__getattr__(name)

    def byteswap(self, inplace: bool = False) -> Any:
        value = _read(self)
        if isinstance(value, Traced):
            return super().byteswap(inplace)
        swapped = cell(value.byteswap())
        if not inplace:
            return swapped
        self[...] = swapped  # the memory may be the caller's
        return self

    def __float__(self) -> float:
        return float(_read(self))

    def __int__(self) -> int:
        return int(_read(self))

    def __complex__(self) -> complex:
        return complex(_read(self))

    def __repr__(self) -> str:
        return repr(_read(self))

    def __str__(self) -> str:
        return str(_read(self))

    def __reduce__(self) -> Any:
        return _read(self).__reduce__()

    def tolist(self) -> Any:
        return _read(self).tolist()


SETTLING.cell = ArrayClasses.in_cell = Cell


def _by_numpy(function: Any, args: tuple, kwargs: dict) -> Any:
    """What NumPy's own function makes of the arrays in cells: to the last digit, and which of many bases or roots.

    `None` if it is not to be asked: it writes, it calls back, there are traced values, or it returns a view.
    """
    if function in WRITERS or "out" in kwargs or kwargs.get("copy", True) is not True:
        return None
    if len(args) > 1 and (len(args) > place_of_out(function) or (function is np.nan_to_num and args[1] is not True)):
        return None
    plain_args, plain_kwargs = without_cells(tuple(args)), without_cells(dict(kwargs))
    if not OVERWRITING.isdisjoint(plain_kwargs):  # they may, but need not
        plain_kwargs = {key: value for key, value in plain_kwargs.items() if key not in OVERWRITING}
    leaves = list(_leaves((plain_args, plain_kwargs)))
    if any(isinstance(x, Traced) or (callable(x) and not isinstance(x, type)) for x in leaves):
        return None
    try:
        y = function(*plain_args, **plain_kwargs)
    except (TypeError, NotImplementedError):
        if not any(map(is_foreign, leaves)):
            raise
        return None  # another library, which need not have all functions
    if y is None or any(may_share(part, x) for part in _leaves(y) for x in leaves):
        return None
    return _in_cells(y) if running.state.depth else y


def _leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, tuple, dict)):
        for item in x.values() if isinstance(x, dict) else x:
            yield from _leaves(item)
    else:
        yield x


Cell.__name__ = "traced array"


def _in_cells(y: Any) -> Any:
    if y.__class__ is list:
        return [_in_cells(part) for part in y]
    if isinstance(y, tuple):
        parts = [_in_cells(part) for part in y]
        return y.__class__(*parts) if hasattr(y.__class__, "_fields") else tuple(parts)
    return SETTLING.wrap(y)


def without_cells(x: Any) -> Any:
    """What stands in cells, also in those in containers, for code that wants arrays."""
    if isinstance(x, Traced):
        value = settled(x)
        return x if isinstance(value, Traced) else _noted(value)
    if x.__class__ is tuple or x.__class__ is list or (isinstance(x, tuple) and hasattr(x.__class__, "_fields")):
        items = [without_cells(item) for item in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return x.__class__(*items) if hasattr(x.__class__, "_fields") else x.__class__(items)
    if x.__class__ is dict:
        return {key: without_cells(item) for key, item in x.items()}
    return x


def lent(y: Any, given: Any) -> Any:
    """What a function that knows no cells made of the arrays in them: views of these can be read, not written to, since
    nobody would follow that, and the memory may be the caller's."""
    arrays = [x for x in _leaves(given) if x.__class__ is np.ndarray]
    for part in _leaves(y):
        if part.__class__ is np.ndarray and any(np.may_share_memory(part, x) for x in arrays):
            if any(part is x for x in arrays):
                part = part.view()
                y = part if y.__class__ is np.ndarray else y
            part.flags.writeable = False
    return y


def _holds_traced(x: Any) -> bool:
    if x.__class__ in (tuple, list):
        return any(_holds_traced(item) for item in x)
    return any(_holds_traced(item) for item in x.values()) if x.__class__ is dict else isinstance(x, Traced)


def cell(x: Any) -> Any:
    """What a constructor returns: arrays of floating type as cells, anything else as it is."""
    return SETTLING.wrap(x)
