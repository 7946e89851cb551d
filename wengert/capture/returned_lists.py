"""Lists that a compiled function returns, of which only the running program knows how many items there are.

The program returns the arrays of their rows; the caller gets a list. Inside of another program that is being captured
it is an open list again (`opened.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert import tree
from wengert.capture.containers import note_created, unflatten
from wengert.capture.opened import ItemKind, Opened, is_open
from wengert.capture.opening import whole
from wengert.capture.session import current
from wengert.ir.node import Type
from wengert.running import running
from wengert.types import shape_of


class ReturnedList:
    """An open list, or tuple, as a container of arrays."""

    __slots__ = ("cls", "constants", "opened")

    def __init__(self, things: Any):
        self.cls, self.opened = things.__class__, whole(things)
        self.constants = _Constants(() if current.session is None else current.session.constants)


class _Constants:
    """What the numbers of things in the items stand for (`one_of.py`)."""

    __slots__ = ("known",)

    def __init__(self, known: Sequence[Any]):
        self.known = known

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Constants) or len(self.known) != len(other.known):
            return False
        return all(a is b for a, b in zip(self.known, other.known, strict=True))


def with_returned_lists(out: Any) -> Any:
    """What a function returns, with containers of arrays for open lists."""
    leaves, structure = tree.flatten_until(out, is_open)
    if not any(map(is_open, leaves)):
        return out
    return tree.unflatten(structure, [ReturnedList(x) if is_open(x) else x for x in leaves])


def _together(about: tuple[type, ItemKind, _Constants], rows: Sequence[Any]) -> Any:
    cls, kind, constants = about
    count = shape_of(rows[0])[0]
    if running.state.capture is not None and count.__class__ is not int:
        return note_created(cls([Opened(kind, rows)]))
    outer, current.constants = current.constants, list(constants.known)
    try:
        return cls([_item(kind, rows, k) for k in range(count)])
    finally:
        current.constants = outer


def _item(kind: ItemKind, rows: Sequence[Any], k: int) -> Any:
    numbers = iter(rows)
    return unflatten(kind.structure, [next(numbers)[k] if t.__class__ is Type else t.value for t in kind.leaves])


def _numbers(n: int) -> tuple:
    return tuple(range(n))


def _taken_apart(x: ReturnedList) -> tuple:
    return x.opened.rows, (x.cls, x.opened.kind, x.constants), _numbers(len(x.opened.rows))


tree.register(ReturnedList, _taken_apart, _together, looks=True)
tree.register(Opened, lambda x: (x.rows, x.kind, _numbers(len(x.rows))), Opened)
