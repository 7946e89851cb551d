"""Iterators of Python's own, as its documentation writes them: followed where data decide how they go on.

They are generators, so whoever goes through them is called for each item (`generators.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple


def filtered(function: Callable | None, iterable: Iterable) -> Iterator:
    """`filter`."""
    for item in iterable:
        if item if function is None else function(item):
            yield item


def filtered_out(function: Callable | None, iterable: Iterable) -> Iterator:
    """`itertools.filterfalse`."""
    for item in iterable:
        if not (item if function is None else function(item)):
            yield item


def while_true(predicate: Callable, iterable: Iterable) -> Iterator:
    """`itertools.takewhile`."""
    for item in iterable:
        if not predicate(item):
            break
        yield item


def once_false(predicate: Callable, iterable: Iterable) -> Iterator:
    """`itertools.dropwhile`."""
    is_dropping = True
    for item in iterable:
        if is_dropping:
            is_dropping = predicate(item)
        if not is_dropping:
            yield item


def selected(data: Iterable, selectors: Iterable) -> Iterator:
    """`itertools.compress`."""
    for item, is_wanted in zip(data, selectors, strict=False):
        if is_wanted:
            yield item


def counting(start: Any = 0, step: Any = 1) -> Iterator:
    """`itertools.count`."""
    while True:
        yield start
        start += step


def numbered(iterable: Iterable, start: Any = 0) -> Iterator:
    """`enumerate`, of a generator."""
    k = start
    for item in iterable:
        yield k, item
        k += 1


def mapped(function: Callable, iterable: Iterable) -> Iterator:
    """`map`, of a generator."""
    for item in iterable:
        yield function(item)


def accumulated(iterable: Iterable, function: Callable | None = None, *, initial: Any = None) -> Iterator:
    """`itertools.accumulate`, of a generator."""
    combine = operator.add if function is None else function
    has_any, total = initial is not None, initial
    if has_any:
        yield total
    for item in iterable:
        total = combine(total, item) if has_any else item
        has_any = True
        yield total


class CountedFrom(NamedTuple):
    """The numbers of `itertools.count`, and of a range."""

    start: Any
    step: Any


def zipped(iterable: Iterable, before: list, after: list, length: int | None) -> Iterator:
    """`zip` of a generator, and of what stands before and after it: so many items of things with indices."""
    k = 0
    if length is None or length > 0:
        for item in iterable:
            yield (*[_item(other, k) for other in before], item, *[_item(other, k) for other in after])
            k += 1
            if length is not None and k >= length:
                break


def _item(items: Any, k: Any) -> Any:
    return items.start + items.step * k if isinstance(items, CountedFrom) else items[k]


def counted(iterable: Iterable, stop: int) -> Iterator:
    """`itertools.islice`, of a generator, with a stop alone."""
    k = 0
    if stop > 0:
        for item in iterable:
            yield item
            k += 1
            if k >= stop:
                break
