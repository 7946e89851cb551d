"""Lists with a known number of items that are written at places which only the running program knows.

    a = [x, y, z]                       rows = array([x, y, z])
    while …:                  ->        while …:
        a[k] = a[k] + 1                     rows[k] = rows[k] + 1
        k = …                               k = …
                                        a = [rows[0], rows[1], rows[2]]

Where its items are of one kind, such a list is opened (`opened.py`) before the suite in which that happens, and is a
list as before after it. The suite that is to be staged again is the outermost that finds the list there: `Placed` says
which list it is, and passes through all suites inside (`opening.py`).

Where the items are lists in their turn, `rows[k]` is one of several lists, and whoever holds it sees what is written to
it. These lists become rows of a pool: the numbers of all of them are in one array, and each list holds the number of
its row. So `rows[i], rows[k] = rows[k], rows[i]` swaps two integers, and `rows[k][j] = v` writes to the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.capture.containers import containers_in, is_taken_apart, leaves
from wengert.capture.one_of import OneOf
from wengert.capture.open_lists import read_item, set_item
from wengert.capture.opened import row_in
from wengert.capture.opening import (
    AT_A_PLACE,
    ItemsDiffer,
    Placed,
    Pooled,
    as_opened,
    close,
    is_here,
    kind_for_pool,
    kind_of_items,
    open_here,
    pooled,
    types_of,
)
from wengert.capture.references import NeedsReferences
from wengert.capture.session import current
from wengert.capture.values import is_number, is_symbolic
from wengert.types import dtype_of, shape_of


def is_place(key: Any) -> bool:
    """Whether an index of a list is an integer that only the program knows."""
    return is_symbolic(key) and not shape_of(key) and dtype_of(key).kind in "iu"


def read(things: list | tuple, key: Any) -> Any:
    """`things[key]` where all items are tuples of numbers; `None` if they are not, or not of one kind."""
    opened = _of_one_kind(things) if things and all(isinstance(one, tuple) for one in things) else None
    return None if opened is None else read_item(opened, key)


def cut(things: list | tuple, key: slice) -> Any:
    """`things[first:last]` where all items are numbers, or tuples of numbers of one kind; `None` if they are not.

    It is a list of which only the program knows how many items there are."""
    are_numbers = all(isinstance(one, tuple) or (is_number(one) and not shape_of(one)) for one in things)
    opened = _of_one_kind(things) if things and are_numbers else None
    return None if opened is None else read_item(opened, key)


def _of_one_kind(things: list | tuple) -> list | tuple | None:
    """The same list, with one thing for all of its items; `None` if others may hold them too, or they are different."""
    if _holds_more_than_numbers(things):
        return None
    items = list(things)
    if current.session is not None:  # which makes sure that they are still the same
        items = [current.session.item(things, k, one) for k, one in enumerate(items)]
    try:
        kind = kind_of_items(items)
    except ItemsDiffer:
        return None
    if kind.is_mixed or not types_of(kind):
        return None
    return (list if isinstance(things, list) else tuple)([as_opened(items, kind)])


def row_at(things: list | tuple, key: Any) -> Any:
    """`things[key]` where all items are lists of as many numbers; `None` if they are not."""
    if current.session is not None and all(one.__class__ is list for one in things):
        things = [current.session.item(things, k, one) for k, one in enumerate(things)]
    return read_item([as_opened(things, kind_of_items(things))], key) if _are_rows(things) else None


def _are_rows(things: Sequence[Any]) -> bool:
    """Whether all are rows of one pool; lists that can be become rows."""
    if not things or not all(one.__class__ is list for one in things):
        return False
    rows = [row_in(one) for one in things]
    pools = {id(row.pool) for row in rows if row is not None}
    if pools:
        return len(pools) == 1 and all(row is not None for row in rows)
    different = list({id(one): one for one in things}.values())
    try:
        kind_for_pool(different, [])
        wanted = Pooled(different, [])
        if wanted.is_here():
            pooled(different, [])
            return True
    except ItemsDiffer:
        return False
    raise wanted


def _holds_more_than_numbers(items: Any) -> bool:
    """Whether items hold objects or arrays, which others may hold too."""
    return any(is_number(x) and shape_of(x) for x in leaves(items)) or any(
        True for x in items for _ in containers_in(x)
    )


def write(thing: list, key: Any, value: Any) -> None:
    """`thing[key] = value`."""
    if not _are_rows((*thing, value)) and _holds_more_than_numbers((*thing, value)):
        if all(one.__class__ is OneOf or is_taken_apart(one) for one in (*thing, value)):
            raise NeedsReferences("objects of a list change places, and which ones only the compiled program knows",
                                  remedy="a list of numbers that say which object is where")  # fmt: skip
        raise ItemsDiffer("its items are objects or arrays, which others may hold", AT_A_PLACE)
    kind_of_items([*thing, value])
    if not is_here(thing):
        raise Placed(thing, [value])
    open_here(thing, [value])
    set_item(thing, key, value)
    close(thing)
