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

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.box.array_classes import Holding, held_with_parts, parts_of_held
from wengert.box.contents import Content, Holder, blank, content, in_cell, put, slot_names
from wengert.box.functions.operands import cast
from wengert.box.functions.sparse_matrix import SparseMatrix
from wengert.box.writing import settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.ops.shape import imag, real
from wengert.packages import is_followed
from wengert.running import running
from wengert.types import dtype_of, is_inexact, own_dict

_NUMBERS = "biufc"
_EXACT = 2.0**53
"""All smaller integers are floats."""
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
        self._held: dict[int, Content] = {}
        """What functions, containers and objects held, by their ids."""
        self._touched: dict[int, bool] = {}
        self._outside: set[int] = set()
        """Containers and objects that were there before the program that is captured."""
        self._kept: list[Any] = []
        self._copies: dict[int, tuple[Any, Content]] = {}
        """The copies that were made last, by the ids of what they are copies of, and what they were given."""
        self._originals: dict[int, Any] = {}
        """What they are copies of, by their own ids."""
        self._capture = running.state.capture
        self.in_program = self._capture is not None
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
        kind = kind_of(x)
        if kind is None:
            return False
        known = self._touched.get(id(x))
        if known is not None:
            return known
        self._touched[id(x)] = changes = self._capture is not None and self._may_change(x)  # a function may call itself
        if self._capture is not None and not changes and type(x) not in (FunctionType, MethodType, tuple):
            self._outside.add(id(x))
        self._held[id(x)] = parts = kind.parts(x)
        self._kept.append(x)
        found = [self._look(part) for part in parts.values()]
        self._touched[id(x)] = changes or any(found)
        return changes or any(found)

    def _may_change(self, x: Any) -> bool:
        """Whether the rest of the program that is captured may change what x holds."""
        if type(x) is FunctionType:
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
        self._copies, self._originals = {}, {}
        return self._rebuilt(self.thing, values, {})

    def holders(self) -> Iterator[tuple[Any, HolderKind]]:
        """Containers, objects and functions that were found, which may come to hold something else."""
        for x in self._kept:
            kind = kind_of(x)
            if kind is not None and kind.blank is not None:
                yield x, kind

    def contents_before(self) -> dict[int, Content]:
        """What these held when they were found, by their ids."""
        return {id(x): self._held[id(x)] for x, _ in self.holders()}

    def contents_after(self) -> dict[int, Content]:
        """What they shall hold when the copies that were made last have been called: what is in a copy belongs into
        the thing that it is a copy of."""
        found = {}
        for x, kind, copy, given in self.copies():
            held = self._held[id(x)]
            found[id(x)] = {
                place: held[place] if place in given and part is given[place] else self._originals.get(id(part), part)
                for place, part in kind.parts(copy).items()
            }
        return found

    def copies(self) -> Iterator[tuple[Any, HolderKind, Any, Content]]:
        """Things with the copies that were made last, and what these were given."""
        for x, kind in self.holders():
            if id(x) in self._copies:
                yield x, kind, *self._copies[id(x)]

    def refuse_changes(self, name: str) -> None:
        """In a compiled program there is no place any more for what was changed in copies."""
        for x, kind in self.holders():
            copy, given = self._copies.get(id(x), (None, {}))
            if copy is not None and any(part is not given.get(p, part) for p, part in kind.parts(copy).items()):
                raise UnsupportedFunctionError(
                    f"a function given to {name} changes {described(x)} in a compiled function, and that is lost",
                    remedy="compute what it counts or keeps after the call instead, or call it outside of jit",
                )

    def _rebuilt(self, x: Any, values: Any, made: dict[int, Any]) -> Any:
        if isinstance(x, Traced):
            return values[self._places[id(x)]]
        if not self._touched.get(id(x)):
            return x
        if id(x) in made:
            return made[id(x)]
        kind = kind_of(x)
        assert kind is not None
        held = self._current(x, kind) if id(x) in self._outside else self._held[id(x)]
        if kind.blank is not None:  # it may hold itself
            made[id(x)] = kind.blank(x)
        parts = {place: part if part is _EMPTY else self._rebuilt(part, values, made) for place, part in held.items()}
        if kind.blank is None:
            made[id(x)] = kind.made(x, parts)
        else:
            kind.made(made[id(x)], x, parts)
            self._copies[id(x)] = made[id(x)], kind.parts(made[id(x)])
            self._originals[id(made[id(x)])] = x
        if kind is _OBJECT and running.state.capture is not None and id(x) not in self._outside:
            running.state.capture.note_created(made[id(x)])  # as the one that it is a copy of: its arrays are no inputs
        return made[id(x)]

    def _current(self, x: Any, kind: HolderKind) -> Content:
        """What something from outside holds now, with the traced values that it held when it was found."""
        held, now = self._held[id(x)], kind.parts(x)
        if len(now) != len(held) and not all(where in ("key", "attribute") for where, _ in now):
            return held
        return {**now, **{place: part for place, part in held.items() if self._is_lifted(part)}}

    def _is_lifted(self, x: Any) -> bool:
        return isinstance(x, Traced) or self._touched.get(id(x), False)


def described(x: Any) -> str:
    if type(x) is FunctionType:
        return f"a variable of {x.__name__}"
    return f"a {type(x).__name__}" if x.__class__ in _CONTAINERS else f"an object of class {type(x).__name__}"


def whole(p: Any, dtype: np.dtype) -> Any:
    """An integer or truth value that was passed on as a float, to an op whose parameters are real numbers."""
    if isinstance(p, Traced):
        return cast(p, dtype)
    if dtype.itemsize == 8 and np.any(np.abs(p) >= _EXACT):
        raise OverflowError("an integer of more than 53 bits in a function that is given to a solver or an integrator")
    if np.ndim(p):
        return np.asarray(p, dtype)
    return bool(p) if dtype.kind == "b" else int(p) if dtype == np.dtype(int) else dtype.type(p)


# ------------------------------------------------------------------------------- what things hold, and others like them


class HolderKind(NamedTuple):
    """Things of one kind: what they hold, and how to make another that holds something else. `made(x, parts)` gives it,
    or, of things that may hold themselves, `made(new, x, parts)` fills a blank one."""

    parts: Callable[[Any], Content]
    made: Callable[..., Any]
    blank: Callable[[Any], Any] | None = None


def _listed(*parts: Any) -> Content:
    return {("part", k): part for k, part in enumerate(parts)}


def _parts_of_function(f: FunctionType) -> Content:
    inside = [in_cell(c, _EMPTY) for c in f.__closure__ or ()]
    own = {("attribute", k): v for k, v in f.__dict__.items() if not k.startswith("__wengert_twin")}
    return {**_listed(f.__defaults__, f.__kwdefaults__, *inside), **own}


def _blank_function(f: FunctionType) -> FunctionType:
    cells = tuple([CellType() for _ in f.__closure__ or ()])
    return FunctionType(f.__code__, f.__globals__, f.__name__, None, cells or None)


def _fill_function(new: FunctionType, f: FunctionType, parts: Content) -> None:
    new.__dict__.update({name: part for (where, name), part in parts.items() if where == "attribute"})
    new.__defaults__, new.__kwdefaults__, *inside = [v for (where, _), v in parts.items() if where == "part"]
    for cell, value in zip(new.__closure__ or (), inside, strict=True):
        if value is not _EMPTY:
            cell.cell_contents = value


def _made_partial(x: functools.partial, parts: Content) -> functools.partial:
    f, args, keywords = parts.values()
    return functools.partial(f, *args, **keywords)


def _made_tuple(x: tuple, parts: Content) -> tuple:
    new = tuple.__new__(x.__class__, [part for (where, _), part in parts.items() if where == "part"])
    own_dict(new).update({name: part for (where, name), part in parts.items() if where == "attribute"})
    return new


def _parts_of_tuple(x: tuple) -> Content:
    return {**_listed(*x), **{("attribute", name): part for name, part in own_dict(x).items()}}


def _made_held(x: Holding, parts: Content) -> Any:
    return held_with_parts(x.__class__, {name: part for (_, name), part in parts.items()})


def _filled(new: Any, x: Any, parts: Content) -> None:
    put(new, parts)


_KINDS: dict[type, HolderKind] = {
    FunctionType: HolderKind(_parts_of_function, _fill_function, _blank_function),
    MethodType: HolderKind(
        lambda x: _listed(x.__func__, x.__self__), lambda x, parts: MethodType(parts["part", 0], parts["part", 1])
    ),
    functools.partial: HolderKind(lambda x: _listed(x.func, x.args, x.keywords), _made_partial),
    functools.lru_cache(len).__class__: HolderKind(lambda x: _listed(x.__wrapped__), lambda x, parts: parts["part", 0]),
    SparseMatrix: HolderKind(lambda x: _listed(x.entries), lambda x, parts: x.with_entries(parts["part", 0])),
}
_TUPLE = HolderKind(_parts_of_tuple, _made_tuple)
_HELD = HolderKind(lambda x: {("attribute", name): part for name, part in parts_of_held(x).items()}, _made_held)
_OBJECT = HolderKind(content, _filled, blank)
_CONTAINERS = (list, dict, deque)


def kind_of(x: Any) -> HolderKind | None:
    """How a thing is looked into: by its own class, since some have another one for an attribute, or none."""
    own: Any = type(x)
    return _kind_of_class(own)


@functools.lru_cache(maxsize=4096)
def _kind_of_class(cls: type) -> HolderKind | None:
    """How things of a class are looked into; `None` if there is nothing to find."""
    if cls in _KINDS:
        return _KINDS[cls]
    if cls in AROUND:
        attribute, around = AROUND[cls]
        return HolderKind(lambda x: _listed(getattr(x, attribute)), lambda x, parts: around(x, parts["part", 0]))
    if issubclass(cls, Holding):
        return _HELD
    if issubclass(cls, tuple):
        return _TUPLE
    if issubclass(cls, _CONTAINERS) or issubclass(cls, Holder):
        return _OBJECT
    if issubclass(cls, (type, ModuleType)) or cls.__module__.partition(".")[0] in ("wengert", "builtins"):
        return None
    return _OBJECT if getattr(cls, "__dictoffset__", 0) or any(slot_names(cls)) else None
