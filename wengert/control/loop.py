"""The counted loop: `loop(count, *carried, *consts; body, carried)`.

The body has the parameters (k, *carried, *consts) and the results (*carried, *ys); k counts from zero. The results of
the op are the carried values after the last iteration and, for each of the ys, an array of all its values.

Modes carry companions beside values (`lifting.py`). Reverse mode runs the loop with the residuals among its ys, and
then a second loop backwards: it carries the cotangents of the carried values, and adds up those of the constants, in
place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.writing import zeros
from wengert.control.blocks import (
    Linearised,
    Transposed,
    block_of,
    is_ragged,
    refuse_ragged,
    selects,
    tangent_through,
    unpadded,
    unwrapped,
    with_lengths,
)
from wengert.control.budget import LoopSizes, account, inside
from wengert.control.checkpointed_loop import CheckpointedLoop, RunAgain
from wengert.control.differing import COUNTER, as_number, demand_nothing_outside, one_by_one, stepping
from wengert.control.lifting import lifted_body, loop_operands, loop_results
from wengert.control.remat import recomputed
from wengert.control.spilled_loop import SpilledLoop
from wengert.control.stable_reads import stable_reads, without_rereads
from wengert.ir.build import var_like
from wengert.ir.infer import Found, found
from wengert.ir.interpret import run
from wengert.ir.lengths import interval_of
from wengert.ir.node import Block, Var
from wengert.ir.symbol import Sym
from wengert.modes.mode import Mode
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control
from wengert.ops.index import ARRAY, index
from wengert.ops.library import from_lists, is_foreign
from wengert.ops.op import Op, Traced, call
from wengert.running import running
from wengert.types import aval_of, shape_of


def _impl(count: Any, *args: Any, body: Block, carried: int) -> tuple:
    state, consts = list(args[:carried]), args[carried:]
    stacks: list[list[Any]] = [[] for _ in body.results[carried:]]
    for k in range(int(count)):
        results = run(body, [k, *state, *consts])
        state = results[:carried]
        for stack, y in zip(stacks, results[carried:], strict=True):
            stack.append(y)
    return (*state, *[stacked_values(s, r.type) for s, r in zip(stacks, body.results[carried:], strict=True)])


def stacked_values(values: list[Any], type: Any) -> Any:
    """All values of a y along a first axis."""
    if not values:
        return np.zeros((0, *type.shape), type.dtype)
    return from_lists(values) if any(map(is_foreign, values)) else np.stack(values)


# -------------------------------------------------------------------------------------------------------- every mode


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    body, carried = params["body"], params["carried"]
    count, *rest = args
    if mode.owns(count):
        count = mode.decided_always(count)
    if mode.owns(count):
        return _lift_differing(mode, args, params)
    new = lifted_body(mode, body, 1, carried, [mode.owns(a) for a in rest])
    operands, n = loop_operands(mode, rest, carried, new.boxed)
    final, ys = loop_results(mode, call(loop, count, *operands, body=new.block, carried=n), carried, new)
    return (*final, *ys)


def _lift_differing(mode: Mode, args: tuple, params: dict) -> tuple:
    """The number of iterations is a box: examples of a batch have numbers of their own."""
    body, carried = params["body"], params["carried"]
    demand_nothing_outside(mode, body)
    if mode.batches and len(body.results) == carried:
        return one_by_one(mode, loop, args, [p.type for p in body.params], params)
    count, *rest = args
    step = stepping(body, 1, carried, [Var(COUNTER)], lambda k, *xs: k < xs[-1])
    rest, carried = [0, *rest, count], carried + 1
    new = lifted_body(mode, step, 1, carried, [*[True] * carried, *[mode.owns(a) for a in rest[carried:]]])
    operands, n = loop_operands(mode, rest, carried, new.boxed)
    results = call(loop, mode.most(mode.split(count)), *operands, body=new.block, carried=n)
    final, ys = loop_results(mode, results, carried, new)
    return (*final[1:], *ys)


# ------------------------------------------------------------------------------------------------------ reverse mode


class Reverse:
    """How a loop is run for reverse mode: the body that saves residuals, and what the backward loop needs of them.

    For `loop`, whose body has k as first parameter, and for `while`, whose body has none (`before` is 1 or 0).
    """

    def __init__(self, body: Block, before: int, carried: int, mine: Sequence[bool], outermost: bool = False):
        self.before, self.carried = before, carried
        self.ends: list[int] = []
        """Of which carried arrays the backward loop reads elements at their end."""
        if outermost:
            body, self.ends = stable_reads(body, carried)
            mine = [*mine, *[False] * len(self.ends)]
        active = list(mine[:carried])
        while True:
            source = Linearised(body, [False] * before + active + list(mine[carried:]), bounded=True)
            more = [a or o for a, o in zip(active, source.active_outputs[:carried], strict=True)]
            if more == active:
                break
            active = more
        self.active = active
        self.const_active = list(mine[carried:])
        self.outputs = source.active_outputs
        self.selects = selects(body)  # in one iteration, and the zeros arrive in another one
        running_totals = [False] * sum(active) + [True] * sum(self.const_active)
        self.transposed = Transposed(source, running_totals, self.selects)
        constants = [p._node for p in source.params[before + carried :]]
        counters = [p._node for p in source.params[:before]]
        found = with_lengths(self.transposed.residuals)
        available = [*counters, *constants]
        self.span = span = body.params[0].span if before else None
        iterations = None if span is None or span[1] is None else span[1] + 1
        made = source.primal([]).results
        states = [p for p in source.params[before : before + carried] if p._node.type.shape and p._node.type.is_static]
        begins = {p._node: p for p in states}
        self.again = recomputed(
            [r._node for r in found], source.capture.nodes, available, iterations, made, list(begins), True
        )
        self.recomputed = [id(var) for var in self.again.chosen]
        self.counters = {id(var) for var in counters}
        self.invariant = {id(var): k for k, var in enumerate(constants)}  # residuals that are constants of the loop
        known = {*self.recomputed, *self.counters, *self.invariant}
        self.saved = [r for r in found if id(r._node) not in known]
        here = {r._node for r in self.saved}
        self.saved += [begins[var] for var in self.again.taken if var in begins and var not in here]
        self.ragged = [r for r in self.saved if is_ragged(r)]
        """Those of which nothing says how long they are at most: the body carries an array for each, with the rows of
        all iterations one after the other."""
        self.saved = [r for r in self.saved if not is_ragged(r)]
        self.body, self.begins = source.collecting(self.saved, self.ragged, before + carried, carried)
        if self.ends:
            self.body = without_rereads(self.body, len(self.ends))

    def run_again(self) -> RunAgain:
        """What is run again of the body where the residuals are not kept."""
        if self.ragged:
            refuse_ragged()
        return RunAgain(self.body, self.before, self.carried, len(self.saved))

    def backward(
        self,
        count: Any,
        cts: Sequence[Any],
        totals: Sequence[Any],
        y_cts: Sequence[Any],
        stacks: Sequence[Any],
        consts: Sequence[Any],
        start: Any = 0,
    ) -> Any:
        """Run the backward loop; return the cotangents of the active carried values and the totals of the constants.

        `cts` are the cotangents of the active carried values at the end, `y_cts` those of the active ys, as arrays.
        Only the iterations from `start` on are gone through if it is given, of which `count` are there.
        """
        n, m, stacked = len(cts), len(totals), len(y_cts)
        of_outputs = [o for o, a in zip(self.outputs[: self.carried], self.active, strict=True) if a]
        again, transposed = self.again, self.transposed.now()
        symbols = {r._node: r for r in [*self.saved, *self.ragged]}

        def function(k: Any, *params: Any) -> list[Any]:
            rest = list(params)
            ct, rest = rest[:n], rest[n:]
            total, rest = rest[:m], rest[m:]
            number, start, rest = rest[0], rest[1], rest[2:]
            y_ct, rest = rest[:stacked], rest[stacked:]
            stack, given = rest[: len(stacks)], rest[len(stacks) :]
            stack, rows = stack[: len(stacks) - len(self.ragged)], stack[len(stacks) - len(self.ragged) :]
            i = number - 1 - k
            i._span = (0, None if not number._span or number._span[1] is None else number._span[1] - 1)
            kept = {
                id(r._node): as_number(index(s, i, pattern=(ARRAY,)), r._node.type)
                for r, s in zip([*self.saved, *self.begins], stack, strict=True)
            }
            for r in [*self.saved, *self.begins]:
                kept[id(r._node)]._span = r._span
            kept.update({key: given[place] for key, place in self.invariant.items()})
            if moved:
                place = i + start
                place._span = self.span
            else:
                place = i
            kept.update(dict.fromkeys(self.counters, place))
            for r, begin, all_rows in zip(self.ragged, self.begins, rows, strict=True):
                first = kept[id(begin._node)]
                last = first + kept[id(shape_of(r)[0].sym._node)]
                kept[id(r._node)] = index(all_rows, pattern=(slice(first, last),))
            known = [*[place] * len(self.counters), *given]
            if again.integers:
                fixed = [kept[id(var)] for var in again.taken if var.type.is_static]
                kept.update(zip(map(id, again.integers), run(again.lengths, [*known, *fixed]), strict=True))
            taken = [kept[id(var)] if var.type.is_static else unpadded(symbols[var], kept) for var in again.taken]
            kept.update(zip(self.recomputed, run(again.block, [*known, *taken]), strict=True))
            residuals = [unpadded(r, kept) for r in transposed.residuals]
            arrived = [c for c, o in zip(ct, of_outputs, strict=True) if o]
            arrived += [index(y, place, pattern=(ARRAY,)) for y in y_ct]
            return run(transposed.block, [*arrived, *total, *residuals])

        moved = start.__class__ is not int or start != 0
        operands = [*cts, *totals, count, start, *y_cts, *stacks, *consts]
        span = interval_of(count)
        high = None if span[1] is None else span[1] - 1
        counter = Var(COUNTER, None, (0, high), False)
        params = [var_like(x) for x in operands]
        params[n + m].span = span
        for p in params[: n + m]:
            p.stable = False
        block = block_of(function, [counter, *params])
        return call(loop, count, *operands, body=block, carried=n + m)


def record_loop(
    trace: TapeTrace,
    op: Op,
    reverse: Reverse,
    within: CheckpointedLoop | None,
    run_primal: Callable,
    args: tuple,
    params: dict,
) -> tuple:
    """Reverse mode of `loop` and `while`: `run_primal(body, values, carried)` gives count, carried values, ys, stacks.

    Inside another loop, or in a branch, a loop of unknown length is run again when it is time to go backwards: its
    residuals cannot be kept in an array. `within` says how it is run again within a budget (`checkpointed_loop.py`).
    """
    carried = params["carried"]
    first = reverse.before
    mine, values = unwrapped(trace, Tape, args)
    block = running.state.capture
    length = interval_of(values[0])[1] if first else None
    keeps = bool(reverse.saved or reverse.ragged)
    runs_again = within is None and block is not None and block.bounded and keeps and length is None
    begin, given = values[first : first + carried], values[first + carried :]
    extra: tuple = ()
    ys: Sequence[Any] = ()
    stacks: Sequence[Any] = ()

    def run_collecting() -> tuple:
        """The loop with its residuals: stacks of those that are alike, and the rows of all that are ragged."""
        n, rows = first + carried, [zeros((0, *shape_of(r)[1:]), r.dtype) for r in reverse.ragged]
        count, finals, extra, ys, stacks = run_primal(
            reverse.body, [*values[:n], *rows, *values[n:]], carried + len(rows)
        )
        return count, finals[:carried], extra, ys, [*stacks, *finals[carried:]]

    if runs_again:
        count, finals, extra, ys, stacks = run_primal(params["body"], values, carried)
    elif within is None:
        count, finals, extra, ys, stacks = run_collecting()
    elif first and len(within.again.forward.results) == carried:
        count = values[0]
        finals, stack = within.first_sweep(params["body"], count, begin, given)
    else:
        count, finals, extra, ys, stacks = run_primal(within.again.forward, values, carried)
        stack = None
    ends = [finals[k] for k in reverse.ends]
    held = [*values, *ends]
    """What user's code may write to before the sweeps run."""
    stacks = list(stacks)
    starts = mine[first : first + carried]
    inputs = [a._node for a, m in zip(args, mine, strict=True) if m]
    finals_active = [v for v, a in zip(finals, reverse.active, strict=True) if a]
    ys_active = [y for y, o in zip(ys, reverse.outputs[carried:], strict=True) if o]

    def backward(cts: Sequence[Any], totals: Sequence[Any]) -> Any:
        n = len(finals_active)
        values, consts = held[: len(args)], held[first + carried :]
        if within is None:
            kept = run_collecting()[-1] if runs_again else stacks
            return reverse.backward(count, cts[:n], totals, cts[n:], kept, consts)
        kept = within.start([values[first + k] for k in within.again.state]) if stack is None else stack
        given, ends = values[first + carried :], held[len(args) :]
        return within.backward_sweep(reverse.backward, count, kept, cts[:n], totals, cts[n:], given, ends, stacks)

    def pull(cts: Sequence[Any], so_far: Sequence[Any]) -> list[Any]:
        here = sum(starts)
        consts = [x for x, m in zip(held[first + carried :], reverse.const_active, strict=True) if m]
        totals = [zeros(*aval_of(x)) if t is None else t for x, t in zip(consts, so_far[here:], strict=True)]
        n = len(finals_active)
        results = backward(cts, totals)
        started = [m for m, a in zip(starts, reverse.active, strict=True) if a]
        arrived = [c for c, m in zip(results[:n], started, strict=True) if m]
        return [
            *[c if t is None else t + c for c, t in zip(arrived, so_far[:here], strict=True)],
            *results[n:],
        ]

    wanted = [*reverse.active, *[False] * len(extra), *reverse.outputs[carried:]]
    tangent = tangent_through(op, mine, held[: len(args)], params, wanted)
    is_long = count.__class__ is int and count > 0
    boxes = iter(
        trace.custom(
            inputs,
            [*finals_active, *ys_active],
            pull,
            push=tangent,
            accumulates=True,
            selects=reverse.selects or not is_long,
            kept=(held, stacks),
        )
    )
    return (
        *[next(boxes) if a else v for v, a in zip(finals, reverse.active, strict=True)],
        *extra,
        *[next(boxes) if o else y for y, o in zip(ys, reverse.outputs[carried:], strict=True)],
    )


def reversed_within_budget(
    make: Callable[[], Reverse], count: Any, operands: Sequence[Any]
) -> tuple[Reverse, CheckpointedLoop | None]:
    """A loop as `make` has it run for reverse mode, and how it is run again, unless its residuals are kept.

    Loops in its body are reversed within a part of what there is for it, or with the least, if that is too much.
    """
    budget = account()
    if budget is None or budget.left is None:
        reverse = make()
    else:
        with inside(budget.left // 4):
            reverse = make()
        if reverse.saved and reverse.run_again().least > budget.left:
            with inside(0):
                reverse = make()
    if budget is None or not reverse.saved:
        return reverse, None
    again = reverse.run_again()
    number = count if count.__class__ is int else None
    sizes = LoopSizes(number, again.state_bytes, again.residual_bytes, again.drawn_bytes)
    # Other modes do not go through files: what they trace is kept in memory.
    is_plain = all(x.__class__ is Sym or not isinstance(x, Traced) for x in operands)
    if budget.spill is not None and not budget.inner and is_plain:
        found = budget.segments_on_disk(sizes)
        return reverse, None if found is None else SpilledLoop(again, found.length, budget.spill)
    found = budget.segments(sizes)
    return reverse, None if found is None else CheckpointedLoop(again, found.states, found.length)


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    body, carried = params["body"], params["carried"]
    mine = [a.__class__ is Tape and a._owner is trace for a in args]
    around = running.state.capture
    outermost = around is None or not around.bounded
    operands = unwrapped(trace, Tape, args)[1]
    reverse, within = reversed_within_budget(
        lambda: Reverse(body, 1, carried, mine[1:], outermost=outermost), operands[0], operands
    )
    if not any(reverse.active) and not any(reverse.outputs):
        return call(loop, *unwrapped(trace, Tape, args)[1], **params)

    def run_primal(block: Block, values: list[Any], carries: int) -> tuple:
        results = call(loop, *values, body=block, carried=carries)
        m = carries + len(body.results) - carried
        return values[0], results[:carries], (), results[carries:m], results[m:]

    return record_loop(trace, loop, reverse, within, run_primal, args, params)


def _types(args: Sequence[Any], params: dict) -> list[Found]:
    body, carried = params["body"], params["carried"]
    return [
        *[found(p.type) for p in body.params[1 : 1 + carried]],
        *[Found((args[0], *r.type.shape), r.type.dtype) for r in body.results[carried:]],
    ]


loop = Control("loop", _impl, lift=_lift, record=_record, types=_types)
