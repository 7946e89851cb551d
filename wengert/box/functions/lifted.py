"""The values that functions given to a solver or an integrator depend on, taken out of them.

`quad(f, 0, 1)` or `brentq(f, 0, 1)` is given a function, which may depend on traced values in three ways: through
`args=`, through variables of the function around it, and through the attributes of an object whose method it is. All of
them become operands of an op: they are found in the closure (`Lifted`), and a copy of the function is made with other
values instead.

A compiled program runs the function later than the user's code called the solver, when variables may have been bound
anew, or have no value after a branch. So everything is as it was found: what functions, lists and objects held then is
kept, and copies are made of that. What holds no traced value is left as it is, since it may be changed by the function
for others to see; but in a program that is captured, variables of closures, and what was made there, are kept as well.
A copy of something from outside that holds a traced value has everything else as it is when the program runs.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from wengert.box.array_classes import Held, held_with_parts, parts_of_held
from wengert.box.functions.operands import cast
from wengert.box.functions.sparse_matrix import SparseMatrix
from wengert.box.writing import settled
from wengert.ops.op import Traced
from wengert.ops.shape import imag, real
from wengert.packages import is_followed
from wengert.running import running
from wengert.types import dtype_of, has_own_dict, is_inexact, own_dict

_NUMBERS = "biufc"
_EXACT = 2.0**53
"""All smaller integers are floats."""
HOLDERS: set[type] = set()
"""Classes of ours whose instances hold what is the user's in their attributes: functions that operators have made of
his, and what stands for the value of a variable that a branch may not have bound."""
AROUND: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {}
"""Classes of ours whose instances are made around a function: the attribute that holds it, and how to make the same
around another."""
_EMPTY = object()
"""Stands for the value of a variable of a closure that has none."""


class Lifted:
    """A function, or a container of such, with the traced values it depends on taken out of it."""

    def __init__(self, thing: Any):
        self.thing = thing
        self.values: list[Any] = []
        self._places: dict[int, int] = {}
        self._held: dict[int, list[Any]] = {}
        """What functions, containers and objects held, by their ids."""
        self._touched: dict[int, bool] = {}
        self._outside: set[int] = set()
        """Containers and objects that were there before the program that is captured."""
        self._kept: list[Any] = []
        self._capture = running.state.capture
        self._look(thing)
        del self._capture

    def _look(self, x: Any) -> bool:
        """Whether a copy of x is needed; traced values that are found are remembered."""
        if isinstance(x, Traced):
            if id(x) not in self._places:
                self._places[id(x)] = len(self.values)
                self.values.append(settled(x))
                self._kept.append(x)
            return True
        parts = _parts(x)
        if parts is None:
            return False
        known = self._touched.get(id(x))
        if known is not None:
            return known
        self._touched[id(x)] = changes = self._capture is not None and self._may_change(x)  # a function may call itself
        if self._capture is not None and not changes and x.__class__ not in (FunctionType, MethodType, tuple):
            self._outside.add(id(x))
        self._held[id(x)] = parts
        self._kept.append(x)
        found = [self._look(p) for p in parts]
        self._touched[id(x)] = changes or any(found)
        return changes or any(found)

    def _may_change(self, x: Any) -> bool:
        """Whether the rest of the program that is captured may change what x holds."""
        if x.__class__ is FunctionType:
            return bool(x.__closure__) and is_followed(x.__code__.co_filename)
        return self._capture.has_created(x)

    def real_numbers(self) -> list[Any]:
        """The values as operands of an op that computes with float64: of complex ones the real and the imaginary
        parts. What holds no numbers, such as records, is none of them."""
        found: list[Any] = []
        for value in self.values:
            kind = dtype_of(value).kind
            parts = [real(value), imag(value)] if kind == "c" else [value] if kind in _NUMBERS else []
            found += [cast(part, np.float64) for part in parts]
        return found

    def with_real_numbers(self, numbers: Iterable[Any]) -> Any:
        """The same, depending on these numbers instead of `real_numbers`."""
        rest, filled = iter(numbers), list(self.values)
        for k, value in enumerate(self.values):
            dtype = dtype_of(value)
            if dtype.kind == "c":
                filled[k] = next(rest) + 1j * next(rest)
            elif dtype.kind in _NUMBERS:
                number = next(rest)
                filled[k] = number if is_inexact(dtype) else whole(number, dtype)
        return self.with_values(filled)

    def called_later(self) -> None:
        """Say so, in a program that is captured: then what it reads outside must be the same when the program runs."""
        if running.state.capture is not None:
            running.state.capture.later.append(self.thing)

    def with_values(self, values: Any) -> Any:
        """The same, depending on these values instead."""
        return self._rebuilt(self.thing, values, {})

    def _rebuilt(self, x: Any, values: Any, made: dict[int, Any]) -> Any:
        if isinstance(x, Traced):
            return values[self._places[id(x)]]
        if not self._touched.get(id(x)):
            return x
        if id(x) in made:
            return made[id(x)]

        def again(p: Any) -> Any:
            return self._rebuilt(p, values, made)

        held = self._current(x) if id(x) in self._outside else self._held[id(x)]
        new: Any
        if x.__class__ is FunctionType:
            cells = tuple([CellType() for _ in x.__closure__ or ()])
            new = made[id(x)] = FunctionType(x.__code__, x.__globals__, x.__name__, None, cells or None)
            _fill_function(new, x, [p if p is _EMPTY else again(p) for p in held])
            return new
        if x.__class__ is MethodType:
            return MethodType(again(x.__func__), again(x.__self__))
        if x.__class__ is functools.partial:
            return functools.partial(again(x.func), *again(x.args), **again(x.keywords))
        if x.__class__ is tuple:
            return tuple([again(p) for p in held])
        if x.__class__ is list:
            new = made[id(x)] = []
            new += [again(p) for p in held]
            return new
        if x.__class__ is dict:
            new = made[id(x)] = {}
            new.update(zip(held[0], [again(p) for p in held[1:]], strict=True))
            return new
        if x.__class__ is SparseMatrix:
            return x.with_entries(again(x.entries))
        if x.__class__ in AROUND:
            new = made[id(x)] = AROUND[x.__class__][1](x, again(held[0]))
            return new
        if isinstance(x, Held):
            return held_with_parts(x.__class__, dict(zip(held[0], [again(p) for p in held[1:]], strict=True)))
        new = made[id(x)] = object.__new__(x.__class__) if x.__class__ in HOLDERS else copy.copy(x)
        own_dict(new).clear()
        for name, value in zip(held[0], held[1:], strict=True):
            object.__setattr__(new, name, again(value))
        if running.state.capture is not None and id(x) not in self._outside:
            running.state.capture.note_created(new)  # as the one that it is a copy of: its arrays are no inputs
        return new

    def _current(self, x: Any) -> list[Any]:
        """What something from outside holds now, with the traced values that it held when it was found."""
        held, now = self._held[id(x)], _parts(x) or []
        if x.__class__ in (list, functools.partial, SparseMatrix) or x.__class__ in AROUND:
            same = len(now) == len(held)
            return [h if self._is_lifted(h) else n for h, n in zip(held, now, strict=True)] if same else held
        lifted = {name: h for name, h in zip(held[0], held[1:], strict=True) if self._is_lifted(h)}
        both = {**dict(zip(now[0], now[1:], strict=True)), **lifted}
        return [tuple(both), *both.values()]

    def _is_lifted(self, x: Any) -> bool:
        return isinstance(x, Traced) or self._touched.get(id(x), False)


def _fill_function(new: Any, x: FunctionType, held: list[Any]) -> None:
    """Give a copy of a function its contents: variables of its closure, and defaults."""
    new.__dict__.update({k: v for k, v in x.__dict__.items() if not k.startswith("__wengert_twin")})
    *contents, new.__defaults__, new.__kwdefaults__ = held
    for cell, content in zip(new.__closure__ or (), contents, strict=True):
        if content is not _EMPTY:
            cell.cell_contents = content


def whole(p: Any, dtype: np.dtype) -> Any:
    """An integer or truth value that was passed on as a float, to an op whose parameters are real numbers."""
    if isinstance(p, Traced):
        return cast(p, dtype)
    if dtype.itemsize == 8 and np.any(np.abs(p) >= _EXACT):
        raise OverflowError("an integer of more than 53 bits in a function that is given to a solver or an integrator")
    if np.ndim(p):
        return np.asarray(p, dtype)
    return bool(p) if dtype.kind == "b" else int(p) if dtype == np.dtype(int) else dtype.type(p)


def is_filled(cell: CellType) -> bool:
    """Whether a variable of a closure has a value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _parts(x: Any) -> list[Any] | None:
    """What a function, container or object holds, keys and names first; `None` if there is nothing to look into."""
    kind = x.__class__
    if kind is FunctionType:
        inside = [c.cell_contents if is_filled(c) else _EMPTY for c in x.__closure__ or ()]
        return [*inside, x.__defaults__, x.__kwdefaults__]
    if kind is MethodType:
        return [x.__func__, x.__self__]
    if kind is functools.partial:
        return [x.func, x.args, x.keywords]
    if kind in (list, tuple):
        return list(x)
    if kind is dict:
        return [tuple(x), *x.values()]
    if kind is SparseMatrix:
        return [x.entries]
    if isinstance(x, Held):
        parts = parts_of_held(x)
        return [tuple(parts), *parts.values()]
    if kind in HOLDERS:
        return [tuple(vars(x)), *vars(x).values()]
    if kind in AROUND:
        return [getattr(x, AROUND[kind][0])]
    if isinstance(x, (type, ModuleType)) or kind.__module__.partition(".")[0] in (
        "wengert",
        "numpy",
        "scipy",
        "builtins",
    ):
        return None
    held = own_dict(x) if has_own_dict(x) else None
    return [tuple(held), *held.values()] if held.__class__ is dict else None
