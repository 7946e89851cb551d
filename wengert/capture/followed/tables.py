"""Dicts and sets whose keys the program computes: `counts[int(x)] += w`, `best[i, j] = cost`, `seen.add((i, j))`.

Keys and values stand in two lists, in the order in which Python's dicts keep them, and a key is looked for one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert.capture.followed.unknown_content import UnknownContent

_MISSING = object()


class OpenTable(UnknownContent):
    """The keys, or what is in a set."""

    what = "with keys that only the compiled program knows"
    remedy = "ask for its items, values or keys in a loop, in sum, min, max, sorted, len or `in`; or use an array"

    def __init__(self, names: list):
        self.names = names

    def place(self, key: Any) -> int:
        """Where a key stands; -1 if it is not there."""
        for k in range(len(self.names)):
            if self.names[k] == key:
                return k
        return -1

    def __contains__(self, key: Any) -> bool:
        return self.place(key) >= 0

    def __bool__(self) -> bool:
        return len(self.names) > 0

    def keys(self) -> list:
        return list(self.names)

    def __iter__(self) -> Any:
        raise self.refused("going through the keys in this way")

    def __add__(self, other: Any) -> Any:
        raise self.refused("the operator add")


class OpenSet(OpenTable):
    """Things, in the order in which they came. Python's order follows from their hashes, which nobody knows here."""

    stands_for = set

    def add(self, thing: Any) -> None:
        if self.place(thing) < 0:
            self.names.append(thing)

    def discard(self, thing: Any) -> None:
        place = self.place(thing)
        if place >= 0:
            del self.names[place]

    def remove(self, thing: Any) -> None:
        place = self.place(thing)
        if place < 0:
            raise KeyError(f"{thing}")
        del self.names[place]

    def update(self, things: Any = ()) -> None:
        for thing in things:
            self.add(thing)

    def clear(self) -> None:
        self.names.clear()

    def copy(self) -> OpenSet:
        return OpenSet(self.keys())


class OpenDict(OpenTable):
    """`default` makes what is under a key that is asked for and not there, if there is one."""

    stands_for = dict

    def __init__(self, names: list, under: list, default: Callable | None, counts: bool):
        self.names, self.under, self.default, self.counts = names, under, default, counts

    def __getitem__(self, key: Any) -> Any:
        place = self.place(key)
        if self.counts:
            return 0 if place < 0 else self.under[place]
        if self.default is None:
            if place < 0:
                raise KeyError(f"{key}")
            return self.under[place]
        if place < 0:
            self.names.append(key)
            self.under.append(self.default())
        return self.under[place]  # the last, if it was just put there

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self.place(key)
        if place < 0:
            self.names.append(key)
            self.under.append(value)
        else:
            self.under[place] = value

    def __delitem__(self, key: Any) -> None:
        place = self.place(key)
        if place < 0:
            raise KeyError(f"{key}")
        del self.names[place]
        del self.under[place]

    def values(self) -> list:
        return list(self.under)

    def items(self) -> list:
        return [(self.names[k], self.under[k]) for k in range(len(self.names))]

    def get(self, key: Any, default: Any = None) -> Any:
        place = self.place(key)
        return default if place < 0 else self.under[place]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        place = self.place(key)
        if place < 0:
            self.names.append(key)
            self.under.append(default)
        return self.under[place]

    def pop(self, key: Any, default: Any = _MISSING) -> Any:
        place = self.place(key)
        if default is _MISSING:
            if place < 0:
                raise KeyError(f"{key}")
        elif place < 0:
            return default
        self.names.pop(place)
        return self.under.pop(place)

    def update(self, other: Any = ()) -> None:
        for key, value in other.items() if hasattr(other, "items") else other:
            if self.counts:
                self[key] += value
            else:
                self[key] = value

    def most_common(self, n: int | None = None) -> list:
        """That of a `Counter`."""
        if not self.counts:
            raise AttributeError("'dict' object has no attribute 'most_common'")
        found = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return found if n is None else found[:n]

    def clear(self) -> None:
        self.names.clear()
        self.under.clear()

    def copy(self) -> OpenDict:
        return OpenDict(self.keys(), self.values(), self.default, self.counts)


OpenDict.__name__ = "dict with keys that only the program knows"  # which messages show
OpenSet.__name__ = "set of things that only the program knows"


def length(table: OpenTable) -> int:
    return len(table.names)


def filled(table: OpenDict, things: Iterable) -> None:
    """Count things, as `Counter(things)` does."""
    for thing in things:
        table[thing] += 1
