"""The loop with a test: `while(*carried, *consts; test, body, carried)`.

The test has the parameters (*carried, *consts) and one result; the body has the same parameters and the results
(*carried, *ys). The results of the op are the carried values at the end, the number of iterations and, for each of the
ys, an array of all its values. Reverse mode runs a counted loop backwards over as many iterations.

In a batch the loop runs as long as one of the examples goes on; those that have ended keep their values, and each has a
number of iterations of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.control.blocks import block_of, unwrapped
from wengert.control.differing import COUNTER, demand_nothing_outside, one_by_one, stepping
from wengert.control.lifting import lifted_body, lifted_test, loop_operands, loop_results
from wengert.control.loop import Reverse, record_loop, reversed_within_budget, stacked_values
from wengert.ir.analysis.raising import blocks_may_raise
from wengert.ir.infer import Found, found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Type, Var
from wengert.modes.mode import Mode
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control
from wengert.ops.op import call
from wengert.ops.traits import Raises


def _impl(*args: Any, test: Block, body: Block, carried: int) -> tuple:
    state, consts = list(args[:carried]), args[carried:]
    stacks: list[list[Any]] = [[] for _ in body.results[carried:]]
    count = 0
    while run(test, [*state, *consts])[0]:
        results = run(body, [*state, *consts])
        state = results[:carried]
        for stack, y in zip(stacks, results[carried:], strict=True):
            stack.append(y)
        count += 1
    ys = [stacked_values(s, r.type) for s, r in zip(stacks, body.results[carried:], strict=True)]
    return (*state, count, *ys)


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    body, carried, test = params["body"], params["carried"], params["test"]
    boxed = [mode.owns(a) for a in args]
    new = lifted_body(mode, body, 0, carried, boxed)
    new_test, differs = lifted_test(mode, test, carried, new.boxed, boxed[carried:])
    if differs:
        return _lift_differing(mode, args, params)
    operands, n = loop_operands(mode, args, carried, new.boxed)
    results = call(while_, *operands, test=new_test, body=new.block, carried=n)
    final, ys = loop_results(mode, [*results[:n], *results[n + 1 :]], carried, new)
    return (*final, results[n], *ys)


def _lift_differing(mode: Mode, args: tuple, params: dict) -> tuple:
    """Whether to go on is a box: it may hold for some examples of a batch only."""
    body, carried, test = params["body"], params["carried"], params["test"]
    demand_nothing_outside(mode, body, test)
    if mode.batches and len(body.results) == carried and blocks_may_raise(body, test):
        return one_by_one(mode, while_, args, [p.type for p in body.params], params)
    step = stepping(body, 0, carried, (), lambda done, *xs: run(test, xs)[0])
    args, carried = (0, *args), carried + 1
    wider = Block([Var(COUNTER), *test.params], test.nodes, test.results)
    consts = [mode.owns(a) for a in args[carried:]]
    new = lifted_body(mode, step, 0, carried, [*[True] * carried, *consts])
    tested, _ = lifted_test(mode, wider, carried, new.boxed, consts)
    some = block_of(lambda *xs: [mode.some(run(tested, xs))], tested.params)
    operands, n = loop_operands(mode, args, carried, new.boxed)
    results = call(while_, *operands, test=some, body=new.block, carried=n)
    (count, *final), ys = loop_results(mode, [*results[:n], *results[n + 1 :]], carried, new)
    return (*final, count, *ys)


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    body, carried, test = params["body"], params["carried"], params["test"]
    mine = [a.__class__ is Tape and a._owner is trace for a in args]
    reverse, within = reversed_within_budget(
        lambda: Reverse(body, 0, carried, mine), None, unwrapped(trace, Tape, args)[1]
    )
    if not any(reverse.active) and not any(reverse.outputs):
        return call(while_, *unwrapped(trace, Tape, args)[1], **params)

    def run_primal(block: Block, values: list[Any], carries: int) -> tuple:
        tested = with_more_carried(test, block, carried, carries)
        results = call(while_, *values, test=tested, body=block, carried=carries)
        count, m = results[carries], carries + len(body.results) - carried + 1
        return count, results[:carries], (count,), results[carries + 1 : m], results[m:]

    return record_loop(trace, while_, reverse, within, run_primal, args, params)


def with_more_carried(test: Block, body: Block, carried: int, carries: int) -> Block:
    """A test for a body that carries more values behind the first ones."""
    if carries == carried:
        return test
    more = [Var(p.type) for p in body.params[carried:carries]]
    return Block([*test.params[:carried], *more, *test.params[carried:]], test.nodes, test.results)


def _types(args: Sequence[Any], params: dict) -> list[Found]:
    body, carried = params["body"], params["carried"]
    return [
        *[found(p.type) for p in body.params[:carried]],
        found(Type((), np.dtype(np.int64), True)),
        *[Found((Dyn(), *r.type.shape), r.type.dtype) for r in body.results[carried:]],
    ]


while_ = Control(
    "while", _impl, lift=_lift, record=_record, types=_types, selects=True, raises=Raises.VALUES, failures={}
)
"""It raises for some values in that it may not end; what its suite raises, a `try` has asked the suite about."""
