"""Dicts and sets of which data decide what is in them: `{k: v for k, v in d.items() if v > 0}`.

What may be in them is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wengert.capture.followed.unknown_content import UnknownContent


class FilteredSet(UnknownContent):
    """Things, and for each whether it counts. The keys, values and items of a dict are such things, too."""

    stands_for: type = set
    what = "of which only the compiled program knows what is in it"
    remedy = "ask for its items, values or keys in a loop, in sum, min, max, len or `in`; or use a list of pairs"

    def __init__(self, things: list, counts: list):
        self.things, self.counts = things, counts

    def __iter__(self) -> Iterator:
        for k in range(len(self.things)):
            if self.counts[k]:
                yield self.things[k]

    def __len__(self) -> int:
        return sum([1 if counts else 0 for counts in self.counts])

    def __bool__(self) -> bool:
        return any(self.counts)

    def __contains__(self, thing: Any) -> bool:
        for k in range(len(self.things)):
            if self.things[k] == thing:
                return bool(self.counts[k])
        return False


class FilteredDict(FilteredSet):
    """Keys, for each whether it is there, and what is under it."""

    stands_for = dict

    def __init__(self, keys: list, there: list, under: list):
        self.things, self.counts, self.under = keys, there, under

    def keys(self) -> FilteredSet:
        return FilteredSet(self.things, self.counts)

    def values(self) -> FilteredSet:
        return FilteredSet(self.under, self.counts)

    def items(self) -> FilteredSet:
        return FilteredSet(list(zip(self.things, self.under, strict=True)), self.counts)

    def get(self, key: Any, default: Any = None) -> Any:
        for k in range(len(self.things)):
            if self.things[k] == key:
                return self.under[k] if self.counts[k] else default
        return default

    def __getitem__(self, key: Any) -> Any:
        for k in range(len(self.things)):
            if self.things[k] == key:
                if not self.counts[k]:
                    raise KeyError(key)
                return self.under[k]
        raise KeyError(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        for k in range(len(self.things)):
            if self.things[k] == key:
                self.under[k], self.counts[k] = value, True
                return
        raise self.refused("a new key")

    def copy(self) -> FilteredDict:
        return FilteredDict(list(self.things), list(self.counts), list(self.under))


FilteredSet.__name__ = "set of which data decide what is in it"  # which messages show
FilteredDict.__name__ = "dict of which data decide what is in it"


def extreme(items: FilteredSet, key: Callable | None, is_largest: bool) -> Any:
    """`max` or `min`."""
    found, best, best_value = False, items.things[0], 0.0
    for k in range(len(items.things)):
        if items.counts[k]:
            thing = items.things[k]
            value = thing if key is None else key(thing)
            if not found or (value > best_value if is_largest else value < best_value):
                best, best_value = thing, value
            found = True
    if not found:
        raise ValueError("max() arg is an empty sequence" if is_largest else "min() arg is an empty sequence")
    return best
