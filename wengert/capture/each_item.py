"""Methods that change one of several containers, where data decide which one.

    rows[k].append(v)      ->      if k == 0: rows[0].append(v)
                                   elif k == 1: rows[1].append(v)
                                   …

What holds them is a list or dict of lists, dicts, sets or deques, which may all have other lengths: buckets, groups,
clusters. Rows of as many numbers each are kept in arrays instead (`placed.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert.capture.branching import branch
from wengert.capture.containers import about_to_change
from wengert.capture.each_of import each
from wengert.capture.exceptions import demand
from wengert.capture.objects import MUTABLE
from wengert.capture.one_of import MOST, OneOf
from wengert.capture.opened import is_open
from wengert.capture.placed import is_place
from wengert.capture.stage import equality
from wengert.capture.staged_reads import read
from wengert.capture.values import is_symbolic
from wengert.ops import elementwise as e
from wengert.types import shape_of


def method_of_item(container: Any, key: Any, name: str, method: Callable[[Any, str], Any], call: Callable) -> Any:
    """`container[key].name`, a method that is about to be called; `method` and `call` are what staged code does."""
    choose = _choice(container, key)
    if choose is None:
        return method(read(container, key), name)
    return lambda *args, **kwargs: choose(lambda item: call(method(item, name))(*args, **kwargs))


def _choice(container: Any, key: Any) -> Callable[[Callable[[Any], Any]], Any] | None:
    """What does something with the item that is meant; `None` if it is known, or there is no such way."""
    is_mapping = isinstance(container, dict)
    if not (is_mapping or container.__class__ in (list, tuple)) or not 0 < len(container) <= MOST:
        return None
    if is_open(container) or not all(map(_is_changed_here, container.values() if is_mapping else container)):
        return None
    if key.__class__ is OneOf:
        return lambda do: each(key, lambda one: do(read(container, one)))
    if not is_symbolic(key) or shape_of(key) or not (is_mapping or is_place(key)):
        return None
    return lambda do: _of_mapping(container, key, do) if is_mapping else _of_sequence(container, key, do)


def _is_changed_here(item: Any) -> bool:
    return isinstance(item, MUTABLE)


def put_reference(items: list, key: Any, value: Any) -> None:
    """`items[key] = value`, for a place that only the program knows: a branch for each place."""
    place = _place(items, key)

    def put(k: int) -> None:
        about_to_change(items)
        items[k] = value

    for k in range(len(items)):
        _either(e.equal(place, k), functools.partial(put, k), lambda: None)


def _of_sequence(items: list | tuple, key: Any, do: Callable[[Any], Any]) -> Any:
    n, place = len(items), _place(items, key)

    def look(k: int) -> Any:
        if k == n - 1:
            return do(read(items, k))
        return _either(e.equal(place, k), lambda: do(read(items, k)), lambda: look(k + 1))

    return look(0)


def _place(items: list | tuple, key: Any) -> Any:
    n = len(items)
    is_there = e.logical_and(e.greater_equal(key, -n), e.less(key, n))
    demand(is_there, "IndexError", f"{items.__class__.__name__} index out of range")
    return e.where(e.less(key, 0), e.add(key, n), key)


def _of_mapping(mapping: dict, key: Any, do: Callable[[Any], Any]) -> Any:
    keys = list(mapping)
    tests = [equality(key, one, True) for one in keys]
    found: Any = False
    for test in tests:
        found = e.logical_or(found, test)
    demand(found, "KeyError", f"a key that is none of {keys}")

    def look(k: int) -> Any:
        if k == len(keys) - 1:
            return do(read(mapping, keys[k]))
        return _either(tests[k], lambda: do(read(mapping, keys[k])), lambda: look(k + 1))

    return look(0)


def _either(test: Any, then: Callable, orelse: Callable) -> Any:
    return branch(test, then, orelse, lambda: (), lambda values: None, ()) if is_symbolic(test) else (
        then() if test else orelse()
    )  # fmt: skip
