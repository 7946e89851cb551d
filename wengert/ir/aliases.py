"""Arrays that may be one and the same, depending on values that are known only when the program runs.

After `if p: w = w + 1` the name w stands for a new array or for the old one. In a program both are values; what the old
one is known by elsewhere must see what is written to the new one, if they are the same. A `Link` says when that is so:
`a` and `b` are the same array where `same` holds. After each write to one of them `Links.follow` gives the other the
same content, under that condition. What nobody else holds any more costs nothing: its links are dropped, and what was
computed for it is dead code.

Where a condition cannot be stated, `same` is `None`, and a write to either is an error.

Arrays that were put into an order which data decide have links to those they may be, in one group: each of them is
another one, so no two of them are the same because both may be a third one.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.box.writing import SETTLING, clone, may_overlap, replace, set_item, settled
from wengert.counted import all_count
from wengert.errors import StagingError, WengertError
from wengert.ir import garbage
from wengert.ops.elementwise import equal, logical_and, logical_or, where
from wengert.ops.index import index
from wengert.ops.op import Traced, call
from wengert.ops.store import counted
from wengert.types import dtype_of, shape_of

_MOST = 12
"""There are no more arrays than this that may be the same, or it is an error: each is updated on every write."""
_MOST_UPDATES = 5000
"""Of one write: there may be many ways from one array to another."""


def root_of(box: Any) -> Any:
    """The array whose elements a box shows."""
    return box if box._view_of is None else box._view_of.root


def is_usable(box: Any) -> bool:
    """Whether an array from a block that has ended can be used: not if it is a view at a place that only that knew."""
    view = box._view_of
    if view is None:
        return True
    view.fresh, box._owner = False, SETTLING
    try:
        view.function(counted(view.shape))
    except (WengertError, TypeError):
        return False
    return True


def both(a: Any, b: Any) -> Any:
    """Whether two conditions hold; `None` stands for a condition that is not known."""
    if a is None or b is None:
        return None
    return b if a is True else a if b is True else call(logical_and, a, b)


def either(a: Any, b: Any) -> Any:
    """Whether one of two conditions holds."""
    if a is True or b is True:
        return True
    return None if a is None or b is None else call(logical_or, a, b)


class Link:
    """`a` and `b` are the same array where `same` holds. `owner` is the capture in which that is known.

    A link sleeps if `a` is what a function returns that has not returned yet. Where it holds, nothing of the function
    is done any more, so nothing is written before somebody gets `a`.
    """

    __slots__ = ("a", "b", "group", "owner", "same", "sleeps")

    def __init__(self, a: Any, b: Any, same: Any, owner: Any, sleeps: bool = False, group: Any = None):
        self.a, self.b, self.same, self.owner, self.sleeps, self.group = a, b, same, owner, sleeps, group

    @property
    def holds(self) -> Any:
        """Where they are the same, as a value."""
        return self.same.is_here() if self.same.__class__ is PlaceInOrder else self.same

    def ends(self) -> Iterator[tuple[Any, Any]]:
        yield self.a, self.b
        yield self.b, self.a


class PlaceInOrder(NamedTuple):
    """Of an array in a new order: where it was before, as a symbol, and a place where it may have been."""

    was: Any
    there: int

    def is_here(self) -> Any:
        """Whether it was there; computed when it is asked for, as there are many."""
        return call(equal, self.was, self.there)


class Links:
    """All links that hold where the program is being captured."""

    def __init__(self) -> None:
        self._links: list[Link] = []
        self._path: list[Any] = []
        self._updates = 0
        self._group: Any = None
        """That of the link by which the last array on the path was reached."""
        self.order_matters = False
        """Whether what is captured depends on how arrays from outside lie in memory (`orders.py`)."""
        self.states: list[tuple[int, tuple]] = []
        """What variables stood for before the suites that are being staged, and the tag of the capture in which each
        suite stands. Inside of the suite nobody can get at it by these."""

    def add(self, a: Any, b: Any, same: Any, owner: Any, sleeps: bool = False, group: Any = None) -> None:
        """From now on `a` and `b` are the same array where `same` holds."""
        if not is_usable(b):
            b, same = root_of(b), None
        if shape_of(a) != shape_of(b) or dtype_of(a) != dtype_of(b):
            same = None  # one of them has room for something else that it may be
        self._links.append(Link(a, b, same, owner, sleeps, None if same is None else group))

    def add_order(self, found: Sequence[Any], items: Sequence[Any], positions: Any, owner: Any) -> None:
        """`found` are the items in another order: the one at k is `items[positions[k]]`."""
        group = None if len(items) > _MOST or any_overlap(items) else object()
        for k, one in enumerate(found):
            was = call(index, positions, pattern=(k,))
            for j, item in enumerate(items):
                if isinstance(item, Traced):
                    self._links.append(Link(one, item, PlaceInOrder(was, j) if group else None, owner, group=group))

    def pass_on(self, old: Any, new: Any, owner: Any) -> None:
        """What may not be written to because of `old` may not because of `new` either, which takes its place."""
        for link in list(self._links):
            for here, there in link.ends():
                if here is old and link.same is None:
                    self.add(there, new, None, owner)

    def wake(self, box: Any) -> None:
        """A function has returned an array."""
        waiting = [box]
        while waiting:
            woken = waiting.pop()
            for link in self._links:
                if link.sleeps and (link.a is woken or link.b is woken):
                    link.sleeps = False
                    waiting += [link.a, link.b]

    def forget(self, owner: Any) -> None:
        """A capture has ended."""
        if self._links:
            self._links = [link for link in self._links if link.owner is not owner]

    def follow(self, box: Any, idx: Any = None) -> None:
        """An array was written to, at an index if that is given."""
        if not self._links:
            return
        root = root_of(box)
        if not self._path:
            self._prune()
            if any(link.same is None and not link.sleeps and self.connects(link.a, box) for link in self._links):
                garbage.collect()  # what only a cycle holds nobody has
                self._prune()
        group = self._group if self._path else None
        self._path.append(root)
        try:
            for link in [link for link in self._links if not link.sleeps and not _leads_back(link, group)]:
                for here, there in link.ends():
                    if root_of(here) is root and not any(root_of(there) is r for r in self._path):
                        self._updates = self._updates + 1 if len(self._path) > 1 else 1
                        if link.same is None or len(self._path) > _MOST or self._updates > _MOST_UPDATES:
                            raise _shared()
                        self._group = link.group
                        _update(here, there, link.holds, idx if box is here else None)
        finally:
            self._path.pop()

    def reached_from(self, x: Any, capture: Any) -> list[tuple[Any, Any]]:
        """The arrays that may be the same as `x` by what is known in a capture only, each with the condition.

        Arrays from outside the capture end the search: what they are the same as is known outside.
        """
        found: dict[int, tuple[Any, Any]] = {}
        self._reach(x, True, (root_of(x),), capture, found)
        return list(found.values())

    def _reach(
        self, at: Any, same: Any, path: tuple, capture: Any, found: dict[int, tuple[Any, Any]], group: Any = None
    ) -> None:
        for link in self._links:
            if link.owner is not capture or _leads_back(link, group):
                continue
            for here, there in link.ends():
                target = root_of(there)
                if root_of(here) is not root_of(at) or any(target is r for r in path):
                    continue
                holds = both(same, link.holds) if here is at else None
                known = found.get(id(there))
                found[id(there)] = (there, holds if known is None else either(known[1], holds))
                if capture.made(target):
                    self._reach(there, holds, (*path, target), capture, found, link.group)

    def connects(self, a: Any, b: Any) -> bool:
        """Whether two arrays may be the same, or parts of one."""
        if not self._links:
            return root_of(a) is root_of(b)
        self._prune()
        near: list[tuple[Any, Any]] = [(root_of(a), None)]
        found = [root_of(a)]
        while near:
            root, group = near.pop()
            for link in [link for link in self._links if not _leads_back(link, group)]:
                for here, there in link.ends():
                    if root_of(here) is root and not any(root_of(there) is r for r in found):
                        near.append((root_of(there), link.group))
                        found.append(root_of(there))
        return any(root_of(b) is r for r in found)

    def concern(self, box: Any) -> bool:
        """Whether there are links to an array, or to parts of it."""
        self._prune()
        return any(root_of(end) is root_of(box) for link in self._links for end in (link.a, link.b))

    def count(self, box: Any) -> int:
        """How many references to an array are those of links."""
        self._prune()
        return self._counts()[id(box)]

    def in_states(self, box: Any, owner: Any) -> int:
        """How many references to an array are those of `states` outside of a capture.

        (What is known outside of a suite may be needed by the other suite of an `if`.)
        """
        if owner is None:
            return 0
        return sum(x is box for tag, state in self.states for x in state if tag < owner.tag)

    def _counts(self) -> Counter:
        return Counter(id(end) for link in self._links for end in (link.a, link.b))

    def _prune(self) -> None:
        """Drop links to arrays that nobody has any more, unless they connect others."""
        while self._links:
            counts = self._counts()
            ways: dict[int, set] = {}
            for link in self._links:
                for key in (id(root_of(link.a)), id(root_of(link.b))):  # (a name for an end would hold it)
                    ways.setdefault(key, set()).add(link.group or link)
            views = {id(end): id(end._view_of.root) for link in self._links for end in (link.a, link.b) if end._view_of}
            kept = []
            for link in self._links:
                apart = [end for end in (link.a, link.b) if len(ways[id(root_of(end))]) == 1]
                if all(_is_held(x, 3 + counts[id(x)] + self.in_states(x, link.owner), views) for x in apart):
                    kept.append(link)
            if len(kept) == len(self._links):
                return
            self._links = kept


def _leads_back(link: Link, group: Any) -> bool:
    """Whether a link is of the group by which one has come."""
    return group is not None and link.group is group


def any_overlap(items: Sequence[Any]) -> bool:
    """Whether two of these may have elements in common."""
    boxes = [x for x in items if isinstance(x, Traced)]
    return any(may_overlap(x, y) or x is y for x, y in itertools.combinations(boxes, 2))


def _is_held(end: Any, known: int, views: dict[int, int]) -> bool:
    """Whether anybody has an array besides so many known references; a view is had by those who have its root."""
    if sys.getrefcount(end) > known + 1:
        return True
    if end._view_of is None:
        return False
    return sys.getrefcount(end._view_of.root) > 1 + list(views.values()).count(id(end._view_of.root))


def _update(here: Any, there: Any, same: Any, idx: Any) -> None:
    """Let `there` have the content of `here` where they are the same; at an index only, if that is all that changed."""
    if idx is None or _has_masks(idx):
        now = settled(here)
        new = now if same is True else call(where, same, clone(now) if isinstance(now, Traced) else now, there)
        replace(there, new)
    else:
        set_item(there, idx, here[idx] if same is True else call(where, same, here[idx], there[idx]))


def _has_masks(idx: Any) -> bool:
    items = idx if isinstance(idx, tuple) else (idx,)
    return any(isinstance(i, (Traced, np.ndarray, list)) and dtype_of(np.asarray(i) if i.__class__ is list else i)
               == np.dtype(bool) for i in items)  # fmt: skip


def _shared() -> StagingError:
    return StagingError(
        "an array is written to that may be the same as another one, and whether it is depends on values that are "
        "known only when the compiled program runs",
        remedy="give the name that is written to an array of its own: w = w.copy()",
    )


all_count(globals())
