"""Forward mode with room for the directions that each value depends on (`modes/directions.py`): when, in which rows.

In a compiled program the linear program of a call is gone through twice. The first time without numbers: which
directions does each value depend on? Directions of which no value that is worth it depends on two share a row; which
values these are is chosen such that the fewest numbers are computed. The second time with rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.api.arguments import owned
from wengert.capture.retrying import undone_if_refused
from wengert.capture.session import current
from wengert.control.loop import loop
from wengert.control.united import United
from wengert.graphs.coloring import coloring
from wengert.ir.node import Block, Node, all_nodes
from wengert.modes.directions import DirectionTrace, NotDirected, StepOfSets, shares_row
from wengert.modes.sets import Sets, stacked
from wengert.modes.tape import Recorded
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import Aval, is_inexact

_GAIN = 0.75
"""SharedRows are worth it if this part of the numbers is left."""
_TRIALS = 8
"""So many ways to share rows are compared."""
_MOST_STEPS = 10_000
_MOST_ENTRIES = 1_000_000
"""So many ops, and directions of elements, may be looked at: it is done at the first call."""


class BoundedPatterns(United):
    """Pattern mode that gives up when it takes long."""

    __slots__ = ("_entries", "_steps")

    def __init__(self, width: int):
        super().__init__(width)
        self._steps = self._entries = 0

    def apply(self, node: Node, given: tuple, sizes: Sequence[Any]) -> Any:
        self._count([])
        return super().apply(node, given, sizes)

    def process(self, op: Any, args: tuple, params: dict) -> Any:
        found = super().process(op, args, params)
        self._count(found if found.__class__ is tuple else [found])
        return found

    def _count(self, found: Sequence[Any]) -> None:
        self._steps += 1
        for x in found:
            if self.owns(x) and x._node is not None and x._node._indices is not None:
                self._entries += len(x._node.indices)
        if self._steps > _MOST_STEPS or self._entries > _MOST_ENTRIES:
            raise NotDirected


def directed(program: Recorded, ins: Sequence[Aval], outs: Sequence[Aval]) -> list[Any] | None:
    """Tangents of the results in all directions, stacked; None if unit vectors for all of them do as well."""
    session = current.session
    if running.state.capture is None or session is None or program.intervals is not None or program.library is not None:
        return None
    width = sum(aval.size for aval in ins)
    if width < 2:
        return None
    patterns, steps = BoundedPatterns(width), []

    def look() -> None:
        steps.extend(_pushed(program, DirectionTrace(patterns, None), ins)[0].steps)
        raise NotDirected  # whatever has been captured is forgotten

    undone_if_refused(look, (NotDirected,))
    row_of = _chosen(steps, width) if steps else None
    if row_of is None:
        return None

    def with_rows() -> list[Any]:
        trace, dots = _pushed(program, DirectionTrace(patterns, row_of, steps), ins)
        return owned([trace.all_rows(dot, aval) for dot, aval in zip(dots, outs, strict=True)])

    found, refused = undone_if_refused(with_rows, (NotDirected,))
    if refused is None:
        session.notes.append(("jacobian", f"{width} directions, which begin in {int(row_of.max()) + 1} rows"))
    return found


def _pushed(program: Recorded, trace: DirectionTrace, ins: Sequence[Aval]) -> tuple[DirectionTrace, list[Any]]:
    seeds, start = [], 0
    for aval in ins:
        seeds.append(trace.seed(aval, start))
        start += aval.size
    return trace, program.push(seeds)


class _Value(NamedTuple):
    """What is computed in all directions: on how many of them an element depends, and all elements together."""

    sets: Sets
    given: list[Sets]
    work: int
    widest: int
    active: int

    def numbers(self, row_of: np.ndarray) -> int:
        """How many numbers are computed, if directions begin in these rows; operands that are taken apart count."""
        if not shares_row(self.sets, row_of):
            return self.work * (int(row_of.max()) + 1)
        return self.active * (self.work + sum(x.count for x in self.given if not shares_row(x, row_of)))


def _chosen(steps: Sequence[StepOfSets], width: int) -> np.ndarray | None:
    """In which rows directions begin; None if that is not worth it."""
    values = []
    for step in steps:
        sets = step.all_sets()
        if sets is not None:
            widest, active = int(np.diff(sets.indptr).max(initial=0)), len(np.unique(sets.indices))
            values.append(_Value(sets, step.given, _work(step, sets.count), widest, active))
    best, least = None, _GAIN * width * sum(v.work for v in values)
    if sum(v.work * v.widest for v in values) >= least:
        return None
    tried: set[bytes] = set()
    for widest in sorted({v.widest for v in values if v.widest < width})[:_TRIALS]:
        narrow = stacked([v.sets for v in values if v.widest <= widest])
        row_of = coloring(narrow.matrix()).colors.astype(np.int64)
        if row_of.tobytes() in tried:
            continue
        tried.add(row_of.tobytes())
        work = sum(v.numbers(row_of) for v in values)
        if work < least:
            best, least = row_of, work
    return best


def _work(step: StepOfSets, own: int) -> int:
    """How many elements are computed for one direction: of an op that holds code, also those inside."""
    inside = [v.type for p in step.params.values() if p.__class__ is Block for node in all_nodes(p) for v in node.outs]
    often = int(step.args[0]) if step.op is loop and not isinstance(step.args[0], Traced) else 1
    return max(own, often * sum([math.prod(t.shape) for t in inside if t.is_static and is_inexact(t.dtype)]))  # type: ignore[arg-type,misc]
