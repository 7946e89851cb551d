"""What a function leaves outside at each call: `self.residual = b - A @ x`, a counter, items of a list that is kept.

A compiled program computes it as further results, and whoever calls the program puts them where they belong. A number
that is read there, too (`self.calls += 1`), or a number or array that stays there in some calls, is an input of the
program, and no part of it (`IsChanged`).

    class Meter:
        def level(self, x):
            self.blocks = x.reshape(-1, 10)     # a result of the program, put into the meter after each call
            self.calls += 1                     # read at each call, and put back
            return np.mean(self.blocks**2)
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from types import CellType
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.foreign import hides_traced
from wengert.capture.each_of import by_value
from wengert.capture.effects import MISSING, Change, Effects, Place
from wengert.capture.guards import is_number, place_of
from wengert.capture.kept import is_plain
from wengert.capture.objects import Global, content, put
from wengert.capture.one_of import OneOf, is_constant
from wengert.capture.opened import Opened
from wengert.capture.paths import path_to
from wengert.errors import Signal
from wengert.ops.op import Traced
from wengert.types import SCALARS

_WHERE = ("an attribute of", "a list", "a dict", "the variable", "the global variable")


class IsChanged(Signal):
    """A number or array was taken for a constant that is changed: it has to be an input."""


class Left(NamedTuple):
    """Where some results belong."""

    key: Any
    place: Place
    slots: tuple

    @property
    def changed(self) -> Iterable[Any]:
        """The slots that get something new at each call."""
        return self.slots

    def put(self, values: list[Any], effects: Effects | None, arguments: tuple) -> None:
        """Put results where they belong; in a program that is being captured, this is noted."""
        if effects is not None:
            effects.adopt(self.key, self.place, self.slots)
        self.place.put({**self.place.get(), **dict(zip(self.slots, values, strict=True))})


class LeftWhole(NamedTuple):
    """Where all that a container holds is put anew, as in `history.append(x)` of a deque: what it held is part of the
    program."""

    key: Any
    place: Place
    slots: tuple
    order: tuple
    """All slots, and for those that are no results the slots where the things were before."""

    @property
    def changed(self) -> Iterable[Any]:
        return {*self.place.before, *[slot for slot, _ in self.order]}

    def put(self, values: list[Any], effects: Effects | None, arguments: tuple) -> None:
        if effects is not None:
            effects.adopt(self.key, self.place, self.slots)
        before, new = self.place.get(), dict(zip(self.slots, values, strict=True))
        self.place.put({slot: new[slot] if slot in new else before[source] for slot, source in self.order})


def left_outside(session: Any, out: Any) -> tuple[list[Left | LeftWhole], list[list[Any]]]:
    """What a function that was just run has left outside, as far as it depends on the arguments, with the values.

    Raises `IsChanged` where something has to be an input first; what cannot be left is not among it, and refused later.
    """
    found: list[Left | LeftWhole] = []
    values: list[list[Any]] = []
    known = len(session.opened)
    for change in session.effects.changes(session.stands_for):
        whole = _left_as_a_whole(session, change)
        if whole is not None:
            session.is_still_there(change.place.thing)
            found.append(whole)
            values.append([by_value(change.now[slot]) for slot in whole.slots])
            continue
        if change.is_of_arrays or not change.place.what.startswith(_WHERE):
            continue
        slots = []
        for slot, value in change.now.items():
            before = change.place.before.get(slot, MISSING)
            if (
                value is not before
                and value is not session.stands_for(before)
                and _is_known(session, change, slot, value)
            ):
                if _can_be_left(value) or (change.key in session.effects.logs and is_plain(value)):
                    slots.append(slot)
        if slots:
            session.is_still_there(change.place.thing)
            found.append(Left(change.key, change.place, tuple(slots)))
            values.append([by_value(change.now[slot]) for slot in slots])
    if len(session.opened) > known:
        raise IsChanged
    if has_two_names([out, values]):
        return [], []
    return found, values


def _left_as_a_whole(session: Any, change: Change) -> LeftWhole | None:
    """How a container is left that is compared at each call; None if it is none, or cannot be left."""
    place = change.place
    if not place.is_compared or id(place.thing) in session.effects.perhaps:
        return None
    places = {id(value): slot for slot, value in place.before.items()}
    for slot, value in place.before.items():
        places.setdefault(id(session.stands_for(value)), slot)
    order, slots = [], []
    for slot, value in change.now.items():
        source = slot if place.before.get(slot, MISSING) is value else places.get(id(value))
        if source is None:
            if not (_can_be_left(value) or value is None or isinstance(value, (*SCALARS, str, bytes, np.generic))):
                return None
            slots.append(slot)
        order.append((slot, source))
    return LeftWhole(change.key, place, tuple(slots), tuple(order))


def _is_known(session: Any, change: Change, slot: Any, now: Any) -> bool:
    """Whether what was there before is no part of the program, or an input; notes what has to be one."""
    thing, before = change.place.thing, change.place.before.get(slot, MISSING)
    if change.place.what.startswith("the "):
        return _is_known_variable(session, thing, slot, before)
    is_item = thing.__class__ is list or thing.__class__ is dict
    if not is_item and slot[0] != "attribute":
        return False
    if (id(thing), slot) in session.opened:
        return True
    perhaps = id(thing) in session.effects.perhaps
    is_read = session.reads(thing, slot) if is_item else place_of(path_to(thing, slot)) in session.places
    if is_number(before) and (is_read or perhaps):
        session.opened[id(thing), slot] = thing
    elif perhaps and before.__class__ is np.ndarray:
        if before.dtype.kind not in "fc":
            return False
        session.opened[id(thing), slot] = thing
    elif now.__class__ is OneOf and is_constant(before):  # which is part of the program
        session.holds_at_each_call(thing, slot, before)
        return True
    # (what is None, or not there, in some calls is no result that can be left)
    return not perhaps or is_number(before) or before.__class__ is np.ndarray or before is None or before is MISSING


def _is_known_variable(session: Any, thing: Any, name: str, before: Any) -> bool:
    """The same for a variable outside. Whether data decide that it is bound is not known, so it is an input."""
    if (id(thing), name) in session.opened:
        return True
    if is_number(before) or (before.__class__ is np.ndarray and before.dtype.kind in "fc"):
        session.opened[id(thing), name] = thing if thing.__class__ is CellType else Global(thing, name)
        return True
    return before is MISSING or before is None


def _can_be_left(value: Any) -> bool:
    """Whether a value depends on the arguments, and is one that a program can give. (A list outside that data make
    longer holds such a value in place of its items.)"""
    if value.__class__ is Opened:
        return False
    leaves = tree.leaves(value)
    if not any(isinstance(x, Traced) for x in leaves):
        return False
    return all(isinstance(x, (Traced, np.ndarray, np.generic, int, float, complex, str, bool, bytes)) or x is None
               or not (callable(x) or hides_traced(x)) for x in leaves)  # fmt: skip


def open_inputs(session: Any) -> None:
    """Have inputs stand for attributes, items and variables that the function changes, before it runs."""
    for (_, slot), owner in session.opened.items():
        if owner.__class__ is Global or owner.__class__ is CellType:
            _open_variable(session, owner, slot)
        elif owner.__class__ is list or owner.__class__ is dict:
            _open_item(session, owner, slot)
        else:
            name = slot[1]
            session.effects.note_object(owner)
            value = getattr(owner, name)
            counts = is_number(value)
            box = session.counted(owner, slot, value) if counts else session.attribute(owner, name, value)
            if isinstance(box, Box):
                object.__setattr__(owner, name, box)


def _open_item(session: Any, owner: Any, key: Any) -> None:
    """The same for an item of a list or dict."""
    if owner.__class__ is list:
        session.effects.note_list(owner)
    else:
        session.effects.note_dict(owner)
    value = owner[key]
    if is_number(value):
        owner[key] = session.counted(owner, key, value)
        return
    session.found(value, path_to(owner, key))
    box = session.external(value)
    if isinstance(box, Box):
        owner[key] = box


def _open_variable(session: Any, variable: Any, name: str) -> None:
    """The same for a variable."""
    if variable.__class__ is Global:
        session.effects.note_global(variable.namespace, name)
    else:
        session.effects.note_cell(variable, name, True)
    for slot, value in content(variable).items():
        if is_number(value):
            put(variable, {slot: session.counted(variable, name, value)})
        else:
            session.found(value, path_to(variable, slot))
            put(variable, {slot: session.external(value)})


def has_two_names(value: Any, given: Container[int] = ()) -> bool:
    """Whether a list or dict is found in two places: results of programs are made anew, each by itself. Those that were
    `given` (their ids) are not."""
    seen: set[int] = set()
    for container in _containers(value, given):
        if id(container) in seen:
            return True
        seen.add(id(container))
    return False


def _containers(value: Any, given: Container[int]) -> Iterator[Any]:
    if id(value) in given:
        return
    if value.__class__ in (list, dict):
        yield value
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _containers(item, given)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _containers(item, given)
