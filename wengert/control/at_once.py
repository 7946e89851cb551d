"""Patterns of loops whose iterations do not need each other: all of them are run at once.

    for i in range(1, n - 1):                       i = [1, 2, …, n − 2]
        y[i] = x[i - 1] * x[i + 1]                  y[i] = x[i - 1] * x[i + 1]

The body is run once, with the counter a batch of all its values, so that a loop over a million elements costs what a
few operations on a million elements cost. What an iteration hands to the next must then be one of these:

    what stays        the body returns it as it was
    what is known     it follows from the counter and other numbers, and is computed before, iteration by iteration
    sums              it is only added to: what all iterations add is united
    arrays            elements are read, written and added to, at places that are known. They are read as they were
                      before the loop, so no iteration may read what an earlier one has written; what it has written
                      itself at the same place is that. `y[i] = y[i] + v` counts as an addition
    what is unknown   and depends on no argument that is differentiated

Where it is something else, `OneByOne` is raised, and the iterations are run one after the other (`united.py`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.errors import Signal
from wengert.ir.analysis.uses import makers_of, readers_of
from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.modes.batch import Batch, BatchTrace
from wengert.modes.pattern import Pattern, PatternTrace
from wengert.ops.derive import Control, Zero
from wengert.ops.elementwise import add, subtract
from wengert.ops.index import ARRAY, counted, index
from wengert.ops.op import Traced, call
from wengert.ops.shape import broadcast_to, reshape
from wengert.ops.store import add_at, store
from wengert.types import Aval, aval_of, dtype_of, is_inexact, shape_of

FEWEST = 8
"""Loops with fewer iterations are not worth it."""
_MOST = 50_000_000
"""All iterations together may make so many elements."""


class OneByOne(Signal):
    """The iterations of a loop need each other."""


class LanedWrite(NamedTuple):
    """A write, or an addition, of all iterations: the numbers of the elements, a row for each iteration, and values."""

    places: np.ndarray
    value: Any
    adds: bool


class CarriedArray:
    """An array that iterations read and write: what was in it before the loop, and what they do to it."""

    def __init__(self, start: Any):
        self.start, self.shape = start, shape_of(start)
        self.writes: list[LanedWrite] = []
        self.latest: tuple[Var, tuple, Any] | None = None
        """The last array that a write has made, where that was written, and what."""
        self._reads: list[tuple[np.ndarray, bool]] = []

    def note_read(self, places: np.ndarray) -> None:
        self._reads.append((places, bool(self.writes)))

    def end(self) -> Any:
        """The array after the loop."""
        self._check_reads()
        made = reshape(self.start, shape=(math.prod(self.shape),))
        known = not any(isinstance(x, Traced) for x in (made, *[w.value for w in self.writes]))
        if known and len({w.adds for w in self.writes}) > 1:
            raise OneByOne  # of sets the union would do, of numbers the order counts
        times = [self._times(number, w.places) for number, w in enumerate(self.writes)]
        stored = np.full(math.prod(self.shape), -1)
        """When an element is stored for the last time."""
        for op in (store, add_at):
            chosen = [k for k, w in enumerate(self.writes) if w.adds is (op is add_at)]
            if not chosen:
                continue
            places = np.concatenate([self.writes[k].places for k in chosen], axis=1).ravel()
            when = np.concatenate([times[k] for k in chosen], axis=1).ravel()
            rows = [self.writes[k].value for k in chosen]
            values = reshape(np.concatenate(rows, axis=1) if len(rows) > 1 else rows[0], shape=(len(places),))
            if op is store:
                np.maximum.at(stored, places, when)
            elif not np.all(stay := when > stored[places]):  # what is added before that is lost
                places, values = places[stay], call(index, values, np.flatnonzero(stay), pattern=(ARRAY,))
            made = call(op, made, values, places, pattern=(ARRAY,))
        return reshape(made, shape=self.shape)

    def _times(self, number: int, places: np.ndarray) -> np.ndarray:
        """When a write is done: iteration by iteration, in the order of the body."""
        return np.broadcast_to(np.arange(len(places))[:, None] * len(self.writes) + number, places.shape)

    def _check_reads(self) -> None:
        """Whether all reads were of what was there before the loop."""
        if not self.writes or not self._reads:
            return
        iterations = np.arange(len(self.writes[0].places))[:, None]
        first = np.full(math.prod(self.shape), len(iterations))
        """Which iteration is the first to write to an element."""
        for places, _, _ in self.writes:
            np.minimum.at(first, places, np.broadcast_to(iterations, places.shape))
        for places, after_write in self._reads:
            if np.any(first[places] < iterations + after_write):
                raise OneByOne


class AtOnce:
    """One loop of `count` iterations. `apply(node, operands, sizes)` is what a run of pattern mode does with a node."""

    def __init__(self, trace: PatternTrace, apply: Callable, count: int, body: Block, carried: int):
        self.trace, self.apply, self.count, self.body = trace, apply, count, body
        self.counter, self.params, self.consts = (
            body.params[0],
            body.params[1 : 1 + carried],
            body.params[1 + carried :],
        )
        self.results, self.yields = body.results[:carried], body.results[carried:]
        self.batch = BatchTrace(count)
        self._readers = readers_of(body.nodes, body.results)
        self._makers = makers_of(body.nodes)
        self._values: dict[Operand, Any] = {}
        self._arrays: dict[Operand, CarriedArray] = {}
        """Carried arrays, by all the names that they have in the body."""
        self._additions: dict[Var, list[Operand]] = {}
        """What is added to a carried value, and, in `y[i] = y[i] + v`, to an element; by the name of the sum."""
        self._read_for: dict[Operand, Node] = {}
        """The writes `y[i] = y[i] + v`, by the value that was read."""
        self._skipped: set[Node] = set()

    def run(self, state: Sequence[Any], consts: Sequence[Any]) -> list[Any]:
        """The carried values after the loop, and what the iterations have yielded."""
        if self.count * sum([_size(out.type) for node in self.body.nodes for out in node.outs]) > _MOST:
            if not all(self._is_small(node) for node in self.body.nodes):
                raise OneByOne
        self._values.update(zip(self.consts, consts, strict=True))
        starts = dict(zip(self.params, state, strict=True))
        ends = self._computed(starts)
        active = self._active(starts)
        sums = []
        for param, result in zip(self.params, self.results, strict=True):
            if param in ends:
                continue
            if result is param:
                self._values[param] = ends[param] = starts[param]
            elif self._is_array(param, result):
                self._arrays[param] = CarriedArray(starts[param])
            elif self._is_sum(param, result):
                sums.append(param)
            elif param in active:
                raise OneByOne
            else:
                self._values[param] = self.trace.unknown(aval_of(starts[param]))
        self._values[self.counter] = self.batch.wrap(np.arange(self.count))
        self._find_additions()
        for node in self.body.nodes:
            if node not in self._skipped and any(out in self._readers for out in node.outs):
                self._step(node)
        for param, result in zip(self.params, self.results, strict=True):
            if param in self._arrays:
                ends[param] = self._arrays[param].end()
            elif param in sums:
                ends[param] = self._sum(starts[param], self._additions[result])  # type: ignore[index]
            elif param not in ends:
                ends[param] = self._last(self._value(result), aval_of(starts[param]))
        made = [_typed(ends[p], p.type) for p in self.params]
        return made + [_typed(self.batch.unwrap(self._value(y)), y.type) for y in self.yields]

    def _value(self, operand: Operand) -> Any:
        return operand.value if operand.__class__ is Const else self._values[operand]

    def _is_small(self, node: Node) -> bool:
        return all(_size(out.type) * self.count <= _MOST or node.op in (store, add_at) for out in node.outs)

    # ------------------------------------------------------------------------------------ what the carried values are

    def _computed(self, starts: dict[Var, Any]) -> dict[Var, Any]:
        """Carried values that are known: their values in all iterations are computed, those after the loop returned."""
        known = self._known_throughout({p for p, start in starts.items() if not isinstance(start, Traced)})
        changing = {p: r for p, r in zip(self.params, self.results, strict=True) if p in known and r is not p}
        if not changing:
            return {}
        if sum([_size(p.type) for p in changing]) * self.count > _MOST:
            raise OneByOne
        nodes = self._slice(list(changing.values()))
        values: dict[Operand, Any] = {**self._values, **{p: starts[p] for p in known}}
        rows: dict[Var, list[Any]] = {p: [] for p in changing}

        def value(operand: Operand) -> Any:
            return operand.value if operand.__class__ is Const else values[operand]

        for k in range(self.count):
            values[self.counter] = k
            for p, row in rows.items():
                row.append(values[p])
            with np.errstate(all="ignore"):
                for node in nodes:
                    ys = call(node.op, *[value(a) for a in node.args], **node.params)
                    values.update(zip(node.outs, [ys] if len(node.outs) == 1 else ys, strict=True))
            values.update(zip(changing, [value(r) for r in changing.values()], strict=True))
        for p, row in rows.items():
            self._values[p] = self.batch.wrap(np.stack([np.asarray(x) for x in row]))
        return {p: values[p] for p in changing}

    def _known_throughout(self, known: set[Var]) -> set[Var]:
        """Those carried values, of the ones that are known at first, that are known in every iteration."""
        outside = {self.counter, *[c for c in self.consts if not isinstance(self._values[c], Traced)]}
        while True:
            have: set = {*outside, *known}
            for node in self.body.nodes:
                computes = node.op.__class__ is not Control and node.op.pure and not node.op.effect and not node.sizes
                if computes and all(a.__class__ is Const or a in have for a in node.args):
                    have.update(node.outs)
            after = zip(self.params, self.results, strict=True)
            fewer = {p for p, r in after if p in known and (r.__class__ is Const or r in have)}
            if fewer == known:
                return known
            known = fewer

    def _slice(self, wanted: list[Operand]) -> list[Node]:
        """The nodes that make these values, in order."""
        needed: set[Node] = set()
        while wanted:
            node = self._makers.get(wanted.pop())  # type: ignore[arg-type]
            if node is not None and node not in needed:
                needed.add(node)
                wanted.extend(node.args)
        return [node for node in self.body.nodes if node in needed]

    def _active(self, starts: dict[Var, Any]) -> set[Operand]:
        """Which values may depend on arguments."""
        begun: dict[Operand, Any] = dict(self._values)
        begun.update(starts.items())
        active = {p for p, x in begun.items() if self.trace.owns(x) and x._node is not None}
        while True:
            count = len(active)
            for node in self.body.nodes:
                if not isinstance(node.op, Zero) and any(a in active for a in node.args):
                    active.update([out for out in node.outs if is_inexact(out.type.dtype)])
            active.update([p for p, r in zip(self.params, self.results, strict=True) if r in active])
            if len(active) == count:
                return active

    def _is_array(self, param: Var, result: Operand) -> bool:
        """Whether it is only read and written at places, each version once, and comes out as the last one."""
        now = param
        while True:
            readers = [self.body.nodes[i] for i, _ in self._readers.get(now, []) if i < len(self.body.nodes)]
            others = len(self._readers.get(now, [])) - len(readers)
            if any(node.op not in (index, store, add_at) or node.args[0] is not now or node.sizes for node in readers):
                return False
            if any(now in node.args[1:] for node in readers):
                return False
            writers = [node for node in readers if node.op is not index]
            if now is result:
                return others == 1 and not writers
            if others or len(writers) != 1:
                return False
            (now,) = writers[0].outs

    def _is_sum(self, param: Var, result: Operand) -> bool:
        """Whether it is only added to. Then nodes that do so are left out, and what they add is known."""
        if len(self._readers.get(param, [])) != 1 or len(self._readers[result]) != 1:
            return False
        found = self._chain(result, lambda x: x is param)
        if found is None:
            return False
        nodes, added, _ = found
        self._skipped.update(nodes)
        self._additions[result] = added  # type: ignore[index]
        return True

    def _find_additions(self) -> None:
        """Find writes like `y[i] = y[i] + v`."""
        versions = set(self._arrays)
        for node in self.body.nodes:
            if node.op not in (store, add_at) or node.args[0] not in versions:
                continue
            versions.update(node.outs)
            if node.op is store:
                found = self._chain(node.args[1], functools.partial(self._reads_same, node))
                if found is not None and found[0]:
                    self._additions[node.outs[0]] = found[1]
                    self._read_for[found[2]] = node

    def _reads_same(self, write: Node, x: Operand) -> bool:
        """Whether a value is what was in the place that is written, and nothing else is done with it."""
        node = self._makers.get(x)  # type: ignore[arg-type]
        if node is None or node.op is not index or node.args[0] is not write.args[0] or len(self._readers[x]) != 1:
            return False
        return _place(node, 1) == _place(write, 2)

    def _chain(
        self, x: Operand, is_start: Callable[[Operand], bool]
    ) -> tuple[list[Node], list[Operand], Operand] | None:
        """The nodes that lead from a value to a sum of it and others, these others, and the value."""
        nodes: list[Node] = []
        added: list[Operand] = []
        while not is_start(x):
            node = self._makers.get(x)  # type: ignore[arg-type]
            if node is None or node.op not in (add, subtract) or len(self._readers[x]) != 1:
                return None
            nodes.append(node)
            x, other = node.args
            if node.op is add and (x.__class__ is Const or not (is_start(x) or self._is_addition(x))):
                x, other = other, x
            if x.__class__ is Const:
                return None
            added.append(other)
        return nodes, added, x

    def _is_addition(self, x: Operand) -> bool:
        node = self._makers.get(x)  # type: ignore[arg-type]
        return node is not None and node.op in (add, subtract)

    # -------------------------------------------------------------------------------------------------- one operation

    def _step(self, node: Node) -> None:
        array = self._arrays.get(node.args[0]) if node.op in (index, store, add_at) else None
        if array is not None:
            self._values.update(self._read(node, array) if node.op is index else self._write(node, array))
            return
        given = [self._value(a) for a in node.args]
        ys = self.apply(node, tuple(given), [self._value(s) for s in node.sizes])
        if len(node.outs) == 1 and ys.__class__ not in (tuple, list):
            ys = (ys,)
        self._values.update(zip(node.outs, ys, strict=True))

    def _read(self, node: Node, array: CarriedArray) -> dict[Operand, Any]:
        (out,) = node.outs
        if array.latest is not None and array.latest[0] is node.args[0] and array.latest[1] == _place(node, 1):
            value = array.latest[2]
            if shape_of(value) == out.type.shape:
                return {out: value}
        if not self._is_absorbed(node):
            array.note_read(self._places(node, 1, array.shape)[0])
        return {out: call(index, array.start, *[self._value(a) for a in node.args[1:]], **node.params)}

    def _is_absorbed(self, node: Node) -> bool:
        """Whether it is the read of an addition."""
        write = self._read_for.get(node.outs[0])
        return write is not None and self._adds(write)

    def _adds(self, write: Node) -> bool:
        """Whether a write counts as an addition: it does, unless the same iteration has just written there."""
        array = self._arrays[write.args[0]]
        return array.latest is None or array.latest[0] is not write.args[0] or array.latest[1] != _place(write, 2)

    def _write(self, node: Node, array: CarriedArray) -> dict[Operand, Any]:
        (out,) = node.outs
        places, shape = self._places(node, 2, array.shape)
        value, adds = self._value(node.args[1]), node.op is add_at
        if not adds and node.outs[0] in self._additions and self._adds(node):
            added = [self._laned(self._value(a), shape) for a in self._additions[out]]
            array.writes.extend([LanedWrite(places, v, True) for v in added])
            array.latest = None
        else:
            array.writes.append(LanedWrite(places, self._laned(value, shape), adds))
            array.latest = None if adds else (out, _place(node, 2), value)
        self._arrays[out] = array
        return {}

    def _places(self, node: Node, first: int, shape: tuple) -> tuple[np.ndarray, tuple]:
        """Where an array is read or written: a row of numbers for each iteration; and the shape of what is there."""
        places = [self._value(a) for a in node.args[first:]]
        found = self.batch.unwrap(call(index, counted(shape), *places, pattern=node.params["pattern"]))
        if isinstance(found, Traced):
            raise OneByOne
        return found.reshape(self.count, -1), found.shape[1:]

    def _laned(self, value: Any, shape: tuple) -> Any:
        """What iterations write to places of a shape: a row for each of them."""
        rows = self.batch.unwrap(value)
        own = shape_of(rows)[1:]
        if len(own) > len(shape):
            raise OneByOne
        rows = reshape(rows, shape=(self.count, *(1,) * (len(shape) - len(own)), *own))
        rows = call(broadcast_to, rows, shape=(self.count, *shape))
        return reshape(rows, shape=(self.count, math.prod(shape)))

    # --------------------------------------------------------------------------------------------------- after the loop

    def _sum(self, start: Any, added: Sequence[Operand]) -> Any:
        total, known = start, not isinstance(start, Traced)
        for operand in added:
            rows = self._laned(self._value(operand), shape_of(start))
            known = known and not isinstance(rows, Traced)
            total = total + np.reshape(np.sum(rows, axis=0), shape_of(start))
        if known:
            raise OneByOne  # its value is of interest, not only what it depends on
        return total

    def _last(self, value: Any, aval: Aval) -> Any:
        """What is handed over by the last iteration, of something that depends on no argument."""
        rows: Any = self.batch.unwrap(value)
        if not isinstance(rows, Traced):
            return rows[-1]
        if not self.trace.owns(rows) or len(self.trace.sets_of(rows).indices):
            raise OneByOne
        return self.trace.unknown(aval)


def _place(node: Node, first: int) -> tuple:
    """What names the place of a read or write: equal for equal places."""
    arrays = [a.value.tolist() if a.__class__ is Const and hasattr(a.value, "tolist") else
              a.value if a.__class__ is Const else a for a in node.args[first:]]  # fmt: skip
    return (repr(node.params["pattern"]), *[repr(a) if isinstance(a, list) else a for a in arrays])


def _size(type: Type) -> int:
    return math.prod([n for n in type.shape if n.__class__ is int])


def _typed(x: Any, type: Type) -> Any:
    """A value with the dtype that it has in the program."""
    if dtype_of(x) == type.dtype:
        return x
    if x.__class__ is Pattern:
        return Pattern(x._owner, Aval(shape_of(x), type.dtype), x._node, x._span)
    return np.asarray(x).astype(type.dtype)


def has_batch(values: Sequence[Any]) -> bool:
    """Whether some value differs between iterations that are run at once."""
    return any(a.__class__ is Batch for a in values)
