"""Dicts and sets whose keys the program computes: `counts[int(x)] += w`, `best[i, j] = cost`, `seen.add((i, j))`.

Keys and values stand in two lists, in the order in which Python's dicts keep them, and a key is looked for one by one.
Where the values are lists, all that is in them stands in one list, with the place of the key of each (`OpenGroups`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert.capture.followed.unknown_content import HoldsLists, UnknownContent

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

    def union(self, things: Any) -> OpenSet:
        new = self.copy()
        new.update(_things(things))
        return new

    def intersection(self, things: Any) -> OpenSet:
        others = _things(things)
        return OpenSet([name for name in self.names if name in others])

    def difference(self, things: Any) -> OpenSet:
        others = _things(things)
        return OpenSet([name for name in self.names if name not in others])

    def issubset(self, things: Any) -> bool:
        return len(self.difference(things).names) == 0

    def issuperset(self, things: Any) -> bool:
        return all(thing in self.names for thing in _things(things))

    def isdisjoint(self, things: Any) -> bool:
        return len(self.intersection(things).names) == 0

    def symmetric_difference(self, things: Any) -> OpenSet:
        return self.difference(things).union([thing for thing in _things(things) if thing not in self.names])

    def __eq__(self, other: object) -> bool:
        return self.issubset(other) and self.issuperset(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __or__ = __ror__ = union
    __and__ = __rand__ = intersection
    __sub__ = difference
    __xor__ = __rxor__ = symmetric_difference
    __le__, __ge__ = issubset, issuperset

    def __rsub__(self, other: Any) -> OpenSet:
        return OpenSet([thing for thing in _things(other) if thing not in self.names])

    def __lt__(self, other: Any) -> bool:
        return self <= other and not self >= other

    def __gt__(self, other: Any) -> bool:
        return self >= other and not self <= other


def _things(things: Any) -> list:
    return things.names if hasattr(things, "names") else list(things)  # (to isinstance it is a dict or set)


class OpenDict(OpenTable):
    """`default` makes what is under a key that is asked for and not there, if there is one."""

    stands_for = dict

    def __init__(self, names: list, under: list, default: Callable | None, counts: bool, made_at: str = ""):
        self.names, self.under, self.default, self.counts, self.made_at = names, under, default, counts, made_at

    def put_last(self, key: Any, value: Any) -> None:
        if isinstance(value, list):
            raise HoldsLists(self.made_at)
        self.names.append(key)
        self.under.append(value)

    def __getitem__(self, key: Any) -> Any:
        place = self.place(key)
        if self.counts:
            return 0 if place < 0 else self.under[place]
        if self.default is None:
            if place < 0:
                raise KeyError(f"{key}")
            return self.under[place]
        if place < 0:
            self.put_last(key, self.default())
        return self.under[place]  # the last, if it was just put there

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self.place(key)
        if place < 0:
            self.put_last(key, value)
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
            self.put_last(key, default)
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


class OpenGroups(OpenDict):
    """A dict of lists."""

    def __init__(self, names: list, owners: list, things: list, default: Callable | None):
        super().__init__(names, [], default, False)
        self.owners, self.things = owners, things

    def put_last(self, key: Any, value: Any) -> None:
        self.names.append(key)
        Group(self, len(self.names) - 1).extend(value)

    def __getitem__(self, key: Any) -> Group:
        place = self.place(key)
        if place < 0:
            if self.default is None:
                raise KeyError(f"{key}")
            place = len(self.names)
            self.put_last(key, self.default())
        return Group(self, place)

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self.place(key)
        if place < 0:
            self.put_last(key, value)
        else:
            self.put(place, value)

    def put(self, place: int, value: Any) -> None:
        new = list(value)
        Group(self, place).clear()
        Group(self, place).extend(new)

    def setdefault(self, key: Any, default: Any = ()) -> Group:
        place = self.place(key)
        if place < 0:
            place = len(self.names)
            self.put_last(key, default)
        return Group(self, place)

    def get(self, key: Any, default: Any = None) -> Any:
        if default is None or len(default) > 0:
            raise self.refused("get with another default than an empty list")
        return Group(self, self.place(key))

    def values(self) -> Any:
        for k in range(len(self.names)):
            yield Group(self, k)

    def items(self) -> Any:
        for k in range(len(self.names)):
            yield self.names[k], Group(self, k)

    def __delitem__(self, key: Any) -> None:
        raise self.refused("del")

    def pop(self, key: Any, default: Any = None) -> Any:
        raise self.refused("pop")

    def update(self, other: Any = ()) -> None:
        raise self.refused("update")

    def copy(self) -> OpenDict:
        raise self.refused("copy")

    def clear(self) -> None:
        self.names.clear()
        self.owners.clear()
        self.things.clear()


_NOBODY = -2


class Group(UnknownContent):
    """The list under the key at a place."""

    stands_for = list
    what = "of lists under keys that only the compiled program knows"
    remedy = "append, extend, go through it, or give it to sum, min, max, sorted, len, list or a function of NumPy"

    def __init__(self, table: OpenGroups, group: int):
        self.table, self.group = table, group

    def keys(self) -> list:
        """What is in the list."""
        owners, things = self.table.owners, self.table.things
        return [things[k] for k in range(len(things)) if owners[k] == self.group]

    def append(self, thing: Any) -> None:
        self.table.owners.append(self.group)
        self.table.things.append(thing)

    def extend(self, things: Iterable) -> None:
        for thing in things:
            self.append(thing)

    def __iadd__(self, things: Iterable) -> Group:  # type: ignore[misc]
        self.extend(things)
        return self

    def clear(self) -> None:
        for k in range(len(self.table.owners)):
            if self.table.owners[k] == self.group:
                self.table.owners[k] = _NOBODY

    def count_of_items(self) -> int:
        n = 0
        for k in range(len(self.table.owners)):
            if self.table.owners[k] == self.group:
                n += 1
        return n

    def where(self, i: int) -> int:
        """The place of the i-th item among all things."""
        wanted = i if i >= 0 else i + self.count_of_items()
        found, n = -1, 0
        for k in range(len(self.table.owners)):
            if self.table.owners[k] == self.group:
                if n == wanted:
                    found = k
                n += 1
        if found < 0:
            raise IndexError("list index out of range")
        return found

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return self.keys()[i]
        return self.table.things[self.where(i)]

    def __setitem__(self, i: int, thing: Any) -> None:
        self.table.things[self.where(i)] = thing

    def __iter__(self) -> Any:
        raise self.refused("taking all of it apart")

    def __contains__(self, thing: Any) -> bool:
        return thing in self.keys()

    def __bool__(self) -> bool:
        return self.count_of_items() > 0

    def __add__(self, other: Any) -> Any:
        return self.keys() + list(other)


OpenDict.__name__ = "dict with keys that only the program knows"  # which messages show
OpenSet.__name__ = "set of things that only the program knows"


OpenGroups.__name__ = "dict of lists, with keys that only the program knows"
Group.__name__ = "list under a key that only the program knows"


def length(table: OpenTable) -> int:
    return len(table.names)


def filled(table: OpenDict, things: Iterable) -> None:
    """Count things, as `Counter(things)` does."""
    for thing in things:
        table[thing] += 1
