"""Many directions at once, of which each value has room only for those that it depends on.

A Jacobian by forward mode is a batch of unit vectors, one for each element of the arguments, and in most programs each
value depends on few of them. So a tangent is a few *rows*, and each direction has a row of its own, shares one with
others, or has none:

    angles of all fingers        one row for each joint: no element depends on the joints of two fingers
    the finger tips' places      a row for each angle of a finger, none for the wrist's
    the picture of the hand      a row for every direction

Which elements depend on which directions is known beforehand, from the pattern (`pattern.py`, `control/united.py`). Two
directions may share a row if no element depends on both; then the row is their sum, and each element of it the
derivative in the one direction that the element depends on. That holds for whatever has been computed linearly from
sums, loops and branches included, since derivatives in directions that an element does not depend on are zero. Where an
op makes an element that depends on two directions of one row, its operands are taken apart before. Tangents in
different rows are put into a row for each of their directions; if none is a direction of both, their sum is the rows of
one beside those of the other.

(Compressed directions are Curtis, Powell and Reid's, 1974; there all of the Jacobian has them, here each value by
itself.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.box.abstract import AbstractBox
from wengert.box.writing import zeros
from wengert.errors import ConcretizationError, Signal, StagingError, UnsupportedFunctionError
from wengert.modes.batch import BatchTrace
from wengert.modes.mode import Mode
from wengert.modes.pattern import Pattern, PatternTrace
from wengert.modes.sets import Sets, stacked
from wengert.ops.derive import Elementwise, fit, result_aval
from wengert.ops.elementwise import where
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Op, Traced, call, fresh_tag
from wengert.ops.shape import concatenate, reshape
from wengert.ops.store import store
from wengert.running import running
from wengert.types import Aval, aval_of

_SPARSE = 8
"""If at most one in so many derivatives is not zero, those are put into zeros; else all are chosen."""


class NotDirected(Signal):
    """Tangents cannot be held in rows."""


class SharedRows(NamedTuple):
    """The rows of a tangent, stacked; for each direction the number of its row, -1 for none; and for each element the
    set of directions on which it depends."""

    stacked: Any
    row_of: np.ndarray
    sets: Sets

    @property
    def height(self) -> int:
        """How many rows there are."""
        return int(self.row_of.max(initial=-1)) + 1

    @property
    def directions(self) -> np.ndarray:
        """The directions on which some element depends."""
        return np.unique(self.sets.indices)


class Directions(AbstractBox):
    """A tangent in rows (`SharedRows`), which `_node` has."""

    __slots__ = ()
    _state = ("_owner", "_aval", "_node")
    _owner: DirectionTrace

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            raise NotDirected
        return super().__getattr__(name)


Directions.__name__ = "traced array"


class StepOfSets(NamedTuple):
    """What an op does to sets: they are not looked for again when the same program is gone through once more."""

    op: Op
    given: list[Sets]
    found: Any
    args: tuple
    params: dict

    def all_sets(self) -> Sets | None:
        """The sets of all results that depend on something; None if there are none."""
        found = [y._node for y in _listed(self.found) if y.__class__ is Pattern and y._node is not None]
        return stacked(found) if found else None


class DirectionTrace(Mode):
    """Tangents in as many directions as `patterns` is wide, which begin in the rows `row_of` (see `SharedRows`).

    If that is None, tangents have no rows at all: what is found out is the `steps`, for another trace.
    """

    __slots__ = ("_batches", "_next", "alive", "patterns", "row_of", "steps", "tag")
    name = "directions"
    boxes = Directions
    companions = 0

    def __init__(self, patterns: PatternTrace, row_of: np.ndarray | None, steps: Sequence[StepOfSets] = ()):
        self.tag = fresh_tag()
        self.alive = True
        self.patterns, self.row_of = patterns, row_of
        self.steps = list(steps)
        self._next = 0
        self._batches: dict[int, BatchTrace] = {}

    def seed(self, aval: Aval, start: int) -> Directions:
        """The tangent of an argument whose elements have the directions from `start` on."""
        sets = Sets.units(aval.size, start, self.patterns.width)
        if self.row_of is None:
            return self._without_rows(aval, sets)
        own = self.row_of[start : start + aval.size]
        block = (np.arange(self.row_of.max() + 1)[:, None] == own).astype(aval.dtype)
        return Directions(self, aval, SharedRows(block.reshape(len(block), *aval.shape), self.row_of, sets))

    def all_rows(self, x: Any, aval: Aval) -> Any:
        """A row for every direction, stacked."""
        width = self.patterns.width
        if self.owns(x):
            return _apart(x._node, x._aval, np.arange(width)).stacked
        return np.zeros((width, *aval.shape), aval.dtype) if x is None else self._batch(width).unwrap(x)

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        capture = running.state.capture
        if capture is not None and capture.tag > self.tag:
            raise NotDirected
        places = [k for k, a in enumerate(args) if self.owns(a)]
        given = [args[k]._node for k in places]
        found = self._found(op, [rows.sets for rows in given], args, params)
        if self.row_of is None:
            made = [self._without_rows(y._aval, self.patterns.sets_of(y)) for y in _listed(found)]
            return tuple(made) if found.__class__ is tuple else made[0]
        sets = [self.patterns.sets_of(y) for y in _listed(found)]
        if not _have_equal_rows(given) or any(shares_row(s, given[0].row_of) for s in sets):
            wanted = np.unique(np.concatenate([r.directions for r in given]))
            if 1 < len(wanted) == sum(len(r.directions) for r in given) and _is_sum(op, places):
                return self._beside(op, places, args, params, sets[0])
            wanted = wanted if len(wanted) else np.arange(1)
            given = [_apart(r, args[k]._aval, wanted) for r, k in zip(given, places, strict=True)]
        batch, values = self._batch(given[0].height), list(args)
        for k, rows in zip(places, given, strict=True):
            values[k] = batch.wrap(rows.stacked)
        ys = call(op, *values, **params)
        results = [
            self._made(SharedRows(y._value, given[0].row_of, s)) if batch.owns(y) else y
            for y, s in zip(_listed(ys), sets, strict=True)
        ]
        return tuple(results) if ys.__class__ is tuple else results[0]

    def _without_rows(self, aval: Aval, sets: Sets) -> Directions:
        return Directions(self, aval, SharedRows(None, np.arange(self.patterns.width), sets))

    def _made(self, rows: SharedRows) -> Directions:
        aval = aval_of(rows.stacked)
        return Directions(self, Aval(aval.shape[1:], aval.dtype), rows)

    def _batch(self, size: int) -> BatchTrace:
        if size not in self._batches:
            self._batches[size] = BatchTrace(size)
        return self._batches[size]

    def _found(self, op: Op, given: list[Sets], args: tuple, params: dict) -> Any:
        """Patterns of the results of an op."""
        if self._next < len(self.steps):
            step = self.steps[self._next]
            self._next += 1
            if step.op is op and len(step.given) == len(given) and all(map(Sets.same, step.given, given)):
                return step.found
            raise NotDirected
        unknown, own = self.patterns, iter(given)
        values = tuple([
            Pattern(unknown, a._aval, next(own)) if self.owns(a)
            else unknown.unknown(aval_of(a)) if isinstance(a, Traced) else a for a in args
        ])  # fmt: skip
        try:
            found = self.patterns.process(op, values, params)
        except (ConcretizationError, StagingError, UnsupportedFunctionError):
            raise NotDirected from None
        self.steps.append(StepOfSets(op, given, found, args, params))
        self._next += 1
        return found

    def _beside(self, op: Any, places: Sequence[int], args: tuple, params: dict, sets: Sets) -> Directions:
        """A sum of tangents that have no direction in common: the rows of each, beside those of the others."""
        aval, terms, directions = result_aval(op, args, params), [], []
        for k in places:
            if not len(args[k]._node.directions):
                continue
            directions.append(args[k]._node.directions)
            rows = _apart(args[k]._node, args[k]._aval, directions[-1])
            batch = self._batch(rows.height)
            term = op.scale(op.coefficient(k, None, args, params), batch.wrap(rows.stacked))
            terms.append(batch.unwrap(fit(term, aval)))
        wanted = np.concatenate(directions)
        term_of = np.repeat(np.arange(len(terms)), [len(d) for d in directions])
        row_in = np.concatenate([np.arange(len(d)) for d in directions])
        order = np.argsort(wanted)
        pieces, first = [], 0
        for k in range(1, len(order) + 1):  # runs of rows that stand one after the other in one term
            a, b = order[first], order[k - 1]
            if k == len(order) or term_of[order[k]] != term_of[a] or row_in[order[k]] != row_in[b] + 1:
                pieces.append(index(terms[term_of[a]], pattern=(slice(int(row_in[a]), int(row_in[b]) + 1, None),)))
                first = k
        row_of = np.full(self.patterns.width, -1)
        row_of[wanted[order]] = np.arange(len(order))
        return self._made(SharedRows(call(concatenate, *pieces, axis=0), row_of, sets))


def _listed(found: Any) -> Sequence[Any]:
    return found if found.__class__ is tuple else (found,)


def _have_equal_rows(given: Sequence[SharedRows]) -> bool:
    return all(r.row_of is given[0].row_of or np.array_equal(r.row_of, given[0].row_of) for r in given)


def _is_sum(op: Op, places: Sequence[int]) -> bool:
    """Whether an op adds up its operands at these places, with coefficients."""
    return isinstance(op, Elementwise) and op.jointly and op.linear_in.issuperset(places)


def shares_row(sets: Sets, row_of: np.ndarray) -> bool:
    """Whether some element depends on two directions of one row."""
    if not len(sets.indices):
        return False
    count = int(row_of.max()) + 1
    lengths = np.diff(sets.indptr)
    if lengths.max() > count:
        return True
    keys = np.repeat(np.arange(sets.count, dtype=np.int64), lengths) * count + row_of[sets.indices]
    return int(np.bincount(keys).max()) > 1


def _apart(rows: SharedRows, aval: Aval, wanted: np.ndarray) -> SharedRows:
    """A row for each of the directions `wanted`, in this order, and none for others."""
    row_of = np.full(len(rows.row_of), -1)
    row_of[wanted] = np.arange(len(wanted))
    if np.array_equal(row_of, rows.row_of):
        return rows
    element = np.repeat(np.arange(rows.sets.count), np.diff(rows.sets.indptr))
    direction = rows.sets.indices
    old, new = rows.row_of[direction], row_of[direction]
    shape = (len(wanted), *aval.shape)
    if len(direction) * _SPARSE < len(wanted) * aval.size:
        flat = reshape(rows.stacked, shape=(rows.height * aval.size,))
        entries = index(flat, old * aval.size + element, pattern=(ARRAY,))
        empty = zeros((len(wanted) * aval.size,), aval.dtype)
        stacked = reshape(call(store, empty, entries, new * aval.size + element, pattern=(ARRAY,)), shape=shape)
        return SharedRows(stacked, row_of, rows.sets)
    inside = np.zeros((len(wanted), aval.size), bool)
    inside[new, element] = True
    taken = index(rows.stacked, np.maximum(rows.row_of[wanted], 0), pattern=(ARRAY,))
    if not inside.all():
        taken = call(where, inside.reshape(shape), taken, np.zeros((), aval.dtype))
    return SharedRows(taken, row_of, rows.sets)
