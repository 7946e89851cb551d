"""What operators, reads and stores are in instrumented code: `a @ b`, `x[key]`, `x[key] = v`, `x += v`.

A plain array into which a traced value is written is replaced by a cell, if the function that writes is the only one
that holds it (`ownership.py`).
"""

from __future__ import annotations

import operator
from sys import getrefcount
from typing import Any

import numpy as np

from wengert.box.array_classes import held as array_in
from wengert.box.dispatch import SUBSCRIPTED
from wengert.box.functions.operands import operand
from wengert.box.writing import about_to_write, settled_index
from wengert.capture.ownership import (
    ALONE_IN_AUGMENT,
    ALONE_IN_AUGMENT_ITEM,
    ALONE_IN_STORE,
    own,
    owned_if_alone,
    promoted,
    refuse_fields,
)
from wengert.capture.writing_calls import tell_of
from wengert.counted import all_count
from wengert.ops.index import index, split_index
from wengert.ops.library import is_foreign
from wengert.ops.op import Traced
from wengert.running import running

_operates_for_user = True


def operate(name: str, a: Any, b: Any) -> Any:
    """`a @ b` and its like, where one may be a list that NumPy makes an array of."""
    if isinstance(a, _LISTS) and isinstance(b, (np.ndarray, np.generic)):
        a = operand(a) if _any_traced(a) else a
    elif isinstance(b, _LISTS) and isinstance(a, (np.ndarray, np.generic)):
        b = operand(b) if _any_traced(b) else b
    return getattr(operator, name)(a, b)


_LISTS = (list, tuple)


def read(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if container.__class__ is np.ndarray and (isinstance(key, Traced) or key.__class__ is tuple):
        for item in key if key.__class__ is tuple else (key,):
            if isinstance(item, Traced):
                pattern, arrays = split_index(settled_index(key))
                return index(container, *arrays, pattern=pattern)
    elif container.__class__ in SUBSCRIPTED:
        return subscripted(container, key)
    return container[key]


def subscripted(container: Any, key: Any) -> Any:
    """`np.r_[x, y]` and its like."""
    items = key if key.__class__ is tuple else (key,)
    ends = [end for item in items if item.__class__ is slice for end in (item.start, item.stop, item.step)]
    return SUBSCRIPTED[container.__class__](container, key) if _any_traced([*items, *ends]) else container[key]


def _any_traced(items: Any) -> bool:
    """Whether there is a traced value, or a cell, somewhere in nested lists."""
    return any(isinstance(x, Traced) or (isinstance(x, _LISTS) and _any_traced(x)) for x in items)


def store(v: Any, container: Any, key: Any, rebinds: bool) -> Any:
    """`container[key] = v`; returns the container, or the cell that takes its place if the caller rebinds its name."""
    kind = container.__class__
    if kind is np.ndarray:
        v = array_in(v)
        if holds_traced(v):
            about_to_write(container)
            held = getrefcount(container)
            container = promoted(container, rebinds and held <= ALONE_IN_STORE)
        elif (
            running.state.library is not None and rebinds and is_foreign(v) and getrefcount(container) <= ALONE_IN_STORE
        ):
            container = np.asarray(container, like=v)  # such as flags, which are to hold what was found out there
        elif getrefcount(container) > ALONE_IN_STORE or container.base is not None:
            about_to_write(container)
    elif v.__class__ is np.ndarray and kind in _HOLDERS:
        held = getrefcount(v)
        v = owned_if_alone(v, held)
    elif kind is np.void and holds_traced(v):
        refuse_fields(container)
    else:
        tell_of(container)
    container[key] = v
    return container


_HOLDERS = frozenset((list, dict))


def store_in_item(v: Any, outer: Any, outer_key: Any, key: Any) -> None:
    """`outer[outer_key][key] = v`."""
    store(v, outer[outer_key], key, False)


def store_in_attribute(v: Any, owner: Any, attribute: str, key: Any) -> None:
    """`owner.attribute[key] = v`."""
    store(v, getattr(owner, attribute), key, False)


def augment(name: str, a: Any, v: Any) -> Any:
    """`a += v` and its like; returns what `a` is bound to then."""
    if a.__class__ is np.ndarray:
        about_to_write(a)
        if holds_traced(v):
            held = getrefcount(a)
            a = promoted(a, held <= ALONE_IN_AUGMENT)
    return own(_augmented(name, a, v))


def _augmented(name: str, a: Any, v: Any) -> Any:
    """What `a += v` and its like make. What is a number in NumPy is an array of no axes in other libraries, and numbers
    are not written to."""
    if running.state.library is not None and is_foreign(a) and not a.ndim:
        name = f"__{name[1:]}__"
    return getattr(operator, name)(a, v)


def augment_item(name: str, container: Any, key: Any, old: Any, v: Any, rebinds: bool) -> Any:
    """`container[key] += v`, where `old` is what was there; returns the container, or the cell in its place."""
    if container.__class__ is np.ndarray and holds_traced(v):
        about_to_write(container)
        held = getrefcount(container)
        if isinstance(old, np.ndarray) and old.base is container:
            held -= 1
        container = promoted(container, rebinds and held <= ALONE_IN_AUGMENT_ITEM)
        old = container[key]
    elif container.__class__ is np.ndarray:
        if getrefcount(container) > ALONE_IN_AUGMENT_ITEM or container.base is not None:
            about_to_write(container)
    elif old.__class__ is np.ndarray:
        about_to_write(old)
        if holds_traced(v):
            old = promoted(old, False)
    container[key] = _augmented(name, old, v)
    return container


def augment_attribute(name: str, owner: Any, attribute: str, v: Any) -> None:
    """`owner.attribute += v`."""
    a = getattr(owner, attribute)
    if a.__class__ is np.ndarray:
        about_to_write(a)
        if holds_traced(v):
            a = promoted(a, False)
    setattr(owner, attribute, own(_augmented(name, a, v)))


def holds_traced(v: Any) -> bool:
    """Whether a value, or a list or tuple of values, is traced."""
    if isinstance(v, _LISTS):
        return any(holds_traced(item) for item in v)
    return isinstance(v, Traced) and not v._is_cell  # type: ignore[attr-defined]


all_count(globals())
