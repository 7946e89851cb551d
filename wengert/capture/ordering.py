"""What compares Python values, on symbols: `sorted`, `min`, `max`, `list.sort`, `list.index`, `bisect`, `heapq`.

Which item comes where is known only when the program runs. Sorting is done by positions: the keys are put into an
array, `argsort` gives the positions, and the items are gathered, leaf by leaf if they are containers. `min` and `max`
compare one by one, as Python does. What depends on the layout that an algorithm leaves behind (a heap) is refused.
"""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.dispatch import FUNCTIONS
from wengert.box.functions.operands import array
from wengert.box.writing import own_array, settled
from wengert.capture import hooks
from wengert.capture.assuming import TELLS_NUMBERS_APART, tells_apart
from wengert.capture.containers import LEAF, about_to_change, containers_in, flatten, freeze, note_created, unflatten
from wengert.capture.deciding import condition
from wengert.capture.exceptions import demand
from wengert.capture.followed import extremes, heaps, searches
from wengert.capture.instrument import staged
from wengert.capture.kinds import is_object
from wengert.capture.one_of import MOST, code_of, demand_known_things, is_constant, one_of
from wengert.capture.open_lists import extreme_item, sorted_items
from wengert.capture.opened import is_open
from wengert.capture.opening import whole
from wengert.capture.replacements import holds_intervals
from wengert.capture.session import current
from wengert.capture.stage import equality, ifexp, ordered
from wengert.capture.values import (
    as_number,
    equal,
    holds_symbols,
    is_number,
    is_short_integer,
    is_symbolic,
    may_be_integer,
    note_either,
    note_mixed,
    truth,
)
from wengert.errors import StagingError
from wengert.ir.infer import is_weak
from wengert.ir.numbers import as_python, check, python_class
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.reduce import argsort
from wengert.running import running
from wengert.types import dtype_of, shape_of

_MISSING = object()


def _called(key: Any) -> Callable:
    return (lambda x: x) if key is None else hooks.call(key)


# ------------------------------------------------------------------------------------------------------------ sorting


def staged_sorted(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list:
    """`sorted`."""
    if is_open(iterable):
        return sorted_items(iterable, key, reverse)
    items = list(iterable)
    return note_created(_in_order(items, key, reverse, "sorted"))


def sort_list(items: list, /, *, key: Any = None, reverse: Any = False) -> None:
    """`items.sort()`."""
    about_to_change(items)
    items[:] = _in_order(list(items), key, reverse, "list.sort")


def place_in(items: list | tuple, value: Any, start: Any = 0, stop: Any = None, /) -> Any:
    """`items.index(value)`."""
    among = items[start:stop]
    same = _equalities(among, value)
    if same is None:
        return items.index(value, start, len(items) if stop is None else stop)
    demand(FUNCTIONS[np.any](array(same)), "ValueError", f"the number is not in {items.__class__.__name__}")
    found = as_python(FUNCTIONS[np.argmax](array(same)))
    return found + (len(items) - len(items[start:]))


def number_in(items: list | tuple, value: Any, /) -> Any:
    """`items.count(value)`."""
    same = _equalities(items, value)
    return items.count(value) if same is None else as_python(FUNCTIONS[np.sum](array(same)))


def _equalities(items: list | tuple, value: Any) -> list[Any] | None:
    """Whether each item equals a value, where that is known only when the program runs; otherwise `None`."""
    same = [True if item is value else equality(item, value, True) for item in items]
    if not any(map(is_symbolic, same)):
        return None
    if any(shape_of(x) for x in same):
        raise StagingError("an array is looked for in a list", remedy="compare numbers, or use np.all in a loop")
    return [truth(x) if is_symbolic(x) else bool(x) for x in same]


def _in_order(items: list, key: Any, reverse: Any, name: str) -> list:
    return _by_keys(items, [_called(key)(item) for item in items], reverse, name)


def _by_keys(items: list, keys: list, reverse: Any, name: str) -> list:
    if len(items) < 2 or not _are_compared_by_the_program(keys):
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        return [items[k] for k in order]
    if all(_begins_with_what_is_known(key) for key in keys):
        order = sorted(range(len(items)), key=lambda k: keys[k][0], reverse=reverse)
        runs = [list(run) for _, run in itertools.groupby(order, key=lambda k: keys[k][0])]
        ordered = (_by_keys([items[k] for k in run], [keys[k][1:] for k in run], reverse, name) for run in runs)
        return list(itertools.chain.from_iterable(ordered))
    if is_symbolic(reverse):
        raise StagingError(f"{name} in an order that is known only when the compiled program runs",
                           remedy="sort in one order, and reverse the result with np.where")  # fmt: skip
    if reverse:  # items that compare equal keep their order
        return _gathered(items[::-1], _positions(keys[::-1], name), name)[::-1]
    return _gathered(items, _positions(keys, name), name)


def _begins_with_what_is_known(key: Any) -> bool:
    """Whether a key is a tuple that begins with a text or a number that equals itself."""
    return isinstance(key, tuple) and len(key) > 0 and isinstance(key[0], (str, int, float)) and key[0] == key[0]


def _positions(keys: Sequence[Any], name: str) -> Any:
    """Where the keys stand that come first, second, …, by a stable sort."""
    if all(_has_an_order_of_its_own(key) for key in keys):
        return _positions_of_objects(keys, name)
    columns = _with_places_of_texts([list(key) if isinstance(key, (tuple, list)) else [key] for key in keys])
    if len({len(column) for column in columns}) != 1 or not all(_is_real(x) for column in columns for x in column):
        raise StagingError(f"{name} compares {_kinds(keys)}, some of them known only when the compiled program runs",
                           remedy="sort by numbers, or by tuples of as many numbers: key=…")  # fmt: skip
    parts = [array(list(part)) for part in zip(*columns, strict=True)]
    if len(parts) == 1:
        return argsort(e.stop_gradient(parts[0]), axis=0, kind="python")
    _refuse_nans(parts, name)
    before: Any = np.tri(len(keys), k=-1, dtype=bool).T  # of equal ones the first
    for part in reversed(parts):
        part = e.stop_gradient(part)
        row, column = s.reshape(part, shape=(1, len(keys))), s.reshape(part, shape=(len(keys), 1))
        before = e.logical_or(e.less(column, row), e.logical_and(e.equal(column, row), before))
    rank = FUNCTIONS[np.sum](before, axis=0)
    return FUNCTIONS[np.argsort](rank, kind="stable")


def _with_places_of_texts(keys: list[list[Any]]) -> list[list[Any]]:
    """Keys, with numbers for texts: which one comes first is known."""
    for k in range(min(map(len, keys))):
        column = [key[k] for key in keys]
        if all(x.__class__ is str for x in column):
            places = {text: place for place, text in enumerate(sorted(set(column)))}
            for key in keys:
                key[k] = places[key[k]]
    return keys


COMPARING = (sorted, min, max)
"""Functions that look at nothing but the keys."""


def _are_compared_by_the_program(keys: Sequence[Any]) -> bool:
    demand_known_things([key for key in keys if not _has_an_order_of_its_own(key)])
    return holds_symbols(keys) or (any(map(_has_an_order_of_its_own, keys)) and holds_symbols(flatten(keys)[0]))


def _has_an_order_of_its_own(key: Any) -> bool:
    """Whether it is an object of a class that says which one comes first."""
    return is_object(key) and FunctionType in (type(key).__lt__.__class__, type(key).__gt__.__class__)


def _positions_of_objects(keys: Sequence[Any], name: str) -> Any:
    """The same for objects, of which `a < b` says which comes first. Those of which neither does keep their order."""
    n = len(keys)
    less = [[condition(ordered(a, b, "lt")) if a is not b else False for b in keys] for a in keys]
    table = FUNCTIONS[np.stack]([array([truth(x) if is_symbolic(x) else bool(x) for x in row]) for row in less])
    before_it = FUNCTIONS[np.sum](table, axis=0)
    agrees = e.equal(table, e.less(s.reshape(before_it, shape=(n, 1)), s.reshape(before_it, shape=(1, n))))
    message = f"{name} compares objects in which < is no order: what Python makes of them depends on how it searches"
    check(FUNCTIONS[np.all](agrees), "ValueError", message)
    return FUNCTIONS[np.argsort](before_it, kind="stable")


def _refuse_nans(parts: Sequence[Any], name: str) -> None:
    """Nothing is smaller than NaN, and nothing larger: the order that Python finds depends on how it searches."""
    for part in parts:
        if dtype_of(part).kind == "f":
            fine = e.logical_not(FUNCTIONS[np.any](e.isnan(part)))
            check(fine, "ValueError", f"{name} compares NaN, in an order that compiled code does not know")


def _is_real(x: Any) -> bool:
    return is_number(x) and not shape_of(x) and dtype_of(x).kind in "biuf"


def _kinds(keys: Sequence[Any]) -> str:
    return "values of the kinds " + ", ".join(sorted({type(k).__name__ if not isinstance(k, Box) else "number"
                                                      for k in keys}))  # fmt: skip


def _gathered(items: list, positions: Any, name: str) -> list:
    """The items in the order in which their positions are given."""
    taken = [flatten(item) for item in items]
    if any(structure != taken[0][1] for _, structure in taken):
        raise StagingError(f"{name} of items that differ in their structure, in an order that is known only when the "
                           "compiled program runs", remedy="sort items of one kind")  # fmt: skip
    columns = []
    for column in zip(*[leaves for leaves, _ in taken], strict=True):
        if all(is_number(x) for x in column) and len({tuple(shape_of(x)) for x in column}) == 1:
            columns.append(_gathered_numbers(column, positions))
        elif all(equal(x, column[0]) for x in column[1:]):
            columns.append(list(column))
        elif all(is_constant(x) for x in column) and len(set(map(code_of, column))) <= MOST:
            columns.append(_gathered_constants(column, positions))
        else:
            raise StagingError(
                f"{name} puts items into an order that is known only when the compiled program runs, and they hold "
                "what is no number, or arrays of different shapes",
                remedy="sort numbers, and use np.argsort for the rest",
            )  # fmt: skip
    rows = zip(*columns, strict=True) if columns else [()] * len(items)
    new = [unflatten(taken[0][1], row, note_created) for row in rows]
    _note_order(items, new)
    return new


def _note_order(items: Sequence[Any], new: Sequence[Any]) -> None:
    """Of the new items, each stands for one of the old ones, and no two for the same: a change of one would have to be
    seen in the other, if somebody holds both (`outlived.py`)."""
    session = current.session
    if session is None:
        return
    columns = [zip(*map(list, map(containers_in, those)), strict=True) for those in (items, new)]
    for group in zip(*columns, strict=True):
        for thing in itertools.chain(*group):
            session.orders.setdefault(id(thing), (thing, []))[1].append(group)
            freeze(thing, "an object is changed that is sorted under another name, in an order that is known only when "
                          "the compiled program runs")  # fmt: skip


def _gathered_constants(column: Sequence[Any], positions: Any) -> list:
    """Texts, functions and the like: each may be any of them."""
    codes = [code_of(x) for x in column]
    which = FUNCTIONS[np.take](np.array(codes), positions)
    return [one_of(which[k], tuple(sorted(set(codes))), {}) for k in range(len(column))]


def _is_array(x: Any) -> bool:
    """Whether it may be written to, and others see it."""
    return isinstance(x, Box) and bool(x.shape or x._is_array)


def _gathered_numbers(column: Sequence[Any], positions: Any) -> list:
    stacked = FUNCTIONS[np.stack]([array(x) if isinstance(x, Box) else np.asarray(x) for x in column])
    ordered = FUNCTIONS[np.take](stacked, positions, axis=0)
    found = [ordered[k] for k in range(len(column))]
    if any(map(_is_array, column)):  # who writes to them writes to what they were before
        found = [FUNCTIONS[np.copy](x) if shape_of(x) else own_array(x) for x in found]
        capture = running.state.capture
        capture.links.add_order(found, [x if _is_array(x) else None for x in column], positions, capture)
        return found
    kinds = {dtype_of(x).kind for x in column}
    if all(is_weak(settled(x)) for x in column) and len(kinds) == 1:
        return [as_number(x, dtype_of(column[0])) for x in found]
    return found


# ----------------------------------------------------------------------------------------------------------- extremes


def extreme(original: Callable, better: Callable) -> Callable:
    """`min` or `max`."""
    eager = hooks.REPLACEMENTS.get(original, original)

    def chosen(*args: Any, key: Any = None, default: Any = _MISSING) -> Any:
        options = {} if default is _MISSING else {"default": default}
        if len(args) == 1 and is_open(args[0]):
            if key is None and not options and whole(args[0]).kind.structure is not LEAF:
                return staged(extremes.largest if original is max else extremes.smallest)(args[0])
            find = functools.partial(_place_of_extreme, original=original)
            return extreme_item(args[0], key, tuple(options.values()) or None, find, original.__name__)
        if key is None and not options and holds_intervals(args):
            return eager(*args)
        if len(args) == 1 and isinstance(args[0], Box) and is_symbolic(args[0]) and key is None and not options:
            if len(shape_of(args[0])) == 1:
                return _first_extreme(args[0], original)
        items = list(args[0]) if len(args) == 1 else list(args)
        if not items and len(args) == 1:
            return eager(items, key=key, **options)
        keys = [_called(key)(item) for item in items]
        if not _are_compared_by_the_program(keys):
            return items[eager(range(len(items)), key=keys.__getitem__)]
        best, least = items[0], keys[0]
        for item, value in zip(items[1:], keys[1:], strict=True):
            is_better = _compared(better, value, least)
            best, least = _either(is_better, item, best), _either(is_better, value, least)
        best = as_python(best) if all(is_number(v) and python_class(v) is not None for v in items) else best
        if is_number(best):
            note_mixed(best, any(map(may_be_integer, items)))
            if not any(best is item for item in items):
                note_either(best, *items, is_chosen=True)
        return best

    return chosen


def _first_extreme(x: Any, original: Callable) -> Any:
    """The first of the smallest, or largest, elements."""
    return index(x, _place_of_extreme(x, original), pattern=(ARRAY,))


def _place_of_extreme(x: Any, original: Callable) -> Any:
    """Where it is. Nothing is better than a NaN at the beginning; others are not better than anything."""
    find = FUNCTIONS[np.argmax if original is max else np.argmin]
    if dtype_of(x).kind != "f":
        return find(x)
    worst = -math.inf if original is max else math.inf
    place = find(e.where(e.isnan(x), dtype_of(x).type(worst), x))
    return e.where(e.isnan(x[0]), 0, place)


def _compared(better: Callable, a: Any, b: Any) -> Any:
    """a < b or a > b, for numbers and tuples of them, and for objects that say so."""
    if _has_an_order_of_its_own(a):
        return condition(ordered(a, b, better.__name__))
    if not isinstance(a, (tuple, list)) or not isinstance(b, (tuple, list)) or not holds_symbols([a, b]):
        return better(a, b)
    if not a or not b:
        return better(len(a), len(b))
    x, y = a[0], b[0]
    if not holds_symbols([x, y]):
        return _compared(better, a[1:], b[1:]) if x is y or x == y else better(x, y)
    return e.logical_or(better(x, y), e.logical_and(e.equal(x, y), _compared(better, a[1:], b[1:])))


def _either(test: Any, a: Any, b: Any) -> Any:
    if not is_symbolic(test):
        return a if settled(test) else b
    if is_number(a) and is_number(b) and not (_is_array(a) or _is_array(b)) and not _are_of_two_kinds(a, b):
        found = e.where(truth(test), a, b)
        are_pythons = tells_apart(TELLS_NUMBERS_APART) and None not in (python_class(a), python_class(b))
        return as_python(found) if are_pythons else found
    return ifexp(test, lambda: a, lambda: b)


def _are_of_two_kinds(a: Any, b: Any) -> bool:
    """Whether one is an integer of Python's and the other one of NumPy's that is shorter; or one is a number of
    Python's and the other one of NumPy's, and that matters."""
    one, other = (a, b) if python_class(a) is not None else (b, a)
    if tells_apart(TELLS_NUMBERS_APART) and python_class(one) is not None and python_class(other) is None:
        return True
    return dtype_of(one).kind == "i" and python_class(other) is None and is_short_integer(dtype_of(other))


# ------------------------------------------------------------------------------------------------------ bisect, heapq


def _searched(original: Callable, goes_left: Callable) -> Callable:
    """`bisect_left` or `bisect_right`: the same steps as Python's."""

    def position(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> Any:
        if not holds_symbols([a, x, lo, hi]):
            return original(a, x, lo, hi, key=key)
        keys = [_called(key)(item) for item in a]
        n = len(keys)
        if is_symbolic(lo) or (hi is not None and is_symbolic(hi)) or not all(_is_real(v) for v in (*keys, x)):
            raise StagingError(f"{original.__name__} of what is no number, or between computed places",
                               remedy="use np.searchsorted")  # fmt: skip
        if not n:
            return lo
        table, low, high = array(keys), lo, n if hi is None else hi
        for _ in range((high - low).bit_length()):
            middle = (low + high) // 2
            left = goes_left(FUNCTIONS[np.take](table, e.minimum(middle, n - 1)), x)
            going = low < high
            low, high = (e.where(e.logical_and(going, e.logical_not(left)), middle + 1, low),
                         e.where(e.logical_and(going, left), middle, high))  # fmt: skip
        return as_number(low, np.dtype(np.int64))

    return position


_LEFT = _searched(bisect.bisect_left, lambda v, x: e.logical_not(e.less(v, x)))
_RIGHT = _searched(bisect.bisect_right, lambda v, x: e.greater(v, x))


def _inserting(original: Callable, position: Callable) -> Callable:
    def insort(a: list, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
        about_to_change(a)
        if not holds_symbols([a, x, lo, hi]):
            original(a, x, lo, hi, key=key)
            return
        at = position(a, x if key is None else _called(key)(x), lo, hi, key=key)
        old = list(a)
        a[:] = [
            _either(e.less(k, at), old[k], _either(e.equal(k, at), x, old[k - 1])) if 0 < k < len(old)
            else _either(e.equal(k, at), x, old[0] if k == 0 else old[-1])
            for k in range(len(old) + 1)
        ] if old else [x]  # fmt: skip

    return insort


def _some(original: Callable, reverse: bool) -> Callable:
    """`heapq.nsmallest` or `heapq.nlargest`."""

    def first(n: int, iterable: Any, key: Any = None) -> list:
        items = list(iterable)
        keys = [_called(key)(item) for item in items]
        if not holds_symbols(keys):
            return [items[k] for k in original(n, range(len(items)), key=keys.__getitem__)]
        if all(map(_is_real, keys)):
            _refuse_nans([array(keys)], original.__name__)
        return note_created(_in_order(items, key, reverse, original.__name__))[: max(n, 0)]

    return first


REPLACED: dict[Any, Callable] = {
    sorted: staged_sorted,
    max: extreme(max, operator.gt),
    min: extreme(min, operator.lt),
    bisect.bisect_left: _LEFT,
    bisect.bisect_right: _RIGHT,
    bisect.insort_left: _inserting(bisect.insort_left, _LEFT),
    bisect.insort_right: _inserting(bisect.insort_right, _RIGHT),
    heapq.nsmallest: _some(heapq.nsmallest, False),
    heapq.nlargest: _some(heapq.nlargest, True),
}  # fmt: skip
"""What is called in place of functions that compare."""

FOLLOWED: dict[Any, Callable] = {
    heapq.heappush: heaps.pushed, heapq.heappop: heaps.popped, heapq.heapify: heaps.ordered,
    heapq.heapreplace: heaps.replaced, heapq.heappushpop: heaps.pushed_and_popped,
    bisect.bisect_left: searches.place_left, bisect.bisect_right: searches.place_right,
    bisect.insort_left: searches.inserted_left, bisect.insort_right: searches.inserted_right,
}  # fmt: skip
"""What these do in plain Python, which is followed: on heaps, and on lists whose length only the program knows."""


def on_list(f: Callable, otherwise: Callable, things: Any, *args: Any, **options: Any) -> Any:
    """Call one of those."""
    follows = f not in REPLACED or is_open(things)
    return staged(FOLLOWED[f])(things, *args, **options) if follows else otherwise(things, *args, **options)
