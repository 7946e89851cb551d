"""What `container[key] = v`, `owner.name = v`, `x += v` and `del` are while a program is captured.

A plain array that is about to hold what only the program knows becomes a cell, lists and objects are noted before they
change, and where data decide what is written to, it is done for each of these things (`each_of.py`).
"""

from __future__ import annotations

import functools
import operator
from sys import getrefcount
from types import ModuleType
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.cells import Cell
from wengert.capture import ownership, placed
from wengert.capture.containers import about_to_change, hold_references, stages
from wengert.capture.each_item import put_reference
from wengert.capture.each_of import each, each_argument, holds_one_of
from wengert.capture.identified import identified
from wengert.capture.iteration import refused
from wengert.capture.objects import MUTABLE
from wengert.capture.one_of import NOT_A_CONTAINER, NOT_A_NUMBER, OneOf, not_none
from wengert.capture.open_lists import delete, extend, set_item
from wengert.capture.opened import is_open, row_in
from wengert.capture.session import current
from wengert.capture.staged_reads import attr, key_holds_symbols, read, settled_key
from wengert.capture.tables import refuse_computed
from wengert.capture.values import holds_symbols
from wengert.capture.words import are_words
from wengert.counted import all_count
from wengert.errors import InPlaceError, StagingError

_operates_for_user = True


def _writable(container: Any, v: Any, key: Any) -> Any:
    """What is written to: a plain array that is about to hold symbols becomes a cell."""
    if are_words(container) and container.base is None and key_holds_symbols(key):
        if current.session is not None:
            current.session.about_to_write(container)
        return read(container, key)
    if container.__class__ is np.ndarray and container.dtype.kind != "O":
        if current.session is not None:
            current.session.about_to_write(container)
        if stages() or v.__class__ is OneOf or holds_symbols(v) or key_holds_symbols(key):
            ownership.refuse_fields(container)
            if container.base is not None:
                raise StagingError(
                    "a value that is known only when the compiled program runs is written into a view of a plain array",
                    remedy="write into the array itself",
                )
            return Cell(container)
    elif isinstance(container, MUTABLE) and row_in(container) is None:
        about_to_change(container)
    elif container.__class__ is np.void and (stages() or holds_symbols(v)):
        ownership.refuse_fields(container)
    return container


def _put(container: Any, key: Any, v: Any) -> None:
    if isinstance(container, (Box, np.ndarray)):
        if v.__class__ is OneOf and container.dtype.kind in "fc":
            v = each(v, lambda one: np.nan if one is None else one)
        container[settled_key(key) if isinstance(container, Box) else key] = not_none(v, NOT_A_NUMBER)
    elif is_open(container):
        set_item(container, key, v)
    elif container.__class__ is list and placed.is_place(key) and hold_references((*container, v)):
        put_reference(container, key, v)
    elif container.__class__ is list and placed.is_place(key):
        placed.write(container, key, v)
    elif isinstance(container, dict):
        refuse_computed(container, key)
        container[identified(key)] = v
    else:
        container[key] = v


def store(v: Any, container: Any, key: Any, rebinds: bool) -> Any:
    """`container[key] = v`; returns the container, or the cell that takes its place if the caller rebinds its name."""
    if container.__class__ is OneOf or key.__class__ is OneOf:
        each_argument(lambda one, k: store(v, one, k, False), (container, key), {})
        return container
    held = getrefcount(container)
    new = _writable(container, v, key)
    if new is not container and (not rebinds or held > ownership.ALONE_IN_STORE):
        raise _held_by_others()
    _put(new, key, v)
    return new


def _held_by_others() -> StagingError:
    """The error for a plain array of which nobody knows who else would have to see what is written."""
    return StagingError(
        "a value that is known only when the compiled program runs is written into a plain array that others may hold",
        remedy="create the array in the function with np.zeros, np.empty or np.copy",
    )


def store_in_item(v: Any, outer: Any, outer_key: Any, key: Any) -> None:
    """`outer[outer_key][key] = v`."""
    if holds_one_of((outer, outer_key, key), {}):
        each_argument(functools.partial(store_in_item, v), (outer, outer_key, key), {})
        return
    container = not_none(read(outer, outer_key), NOT_A_CONTAINER)
    held = getrefcount(container)
    new = _writable(container, v, key)
    if new is not container:
        if held > ownership.ALONE_IN_ITEM:
            raise _held_by_others()
        about_to_change(outer)
        outer[outer_key] = new
    _put(new, key, v)


def store_in_attribute(v: Any, owner: Any, attribute: str, key: Any) -> None:
    """`owner.attribute[key] = v`."""
    if holds_one_of((owner, key), {}):
        each_argument(lambda one, k: store_in_attribute(v, one, attribute, k), (owner, key), {})
        return
    container = not_none(attr(owner, attribute), NOT_A_CONTAINER)
    if current.session is not None:
        current.session.used_by_item(container)
    held = getrefcount(container)
    new = _writable(container, v, key)
    if new is not container:
        if held > ownership.ALONE_IN_ITEM:
            raise _held_by_others()
        about_to_change(owner)
        setattr(owner, attribute, new)
    _put(new, key, v)


def augment(name: str, a: Any, v: Any) -> Any:
    """`a += v` and its like; returns what `a` is bound to then."""
    if holds_one_of((a, v), {}):
        return each_argument(functools.partial(augment, name), (a, v), {})
    if a.__class__ is np.ndarray:
        held = getrefcount(a)
        if current.session is not None:
            current.session.about_to_write(a)
        if stages() or holds_symbols(v):
            if held > ownership.ALONE_IN_AUGMENT:
                raise _held_by_others()
            a = Cell(a)
    elif is_open(a):
        if name != "iadd":
            return refused()
        extend(a, v)
        return a
    elif isinstance(a, MUTABLE):
        about_to_change(a)
    return getattr(operator, name)(a, v)


def augment_item(name: str, container: Any, key: Any, old: Any, v: Any, rebinds: bool) -> Any:
    """`container[key] += v`, where `old` is what was there; returns the container, or the cell in its place."""
    if holds_one_of((container, key), {}):
        each_argument(lambda one, k: augment_item(name, one, k, read(one, k), v, False), (container, key), {})
        return container
    held = getrefcount(container) - (isinstance(old, np.ndarray) and old.base is container)
    new = _writable(container, v, key)
    if new is not container:
        if not rebinds or held > ownership.ALONE_IN_AUGMENT_ITEM:
            raise _held_by_others()
        old = new[key]
    _put(new, key, augment(name, old, v) if isinstance(old, MUTABLE) else getattr(operator, name)(old, v))
    return new


def augment_attribute(name: str, owner: Any, attribute: str, v: Any) -> None:
    """`owner.attribute += v`."""
    set_attribute(augment(name, attr(owner, attribute), v), owner, attribute)


def set_attribute(v: Any, owner: Any, name: str) -> None:
    """`owner.name = v`."""
    if holds_one_of((owner, name), {}):
        each_argument(functools.partial(set_attribute, v), (owner, name), {})
        return
    _about_to_set(owner, name)
    setattr(owner, name, v)


def _about_to_set(owner: Any, name: str) -> None:
    """Note that an attribute is set or deleted; those of arrays are stores, and look after themselves."""
    if isinstance(owner, Box):
        if name == "shape" and owner._view_of is not None and stages():
            raise InPlaceError(
                "x.shape = … changes the shape of a part of an array, in a branch or loop",
                remedy="give the reshaped array a name of its own: y = x.reshape(shape)",
            )
        return
    if not isinstance(owner, (type, ModuleType)):
        about_to_change(owner, ("attribute", name))
        return
    session = current.session
    if stages():
        raise StagingError(
            f"the attribute {name} of {owner.__name__}, a class or a module, is set in a branch or loop that depends "
            "on a value known only when the compiled program runs", remedy="set it outside, or set one of an object",
        )  # fmt: skip
    if session is not None and id(owner) not in session.top.created:
        session.effects.note_attribute(owner, name)


def delete_attribute(owner: Any, name: str) -> None:
    """`del owner.name`."""
    _about_to_set(owner, name)
    delattr(owner, name)


def delete_item(container: Any, key: Any) -> None:
    """`del container[key]`."""
    if holds_one_of((container, key), {}):
        each_argument(delete_item, (container, key), {})
        return
    if is_open(container):
        delete(container, key)
        return
    refuse_computed(container, key)
    about_to_change(container)
    del container[key]


all_count(globals())
