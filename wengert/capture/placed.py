"""Lists with a known number of items that are written at places which only the running program knows.

    a = [x, y, z]                       rows = array([x, y, z])
    while …:                  ->        while …:
        a[k] = a[k] + 1                     rows[k] = rows[k] + 1
        k = …                               k = …
                                        a = [rows[0], rows[1], rows[2]]

Where its items are of one kind, such a list is opened (`opened.py`) before the suite in which that happens, and is a
list as before after it. The suite that is to be staged again is the outermost that finds the list there: `Placed` says
which list it is, and passes through all suites inside (`opening.py`).
"""

from __future__ import annotations

from typing import Any

from wengert.capture.containers import containers_in
from wengert.capture.open_lists import set_item
from wengert.capture.opening import ItemsDiffer, Placed, close, is_here, kind_of_items, open_here, types_of
from wengert.capture.values import is_symbolic
from wengert.types import dtype_of, shape_of


def is_place(key: Any) -> bool:
    """Whether an index of a list is an integer that only the program knows."""
    return is_symbolic(key) and not shape_of(key) and dtype_of(key).kind in "iu"


def write(thing: list, key: Any, value: Any) -> None:
    """`thing[key] = value`."""
    if any(True for item in (*thing, value) for _ in containers_in(item)):
        raise ItemsDiffer("they are objects, which others may hold")
    if any(t.shape for t in types_of(kind_of_items([*thing, value]))):
        raise ItemsDiffer("they are arrays, which others may hold")
    if not is_here(thing):
        raise Placed(thing, [value])
    open_here(thing, [value])
    set_item(thing, key, value)
    close(thing)
