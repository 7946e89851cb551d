"""Comprehensions that make a dict or a set, where data decide what counts (`followed/filtered.py`).

{k: v for k, v in d.items() if v > 0}   ->   kept(d.items(), native, lambda items: [(test, pair) for …], True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wengert.capture.classes import meet
from wengert.capture.containers import note_created
from wengert.capture.deciding import condition
from wengert.capture.followed import filtered
from wengert.capture.instrument import staged
from wengert.capture.one_of import OneOf
from wengert.capture.stage import and_, ifexp
from wengert.capture.staged_loops import iterate
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.capture.values import holds_symbols, is_symbolic, truth
from wengert.errors import StagingError


def kept(iterable: Any, native: Callable | None, choose: Callable, is_dict: bool) -> Any:
    """What such a comprehension makes. `native` is Python's way, if it has no condition; `choose` gives for a list of
    one item the condition, and what is put in, as functions."""
    if native is not None and not isinstance(iterable, filtered.FilteredSet):
        return native(iterable)
    things: list[Any] = []
    counts: list[Any] = []
    under: list[Any] = []
    for item, is_there in _entries(iterable):
        [(test, make)] = choose([item])
        counting = condition(and_(lambda: is_there, test))  # noqa: B023
        if not is_symbolic(counting) and not counting:
            continue
        thing, value = _made(make, counting, is_dict)
        things.append(thing)
        under.append(value)
        counts.append(truth(counting) if is_symbolic(counting) else True)
    if not any(map(is_symbolic, counts)):
        return note_created(dict(zip(things, under, strict=True)) if is_dict else set(things))
    if any(map(_is_no_key, things)) or len(set(things)) != len(things):
        raise StagingError(
            "a dict or set of which data decide what is in it has keys that only the compiled program knows, or one "
            "twice",
            remedy="use a list of pairs, or an array and a mask",
        )
    kind = filtered.FilteredDict if is_dict else filtered.FilteredSet
    meet(kind)
    return note_created(kind(*[note_created(part) for part in (things, counts, under)[: 3 if is_dict else 2]]))


def _entries(iterable: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(iterable, filtered.FilteredSet):
        yield from zip(iterable.things, iterable.counts, strict=True)
    else:
        for item in iterate(iterable):
            yield item, True


def _made(make: Callable, counting: Any, is_dict: bool) -> tuple[Any, Any]:
    """A key and what is under it, or an element. Only the key is needed where it does not count."""
    keys: list[Any] = []

    def pair() -> Any:
        made = make()
        keys.append(made[0] if is_dict else made)
        return made[1] if is_dict else True

    value = ifexp(counting, pair, lambda: UNDEFINED) if is_symbolic(counting) else pair()
    return keys[-1], value.value if value.__class__ is Perhaps else value


def _is_no_key(thing: Any) -> bool:
    return thing.__class__ is OneOf or is_symbolic(thing) or holds_symbols([thing])


def is_filtered(x: Any) -> bool:
    return isinstance(x, filtered.FilteredSet)


def extreme_of(largest: bool) -> Callable:
    """`max` or `min` of such a thing."""

    def called(items: Any, *, key: Any = None) -> Any:
        return staged(filtered.extreme)(items, key, largest)

    return called


EXTREMES: dict[Any, Callable] = {max: extreme_of(True), min: extreme_of(False)}
