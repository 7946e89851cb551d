"""Integers of a program: their smallest and largest values, and the places in arrays that loops name with them.

`interval_from` is the arithmetic of intervals. `nest` finds the blocks inside a block, and what is known of the
integers in each as sums of counters (`affine.py`). `place_of` says what an index names along each axis in terms of
these, and `disjoint` whether two places, of different iterations, never have an element in common. (Where places are
the same in every iteration, `regions.py` is all that is needed.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from wengert.ir.analysis.affine import Affine, Atom, Bounds, least
from wengert.ir.analysis.regions import KEPT, Side, region_of
from wengert.ir.loops import loop_parts
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Var, all_nodes

INT = np.dtype(np.int64)
_keys = itertools.count()


Interval = tuple[int | None, int | None]
UNKNOWN: Interval = (None, None)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _negative(r: Interval) -> Interval:
    return (None if r[1] is None else -r[1], None if r[0] is None else -r[0])


def interval_from(name: str, ranges: Sequence[Interval]) -> Interval | None:
    """The interval of the result of an op on integers, from those of its operands.

    >>> interval_from("add", [(1, None), (2, 3)])
    (3, None)
    """
    rule = _RULES.get(name)
    return None if rule is None else rule(*ranges)


def _difference(x: Interval, y: Interval) -> Interval:
    return (_sum(x[0], _negative(y)[0]), _sum(x[1], _negative(y)[1]))


def _product(x: Interval, y: Interval) -> Interval:
    products = [None if a is None or b is None else a * b for a in x for b in y]
    if None in products:
        return (0 if all(r[0] is not None and r[0] >= 0 for r in (x, y)) else None, None)
    return (min(products), max(products))  # type: ignore[type-var]


def _size(x: Interval) -> Interval | None:
    return None if None in x else _largest(x, _negative(x))


def _smallest(*ranges: Interval) -> Interval:
    lows, highs = [r[0] for r in ranges], [r[1] for r in ranges if r[1] is not None]
    return (None if None in lows else min(lows), min(highs, default=None))  # type: ignore[type-var]


def _largest(*ranges: Interval) -> Interval:
    return _negative(_smallest(*map(_negative, ranges)))


def _quotient(x: Interval, d: Interval) -> Interval | None:
    """Quotients, rounded down, rise or fall with each of both, as long as the divisor has one sign."""
    low, high = d
    if low is None or high is None or low <= 0 <= high:
        return None
    if None in x:
        if low != high:
            return None
        found = tuple([None if end is None else end // low for end in x])
        return (found[0], found[1]) if low > 0 else (found[1], found[0])
    quotients = [a // b for a in x for b in (low, high)]  # type: ignore[operator]
    return (min(quotients), max(quotients))


def _rest(d: Interval) -> Interval | None:
    """Remainders lie between zero and the divisor."""
    low, high = d
    if low is None or high is None or low <= 0 <= high:
        return None
    return (0, high - 1) if low > 0 else (low + 1, 0)


def _hull(x: Interval, y: Interval) -> Interval:
    return (
        None if x[0] is None or y[0] is None else min(x[0], y[0]),
        None if x[1] is None or y[1] is None else max(x[1], y[1]),
    )


_RULES: dict[str, Callable[..., Interval | None]] = {
    "add": lambda x, y: (_sum(x[0], y[0]), _sum(x[1], y[1])),
    "subtract": _difference,
    "python_number": lambda x: x,
    "negative": _negative,
    "multiply": _product,
    "floor_divide": _quotient,
    "remainder": lambda x, d: _rest(d),
    "absolute": _size,
    "where": lambda condition, x, y: _hull(x, y),
    "minimum": _smallest,
    "maximum": _largest,
}


# ------------------------------------------------------------------------------------------------ sums of counters


def new_counter(depth: int) -> Atom:
    """The counter of a loop."""
    return Atom(next(_keys), depth)


class Extent(NamedTuple):
    """The first and the last place along an axis."""

    first: Affine
    last: Affine


Extents = list[Extent | None]
"""What an index names along each axis; None where nothing is known."""


@dataclass(eq=False)
class NestBlock:
    """A block of the nest: the body of a loop, which has a counter, or a branch."""

    block: Block
    parent: NestBlock | None
    depth: int
    integers: dict[Var, Affine]
    iterations: Affine | None = None
    counter: Atom | None = None
    inner: dict[tuple[int, str], NestBlock] = field(default_factory=dict)

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

    def path(self) -> list[NestBlock]:
        """This block and those around it, outermost first."""
        return [*(self.parent.path() if self.parent is not None else []), self]


def nest(scope: NestBlock) -> None:
    """Find the blocks inside a block."""
    for i, node in enumerate(scope.block.nodes):
        if node.op.name == "loop":
            parts = loop_parts(node)
            body = parts.body
            counter = new_counter(scope.depth + 1)
            integers = {body.params[0]: Affine.of(counter)}
            _hand_down(scope, integers, parts.inside, parts.consts)
            iterations = scope.integer(node.args[0]) or most_iterations(body)
            inner = NestBlock(body, scope, scope.depth + 1, integers, iterations, counter)
            scope.inner[i, "body"] = inner
            nest(inner)
        elif node.op.name == "cond":
            for which in ("then", "orelse"):
                integers = {}
                _hand_down(scope, integers, node.params[which].params, node.args[1:])
                inner = NestBlock(node.params[which], scope, scope.depth + 1, integers)
                scope.inner[i, which] = inner
                nest(inner)


def most_iterations(body: Block) -> Affine | None:
    span = body.params[0].span
    return None if span is None or span[1] is None else Affine.of(span[1] + 1)


def _hand_down(scope: NestBlock, integers: dict[Var, Affine], params: Sequence[Var], args: Sequence[Operand]) -> None:
    for p, a in zip(params, args, strict=True):
        found = scope.integer(a) if not p.type.shape and p.type.dtype == INT else None
        if found is not None:
            integers[p] = found


def place_of(scope: NestBlock, node: Node) -> Extents:
    """What the index of a node names along each axis; None where nothing is known."""
    bounds = bounds_around(scope)
    region = region_of(node)
    return [_extent(scope, side, n, bounds) for side, n in zip(region.sides, region.shape, strict=True)]


def _extent(scope: NestBlock, side: Side, n: int | Dyn, bounds: Bounds) -> Extent | None:
    if isinstance(side, range):
        return Extent(Affine.of(min(side)), Affine.of(max(side))) if side else None
    if side.ends is None:
        return None
    start, stop = side.ends
    first = _end(scope, 0 if start is None else start, n)
    last = first
    if side.kind == KEPT:
        end = _end(scope, n if stop is None else stop, n)
        last = None if end is None or not _is_natural(end, bounds) else end - 1
    # A negative one counts from the end.
    return None if first is None or last is None or not _is_natural(first, bounds) else Extent(first, last)


def _is_natural(x: Affine, bounds: Bounds) -> bool:
    smallest = least(x, bounds)
    return smallest is not None and smallest >= 0


def _end(scope: NestBlock, bound: Operand | int | Dyn, n: int | Dyn) -> Affine | None:
    if isinstance(bound, Var | Const):
        return scope.integer(bound)
    if not isinstance(bound, int):
        return None
    return Affine.of(bound if bound >= 0 else bound + n) if bound >= 0 or isinstance(n, int) else None  # type: ignore[operator]


def bounds_around(scope: NestBlock, later: frozenset[int] = frozenset(), first_later: Atom | None = None) -> Bounds:
    """The bounds of the counters around a block; `later` are a later iteration's, `first_later` the outermost."""
    found: dict[Atom, tuple[Affine | None, Affine | None]] = {}
    for s in scope.path():
        if s.counter is None:
            continue
        is_later = s.counter.key in later
        high = None if s.iterations is None else s.iterations.with_later(later) - 1
        low = Affine.of(s.counter) + 1 if s.counter == first_later else Affine.of(0)
        found[s.counter._replace(later=is_later)] = (low, high)
    return found


def disjoint(
    read: Extents,
    here: NestBlock,
    write: Extents,
    there: NestBlock,
    later: frozenset[int],
    first_later: Atom | None = None,
) -> bool:
    """Whether places in two blocks have no element in common; those of the second are of the iterations `later`."""
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
    outermost = NestBlock(block, None, 0, {})
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
