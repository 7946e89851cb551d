"""What objects hold (`box/contents.py`), and variables that functions share.

These are objects too, with one place: the cell of a closure, or a `Global`.
"""

from __future__ import annotations

from collections import deque
from types import CellType
from typing import Any, NamedTuple

from wengert.box import contents
from wengert.box.contents import Content, Slot
from wengert.capture.undefined import UNDEFINED

MUTABLE = (list, dict, set, deque)
CHANGING = frozenset(
    (
        "append", "extend", "insert", "pop", "remove", "clear", "add", "discard", "update", "setdefault", "popitem",
        "popleft", "appendleft", "extendleft", "rotate", "sort", "reverse", "move_to_end", "difference_update",
        "intersection_update", "symmetric_difference_update", "__init__", "__setitem__", "__delitem__", "__iadd__",
        "__imul__", "__ior__", "__iand__", "__isub__", "__ixor__", "__setstate__",
    )
)  # fmt: skip
"""Methods that change what they belong to."""
_VARIABLE: Slot = ("variable", "")


class Global(NamedTuple):
    """A global variable."""

    namespace: dict
    name: str

    def content(self) -> Content:
        return {_VARIABLE: self.namespace[self.name]} if self.name in self.namespace else {}

    def put(self, new: Content) -> None:
        if new:
            self.namespace[self.name] = new[_VARIABLE]
        else:
            self.namespace.pop(self.name, None)


def held_in(cell: CellType) -> Any:
    """The value of a variable of a closure, as staged code sees it."""
    return contents.in_cell(cell, UNDEFINED)


def content(thing: Any) -> Content:
    """What an object holds."""
    if thing.__class__ is CellType:
        value = held_in(thing)
        return {} if value is UNDEFINED else {_VARIABLE: value}
    if thing.__class__ is Global:
        return thing.content()
    return contents.content(thing)


def put(thing: Any, new: Content) -> None:
    """Let an object hold this, and nothing else."""
    if thing.__class__ is CellType:
        thing.cell_contents = new.get(_VARIABLE, UNDEFINED)
        return
    if thing.__class__ is Global:
        thing.put(new)
        return
    contents.put(thing, new)
