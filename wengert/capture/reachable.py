"""What a function might change outside: noted before it is tried, so that it can be undone.

`vmap` runs a function on all examples at once and, if they go different ways, again on each. What the first attempt did
to lists, dicts, objects, arrays and variables outside must not remain.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.contents import in_cell
from wengert.capture.effects import Effects
from wengert.capture.instrument import is_user_code
from wengert.capture.kinds import is_object, is_of_user
from wengert.capture.objects import MUTABLE, content
from wengert.capture.of_code import found_once
from wengert.types import wrapped_in

_MOST = 10000
"""So many things are looked at."""


_BOUND: dict[type, Callable[[Any], list[Any]]] = {
    MethodType: lambda f: [f.__func__, f.__self__],
    functools.partial: lambda f: [f.func, *f.args, *f.keywords.values()],
}
"""What functions hold that have some of their arguments."""


def noted(f: Any, arguments: Iterable[Any] = ()) -> tuple[Effects, Effects]:
    """What a function, and those of the user's that it names, might change outside, as it is now; and what it might
    change in its arguments."""
    outside, given = Effects(), Effects()
    pending, seen = [f], set()
    arrays: list[tuple[Effects, Any]] = []
    writes = False
    effects, arguments = outside, list(arguments)
    while pending or arguments:
        if not pending:
            effects, pending, arguments = given, arguments, []
        thing = pending.pop()
        if id(thing) in seen or len(seen) > _MOST:
            continue
        seen.add(id(thing))
        kind = thing.__class__
        if kind in _BOUND:
            pending += _BOUND[kind](thing)
        elif kind is FunctionType:
            if not is_user_code(thing.__code__):
                pending.append(wrapped_in(thing))  # grad(f) names f
                continue
            writes = writes or _may_write(thing.__code__)
            effects.note_function(thing)
            pending += vars(thing).values()
            for name in _names_in(thing.__code__):
                if name in thing.__globals__:
                    effects.note_global(thing.__globals__, name)
                    pending.append(thing.__globals__[name])
            for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
                effects.note_cell(cell, name)
                pending.append(in_cell(cell))
        elif isinstance(thing, MUTABLE):
            effects.note_object(thing)
            pending += content(thing).values()
        elif kind is tuple:
            pending += thing
        elif kind is np.ndarray or isinstance(thing, Box):
            arrays.append((effects, thing))
        elif callable(thing) and (wrapped := wrapped_in(thing)) is not None:
            pending.append(wrapped)  # a compiled function
        elif is_object(thing):
            effects.note_object(thing)
            pending += [*content(thing).values(), kind]
        elif isinstance(thing, type) and is_of_user(thing):
            for name, value in vars(thing).items():
                if not (name.startswith("__") or callable(value) or hasattr(value, "__get__")):
                    effects.note_attribute(thing, name)
                    pending.append(value)
            pending += thing.__bases__
    for effects, array in arrays if writes else ():
        effects.note_array(array) if array.__class__ is np.ndarray else effects.note_box(array)
    return outside, given


def reached(things: Iterable[Any]) -> tuple[set[Any], set[str]]:
    """The keys that `Effects` has for all that functions and containers might read: variables, containers, objects and
    arrays; and all names in these functions."""
    pending = list(things)
    found: set[Any] = set()
    names: set[str] = set()
    objects: list[Any] = []
    while pending or (pending := [m for x in objects for m in _methods(type(x), names) if id(m) not in found]):
        thing = pending.pop()
        if id(thing) in found or len(found) > _MOST:
            continue
        found.add(id(thing))
        kind = thing.__class__
        if kind in _BOUND:
            pending += _BOUND[kind](thing)
        elif kind is FunctionType:
            pending.append(wrapped_in(thing))
            mentioned = _names_in(thing.__code__) if is_user_code(thing.__code__) else frozenset()
            names |= mentioned
            for name in mentioned:
                if name in thing.__globals__:
                    found.add((id(thing.__globals__), name))
                    pending.append(thing.__globals__[name])
            for cell in thing.__closure__ or ():
                found.add(id(cell))
                pending.append(in_cell(cell))
        elif isinstance(thing, MUTABLE) or is_object(thing):
            pending += content(thing).values()
            objects += [thing] if is_object(thing) else []
        elif kind is tuple:
            pending += thing
    return found, names


def _methods(kind: type, names: set[str]) -> Iterator[Any]:
    """What code with these names might call of a class: methods, properties, and what Python calls by itself."""
    for name in dir(kind):
        if name in names or (name.startswith("__") and name not in ("__init__", "__new__")):
            found = inspect.getattr_static(kind, name, None)
            yield found.fget if isinstance(found, property) else getattr(found, "__func__", found)


_WRITERS = {
    *("at", "copyto", "fill", "fill_diagonal", "itemset", "partition", "place", "put", "put_along_axis", "putmask"),
    *("resize", "setfield", "shuffle", "sort"),
}


@found_once
def _may_write(code: CodeType) -> bool:
    """Whether code writes into arrays. To keep copies of all arrays outside for code that does not would be a waste."""
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") or name.startswith("INPLACE"):
            return True
        if name == "BINARY_OP" and instruction.argrepr.endswith("="):
            return True
        if name in ("LOAD_ATTR", "LOAD_METHOD") and value in _WRITERS:
            return True
    return any(
        _may_write(c) if isinstance(c, CodeType) else c.__class__ is tuple and "out" in c for c in code.co_consts
    )


@found_once
def _names_in(code: CodeType) -> frozenset[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
        elif constant.__class__ is str:  # staged code reads attributes by their names
            names.add(constant)
    return frozenset(names)
