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
from wengert.box.cells import Cell
from wengert.box.functions.operands import array as as_array
from wengert.box.functions.operands import cast, join, stacked
from wengert.box.writing import filled, settled, zeros
from wengert.capture.assuming import TELLS_INTEGERS_APART, TELLS_NUMBERS_APART, tells_apart
from wengert.capture.containers import (
    LEAF,
    Structure,
    about_to_change,
    containers_in,
    flatten,
    freeze_all,
    is_one_of,
    leaves_as,
    note_created,
    stand_in,
    unflatten,
)
from wengert.capture.growing import Grows
from wengert.capture.one_of import MOST, OneOf, code_of, is_constant
from wengert.capture.opened import Fixed, ItemKind, ListPool, Opened, PooledRow, count_of, is_open, row_in
from wengert.capture.session import current
from wengert.capture.values import as_number, converted, equal, is_number, is_symbolic, note_mixed
from wengert.errors import StagingError
from wengert.ir.aliases import root_of
from wengert.ir.build import Capture, type_of_value
from wengert.ir.node import Type
from wengert.ir.numbers import innermost
from wengert.ir.symbol import Sym
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced, call
from wengert.running import running
from wengert.types import dtype_of

_MOST = 6
"""So many times a suite is staged again, since lists in it have other lengths or kinds of items than was known."""
_MOST_PLACED = 40
"""So many times, since lists in it are written at places that only the program knows."""
_MOST_IN_POOL = 4096
MOST_ITEMS = 512
"""A list with more items stays open after the suite: each would be a value of the program."""


class Placed(StagingError):
    """A list is written at a place that only the program knows, in a suite that finds it there: it is to be opened
    before, for its items and some `more` values, and the suite to be staged again."""

    def __init__(self, thing: Any, more: list):
        self.thing, self.more = thing, more
        homes = [home_of(one) for one in self.things]
        self.home = homes[0]
        """The block in which the lists are."""
        if any(home is not self.home for home in homes):
            raise ItemsDiffer("some of its items were made in a loop or branch, and others before", AT_A_PLACE)
        super().__init__(
            "a list is written at a place that is known only when the compiled program runs",
            remedy="use an array, or pass the index as a static argument (static_argnums)",
        )

    @property
    def things(self) -> list[Any]:
        return [self.thing]

    def is_here(self) -> bool:
        """Whether the lists are of the suite that is being captured."""
        return self.home is running.state.capture


class Pooled(Placed):
    """One of several lists is read at a place that only the program knows: they are to be rows of a pool."""

    def __init__(self, lists: list, more: list, pool: ListPool | None = None):
        self._lists, self._pool = lists, pool
        super().__init__(None, more)
        self.home = self.home if pool is None else pool.home

    @property
    def things(self) -> list[Any]:
        return self._lists

    def prepare(self, exact: bool) -> ListPool:
        """Make the pool, or one with room for more kinds of values."""
        if self._pool is None:
            return pooled(self._lists, self.more, exact)
        return widen(self._pool, common(self._pool.kind, kind_of_items(self.more)), exact)


class ItemsDiffer(StagingError):
    """Items of one list cannot be rows of the same arrays."""

    def __init__(self, what: str, of: str = "only the compiled program knows how many items there are in a list"):
        super().__init__(f"{of}, and {what}", remedy="use numbers, arrays of one shape, or tuples of as many of them")


AT_A_PLACE = "only the compiled program knows at which place a list is written or read"


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
    if a.structure is b.structure is LEAF:
        (x,), (y,) = a.leaves, b.leaves
        if Fixed not in (x.__class__, y.__class__):
            return ItemKind(LEAF, (_common(x, y),), (_together(_flag(x, y), *a.flags, *b.flags),))
        if x.__class__ is y.__class__ and equal(x.value, y.value):
            return a
    some, others = _codes(a), _codes(b)
    if some is not None and others is not None:
        return _one_of({*some, *others})
    if a.structure.kind is None or a.structure.kind != b.structure.kind or a.structure.keys != b.structure.keys:
        are_leaves = a.structure is b.structure is LEAF
        raise ItemsDiffer("they hold what is no number, and differs" if are_leaves
                          else "they are not all of one kind, with as many parts")  # fmt: skip
    inside = [common(x, y) for x, y in zip(parts_of_kind(a), parts_of_kind(b), strict=True)]
    structure = a.structure._replace(parts=tuple([kind.structure for kind in inside]))
    return ItemKind(structure, tuple([leaf for kind in inside for leaf in kind.leaves]),
                    tuple([flag for kind in inside for flag in kind.flags]))  # fmt: skip


def parts_of_kind(kind: ItemKind) -> list[ItemKind]:
    """What the parts of items of a kind are like."""
    found, at = [], 0
    for part in kind.structure.parts:
        end = at + part.num_leaves
        found.append(ItemKind(part, kind.leaves[at:end], kind.flags[at:end]))
        at = end
    return found


def _codes(kind: ItemKind) -> tuple[int, ...] | None:
    """The numbers of the constants that a part of an item is one of (`one_of.py`); `None` if it is no such thing."""
    if is_one_of(kind.structure):
        return kind.structure.kind[1] if len(kind.structure.parts) == 1 else None
    constant = None if kind.structure.kind is type(None) else kind.leaves[0] if kind.structure is LEAF else ...
    if constant.__class__ is Fixed:
        constant = constant.value
    elif constant is not None:
        return None
    return (code_of(constant),) if is_constant(constant, [running.state.capture]) else None


def _one_of(codes: set[int]) -> ItemKind:
    if len(codes) > MOST:
        raise ItemsDiffer("they hold more different things than can be told apart")
    structure = Structure((OneOf, tuple(sorted(codes))), ("which",), (LEAF,))
    return ItemKind(structure, (type_of_value(0),), ("",))


def _together(*flags: str) -> str:
    said = set(flags) - {""}
    return "both" if len(said) > 1 else said.pop() if said else ""


def _flag(a: Any, b: Any) -> str:
    """What it says of a number that items have it of two types."""
    if a.weak == b.weak and a.dtype == b.dtype:
        return ""
    if a.weak == b.weak:
        if tells_apart(TELLS_INTEGERS_APART):
            raise ItemsDiffer("some are integers and some floats, and it is asked which")
        return "mixed"
    if tells_apart(TELLS_NUMBERS_APART):
        raise ItemsDiffer("some are numbers of Python's and some of NumPy's, and it is asked which")
    return "either" if a.dtype.kind == b.dtype.kind else "both"


def _common(a: Any, b: Any) -> Any:
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
        if flag and not t.shape:
            note_mixed(found[-1], flag in ("mixed", "both"))
            if symbol.__class__ is Sym:
                symbol._node.either = flag in ("either", "both")
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
    leaves = leaves_as(kind.structure, item)
    assert leaves is not None
    return [converted(leaf, t) for leaf, t in zip(leaves, kind.leaves, strict=True) if t.__class__ is Type]


def types_of(kind: ItemKind) -> list[Type]:
    """The types of the numbers of an item."""
    return [t for t in kind.leaves if t.__class__ is Type]


def columns_of(items: Sequence[Any], kind: ItemKind) -> list[Any]:
    """For each number in these items the array of all; some of the items may stand for several."""
    types = types_of(kind)
    pieces: list[list[Any]] = [[zeros((0, *t.shape), t.dtype)] if not items else [] for t in types]
    for opened, group in itertools.groupby(items, lambda item: item.__class__ is Opened):
        if opened:
            rows = [_rows_of(x, kind) for x in group]
        else:
            leaves = zip(*[leaves_of(x, kind) for x in group], strict=True)
            rows = [[stacked([as_array(settled(leaf)) for leaf in column], 0) for column in leaves]]
        for one in rows:
            for column, new, t in zip(pieces, one, types, strict=True):
                column.append(cast(settled(new), t.dtype))
    return [join(column, 0) for column in pieces]


def _rows_of(opened: Opened, kind: ItemKind) -> list[Any]:
    """The rows of an open list for items of a kind that it has room for: what was one thing may be one of several."""
    rows = iter(opened.rows)

    def of_parts(old: ItemKind, new: ItemKind) -> list[Any]:
        if is_one_of(new.structure) and not is_one_of(old.structure):
            (code,) = _codes(old) or ()
            return [filled(np.int64(code), (opened.count,))]
        if old.structure is LEAF:
            return [next(rows)] if old.leaves[0].__class__ is Type else []
        pairs = zip(parts_of_kind(old), parts_of_kind(new), strict=True)
        return [row for x, y in pairs for row in of_parts(x, y)]

    return of_parts(opened.kind, kind)


def as_opened(items: Sequence[Any], kind: ItemKind) -> Opened:
    """What stands for these items, of this kind."""
    if len(items) == 1 and items[0].__class__ is Opened and items[0].kind == kind:
        return items[0]
    return Opened(kind, columns_of(items, kind))


def whole(things: Any) -> Opened:
    """One thing that stands for all items of an open list."""
    items = [x.items(things) if x.__class__ is PooledRow else x for x in things]
    return items[0] if len(items) == 1 else as_opened(items, kind_of_items(items))


def as_one(x: Any) -> Any:
    """An open list as one in which a single thing stands for all items; anything else as it is."""
    return x.__class__([whole(x)]) if is_open(x) and len(x) > 1 else x


def replace_items(thing: Any, items: Sequence[Any]) -> None:
    """Let a list or deque hold these items."""
    row = row_in(thing)
    if row is None:
        about_to_change(thing)
        _put(thing, items)
        return
    new = as_opened(items, common(row.kind, kind_of_items(items))) if items else None
    if new is None or new.count.__class__ is not int or new.count != row.count:
        raise ItemsDiffer("an item of it that is a list becomes longer or shorter", AT_A_PLACE)
    about_to_write(row, new.kind)
    for array, rows in zip(row.pool.arrays, new.rows, strict=True):
        array[settled(row.ref)] = rows


def _put(thing: Any, items: Sequence[Any]) -> None:
    if thing.__class__ is deque:
        thing.clear()
        thing.extend(items)
    else:
        thing[:] = items


def opening(stage: Callable[[], Any], grows: Any = None, placed_only: bool = False,
            exact: bool = False) -> Any:  # fmt: skip
    """Stage a suite, with lists opened before that have another length after it, or are written at places that only the
    program knows; `grows` is one that is known of. If it is to be `exact`, no integers become floats."""
    before: list[tuple[Any, list]] = []
    placed: list[Any] = []
    pools: list[ListPool] = []
    tries, is_loop = 0, grows is not None
    frozen = {} if current.session is None else dict(current.session.frozen)
    try:
        while True:
            if grows is not None:
                before += [(thing, list(thing)) for thing in grows.things]
                if isinstance(grows, Pooled):
                    pools.append(grows.prepare(exact))
                elif isinstance(grows, Placed):
                    open_here(grows.thing, grows.more, exact)
                    placed.append(grows.thing)
                else:
                    _open(grows, exact)
                    for other in grows.others:
                        if other.thing or other.after:
                            _open(other, exact)
            tries += isinstance(grows, Grows)
            try:
                result = stage()
                break
            except Placed as found:
                if not found.is_here() or len(placed) + len(pools) == _MOST_PLACED:
                    raise
                grows = found
            except Grows as found:
                if placed_only or tries == _MOST or (found.is_for_loops and not is_loop):
                    raise
                grows = found
        for pool in pools:
            dissolve(pool)
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
    if not types_of(kind) and (codes := _codes(kind)) is not None:
        kind = _one_of({*codes})  # a list of words
    if not types_of(kind) or (len(thing) == 1 and is_open(thing) and thing[0].kind == kind):
        raise grows
    _let_stand(thing, list(thing), kind, exact)


def _let_stand(thing: Any, items: list, kind: ItemKind, exact: bool) -> None:
    """Let one thing stand for all items of a list: it has its own copies of these."""
    if exact and kind.is_mixed:
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


def home_of(thing: Any) -> Any:
    """The block in which a list was made, or the outermost."""
    captures = [trace for trace in running.state.traces if trace.__class__ is Capture]
    return next((capture for capture in reversed(captures) if id(thing) in capture.created), captures[0])


def is_here(thing: Any) -> bool:
    """Whether a list is of the suite that is being captured."""
    return home_of(thing) is running.state.capture


def open_here(thing: Any, more: list, exact: bool = False) -> None:
    """Let one thing stand for all items of a list, which has room for some more values."""
    kind = kind_of_items([*thing, *more])
    items = list(thing)
    found = None if current.session is None else current.session.closed.get(id(thing))
    if found is not None and found[0] is thing and found[2].kind == kind:
        if len(found[1]) == len(items) and all(map(operator.is_, found[1], items)):
            items = [found[2]]
    _let_stand(thing, items, kind, exact)


def close(thing: Any) -> None:
    """Let a list that was opened hold its items one by one again, if it is known how many there are."""
    if len(thing) != 1 or thing[0].__class__ is not Opened:
        return
    (opened,) = thing
    if opened.count.__class__ is not int or opened.count > MOST_ITEMS:
        return
    replace_items(thing, [item(opened, k) for k in range(opened.count)])
    if current.session is not None:
        current.session.closed[id(thing)] = (thing, tuple(thing), opened)


# ------------------------------------------------------------------------------------------------ rows of one array


def kind_for_pool(lists: list, more: list) -> ItemKind:
    """What the items of lists are like that may be rows of one pool, with some more values."""
    items = [item for one in lists for item in _items_in(one)]
    if not items and not more:
        raise ItemsDiffer("its items are lists without items", AT_A_PLACE)
    kind = kind_of_items([*items, *more])
    if any(t.shape for t in types_of(kind)) or any(True for x in items for _ in containers_in(x)):
        raise ItemsDiffer("its items hold objects or arrays, which others may hold", AT_A_PLACE)
    lengths = [count_of(one) for one in lists]
    if not types_of(kind) or not all(n.__class__ is int and n == lengths[0] for n in lengths):
        raise ItemsDiffer("its items are lists of different lengths", AT_A_PLACE)
    return kind


def pooled(lists: list, more: list, exact: bool = False) -> ListPool:
    """Let lists of as many items be rows of a pool, with room for some more values."""
    session, home = current.session, running.state.capture
    kind = kind_for_pool(lists, more)
    if exact and kind.is_mixed:
        raise ItemsDiffer("some are integers and some floats")
    length = count_of(lists[0])
    arrays = []
    for flat in columns_of([item for one in lists for item in _items_in(one)], kind):
        arrays.append(Cell(np.zeros((len(lists), length), dtype_of(flat))))
        arrays[-1][...] = flat.reshape(len(lists), length)
    pool = ListPool(kind, lists, arrays, length, home)
    if session is not None:
        session.pools.append(pool)
    for number, one in enumerate(lists):
        if session is None or session.is_made_inside(one):
            about_to_change(one)
        _put(one, [PooledRow(pool, number, one)])
    return pool


def _items_in(one: list) -> list:
    """The items of a list, which may be from outside."""
    session = current.session
    if session is None or is_open(one):
        return [whole(one)] if is_open(one) else list(one)
    return [session.item(one, k, item) for k, item in enumerate(one)]


def widen(pool: ListPool, kind: ItemKind, exact: bool = False) -> ListPool:
    """Let a pool have room for items of a kind."""
    if exact and kind.is_mixed and not pool.kind.is_mixed:
        raise ItemsDiffer("some are integers and some floats")
    for k, (array, t) in enumerate(zip(pool.arrays, types_of(kind), strict=True)):
        if dtype_of(array) != t.dtype:
            pool.arrays[k] = Cell(np.zeros((len(pool.lists), pool.length), t.dtype))
            pool.arrays[k][...] = cast(settled(array), t.dtype)
    pool.kind = kind
    return pool


def about_to_write(row: PooledRow, kind: ItemKind, more: Sequence[Any] = ()) -> None:
    """Values of a kind are written to a list that is a row of a pool."""
    pool = row.pool
    pool.is_written = True
    kind = common(pool.kind, kind)
    if kind != pool.kind:
        if pool.home is not running.state.capture:
            raise Pooled(pool.lists, list(more), pool)
        widen(pool, kind)


def dissolve(pool: ListPool) -> None:
    """Let lists that were rows of a pool hold their items one by one again, unless data decide which of them is which,
    or they are many."""
    if not pool.escapes and not (pool.is_written and len(pool.lists) * pool.length > _MOST_IN_POOL):
        _put_back(pool, pool.lists)


def _put_back(pool: ListPool, lists: Sequence[list]) -> None:
    for number, (one, items) in enumerate(zip(pool.lists, pool.before, strict=True)):
        if any(one is other for other in lists) and row_in(one) is not None:
            _put(one, items)
            if pool.is_written:
                about_to_change(one)
                _put(one, [item(Opened(pool.kind, pool.arrays), (number, k)) for k in range(pool.length)])


def close_pools(session: Any) -> None:
    """The function has returned: lists from outside hold their items again."""
    for pool in session.pools:
        made = pool.home.created  # in a loop or branch, that is
        _put_back(pool, [one for one in pool.lists if id(one) not in made and not session.is_made_inside(one)])


def undo_pools(session: Any) -> None:
    """The function cannot be captured: lists hold what they held."""
    for pool in reversed(session.pools):
        for one, items in zip(pool.lists, pool.before, strict=True):
            _put(one, items)
