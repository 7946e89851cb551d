"""Which elements of an array an index names, and how two such sets lie to each other.

A `Region` says for each axis of the array what is named there (a *side*), and how the axes of the part come about. A
side is a `range`, where that is known before the program runs, or `Computed`, of which it is only known whether two
are the same. For an array of six

    x[1:-1]     range(1, 5)             x[i]      Computed(i), fixed: the part has no axis for it
    x[::-1]     range(5, -1, -1)        x[i:j]    Computed(i, j)
    x[2]        range(2, 3), fixed      x[rows]   Computed(rows), listed: an element may be named twice

Every relation is certain if it holds, and unknown otherwise:

    a == b      the same elements, in the same order
    disjoint    no element in common
    is_whole    every element of the array, in order
    exists      no index is outside the array
    is_once     no element is named twice
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from wengert.ir.analysis.keys import data_key, operand_key
from wengert.ir.node import Const, Dyn, Node, Operand, Ref, Var
from wengert.ops.index import ARRAY, FLAG, arrays_come_first, axes_used, explicit

KEPT, FIXED, LISTED, NEW = "kept", "fixed", "listed", "new"
"""What an item of an index makes of an axis. (A mask of no axis is what its key says.)"""


@dataclass(frozen=True)
class Computed:
    """A side that is known only when the program runs. Two are the same if their keys are."""

    key: Any
    kind: str
    """KEPT: a slice. FIXED: one place. LISTED: an array lists the places, so that there may be some twice."""
    exists: bool = field(default=False, compare=False)
    """Whether no place is outside the array, whatever the values are: slices are clipped."""
    ends: tuple[Operand | int | None, Operand | int | None] | None = field(default=None, compare=False)
    """The first place and the one after the last, as far as the index says so; None if there are steps between."""


Side = range | Computed


class Region(NamedTuple):
    """The elements of an array that an index names."""

    shape: tuple[int | Dyn, ...]
    """Of the array."""
    sides: tuple[Side, ...]
    """For each axis of the array."""
    layout: tuple[Any, ...]
    """What the items of the index, with those that are not written, make of axes."""

    @property
    def ranges(self) -> tuple[range, ...] | None:
        """The sides, if all of them are known."""
        return self.sides if all(side.__class__ is range for side in self.sides) else None  # type: ignore[return-value]

    @property
    def box(self) -> tuple[slice, ...] | None:
        """Slices with both ends, one for each axis, that name the same part; None if there are no such, or no element.

        Axes of the part are those of the array.
        """
        if self.ranges is None or any(kind != KEPT for kind in self.layout):
            return None
        if any(not r or (r.step != 1 and len(r) > 1) for r in self.ranges):
            return None
        return tuple([slice(r.start, r.start + len(r)) for r in self.ranges])

    @property
    def part(self) -> tuple[int, ...] | None:
        """The shape of the part, if it is known."""
        if self.has_mask or LISTED in self.layout:
            return None
        sides = iter(self.sides)
        found = []
        for kind in self.layout:
            if kind == NEW:
                found.append(1)
                continue
            side = next(sides)
            if kind == KEPT:
                if isinstance(side, Computed):
                    return None
                found.append(len(side))
        return tuple(found)

    @property
    def is_whole(self) -> bool:
        """Whether it is the array, as it is."""
        return all(kind == KEPT for kind in self.layout) and all(
            _is_all(side, n) for side, n in zip(self.sides, self.shape, strict=True)
        )

    @property
    def is_once(self) -> bool:
        """Whether no element is named twice."""
        return not any(isinstance(side, Computed) and side.kind == LISTED for side in self.sides)

    @property
    def exists(self) -> bool:
        """Whether no index is outside the array."""
        return not self.has_mask and all(side.exists for side in self.sides if isinstance(side, Computed))

    @property
    def has_mask(self) -> bool:
        return any(kind.__class__ is tuple for kind in self.layout)

    def is_all(self, axis: int) -> bool:
        """Whether it has everything along an axis, in order."""
        return _is_all(self.sides[axis], self.shape[axis])


_ALL = Computed("all", KEPT, True)


def region_of(node: Node) -> Region:
    """The region that an `index` reads, or that a `store` or an `add_at` writes to."""
    return region(
        node.args[0].type.shape, node.params["pattern"], node.args[1 + (node.op.name != "index") :], node.sizes
    )


def region(
    shape: Sequence[int | Dyn], pattern: tuple, arrays: Sequence[Operand] = (), sizes: Sequence[Operand] = ()
) -> Region:
    """The region that an index names in an array of some shape.

    >>> region((6,), (slice(None, None, -1),)).sides
    (range(5, -1, -1),)
    """
    shape = tuple(shape)
    pattern = explicit(pattern, len(shape))
    pattern += (slice(None),) * (len(shape) - axes_used(pattern))
    remaining = iter(arrays)
    sides: list[Side] = []
    layout: list[Any] = []
    for item in pattern:
        if item is Ellipsis:
            continue
        if item is None:
            layout.append(NEW)
        elif item is FLAG:
            layout.append(("mask", operand_key(next(remaining))))
        else:
            operand = next(remaining) if item is ARRAY else None
            side, kind = _side(item, operand, shape[len(sides)], sizes)
            sides.append(side)
            layout.append(kind)
    if LISTED in layout and arrays_come_first(pattern):
        layout.insert(0, "first")
    return Region(shape, tuple(sides), tuple(layout))


def _side(item: Any, operand: Operand | None, n: int | Dyn, sizes: Sequence[Operand]) -> tuple[Side, str]:
    if item.__class__ is slice:
        return _span(item, n, sizes), KEPT
    if item.__class__ is Ref:
        operand = sizes[item.k]
    if operand is not None:
        if operand.type.shape or operand.type.dtype.kind not in "iu":
            return Computed(operand_key(operand), LISTED, _are_within(operand, n)), LISTED
        if isinstance(operand, Var):
            return Computed(operand_key(operand), FIXED, _are_within(operand, n), (operand, None)), FIXED
        item = int(operand.value)
    if n.__class__ is int:
        at = item + n if item < 0 else item
        return (range(at, at + 1) if 0 <= at < n else Computed(("outside", item), FIXED)), FIXED
    return Computed(data_key(item), FIXED, ends=(item, None)), FIXED


def _are_within(places: Operand, n: int | Dyn) -> bool:
    """Whether indices are certain to lie inside an axis."""
    if places.type.dtype.kind not in "iu" or n.__class__ is not int:
        return False
    low, high = places.span or (None, None) if isinstance(places, Var) else _span_of(places.value)
    return low is not None and high is not None and -n <= low and high < n


def _span_of(values: Any) -> tuple[int, int]:
    return int(np.min(values, initial=0)), int(np.max(values, initial=0))


def _span(item: slice, n: int | Dyn, sizes: Sequence[Operand]) -> Side:
    bounds = [sizes[b.k] if b.__class__ is Ref else b for b in (item.start, item.stop, item.step)]
    if all(bound is None or bound.__class__ is int for bound in bounds):
        if n.__class__ is int:
            return range(*item.indices(n))
        if item.step in (None, 1) and item.start in (None, 0) and item.stop is None:
            return _ALL
    key = tuple([operand_key(b) if isinstance(b, Var | Const) else data_key(b) for b in bounds])
    ends = (bounds[0], bounds[1]) if item.step in (None, 1) else None
    return Computed(key, KEPT, True, ends)


def _is_all(side: Side, n: int | Dyn) -> bool:
    if isinstance(side, Computed):
        return side == _ALL
    return len(side) == n and ((side.start == 0 and (side.step == 1 or n == 1)) or n == 0)


def disjoint(a: Region, b: Region) -> bool:
    """Whether two regions of one array surely have no element in common."""
    return a.shape == b.shape and any(_have_nothing_in_common(x, y) for x, y in zip(a.sides, b.sides, strict=True))


def _have_nothing_in_common(a: Side, b: Side) -> bool:
    if not (isinstance(a, range) and isinstance(b, range)):
        return any(isinstance(side, range) and not side for side in (a, b))
    if not a or not b:
        return True
    a, b = _forwards(a), _forwards(b)
    # x = a₀ mod s and x = b₀ mod t have a common solution if gcd(s, t) divides b₀ − a₀, and one in every lcm(s, t).
    common = math.gcd(a.step, b.step)
    ahead, rest = divmod(b.start - a.start, common)
    if rest:
        return True
    period = b.step // common
    first = a.start + a.step * (ahead * pow(a.step // common, -1, period) % period if period > 1 else 0)
    every = a.step * period
    start = max(a.start, b.start)
    return start + (first - start) % every > min(a[-1], b[-1])


def _forwards(r: range) -> range:
    return r if r.step > 0 else r[::-1]
