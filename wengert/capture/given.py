"""Lists, dicts and dataclasses that a compiled function is given, and changes.

The function is captured with containers of its own, which hold symbols. What it has put into them are further results
of the program, and whoever calls the program puts them into the containers of the caller (`left.py` does the same for
what the function finds outside).

    def step(state, dt):
        state["v"] += dt * state["a"]       # a result of the program, put into the caller's dict after each call
        return state                        # the caller's dict
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from wengert import tree
from wengert.capture.effects import MISSING, Effects, Place, refuse
from wengert.capture.left import has_two_names
from wengert.capture.objects import Content, Slot, content, put

Path = tuple[Slot, ...]
"""How to come to a container, from (args, kwargs) on."""


class GivenContainer(NamedTuple):
    """A container among the arguments, with what it held."""

    path: Path
    thing: Any
    before: Content


class TheGiven:
    """Stands for a container of the caller's in what a function returns."""

    __slots__ = ("path",)

    def __init__(self, path: Path):
        self.path = path


class GivenBack(NamedTuple):
    """What a container holds after a call: at each place a result, or what was at another place before."""

    path: Path
    slots: tuple[tuple[Slot, Slot | None], ...]

    @property
    def place(self) -> Place:
        return Place(None, "a container that it was given", dict, lambda new: None, {})

    def put(self, values: list[Any], effects: Effects | None, arguments: tuple) -> None:
        thing = at_path(arguments, self.path)
        before, new = content(thing), iter(values)
        put(thing, {slot: next(new) if old is None else before[old] for slot, old in self.slots})


def at_path(arguments: tuple, path: Path) -> Any:
    """A container among the arguments of a call."""
    thing: Any = arguments
    for slot in path:
        thing = _parts(thing)[slot]
    return thing


def _parts(value: Any) -> Content:
    return {("item", k): item for k, item in enumerate(value)} if isinstance(value, tuple) else content(value)


def can_change(value: Any) -> bool:
    """Whether something is a container of a class whose containers can be changed by a compiled function."""
    if value.__class__ is list or value.__class__ is dict:
        return True
    kind: type = value.__class__
    return dataclasses.is_dataclass(kind) and tree.fields_of(kind) is not None


def containers_given(value: Any, path: Path = ()) -> Iterator[GivenContainer]:
    """The containers among arguments that can be changed."""
    if not isinstance(value, tuple) and not can_change(value):
        return
    parts = _parts(value)
    if not isinstance(value, tuple):
        yield GivenContainer(path, value, parts)
    for slot, part in parts.items():
        yield from containers_given(part, (*path, slot))


def given_back(given: list[GivenContainer], out: Any) -> tuple[list[GivenBack], list[list[Any]], Any]:
    """What a function has put into the containers that it was given, the values, and what it returns. The containers
    hold again what they held; where they are returned, `TheGiven` stands for them."""
    found, values = [], []
    for path, thing, before in given:
        now = content(thing)
        if list(now) == list(before) and all(now[slot] is before[slot] for slot in now):
            continue
        put(thing, before)
        known = {id(value): slot for slot, value in reversed(before.items())}
        slots = [
            (slot, slot if before.get(slot, MISSING) is value else known.get(id(value))) for slot, value in now.items()
        ]
        found.append(GivenBack(path, tuple(slots)))
        values.append([now[slot] for slot, old in slots if old is None])
    if not found:
        return found, values, out
    own = {id(one.thing): one.path for one in reversed(given)}
    if has_two_names([out, values], own) or any(id(x) in own for x in _containers_in(values)):
        raise refuse("a container that it was given, so that it has another name, too,")
    parts, structure = tree.flatten_until(out, lambda x: id(x) in own)
    found, values = found[::-1], values[::-1]  # what is inside first: its path is that of before
    return found, values, tree.unflatten(structure, [TheGiven(own[id(x)]) if id(x) in own else x for x in parts])


def _containers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple) or can_change(value):
        yield value
        for part in _parts(value).values():
            yield from _containers_in(part)


def is_given_twice(arguments: tuple, outside: Sequence[Callable[[], Any]]) -> bool:
    """Whether one container is found at two places among arguments, or there and outside, where these paths lead to:
    only Python itself knows what happens then."""
    given = [id(one.thing) for one in containers_given(arguments)]
    own = set(given)
    return len(given) > len(own) or any(id(path()) in own for path in outside)
