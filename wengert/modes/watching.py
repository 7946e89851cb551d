"""Looking on while a program runs and derivatives are taken, operation by operation, in every sweep.

A `Watch` is told of each operation that goes through forward mode, reverse mode or, with `seen`, a plain evaluation,
and of each node that a sweep over a linear program passes. It is what finds the first NaN (`explain/nans.py`), measures
time and memory by source line (`explain/profile.py`) and gives derivatives readable names (`explain/source.py`).

While somebody looks on (`looking_on`), `record` and `push` make the watched traces below instead of the ordinary ones:
they do the same, with the same numbers, and say so. When nobody does, all this costs one question for each derivative.
Each thread has its own watch.

A sweep knows the source line of each node, which was noted when the node was recorded, and tells it to everyone who
asks (`running.state.source`): so what an outer differentiation records of a reverse sweep has the right line as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wengert.box.box import Box, outside
from wengert.box.writing import overwrite, plain, settled
from wengert.errors import user_frame
from wengert.modes.dual import DualTrace, check_not_inner
from wengert.modes.linear import node_inputs, pull, push
from wengert.modes.tape import Recorded, Tape, TapeTrace
from wengert.ops.choice import choice, choosing
from wengert.ops.index import index
from wengert.ops.op import NO_PARAMS, Op, Trace, call, fresh_tag
from wengert.running import entered, running
from wengert.types import Aval, aval_of, dtype_of, is_inexact, shape_of


class UserLine(NamedTuple):
    """A line of the user's source."""

    file: str
    line: int


@dataclass(eq=False, slots=True)
class Operation:
    """One operation: its name, the plain values of its operands (or only shape and dtype), and where it was done."""

    name: str
    operands: tuple[Any, ...]
    params: dict[str, Any]
    place: UserLine | None


def place_now() -> Any:
    """The user's line that is running, or that the node belongs to which a sweep is passing."""
    if running.state.source is not None:
        return running.state.source
    frame = user_frame()
    return None if frame is None else UserLine(frame.f_code.co_filename, frame.f_lineno)


class Watch:
    """Someone who looks on. Every method may be replaced; as they stand they do nothing."""

    def operation(self, step: Operation, args: Sequence[Any], apply: Callable[[], Any]) -> Any:
        """An operation of any mode: `apply()` does it and gives its result, which is to be returned."""
        return apply()

    def written(self, step: Operation, box: Any, v: Any, apply: Callable[[], Any]) -> Any:
        """A write of `v` into a box, in place: `apply()` does it. What it returns is to be returned."""
        return apply()

    def passing(self, step: Operation, k: int, ct: Any) -> None:
        """A reverse sweep has come to node k, which was recorded in this step, with this cotangent."""

    def passed(self, step: Operation, ct: Any, parts: Sequence[Any]) -> None:
        """A reverse sweep has passed a node: `parts` has the cotangents of what it depends on, as they are now."""

    def tangent(self, step: Operation, dot: Any) -> None:
        """A forward sweep over a linear program has found the tangent of a node."""

    def pulled(self, program: WatchedProgram, cts: Sequence[Any]) -> None:
        """A reverse sweep has ended with these cotangents of the inputs (whose steps have their values as operands)."""

    def pushed(self, values: Sequence[Any], dots: Sequence[Any]) -> None:
        """Forward mode has ended with these values and tangents."""

    def finished(self, values: Sequence[Any], program: WatchedProgram | None) -> None:
        """A function has returned these values; reverse mode has recorded this program."""

    def failed(self, error: Exception) -> None:
        """A function raised an error, which is raised further unless this method raises another."""

    def compiled(self, f: Callable, args: tuple, kwargs: dict) -> Any:
        """A compiled function is called; here it runs as ordinary Python."""
        return f(*args, **kwargs)

    # What `record` and `push` ask for.

    def tape(self) -> TapeTrace:
        """The trace of a reverse differentiation."""
        return WatchedTape(self)

    def dual(self) -> DualTrace:
        """The trace of a forward differentiation."""
        return WatchedDual(self)

    def recorded(self, trace: Any, program: Recorded, values: Sequence[Any]) -> Recorded:
        """A finished program, from now on watched."""
        found = WatchedProgram(program, trace.nodes.steps, self)
        self.finished(values, found)
        return found


@contextmanager
def looking_on(watch: Watch) -> Iterator[None]:
    """Let somebody look on, in this thread."""
    state = running.state
    outer, was_watched = state.watch, choice.watched
    with choosing():
        state.watch, choice.watched = watch, True
        try:
            yield
        except Exception as error:
            watch.failed(error)
            raise
        finally:
            state.watch = outer
            if was_watched:
                choice.watched = True
            else:
                del choice.watched


# ------------------------------------------------------------------------------------------------------ the traces


def _step(op: Op, args: Sequence[Any], params: dict) -> Operation:
    if op.writes or op is index:  # operands are not kept: they would have to be copied at the next write
        operands: tuple[Any, ...] = tuple([aval_of(a) for a in args])
    else:
        operands = tuple([plain(a) for a in args])
    return Operation(params["name"] if op.name == "custom" else op.name, operands, params, place_now())


class _Nodes(list):
    """The nodes of a watched tape, each with the step it was recorded in."""

    def __init__(self) -> None:
        self.step: Operation | None = None
        self.steps: list[Operation] = []

    def append(self, node: Any) -> None:
        super().append(node)
        self.steps.append(self.step or Operation("rule", (), NO_PARAMS, place_now()))


class WatchedTape(TapeTrace):
    """Reverse mode, watched."""

    __slots__ = ("watch",)
    nodes: _Nodes

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch
        self.nodes = _Nodes()

    @property
    def step(self) -> Operation | None:
        """What is being recorded. (The nodes know it, not the trace: a cycle would keep arrays until Python looks for
        such.)"""
        return self.nodes.step

    @step.setter
    def step(self, step: Operation | None) -> None:
        self.nodes.step = step

    def input(self, value: Any) -> Tape:
        self.step = Operation("input", (plain(value),), NO_PARAMS, None)
        try:
            return super().input(value)
        finally:
            self.step = None

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        return self._watched(op, args, params, lambda: TapeTrace.process(self, op, args, params))

    def unary(self, op: Op, a: Any) -> Any:
        return self._watched(op, (a,), NO_PARAMS, lambda: TapeTrace.unary(self, op, a))

    def binary(self, op: Op, a: Any, b: Any) -> Any:
        return self._watched(op, (a, b), NO_PARAMS, lambda: TapeTrace.binary(self, op, a, b))

    def _watched(self, op: Op, args: tuple, params: dict, apply: Callable[[], Any]) -> Any:
        if self.step is not None or not self.alive:
            return apply()  # one way in leads to another
        self.step = _step(op, args, params)
        try:
            return self.watch.operation(self.step, args, apply)
        finally:
            self.step = None

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        if self.step is not None or not self.alive:
            return super().write(box, v, pattern, arrays)
        self.step = Operation("store", (aval_of(box), plain(v)), {"pattern": pattern}, place_now())
        try:
            return self.watch.written(self.step, box, v, lambda: TapeTrace.write(self, box, v, pattern, arrays))
        finally:
            self.step = None


class WatchedDual(DualTrace):
    """Forward mode, watched."""

    __slots__ = ("watch",)

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return super().process(op, args, params)
        return self.watch.operation(_step(op, args, params), args, lambda: DualTrace.process(self, op, args, params))

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        if not self.alive:
            return NotImplemented
        step = Operation("store", (aval_of(box), plain(v)), {"pattern": pattern}, place_now())
        return self.watch.written(step, box, v, lambda: DualTrace.write(self, box, v, pattern, arrays))


class Seen(Box):
    """A value in a plain evaluation that is watched. It may become a plain number: there is no derivative to lose."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __complex__(self) -> complex:
        return complex(self._value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._value, dtype=dtype, copy=copy)


class SeenTrace(Trace):
    """A plain evaluation, watched: no derivatives, every operation is told."""

    __slots__ = ("alive", "tag", "watch")

    def __init__(self, watch: Watch) -> None:
        self.tag = fresh_tag()
        self.alive = True
        self.watch = watch

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        values = [self.unwrap(a) for a in args]
        y = self.watch.operation(_step(op, values, params), values, lambda: call(op, *values, **params))
        return tuple([self.wrap(part) for part in y]) if y.__class__ is tuple else self.wrap(y)

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        if not self.alive:
            return NotImplemented
        value = self.unwrap(v)
        step = Operation("store", (aval_of(box), plain(v)), {"pattern": pattern}, place_now())
        return self.watch.written(step, box, v, lambda: overwrite(box, "_value", value, pattern, arrays))

    def wrap(self, y: Any) -> Any:
        """What has values of floating type, as a box of this trace."""
        return Seen(self, y) if is_inexact(dtype_of(y)) else y

    def unwrap(self, x: Any) -> Any:
        return x._value if x.__class__ is Seen and x._owner is self else x


def seen(watch: Watch, function: Callable[..., Sequence[Any]], values: Sequence[Any]) -> list[Any]:
    """Run a function from leaves to a list of leaves, without derivatives, while somebody looks on."""
    trace = SeenTrace(watch)
    with entered(trace):
        results = []
        for y in map(settled, function(*[trace.wrap(x) for x in values])):
            if y.__class__ is not Seen or y._owner is not trace:
                check_not_inner(y, trace.tag)
            results.append(trace.unwrap(y))
        watch.finished(results, None)
        return results


# ------------------------------------------------------------------------------------------------------ the sweeps


class WatchedProgram(Recorded):
    """A linear program whose sweeps are watched."""

    __slots__ = ("steps", "watch")

    def __init__(self, program: Recorded, steps: list[Operation], watch: Watch):
        super().__init__(program.nodes, program.inputs, program.outputs)
        self.steps = steps
        self.watch = watch

    def pull(self, cts: Sequence[Any], *, consume: bool = False, so_far: Sequence[Any] = ()) -> list[Any]:
        seeds = self.seeds(cts, so_far)
        with _placed() as state:
            walk = _Walk(self, seeds, state)
            pull(walk, seeds, consume=consume)  # type: ignore[arg-type]
            walk.leave()
        self.watch.pulled(self, seeds[: self.inputs])
        return seeds[: self.inputs]

    def push(self, dots: Sequence[Any]) -> list[Any]:
        with _placed():
            start = _Dots([*dots, *[None] * (len(self.nodes) - self.inputs)], self)
            wanted = [k for k in self.outputs if k is not None]
            found = iter(push(list(self.nodes), start, wanted))
        results = [None if k is None else next(found) for k in self.outputs]
        self.watch.pushed([], results)
        return results


@contextmanager
def _placed() -> Iterator[Any]:
    """Give the place back that was before a sweep set its own."""
    state = running.state
    outer = state.source
    try:
        yield state
    finally:
        state.source = outer


class _Walk:
    """The nodes of a program as the reverse sweep takes them, last one first: it is told where the sweep is."""

    def __init__(self, program: WatchedProgram, seeds: list[Any], state: Any):
        self._program, self._seeds, self._state = program, seeds, state
        self._now: tuple[Operation, Any, Any] | None = None
        self._outer = state.source

    def __len__(self) -> int:
        return len(self._program.nodes)

    def pop(self) -> Any:
        self.leave()
        node = self._program.nodes.pop()
        return self._enter(len(self._program.nodes), node)

    def __getitem__(self, k: int) -> Any:
        self.leave()
        return self._enter(k, self._program.nodes[k])

    def _enter(self, k: int, node: Any) -> Any:
        ct = self._seeds[k]
        if node is not None and ct is not None:
            step = self._program.steps[k]
            self._state.source = step.place or self._outer
            self._now = (step, node, ct)
            self._program.watch.passing(step, k, ct)
        return node

    def leave(self) -> None:
        """The node that the sweep came to last is passed."""
        if self._now is not None:
            step, node, ct = self._now
            self._now = None
            self._program.watch.passed(step, ct, [self._seeds[i] for i in node_inputs(node)])


class _Dots(list):
    """The tangents of a program's nodes in a forward sweep."""

    def __init__(self, dots: list[Any], program: WatchedProgram):
        super().__init__(dots)
        self._program = program

    def __setitem__(self, k: Any, dot: Any) -> None:
        super().__setitem__(k, dot)
        if dot is not None:
            self._program.watch.tangent(self._program.steps[k], dot)


def bytes_kept(program: WatchedProgram) -> list[tuple[Operation, int]]:
    """For each node, how much memory it keeps for the reverse sweep that no earlier node keeps already."""
    known: set[int] = set()
    found = []
    for node, step in zip(program.nodes, program.steps, strict=True):
        size = 0
        for x in _held(node):
            memory = x.base if x.base is not None else x
            if id(memory) not in known:
                known.add(id(memory))
                size += getattr(memory, "nbytes", x.nbytes)
        found.append((step, size))
    return found


def _held(item: Any) -> Iterator[Any]:
    if item.__class__ in (tuple, list):
        for part in item:
            yield from _held(part)
    elif item.__class__ is not Aval and hasattr(item, "nbytes") and shape_of(item) and not isinstance(item, Box):
        yield item
