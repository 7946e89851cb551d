"""What a staged `for` can run over: things that have a length and give their k-th item for a k that is a symbol.

`range`, arrays, and `enumerate`, `zip` and `reversed` of such. Anything else is iterated over by Python.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.capture.session import current
from wengert.capture.values import BranchesDiffer, as_number
from wengert.errors import StagingError
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops.index import ARRAY, index, place, split_index
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.types import dtype_of, shape_of


class Items:
    """`count` items, a number or a symbol; `item(k)` is the k-th, k from zero. Not a tuple, as users have them."""

    __slots__ = ("count", "item")

    def __init__(self, count: Any, item: Callable[[Any], Any]):
        self.count, self.item = count, item

    def __iter__(self) -> Any:  # as Python iterates over it, where that is possible
        return map(self.item, range(self.count))

    def __len__(self) -> int:
        return self.count.__index__()

    def may_have(self, k: int) -> bool:
        """Whether there is a k-th item, if the program is not needed to know."""
        return k < self.count


class Range(Items):
    """`range` with a bound that is a symbol."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, count: Any, start: Any, stop: Any, step: Any):
        super().__init__(count, lambda k: _affine(start, step, k))
        self.start, self.stop, self.step = start, stop, step

    def has(self, n: Any) -> Any:
        """`n in range(…)`."""
        inside = e.logical_and(e.greater(self.count, 0), e.equal(e.remainder(n - self.start, self.step), 0))
        place = e.floor_divide(n - self.start, self.step)
        within = e.logical_and(e.greater_equal(place, 0), e.less(place, self.count))
        return e.logical_and(inside, within)


def item_at(items: Items, key: Any) -> Any:
    """`range(n)[key]`; other things that a loop runs over have no places."""
    if not isinstance(items, Range) or key.__class__ is slice:
        raise StagingError(
            f"{'a slice of a range' if isinstance(items, Range) else 'an item of an enumerate, zip or reversed'} whose "
            "length is known only when the compiled program runs", remedy="compute the number, or use np.arange",
        )  # fmt: skip
    negative = key < 0
    if isinstance(negative, Traced):
        key = e.where(negative, items.count + key, key)
    elif negative:
        key = items.count + key
    inside = e.logical_and(e.greater_equal(key, 0), e.less(key, items.count))
    call(require, inside, error="IndexError", message="range object index out of range")
    return items.item(key)


class DataChoose(StagingError):
    """Data decide which items of a comprehension count, or how many it goes through."""


class UsedAsWhole(BranchesDiffer):
    """Something is done to a list that only the program knows the length of; where a branch decides that, the program
    may be for one of the branches (`assuming.py`)."""


def refused(*args: Any, **kwargs: Any) -> Any:
    raise UsedAsWhole(
        "a list whose number of items is known only when the compiled program runs is used as a whole, other than in "
        "sum, min, max, len, any, all, in a for loop, or as an array in a function of NumPy",
        remedy="make it an array, np.array(items), before, or use jit(f, fallback=True)",
    )


def _affine(start: Any, step: Any, k: Any) -> Any:
    """start + step · k, without operations that do nothing."""
    moved = k if step.__class__ is int and step == 1 else step * k
    return moved if start.__class__ is int and start == 0 else start + moved


def _known(n: Any) -> Any:
    return getattr(n, "sym", n)


COUNTED: list[Callable[[Any], Items | None]] = []
"""Further ways to see an iterable as counted items (`open_lists.py`)."""


PUSHED: list[Callable[[Any, Any], bool]] = []
"""Ways to go through an iterable by calling the suite of a loop for each item (`generated.py`)."""


def items_of(iterable: Any) -> Items | None:
    """An iterable as counted items, if it can be."""
    if isinstance(iterable, Items):
        return iterable
    for way in COUNTED:
        if (found := way(iterable)) is not None:
            return found
    if iterable.__class__ is range:
        return Items(len(iterable), lambda k: _affine(iterable.start, iterable.step, k))
    value = settled(iterable)
    if isinstance(value, (Traced, np.ndarray)) and shape_of(value):
        return Items(_known(shape_of(value)[0]), lambda k: _read(iterable, k))
    return None


def _read(array: Any, k: Any) -> Any:
    """An item of an array, which may be a plain one while its place is a symbol."""
    if isinstance(array, np.ndarray) and isinstance(k, Traced):
        pattern, arrays = split_index(k)
        return index(array, *arrays, pattern=pattern)
    return array[k]


def table_of(numbers: Any) -> Callable[[Any], Any] | None:
    """What reads a tuple or list of numbers, Python's or of one of NumPy's types, at a place that may be a symbol."""
    kinds = {item.__class__ for item in numbers}
    is_of_numpy = len(kinds) == 1 and all(issubclass(kind, np.number) for kind in kinds)
    if not kinds or not (is_of_numpy or kinds <= {int, float}):
        return None
    if current.session is not None:  # which makes sure that they are still the same
        numbers = [current.session.item(numbers, k, item) for k, item in enumerate(numbers)]
    if is_of_numpy:
        return functools.partial(_read, np.array(numbers))
    dtype = np.int64 if kinds == {int} else np.float64
    largest = 1 << 63 if dtype is np.int64 else 1 << 53  # integers among floats are exact up to here
    if not all(-largest <= n < largest for n in numbers if n.__class__ is int):
        return None
    return functools.partial(number_at, np.array(numbers, dtype))


def number_at(table: np.ndarray, k: Any) -> Any:
    """A number of a table, at a place that is a symbol."""
    if not isinstance(k, Traced):
        return table[k].item()
    found = as_number(call(index, table, place(k), pattern=(ARRAY,)), table.dtype)
    if table.dtype.kind == "i" and found.__class__ is Sym:
        found._span = (int(table.min()), int(table.max()))
    return found


def listed_numbers(iterable: Any) -> Items | None:
    """A tuple or list of numbers of one kind as counted items."""
    if iterable.__class__ not in (tuple, list) or len({item.__class__ for item in iterable}) != 1:
        return None
    read = table_of(iterable)
    return None if read is None else Items(len(iterable), read)


def staged_range(*args: Any) -> Any:
    """`range`, which counts in Python's integers whatever its bounds are."""
    args = tuple([settled(a) for a in args])
    if not any(isinstance(a, Traced) for a in args):
        return range(*[operator.index(a) if isinstance(a, np.ndarray) else a for a in args])
    for a in args:
        if isinstance(a, Traced) and (dtype_of(a).kind not in "biu" or shape_of(a)):
            what = "float" if dtype_of(a).kind == "f" and not shape_of(a) else dtype_of(a).name
            raise TypeError(f"'{what}' object cannot be interpreted as an integer")
    short = [isinstance(a, Traced) and dtype_of(a) != np.int64 for a in args]
    return counted_range(*[_bound(a) if is_short else a for a, is_short in zip(args, short, strict=True)])


def _bound(a: Any) -> Any:
    """A bound of a range as a number of Python's. No range is gone through to 2⁶², wherever beyond it may end."""
    return as_number(e.minimum(a, _FAR) if dtype_of(a) == np.uint64 else a, np.dtype(int))


_FAR = np.uint64(2**62)


def counted_range(*args: Any) -> Any:
    """Numbers at equal distances, in the type of the bounds."""
    start, stop = (0, args[0]) if len(args) == 1 else args[:2]
    step: Any = args[2] if len(args) > 2 else 1
    if isinstance(step, Traced):
        count = e.where(
            e.greater(step, 0), (stop - start + step - 1) // step, (start - stop - step - 1) // e.negative(step)
        )
    elif step == 0:
        raise ValueError("range() arg 3 must not be zero")
    else:
        count = stop - start if step == 1 else (stop - start + step - (1 if step > 0 else -1)) // step
    low = getattr(count, "_span", None)
    count = count if low and low[0] is not None and low[0] >= 0 else e.maximum(count, 0)
    return Range(count, start, stop, step)


def staged_enumerate(iterable: Any, start: int = 0) -> Any:
    """`enumerate`."""
    items = items_of(iterable)
    if items is None:
        return enumerate(iterable, start)
    return Items(items.count, lambda k: (k + start, items.item(k)))


def staged_zip(*iterables: Any, strict: bool = False) -> Any:
    """`zip`."""
    parts = [items_of(i) for i in iterables]
    if not parts or any(p is None for p in parts):
        return zip(*iterables, strict=strict)
    counts = [p.count for p in parts]  # type: ignore[union-attr]
    traced = [c for c in counts if isinstance(c, Traced)]
    if strict and (traced or len(set(counts)) > 1):
        return _equally_long(counts, iterables)
    known = [c for c in counts if not isinstance(c, Traced)]
    count = functools.reduce(e.minimum, [*traced, min(known)] if known else traced) if traced else min(known)
    return Items(count, lambda k: tuple([p.item(k) for p in parts]))  # type: ignore[union-attr]


def _equally_long(counts: list[Any], iterables: tuple) -> Any:
    """`zip(…, strict=True)` of what has different lengths, or may have: Python raises where the shortest ends."""
    if any(isinstance(c, Traced) for c in counts):
        raise StagingError(
            "zip(…, strict=True) of a number of items that is known only when the compiled program runs",
            remedy="compare the lengths with an if, and zip without strict",
        )
    return zip(*iterables, strict=True)


def staged_reversed(sequence: Any) -> Any:
    """`reversed`."""
    items = items_of(sequence)
    return reversed(sequence) if items is None else Items(items.count, lambda k: items.item(items.count - 1 - k))
