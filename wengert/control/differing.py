"""Decisions that are boxes of a mode: examples of a batch that go different ways.

A branch is then run both ways, and `where` chooses; a loop goes on as long as one of the examples does, and in each
iteration those that have ended keep what they have. That is right only if a block may also be run on examples that do
not get there: it must come to an end, and raise nothing. Blocks that might not are run in a loop over the
examples instead, where each goes its own way. What does something outside, such as a draw, is done as often as an
example comes there, and in its order: each example then runs the whole function by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.writing import zeros
from wengert.control.blocks import block_of
from wengert.errors import ConcretizationError
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Type, Var, all_nodes
from wengert.ir.symbol import Sym
from wengert.modes.mode import Mode
from wengert.ops.act import act
from wengert.ops.index import ARRAY, index
from wengert.ops.op import TABLE, Op, call
from wengert.ops.shape import as_integer, astype
from wengert.running import running

COUNTER = Type((), np.dtype(np.int64), True)


# ------------------------------------------------------------------------------------------------ example by example


def one_by_one(mode: Mode, op: Op, args: Sequence[Any], types: Sequence[Type], params: dict) -> tuple:
    """The results of an op for each example of a batch. `types` are those of the operands for one example."""
    mapped = [mode.owns(a) for a in args]
    stacked = [mode.split(a)[0] if m else a for a, m in zip(args, mapped, strict=True)]
    n = mode.size  # type: ignore[attr-defined]

    def function(k: Any, *operands: Any) -> list[Any]:
        xs = [as_number(index(a, k, pattern=(ARRAY,)), t) if m else a
              for a, m, t in zip(operands, mapped, types, strict=True)]  # fmt: skip
        return list(call(op, *xs, **params))

    counter = Var(COUNTER, None, (0, n - 1), False)
    block = block_of(function, [counter, *[var_like(a) for a in stacked]])
    if any(length.__class__ is Dyn for r in block.results for length in r.type.shape):
        raise mode.apart("an array of a length")
    return tuple([mode.join([y]) for y in call(TABLE["loop"], n, *stacked, body=block, carried=0)])


def as_number(x: Any, type: Type) -> Any:
    """An element as the kind of scalar that a block expects."""
    if not type.weak or x.__class__ is int or (x.__class__ is Sym and x._node.type == type):
        return x
    op = astype if type.dtype.kind in "fc" else as_integer
    return running.state.capture.emit(op, (x,), {"dtype": type.dtype}, [Found((), type.dtype, True)])[0]


class EachByItself(ConcretizationError):
    """Examples draw, print and ask for different things: each runs the whole function by itself (`call.py`), so that
    its draws are those that follow one another there."""


def demand_nothing_outside(mode: Mode, *blocks: Block) -> None:
    """Refuse, in that way, blocks that do something outside, where examples go different ways."""
    if mode.batches and any(node.op is act for block in blocks for node in all_nodes(block)):
        raise EachByItself(
            "examples go different ways, and draw, print or ask Python for something there",
            remedy="loop over the examples, or draw before the branch or loop",
        )


# ------------------------------------------------------------------------------------------- all examples at once


def stepping(body: Block, before: int, carried: int, consts: Sequence[Var], goes_on: Any) -> Block:
    """A body that leaves its carried values as they are where `goes_on` of its parameters does not hold.

    It carries the number of iterations that were done as its first carried value, and has further constants.
    """
    done = Var(COUNTER, None, (0, None), False)
    params = [*body.params[:before], done, *body.params[before:], *consts]
    count, end = before, len(body.params) + 1

    def then(*xs: Any) -> list[Any]:
        return [xs[count] + 1, *run(body, [*xs[:count], *xs[count + 1 : end]])]

    def otherwise(*xs: Any) -> list[Any]:
        kept = xs[count + 1 : count + 1 + carried]
        return [xs[count], *kept, *[zeros(r.type.shape, r.type.dtype) for r in body.results[carried:]]]

    def step(*xs: Any) -> list[Any]:
        return list(
            call(TABLE["cond"], goes_on(*xs), *xs, then=block_of(then, params), orelse=block_of(otherwise, params))
        )

    return block_of(step, params)
