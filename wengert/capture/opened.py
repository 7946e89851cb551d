"""What stands in a list for items of which only the running program knows how many there are.

    out = []                            out = [Opened(zeros(0))]
    while x > 1:              ->        while x > 1:
        out.append(x)                       out[0] = Opened(concatenate(rows of out[0], [x]))
        x = x / 2                           x = x / 2

The list itself stays the list that it is, with all its names; one thing in it, an `Opened`, stands for a number of
items. They are all of one kind: as many numbers and arrays in the same places (`ItemKind`). For each of these there is
an array with one row for each item. An `Opened` is never changed: what changes is which one the list holds, so loops
carry it and branches are put together as if it were a tuple of arrays (`containers.py`).

Items may stand before and behind it: `out + [x]`, `[*out, x]` and `out * 2` need no code of their own. What reads a
list must know of it (`open_lists.py`); whatever else is done to it is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.box.writing import settled
from wengert.capture.iteration import refused
from wengert.ir.symbol import known
from wengert.ops.elementwise import add, greater
from wengert.ops.op import call
from wengert.ops.shape import copy
from wengert.types import shape_of

SEQUENCES = (list, tuple, deque)


class Fixed(NamedTuple):
    """A part of an item that is no number: the same in all of them."""

    value: Any


class ItemKind(NamedTuple):
    """What all items are like: their structure, and for each leaf its type, or what it is."""

    structure: Any
    leaves: tuple
    flags: tuple
    """For each leaf: "mixed" if it is a float that was an integer of Python's in some items, "either" if it was a
    number of Python's in some and of NumPy's in others, "both" if both are so."""

    @property
    def is_mixed(self) -> bool:
        return any(flag in ("mixed", "both") for flag in self.flags)


class Opened:
    """A number of items of a list: the rows of these arrays, of which there are as many in each."""

    __slots__ = ("kind", "rows")

    def __init__(self, kind: ItemKind, rows: Sequence[Any]):
        self.kind, self.rows = kind, tuple(rows)

    @property
    def count(self) -> Any:
        return known(shape_of(settled(self.rows[0]))[0])

    def __copy__(self) -> Opened:
        return self

    def __deepcopy__(self, memo: Any) -> Opened:
        return self


class ListPool:
    """Lists of as many items of one kind, which may be read and written at places that only the program knows: the
    items of all of them are in arrays, with a row for each list (`opening.py`)."""

    __slots__ = ("arrays", "before", "escapes", "home", "is_written", "kind", "length", "lists")

    def __init__(self, kind: ItemKind, lists: Sequence[list], arrays: Sequence[Any], length: int, home: Any):
        self.kind, self.lists, self.arrays, self.length = kind, list(lists), list(arrays), length
        self.home = home
        """The block in which the lists are."""
        self.before: list[list] = [list(one) for one in lists]
        """What they held."""
        self.escapes, self.is_written = False, False
        """Whether a list may be one of them in the block itself; whether one was written to."""


class PooledRow:
    """What stands in a list for all of its items, where these are a row of a pool: the number of the row.

    The list that is made for it, its `holder`, is the list of the pool with that number, as data say. Other lists get
    the items themselves."""

    __slots__ = ("holder", "pool", "ref")

    def __init__(self, pool: ListPool, ref: Any, holder: list | None = None):
        self.pool, self.ref, self.holder = pool, ref, holder

    @property
    def kind(self) -> ItemKind:
        return self.pool.kind

    @property
    def count(self) -> int:
        return self.pool.length

    def items(self, holder: Any) -> Opened:
        """The items as they are now."""
        if holder is not self.holder:
            refused()
        return Opened(self.kind, [call(copy, a[settled(self.ref)]) for a in self.pool.arrays])  # (not views)


STANDING = (Opened, PooledRow)


for _name in ("iter", "add", "radd", "mul", "rmul", "sub", "rsub", "truediv", "rtruediv", "eq", "ne", "lt", "le", "gt",
              "ge", "call", "getitem", "neg", "pow", "bool", "array", "float", "int", "len", "matmul", "rmatmul",
              "repr", "str", "format", "contains", "hash", "array_ufunc", "array_function"):  # fmt: skip
    for _class in STANDING:
        setattr(_class, f"__{_name}__", refused)


def is_open(things: Any) -> bool:
    """Whether only the program knows how many items there are in a list."""
    return things.__class__ in SEQUENCES and any(item.__class__ in STANDING for item in things)


def count_of(things: Any) -> Any:
    """How many items there are."""
    count: Any = 0
    for item in things:
        more = item.count if item.__class__ in STANDING else 1
        count = count + more if count.__class__ is more.__class__ is int else call(add, count, more)
    return count


def has_items(things: Any) -> Any:
    """Whether there is an item in an open list."""
    return any(item.__class__ not in STANDING for item in things) or call(greater, count_of(things), 0)


def stand_for_others(a: Any, b: Any) -> bool:
    """Whether two lists of items do not have as many, or of another kind, so far as that can be told."""
    if len(a) != len(b):
        return True
    return any(_kind_of(x) != _kind_of(y) for x, y in zip(a, b, strict=True))


def _kind_of(x: Any) -> Any:
    return x.kind if x.__class__ is Opened else x.pool if x.__class__ is PooledRow else None


def row_in(things: Any) -> PooledRow | None:
    """The row of a pool that a list is, if it is one."""
    if things.__class__ is list and len(things) == 1 and things[0].__class__ is PooledRow:
        return things[0] if things[0].holder is things else refused()
    return None
