"""Which arrays a function returns that somebody has already: its arguments, arrays from outside, parts of these, or the
same array twice.

A program computes values. In Python what a function returns may be an array of the caller's, or a view of one, and who
writes to it changes both. So a compiled function returns what the function would: for each such leaf of the result
`Shared` says which array it is, and, if that depends on data, which further result of the program is the condition.

    def clipped(x):                        leaf 0 is argument 0 where `norm <= 1`, and otherwise what was computed
        norm = np.sqrt(np.sum(x * x))
        return x if norm <= 1 else x / norm

What is a view at a place that only the running program knows (`x[i:]`) is a copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from wengert.box.writing import link, own_array, plain, settled
from wengert.ir.aliases import root_of
from wengert.ops.op import Op, Traced
from wengert.running import only_trying, running
from wengert.types import shape_of


class WithoutAxes(int):
    """The number of a result that is an array without axes, and not a number, which a program cannot tell apart."""


def without_axes(x: Any) -> Any:
    """An array without axes that holds a number."""
    return own_array(x) if isinstance(x, Traced) else np.asarray(x) if isinstance(x, np.generic) else x


class SharedPart(NamedTuple):
    """How a view is got from its array."""

    function: Callable
    pattern: tuple | None
    readonly: bool
    part: Op | None

    def of(self, x: Any) -> Any:
        if x.__class__ is np.ndarray:
            y = x[self.pattern] if self.pattern is not None and self.part is None else self.function(x)
            if self.readonly:
                y.flags.writeable = False
            return y
        y = self.function(x)
        return link(y, x, self.function, self.pattern, self.readonly, self.part)


class Origin(Enum):
    """Where an array comes from that is shared."""

    INPUT = "an input of the program: an argument, or an array from outside"
    LEAF = "another leaf of the result"
    EXTRA = "a further result of the program, which is not returned itself"


class Shared(NamedTuple):
    """Leaf `leaf` of the result is another array, or a part of it; if there is a `condition`, only where that holds,
    which is one of the further results."""

    leaf: int
    origin: Origin
    number: int
    part: SharedPart | None
    condition: int | None = None


def found_among(
    leaves: Sequence[Any], arguments: Sequence[Any], outside: Sequence[Any], capture: Any
) -> tuple[list[Shared], list[Any]]:
    """What is shared by leaves of a result, and further results that tell. The inputs of the program are arguments, and
    then arrays from outside."""
    arrays = {k: y for k, y in enumerate(leaves) if isinstance(y, Traced) and y.shape}  # type: ignore[attr-defined]
    roots = [root_of(y) for y in arrays.values()]
    counts = Counter(map(id, roots))
    search = _Search([*arguments, *outside], arrays, [x for x in roots if counts[id(x)] > 1])
    shared: list[Shared] = []
    extras: list[Any] = search.extras
    for k, y in arrays.items():
        found = search.place_of(y, k)
        if found is not None:
            is_argument = found[0] is Origin.INPUT and found[1] < len(arguments) and found[2] is None
            if not is_argument:  # (these are known already)
                shared.append(Shared(k, *found))
            continue
        for other, condition in capture.links.reached_from(y, capture):
            found = search.place_of(other, k) if shape_of(other) == shape_of(y) else None
            if found is not None and condition is not None:
                shared.append(Shared(k, *found, len(extras)))
                extras.append(condition)
    return sorted(shared, key=lambda one: (one.origin is Origin.LEAF) + (one.part is not None)), extras


class _Search:
    """For where arrays come from: `inputs`, `leaves`, or arrays of which several leaves are parts."""

    def __init__(self, inputs: Sequence[Any], leaves: dict[int, Any], several: Sequence[Any]):
        self.inputs = _first_places(enumerate(inputs))
        self.leaves = _first_places(leaves.items())
        self.several = {id(x): x for x in several}
        self.extras: list[Any] = []

    def place_of(self, y: Any, leaf: int) -> tuple[Origin, int, SharedPart | None] | None:
        """Where an array comes from, if that is known, and is not that leaf itself."""
        view, root, part = y._view_of, root_of(y), None
        if view is not None:
            if not view.certain or root.shape != view.shape or not _is_known(view):
                return None
            part = SharedPart(view.function, view.pattern, view.readonly, view.part)
        k, _ = self.inputs.get(id(root), (None, None))
        if k is not None:
            return (Origin.INPUT, k, part) if root.shape else None
        k, _ = self.leaves.get(id(root), (None, None))
        if k is not None:
            return (Origin.LEAF, k, part) if k != leaf and (k < leaf or root is not y) else None
        if id(root) not in self.several:
            return None
        place = next((k for k, x in enumerate(self.extras) if x is root), len(self.extras))
        if place == len(self.extras):
            self.extras.append(root)
        return Origin.EXTRA, place, part


def _first_places(numbered: Iterable[tuple[int, Any]]) -> dict[int, tuple[int | None, Any]]:
    """The number at which each object comes first, by its id; with the object, whose id it is as long as it lives."""
    found: dict[int, tuple[int | None, Any]] = {}
    for k, x in numbered:
        found.setdefault(id(x), (k, x))
    return found


def _is_known(view: Any) -> bool:
    """Whether a view is at a place that does not depend on data."""
    if not all(n.__class__ is int for n in view.shape):
        return False
    whole = np.empty(view.shape, view.root.dtype)
    try:
        with only_trying():
            found = view.function(whole)
    except Exception:  # it asks for values: where it is depends on data
        return False
    return found.__class__ is np.ndarray and np.may_share_memory(found, whole)


def as_returned(shared: Sequence[Shared], leaves: list[Any], inputs: Any, extras: Sequence[Any]) -> None:
    """Put the arrays that are shared in place of values."""
    for leaf, origin, number, part, condition in shared:
        same = (inputs if origin is Origin.INPUT else leaves if origin is Origin.LEAF else extras)[number]
        if condition is None:
            leaves[leaf] = same if part is None else part.of(same)
        elif extras[condition].__class__ is not np.bool_ or extras[condition]:
            same = same if part is None else part.of(same)
            leaves[leaf] = _chosen(extras[condition], same, leaves[leaf])


def _chosen(condition: Any, same: Any, value: Any) -> Any:
    if condition.__class__ is np.bool_:
        return same if condition else value
    known = plain(condition)
    if not isinstance(known, Traced):
        if np.all(known):
            return same
        if not np.any(known) or not isinstance(value, Traced) or not isinstance(same, Traced):
            return value
        return _uncertain(value, same)  # of a batch, some examples
    if isinstance(value, Traced) and isinstance(same, Traced):
        capture = running.state.capture
        condition = settled(condition)
        capture.links.add(value, same, condition if condition is known else None, capture)
    return value


def _uncertain(value: Any, same: Any) -> Any:
    """A value that nobody may write to as long as there is an array that it is in some examples, and the other way
    round."""
    value = link(value, same, lambda _: value)
    value._view_of.certain = None
    return value
