"""A nest of loops and branches, and the places in arrays that it names, as sums of its counters.

`nest` finds the blocks inside a block, and what is known of the integers in each (`affine.py`). `place_of` says what an
index names along each axis, and `apart` whether two places never have an element in common.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from wengert.control.affine import Affine, Atom, Bounds, least
from wengert.ir.node import Block, Const, Node, Operand, Ref, Var, all_nodes
from wengert.ops.index import ARRAY, explicit

INT = np.dtype(np.int64)
_keys = itertools.count()


def new_counter(depth: int) -> Atom:
    """The counter of a loop."""
    return Atom(next(_keys), depth)


class Extent(NamedTuple):
    """The first and the last place along an axis."""

    first: Affine
    last: Affine


@dataclass(eq=False)
class Scope:
    """A block of the nest: the body of a loop, which has a counter, or a branch."""

    block: Block
    parent: Scope | None
    depth: int
    integers: dict[Var, Affine]
    turns: Affine | None = None
    counter: Atom | None = None
    inner: dict[tuple[int, str], Scope] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.block.nodes:
            found = self._integer(node)
            if found is not None:
                self.integers[node.outs[0]] = found

    def integer(self, x: Operand | int) -> Affine | None:
        """An integer as a sum of counters."""
        if isinstance(x, Var):
            return self.integers.get(x)
        value = x.value if isinstance(x, Const) else x
        return Affine.of(int(value)) if np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iu" else None

    def _integer(self, node: Node) -> Affine | None:
        if len(node.outs) != 1 or node.outs[0].type.shape or node.outs[0].type.dtype != INT:
            return None
        name = node.op.name
        if name not in ("add", "subtract", "negative", "multiply", "positive", "as_integer", "astype"):
            return None
        if any(a.type.dtype.kind not in "iu" for a in node.args):
            return None
        xs = [self.integer(a) for a in node.args]
        if any(x is None for x in xs):
            return None
        x: Affine = xs[0]  # type: ignore[assignment]
        if name in ("add", "subtract"):
            return x.plus(xs[1], 1 if name == "add" else -1)  # type: ignore[arg-type]
        if name == "negative":
            return x.scaled(-1)
        if name == "multiply":
            y: Affine = xs[1]  # type: ignore[assignment]
            return y.scaled(x.number) if not x.terms else x.scaled(y.number) if not y.terms else None
        return x

    def path(self) -> list[Scope]:
        """This block and those around it, outermost first."""
        return [*(self.parent.path() if self.parent is not None else []), self]


def nest(scope: Scope) -> None:
    """Find the blocks inside a block."""
    for i, node in enumerate(scope.block.nodes):
        if node.op.name == "loop":
            carried, body = node.params["carried"], node.params["body"]
            counter = new_counter(scope.depth + 1)
            integers = {body.params[0]: Affine.of(counter)}
            _hand_down(scope, integers, body.params[1 + carried :], node.args[1 + carried :])
            turns = scope.integer(node.args[0]) or most_turns(body)
            inner = Scope(body, scope, scope.depth + 1, integers, turns, counter)
            scope.inner[i, "body"] = inner
            nest(inner)
        elif node.op.name == "cond":
            for which in ("then", "orelse"):
                integers = {}
                _hand_down(scope, integers, node.params[which].params, node.args[1:])
                inner = Scope(node.params[which], scope, scope.depth + 1, integers)
                scope.inner[i, which] = inner
                nest(inner)


def most_turns(body: Block) -> Affine | None:
    span = body.params[0].span
    return None if span is None or span[1] is None else Affine.of(span[1] + 1)


def _hand_down(scope: Scope, integers: dict[Var, Affine], params: Sequence[Var], args: Sequence[Operand]) -> None:
    for p, a in zip(params, args, strict=True):
        found = scope.integer(a) if not p.type.shape and p.type.dtype == INT else None
        if found is not None:
            integers[p] = found


def place_of(scope: Scope, node: Node, arrays: Sequence[Operand], x: Var) -> list[Extent | None]:
    """What an index names along each axis; None where nothing is known."""
    shape = x.type.shape
    unknown: list[Extent | None] = [None] * len(shape)
    pattern = explicit(node.params["pattern"], len(shape))
    if any(a.type.shape or a.type.dtype.kind not in "iu" for a in arrays):
        return unknown
    remaining = iter(arrays)
    found: list[Extent | None] = []
    bounds = bounds_around(scope)
    for item in pattern:
        if item is None:
            continue
        n = shape[len(found)]
        first, last = None, None
        if item is ARRAY or item.__class__ is int:
            at = scope.integer(next(remaining)) if item is ARRAY else Affine.of(item)  # type: ignore[arg-type]
            if at is not None and not at.terms and at.number < 0 and isinstance(n, int):
                at = at + n
            first = last = at
        elif item.__class__ is slice and item.step in (None, 1):
            first = Affine.of(0) if item.start is None else _end(scope, node, item.start, n)
            stop = _end(scope, node, n if item.stop is None else item.stop, n)
            last = None if stop is None else stop - 1
            if stop is not None and not _is_natural(stop, bounds):
                last = None
        if first is not None and last is not None and _is_natural(first, bounds):  # a negative one counts from the end
            found.append(Extent(first, last))
        else:
            found.append(None)
    return [*found, *unknown[len(found) :]]


def _is_natural(x: Affine, bounds: Bounds) -> bool:
    smallest = least(x, bounds)
    return smallest is not None and smallest >= 0


def _end(scope: Scope, node: Node, bound: Any, n: Any) -> Affine | None:
    if bound.__class__ is Ref:
        return scope.integer(node.sizes[bound.k])
    if bound.__class__ is not int:
        return None
    return Affine.of(bound if bound >= 0 else bound + n) if bound >= 0 or isinstance(n, int) else None


def bounds_around(scope: Scope, later: frozenset[int] = frozenset(), first_later: Atom | None = None) -> Bounds:
    """The bounds of the counters around a block; `later` are those of a later turn, `first_later` the outermost."""
    found: dict[Atom, tuple[Affine | None, Affine | None]] = {}
    for s in scope.path():
        if s.counter is None:
            continue
        is_later = s.counter.key in later
        high = None if s.turns is None else s.turns.with_later(later) - 1
        low = Affine.of(s.counter) + 1 if s.counter == first_later else Affine.of(0)
        found[s.counter._replace(later=is_later)] = (low, high)
    return found


Place = list[Extent | None]
"""What an index names along each axis; None where nothing is known."""


def apart(
    read: Place, here: Scope, write: Place, there: Scope, later: frozenset[int], first_later: Atom | None = None
) -> bool:
    """Whether a place in one block and a place in another, with the counters `later` of another turn, are apart."""
    bounds = {**bounds_around(there, later, first_later), **bounds_around(here)}
    for r, w in zip(read, write, strict=True):
        if r is None or w is None:
            continue
        for gap in (w.first.with_later(later) - r.last, r.first - w.last.with_later(later)):
            smallest = least(gap, bounds)
            if smallest is not None and smallest > 0:
                return True
    return False


def intervals(block: Block) -> dict[Var, tuple[int, int]]:
    """The smallest and the largest value of integers in a block and those inside it, where they are known.

    A block may stand in several places: what is said is true in all of them.
    """
    outermost = Scope(block, None, 0, {})
    nest(outermost)
    found: dict[Var, tuple[int, int]] = {}
    unknown: set[Var] = set()
    pending = [outermost]
    while pending:
        scope = pending.pop()
        pending.extend(scope.inner.values())
        bounds = bounds_around(scope)
        for var in _integers(scope.block):
            x = scope.integers.get(var)
            low, high = (None, None) if x is None else (least(x, bounds), least(x.scaled(-1), bounds))
            if low is None or high is None:
                unknown.add(var)
                continue
            before = found.get(var, (low, -high))
            found[var] = min(low, before[0]), max(-high, before[1])
        known = [id(inner.block) for inner in scope.inner.values()]
        for other in [b for node in scope.block.nodes for b in node.blocks if id(b) not in known]:
            unknown.update(_integers(other))
            unknown.update([var for node in all_nodes(other) for b in node.blocks for var in _integers(b)])
    return {var: interval for var, interval in found.items() if var not in unknown}


def _integers(block: Block) -> Iterator[Var]:
    for var in itertools.chain(block.params, *[node.outs for node in block.nodes]):
        if not var.type.shape and var.type.dtype == INT:
            yield var
