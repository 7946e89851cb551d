"""Loops reversed with few states kept: binomial checkpointing, as a program.

    for k in range(n): state = body(k, state)      reversed with two states: n = 4

    store 0, advance to 2, store 2, advance to 4                          the first sweep
    restore 2, advance to 3, reverse 3; restore 2, reverse 2;             the backward sweep
    restore 0, advance to 1, reverse 1; restore 0, reverse 0

Instead of the residuals of all iterations, states between iterations are kept, and iterations are run again from these
(Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26, 2000; see `graphs/checkpoints.py` for the split, which is
optimal). Both sweeps are made of the loops of this folder: the states are the rows of one array for each carried value,
the numbers of their iterations a stack beside it. So what is reversed in this way runs natively, and every mode goes
through it.

The unit that is reversed at once is a segment of a few iterations, of which all residuals are kept for a moment. Only
those carried values are states that the residuals depend on. What does more than compute (draws random numbers) is not
run again: what it gave is kept for all iterations.

How often a `while` is run is known at its end. Its first sweep keeps nothing, and the backward sweep begins at the
start.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.writing import zeros
from wengert.control.blocks import block_of
from wengert.control.differing import COUNTER, as_number
from wengert.errors import UnsupportedFunctionError
from wengert.ir.build import var_like
from wengert.ir.interpret import run
from wengert.ir.node import Block, Node, Operand, Type, Var, all_nodes
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops.index import ARRAY, index
from wengert.ops.op import TABLE, call
from wengert.ops.shape import as_integer
from wengert.ops.store import store

_NUMBER = Var(COUNTER, None, (0, None), False)


# ------------------------------------------------------------------------------------------- what is run again


class RunAgain:
    """The parts of a loop's body that are run again: `advance` goes from state to state, `save` gives residuals.

    `state` are the places of the carried values that these depend on, `drawn` the results of what does more than
    compute; `forward` is the body with these as further results. Parameters of the other blocks: the counter, if there
    is one, the state, the constants, and what was drawn.
    """

    def __init__(self, body: Block, before: int, carried: int, saved: int):
        """`body` has residuals as its last results, so many of them."""
        places = {var: k for k, var in enumerate(body.params[before : before + carried])}
        residuals = body.results[len(body.results) - saved :]
        wanted: set[int] = set()
        while True:
            results = [*residuals, *[body.results[k] for k in sorted(wanted)]]
            used = _used(body, results)
            more = {k for var, k in places.items() if var in used}
            if more == wanted:
                break
            wanted = more
        self.before = before
        self.forward = Block(body.params, body.nodes, body.results[: len(body.results) - saved])
        self.state = sorted(wanted)
        self.drawn = [var for node in body.nodes if _does_more(node) for var in node.outs if var in used]
        nodes = [node for node in body.nodes if not _does_more(node) and any(var in used for var in node.outs)]
        self.forward.results.extend(self.drawn)
        first, rest = body.params[:before], body.params[before + carried :]
        states = [body.params[before + k] for k in self.state]
        params = [*first, *states, *rest, *self.drawn]
        self.advance = Block(params, nodes, [body.results[k] for k in self.state])
        self.save = Block(params, nodes, list(residuals))
        self.types = [var.type for var in states]
        if not all(type.is_static for type in self.types):
            raise UnsupportedFunctionError(
                "checkpoints of a loop that carries an array whose length is known only when the compiled program runs",
                remedy="make the array of a fixed size, and use slices of it",
            )
        self.state_bytes = sum(map(_bytes_of, self.types))
        self.residual_bytes = sum(_bytes_of(x.type) for x in residuals)
        self.drawn_bytes = sum(_bytes_of(x.type) for x in self.drawn)
        """What is kept of each iteration in any case."""

    @property
    def least(self) -> int:
        """The bytes of one state and of the residuals of one iteration."""
        return self.state_bytes + self.residual_bytes


def _bytes_of(type: Type) -> int:
    """How many bytes a value takes, at most."""
    return math.prod([n if n.__class__ is int else n.bound or 0 for n in type.shape]) * type.dtype.itemsize  # type: ignore[union-attr, misc]


def _does_more(node: Node) -> bool:
    return not node.op.pure or any(not inner.op.pure for block in node.blocks for inner in all_nodes(block))


def _used(block: Block, results: Sequence[Operand]) -> set[Operand]:
    """The variables that some results depend on; what does more than compute depends on nothing, as it is kept."""
    used: set[Operand] = set(results)
    for node in reversed(block.nodes):
        if any(var in used for var in node.outs) and not _does_more(node):
            used.update((*node.args, *node.sizes))
    return used


# ---------------------------------------------------------------------------------------------------- the two sweeps


class KeptStates:
    """The stack of states: the number of the topmost, the segments they stand before, and an array of each value."""

    def __init__(self, top: Any, places: Any, states: Sequence[Any]):
        self.top, self.places, self.states = top, places, list(states)

    def operands(self) -> list[Any]:
        return [self.top, self.places, *self.states]

    @staticmethod
    def of(values: Sequence[Any]) -> KeptStates:
        return KeptStates(values[0], values[1], values[2:])


class CheckpointedLoop:
    """A loop with `slots` states to be kept, reversed in segments of `length` iterations."""

    def __init__(self, again: RunAgain, slots: int, length: int = 1):
        self.again, self.slots, self.length = again, slots, length

    def start(self, state: Sequence[Any]) -> KeptStates:
        """The first state, kept."""
        zero = np.zeros(1, np.int64)
        rows = [
            store(zeros((self.slots, *type.shape), type.dtype), x, zero[0], pattern=(ARRAY,))
            for x, type in zip(state, self.again.types, strict=True)
        ]
        return KeptStates(0, np.zeros(self.slots, np.int64), rows)

    def segments(self, count: Any) -> Any:
        """The number of segments of a number of iterations."""
        return count if self.length == 1 else (count + (self.length - 1)) // self.length

    def bounds(self, segment: Any, count: Any) -> tuple[Any, Any]:
        """The first iteration of a segment, and how many there are."""
        if self.length == 1:
            return segment, 1
        begin = segment * self.length
        iterations = e.minimum(begin + self.length, count) - begin
        iterations._span = (1, self.length)
        return begin, iterations

    def first_sweep(
        self, body: Block, count: Any, values: Sequence[Any], consts: Sequence[Any]
    ) -> tuple[list, KeptStates]:
        """Run a loop from its start to its end; the carried values at the end, and the states that were kept."""
        kept = self.start([values[k] for k in self.again.state])
        segments = self.segments(count)
        _, kept, finals = self._descent(
            body, 1, segments - 1, True, count, 0, kept, values, consts, [], self.again.state
        )
        return finals, kept

    def _descent(
        self,
        body: Block,
        before: int,
        last: Any,
        to_end: bool,
        count: Any,
        at: Any,
        kept: KeptStates,
        state: Sequence[Any],
        consts: Sequence[Any],
        drawn: Sequence[Any],
        chosen: Sequence[int],
    ) -> tuple[Any, KeptStates, list[Any]]:
        """Go from the segment `at` to the `last` one (`to_end`: and through it), keeping states on the way.

        `chosen` are the places in the state of what is kept of it.
        """
        n, m, c = 2 + len(kept.states), len(state), len(consts)
        slots, length = self.slots, self.length
        many = slots > 1

        def parts(xs: Sequence[Any]) -> tuple:
            at, kept, xs = xs[0], KeptStates.of(xs[1 : 1 + n]), xs[1 + n :]
            return at, kept, xs[:m], xs[m], xs[m + 1], xs[m + 2 : m + 2 + c], xs[m + 2 + c :]

        def test(*xs: Any) -> list[Any]:
            at, _, _, last, *_ = parts(xs)
            return [e.less_equal(at, last) if to_end else e.less(at, last)]

        def step(*xs: Any) -> list[Any]:
            at, kept, state, last, count, consts, drawn = parts(xs)
            left = last + 1 - at
            all_of_them = left if to_end else left - 1
            free = slots - kept.top
            keeps = e.greater(free, 1)
            if many:
                splits = e.logical_and(keeps, e.greater(left, 1))
                there = at + e.where(splits, _best_split(left, free), all_of_them)
            else:
                there = at + all_of_them
            begin, end = (at, there) if length == 1 else (at * length, e.minimum(there * length, count))
            state = self._iterations(body, before, end - begin, begin, state, consts, drawn)
            if many:
                keeps = e.logical_and(keeps, e.less(there, last))
                kept = _pushed(keeps, kept, there, [state[k] for k in chosen])
            return [as_number(there, COUNTER), *kept.operands(), *state]

        operands = [at, *kept.operands(), *state, last, count, *consts, *drawn]
        states = body.params[before : before + m]
        variables = carried_variables(operands, 1 + n)
        params = [_NUMBER, _NUMBER, *variables[2 : 1 + n], *states, *variables[1 + n + m :]]
        blocks = {"test": block_of(test, params), "body": block_of(step, params)}
        results = call(TABLE["while"], *operands, **blocks, carried=1 + n + m)
        return results[0], KeptStates.of(results[1 : 1 + n]), list(results[1 + n : 1 + n + m])

    def _iterations(
        self,
        block: Block,
        before: int,
        count: Any,
        begin: Any,
        state: Sequence[Any],
        consts: Sequence[Any],
        drawn: Sequence[Any],
        carries: Block | None = None,
    ) -> Any:
        """`count` iterations from `begin` on. The results of `block` follow those that are carried by `carries`."""
        m, c = len(state), len(consts)

        def function(k: Any, *xs: Any) -> list[Any]:
            state, begin, consts, drawn = xs[:m], xs[m], xs[m + 1 : m + 1 + c], xs[m + 1 + c :]
            place = k + begin
            if before:
                place._span = block.params[0].span
            given = [index(x, place, pattern=(ARRAY,)) for x in drawn]
            given = [as_number(x, var.type) for x, var in zip(given, self.again.drawn if drawn else [], strict=True)]
            operands = [*[place][:before], *state, *consts, *given]
            return [*([] if carries is None else run(carries, operands)), *run(block, operands)]

        operands = [begin, *consts, *drawn]
        high = self.length - 1 if carries is not None else None
        params = [Var(COUNTER, None, (0, high), False), *block.params[before : before + m], *map(var_like, operands)]
        return call(TABLE["loop"], count, *state, *operands, body=block_of(function, params), carried=m)

    def backward_sweep(
        self,
        backward: Callable,
        count: Any,
        kept: KeptStates,
        cts: Sequence[Any],
        totals: Sequence[Any],
        y_cts: Sequence[Any],
        consts: Sequence[Any],
        ends: Sequence[Any],
        drawn: Sequence[Any],
    ) -> Any:
        """Cotangents of the carried values at the start, and the totals of the constants.

        `backward` goes backwards through a segment, given its residuals (`loop.Reverse.backward`).
        """
        again = self.again
        sizes = [len(cts), len(totals), 2 + len(kept.states), len(y_cts), len(drawn), len(consts), len(ends)]
        carried = sum(sizes[:3])

        def function(k: Any, *xs: Any) -> list[Any]:
            segments, count, rest = xs[carried], xs[carried + 1], [*xs[:carried], *xs[carried + 2 :]]
            cts, totals, stack, y_cts, drawn, consts, ends = grouped(rest, sizes)
            kept = KeptStates.of(stack)
            last = segments - 1 - k
            at = as_number(index(kept.places, kept.top, pattern=(ARRAY,)), COUNTER)
            state = [
                as_number(index(x, kept.top, pattern=(ARRAY,)), type)
                for x, type in zip(kept.states, again.types, strict=True)
            ]
            _, kept, state = self._descent(
                again.advance, again.before, last, False, count, at, kept, state, consts, drawn, range(len(state))
            )
            begin, number = self.bounds(last, count)
            results = self._iterations(
                again.save, again.before, number, begin, state, consts, drawn, carries=again.advance
            )
            found = backward(number, cts, totals, y_cts, results[len(state) :], [*consts, *ends], begin)
            topmost = index(kept.places, kept.top, pattern=(ARRAY,))
            is_done = e.logical_and(e.equal(topmost, last), e.greater(kept.top, 0))
            kept.top = as_number(e.where(is_done, kept.top - 1, kept.top), COUNTER)
            return [*found, *kept.operands()]

        segments = self.segments(count)
        operands = [*cts, *totals, *kept.operands(), segments, count, *y_cts, *drawn, *consts, *ends]
        variables = carried_variables(operands, carried)
        top = len(cts) + len(totals)
        variables[top] = _NUMBER
        block = block_of(function, [_NUMBER, *variables])
        return call(TABLE["loop"], segments, *operands, body=block, carried=carried)[:top]


def grouped(xs: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    """Operands that stand one after the other, in groups of these sizes."""
    rest = iter(xs)
    return [list(itertools.islice(rest, size)) for size in sizes]


def carried_variables(operands: Sequence[Any], carried: int) -> list[Var]:
    """Parameters for operands, of which the first ones change from one iteration to the next."""
    variables = [var_like(x) for x in operands]
    for var in variables[:carried]:
        var.stable = False
    return variables


def _best_split(left: Any, free: Any) -> Any:
    """`graphs.checkpoints.best_split`, as a program."""

    def test(r: Any, before: Any, reach: Any, left: Any, s: Any) -> list[Any]:
        return [e.less(reach, left)]

    def step(r: Any, before: Any, reach: Any, left: Any, s: Any) -> list[Any]:
        return [r + 1, reach, as_number(e.floor_divide(reach * (s + r + 1), e.maximum(r + 1, 1)), COUNTER)]

    params = [_NUMBER] * 5
    found = call(
        TABLE["while"], 0, 0, 1, left, free, test=block_of(test, params), body=block_of(step, params), carried=3
    )
    r, before = found[:2]
    return e.minimum(before, left - e.floor_divide(before * free, e.maximum(free + r - 1, 1)))


def _pushed(keeps: Any, kept: KeptStates, place: Any, state: Sequence[Any]) -> KeptStates:
    """With one more state, if it is to be kept: a loop of one iteration or none, which writes in place."""
    n = 2 + len(kept.states)

    def function(k: Any, *xs: Any) -> list[Any]:
        stack, place, state = KeptStates.of(xs[:n]), xs[n], xs[n + 1 :]
        top = stack.top + 1
        places = store(stack.places, place, top, pattern=(ARRAY,))
        rows = [store(x, y, top, pattern=(ARRAY,)) for x, y in zip(stack.states, state, strict=True)]
        return [top, places, *rows]

    operands = [*kept.operands(), place, *state]
    variables = carried_variables(operands, n)
    variables[0] = _NUMBER
    block = block_of(function, [Var(COUNTER, None, (0, 0), False), *variables])
    number = as_number(as_integer(keeps, dtype=COUNTER.dtype), COUNTER)
    if number.__class__ is Sym:
        number._span = (0, 1)
    return KeptStates.of(call(TABLE["loop"], number, *operands, body=block, carried=n))
