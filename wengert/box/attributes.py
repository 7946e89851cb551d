"""Attributes of arrays that are objects of their own, or can be assigned to: `x.flat`, `x.flags`, `x.shape = …`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS
from wengert.box.functions.operands import array, shape_tuple, size_of
from wengert.box.functions.shapes import known_shape
from wengert.box.memory import laid_out, shares
from wengert.box.writing import become, clone, is_writeable, make_views_stale, set_item, set_writeable, settled
from wengert.errors import InPlaceError, UnsupportedFunctionError
from wengert.ops import shape as s
from wengert.ops.op import Op, Traced, call
from wengert.running import running
from wengert.types import dtype_of, shape_of


def refused(what: str, remedy: str) -> UnsupportedFunctionError:
    """The error for an attribute that traced arrays do not have."""
    return UnsupportedFunctionError(f"{what} is not possible for a traced array", remedy=remedy)


class Flat:
    """`x.flat`: the elements of an array one after the other. What is read is a copy, what is written is not."""

    __slots__ = ("_array", "_next")

    def __init__(self, array: Any):
        self._array = array
        self._next = 0

    @property
    def base(self) -> Any:
        return self._array

    @property
    def index(self) -> int:
        return self._next

    @property
    def coords(self) -> tuple[int, ...]:
        return tuple([int(k) for k in np.unravel_index(self._next, self._array.shape)])

    def copy(self) -> Any:
        return s.copy(FUNCTIONS[np.ravel](self._array))

    def __len__(self) -> int:
        return self._array.size

    def __getitem__(self, idx: Any) -> Any:
        y = self.copy()[idx]
        return s.copy(y) if shape_of(y) else y

    def __setitem__(self, idx: Any, value: Any) -> None:
        idx = settled(idx)
        if not isinstance(idx, Traced):
            FUNCTIONS[np.put](self._array, np.arange(len(self))[idx], value)
            return
        flat = FUNCTIONS[np.reshape](self._array, -1)  # places that are known only when a captured program runs
        if flat._view_of is None:
            raise refused("x.flat[i] = v, where i is computed and x is not in C order,", "write to x[i, j]")
        set_item(flat, idx, value)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._next >= len(self):
            raise StopIteration
        place, self._next = self.coords, self._next + 1
        return self._array[place]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_without_iterators(args), **_without_iterators(kwargs))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_without_iterators(inputs), **_without_iterators(kwargs))


def _compared(name: str) -> Any:
    return lambda self, other: getattr(self.copy(), name)(*_without_iterators((other,)))


for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(Flat, _name, _compared(_name))


def _without_iterators(x: Any) -> Any:
    if x.__class__ is Flat:
        return x.copy()
    if x.__class__ in (list, tuple):
        return x.__class__(_without_iterators(item) for item in x)
    return {k: _without_iterators(item) for k, item in x.items()} if x.__class__ is dict else x


class Flags:
    """`x.flags`, of which `writeable` can be set."""

    __slots__ = ("_array",)

    def __init__(self, x: Any):
        object.__setattr__(self, "_array", x)

    def __getattr__(self, name: str) -> Any:
        if name == "writeable":
            return is_writeable(self._array)
        return self._array._view_of is None if name == "owndata" else getattr(laid_out(self._array).flags, name)

    def __getitem__(self, name: str) -> Any:
        own = {"WRITEABLE": "writeable", "W": "writeable", "OWNDATA": "owndata", "O": "owndata"}
        return getattr(self, own[name]) if name in own else laid_out(self._array).flags[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "writeable":
            set_writeable(self._array, bool(value))
        elif getattr(self, name) != value:
            raise refused(f"x.flags.{name} = {value}", "leave it out, or work on a copy: x.copy()")

    def __setitem__(self, name: str, value: Any) -> None:
        self.__setattr__({"W": "writeable"}.get(name, name.lower()), value)


def set_part(z: Any, part: Op, value: Any) -> None:
    """`z.real = …` and `z.imag = …`."""
    if not z.shape and z._view_of is None:
        raise AttributeError(f"attribute {part.name!r} of a number is not writable")
    if dtype_of(z).kind == "c":
        view = FUNCTIONS[np.real if part is s.real else np.imag](z)
        held = value._view_of if isinstance(value, Traced) else None  # type: ignore[attr-defined]
        if held is not None and held.part is part and held.root is z:
            if held.function is view._view_of.function:
                return  # z.real += w: it was written to already
        view[...] = value
    elif part is s.real:
        z[...] = value
    else:
        raise TypeError("array does not have imaginary part to set")


def set_shape(x: Any, shape: Any) -> None:
    """`x.shape = …`: the array itself, under all its names, has another shape; what shares its memory is as it was."""
    new = known_shape(size_of(x), shape_tuple(shape))
    if 0 not in new and not shares(np.reshape, (new,), {}, x):
        raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()` to make a copy.")
    capture = running.state.capture
    view = x._view_of
    if capture is not None and (view.root if view is not None else x) is x and not capture.owns(x):
        raise InPlaceError(
            "x.shape = … changes the shape of an array that was made elsewhere",
            remedy="give the reshaped array a name of its own: y = x.reshape(shape)",
        )
    if view is not None:
        inner = view.function
        view.function, view._pattern, view._positions = lambda root: call(s.reshape, inner(root), shape=new), None, None
        view.fresh = True
        become(x, view.read())
        return
    old = settled(x)
    content = call(s.reshape, clone(old) if isinstance(old, Traced) else old, shape=new)
    become(x, content if isinstance(content, Traced) else array(content))
    make_views_stale(x)
