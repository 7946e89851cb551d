"""Lists that become longer or shorter as data decide: they are opened before the loop or branch in which they do.

A suite is staged with the list as it is. If the list turns out to have another length at its end (`Grows`), an `Opened`
(`opened.py`) takes the place of its items, and the suite is staged again; if items of another kind are appended than
were known, once more. A list that an inner suite has opened is one that the outer suite changes, so it is opened there,
too, before.
"""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.functions.operands import array as as_array
from wengert.box.functions.operands import cast, join, stacked
from wengert.box.writing import settled, zeros
from wengert.capture.assuming import TELLS_INTEGERS_APART, TELLS_NUMBERS_APART, tells_apart
from wengert.capture.containers import about_to_change, depth, flatten, freeze_all, note_created, stand_in, unflatten
from wengert.capture.growing import Grows
from wengert.capture.opened import Fixed, ItemKind, Opened, is_open
from wengert.capture.session import current
from wengert.capture.values import as_number, converted, equal, is_number, is_symbolic
from wengert.errors import StagingError
from wengert.ir.aliases import root_of
from wengert.ir.build import type_of_value
from wengert.ir.node import Type
from wengert.ir.numbers import innermost
from wengert.ir.symbol import Sym
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced, call
from wengert.running import running

_MOST = 6
"""So many times a suite is staged again, since lists in it have other lengths or kinds of items than was known."""
_MOST_PLACED = 40
"""So many times, since lists in it are written at places that only the program knows."""
MOST_ITEMS = 512
"""A list with more items stays open after the suite: each would be a value of the program."""


class Placed(StagingError):
    """A list is written at a place that only the program knows, in a suite that finds it there: it is to be opened
    before, for its items and some `more` values, and the suite to be staged again."""

    def __init__(self, thing: Any, more: list):
        self.thing, self.more = thing, more
        super().__init__(
            "a list is written at a place that is known only when the compiled program runs",
            remedy="use an array, or pass the index as a static argument (static_argnums)",
        )


class ItemsDiffer(StagingError):
    """Items of one list cannot be rows of the same arrays."""

    def __init__(self, what: str):
        super().__init__(
            f"only the compiled program knows how many items there are in a list, and {what}",
            remedy="append numbers, arrays of one shape, or tuples of as many of them",
        )


def kind_of_items(items: Sequence[Any]) -> ItemKind:
    """What all of these items are like; there is one at least."""
    kinds = [item.kind if item.__class__ is Opened else _kind_of(item) for item in items]
    known = kinds[0]
    for kind in kinds[1:]:
        known = common(known, kind)
    return known


def _kind_of(item: Any) -> ItemKind:
    leaves, structure = flatten(item)
    found: list[Any] = []
    for leaf in leaves:
        found.append(type_of_value(leaf) if is_number(leaf) else Fixed(leaf))
        if is_number(leaf) and not found[-1].is_static:
            raise ItemsDiffer("they are arrays whose lengths only the program knows")
        if not is_number(leaf) and isinstance(leaf, (list, dict, set, deque)):
            raise ItemsDiffer(f"they hold a {type(leaf).__name__}")
    return ItemKind(structure, tuple(found), tuple([""] * len(found)))


def common(a: ItemKind, b: ItemKind) -> ItemKind:
    """What items of both kinds are like."""
    if a == b:
        return a
    if a.structure != b.structure:
        raise ItemsDiffer("they are not all of one kind, with as many parts")
    leaves = tuple([_common(x, y) for x, y in zip(a.leaves, b.leaves, strict=True)])
    rows = zip(a.leaves, b.leaves, a.flags, b.flags, strict=True)
    return ItemKind(a.structure, leaves, tuple([p or q or _flag(x, y) for x, y, p, q in rows]))


def _flag(a: Any, b: Any) -> str:
    """What it says of a number that items have it of two types."""
    if a.__class__ is Fixed or (a.weak == b.weak and a.dtype == b.dtype):
        return ""
    if a.weak == b.weak:
        if tells_apart(TELLS_INTEGERS_APART):
            raise ItemsDiffer("some are integers and some floats, and it is asked which")
        return "mixed"
    if tells_apart(TELLS_NUMBERS_APART):
        raise ItemsDiffer("some are numbers of Python's and some of NumPy's, and it is asked which")
    return "either"


def _common(a: Any, b: Any) -> Any:
    if a.__class__ is Fixed or b.__class__ is Fixed:
        if a.__class__ is b.__class__ and equal(a.value, b.value):
            return a
        raise ItemsDiffer("they hold what is no number, and differs")
    if a.shape != b.shape:
        raise ItemsDiffer(f"they are arrays of different shapes: {a.shape} and {b.shape}")
    if a.dtype == b.dtype:
        return a if not a.weak else b
    if a.weak and b.weak and {a.dtype.kind, b.dtype.kind} == {"i", "f"}:
        return a if a.dtype.kind == "f" else b
    if a.weak != b.weak and (a if a.weak else b).dtype.kind == "i" and (b if a.weak else a).dtype == np.dtype(float):
        return b if a.weak else a
    raise ItemsDiffer(f"they are of different types: {a.dtype} and {b.dtype}")


def item(opened: Opened, k: Any) -> Any:
    """The k-th item, counted from zero; it is there."""
    rows, found = iter(opened.rows), []
    for t, flag in zip(opened.kind.leaves, opened.kind.flags, strict=True):
        if t.__class__ is not Type:
            found.append(t.value)
            continue
        value = _row(next(rows), k)
        if isinstance(value, Box) and value._view_of is not None:
            value._view_of.readonly = _written
        found.append(as_number(value, t.dtype) if t.weak and is_symbolic(value) else value)
        symbol = innermost(found[-1])
        if flag and symbol.__class__ is Sym and not t.shape:
            symbol._node.mixed, symbol._node.either = flag == "mixed", flag == "either"
    return unflatten(opened.kind.structure, found, lambda thing: stand_in(note_created(thing), CHANGED))


CHANGED = "an item is changed of a list of which only the compiled program knows how many items there are"


def _written() -> StagingError:
    return StagingError(
        "an array is written to that is an item of a list, of which only the compiled program knows how many there are",
        remedy="write before it is appended, or put another array in its place: items[k] = new",
    )


def _row(rows: Any, k: Any) -> Any:
    if isinstance(rows, Box):
        return rows[k]
    return call(index, rows, k, pattern=(ARRAY,)) if isinstance(k, Traced) else rows[k]


def leaves_of(item: Any, kind: ItemKind) -> list[Any]:
    """The numbers of an item, of this kind or of one that it has room for."""
    return [converted(leaf, t) for leaf, t in zip(flatten(item)[0], kind.leaves, strict=True) if t.__class__ is Type]


def types_of(kind: ItemKind) -> list[Type]:
    """The types of the numbers of an item."""
    return [t for t in kind.leaves if t.__class__ is Type]


def columns_of(items: Sequence[Any], kind: ItemKind) -> list[Any]:
    """For each number in these items the array of all; some of the items may stand for several."""
    types = types_of(kind)
    pieces: list[list[Any]] = [[zeros((0, *t.shape), t.dtype)] if not items else [] for t in types]
    for opened, group in itertools.groupby(items, lambda item: item.__class__ is Opened):
        if opened:
            rows = [x.rows for x in group]
        else:
            leaves = zip(*[leaves_of(x, kind) for x in group], strict=True)
            rows = [[stacked([as_array(settled(leaf)) for leaf in column], 0) for column in leaves]]
        for one in rows:
            for column, new, t in zip(pieces, one, types, strict=True):
                column.append(cast(settled(new), t.dtype))
    return [join(column, 0) for column in pieces]


def as_opened(items: Sequence[Any], kind: ItemKind) -> Opened:
    """What stands for these items, of this kind."""
    if len(items) == 1 and items[0].__class__ is Opened and items[0].kind == kind:
        return items[0]
    return Opened(kind, columns_of(items, kind))


def whole(things: Any) -> Opened:
    """One thing that stands for all items of an open list."""
    items = list(things)
    return items[0] if len(items) == 1 else as_opened(items, kind_of_items(items))


def as_one(x: Any) -> Any:
    """An open list as one in which a single thing stands for all items; anything else as it is."""
    return x.__class__([whole(x)]) if is_open(x) and len(x) > 1 else x


def replace_items(thing: Any, items: Sequence[Any]) -> None:
    """Let a list or deque hold these items."""
    about_to_change(thing)
    _put(thing, items)


def _put(thing: Any, items: Sequence[Any]) -> None:
    if thing.__class__ is deque:
        thing.clear()
        thing.extend(items)
    else:
        thing[:] = items


def opening(stage: Callable[[], Any], grows: Grows | Placed | None = None, placed_only: bool = False,
            exact: bool = False) -> Any:  # fmt: skip
    """Stage a suite, with lists opened before that have another length after it, or are written at places that only the
    program knows; `grows` is one that is known of. If it is to be `exact`, no integers become floats."""
    before: list[tuple[Any, list]] = []
    placed: list[Any] = []
    tries = 0
    frozen = {} if current.session is None else dict(current.session.frozen)
    try:
        while True:
            if grows is not None:
                before.append((grows.thing, list(grows.thing)))
                if isinstance(grows, Placed):
                    open_here(grows.thing, grows.more, exact)
                    placed.append(grows.thing)
                else:
                    _open(grows, exact)
            tries += 1 if len(placed) < tries else 0
            try:
                result = stage()
                break
            except Placed as found:
                if not is_here(found.thing) or len(placed) == _MOST_PLACED:
                    raise
                grows = found
            except Grows as found:
                if placed_only or tries == _MOST:
                    raise
                grows = found
        for thing in placed:
            close(thing)
        return result
    except BaseException:
        for thing, items in reversed(before):
            _put(thing, items)
        if before and current.session is not None:
            current.session.frozen = frozen
        raise


def _open(grows: Grows, exact: bool) -> None:
    thing = grows.thing
    if thing.__class__ is deque and thing.maxlen == 0:
        raise grows
    if not thing and not grows.after:
        raise grows
    kind = kind_of_items([*thing, *grows.after])
    if not types_of(kind) or (len(thing) == 1 and is_open(thing) and thing[0].kind == kind):
        raise grows
    _let_stand(thing, list(thing), kind, exact)


def _let_stand(thing: Any, items: list, kind: ItemKind, exact: bool) -> None:
    """Let one thing stand for all items of a list: it has its own copies of these."""
    if exact and "mixed" in kind.flags:
        raise ItemsDiffer("some are integers and some floats")
    opened, capture = as_opened(items, kind), running.state.capture
    for one in items:
        if one.__class__ is Opened:
            continue
        freeze_all(one, CHANGED)
        for x, rows in zip(leaves_of(one, kind), opened.rows, strict=True):
            if isinstance(x, Box) and x.shape and isinstance(rows, Box):  # writing to it would have to be seen
                capture.links.add(root_of(x), rows, None, capture)
    replace_items(thing, [opened])


# ------------------------------------------------------------------------- lists that are written at computed places


def is_here(thing: Any) -> bool:
    """Whether a list is of the suite that is being captured, or there is none."""
    return depth() <= 1 or id(thing) in running.state.capture.created


def open_here(thing: Any, more: list, exact: bool = False) -> None:
    """Let one thing stand for all items of a list, which has room for some more values."""
    session = current.session
    kind = kind_of_items([*thing, *more])
    items = list(thing)
    known, held, opened = (None, (), None) if session is None else session.closed.get(id(thing), (None, (), None))
    if known is thing and opened.kind == kind and len(held) == len(items) and all(map(operator.is_, held, items)):
        items = [opened]
    _let_stand(thing, items, kind, exact)


def close(thing: Any) -> None:
    """Let a list that was opened hold its items one by one again, if it is known how many there are."""
    if not is_open(thing) or len(thing) > 1:
        return
    (opened,) = thing
    if opened.count.__class__ is not int or opened.count > MOST_ITEMS:
        return
    replace_items(thing, [item(opened, k) for k in range(opened.count)])
    if current.session is not None:
        current.session.closed[id(thing)] = (thing, tuple(thing), opened)
