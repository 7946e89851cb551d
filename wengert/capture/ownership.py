"""Who may be written to: arrays that came into being while the differentiated function ran.

A traced value may be written into an array that came into being while the differentiated function ran, however it was
made, and everyone who holds the array must see the write. So such an array becomes a cell (an object that may get a
traced content) before it has more than one holder: the moment a value gets a holder in instrumented code, `own` looks
at it, and an array to which there is no other reference was just made, by whatever library. Arrays that come from
outside have holders there, and stay plain; a traced value that is written into one of them is refused, because
derivative operators never change the caller's arrays.
"""

from __future__ import annotations

import copy
import functools
from sys import getrefcount
from typing import Any

import numpy as np

from wengert.box.cells import Cell
from wengert.box.writing import HoldsNoDerivative
from wengert.capture.classes import Follow
from wengert.capture.replacements import REPLACEMENTS
from wengert.counted import all_count, counts
from wengert.errors import InPlaceError
from wengert.ops.library import is_mutable
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import SCALARS, own_dict

_NO_ARRAYS: set[type] = {*SCALARS, np.float64, str, type(None)}
"""Classes of what is no array of a library's, and holds none: numbers, and the classes of traced values so far."""


def own(v: Any) -> Any:
    """A value that gets its first holder, or another one. Arrays that were just made become cells."""
    kind = v.__class__
    if kind in _NO_ARRAYS:
        return v
    if kind is np.ndarray or (running.state.library is not None and is_mutable(v)):
        held = getrefcount(v)
        return owned_if_alone(v, held)
    if isinstance(v, Traced):
        _NO_ARRAYS.add(kind)
        return v
    if isinstance(v, (tuple, list)) and getrefcount(v) <= _ALONE and _has_items_of_its_own(kind) and len(v):
        is_known = kind is tuple or kind is list or hasattr(kind, "_make")
        if is_known and (len(v) <= _FEW or v[0].__class__ is np.ndarray):
            held_each = [getrefcount(item) - _IN_A_CONTAINER for item in v]
            items = [owned_if_alone(item, n) for item, n in zip(v, held_each, strict=True)]
            if isinstance(v, list):
                v[:] = items
            else:
                return tuple(items) if kind is tuple else kind._make(items)
    return v


@functools.lru_cache(maxsize=1024)
def _has_items_of_its_own(kind: Any) -> bool:
    """Whether a class derived from `tuple` or `list` leaves going through its items as it is: we call no method of the
    user's that he does not call."""
    base = tuple if issubclass(kind, tuple) else list
    return all(getattr(kind, name) is getattr(base, name) for name in ("__len__", "__iter__", "__getitem__"))


def _own_item(v: Any) -> Any:
    """An item of an iterator."""
    if v.__class__ is not np.ndarray:
        return v
    held = getrefcount(v) - _IN_A_MAP
    return owned_if_alone(v, held)


def owning_items(iterator: Any) -> Any:
    """An iterator that makes its items: arrays among them become cells."""
    original = REPLACEMENTS.get(iterator, iterator)
    return lambda *args, **kwargs: map(_own_item, original(*args, **kwargs))


_FEW = 16
"""Longer lists are looked through if they begin with an array."""


def owned_if_alone(a: Any, held: int) -> Any:
    """A cell for an array of floating type that nobody else holds; anything else as it is."""
    if (
        held > _ALONE
        or not running.state.depth
        or not (_can_be_owned(a) if a.__class__ is np.ndarray else _can_be_written(a))
    ):
        return a
    return Cell(a)


def _can_be_owned(a: np.ndarray) -> bool:
    if not a.ndim or not a.flags.writeable:
        return False
    if a.dtype.kind not in "fc" and (running.state.capture is None or a.dtype.kind not in "biu"):
        return False
    base = a.base
    return base is None or (base.__class__ is np.ndarray and base.base is None and getrefcount(base) <= _ALONE_AS_BASE)


def _can_be_written(a: Any) -> bool:
    """Whether an array of another library is one that was just made."""
    return running.state.library is not None and is_mutable(a) and a.ndim and a.base is None and a.dtype.kind in "fc"


def _deepcopy(x: Any, memo: Any = None, _nil: Any = ()) -> Any:
    """Whatever holds a copied array was copied too, and holds a cell then."""
    memo = {} if memo is None else memo
    thing = copy.deepcopy(x, memo)
    if not running.state.depth:
        return thing
    cells: dict[int, Any] = {}
    seen: set[int] = set()

    def owned(v: Any) -> Any:
        if v.__class__ is np.ndarray:
            if id(v) not in cells:
                cells[id(v)] = (Cell(v) if v.base is None and v.dtype.kind in "fc" and v.ndim else v, v)
            return cells[id(v)][0]
        if v.__class__ is tuple:
            items = tuple([owned(item) for item in v])
            return v if all(a is b for a, b in zip(items, v, strict=True)) else items
        if id(v) in seen:
            return v
        seen.add(id(v))
        if v.__class__ is list:
            v[:] = [owned(item) for item in v]
        elif v.__class__ is dict:
            for key, item in v.items():
                v[key] = owned(item)
        elif id(v) in copied and own_dict(v).__class__ is dict:
            owned(own_dict(v))
        return v

    copied = {id(v) for v in memo.values()}
    return owned(thing)


REPLACEMENTS[copy.deepcopy] = _deepcopy


def own_attributes(thing: Any) -> Any:
    """An object that was just made: arrays that it alone holds become cells."""
    attributes = own_dict(thing)
    if attributes.__class__ is dict:
        for name, value in attributes.items():
            if value.__class__ is np.ndarray:
                held = getrefcount(value) - _IN_A_DICT
                attributes[name] = owned_if_alone(value, held)
    return thing


Follow.own_attributes = staticmethod(own_attributes)


def refuse_fields(a: Any) -> None:
    """Refuse to write traced values into structured arrays, and into their records."""
    if a.dtype.names is not None:
        raise HoldsNoDerivative(
            f"a traced value is written into a structured array, with the fields {', '.join(a.dtype.names)}, which "
            "cannot hold its derivative",
            remedy="keep one array for each field, in a dict, {'x': np.zeros(n), 'v': np.zeros(n)}, or in a dataclass",
        )


def promoted(a: np.ndarray, alone: bool) -> Any:
    """A cell in place of a plain array into which a traced value is to be written, if no others hold it."""
    if a.dtype.kind == "O":
        return a  # it holds what it is given
    refuse_fields(a)
    if a.dtype.kind not in "fc":
        raise HoldsNoDerivative(
            f"a traced value is written into an array of type {a.dtype}, which cannot hold its derivative",
            remedy="make the array of a floating type, for instance np.zeros(n) instead of np.zeros(n, int)",
        )
    if not alone or a.base is not None:
        raise made_outside()
    return Cell(a)


def made_outside() -> InPlaceError:
    """The error for a value that is differentiated, and written into an array of somebody else's."""
    return InPlaceError(
        "a traced value is written into an array that was made outside of the differentiated function: derivative "
        "operators never change the caller's arrays",
        remedy="write into a copy: a = a.copy() (or np.copy, np.zeros, np.empty) in the differentiated function, "
        "or pass the array to that function as an argument",
    )


@counts
def _counts_when_alone() -> tuple[int, ...]:
    """How many references an array has in each hook if nothing, or one name, is all that holds it.

    That depends on how this Python passes arguments, so it is measured: by functions that are called as the hooks are.
    """

    def in_store(v: Any, container: Any, key: Any, rebinds: bool) -> int:
        held = getrefcount(container)
        return held

    def in_augment(name: str, a: Any, v: Any) -> int:
        held = getrefcount(a)
        return held

    def in_augment_item(name: str, container: Any, key: Any, old: Any, v: Any, rebinds: bool) -> int:
        held = getrefcount(container)
        return held

    def in_own(v: Any) -> int:
        held = getrefcount(v)
        return held

    def in_item(outer: Any) -> int:
        container = outer[0]
        held = getrefcount(container)
        return held

    def as_base(a: np.ndarray) -> int:
        base = a.base
        return base is None or getrefcount(base)

    def in_a_container(v: Any) -> int:
        held = [getrefcount(item) for item in v]
        return held[0]

    def in_a_dict(own_dict: dict) -> int:
        for _name, value in own_dict.items():
            held = getrefcount(value)
        return held

    a = np.zeros(1)
    alone = in_own(np.zeros(1))
    return (
        in_item([np.zeros(1)]),
        next(map(in_own, map(np.copy, [a]))) - alone,
        in_store(0.0, a, 0, True),
        in_augment("iadd", a, 0.0),
        in_augment_item("iadd", (container := a), (key := 0), container[key], 0.0, True),
        alone,
        as_base(np.zeros(2)[1:]),
        in_a_container((np.zeros(1),)) - alone,
        in_a_dict({"a": np.zeros(1)}) - alone,
    )


(
    ALONE_IN_ITEM,
    _IN_A_MAP,
    ALONE_IN_STORE,
    ALONE_IN_AUGMENT,
    ALONE_IN_AUGMENT_ITEM,
    _ALONE,
    _ALONE_AS_BASE,
    _IN_A_CONTAINER,
    _IN_A_DICT,
) = _counts_when_alone()


all_count(globals())
