"""What staged code does with lists of which only the program knows how many items there are (`opened.py`).

Reading, counting, iterating, joining; and the methods that change a list. As an array such a list is given to functions
that take a list of numbers as one (`chosen.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.cells import Cell
from wengert.box.dispatch import FUNCTIONS
from wengert.box.functions.operands import SEVERAL, array, cast, join
from wengert.box.operators import REPEATED
from wengert.box.writing import settled, zeros
from wengert.capture import hooks
from wengert.capture.containers import LEAF, freeze, note_created
from wengert.capture.exceptions import demand
from wengert.capture.iteration import COUNTED, Items, UsedAsWhole, items_of, refused
from wengert.capture.one_of import NOT_A_NUMBER, NOT_ITERABLE, narrowed, not_none
from wengert.capture.opened import ItemKind, Opened, count_of, has_items, is_open, row_in
from wengert.capture.opening import (
    CHANGED,
    ItemsDiffer,
    about_to_write,
    as_opened,
    columns_of,
    common,
    item,
    kind_of_items,
    leaves_of,
    parts_of_kind,
    replace_items,
    types_of,
    whole,
)
from wengert.capture.stage import ifexp
from wengert.capture.staged_loops import for_
from wengert.capture.values import is_symbolic
from wengert.errors import Signal
from wengert.ir.aliases import root_of
from wengert.ir.numbers import as_python, check
from wengert.ir.symbol import Sym, known
from wengert.ops import elementwise as e
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced, call
from wengert.ops.reduce import argsort
from wengert.ops.shape import copy, reshape
from wengert.ops.store import store
from wengert.running import running
from wengert.types import dtype_of, shape_of

# ----------------------------------------------------------------------------------------------------------- reading


def length(things: Any) -> Any:
    """`len(things)`."""
    count = count_of(things)
    return as_python(count) if is_symbolic(count) else count


def _place(things: Any, key: Any, length: Any, what: str) -> Any:
    """Where an item is, counted from zero; the program raises if there is none."""
    key = settled(key)
    if key.__class__ is not int and not (isinstance(key, Box) and key.dtype.kind in "iu" and not key.shape):
        kind = "list" if things.__class__ is list else type(things).__name__
        raise TypeError(f"{kind} indices must be integers or slices, not {type(key).__name__}")
    low, high = getattr(key, "_span", None) or (None, None)
    if key.__class__ is int:
        place = call(e.add, length, key) if key < 0 else key
    elif low is not None and low >= 0:
        place = key
        if length.__class__ is int and high is not None and high < length:
            return place
    else:
        place = call(e.where, call(e.less, key, 0), call(e.add, length, key), key)
    inside = call(e.logical_and, call(e.greater_equal, place, 0), call(e.less, place, length))
    demand(inside, "IndexError", what)
    return place


def read_item(things: Any, key: Any) -> Any:
    """`things[key]`."""
    if key.__class__ is slice:
        return _cut(things, key)
    row = row_in(things)
    if row is not None:
        place = settled(row.ref), _place(things, key, row.count, "list index out of range")
        return item(Opened(row.kind, row.pool.arrays), place)
    opened = whole(things)
    return item(opened, _place(things, key, opened.count, "list index out of range"))


def _cut(things: Any, key: slice) -> Any:
    opened = whole(things)
    return note_created(things.__class__([Opened(opened.kind, [settled(_traced(rows)[key]) for rows in opened.rows])]))


def items_in(things: Any) -> Items | None:
    """An open list as counted items."""
    if things.__class__ is Opened:
        return refused()
    if not is_open(things):
        return None
    opened = whole(things)

    def item_now(k: Any) -> Any:
        """The k-th item: what a suite that goes through a list puts into it is seen in later iterations."""
        now = whole(things)
        counts = opened.count, now.count
        if now is not opened and not (counts[0].__class__ is counts[1].__class__ is int and counts[0] == counts[1]):
            demand(call(e.equal, *counts), "RuntimeError", "a list becomes longer or shorter in a loop over its items")
        return item(now, k)

    return Items(opened.count, item_now)


COUNTED.append(items_in)


def columns(opened: Opened) -> tuple:
    """`zip(*items)`, where all items are tuples of as many parts: a tuple of open tuples."""
    structure = opened.kind.structure
    if structure.kind not in (tuple, list) or not structure.parts:
        return refused()
    found, row = [], 0
    for kind in parts_of_kind(opened.kind):
        numbers = len(types_of(kind))
        found.append((Opened(kind, opened.rows[row : row + numbers]),))
        row += numbers
    return tuple(found)


def as_an_array(things: Any) -> Any:
    """The array that `np.array(things)` makes of an open list."""
    opened = whole(things)
    structure = opened.kind.structure
    if structure is LEAF:
        return copy(settled(opened.rows[0]))
    flat = structure.kind in (tuple, list) and all(part is LEAF for part in structure.parts)
    if not flat or len(opened.rows) != len(structure.parts) or len({t.shape for t in types_of(opened.kind)}) != 1:
        return refused()
    dtype = np.result_type(*[t.dtype for t in types_of(opened.kind)])
    found = [cast(settled(rows), dtype) for rows in opened.rows]
    return join([call(reshape, x, shape=(shape_of(x)[0], 1, *shape_of(x)[1:])) for x in found], 1)


SEVERAL[Opened] = as_an_array


def repeated(things: Any, n: Any) -> Any:
    """`things * n`: only lists of numbers, since other items would be one object in several places."""
    if not things:
        return note_created(things.__class__())
    opened = whole(things) if is_open(things) else as_opened(things, kind_of_items(things))
    if opened.kind.structure is not LEAF or len(opened.rows) != 1 or len(shape_of(opened.rows[0])) != 1:
        raise UsedAsWhole(
            "a list of other things than numbers is repeated a number of times that only the compiled program knows",
            remedy="write [item for _ in range(n)], or pass the number as a static argument (static_argnums)",
        )
    rows = array(settled(opened.rows[0]))
    times = call(e.maximum, n, 0)
    all_of_them = FUNCTIONS[np.broadcast_to](rows, (times, *shape_of(rows))).reshape(-1)
    return note_created(things.__class__([Opened(opened.kind, [settled(all_of_them)])]))


REPEATED.append(repeated)


def _together(x: Any, axis: Any = 0) -> Any:
    """`np.concatenate` of the items, arrays, along their first axis."""
    if axis != 0 or len(shape_of(x)) < 2:
        return refused()
    return array(x).reshape((-1, *[known(n) for n in shape_of(x)[2:]]))


def _below_each_other(x: Any) -> Any:
    """`np.vstack` of the items."""
    return array(x).reshape((-1, 1)) if len(shape_of(x)) == 1 else x if len(shape_of(x)) == 2 else _together(x)


def _beside_each_other(x: Any) -> Any:
    """`np.hstack` of the items."""
    return x if len(shape_of(x)) == 1 else _together(x) if len(shape_of(x)) == 2 else refused()


def _as_columns(x: Any) -> Any:
    """`np.column_stack` of the items."""
    return array(x).reshape((1, -1)) if len(shape_of(x)) == 1 else x.T if len(shape_of(x)) == 2 else refused()


JOINING: dict[Any, Callable] = {
    np.concatenate: _together, np.vstack: _below_each_other, np.hstack: _beside_each_other,
    np.stack: lambda x, axis=0: x if axis == 0 else FUNCTIONS[np.moveaxis](x, 0, axis), np.column_stack: _as_columns,
}  # fmt: skip
"""Functions of NumPy's that join the items of a list, as functions of the array of all."""


# ---------------------------------------------------------------------------------------------------------- changing


def _fitting(things: Any, more: Sequence[Any]) -> Opened:
    """All items of an open list, of a kind that the others are of as well; the list is opened for it where that was
    done, or here, if all is known."""
    opened = whole(things)
    kind = common(opened.kind, kind_of_items(more)) if more else opened.kind
    return opened if kind == opened.kind else as_opened([opened], kind)


def append(things: Any, value: Any) -> None:
    """`things.append(value)`."""
    opened = _fitting(things, [value])
    freeze(value, CHANGED)
    _put(things, opened, as_opened([opened, value], opened.kind).rows, value)


def _put(things: Any, opened: Opened, rows: Sequence[Any], value: Any, keeps_last: bool = True) -> None:
    """Let a list hold other rows, among them those of a value: the list has its own copy of what is appended."""
    most, capture = getattr(things, "maxlen", None), running.state.capture
    if most is not None:  # a deque
        kept = slice(-most, None) if keeps_last else slice(0, most)
        rows = [call(index, settled(r), pattern=(kept,)) for r in rows]
    for old, new in zip(opened.rows, rows, strict=True):
        if isinstance(new, Box) and isinstance(old, Box):
            capture.links.pass_on(old, new, capture)
    for x, new in zip(leaves_of(value, opened.kind), rows, strict=True):
        if isinstance(x, Box) and x.shape and isinstance(new, Box):  # writing to it would have to be seen in the list
            capture.links.add(root_of(x), new, None, capture)
    replace_items(things, [Opened(opened.kind, rows)])


def extend(things: Any, more: Any) -> None:
    """`things.extend(more)`."""
    if not is_open(more):
        for_(more, lambda value: add_to(things, value), None, lambda: (), lambda values: None, ())
        return
    other = whole(more)
    opened = _fitting(things, [other])
    replace_items(things, [as_opened([opened, other], opened.kind)])


def pop(things: Any, key: Any = -1) -> Any:
    """`things.pop(key)`."""
    opened = whole(things)
    what = "pop from empty list" if things.__class__ is list else "pop from an empty deque"
    demand(call(e.greater, opened.count, 0), "IndexError", what)
    place = _place(things, key, opened.count, "pop index out of range")
    found = item(opened, place)
    _take_out(things, opened, place)
    return found


def _take_out(things: Any, opened: Opened, place: Any) -> None:
    _put_together(things, opened, place, call(e.add, place, 1))


def _put_together(things: Any, opened: Opened, stop: Any, start: Any) -> None:
    """Let a list hold what comes before one place, and what comes from another one on."""
    rest = [join([_until(rows, stop), _from(rows, start)], 0) for rows in opened.rows]
    replace_items(things, [Opened(opened.kind, rest)])


def _until(rows: Any, end: Any) -> Any:
    return settled(_traced(rows)[:end])


def _from(rows: Any, start: Any) -> Any:
    return settled(_traced(rows)[start:])


def _traced(rows: Any) -> Any:
    """Rows, which may be cut at places that only the program knows."""
    return Cell(rows) if rows.__class__ is np.ndarray else array(rows)


def append_left(things: Any, value: Any) -> None:
    """`things.appendleft(value)`."""
    opened = _fitting(things, [value])
    freeze(value, CHANGED)
    _put(things, opened, as_opened([value, opened], opened.kind).rows, value, False)


def insert(things: Any, key: Any, value: Any) -> None:
    """`things.insert(key, value)`."""
    opened = _fitting(things, [value])
    freeze(value, CHANGED)
    place, count = settled(key), opened.count
    if isinstance(place, Traced) or place < 0:
        place = call(e.where, call(e.less, place, 0), call(e.add, count, place), place)
    place = call(e.minimum, call(e.maximum, place, 0), count)
    one = columns_of([value], opened.kind)
    _put(things, opened, [join([_until(r, place), x, _from(r, place)], 0)
                          for r, x in zip(opened.rows, one, strict=True)], value)  # fmt: skip


def set_item(things: Any, key: Any, value: Any) -> None:
    """`things[key] = value`."""
    if key.__class__ is slice:
        refused()
    row = row_in(things)
    if row is not None:
        about_to_write(row, kind_of_items([value]), [value])
        place = settled(row.ref), _place(things, key, row.count, "list assignment index out of range")
        for array, x in zip(row.pool.arrays, leaves_of(value, row.kind), strict=True):
            array[place] = x
        return
    opened = _fitting(things, [value])
    freeze(value, CHANGED)
    place = _place(things, key, opened.count, "list assignment index out of range")
    _put_at(things, opened, place, value)


def keep_last(things: Any) -> Any:
    """A deque that was just made of an open list: those of its items that it has room for."""
    if things.maxlen is not None:
        replace_items(things, [_cut([whole(things)], slice(-things.maxlen, None) if things.maxlen else slice(0, 0))[0]])
    return things


def _put_at(things: Any, opened: Opened, place: Any, value: Any) -> None:
    _put(things, opened, [call(store, settled(r), settled(x), place, pattern=(ARRAY,))
                          for r, x in zip(opened.rows, leaves_of(value, opened.kind), strict=True)], value)  # fmt: skip


def delete(things: Any, key: Any) -> None:
    """`del things[key]`."""
    opened = whole(things)
    if key.__class__ is not slice:
        _take_out(things, opened, _place(things, key, opened.count, "list assignment index out of range"))
    elif key.step is None:
        start = _bound(key.start, 0, opened.count)
        stop = call(e.maximum, start, _bound(key.stop, opened.count, opened.count))
        _put_together(things, opened, start, stop)
    else:
        refused()


def _bound(end: Any, otherwise: Any, count: Any) -> Any:
    """The end of a slice of so many items, counted from zero."""
    if end is None:
        return otherwise
    end = settled(end)
    if isinstance(end, Traced) or end < 0:
        end = call(e.where, call(e.less, end, 0), call(e.add, count, end), end)
    return call(e.minimum, call(e.maximum, end, 0), count)


def clear(things: Any) -> None:
    """`things.clear()`."""
    opened = whole(things)
    replace_items(things, [as_opened([], opened.kind)])


def reverse(things: Any) -> None:
    """`things.reverse()`."""
    opened = whole(things)
    backwards = (slice(None, None, -1),)
    replace_items(things, [Opened(opened.kind, [call(index, settled(r), pattern=backwards) for r in opened.rows])])


def sorted_items(things: Any, key: Any, reverse: Any) -> list:
    """`sorted(things)`."""
    opened = whole(things)
    if is_symbolic(reverse):
        return refused()
    backwards = (slice(None, None, -1),)
    columns = _columns_of_keys(things, opened, key)
    if len(columns) > 1:
        _refuse_nans(columns)
    places: Any = None
    for column in reversed(columns):  # items that compare equal keep their order
        column = call(e.stop_gradient, call(index, column, pattern=backwards) if reverse else column)
        now = column if places is None else call(index, column, places, pattern=(ARRAY,))
        order = call(argsort, now, axis=0, kind="python")
        places = order if places is None else call(index, places, order, pattern=(ARRAY,))
    if reverse:
        last = call(e.subtract, opened.count, 1)
        places = call(index, call(e.subtract, last, places), pattern=backwards)
    return note_created([Opened(opened.kind, [call(index, settled(r), places, pattern=(ARRAY,)) for r in opened.rows])])


def _refuse_nans(columns: Sequence[Any]) -> None:
    """Nothing is smaller than NaN, and nothing larger: the order of tuples depends on how Python searches."""
    for column in columns:
        if dtype_of(column).kind == "f":
            fine = call(e.logical_not, FUNCTIONS[np.any](call(e.isnan, column)))
            check(fine, "ValueError", "sorted compares NaN, in an order that compiled code does not know")


def _keys(things: Any, opened: Opened, key: Any) -> Any:
    """The numbers by which items are compared."""
    columns = _columns_of_keys(things, opened, key)
    return columns[0] if len(columns) == 1 else refused()


def _columns_of_keys(things: Any, opened: Opened, key: Any) -> list[Any]:
    """The numbers by which items are compared, and those that come next where these are equal."""
    if key is not None:
        f = hooks.call(key)
        made = over_items(things, lambda items: [not_none(f(x), NOT_A_NUMBER) for x in items])
        return _columns_of_keys(made, whole(made), None)
    structure = opened.kind.structure
    is_flat = structure is LEAF or (structure.kind in (tuple, list) and all(p is LEAF for p in structure.parts))
    if not is_flat or not opened.rows or any(t.shape or t.dtype.kind == "c" for t in types_of(opened.kind)):
        return refused()
    return [settled(rows) for rows in opened.rows]


def sort(things: Any, *, key: Any = None, reverse: Any = False) -> None:
    """`things.sort()`."""
    replace_items(things, sorted_items(things, key, reverse))


def extreme_item(things: Any, key: Any, default: Any, find: Callable, name: str) -> Any:
    """`min(things)` or `max(things)`; `find` gives the place, of the array of keys."""
    opened = whole(things)
    if default is not None:
        found = opened, key
        return ifexp(
            has_items(things), lambda: extreme_item([found[0]], found[1], None, find, name), lambda: default[0]
        )
    demand(call(e.greater, opened.count, 0), "ValueError", f"{name}() iterable argument is empty")
    return item(opened, find(_keys(things, opened, key)))


METHODS: dict[str, Callable] = {
    "append": append, "extend": extend, "pop": pop, "insert": insert, "clear": clear, "reverse": reverse,
    "popleft": lambda things: pop(things, 0), "appendleft": append_left,
    "__setitem__": set_item, "__delitem__": delete, "__iadd__": extend, "__len__": length, "__getitem__": read_item,
    "sort": sort, "copy": lambda things: note_created(things.__class__([whole(things)])),
}  # fmt: skip
"""Methods of lists and deques; others are refused."""


def method(things: Any, name: str) -> Callable:
    """A method of an open list."""
    if name not in METHODS:
        return refused
    return lambda *args, **options: METHODS[name](things, *args, **options)


# ------------------------------------------------------------------------------------------------------ comprehensions


def over_items(iterable: Any, make: Callable[[Any], Any]) -> Any:
    """A comprehension as a function of what it iterates over: where only the program knows how many items there are,
    it is a loop that fills a list, or one in which a list grows."""
    counted = items_of(not_none(iterable, NOT_ITERABLE))
    if counted is None or not isinstance(counted.count, Traced):
        return make(iterable)
    found: list[Any] = note_created([])
    if (kind := _kind_made(counted, make)) is not None:
        try:
            _fill(found, kind, counted, make)
            return found
        except ItemsDiffer:
            replace_items(found, [])

    def body(value: Any) -> None:
        for each in make([value]):
            add_to(found, each)

    for_(counted, body, None, lambda: (), lambda values: None, ())
    return found


class _KindMade(Signal):
    """What a comprehension makes of one item."""

    def __init__(self, kind: ItemKind | None):
        self.kind = kind


def _kind_made(counted: Items, make: Callable[[Any], Any]) -> ItemKind | None:
    """The kind of what a comprehension makes of each item, if that is one thing, and it is known how many there are at
    most: the suite is staged, and left."""
    if counted.count.__class__ is not Sym or _most(counted.count) is None:
        return None

    def probe(value: Any) -> None:
        made = list(make([value]))
        raise _KindMade(kind_of_items(made) if len(made) == 1 and not is_open(made) else None)

    try:
        for_(counted, probe, None, lambda: (), lambda values: None, ())
    except _KindMade as found:
        return found.kind if found.kind is not None and types_of(found.kind) else None
    except ItemsDiffer:
        pass
    return None


def _most(count: Sym) -> int | None:
    return count._span[1] if count._span is not None else None


def _fill(found: list, kind: ItemKind, counted: Items, make: Callable[[Any], Any]) -> None:
    """Fill a list with what a comprehension makes of each item."""
    capture, until = running.state.capture, {"pattern": (slice(0, counted.count),)}
    most = [zeros((_most(counted.count), *t.shape), t.dtype) for t in types_of(kind)]
    rows = [capture.process(index, (x,), until) for x in most]
    replace_items(found, [Opened(kind, rows)])

    def body(pair: Any) -> None:
        k, value = pair
        [made] = make([value])
        [opened] = found
        if common(opened.kind, kind_of_items([made])) != opened.kind:
            raise ItemsDiffer("they are not all of one kind")
        freeze(made, CHANGED)
        _put_at(found, opened, k, made)

    numbered = Items(counted.count, lambda k: (k, counted.item(k)))
    for_(numbered, body, None, lambda: (), lambda values: None, ())


def add_to(things: list, value: Any) -> None:
    """`things.append(value)`, of any list; the value may stand for several items."""
    value = narrowed(value)
    if value.__class__ is Opened and is_open(things):
        extend(things, [value])
    elif value.__class__ is Opened:
        replace_items(things, [*things, value])
    elif is_open(things):
        append(things, value)
    else:
        replace_items(things, [*things, value])
