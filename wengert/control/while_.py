"""The loop with a test: `while(*carried, *consts; test, body, carried)`.

The test has the parameters (*carried, *consts) and one result; the body has the same parameters and the results
(*carried, *ys). The results of the op are the carried values at the end, the number of rounds and, for each of the ys,
an array of all its values. Reverse mode runs a counted loop backwards over as many rounds.

In a batch the loop runs as long as one of the examples goes on; those that have ended keep their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.control.blocks import batch_size, batched, block_of
from wengert.control.examples import one_by_one
from wengert.control.loop import (
    Reverse,
    batched_body,
    expanded,
    forward_body,
    paired,
    record_loop,
    stacked_values,
    unwrapped,
    zero_tangents,
)
from wengert.errors import UnsupportedFunctionError
from wengert.ir.analysis.raising import blocks_may_raise
from wengert.ir.infer import Found, found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Type
from wengert.modes.dual import Dual, DualTrace
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control, Unmapped
from wengert.ops.elementwise import where
from wengert.ops.op import TABLE, call
from wengert.ops.shape import reshape
from wengert.ops.traits import Raises
from wengert.types import shape_of


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


def _push(trace: DualTrace, args: tuple, params: dict) -> Any:
    body, carried, test = params["body"], params["carried"], params["test"]
    mine, values = unwrapped(trace, Dual, args)
    dots = [a._tangent if m else None for a, m in zip(args, mine, strict=True)]
    block, active, outs = forward_body(body, 0, carried, mine)
    n = sum(active)
    starts = zero_tangents(values[:carried], dots[:carried])

    def wider(*xs: Any) -> list[Any]:
        return run(test, [*xs[:carried], *xs[carried + n : n + len(values)]])

    operands = [
        *values[:carried],
        *[d for d, a in zip(starts, active, strict=True) if a],
        *values[carried:],
        *[d for d in dots[carried:] if d is not None],
    ]
    new_test = block_of(wider, block.params)
    results = call(while_, *operands, test=new_test, body=block, carried=carried + n)
    count = results[carried + n]
    boxes = paired(trace, [*results[: carried + n], *results[carried + n + 1 :]], carried, active, outs[carried:])
    return (*boxes[:carried], count, *boxes[carried:])


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    body, carried, test = params["body"], params["carried"], params["test"]
    mine = [a.__class__ is Tape and a._owner is trace for a in args]
    reverse = Reverse(body, 0, carried, mine)
    if not any(reverse.active) and not any(reverse.outputs):
        return call(while_, *unwrapped(trace, Tape, args)[1], **params)

    def run_primal(block: Block, values: list[Any]) -> tuple:
        results = call(while_, *values, test=test, body=block, carried=carried)
        count, m = results[carried], len(body.results) + 1
        return count, results[:carried], (count,), results[carried + 1 : m], results[m:]

    return record_loop(trace, while_, reverse, run_primal, args, params)


def _batch(args: Any, mapped: Any, params: dict) -> Any:
    body, carried, test = params["body"], params["carried"], params["test"]
    n = batch_size(args, mapped)
    block, stacked, outs = batched_body(body, 0, carried, mapped, n)
    new_test, (differs,) = batched(test, [*stacked, *mapped[carried:]], n)
    if differs:
        if len(body.results) > carried:
            raise UnsupportedFunctionError(
                "reverse mode inside a batch, through a while loop whose number of rounds differs between the examples",
                remedy="take the gradient of the whole batch (vmap inside grad), or loop over the examples",
            )
        if blocks_may_raise(body, test):
            return one_by_one(while_, args, mapped, [p.type for p in body.params], params, n)
        stacked = [True] * carried
        block, stacked, outs = batched_body(body, 0, carried, [*stacked, *mapped[carried:]], n)
        tested = batched(test, [*stacked, *mapped[carried:]], n, [True])[0]

        def going_on(*xs: Any) -> list[Any]:
            return [TABLE["any"](run(tested, xs)[0], axis=(0,))]

        def masked(*xs: Any) -> list[Any]:
            goes_on = run(tested, xs)[0]
            return [
                where(reshape(goes_on, shape=(n,) + (1,) * (len(shape_of(x)) - 1)), y, x)
                for x, y in zip(xs[:carried], run(block, xs), strict=True)
            ]

        params_ = block.params
        new_test, block = block_of(going_on, params_), block_of(masked, params_)
    starts = [a if m or not s else expanded(a, n)
              for a, m, s in zip(args[:carried], mapped[:carried], stacked, strict=True)]  # fmt: skip
    results = call(while_, *starts, *args[carried:], test=new_test, body=block, carried=carried)
    final = [r if s else Unmapped(r) for r, s in zip(results[:carried], stacked, strict=True)]
    ys = [np.moveaxis(r, 1, 0) if s else Unmapped(r)
          for r, s in zip(results[carried + 1 :], outs[carried:], strict=True)]  # fmt: skip
    return (*final, Unmapped(results[carried]), *ys)


def _types(args: Sequence[Any], params: dict) -> list[Found]:
    body, carried = params["body"], params["carried"]
    return [
        *[found(p.type) for p in body.params[:carried]],
        found(Type((), np.dtype(np.int64), True)),
        *[Found((Dyn(), *r.type.shape), r.type.dtype) for r in body.results[carried:]],
    ]


while_ = Control("while", _impl, push=_push, record=_record, batch=_batch, types=_types, raises=Raises.VALUES)
