"""The arrays that a linear program holds: its coefficients, and those that its maps read.

Such arrays may be the user's own, or what he was given as a result. While a program is recorded, hooks say when one
is written to, and the tape puts a copy in its place (`with_copies`). A program that outlives the call which recorded
it, as those of `vjp` and `linearize` do, is told of nothing, so it gets arrays of its own beforehand (`hold_alone`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.writing import clone, settled
from wengert.counted import all_count
from wengert.modes.linear import Map
from wengert.ops.library import placed
from wengert.strides import OwnMemory, owner_of


def memory_owner(x: Any) -> Any:
    """What writing to `x` changes: the array that owns its memory, or the box that is no view."""
    if isinstance(x, np.ndarray):
        return x if x.base is None else owner_of(x)
    return x if x._view_of is None else x._view_of.root


def arrays_in(node: Any) -> Iterator[Any]:
    if node.__class__ is np.ndarray or isinstance(node, Box):
        yield node
    elif node.__class__ in (tuple, list):
        for item in node:
            yield from arrays_in(item)
    elif node.__class__ is Map:
        yield from arrays_in(node.kept)


def with_copies(node: Any, memory: Any, copies: dict[int, Any]) -> Any:
    """A node with copies of what lies in some memory, and of each array only one."""

    def copied(x: Any) -> Any:
        if memory_owner(x) is not memory:
            return x
        if id(x) not in copies:
            now = settled(x)  # a branch or loop that writes to its root has made a view stale
            copies[id(x)] = now.copy(order="K") if now.__class__ is np.ndarray else clone(now)
        return copies[id(x)]

    return _with_each(node, copied)


def in_library(node: Any, like: Any) -> Any:
    """A node whose coefficients are in the library of an array, where they are going to meet cotangents: those that
    were computed from numbers alone are NumPy's."""
    return _with_each(node, lambda x: placed(x, like))


def _with_each(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node with other arrays."""
    if node.__class__ is np.ndarray or isinstance(node, Box):
        return change(node)
    if node.__class__ in (tuple, list):
        return node.__class__([_with_each(item, change) for item in node])
    if node.__class__ is Map:
        for kept in node.kept:
            kept[:] = _with_each(kept, change)
    return node


def bytes_of_nodes(nodes: Sequence[Any], without: Collection[int] = ()) -> int:
    """How much memory the coefficients of a linear program take, without some arrays, named by their ids."""
    return sum(n for key, n in memory_of(nodes).items() if key not in without)


def memory_of(things: Sequence[Any]) -> dict[int, int]:
    """The arrays that own the memory of nodes or of boxes, by their ids, with their sizes in bytes."""
    found = {}
    for thing in things:
        for x in arrays_in(thing):
            while isinstance(x, Box) and "_value" in x._state:
                x = x._value
            if isinstance(x, np.ndarray):
                memory = memory_owner(x)
                found[id(memory)] = getattr(memory, "nbytes", x.nbytes)
    return found


def hold_alone(nodes: list[Any], ours: Sequence[Any]) -> None:
    """Copy what others may write to: what is held elsewhere, too, as CPython's reference counts tell. Arrays that are
    `ours` are in that list, too."""
    places: dict[int, list[int]] = {}
    found: dict[int, Any] = {}
    for k, node in enumerate(nodes):
        for x in arrays_in(node):
            places.setdefault(id(x), []).append(k)
            found[id(x)] = x
    elsewhere: dict[int, int] = {}
    for x in ours:
        elsewhere[id(x)] = elsewhere.get(id(x), 0) + 1
    for x in found.values():
        if isinstance(x, np.ndarray) and x.base is not None:
            elsewhere[id(x.base)] = elsewhere.get(id(x.base), 0) + 1
    taken: set[int] = set()
    for key, ks in places.items():
        x = found[key]
        held = getrefcount(x) > len(ks) + elsewhere.get(key, 0) + _BY_US
        if not isinstance(x, np.ndarray):
            shared = held or x._view_of is not None
        elif x.base is None:
            shared = held and x.flags.writeable
        elif x.base.__class__ is np.ndarray and x.base.base is None:
            places_of_base = len(places.get(id(x.base), ())) + (id(x.base) in found)
            held = held or getrefcount(x.base) > places_of_base + elsewhere[id(x.base)] + 1
            shared = held and x.base.flags.writeable
        else:
            shared = held or not isinstance(x.base, OwnMemory)
        if shared:
            taken.add(key)
    copies: dict[int, Any] = {}
    for key in taken:
        memory = memory_owner(found[key])
        for k in places[key]:
            nodes[k] = with_copies(nodes[k], memory, copies)


_BY_US = 3
"""How often `hold_alone` itself holds an array when it counts: the dictionary, the variable, the argument."""


all_count(globals())
