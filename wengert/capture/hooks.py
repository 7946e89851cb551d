"""What instrumented code calls: the hooks of `rewrite.py`.

`call(f)` decides what is called for f: a replacement (`replacements.py`), the instrumented twin of a user's function,
or f itself. The stores write into what they are given; a plain array into which a traced value is written is replaced
by a cell, if the function that writes is the only one that holds it.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from abc import ABCMeta
from sys import getrefcount
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from wengert.box.cells import Cell
from wengert.box.dispatch import CALLABLES, CALLERS, FUNCTIONS, PENDING, look_for_imports
from wengert.box.distributions.lookup import is_of_scipy_stats
from wengert.box.writing import about_to_write, settled
from wengert.capture.instrument import TWIN, instrument, is_user_code, is_user_function, set_hooks, written_positions
from wengert.capture.replacements import FOLLOW_ARGUMENTS, REPLACEMENTS, replacement_of
from wengert.capture.rewrite import (
    AUGMENT,
    AUGMENT_ATTRIBUTE,
    AUGMENT_ITEM,
    CALL,
    READ,
    SLICE,
    STORE,
    STORE_IN_ATTRIBUTE,
    STORE_IN_ITEM,
)
from wengert.errors import InPlaceError
from wengert.ops.index import index, split_index
from wengert.ops.op import Traced
from wengert.running import running

__all__ = ["instrument", "resolve", "written_positions"]

_CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__
"""What `@contextmanager` makes of every function: it calls the user's generator function."""
_UFUNC = np.ufunc
_DISPATCHER = type(np.sum)


def call(f: Any, operands: int = 1) -> Any:
    """What to call for `f`, with so many operands (see `rewrite.py`)."""
    kind = f.__class__
    if kind is _UFUNC:
        return f if operands <= f.nin else _writing_out(f, f)
    if kind is _DISPATCHER:
        found = REPLACEMENTS.get(f, f)
        return found if operands != 99 else _writing_out(f, found)
    if kind is FunctionType:
        twin = f.__dict__.get(TWIN)
        if twin is not None and twin[0] is f.__code__ and running.state.capture is None:
            return twin[1]
        if is_user_code(f.__code__):
            return instrument(f)
        if f.__code__ is _CONTEXT_MANAGER:
            return contextlib.contextmanager(instrument(f.__wrapped__))
        found = replacement_of(f)
        return with_instrumented_arguments(CALLERS.get(f, f)) if found is None else found
    if kind is BuiltinFunctionType:
        if f.__self__.__class__ is _MODULE:
            return REPLACEMENTS.get(f, f)
        if f.__self__.__class__ is np.ndarray and f.__name__ in _WRITING_METHODS:
            about_to_write(f.__self__)
            return f
        if f.__self__.__class__ is _UFUNC and f.__name__ == "at":
            return _writing_first(f)
        return with_instrumented_arguments(f) if f.__name__ == "sort" else f
    if kind is MethodType:
        if is_user_function(f):
            return instrument(f)
        found = replacement_of(f) if f.__self__.__class__.__hash__ is not None else None
        if found is None and not isinstance(f.__self__, Traced):
            method = replacement_of(f.__func__)
            if method is not None:
                return MethodType(method, f.__self__)
        if found is None and is_of_scipy_stats(f):
            f = instrument(f)
        return with_instrumented_arguments(f) if found is None else found
    if kind is type or kind is ABCMeta:
        found = replacement_of(f)
        return instrument(f) if found is None else found
    if kind is functools.partial:
        return functools.partial(call(f.func), *[_argument(a) for a in f.args], **f.keywords)
    if PENDING:
        look_for_imports()
    if kind in CALLABLES:
        return CALLABLES[kind](f)
    return instrument(f)


def resolve(f: Any) -> Any:
    """What a derivative operator calls for the function it is given: as `call`, but nothing is wrapped needlessly."""
    twin = instrument(f)
    if twin is not f or f.__class__ is _UFUNC or f.__class__.__hash__ is None:
        return twin
    found = replacement_of(f)
    return f if found is None else found


_MODULE = type(sys)


def with_instrumented_arguments(f: Any) -> Any:
    """A library function that calls functions it is given: those of the user's are instrumented on the way in."""

    def called(*args: Any, **kwargs: Any) -> Any:
        args = tuple([_argument(a) for a in args])
        kwargs = {k: _argument(a) for k, a in kwargs.items()}
        return f(*args, **kwargs)

    return called


def _argument(a: Any) -> Any:
    if a.__class__ is BuiltinFunctionType and a.__self__.__class__ is _MODULE:
        return REPLACEMENTS.get(a, a)  # map(math.sin, x)
    return instrument(a) if is_user_function(a) else a


_WRITING_METHODS = frozenset(("sort", "fill", "put", "partition", "setfield", "byteswap"))


def _writing_out(f: Any, replacement: Any) -> Any:
    """A function that is given arrays to write to: the last operands of a ufunc, or `out=`."""

    def called(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        for a in (*(out if isinstance(out, tuple) else (out,)), *(args[f.nin :] if f.__class__ is _UFUNC else ())):
            if a.__class__ is np.ndarray:
                about_to_write(a)
        return replacement(*args, **kwargs)

    return called


def _writing_first(f: Any) -> Any:
    """A function that writes to its first argument."""

    def called(a: Any, *args: Any, **kwargs: Any) -> Any:
        if a.__class__ is np.ndarray:
            about_to_write(a)
        return f(a, *args, **kwargs)

    return called


for _function in (np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal):
    REPLACEMENTS[_function] = _writing_first(FUNCTIONS[_function])
for _function in FOLLOW_ARGUMENTS:
    REPLACEMENTS.setdefault(_function, with_instrumented_arguments(_function))


# ---------------------------------------------------------------------------------------------------- reads, stores


def read(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if container.__class__ is np.ndarray and (isinstance(key, Traced) or key.__class__ is tuple):
        for item in key if key.__class__ is tuple else (key,):
            if isinstance(item, Traced):
                pattern, arrays = split_index(_settled(key))
                return index(container, *arrays, pattern=pattern)
    return container[key]


def _settled(key: Any) -> Any:
    return tuple([settled(item) for item in key]) if key.__class__ is tuple else settled(key)


def store(v: Any, container: Any, key: Any, rebinds: bool) -> Any:
    """`container[key] = v`; returns the container, or the cell that takes its place if the caller rebinds its name."""
    if container.__class__ is np.ndarray and holds_traced(v):
        held = getrefcount(container)
        container = _promoted(container, held - _ALONE["store"] if rebinds else 1)
    elif container.__class__ is np.ndarray and (getrefcount(container) > _ALONE["store"] or container.base is not None):
        about_to_write(container)
    container[key] = v
    return container


def store_in_item(v: Any, outer: Any, outer_key: Any, key: Any) -> None:
    """`outer[outer_key][key] = v`."""
    container = outer[outer_key]
    if container.__class__ is np.ndarray and holds_traced(v):
        held = getrefcount(container)
        container = outer[outer_key] = _promoted(container, held - _ALONE["store_in_item"])
    elif container.__class__ is np.ndarray:
        about_to_write(container)
    container[key] = v


def store_in_attribute(v: Any, owner: Any, attribute: str, key: Any) -> None:
    """`owner.attribute[key] = v`."""
    container = getattr(owner, attribute)
    if container.__class__ is np.ndarray and holds_traced(v):
        held = getrefcount(container)
        container = _promoted(container, held - _ALONE["augment_attribute"])
        setattr(owner, attribute, container)
    elif container.__class__ is np.ndarray:
        about_to_write(container)
    container[key] = v


def augment(name: str, a: Any, v: Any) -> Any:
    """`a += v` and its like; returns what `a` is bound to then."""
    if a.__class__ is np.ndarray and holds_traced(v):
        held = getrefcount(a)
        a = _promoted(a, held - _ALONE["augment"])
    elif a.__class__ is np.ndarray:
        about_to_write(a)
    return getattr(operator, name)(a, v)


def augment_item(name: str, container: Any, key: Any, old: Any, v: Any, rebinds: bool) -> Any:
    """`container[key] += v`, where `old` is what was there; returns the container, or the cell in its place."""
    if container.__class__ is np.ndarray and holds_traced(v):
        held = getrefcount(container)
        if isinstance(old, np.ndarray) and old.base is container:
            held -= 1
        container = _promoted(container, held - _ALONE["augment_item"] if rebinds else 1)
        old = container[key]
    elif container.__class__ is np.ndarray:
        if getrefcount(container) > _ALONE["augment_item"] or container.base is not None:
            about_to_write(container)
    elif old.__class__ is np.ndarray:
        about_to_write(old)
    container[key] = getattr(operator, name)(old, v)
    return container


def augment_attribute(name: str, owner: Any, attribute: str, v: Any) -> None:
    """`owner.attribute += v`."""
    a = getattr(owner, attribute)
    if a.__class__ is np.ndarray and holds_traced(v):
        held = getrefcount(a)
        a = _promoted(a, held - _ALONE["augment_attribute"])
    elif a.__class__ is np.ndarray:
        about_to_write(a)
    setattr(owner, attribute, getattr(operator, name)(a, v))


def holds_traced(v: Any) -> bool:
    """Whether a value, or a list or tuple of values, is traced."""
    if v.__class__ in (list, tuple):
        return any(holds_traced(item) for item in v)
    return isinstance(v, Traced) and not v._is_cell  # type: ignore[attr-defined]


def _promoted(a: np.ndarray, others: int) -> Any:
    """A cell in place of a plain array into which a traced value is to be written, if no others hold it."""
    if a.dtype.kind not in "fc":
        raise InPlaceError(
            f"a traced value is written into an array of type {a.dtype}, which cannot hold its derivative",
            remedy="make the array of a floating type, for instance np.zeros(n) instead of np.zeros(n, int)",
        )
    if others > 0 or a.base is not None:
        raise InPlaceError(
            "a traced value is written into a plain array that others hold too: they would not see it",
            remedy="create the array in the differentiated function, with np.zeros, np.empty or np.copy, "
            "or pass it to that function as an argument",
        )
    return Cell(a)


def _counts_when_alone() -> dict[str, int]:
    """How many references an array has in each hook if one name, or attribute, is all that holds it.

    That depends on how this Python passes arguments, so it is measured: by functions that are called as the hooks are.
    """

    def in_store(v: Any, container: Any, key: Any, rebinds: bool) -> int:
        held = getrefcount(container)
        return held

    def in_store_in_item(v: Any, outer: Any, outer_key: Any, key: Any) -> int:
        container = outer[outer_key]
        held = getrefcount(container)
        return held

    def in_augment(name: str, a: Any, v: Any) -> int:
        held = getrefcount(a)
        return held

    def in_augment_item(name: str, container: Any, key: Any, old: Any, v: Any, rebinds: bool) -> int:
        held = getrefcount(container)
        return held

    def in_augment_attribute(name: str, owner: Any, attribute: str, v: Any) -> int:
        a = getattr(owner, attribute)
        held = getrefcount(a)
        return held

    class Holder:
        pass

    a = np.zeros(1)
    counts = {"store": in_store(0.0, a, 0, True), "augment": in_augment("iadd", a, 0.0)}
    counts["store_in_item"] = in_store_in_item(0.0, [np.zeros(1)], 0, 0)
    counts["augment_item"] = in_augment_item("iadd", (container := a), (key := 0), container[key], 0.0, True)
    holder = Holder()
    holder.a = np.zeros(1)  # type: ignore[attr-defined]
    counts["augment_attribute"] = in_augment_attribute("iadd", holder, "a", 0.0)
    return counts


_ALONE = _counts_when_alone()

set_hooks(
    {
        CALL: call,
        READ: read,
        STORE: store,
        STORE_IN_ITEM: store_in_item,
        STORE_IN_ATTRIBUTE: store_in_attribute,
        AUGMENT: augment,
        AUGMENT_ITEM: augment_item,
        AUGMENT_ATTRIBUTE: augment_attribute,
        SLICE: slice,
    }
)
