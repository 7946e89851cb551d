"""The values that functions given to a solver or an integrator depend on, taken out of them.

`quad(f, 0, 1)` or `brentq(f, 0, 1)` is given a function, which may depend on traced values in three ways: through
`args=`, through variables of the function around it, and through the attributes of an object whose method it is. All of
them become operands of an op: they are found in the closure (`Lifted`), and a copy of the function is made with other
values instead.
"""

from __future__ import annotations

import copy
import functools
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from wengert.box.functions.sparse_matrix import SparseMatrix
from wengert.box.writing import settled
from wengert.ops.op import Traced
from wengert.types import has_own_dict, own_dict


class Lifted:
    """A function, or a container of such, with the traced values it depends on taken out of it."""

    def __init__(self, thing: Any):
        self.thing = thing
        self.values: list[Any] = []
        self._places: dict[int, int] = {}
        self._touched: dict[int, bool] = {}
        self._kept: list[Any] = []
        self._look(thing)

    def _look(self, x: Any) -> bool:
        """Whether there is a traced value in x; those that are found are remembered."""
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
        self._touched[id(x)] = False  # a function that calls itself
        self._kept.append(x)
        found = [self._look(p) for p in parts]
        self._touched[id(x)] = any(found)
        return any(found)

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

        if x.__class__ is FunctionType:
            cells = tuple([CellType() for _ in x.__closure__ or ()])
            new: Any = FunctionType(x.__code__, x.__globals__, x.__name__, None, cells or None)
            made[id(x)] = new
            new.__dict__.update({k: v for k, v in x.__dict__.items() if not k.startswith("__wengert_twin")})
            new.__defaults__ = again(x.__defaults__)
            new.__kwdefaults__ = again(x.__kwdefaults__)
            for cell, old in zip(cells, x.__closure__ or (), strict=True):
                if is_filled(old):
                    cell.cell_contents = again(old.cell_contents)
            return new
        if x.__class__ is MethodType:
            return MethodType(again(x.__func__), again(x.__self__))
        if x.__class__ is functools.partial:
            return functools.partial(again(x.func), *again(x.args), **again(x.keywords))
        if x.__class__ in (list, tuple):
            return x.__class__([again(p) for p in x])
        if x.__class__ is dict:
            return {k: again(v) for k, v in x.items()}
        if x.__class__ is SparseMatrix:
            return x.with_data(again(x.data))
        new = made[id(x)] = copy.copy(x)
        for name, value in x.__dict__.items():
            object.__setattr__(new, name, again(value))
        return new


def is_filled(cell: CellType) -> bool:
    """Whether a variable of a closure has a value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _parts(x: Any) -> list[Any] | None:
    """What a function, container or object holds; `None` if there is nothing to look into."""
    kind = x.__class__
    if kind is FunctionType:
        inside = [c.cell_contents for c in x.__closure__ or () if is_filled(c)]
        return [*inside, x.__defaults__, x.__kwdefaults__]
    if kind is MethodType:
        return [x.__func__, x.__self__]
    if kind is functools.partial:
        return [x.func, x.args, x.keywords]
    if kind in (list, tuple):
        return list(x)
    if kind is dict:
        return list(x.values())
    if kind is SparseMatrix:
        return [x.data]
    if isinstance(x, (type, ModuleType)) or kind.__module__.partition(".")[0] in (
        "wengert",
        "numpy",
        "scipy",
        "builtins",
    ):
        return None
    held = own_dict(x) if has_own_dict(x) else None
    return list(held.values()) if held.__class__ is dict else None
